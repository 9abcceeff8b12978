/** Every method of a sandbox's client. */
import t from 'tap'
import { createClient } from '../../src/client/client.js'
import type { Sandbox } from '../../src/client/index.js'
import { ExpectationError } from '../../src/client/index.js'
import { bill, MONDAY, mandate, pluck } from '../helper.js'
import { requestTokenAt } from '../program.js'
import { api, create, method, RECORDS, refusal } from './helper.js'

method('url, clientId and clientSecret are what an application needs', async (t, { url, clientId, clientSecret }) => {
  const response = await requestTokenAt(url, clientId, clientSecret)
  t.equal(response.status, 200)
  t.match(url, /^http:\/\/127\.0\.0\.1:\d+$/)
})

method('token() is a fresh access token of the client; expireTokens() ends those there are', async (t, sandbox) => {
  const token = await sandbox.token()
  const get = async () => (await api(sandbox, 'GET', '/mandates', undefined, { token })).body.code
  t.equal(await get(), undefined)
  await sandbox.expireTokens()
  t.equal(await get(), 'EXPIRED_TOKEN')
  t.equal((await api(sandbox, 'GET', '/mandates')).status, 200, 'a new one is good')
})

method('clock: get, freeze, resume, setRate, advance', async (t, { clock, seed }) => {
  t.same(await clock.get(), { now: MONDAY, mode: 'frozen', rate: 1 })
  t.match(await clock.resume(), { mode: 'running', rate: 1 })
  t.match(await clock.setRate(86_400), { mode: 'running', rate: 86_400 })
  t.match(await clock.freeze(), { mode: 'frozen', rate: 86_400 })
  await seed(RECORDS)
  const { now, transitions } = await clock.advance({ toNextEvent: true })
  t.match([now, transitions], ['2026-11-05T15:00:00Z', [{ at: now, reference: 'COL-0001', to: 'SUBMITTED' }]])
  t.same(await clock.advance({ by: 'PT1H' }), { now: '2026-11-05T16:00:00Z', transitions: [] })
  t.match(await clock.advance({ to: '2026-11-10T00:00:00Z' }), {
    transitions: [{ to: 'PROCESSING' }, { to: 'SETTLED' }],
  })
  const error = await refusal(clock.advance({ to: MONDAY }))
  t.match(error, {
    name: 'SandboxError',
    code: 'INVALID_FIELD',
    field: 'to',
    status: 400,
    message: /only goes forward/,
  })
})

method('upcoming, and search of each kind', async (t, sandbox) => {
  await sandbox.seed(RECORDS)
  const { data, nextCursor } = await sandbox.upcoming({ limit: 1 })
  t.match(data, [{ reference: 'COL-0001', from: 'PENDING', to: 'SUBMITTED', cause: 'time' }])
  t.match((await sandbox.upcoming({ cursor: nextCursor ?? '' })).data, [{ kind: 'mandate' }])
  t.match(await sandbox.collections.search({ search: 'col-0', status: 'PENDING' }), {
    data: [{ region: 'EU', createdAt: MONDAY, record: { collectionReference: 'COL-0001' } }],
    nextCursor: null,
  })
  const { mandates, payoutLinks, bills, counterparties, accounts } = sandbox
  t.equal((await mandates.search({ region: 'EU', limit: 1 })).data.length, 1)
  for (const kind of [payoutLinks, bills, counterparties, accounts]) {
    t.same(await kind.search({ search: 'nothing' }), { data: [], total: 0, nextCursor: null })
  }
  t.match(await refusal(mandates.search({ limit: 51 })), { code: 'INVALID_QUERY_PARAMETER', field: 'limit' })
})

