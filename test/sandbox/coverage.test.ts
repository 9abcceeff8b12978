import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { invalidQuery, malformed, table } from '../answers.js'
import { build, call, collection, connect, mandate, newClient, requestToken } from '../helper.js'

const MANDATES = '/api/v1/mandates'
const COLLECTIONS = '/api/v1/direct-debit'

interface Split {
  met: unknown[]
  missed: unknown[]
}
interface Row {
  operation: string
  requests: number
  statuses: Split
  errorCodes: Split
  pages?: Split
}

/** A client, and functions that return its coverage: whole, of an operation, of a kind of record. */
async function prepare() {
  const client = await newClient()
  const coverage = () => client.read('/coverage')
  const of = async (operation: string): Promise<Row> =>
    (await coverage()).operations.find((row: Row) => row.operation === operation)
  const states = async (kind: string): Promise<Split> =>
    (await coverage()).states.find((row: { kind: string }) => row.kind === kind)
  return { ...client, client, coverage, of, states }
}

t.test('control plane, GET /coverage: a new client has met its token request, and nothing else', async t => {
  const { clientId, coverage, of } = await prepare()
  const { clients, summary, operations, states } = await coverage()
  t.same(clients, [clientId])
  t.match(await of('POST /api/v1/oauth/token'), { requests: 1, statuses: { met: [200] } })
  const none = { errorCodes: { met: 0 }, states: { met: 0 }, pages: { met: 0 } }
  t.match(summary, { operations: { met: 1, of: operations.length }, statuses: { met: 1 }, ...none })
  t.ok(operations.length > 15, 'every operation is listed')
  t.ok(states.length >= 4, 'every kind with states is listed')
  t.ok(states.every(({ met }: { met: unknown[] }) => met.length === 0))
})

t.test('control plane, GET /coverage: statuses and error codes of each operation, until a reset', async t => {
  const { client, coverage, of } = await prepare()
  for (const _ of [1, 2]) await client.post(MANDATES, mandate())
  await client.get(`${MANDATES}/MND-9999`)
  await client.get('/api/v1/unknown')
  const created = await of('POST /api/v1/mandates')
  t.match(created, { requests: 2, statuses: { met: [201, 409] }, errorCodes: { met: ['DUPLICATE_REFERENCE'] } })
  t.notOk(created.errorCodes.missed.includes('DUPLICATE_REFERENCE'))
  const missed = { statuses: { met: [404] }, errorCodes: { met: ['MANDATE_NOT_FOUND'] } }
  t.match(await of('GET /api/v1/mandates/{mandateReference}'), { requests: 1, ...missed })
  t.equal((await coverage()).summary.operations.met, 3)
  await client.control('POST', '/reset')
  t.equal((await coverage()).summary.operations.met, 0)
})

t.test('control plane, GET /coverage: first, following and empty pages, and the states in lists', async t => {
  const { client, of, states } = await prepare()
  await client.get(COLLECTIONS)
  t.same((await of(`GET ${COLLECTIONS}`)).pages, { met: ['first', 'empty'], missed: ['following'] })

  await client.post(MANDATES, mandate())
  for (const collectionReference of ['COL-0001', 'COL-0002'])
    await client.post(COLLECTIONS, collection({ collectionReference }))
  await client.control('POST', '/direct-debit/COL-0001/cancel')
  t.same((await states('collection')).met, ['PENDING'], 'a move of the control plane is not met by the app')

  const { nextCursor } = (await client.get(`${COLLECTIONS}?limit=1`)).body
  await client.get(`${COLLECTIONS}?limit=1&cursor=${nextCursor}`)
  t.same((await of(`GET ${COLLECTIONS}`)).pages, { met: ['first', 'following', 'empty'], missed: [] })
  const { met, missed } = await states('collection')
  t.same([met, missed.length], [['PENDING', 'CANCELLED'], 6])
  t.notOk((await of(`GET ${COLLECTIONS}/{collectionReference}`)).pages, 'a record has no pages')
})

