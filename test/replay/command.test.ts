import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import t from 'tap'
import { bill, build, connect, MONDAY, mandate, payoutLink, requestToken } from '../helper.js'
import { listen } from '../http/raw.js'
import { upload } from '../multipart.js'
import type { Har } from './capture.js'
import { captured } from './capture.js'
import { journey } from './journey.js'
import { command, playRun, write } from './run.js'

const IS_LONG = process.env.TEST_LONG === '1'

// decisions §1, CI: the command line of replay, and the runs that a sandbox has logged.

/** A run that used only the API and the clock. Its requests are in the log. */
async function run(app: FastifyInstance) {
  const client = await connect(app, 'ci')
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/bills', bill())
  await client.send('POST', '/api/v1/bills/INV-2026-001/document', upload())
  const { body } = await client.post('/api/v1/payout-links', payoutLink())
  await client.control('POST', '/clock/advance', { by: 'PT2H' })
  await client.get('/api/v1/mandates')
  await client.control('POST', '/tokens')
  await requestToken(app, { client_id: 'ci', client_secret: 'wrong' })
  const late = await connect(app, 'ci')
  await late.patch(`/api/v1/payout-links/${body.payoutLinkId}/cancel`, { cancellationComment: 'x' })
  await late.send('HEAD', '/api/v1/bills')
  const har = async (query = '') => (await late.control('GET', `/requests?format=har${query}`)).body as Har
  return { client: late, har }
}

t.test('ci, In CI: the log of a run in a CI job is replayed, and every answer is the same', async t => {
  const { har } = await run(build(t, { tokenLifetime: 5000 }))
  const first = await har()
  t.match(first.log, { _seed: 'test', _complete: true, _steeredBy: [] })
  t.match(await command([write(t, first)]), {
    code: 0,
    stdout: /^11 entries .*\nEvery answer is the same\.\n$/,
    stderr: '',
  })
  t.match(await har('&limit=3'), { log: { _complete: false } })
  const { code, stdout } = await command([write(t, await har('&after=4'))])
  t.match(stdout, /lost/)
  t.equal(code, 0, 'a part of a run is compared, too')

  const last = first.log.entries.at(-2) as Har['log']['entries'][0]
  last.response.status = 200
  t.match(await command([write(t, first)]), { code: 1, stdout: /entry 10 .*status\n {2}service/ })
})

t.test('ci, In CI: a run that other calls have steered is refused with their names', async t => {
  const { client, har } = await run(build(t))
  await client.control('POST', '/faults', { effect: { kind: 'error', status: 500 }, times: 1 })
  await client.control('PUT', '/settings', { mandateActivation: 'manual' })
  await client.control('GET', '/faults')
  const { code, stdout, stderr } = await command([write(t, await har())])
  t.match({ code, stdout }, { code: 2, stdout: '' })
  t.match(stderr, /steered .*: POST \/_sandbox\/faults, PUT \/_sandbox\/settings\./)
  await client.control('POST', '/reset')
  t.match(await har(), { log: { _steeredBy: [] } }, 'a reset begins another run')
})

t.test('replay, Exit codes: what cannot be used is refused in one line', async t => {
  const har = await journey(build(t))
  const file = write(t, har)
  const cases: [args: string[], message: RegExp, content?: unknown][] = [
    [[], /give one file/],
    [['a', 'b'], /give one file/],
    [['/nonexistent.har'], /cannot be read: ENOENT/],
    [[file], /no HAR file, or it is cut off/, JSON.stringify(har).slice(0, 1000)],
    [[file], /no HAR file/, '{"log":{}}'],
    [[file], /20001 entries/, { log: { entries: Array(20_001).fill({}) } }],
    [[file, '--hots', 'x'], /unknown option --hots/],
    [[file, '--client', 'x'], /--client goes with --to/],
    [[file, '--host', 'other.example'], /no request of the interface\. Skipped 160 of other hosts/],
    [[file, '--to', 'http://127.0.0.1:1'], /127\.0\.0\.1:1/],
    [[file, '--to', 'nowhere'], /not allowed/],
  ]
  for (const [args, message, content = har] of cases) {
    write(t, content)
    const { code, stdout, stderr } = await command(args)
    t.match({ code, stdout }, { code: 2, stdout: '' }, args.join(' '))
    t.match(stderr, message)
    t.equal(stderr.split('\n').length, 2, stderr)
  }
  t.match(await command(['--help']), { code: 0, stdout: /Usage: payments-sandbox replay FILE\.har/ })
})

