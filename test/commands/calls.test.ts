import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { call, mandate } from '../helper.js'
import { start } from './helper.js'

// Each command against a server that listens, in this process.

t.test('commands, Bring a payment into a state: return, explain and the other verbs of a record', async t => {
  const { json, run } = await start(t)
  for (const [args, status] of [
    [['submit', 'COL-0001'], 'SUBMITTED'],
    [['process', 'COL-0001'], 'PROCESSING'],
    [['collections', 'settle', 'COL-0001'], 'SETTLED'],
    [['return', 'COL-0001', 'AM04'], 'RETURNED'],
  ] as const) {
    t.equal((await json(...args)).record.status, status, args.join(' '))
  }
  t.match(await json('explain', 'COL-0001'), { record: { reasonCode: 'AM04' }, timeline: Array })
  t.match(await json('explain', 'MND-0001'), { record: { mandateReference: 'MND-0001' } })
  t.match((await run('explain', 'COL-0001')).stdout, /^status {2,}RETURNED\n(.*\n)*\ntimeline:\nseq +at +kind/m)
  t.match(await run('return', 'COL-0001', 'AM04'), {
    code: 1,
    stdout: '',
    stderr: /^ILLEGAL_TRANSITION \S+ Cannot return .*\n$/,
  })
  t.match(JSON.parse((await run('return', 'COL-0001', '--json')).stderr), { code: 'ILLEGAL_TRANSITION' })
})

t.test('commands, Arguments and options: a member that is an argument is an option, too', async t => {
  const { json, run } = await start(t)
  t.match(await json('reject', 'COL-0001', '--reason-code', 'AC01').catch(String), /ILLEGAL_TRANSITION/)
  await run('submit', 'COL-0001')
  t.match(await json('reject', 'COL-0001', '--reason-code', 'AC01'), { record: { reasonCode: 'AC01' } })
  const armed = await json('outcomes', 'arm', '--outcome', 'FAILED', '--match.amount', '49.90', '--times', 'null')
  t.match(armed, { outcome: 'FAILED', match: { amount: '49.90' }, times: null })
})

t.test('commands, Move the clock: advance by, to, and to the next event', async t => {
  const { json, run } = await start(t)
  t.match(await json('clock'), { now: '2026-11-02T09:00:00Z', mode: 'frozen' })
  t.match(await json('advance', '--to-next-event'), { transitions: [{ reference: 'COL-0001', to: 'SUBMITTED' }] })
  t.match(await json('clock', 'advance', '--by', 'P1D'), { transitions: [{ to: 'PROCESSING' }] })
  t.match(await json('advance', '--to', '2026-12-01T00:00:00Z'), { now: '2026-12-01T00:00:00Z' })
  t.match(await json('clock', 'update', '--mode', 'running', '--rate', '60'), { mode: 'running', rate: 60 })
  t.match(await run('advance', '--by', 'P1Y'), { code: 1, stderr: /^INVALID_FIELD by / })
})

t.test('commands, Lose an answer: faults of all kinds of options', async t => {
  const { json, run } = await start(t)
  const armed = await json(
    ...['faults', 'arm', '--effect.kind', 'error', '--effect.status', '503', '--effect.headers', '{"x-a": "1"}'],
    ...['--match.path', '/api/v1/*', '--times', '2', '--probability', '0.5'],
  )
  const effect = { kind: 'error', status: 503, headers: { 'x-a': '1' } }
  t.match(armed, { effect, match: { path: '/api/v1/*' }, times: 2, probability: 0.5 })
  t.match((await run('faults')).stdout, /^id +match .*\nfault-1 +\{"path":"\/api\/v1\/\*"\} /)
  t.same(await json('faults', 'remove', 'fault-1'), { removed: 1 })
  t.equal((await run('faults')).stdout, 'none\n', 'an empty list')
  t.match(await run('faults', 'arm'), { code: 1, stderr: /effect/ })
})