t.test('control plane, GET /coverage: answers of faults count if they arrive', async t => {
  const { client, of, states } = await prepare()
  await client.control('POST', '/faults', { effect: { kind: 'error', status: 503 } })
  await client.control('POST', '/faults', { effect: { kind: 'error', status: 418, code: 'TEAPOT' } })
  await client.get(MANDATES)
  await client.get(MANDATES)
  const { statuses, errorCodes } = await of(`GET ${MANDATES}`)
  t.same([statuses.met.slice().sort(), errorCodes.met], [[418, 503], ['SERVICE_UNAVAILABLE']])

  await client.post(MANDATES, mandate())
  await client.control('POST', '/mandates/MND-0001/cancel')
  await client.control('POST', '/faults', { effect: { kind: 'drop', when: 'after' } })
  await client.get(`${MANDATES}/MND-0001`).catch(() => {})
  t.match(await of(`GET ${MANDATES}/{mandateReference}`), { requests: 0, statuses: { met: [] } })
  t.same((await states('mandate')).met, ['ACTIVE'], 'a state in a lost answer is not met')
})

/** The documented rule (decisions §12): no working app meets these, or only the sandbox answers them. */
const UNEXPECTED = [
  ...['MALFORMED_REQUEST', 'UNSUPPORTED_GRANT_TYPE', 'MISSING_TOKEN', 'METHOD_NOT_ALLOWED', 'REQUEST_TIMEOUT'],
  ...['HEADERS_TOO_LARGE', 'FORBIDDEN_ORIGIN', 'FORBIDDEN_HOST'],
]

