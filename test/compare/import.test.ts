import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fastify from 'fastify'
import type { Test } from 'tap'
import t from 'tap'
import { runImport } from '../../src/compare/import.js'
import { isIban } from '../../src/core/rules/identifiers.js'
import type { Har } from '../capture.js'
import { captured } from '../capture.js'
import { bill, build, call, collection, connect, MONDAY, mandate, payoutLink, requestToken } from '../helper.js'
import { journeyCapture, SECRET } from './journey.js'
import { runCommand } from './run.js'

const run = (args: readonly string[]) => runCommand(args, (all, output) => runImport(all, {}, output))

function fileOf(t: Test, har: Har): string {
  const file = join(t.testdir(), 'traffic.har')
  writeFileSync(file, JSON.stringify(har))
  return file
}

/** A capture of the demo client, from the middle of its life: reads, and collections under a mandate that no answer shows. */
async function session(t: Test): Promise<Har> {
  const clock = { now: Date.parse(MONDAY) }
  const capture = captured(build(t), clock)
  const client = await connect(capture.app, 'sandbox-client', 'EU', 'sandbox-secret')
  await client.get('/api/v1/direct-debit?limit=5')
  await client.get('/api/v1/bills?limit=5')
  await client.post('/api/v1/direct-debit', collection({ mandateReference: 'MND-ACME-0001', amount: '12.34' }))
  await client.patch('/api/v1/bills/BILL-EU-2017', { status: 'PAID' })
  const har = capture.har()
  // It begins after the token request.
  har.log.entries.shift()
  return har
}

t.test('fidelity, Documented and assumed: import brings the records of a capture into a client', async t => {
  const app = build(t, { clock: 'real', now: () => Date.parse('2026-12-24T12:00:00Z') })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const file = fileOf(t, await session(t))
  const { code, stdout, stderr } = await run([file, '--client', 'yesterday', '--url', url])
  t.match({ code, stderr }, { code: 0, stderr: '' })
  t.match(
    stdout,
    /^yesterday has the records of the capture: mandates \d+, collections 6, .* Its clock is at 2026-11-02T09:00:00Z\.\n$/,
  )
  const client = await connect(app, 'yesterday')
  t.match((await client.get('/api/v1/direct-debit/COL-0001')).body, {
    amount: '12.34',
    status: 'PENDING',
    initiatedAt: MONDAY,
  })
  t.match((await client.get('/api/v1/bills/BILL-EU-2017')).body, { status: 'PAID', openAmount: '0' })
  t.equal((await client.get('/api/v1/direct-debit')).body.totalCount, 6)
  // Its time goes on from there.
  t.match((await client.control('POST', '/clock/advance', { by: 'P10D' })).body.transitions, [{ reference: /COL/ }])
  t.equal((await connect(app, 'yesterday')).clientId, 'yesterday')
})

t.test('compare, Import the records: a made-up record has its place among those of some days', async t => {
  const clock = { now: Date.parse(MONDAY) }
  const capture = captured(build(t), clock)
  const demo = await connect(capture.app, 'sandbox-client', 'EU', 'sandbox-secret')
  await demo.post('/api/v1/mandates', mandate())
  await demo.get('/api/v1/direct-debit?limit=5')
  await demo.control('POST', '/clock/advance', { by: 'P2D' })
  clock.now += 2 * 86_400_000
  await demo.get('/api/v1/direct-debit?limit=1')
  const app = build(t)
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const { code, stderr } = await run([fileOf(t, capture.har()), '--client', 'days', '--url', url])
  t.match({ code, stderr }, { code: 0, stderr: '' })
  const { mandates, collections } = (await call(app, 'GET', '/_sandbox/state?client=days')).body
  type Listed = { record: Record<'mandateReference' | 'createdAt' | 'initiatedAt', string> }
  const isOlder = ({ record: { mandateReference, initiatedAt } }: Listed) =>
    mandates.find(({ record }: Listed) => record.mandateReference === mandateReference).record.createdAt <= initiatedAt
  t.same(collections.map(isOlder), [true, true, true, true, true])
})