t.test('commands, Check the requests of your app: verify by options and by a file, with the differences', async t => {
  const { json, run } = await start(t)
  const folder = t.testdir({
    'one.json': '{"method": "POST", "times": 1}',
    'list.yaml': '- method: POST\n- path: /api/v1/bills\n  body: { amount: "1" }\n',
    'wrong.yaml': 'method: [',
    'empty.yaml': '',
  })
  t.match(await run('verify', join(folder, 'one.json')), { code: 0, stdout: /matched +true\ncount +1/, stderr: '' })
  const missed = await run('verify', join(folder, 'list.yaml'))
  t.match(missed, { code: 1, stdout: /matched +true/ })
  t.match(
    missed.stderr,
    /"path":"\/api\/v1\/bills".*expected at least 1, found 0\.\nNearest: #1 POST .*\n {2}path: expected/,
  )
  t.match(await run('verify', '--method', 'POST', '--times', '2', '--json'), { code: 1, stdout: /^\{"matched":false/ })
  t.match(await json('verify', '--body', '{"client_id": "shop"}'), { matched: true })
  t.match(await run('verify', join(folder, 'wrong.yaml')), { code: 2, stderr: /wrong\.yaml: / })
  t.match(await run('verify', join(folder, 'none.yaml')), { code: 2, stderr: /none\.yaml: ENOENT/ })
  t.match(await run('verify', join(folder, 'empty.yaml')), { code: 0 })
  t.match(
    (await run('requests')).stdout,
    /^last +1\n(.*\n)*seq +at +receivedAt +method.*\n1 +2026-11-02T09:00:00Z +1970-01-01T00:00:00.000Z +POST +\/api/m,
  )
  t.match(await json('requests', '--format', 'har'), { log: { version: '1.2' } })
  t.match(await json('requests', 'get', '1'), { seq: 1, status: 200 })
  t.match(await json('coverage'), { clients: ['shop'] })
  t.match(await json('coverage', '--clients', 'all'), { clients: ['shop'] }, 'no client is sent')
})

t.test('commands, Keep the evidence of a failure: the summary, and two files in a new folder', async t => {
  const { json, run, app } = await start(t)
  const { payload } = await app.inject({ url: '/_sandbox/evidence?client=shop', headers: { accept: 'text/plain' } })
  t.match(payload, /^Client shop, /)
  t.same(await run('evidence'), { code: 0, stdout: payload, stderr: '' })
  const folder = join(t.testdir(), 'deep', 'er')
  const files = [join(folder, 'summary.txt'), join(folder, 'evidence.json')]
  const written = await run('evidence', '--out', folder)
  t.same(written, { code: 0, stdout: `${payload}Written: ${files.join(', ')}\n`, stderr: '' })
  const [summary, evidence] = files.map(file => readFileSync(file, 'utf8'))
  t.equal(summary, payload)
  t.same(JSON.parse(evidence as string), await json('evidence'))
  t.match(await run('evidence', '--out', files[0] as string), { code: 1, stderr: /EEXIST/ })
})

t.test('commands, Save and load a state: a file of the exact answer, and the standard output', async t => {
  const { json, run, app } = await start(t)
  const file = join(t.testdir(), 'shop.json')
  t.same(await run('state', 'save', file), { code: 0, stdout: '', stderr: '' })
  const { payload } = await app.inject('/_sandbox/state?client=shop')
  t.equal(readFileSync(file, 'utf8'), payload)
  t.equal((await run('state', 'save', '-')).stdout, `${payload}\n`)
  await run('reset')
  writeFileSync(file, `\ufeff${payload}`)
  t.match(await json('state', 'load', file), { counts: { collections: 1 } }, 'with a byte order mark')
  await run('reset')
  t.match(await json('state', 'load', file), { counts: { collections: 1 } })
  t.match(await json('advance', '--by', 'P1D'), { transitions: [] }, 'the verb of one noun')
  writeFileSync(file, '{"format": "none"}')
  t.match(await run('state', 'load', file), { code: 1, stderr: /^MISSING_FIELD version / })
  t.match(await run('state', 'save', join(file, 'x')), { code: 1, stderr: /ENOTDIR/ })
})

t.test('commands, Bring a payment into a state: parameters of scenarios are options', async t => {
  const { json, run } = await start(t)
  const { values } = await json('scenario', 'collection-returned', '--reason-code', 'MD06', '--amount', '20')
  t.match(values, { reasonCode: 'MD06', amount: '20' })
  t.match(await json('scenario', 'lost-answer', '--times', '2'), { values: { times: 2 } }, 'a number')
  t.match(await run('scenario', 'lost-answer', '--times', 'two'), { code: 1, stderr: /^INVALID_FIELD times / })
  const stderr = /^INVALID_FIELD reason There is no parameter reason\. Known: .*reasonCode/
  t.match(await run('scenario', 'collection-returned', '--reason', 'AM04'), { code: 1, stderr })
  t.match(await run('scenario', 'nothing'), { code: 1, stderr: /^SCENARIO_NOT_FOUND name / })
  t.match((await run('scenarios')).stdout, /^collection-returned .*mandateReference, collectionReference, amount/m)
})

t.test('commands, Before you begin: the client is that of the option, its variable, or sandbox-client', async t => {
  const { json, run } = await start(t)
  t.match(await json('reset', '--client', 'sandbox-client'), { clientId: 'sandbox-client' })
  t.match(await json('reset', '--client='), { clientId: 'shop' }, 'an empty one is none')
  t.match(await run('reset', '--client', 'shpo'), { code: 1, stderr: /^CLIENT_NOT_FOUND client / })
  t.match(await run('token', '--client', 'job-1'), { code: 0, stdout: /^\S+\n$/ }, 'it is registered')
  t.match(await json('reset', '--client', 'job-1'), { clientId: 'job-1' })
  t.same(await json('clients', 'remove', 'job-1'), { removed: 1 })
  const other = await start(t, {}, { SANDBOX_CLIENT_SECRET: 'wrong' })
  await other.run('fork', 'job-2', '--client-secret', 'right')
  t.match(await other.run('token', '--client', 'job-2'), { code: 1, stdout: '', stderr: /^INVALID_CLIENT / })
})

t.test('commands, Names: a reference that records of several kinds have needs the noun', async t => {
  const { json, run } = await start(t)
  const bill = { type: 'INVOICE', cashflowType: 'INFLOW', counterpartyReference: 'CPTY-0001' }
  const amounts = { currency: 'EUR', totalAmount: '1', dueDate: '2026-12-01' }
  const bills = [{ uniqueReferenceIdentifier: 'COL-0001', ...bill, ...amounts }]
  await run('seed', '--records', JSON.stringify({ bills }))
  t.match(await run('explain', 'COL-0001'), { code: 2, stderr: /several kinds.* collections explain, .*bills explain/ })
  t.match(await json('bills', 'explain', 'COL-0001'), { record: { type: 'INVOICE' } })
  t.match(await json('cancel', 'COL-0001'), { record: { status: 'CANCELLED' } }, 'only a collection has the verb')
})

t.test('commands, Exit codes: references with special characters, and those that no record has', async t => {
  const { run } = await start(t)
  for (const [reference, code, stderr] of [
    ['COL-9999', 1, /^RECORD_NOT_FOUND - None of these has COL-9999: /],
    ['a/b', 1, /^[A-Z_]+ /],
    ['é ü?&#%', 1, /^[A-Z_]+ /],
    ['\u001b[31m', 1, /^[\x20-\x7e]+\n$/],
  ] as const) {
    t.match(await run('explain', reference), { code, stdout: '', stderr }, JSON.stringify(reference))
  }
  for (const reference of ['..', '.', '']) {
    const { code, stderr } = await run('faults', 'remove', reference)
    t.match([code, stderr], [2, /ID cannot be/], JSON.stringify(reference))
  }
  t.match(await run('faults', 'remove', 'a b&c'), { code: 1, stderr: /^FAULT_NOT_FOUND .*a b&c/ })
})

t.test('commands, Output: control characters of names do not reach the terminal, whatever prints them', async t => {
  const { app, run, json } = await start(t)
  const debtor = { ...mandate().debtor, reference: 'Jane\u001b[31mDoe\u0007' }
  await run('seed', '--records', JSON.stringify({ mandates: [mandate({ mandateReference: 'MND-0002', debtor })] }))
  t.match((await run('explain', 'MND-0002')).stdout, /debtor\.reference +Jane\\u001b\[31mDoe\\u0007\n/)
  const token = (await run('token')).stdout.trim()
  const bidi = '\u061c\u200e\u200f\u202a\u202e\u2066\u2069'
  const name = `\u001b]0;PWNED\u0007\u009b31m\u007f${bidi}\r\n`
  const headers = { authorization: `Bearer ${token}`, 'x-region': 'EU' }
  const query = `${encodeURIComponent(name)}=1`
  await call(app, 'GET', `/api/v1/mandates?${query}`, { headers })
  const body = { [name]: { [name]: 1 }, rows: [{ [name]: name }], [`${name}s`]: [{ a: 1 }], '\n#1 forged': 1 }
  await call(app, 'POST', '/api/v1/mandates', { headers, body })
  const { data } = await json('requests')
  const seqOf = (method: string) =>
    String(data.find((one: Record<string, unknown>) => one.path === '/api/v1/mandates' && one.method === method).seq)
  const commands = [
    ['requests'],
    ['requests', 'get', seqOf('GET')],
    ['requests', 'get', seqOf('POST')],
    ['requests', '--path', `/${name}`],
    ['requests', 'har', '-'],
    ['verify', '--method', 'POST', '--body', JSON.stringify({ [name]: 2 })],
    ['explain', name],
    [name],
    ['seed', '--records', JSON.stringify({ [name]: [] })],
    ['seed', '--input', `/nowhere/${name}`],
  ]
  const printed: string[] = []
  for (const command of commands) {
    for (const options of [[], ['--json']]) {
      const { stdout, stderr } = await run(...command, ...options)
      const isPlain = !/[^\P{Cc}\n]|\p{Bidi_Control}/u.test(stdout + stderr) && stdout + stderr !== ''
      if (!isPlain) printed.push(`${JSON.stringify([...command, ...options])}: ${JSON.stringify(stdout + stderr)}`)
    }
  }
  t.same(printed, [])
  const { stdout } = await run('requests', 'get', seqOf('POST'))
  t.notMatch(stdout, /^#1 forged/m, 'a name cannot begin a line')
  t.match(stdout, /\\u000a#1 forged/)
  t.same((await json('requests', 'get', seqOf('POST'))).body, body, 'JSON means the same')
})

t.test('commands, Output: tables are cut on a terminal only', async t => {
  const { url } = await start(t)
  const { runCommand } = await import('../../src/commands/run.js')
  const widths: number[] = []
  for (const columns of [40, undefined]) {
    const parts: string[] = []
    const stdout = { write: (part: string) => parts.push(part), ...(columns !== undefined && { columns }) }
    await runCommand(['errors'], { SANDBOX_URL: url }, { stdout, stderr: stdout })
    const lines = parts.join('').split('\n')
    widths.push(Math.max(...lines.map(line => line.length)))
  }
  t.equal(widths[0], 40)
  t.ok(Number(widths[1]) > 100)
})