method('faults: arm, list, remove, clear', async (t, sandbox) => {
  const { faults } = sandbox
  const match = { method: 'GET', path: '/api/v1/mandates*', region: 'EU' } as const
  const armed = await faults.arm({ match, times: 2, effect: { kind: 'error', status: 503, retryAfter: 7 } })
  t.match(armed, { id: 'fault-1', times: 2, skip: 0, probability: 1, armedAt: MONDAY, state: 'armed', fired: 0 })
  await faults.arm({ effect: { kind: 'delay', distribution: 'uniform', min: 0, max: 0 } })
  await faults.arm({ ttl: 'PT1H', times: null, skip: 1, probability: 0.5, effect: { kind: 'reset', when: 'after' } })
  const { status, headers } = await api(sandbox, 'GET', '/mandates', undefined, { token: await sandbox.token() })
  t.same([status, headers.get('retry-after')], [503, '7'])
  t.match(await faults.list(), [
    { state: 'armed', fired: 1 },
    { state: 'spent', fired: 1 },
    { id: 'fault-3', fired: 0 },
  ])
  t.equal(await faults.remove('fault-1'), undefined)
  for (const id of ['fault-1', 'no such id?'])
    t.match(await refusal(faults.remove(id)), { code: 'FAULT_NOT_FOUND', status: 404 })
  t.equal(await faults.clear(), 2)
  t.same(await faults.list(), [])
})

method('requests: list by filter, clear', async (t, sandbox) => {
  const { requests } = sandbox
  for (const _ of [1, 2]) await api(sandbox, 'POST', '/mandates', mandate())
  const [token, created] = await requests.list()
  t.match(token, { method: 'POST', path: '/api/v1/oauth/token', body: { client_secret: '***' } })
  t.match(created, { method: 'POST', path: '/api/v1/mandates', status: 201, body: mandate(), at: MONDAY })
  const statuses = async (filter: Parameters<typeof requests.list>[0]) => pluck(await requests.list(filter), 'status')
  t.same(await statuses({ path: '/api/v1/m*' }), [201, 409])
  t.same(await statuses({ status: 409 }), [409])
  t.same(await statuses({ method: 'GET' }), [])
  t.same(await statuses({ after: created?.seq, method: undefined }), [200, 409])
  t.equal(await requests.clear(), 4)
  t.same(await requests.list(), [])
})

method('requests: get, har, wait, and a request as text', async (t, sandbox) => {
  const { requests } = sandbox
  await api(sandbox, 'POST', '/mandates', mandate())
  const [, created] = await requests.list()
  t.same(await requests.get(2), created)
  t.match(await refusal(requests.get(99)), { code: 'REQUEST_NOT_FOUND', field: 'seq', status: 404 })
  t.match(await requests.har({ method: 'POST', limit: 1 }), { log: { version: '1.2', entries: [{ _seq: 2 }] } })
  const next = requests.list({ path: '/api/v1/m*', after: 2, wait: 60 })
  await api(sandbox, 'POST', '/mandates', mandate())
  t.match(await next, [{ seq: 4 }])
  t.ok(requests.toCurl(await requests.get(2)).startsWith(`curl '${sandbox.url}/api/v1/mandates'`))
  t.match(requests.toExpectation(await requests.get(2)), '"method": "POST"')
})

method('requests: verify answers whether it holds, expect rejects where it does not', async (t, sandbox) => {
  const { requests } = sandbox
  await api(sandbox, 'POST', '/mandates', mandate())
  const request = { method: 'POST', path: '/api/v1/mandates', headers: { 'X-Region': 'EU' } } as const
  t.match(await requests.verify({ ...request, times: 1 }), { matched: true, count: 1, dropped: 0 })
  t.match(await requests.expect({ ...request, body: { mandateReference: 'MND-0001' } }), { matched: true, count: 1 })

  const wrong = { ...request, status: 409, body: { mandateReference: 'MND-0002', debtor: { bic: 'COBADEFF' } } }
  const verification = await requests.verify(wrong)
  t.match(verification, { matched: false, count: 0 })
  t.same(verification.nearestMisses?.[0]?.differences, [
    { at: 'status', expected: 409, actual: 201 },
    { at: 'body.mandateReference', expected: 'MND-0002', actual: 'MND-0001' },
    { at: 'body.debtor.bic', expected: 'COBADEFF' },
  ])
  const error = await requests.expect(wrong).catch(error => error)
  t.ok(error instanceof ExpectationError && error instanceof Error)
  t.same(error.verification, verification)
  t.same(error.message.split('\n').slice(0, 5), [
    `Requests like ${JSON.stringify(wrong)}: expected at least 1, found 0.`,
    `Nearest: #${verification.nearestMisses?.[0]?.seq} POST /api/v1/mandates → 201`,
    '  status: expected 409, got 201',
    '  body.mandateReference: expected "MND-0002", got "MND-0001"',
    '  body.debtor.bic: expected "COBADEFF", got nothing',
  ])
})