t.test('control plane, PUT /state: a second import replaces the first; the secret of a client stays', async t => {
  const app = build(t)
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const har = await journeyCapture()
  const file = fileOf(t, har)
  await requestToken(app, { client_id: 'again', client_secret: 'own' })
  const first = await run([file, '--client', 'again', '--url', url, '--json'])
  t.match(first, { code: 0, stderr: '' })
  t.same(await run([file, '--client', 'again', '--url', url, '--json']), first)
  t.match(JSON.parse(first.stdout), {
    clientId: 'again',
    counts: { mandates: 4, payoutLinks: 6, bills: 3, accounts: 2 },
  })
  t.equal((await requestToken(app, { client_id: 'again', client_secret: 'own' })).status, 200)
  const { body } = await (await connect(app, 'again', 'EU', 'own')).control('GET', '/state')
  for (const secret of [SECRET, 'wrong-secret-0815']) t.notOk(JSON.stringify(body).includes(secret))
})

t.test('settings, SANDBOX_FIXTURES: --fixture prints one that a server takes, --mask makes persons up', async t => {
  const har = await journeyCapture()
  const file = fileOf(t, har)
  const { code, stdout, stderr } = await run([file, '--fixture'])
  t.match({ code, stderr }, { code: 0, stderr: '' })
  t.match(stdout, 'Jane Doe')
  const records = JSON.parse(stdout)
  const client = await connect(build(t, { clock: '2026-11-20T00:00:00Z' }))
  t.match(await client.control('POST', '/seed', { records }), { status: 200, body: { added: { mandates: 4 } } })

  const state = JSON.parse((await run([file, '--state', '--client', 'acme'])).stdout)
  t.match(await client.control('PUT', '/state', state), { status: 200, body: { counts: { mandates: 4 } } })

  const masked = await run([file, '--fixture', '--mask'])
  for (const text of [
    'Jane',
    'Brunnwald',
    'DE89370400440532013000',
    '@brunnwald',
    '+491713920001',
    'Lindenallee',
    // Free texts.
    ...['Rental', 'Refund', 'Monthly'],
    SECRET,
  ]) {
    t.notOk(masked.stdout.includes(text), text)
  }
  const { mandates, collections } = JSON.parse(masked.stdout)
  t.same(mandates.map((one: { mandateReference: string }) => one.mandateReference).sort(), [
    'MND-0001',
    'MND-GONE',
    'MND-LATER',
    'MND-ONCE',
  ])
  t.ok(mandates.every(({ debtor }: { debtor: { iban: string } }) => isIban(debtor.iban)))
  const found = new Set(mandates.map(({ debtor }: { debtor: { iban: string } }) => debtor.iban)).size
  t.equal(found, 1, 'the same for the same')
  t.ok(collections.length > 8)
  const other = await connect(build(t, { clock: '2026-11-20T00:00:00Z' }), 'masked')
  t.match(await other.control('POST', '/seed', { records: JSON.parse(masked.stdout) }), { status: 200 })
})

