import t from 'tap'
import type { Exchange, JournalOptions } from '../../src/http/journal.js'
import { createJournal } from '../../src/http/journal.js'
import { MONDAY } from '../helper.js'

// control plane, GET /requests: bounded by count and bytes, oldest out first. Byte bounds are for the whole process,
// however many tenants share it; what was dropped is counted and told.

const exchange = (changes: Partial<Exchange> = {}): Exchange => ({
  at: Date.parse(MONDAY),
  method: 'GET',
  target: '/api/v1/mandates?limit=5',
  rawHeaders: ['Host', 'sandbox', 'Authorization', 'Bearer abc'],
  body: null,
  takesCredentials: false,
  status: 200,
  responseHeaders: { 'content-type': 'application/json' },
  responseBody: '{"totalCount":0}',
  durationMs: 1.5,
  faults: [],
  hints: [],
  ...changes,
})

/** An exchange that takes at least so many bytes. */
const large = (bytes: number) => exchange({ body: { kind: 'json', text: 'x'.repeat(bytes) } })
const KIB = 1024

const journal = (options: Partial<JournalOptions> = {}) =>
  createJournal({ entries: 1000, bytes: 1024 * KIB, ...options })
const seqs = ({ data }: { data: readonly { seq: number }[] }) => data.map(({ seq }) => seq)

t.test('control plane, Shapes: a logged request with all its members', async t => {
  const log = journal()
  log.add('acme', exchange())
  t.same(log.of('acme'), {
    data: [
      {
        seq: 1,
        at: MONDAY,
        method: 'GET',
        path: '/api/v1/mandates',
        query: { limit: '5' },
        headers: { host: 'sandbox', authorization: 'Bearer ***' },
        body: null,
        status: 200,
        responseHeaders: { 'content-type': 'application/json' },
        responseBody: { totalCount: 0 },
        durationMs: 1.5,
        faults: [],
        hints: [],
      },
    ],
    last: 1,
    dropped: 0,
  })
})

t.test('control plane, GET /requests: the header fields of each request are its own, none among them', t => {
  const log = journal()
  const sent = [['X-A', '1'], [], ['X-A', '1'], ['X-A', '2'], ['X-A', '2'], ['X-A', '2', 'X-B', '']]
  for (const rawHeaders of sent) log.add('acme', exchange({ rawHeaders }))
  log.add('beta', exchange({ rawHeaders: [] }))
  t.same(
    log.of('acme').data.map(({ headers }) => headers),
    [{ 'x-a': '1' }, {}, { 'x-a': '1' }, { 'x-a': '2' }, { 'x-a': '2' }, { 'x-a': '2', 'x-b': '' }],
  )
  t.same(log.of('beta').data[0]?.headers, {})
  t.end()
})

t.test('RFC 9110 §5.3: header fields that are repeated are joined, by their name in lower case', async t => {
  const log = journal()
  log.add('acme', exchange({ rawHeaders: ['X-A', '1', 'x-b', '2', 'x-A', '3', '__proto__', '4', 'constructor', '5'] }))
  const headers = log.of('acme').data[0]?.headers
  t.equal(JSON.stringify(headers), '{"x-a":"1, 3","x-b":"2","__proto__":"4","constructor":"5"}')
})

t.test('control plane, Shapes: bodies by their kind', async t => {
  for (const [kind, text, shown] of [
    ['json', '{"a":[1,{"b":null}]}', { a: [1, { b: null }] }],
    ['json', '"text"', 'text'],
    ['json', 'null', null],
    ['json', '{"a":1,}', '{"a":1,}'],
    ['json', '', ''],
    ['json', '{"client_secret":"abc",}', '(24 bytes of malformed JSON)'],
    ['json', "{'ü': 'client_secret'}", '(23 bytes of malformed JSON)'],
    ['form', 'a=1&b=2&b=3&secret=4', { a: '1', b: ['2', '3'], secret: '***' }],
    ['form', 'a=%zz', '(5 bytes of malformed form)'],
    ['note', '(5 bytes of text/plain)', '(5 bytes of text/plain)'],
  ] as const) {
    const log = journal()
    log.add('acme', exchange({ body: { kind, text } }))
    t.same(log.of('acme').data[0]?.body, shown, `${kind} ${text}`)
  }
})