method('requests.expect says how many were expected, and what it has not looked at', async (t, sandbox) => {
  const { requests } = sandbox
  const message = async (expectation: Parameters<typeof requests.expect>[0]) =>
    requests.expect(expectation).then(
      () => 'it holds',
      ({ message }) => message,
    )
  t.equal(
    await message({ path: '/api/v1/mandates', times: 1 }),
    'Requests like {"path":"/api/v1/mandates"}: expected exactly 1, found 0.\nThe log is empty.',
  )
  t.match(await message({ atLeast: 2 }), /^Requests like \{\}: expected at least 2, found 0\./)
  await sandbox.token()
  t.equal(await message({ atMost: 0 }), 'Requests like {}: expected at most 0, found 1.')
  t.equal(await message({ atLeast: 2, atMost: 3 }), 'Requests like {}: expected at least 2 and at most 3, found 1.')

  await sandbox.faults.arm({ effect: { kind: 'drop', when: 'before' } })
  await t.rejects(sandbox.token(), { code: 'UNREACHABLE' })
  t.match(
    await message({ status: 500 }),
    /Nearest: #\d POST \/api\/v1\/oauth\/token → no response\n {2}status: expected 500, got null/,
  )
  t.match(await refusal(requests.expect({ times: 1, atLeast: 1 })), { code: 'MALFORMED_REQUEST', status: 400 })
})

method('collections, mandates, payoutLinks: explain, and moves with and without a body', async (t, sandbox) => {
  const { collections, mandates, payoutLinks } = sandbox
  const link = { payoutLinkId: 'link-0001', amount: '25', currency: 'EUR', payoutMethod: 'SEPA-CT' } as const
  await sandbox.seed({ ...RECORDS, payoutLinks: [link] })
  const explained = await collections.explain('COL-0001')
  t.match(explained, { record: { status: 'PENDING' }, next: { at: '2026-11-05T15:00:00Z', to: 'SUBMITTED' } })
  t.same(pluck(explained.legal, 'transition'), ['submit', 'fail', 'cancel'])
  t.match(await collections.submit('COL-0001'), { record: { status: 'SUBMITTED' } })
  const { record, timeline } = await collections.reject('COL-0001', { reasonCode: 'AC01' })
  t.match(record, { status: 'REJECTED', reasonCode: 'AC01' })
  t.match(timeline.at(-1), { from: 'SUBMITTED', to: 'REJECTED', reasonCode: 'AC01', cause: 'control' })
  t.match(await refusal(collections.settle('COL-0001')), { code: 'ILLEGAL_TRANSITION', status: 409 })
  t.match(await refusal(collections.explain('COL-9999')), { code: 'COLLECTION_NOT_FOUND', status: 404 })
  t.match(await refusal(collections.explain('COL/0001')), { status: 404 }, 'a slash is a path separator')
  t.match(await mandates.cancel('MND-0001'), { record: { status: 'CANCELLED' } })
  t.match(await mandates.explain('MND-0001'), { record: { status: 'CANCELLED' }, next: null })
  const claim = { accountHolderName: 'Jane Doe', accountIdentifier: 'DE89370400440532013000' }
  const masked = { ...claim, accountIdentifier: '******************3000' }
  t.match(await payoutLinks.claim('link-0001', claim), { record: { status: 'CLAIMED', claim: masked } })
  t.match(await payoutLinks.explain('link-0001'), { record: { status: 'CLAIMED', amount: '25' } })
})

