import fs from 'node:fs'
import type { Test } from 'tap'
import t from 'tap'
import { loadFixtures } from '../src/fixtures.js'
import { OWN_FIXTURES } from '../src/package.js'
import type { Recording } from '../src/recording.js'
import { startReplay } from '../src/replay.js'
import { command } from './command.js'
import { bill, build, call, collection, connect, mandate, payoutLink } from './helper.js'

type Mutable<T> = T extends object ? { -readonly [K in keyof T]: Mutable<T[K]> } : T

/** What a tenant has been through: 7 requests, the last of which has a long answer. */
async function live(t: Test, options: Parameters<typeof build>[1] = {}): Promise<Mutable<Recording>> {
  const app = build(t, options)
  const client = await connect(app)
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/direct-debit', collection({ debtorReference: 'SIM-REJECTED-AC01' }))
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/payout-links', payoutLink())
  await client.control('POST', '/clock/advance', { by: 'P10D' })
  await client.control('POST', '/seed', { fixture: 'demo' })
  return (await call(app, 'GET', '/_sandbox/recording?client=acme')).body
}

const SAME = 'acme: 7 requests, every answer is the same\n'

function write(t: Test, content: unknown, name = 'recording.json'): string {
  const folder = t.testdirName
  if (!fs.existsSync(folder)) t.testdir()
  const path = `${folder}/${name}`
  fs.writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

// ---------------------------------------------------------------------------------------------------- command line

t.test('issue 3, replay: a recording whose answers are all the same: exit code 0', async t => {
  const recording = await live(t)
  t.same(await command(['replay', write(t, recording)]), { code: 0, stdout: SAME, stderr: '' })
  t.same(await command(['replay', write(t, JSON.stringify(recording, null, 4))]), { code: 0, stdout: SAME, stderr: '' })
})

t.test('issue 3, replay: no setting of the process makes a difference', async t => {
  const file = write(t, await live(t))
  const settings = {
    SANDBOX_SEED: 'other',
    SANDBOX_CLOCK: '2020-01-01T00:00:00Z',
    SANDBOX_OPEN_REGISTRATION: 'false',
    SANDBOX_MAX_TENANTS: '1',
    SANDBOX_TOKEN_TTL: '1',
    SANDBOX_PUBLIC_URL: 'https://other.example',
    SANDBOX_ADMIN_TOKEN: 'hush',
    SANDBOX_RECORDING_BYTES: '0',
    SANDBOX_JOURNAL_ENTRIES: '0',
    SANDBOX_DATA: `${t.testdirName}/data`,
  }
  t.same(await command(['replay', file], settings), { code: 0, stdout: SAME, stderr: '' })
  t.notOk(fs.existsSync(settings.SANDBOX_DATA))
})

t.test('issue 3, replay: the first answer that differs is told, with what was recorded and what came: 1', async t => {
  const recording = await live(t)
  const cases: [name: string, n: number, tamper: (copy: typeof recording) => void, lines: RegExp[]][] = [
    [
      'another body of an answer',
      2,
      copy => {
        const answer = copy.requests[1]?.answer
        if (answer) answer.body = answer.body?.replace('ACTIVE', 'FAILED') as string
      },
      [
        /POST \/api\/v1\/mandates in EU at 2026-11-02T09:00:00Z with \{"mandateReference"/,
        /201 .*FAILED/,
        /201 .*ACTIVE/,
      ],
    ],
    [
      'another status of an answer',
      4,
      copy => Object.assign(copy.requests[3]?.answer as object, { status: 201 }),
      [/POST \/api\/v1\/mandates in EU/, /201 .*DUPLICATE/, /409 .*DUPLICATE/],
    ],
    [
      'another digest of an answer',
      7,
      copy => Object.assign(copy.requests[6] as object, { answer: { status: 200, sha256: 'f00' } }),
      [/POST \/_sandbox\/seed\?client=acme at/, /200 with a body of SHA-256 f00/, /200 \{/],
    ],
    [
      'another request',
      2,
      copy => Object.assign(copy.requests[1] as object, { body: '{}' }),
      [/POST \/api\/v1\/mandates in EU at \S+ with \{\}$/, /201 /, /400 .*MISSING_FIELD/],
    ],
    [
      'a request without its body',
      2,
      copy => Object.assign(copy.requests[1] as object, { body: '' }),
      [/POST \/api\/v1\/mandates in EU at \S+$/, /201 /, /400 .*MISSING_FIELD/],
    ],
    [
      'another start',
      2,
      copy => Object.assign(copy.start.settings, { mandateActivation: 'manual' }),
      [/POST \/api\/v1\/mandates/, /201 .*ACTIVE/, /201 .*PENDING/],
    ],
    ['another seed', 5, copy => Object.assign(copy, { seed: 'other' }), [/payout-links/, /201 /, /201 /]],
    [
      'another time',
      3,
      copy => Object.assign(copy.requests[2] as object, { at: '2026-11-03T09:00:00Z' }),
      [/./, /./, /./],
    ],
  ]
  for (const [name, n, tamper, lines] of cases) {
    const copy = structuredClone(recording)
    tamper(copy)
    const { code, stdout, stderr } = await command(['replay', write(t, copy)])
    t.same([code, stderr], [1, ''], name)
    const [first = '', recorded = '', replayed = '', ...rest] = stdout.split('\n')
    t.same(rest, [''], `${name}: three lines`)
    t.ok(first.startsWith(`request ${n} of ${copy.requests.length} is answered otherwise: `), first)
    t.match(first, lines[0], name)
    t.match(recorded, /^ {2}recorded \d{3} /)
    t.match(recorded, lines[1], name)
    t.match(replayed, /^ {2}replayed \d{3} /)
    t.match(replayed, lines[2], name)
  }
})

t.test('issue 3, replay: what was not answered yet is applied, and compared with nothing', async t => {
  const recording = await live(t)
  Object.assign(recording.requests[1] as object, { answer: null })
  t.same(await command(['replay', write(t, recording)]), { code: 0, stdout: SAME, stderr: '' })
})

t.test('issue 3, replay: an empty recording', async t => {
  const recording = { ...(await live(t)), requests: [] }
  t.match(await command(['replay', write(t, recording)]), { code: 0, stdout: /^acme: 0 requests, / })
})

t.test('issue 3, replay: requests that seed a fixture of my own need it', async t => {
  const folder = t.testdir({ 'story.json': JSON.stringify({ bills: [bill()] }) })
  const app = build(t, { fixtures: loadFixtures(OWN_FIXTURES, folder) })
  const client = await connect(app)
  t.equal((await client.control('POST', '/seed', { fixture: 'story' })).status, 200)
  const { body } = await call(app, 'GET', '/_sandbox/recording?client=acme')
  const file = `${folder}/recording`
  fs.writeFileSync(file, JSON.stringify(body))
  t.match(await command(['replay', file], { SANDBOX_FIXTURES: folder }), { code: 0 })
  t.match(await command(['replay', file]), { code: 1, stdout: /replayed 400 .*no fixture.*story/ })
})

const oneLine = /^payments-sandbox: [^\n]+\n$/

t.test('issue 3, replay: what is no recording ends with one line that names the file, exit code 2', async t => {
  const recording = await live(t)
  const without = (name: string) => Object.fromEntries(Object.entries(recording).filter(([key]) => key !== name))
  const [first, ...others] = recording.requests
  const request = (changes: object) => ({ ...recording, requests: [{ ...first, ...changes }, ...others] })
  const start = (changes: object) => ({ ...recording, start: { ...recording.start, ...changes } })
  const record = {
    region: 'EU',
    sequence: 1,
    createdAt: '2026-11-02T09:00:00Z',
    record: { counterpartyReference: 'CPTY-1' },
  }
  const cases: [name: string, content: unknown, why: RegExp][] = [
    ['empty', '', /JSON/],
    ['half', JSON.stringify(recording).slice(0, -9), /JSON/],
    ['lines', '{\n"a":\n\n?', /JSON/],
    ['null', 'null', /object/],
    ['list', '[]', /object|format/],
    ['state', recording.start, /format.*payments-sandbox\/recording/],
    ['version', { ...recording, version: 2 }, /version.*1/],
    ...['format', 'version', 'clientId', 'seed', 'publicUrl', 'tokenLifetime', 'identity', 'start', 'requests'].map(
      (name): [string, unknown, RegExp] => [`no ${name}`, without(name), new RegExp(name)],
    ),
    ['clientId', { ...recording, clientId: '' }, /clientId/],
    ['seed', { ...recording, seed: 1 }, /seed/],
    ['identity', { ...recording, identity: { ...recording.identity, resets: -1 } }, /identity\.resets/],
    ['requests', { ...recording, requests: {} }, /requests/],
    ['at', request({ at: '2026-11-02' }), /requests\.0\.at/],
    ['receivedAt', request({ receivedAt: '2026-11-02T09:00:00Z' }), /requests\.0\.receivedAt/],
    ['method', request({ method: 'BREW' }), /requests\.0\.method/],
    ['url', request({ url: 'http://x' }), /requests\.0\.url/],
    ['headers', request({ headers: { a: 1 } }), /requests\.0\.headers/],
    ['body', request({ body: {} }), /requests\.0\.body/],
    ['answer', request({ answer: { status: '200' } }), /requests\.0\.answer\.status/],
    ['no answer', request({ answer: undefined }), /requests\.0\.answer/],
    ['start', start({ sequence: 'x' }), /start\.sequence/],
    ['sequence', start({ counterparties: [record] }), /sequence/],
    ['twice', start({ sequence: 2, counterparties: [record, { ...record, sequence: 2 }] }), /CPTY-1|counterparties/],
  ]
  for (const [name, content, why] of cases) {
    const file = write(t, content, `${name}.json`)
    const { code, stdout, stderr } = await command(['replay', file])
    t.same([code, stdout], [2, ''], name)
    t.match(stderr, oneLine, name)
    t.ok(stderr.includes(file), stderr)
    t.match(stderr.replace(file, ''), why, name)
  }
  const folder = t.testdir()
  for (const file of [`${folder}/missing.json`, folder]) {
    const { code, stdout, stderr } = await command(['replay', file])
    t.same([code, stdout], [2, ''])
    t.match(stderr, oneLine)
    t.ok(stderr.includes(file))
  }
})

t.test('issue 3, replay --until: what is the number of no request is refused, exit code 2', async t => {
  const file = write(t, await live(t))
  for (const text of ['0', '9', '-1', '+1', '1.5', '1e1', 'x', '', ' 1', '99999999999999999999']) {
    const { code, stdout, stderr } = await command(['replay', file, `--until=${text}`])
    t.same([code, stdout], [2, ''], text)
    t.match(stderr, oneLine)
    t.match(stderr, /--until.*from 1 to 8/)
    t.ok(stderr.includes(JSON.stringify(text)), stderr)
  }
})

t.test('issue 3, replay --until: an answer before that differs is told, and nothing is served', async t => {
  const recording = await live(t)
  Object.assign(recording.requests[1]?.answer as object, { status: 500 })
  t.match(await command(['replay', write(t, recording), '--until', '5']), {
    code: 1,
    stdout: /^request 2 of 7 is answered otherwise/,
  })
})

t.test('issue 3, replay: wrong usage ends with one line and exit code 2', async t => {
  for (const args of [
    ['replay'],
    ['replay', 'a', 'b'],
    ['replay', 'a', '--until'],
    ['start', '--until', '1'],
    ['--until', '1'],
    ['health', 'now'],
  ]) {
    const { code, stdout, stderr } = await command(args)
    t.same([code, stdout], [args[0] === 'health' ? 1 : 2, ''], args.join(' '))
    t.match(stderr, oneLine)
  }
})

// --------------------------------------------------------------------------------------------------------- library

t.test('issue 3: a replay stands where the requests have led to, after each of them', async t => {
  const { clientId, identity, requests, ...options } = await live(t)
  const fixtures = loadFixtures(OWN_FIXTURES)
  const replay = await startReplay({ ...options, identity: { clientId, ...identity }, fixtures })
  t.same(replay.state().mandates, [])
  const seen: unknown[] = []
  for (const { answer, ...request } of requests) {
    t.same(await replay.apply(request), answer)
    const { mandates, clock } = replay.state()
    seen.push([mandates.length, clock.now])
  }
  t.same(seen.slice(0, 6), [
    [0, '2026-11-02T09:00:00Z'],
    [1, '2026-11-02T09:00:00Z'],
    [1, '2026-11-02T09:00:00Z'],
    [1, '2026-11-02T09:00:00Z'],
    [1, '2026-11-02T09:00:00Z'],
    [1, '2026-11-12T09:00:00Z'],
  ])
  await replay.close()
  t.same(replay.state().clock.now, '2026-11-12T09:00:00Z', 'also when it is over')
})

t.test('issue 3: a replay goes to where payout links pointed, when that has changed', async t => {
  const { clientId, identity, requests, ...options } = await live(t)
  const replay = await startReplay({ ...options, identity: { clientId, ...identity }, fixtures: new Map() })
  const line = requests[4] as (typeof requests)[number]
  const urls: unknown[] = []
  for (const publicUrl of [undefined, 'https://new.example', undefined]) {
    const { body } = await replay.apply({ ...line, ...(publicUrl !== undefined && { publicUrl }) })
    urls.push(new URL(JSON.parse(body ?? '').url).origin)
  }
  t.same(urls, ['http://127.0.0.1:8080', 'https://new.example', 'https://new.example'])
  await replay.close()
})

t.test('issue 3: a state whose parts do not fit together cannot be replayed', async t => {
  const { clientId, identity, requests: _, ...options } = await live(t)
  const start = { ...options.start, events: [{ seq: 7 }] } as never
  await t.rejects(startReplay({ ...options, start, identity: { clientId, ...identity }, fixtures: new Map() }), {
    code: 'INVALID_FIELD',
  })
})

t.test('decisions §3: a client of any name that can be listed is replayed', async t => {
  for (const clientId of ['Käse & Söhne: 1/2', 'x', 'trailing ', '客户', 'a#b?c%20']) {
    const app = build(t, { clients: [{ clientId, clientSecret: 'secret' }] })
    const client = encodeURIComponent(clientId)
    const { body } = await call(app, 'POST', '/api/v1/oauth/token', {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `client_id=${client}&client_secret=secret&grant_type=client_credentials`,
    })
    const headers = {
      authorization: `Bearer ${body.access_token}`,
      'x-region': 'EU',
      'content-type': 'application/json',
    }
    t.equal((await call(app, 'POST', '/api/v1/mandates', { headers, body: mandate() })).status, 201)
    t.equal((await call(app, 'POST', `/_sandbox/mandates/MND-0001/cancel?client=${client}`)).status, 200)
    const file = write(t, (await call(app, 'GET', `/_sandbox/recording?client=${client}`)).body)
    t.match(await command(['replay', file]), { code: 0, stdout: `${clientId}: 3 requests, every answer is the same` })
  }
})