t.test('decisions §3: where credentials belong, nothing is shown but what surely is none', async t => {
  for (const [kind, text, shown] of [
    ['form', 'client_id=acme&x=abc', { client_id: 'acme', x: '***' }],
    ['form', 'client_id=acme%', '(15 bytes of malformed form)'],
    ['json', '{"client_id":"acme","x":"abc"}', { client_id: 'acme', x: '***' }],
    ['json', 'abc', '(3 bytes of malformed JSON)'],
    ['json', '"abc"', '***'],
  ] as const) {
    const log = journal()
    const hints = ['unknown member abc ignored', 'something else']
    const responseHeaders = { 'sandbox-hint': 'unknown member a=b"c ignored; unknown member abc ignored' }
    log.add('acme', exchange({ body: { kind, text }, takesCredentials: true, hints, responseHeaders }))
    const [logged] = log.of('acme').data
    t.same(logged?.body, shown, `${kind} ${text}`)
    t.same(logged?.hints, ['unknown member *** ignored', 'something else'])
    t.equal(logged?.responseHeaders['sandbox-hint'], 'unknown member *** ignored; unknown member *** ignored')
  }
})

t.test('control plane, Shapes: answers as their value, or as their text', async t => {
  for (const [responseBody, shown] of [
    ['{"code":"X"}', { code: 'X' }],
    ['half of {"co', 'half of {"co'],
    ['', null],
    [null, null],
  ] as const) {
    const log = journal()
    log.add('acme', exchange({ responseBody, status: null, responseHeaders: {} }))
    t.match(log.of('acme').data, [{ responseBody: shown, status: null, responseHeaders: {} }])
  }
})

t.test('control plane, Shapes: parameters that cannot be read are told of', async t => {
  const log = journal()
  log.add('acme', exchange({ target: '/api/v1/mandates?client_secret=abc%zz' }))
  t.match(log.of('acme').data, [{ path: '/api/v1/mandates', query: '(not readable as parameters)' }])
})

t.test('control plane, Shapes: the faults that a request met, with what they did', async t => {
  const fault = { id: 'fault-7', match: {}, times: 1, skip: 0, probability: 1, armedAt: MONDAY, seen: 1, fired: 1 }
  const log = journal()
  log.add('acme', exchange({ faults: [{ ...fault, effect: { kind: 'delay', ms: 5 } }] }))
  t.same(log.of('acme').data[0]?.faults, [{ id: 'fault-7', kind: 'delay', ms: 5 }])
})

t.test('control plane, GET /requests: after, method, path and status, alone and together', async t => {
  const log = journal()
  log.add('acme', exchange())
  log.add('acme', exchange({ method: 'POST', status: 201 }))
  log.add('acme', exchange({ target: '/api/v1/bills/INV-1', status: 404 }))
  log.add('acme', exchange({ method: 'POST', status: null }))
  for (const [filter, expected] of [
    [undefined, [1, 2, 3, 4]],
    [{}, [1, 2, 3, 4]],
    [{ after: 0 }, [1, 2, 3, 4]],
    [{ after: 2 }, [3, 4]],
    [{ after: 4 }, []],
    [{ method: 'POST' }, [2, 4]],
    [{ method: 'PUT' }, []],
    [{ path: '/api/v1/mandates' }, [1, 2, 4]],
    [{ path: '/api/v1/mandates?limit=5' }, []],
    [{ path: '/api/v1/bills/*' }, [3]],
    [{ path: '*' }, [1, 2, 3, 4]],
    [{ path: '*/v1/*s' }, [1, 2, 4]],
    [{ status: 404 }, [3]],
    [{ status: 500 }, []],
    [{ method: 'POST', status: 201, path: '*mandates', after: 1 }, [2]],
  ] as const) {
    const answer = log.of('acme', filter)
    t.same([seqs(answer), answer.last, answer.dropped], [expected, 4, 0], JSON.stringify(filter))
  }
})