t.test('control plane, GET /coverage: errors that an app need not handle are not missed', async t => {
  const { coverage } = await prepare()
  const { operations } = await coverage()
  for (const { operation, statuses, errorCodes } of operations as Row[]) {
    const isUpload = operation.endsWith('/document')
    const codes = isUpload ? UNEXPECTED : [...UNEXPECTED, 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE']
    const unexpected = isUpload ? [403, 405, 408, 431] : [405, 408, 413, 415, 431]
    const missed = new Set([...errorCodes.missed, ...statuses.missed])
    const wrong = [...codes, ...unexpected].filter(one => missed.has(one))
    t.same(wrong, [], operation)
    for (const code of ['INTERNAL_ERROR', 'SERVICE_UNAVAILABLE', 'RATE_LIMITED']) {
      t.ok(errorCodes.missed.includes(code), `${operation} ${code}`)
    }
    if (isUpload) t.match(errorCodes.missed.join(), /PAYLOAD_TOO_LARGE,UNSUPPORTED_MEDIA_TYPE/)
  }
})

t.test('control plane, GET /coverage: an error that an app need not handle is met where it occurs', async t => {
  const { client, coverage, of } = await prepare()
  const before = (await coverage()).summary
  await client.control('POST', '/faults', { effect: { kind: 'error', status: 405, code: 'METHOD_NOT_ALLOWED' } })
  await client.get(MANDATES)
  await client.post(MANDATES, '{')
  t.match(await of(`GET ${MANDATES}`), { statuses: { met: [405] }, errorCodes: { met: ['METHOD_NOT_ALLOWED'] } })
  t.match(await of(`POST ${MANDATES}`), { statuses: { met: [400] }, errorCodes: { met: ['MALFORMED_REQUEST'] } })
  const { errorCodes } = (await coverage()).summary
  t.same([errorCodes.met - before.errorCodes.met, errorCodes.of - before.errorCodes.of], [2, 2])
})

t.test('control plane, GET /coverage: each client has its own; a refused request counts for its client', async t => {
  const { app, clientId, client, of } = await prepare()
  await (await newClient()).get(MANDATES)
  t.equal((await of(`GET ${MANDATES}`)).requests, 0)
  await client.get(MANDATES, { region: 'XX' })
  t.match(await of(`GET ${MANDATES}`), { requests: 1, errorCodes: { met: ['INVALID_REGION'] } })
  await requestToken(app, { client_id: clientId, client_secret: 'wrong' })
  t.match(await of('POST /api/v1/oauth/token'), { errorCodes: { met: ['INVALID_CLIENT'] } })
})

const COVERAGE = '/_sandbox/coverage'

t.test('control plane, GET /coverage: clients that are not there, and both parameters, are refused', async t => {
  const app = build(t)
  await connect(app, 'app')
  const hundred = `client=${Array.from({ length: 100 }, (_, at) => `job-${at}`)}`
  await table(t, query => call(app, 'GET', `${COVERAGE}?${query}`), {
    '404 CLIENT_NOT_FOUND client': ['client=unknown', 'client=app,unknown', 'client=app,', 'client=all', hundred],
    [invalidQuery('clients')]: ['clients=app', 'clients=ALL'],
    [invalidQuery('client')]: [`${hundred},one`],
    [malformed('clients')]: ['client=app&clients=all'],
    [malformed('client')]: ['client=app&client=app'],
    200: ['clients=all', 'client=app,app', 'client=sandbox-client,app', ''],
  })
})

/** Returns the number of requests of each client's report, and the clients of the report. */
async function requestsOf(app: FastifyInstance, query: string) {
  const { clients, operations } = (await call(app, 'GET', `${COVERAGE}?${query}`)).body
  const count = (operation: string) => operations.find((row: Row) => row.operation === operation).requests
  return [clients.join(), count(`GET ${MANDATES}`), count('POST /api/v1/oauth/token')]
}

/** Makes a fork, and lets it read mandates. */
async function fork(app: FastifyInstance, origin: string, clientId: string) {
  await call(app, 'POST', `/_sandbox/fork?client=${origin}`, { body: { clientId } })
  const client = await connect(app, clientId)
  await client.get(MANDATES)
  return client
}
const remove = (app: FastifyInstance, clientId: string) => call(app, 'DELETE', `/_sandbox/clients/${clientId}`)

t.test('control plane, GET /coverage: clients are merged by name, or all of them', async t => {
  const app = build(t)
  for (const clientId of ['a', 'b', 'c']) {
    const client = await connect(app, clientId)
    await client.get(clientId === 'c' ? COLLECTIONS : MANDATES)
  }
  t.same(await requestsOf(app, 'client=a,b'), ['a,b', 2, 2])
  t.same(await requestsOf(app, 'client=c,a,c'), ['c,a', 1, 2])
  t.same(await requestsOf(app, 'clients=all'), ['a,b,c', 2, 3])
  const { summary } = (await call(app, 'GET', `${COVERAGE}?client=a,c`)).body
  t.equal(summary.operations.met, 3)
})

t.test('control plane, GET /coverage: a fork counts for its origin, too, also after it is gone', async t => {
  const app = build(t)
  await connect(app, 'base')
  const first = await fork(app, 'base', 'first')
  await fork(app, 'first', 'second')
  t.same(await requestsOf(app, 'client=base'), ['base', 2, 3])
  t.same(await requestsOf(app, 'client=first'), ['first', 2, 2])
  t.same(await requestsOf(app, 'client=base,first,second'), ['base,first,second', 2, 3])
  t.same(await requestsOf(app, 'clients=all'), ['base,first,second', 2, 3])

  await first.control('POST', '/reset')
  t.same(await requestsOf(app, 'client=first'), ['first', 0, 0], 'a reset fork starts again')
  t.same(await requestsOf(app, 'client=base'), ['base', 2, 3])
  const { token } = await connect(app, 'first')
  await call(app, 'GET', MANDATES, { region: 'EU', headers: { authorization: `Bearer ${token}` } })
  t.same(await requestsOf(app, 'client=first'), ['first', 1, 1])
  t.same(await requestsOf(app, 'client=base'), ['base', 3, 4], 'it is a fork still')
  await remove(app, 'first')
  await remove(app, 'second')
  t.same(await requestsOf(app, 'client=base'), ['base', 3, 4])
  t.same(await requestsOf(app, 'clients=all'), ['base', 3, 4])

  const again = await fork(app, 'base', 'second')
  await call(app, 'POST', '/_sandbox/reset?client=base')
  t.same(await requestsOf(app, 'client=base'), ['base', 0, 0], 'a reset origin starts again without its forks')
  await again.get(MANDATES)
  t.same(await requestsOf(app, 'client=base'), ['base', 0, 0])
  t.same(await requestsOf(app, 'client=second'), ['second', 2, 1])
})

t.test('control plane, GET /coverage: a fork that makes room for another client counts for its origin', async t => {
  const app = build(t, { maxTenants: 3 })
  await connect(app, 'base')
  await fork(app, 'base', 'first')
  await fork(app, 'base', 'second')
  t.equal((await call(app, 'GET', `${COVERAGE}?client=first`)).status, 404)
  t.same(await requestsOf(app, 'client=base'), ['base', 2, 3])
})

t.test('control plane, GET /coverage: a listed client may have a comma in its id', async t => {
  const app = build(t, { clients: [{ clientId: 'a,b', clientSecret: 'secret' }] })
  await connect(app, 'a,b')
  t.same(await requestsOf(app, 'client=a,b'), ['a,b', 0, 1])
})