method('bills: explain, in a region where several have the reference', async (t, { bills, seed }) => {
  await seed({ bills: [bill(), bill({ currency: 'GBP', openAmount: '40' })] as never })
  t.match(await bills.explain('INV-2026-001', { region: 'UK' }), { record: { status: 'PARTIALLY_PAID' } })
  t.match(await bills.explain('INV-2026-001', { region: 'EU' }), { record: { status: 'OPEN' } })
  t.match(await refusal(bills.explain('INV-0002')), { code: 'BILL_NOT_FOUND', status: 404 })
})

method('deprecations: set, list, clear', async (t, { deprecations }) => {
  const deprecation = { operation: 'GET /api/v1/mandates', sunset: '2027-01-01T00:00:00Z', goneAfterSunset: true }
  const kept = { ...deprecation, deprecatedSince: MONDAY }
  t.same(await deprecations.set([deprecation]), [kept])
  t.same(await deprecations.list(), [kept])
  t.match(await refusal(deprecations.set([{ operation: 'GET /nowhere' }])), { field: 'data.0.operation' })
  t.equal(await deprecations.clear(), 1)
  t.same(await deprecations.list(), [])
})

method('settings: changes what is named, and tells all', async (t, { settings }) => {
  const usual = await settings()
  t.match(usual, { mandateActivation: 'automatic', senderName: null, allowedOrigins: Array })
  t.same(await settings({ mandateActivation: 'manual' }), { ...usual, mandateActivation: 'manual' })
  t.same(await settings(), { ...usual, mandateActivation: 'manual' })
})

method('seed: a fixture, or records', async (t, sandbox) => {
  const { added, counts } = await sandbox.seed('demo')
  t.ok(added.mandates > 5 && added.accounts > 0)
  t.same(counts, added)
  t.match(await sandbox.seed(RECORDS), { added: { mandates: 1, collections: 1, bills: 0 } })
  t.match(await refusal(sandbox.seed('saga')), { code: 'INVALID_FIELD', field: 'fixture', status: 400 })
  const twice = await refusal(sandbox.seed(RECORDS))
  t.match(twice, { code: 'DUPLICATE_REFERENCE', field: 'records.mandates.0.mandateReference', status: 409 })
})

method('reset, state and restore: back to the start, there and back', async (t, sandbox) => {
  await sandbox.seed(RECORDS)
  const state = await sandbox.state()
  t.match(state, { format: 'payments-sandbox/state', version: 1, clock: { now: MONDAY } })
  const { clientId } = sandbox
  t.match(await sandbox.reset(), { clientId, fixture: 'empty', now: MONDAY, counts: { mandates: 0 } })
  t.same((await sandbox.state()).mandates, [])
  t.same(await sandbox.requests.list(), [])
  t.match(await sandbox.restore(state), { clientId, now: MONDAY, counts: { collections: 1 } })
  t.same(await sandbox.state(), state)
  t.match(await refusal(sandbox.restore({ ...state, sequence: 0 })), { code: 'INVALID_FIELD', field: 'sequence' })
})

method('a fork starts as a copy, and diverges', async (t, sandbox) => {
  await sandbox.seed(RECORDS)
  const fork = await sandbox.fork('what-if')
  t.match(fork, { url: sandbox.url, clientId: 'what-if', clientSecret: sandbox.clientSecret })
  t.same(await fork.state(), await sandbox.state())
  await fork.collections.cancel('COL-0001')
  t.match(await sandbox.collections.explain('COL-0001'), { record: { status: 'PENDING' } })
  t.equal((await api(fork, 'GET', '/direct-debit')).body.data[0].status, 'CANCELLED')
  t.same(await sandbox.requests.list(), [], 'its requests are its own')
  t.match(await refusal(sandbox.fork('what-if')), { code: 'DUPLICATE_REFERENCE', field: 'clientId', status: 409 })
})