t.test('replay, Captured traffic: a file can have 20,000 entries', async t => {
  const { log } = await journey(build(t))
  const entries = [...log.entries, ...Array(20_000 - log.entries.length).fill({})]
  const { code, stdout } = await command([write(t, { log: { ...log, entries } })])
  t.match(stdout, /^159 entries .* Skipped 1 of other paths\. Skipped 19840 malformed\.\nEvery answer is the same\.\n$/)
  t.equal(code, 0)
})

t.test('replay, Findings: --json has each finding, and no output has a secret', async t => {
  const har = await journey(build(t))
  const entry = har.log.entries.find(({ response }) => response.status === 201) as Har['log']['entries'][0]
  entry.response.content.text = `${entry.response.content.text?.slice(0, -1)},"client_secret":"hush-member"}`
  const { code, stdout } = await command([write(t, har), '--json'])
  t.equal(code, 1)
  const result = JSON.parse(stdout)
  t.match(result, { entries: 159, skipped: { 'of other paths': 1 }, findings: [{}] })
  t.match(result.findings, [
    {
      entry: 12,
      operation: 'POST /api/v1/mandates',
      path: 'client_secret',
      sandbox: null,
      fidelity: 'assumed',
      section: 7,
    },
  ])
  for (const args of [[], ['--json']]) {
    const { stdout } = await command([write(t, har), ...args])
    t.notMatch(stdout, /hush|wrong-secret|[\w-]{16}\.\w+\.\w+\.\w+/)
  }
})

// ---------------------------------------------------------------------------------------------------------------- --to

/** The records of a client, without the values that a server makes. */
async function recordsOf(app: FastifyInstance, clientId: string) {
  const url = `/_sandbox/state?client=${clientId}`
  const state = JSON.parse((await app.inject({ method: 'GET', url })).payload)
  const { mandates, collections, payoutLinks, bills, counterparties, accounts } = state
  const text = JSON.stringify({ mandates, collections, payoutLinks, bills, counterparties, accounts })
  const made = /"(payoutLinkId|url|documentId|sha256|sequence|timeline)":("[^"]*"|\d+|\[[^\]]*\])/g
  return JSON.parse(text.replace(made, '"$1":"made"'))
}

async function session(t: Test, seed: number) {
  const app = build(t)
  await playRun(app, seed)
  const har = (await app.inject({ method: 'GET', url: '/_sandbox/requests?client=acme&format=har' })).json() as Har
  return { app, har }
}

t.test('replay, Send the requests to a server: a session leaves the same records in an empty client', async t => {
  for (const seed of IS_LONG ? [1, 8] : [8]) {
    const { app, har } = await session(t, seed)
    const empty = build(t, { clock: 'real', now: () => Date.parse('2026-12-24T00:00:00Z') })
    const url = `http://127.0.0.1:${await listen(empty)}`
    const file = write(t, har)
    const result = await command([file, '--to', url, '--client', 'mine'])
    t.match(result, { code: 0, stdout: /Every answer is the same/, stderr: '' })
    t.same(await recordsOf(empty, 'mine'), await recordsOf(app, 'acme'), `seed ${seed}`)
    const clock = await empty.inject({ method: 'GET', url: '/_sandbox/clock?client=mine' })
    t.match(clock.json(), { mode: 'running' }, 'the clock goes on from the end of the file')
    t.match(await command([file, '--to', url, '--client', 'mine']), { code: 2, stderr: /has records/ })
  }
})

t.test('replay, Send the requests to a server: records that were there before are made from the answers', async t => {
  const app = build(t)
  const capture = captured(app, { now: Date.parse(MONDAY) })
  const client = await connect(capture.app)
  await client.control('POST', '/seed', {
    records: { mandates: [mandate(), mandate({ mandateReference: 'MND-0002' })] },
  })
  const collection = { amount: '10.50', currency: 'EUR', collectionDate: '2026-11-09' }
  for (const n of ['1', '2'])
    await client.post('/api/v1/direct-debit', {
      ...collection,
      collectionReference: `COL-${n}X`,
      mandateReference: `MND-000${n}`,
    })
  await client.get('/api/v1/mandates/MND-0001')
  const empty = build(t)
  const url = `http://127.0.0.1:${await listen(empty)}`
  const { code, stdout } = await command([write(t, capture.har()), '--to', url, '--client', 'mine'])
  t.equal(code, 0)
  t.match(stdout, /Could not be made: collections COL-2X/)
  const { mandates, collections } = await recordsOf(empty, 'mine')
  const references = [...mandates, ...collections].map(
    ({ record }) => record.collectionReference ?? record.mandateReference,
  )
  t.ok(
    ['MND-0001', 'COL-1X'].every(one => references.includes(one)),
    String(references),
  )
  t.notOk(references.includes('COL-2X'))
})