t.test('decisions §7; decisions §8; decisions §9: import keeps times, uses and counterparties', async t => {
  const clock = { now: Date.parse(MONDAY) }
  const capture = captured(build(t), clock)
  const client = await connect(capture.app)
  const old = { createdAt: '2022-10-01T09:00:00Z', signatureDate: '2022-10-01' }
  const collected = collection({
    status: 'SETTLED',
    collectionDate: '2026-10-12',
    initiatedAt: '2026-10-01T09:00:00Z',
  })
  await client.control('POST', '/seed', {
    records: { mandates: [mandate(old)], collections: [collected], bills: [bill()] },
  })
  const { body } = await client.post('/api/v1/payout-links', payoutLink())
  for (const list of ['mandates', 'direct-debit', 'bills']) await client.get(`/api/v1/${list}`)
  clock.now += 60_000
  await client.patch(`/api/v1/payout-links/${body.payoutLinkId}/cancel`, { cancellationComment: 'x' })
  const { stdout } = await run([fileOf(t, capture.har()), '--state', '--client', 'acme'])
  const other = await connect(build(t, { clock: '2026-11-02T09:02:00Z' }))
  t.match(await other.control('PUT', '/state', JSON.parse(stdout)), { status: 200 })
  t.match((await other.get('/api/v1/mandates/MND-0001')).body, { status: 'ACTIVE' })
  t.match((await other.control('GET', '/payout-links')).body.data, [
    { record: { status: 'CANCELLED', createdAt: MONDAY, updatedAt: '2026-11-02T09:01:00Z' } },
  ])
  t.match(await other.patch('/api/v1/counterparties/CPTY-0001', { remarks: 'x' }), { status: 200 })
})

t.test('fidelity, Documented and assumed: import refuses wrong usage and files in one line', async t => {
  const har = await journeyCapture()
  har.log.entries.splice(40)
  const empty = structuredClone(har)
  empty.log.entries = empty.log.entries.filter(({ request }) => request.url.includes('/oauth/'))
  const two = structuredClone(har)
  two.log.entries.push(
    ...structuredClone(har.log.entries).map(entry => {
      entry.request.url = entry.request.url.replace('api.service.example', 'other.example')
      return entry
    }),
  )
  const none = structuredClone(har)
  none.log.entries = none.log.entries.filter(
    ({ request, response }) => request.method === 'GET' && response.status === 200,
  )
  for (const { response } of none.log.entries) response.content.text = 'null'
  const folder = t.testdir({
    'empty.har': JSON.stringify(empty),
    'null.har': JSON.stringify(none),
    'two.har': JSON.stringify(two),
    'text.har': 'x',
    'traffic.har': JSON.stringify(har),
  })
  const file = join(folder, 'traffic.har')
  const cases: [args: string[], code: number, message: RegExp][] = [
    [[], 2, /takes one file/],
    [['--other'], 2, /--other/],
    [[join(folder, 'none.har')], 2, /cannot be read: ENOENT/],
    [[join(folder, 'text.har')], 2, /is not JSON/],
    [[join(folder, 'empty.har')], 2, /shows no record/],
    [[join(folder, 'null.har')], 2, /shows no record/],
    [[join(folder, 'two.har')], 2, /the records of 2 clients: give --host/],
    [[join(folder, 'two.har'), '--url', 'ftp://x'], 2, /--url/],
  ]
  for (const [args, code, message] of cases) {
    const result = await run(args)
    t.match(result, { code, stdout: '' }, args.join(' '))
    t.match(result.stderr, /^[^\n]+\n$/)
    t.match(result.stderr, message)
  }
  t.match(await run(['--help']), { code: 0, stdout: /^Usage: payments-sandbox import FILE\.har/ })
  t.match(await run([file, '--url', 'http://127.0.0.1:9']), { code: 3, stdout: '', stderr: /^\S+ - [^\n]+\n$/ })
  const app = build(t, { adminToken: 'an-admin-token-of-32-characters-00' })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  t.match(await run([file, '--url', url]), { code: 1, stderr: /^ADMIN_TOKEN_REQUIRED/ })
  const broken = fastify()
  t.teardown(() => broken.close())
  const envelope = { code: 'SERVICE_UNAVAILABLE', field: null, message: 'The database is away.' }
  broken.setNotFoundHandler((_request, reply) => reply.code(503).send(envelope))
  const address = await broken.listen({ port: 0, host: '127.0.0.1' })
  t.match(await run([file, '--url', address]), { code: 3, stderr: /^SERVICE_UNAVAILABLE/ })
})