method('a fork without an id gets an unused one; so do forks of forks', async (t, sandbox) => {
  const forks = [sandbox]
  for (const _ of Array(10).keys()) forks.push(await (forks.at(-1) as Sandbox).fork())
  t.equal(new Set(forks.map(({ clientId }) => clientId)).size, 11)
  t.ok(forks.every(({ clientId }) => /^[\w.-]{1,64}$/.test(clientId)))
  t.ok(forks[1]?.clientId.startsWith(sandbox.clientId))
})

method('scenarios: list, run', async (t, { scenarios, collections }) => {
  const { steps, values } = await scenarios.run('collection-returned', { reasonCode: 'AC04' })
  t.equal(steps.at(-1)?.call, 'returnCollection')
  const { record } = await collections.explain(String(values.collectionReference))
  t.match(record, { status: 'RETURNED', reasonCode: 'AC04' })
  t.same((await scenarios.run('token-expired')).values, {})
  const limited = (await scenarios.list()).find(({ name }) => name === 'rate-limited')
  t.match(limited, { movesClock: false, parameters: [{ name: 'path', default: '/api/v1/*' }, {}, {}] })
  t.match(await refusal(scenarios.run('no such scenario?')), { code: 'INVALID_FIELD', field: 'name', status: 400 })
  t.match(await refusal(scenarios.run('nothing')), { code: 'SCENARIO_NOT_FOUND', field: 'name', status: 404 })
})

/** What is of the whole server, the same for all clients, or for tools that show a client to a person. */
const NOT_OF_A_CLIENT = [
  'GET /_sandbox',
  'GET /_sandbox/health/live',
  'GET /_sandbox/health/ready',
  'GET /_sandbox/openapi.json',
  'GET /_sandbox/clients',
  'POST /_sandbox/credentials/verify',
  'GET /_sandbox/reason-codes',
  'GET /_sandbox/errors',
  'GET /_sandbox/kinds',
  // It is read after a failure.
  'GET /_sandbox/evidence',
  'GET /_sandbox/search',
  'GET /_sandbox/scenarios/REFERENCE',
  'POST /_sandbox/tokens',
]

/** The methods that take an object first. */
const TAKES_OBJECT = ['list', 'all', 'next', 'create', 'fork', 'coverage', 'search', 'upcoming', 'har']

/** Calls every method that there is, at any depth. Those that only convert send nothing. */
async function callAll(value: object): Promise<void> {
  for (const [name, member] of Object.entries(value)) {
    if (/^to[A-Z]/.test(name)) continue
    if (typeof member === 'function') await member(...(TAKES_OBJECT.includes(name) ? [{}] : ['REFERENCE', {}]))
    else if (typeof member === 'object') await callAll(member)
  }
}

t.test('library, In your tests: a method for every call, creation and list', async t => {
  const { url } = await create(t)
  const read = async (path: string) => (await fetch(`${url}${path}`)).json()
  const { routes } = (await read('/_sandbox')) as { routes: { method: string; path: string }[] }
  const { paths } = (await read('/openapi.json')) as { paths: Record<string, object> }

  const asked = new Set<string>()
  t.capture(globalThis, 'fetch', async (input: string, { method }: RequestInit) => {
    asked.add(`${method} ${new URL(input).pathname}`)
    return Response.json({ data: [{ seq: 1 }], last: 2, removed: 0, matched: true })
  })
  const { close, ...sandbox } = createClient({ url, clientId: 'app', clientSecret: 'secret' })
  await callAll(sandbox)
  await sandbox.settings()
  const calls = [...asked].sort()
  t.same(
    calls.filter(name => name.includes(' /_sandbox')),
    routes
      .map(({ method, path }) => `${method} ${path.replace(':clientId', 'app').replace(/:\w+/, 'REFERENCE')}`)
      .filter(name => !NOT_OF_A_CLIENT.includes(name))
      .sort(),
  )
  t.same(
    calls.filter(name => /^(GET|POST) \/api\/v1\/[\w-]+$/.test(name)),
    Object.entries(paths)
      .filter(([path]) => /^\/api\/v1\/[\w-]+$/.test(path))
      .flatMap(([path, methods]) => Object.keys(methods).map(method => `${method.toUpperCase()} ${path}`))
      .sort(),
  )
})