// --------------------------------------------------------------------------------------------------------- the bounds

t.test('control plane, SANDBOX_JOURNAL_ENTRIES: the oldest of a tenant goes, not of another', async t => {
  const log = journal({ entries: 3 })
  for (let count = 0; count < 2; count++) log.add('other', exchange())
  for (let count = 0; count < 5; count++) log.add('acme', exchange())
  t.match(log.of('acme'), { data: [{ seq: 3 }, { seq: 4 }, { seq: 5 }], last: 5, dropped: 2 })
  t.match(log.of('other'), { data: [{ seq: 1 }, { seq: 2 }], last: 2, dropped: 0 })
})

t.test('control plane, SANDBOX_JOURNAL_BYTES: the oldest of all tenants goes', async t => {
  const log = journal({ bytes: 40 * KIB })
  log.add('acme', large(10 * KIB))
  log.add('other', large(10 * KIB))
  log.add('acme', large(10 * KIB))
  t.same([log.of('acme').dropped, log.of('other').dropped], [0, 0])
  log.add('third', large(10 * KIB))
  t.same([seqs(log.of('acme')), log.of('acme').dropped], [[2], 1])
  log.add('third', large(10 * KIB))
  t.same([seqs(log.of('other')), log.of('other').dropped, log.of('other').last], [[], 1, 1])
  t.same(seqs(log.of('third')), [1, 2])
})

t.test('control plane, SANDBOX_JOURNAL_ENTRIES: what one tenant drops leaves the others in order of age', async t => {
  const log = journal({ entries: 2, bytes: 45 * KIB })
  log.add('acme', large(10 * KIB))
  for (let count = 0; count < 3; count++) log.add('other', large(10 * KIB))
  t.same([seqs(log.of('acme')), seqs(log.of('other'))], [[1], [2, 3]], 'the oldest of the second made room')
  log.add('third', large(10 * KIB))
  log.add('third', large(10 * KIB))
  t.same([seqs(log.of('acme')), seqs(log.of('other')), seqs(log.of('third'))], [[], [2, 3], [1, 2]])
  log.add('fourth', large(10 * KIB))
  t.same([seqs(log.of('other')), seqs(log.of('third')), seqs(log.of('fourth'))], [[3], [1, 2], [1]])
  log.clear('third')
  log.add('fourth', large(10 * KIB))
  t.same([seqs(log.of('other')), seqs(log.of('fourth'))], [[3], [1, 2]])
})

t.test('control plane, SANDBOX_JOURNAL_BYTES: of all that is kept, nothing goes uncounted', async t => {
  const text = 'x'.repeat(8 * KIB)
  for (const [what, changes] of Object.entries<Partial<Exchange>>({
    target: { target: `/${text}` },
    headers: { rawHeaders: ['x-long', text] },
    'many headers': { rawHeaders: Array(512).fill('x'.repeat(16)) },
    body: { body: { kind: 'note', text } },
    'answer headers': { responseHeaders: { 'x-long': text } },
    answer: { responseBody: text },
    'answer with many bytes a character': { responseBody: '€'.repeat(3 * KIB) },
    hints: { hints: [text] },
    faults: {
      faults: Array(512).fill({ id: 'fault-1', effect: { kind: 'delay', ms: 0 } }),
    },
  })) {
    const log = journal({ bytes: 80 * KIB })
    for (let count = 0; count < 20; count++) log.add('acme', exchange(changes))
    const { data, dropped } = log.of('acme')
    t.ok(data.length <= 10, `${what}: ${data.length} kept`)
    t.ok(data.length >= 2)
    t.equal(data.length + dropped, 20)
  }
})

t.test('control plane, SANDBOX_JOURNAL_BYTES: what is larger than the bound pushes nothing else out', async t => {
  const log = journal({ bytes: 40 * KIB })
  log.add('acme', large(10 * KIB))
  log.add('acme', large(41 * KIB))
  log.add('acme', large(10 * KIB))
  t.match(log.of('acme'), { data: [{ seq: 1 }, { seq: 3 }], last: 3, dropped: 1 })
})

t.test('control plane, SANDBOX_JOURNAL_ENTRIES and _BYTES: 0 keeps nothing, and counts all', async t => {
  for (const options of [{ entries: 0 }, { bytes: 0 }, { entries: 0, bytes: 0 }]) {
    const log = journal(options)
    for (let count = 0; count < 3; count++) log.add('acme', exchange())
    t.same(log.of('acme'), { data: [], last: 3, dropped: 3 }, JSON.stringify(options))
  }
})

t.test('control plane, SANDBOX_JOURNAL_BYTES: a flood of all sizes from many tenants stays inside', async t => {
  const bytes = 256 * KIB
  const log = journal({ bytes, entries: 50 })
  const kept = new Map<string, number>()
  const clients = Array.from({ length: 40 }, (_, at) => `client-${at}`)
  for (let count = 0; count < 20_000; count++) {
    const clientId = clients[(count * 7) % clients.length] as string
    log.add(clientId, large(((count * 7919) % 64) ** 2))
    kept.set(clientId, (kept.get(clientId) ?? 0) + 1)
    if (count % 1000 !== 999) continue
    let sum = 0
    for (const client of clients) {
      const { data, last, dropped } = log.of(client)
      if (data.length > 50) t.fail(`${client} has ${data.length}`)
      if (data.length + dropped !== last || last !== kept.get(client)) t.fail(`${client} has lost count`)
      sum += data.reduce((all, { body }) => all + String(body).length, 0)
    }
    if (sum > bytes) t.fail(`${sum} bytes of bodies are kept`)
    if (sum < bytes / 4) t.fail(`no more than ${sum} bytes of bodies are kept`)
  }
  t.pass('after every thousand requests')
})

// --------------------------------------------------------------------------------------------------- emptying a log

t.test('control plane, DELETE /requests: the log is empty, and the numbers go on', async t => {
  const log = journal({ entries: 3 })
  for (let count = 0; count < 5; count++) log.add('acme', exchange())
  log.add('other', exchange())
  t.equal(log.clear('acme'), 3)
  t.same(log.of('acme'), { data: [], last: 5, dropped: 2 })
  t.equal(log.clear('acme'), 0)
  t.equal(log.clear('nobody'), 0)
  log.add('acme', exchange())
  t.match(log.of('acme'), { data: [{ seq: 6 }], last: 6, dropped: 2 })
  t.same(seqs(log.of('other')), [1])
})

t.test('control plane, POST /reset: the log begins anew', async t => {
  const log = journal({ entries: 3 })
  for (let count = 0; count < 5; count++) log.add('acme', exchange())
  log.forget('acme')
  log.forget('nobody')
  t.same(log.of('acme'), { data: [], last: 0, dropped: 0 })
  log.add('acme', exchange())
  t.match(log.of('acme'), { data: [{ seq: 1 }], last: 1, dropped: 0 })
})

t.test('control plane, DELETE /requests: what is gone makes room', async t => {
  for (const empty of ['clear', 'forget'] as const) {
    const log = journal({ bytes: 40 * KIB })
    for (let count = 0; count < 3; count++) log.add('acme', large(10 * KIB))
    log[empty]('acme')
    for (let count = 0; count < 3; count++) log.add('other', large(10 * KIB))
    t.same(seqs(log.of('other')), [1, 2, 3], empty)
  }
})
