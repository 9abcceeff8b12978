/** Every method of a sandbox's client. */
import t from 'tap'
import { createClient } from '../../src/client/client.js'
import type { Sandbox } from '../../src/client/index.js'
import { ExpectationError } from '../../src/client/index.js'
import { collection, MONDAY, mandate } from '../helper.js'
import { requestTokenAt } from '../program.js'
import { api, create, method, RECORDS, refusal } from './helper.js'

method('url, clientId and clientSecret are what an application needs', async (t, { url, clientId, clientSecret }) => {
  const response = await requestTokenAt(url, clientId, clientSecret)
  t.equal(response.status, 200)
  t.match(url, /^http:\/\/127\.0\.0\.1:\d+$/)
})

method('it starts with an empty world and an empty log', async (t, sandbox) => {
  t.same(await sandbox.requests.list(), [])
  t.same(await sandbox.events.list(), [])
  t.same(await sandbox.faults.list(), [])
  t.same((await sandbox.state()).mandates, [])
})

method('token() is a fresh access token of the client; expireTokens() ends those there are', async (t, sandbox) => {
  const token = await sandbox.token()
  t.equal((await api(sandbox, 'GET', '/mandates', undefined, { token })).status, 200)
  await sandbox.expireTokens()
  const expired = await api(sandbox, 'GET', '/mandates', undefined, { token })
  t.equal(expired.status, 401)
  t.equal(expired.body.code, 'EXPIRED_TOKEN')
  t.equal((await api(sandbox, 'GET', '/mandates')).status, 200, 'a new one is good')
})

method('clock: get, freeze, resume, setRate', async (t, { clock }) => {
  t.same(await clock.get(), { now: MONDAY, mode: 'frozen', rate: 1 })
  t.match(await clock.resume(), { mode: 'running', rate: 1 })
  t.match(await clock.setRate(86_400), { mode: 'running', rate: 86_400 })
  t.match(await clock.freeze(), { mode: 'frozen', rate: 86_400 })
  t.match(await refusal(clock.setRate(0)), { code: 'INVALID_FIELD', field: 'rate', status: 400 })
})

method('clock.advance: by, to, toNextEvent, with what happens on the way', async (t, sandbox) => {
  const { clock } = sandbox
  await sandbox.seed(RECORDS)
  t.same(await clock.advance({ toNextEvent: true }), {
    now: '2026-11-05T15:00:00Z',
    transitions: [
      { at: '2026-11-05T15:00:00Z', kind: 'collection', reference: 'COL-0001', from: 'PENDING', to: 'SUBMITTED' },
    ],
  })
  t.same(await clock.advance({ by: 'PT1H' }), { now: '2026-11-05T16:00:00Z', transitions: [] })
  const { now, transitions } = await clock.advance({ to: '2026-11-10T00:00:00Z' })
  t.equal(now, '2026-11-10T00:00:00Z')
  t.same(
    transitions.map(({ to }) => to),
    ['PROCESSING', 'SETTLED'],
  )
  const error = await refusal(clock.advance({ to: MONDAY }))
  t.match(error, { name: 'SandboxError', code: 'INVALID_FIELD', field: 'to', status: 400 })
  t.match(error.message, /only goes forward/)
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
    t.same(await kind.search({ search: 'nothing' }), { data: [], nextCursor: null })
  }
  t.match(await refusal(mandates.search({ limit: 51 })), { code: 'INVALID_QUERY_PARAMETER', field: 'limit' })
})

method('faults: arm, list, remove, clear', async (t, sandbox) => {
  const { faults } = sandbox
  const armed = await faults.arm({
    match: { method: 'GET', path: '/api/v1/mandates*', region: 'EU' },
    times: 2,
    effect: { kind: 'error', status: 503, retryAfter: 7 },
  })
  t.match(armed, { id: 'fault-1', times: 2, skip: 0, probability: 1, armedAt: MONDAY, state: 'armed', fired: 0 })
  await faults.arm({ effect: { kind: 'delay', ms: { distribution: 'uniform', min: 0, max: 0 } } })
  await faults.arm({ ttl: 'PT1H', times: null, skip: 1, probability: 0.5, effect: { kind: 'reset', when: 'after' } })

  const answer = await api(sandbox, 'GET', '/mandates', undefined, { token: await sandbox.token() })
  t.equal(answer.status, 503)
  t.equal(answer.headers.get('retry-after'), '7')
  t.same(
    (await faults.list()).map(({ id, state, fired }) => ({ id, state, fired })),
    [
      { id: 'fault-1', state: 'armed', fired: 1 },
      { id: 'fault-2', state: 'spent', fired: 1 },
      { id: 'fault-3', state: 'armed', fired: 0 },
    ],
  )
  t.equal(await faults.remove('fault-1'), undefined)
  t.match(await refusal(faults.remove('fault-1')), { code: 'FAULT_NOT_FOUND', status: 404 })
  t.match(await refusal(faults.remove('no such id?')), { code: 'FAULT_NOT_FOUND', status: 404 })
  t.equal(await faults.clear(), 2)
  t.same(await faults.list(), [])
  const never = await refusal(faults.arm({ match: { path: '/nowhere' }, effect: { kind: 'garbage' } }))
  t.match(never, { code: 'INVALID_FIELD', field: 'match.path', status: 400 })
})

method('requests: list by filter, clear', async (t, sandbox) => {
  const { requests } = sandbox
  await api(sandbox, 'POST', '/mandates', mandate())
  await api(sandbox, 'POST', '/mandates', mandate())
  const [token, created] = await requests.list()
  t.match(token, { method: 'POST', path: '/api/v1/oauth/token', body: { client_secret: '***' } })
  t.match(created, { method: 'POST', path: '/api/v1/mandates', status: 201, body: mandate(), at: MONDAY })
  t.match(created?.headers, { 'x-region': 'EU', authorization: 'Bearer ***' })
  const paths = async (filter: Parameters<typeof requests.list>[0]) =>
    (await requests.list(filter)).map(({ path, status }) => `${path} ${status}`)
  t.same(await paths({ path: '/api/v1/m*' }), ['/api/v1/mandates 201', '/api/v1/mandates 409'])
  t.same(await paths({ status: 409 }), ['/api/v1/mandates 409'])
  t.same(await paths({ method: 'GET' }), [])
  t.same(await paths({ after: created?.seq, method: undefined }), ['/api/v1/oauth/token 200', '/api/v1/mandates 409'])
  t.equal(await requests.clear(), 4)
  t.same(await requests.list(), [])
})

method('requests: get, har, stream, and a request as text', async (t, sandbox) => {
  const { requests } = sandbox
  await api(sandbox, 'POST', '/mandates', mandate())
  const [, created] = await requests.list()
  t.same(await requests.get(2), created)
  t.match(await refusal(requests.get(99)), { code: 'REQUEST_NOT_FOUND', field: 'seq', status: 404 })
  t.match(await requests.har({ method: 'POST', limit: 1 }), { log: { version: '1.2', entries: [{ _seq: 2 }] } })
  const seen: number[] = []
  for await (const { seq } of requests.stream({ path: '/api/v1/m*' })) {
    seen.push(seq)
    if (seen.length === 1) await api(sandbox, 'POST', '/mandates', mandate())
    if (seen.length === 2) break
  }
  t.same(seen, [2, 4])
  t.ok(requests.toCurl(await requests.get(2)).startsWith(`curl '${sandbox.url}/api/v1/mandates'`))
  t.match(requests.toExpectation(await requests.get(2)), "method: 'POST'")
})

method('snapshots: save, list, get, restore, remove', async (t, sandbox) => {
  const { snapshots } = sandbox
  await sandbox.seed(RECORDS)
  const state = await sandbox.state()
  const saved = await snapshots.save('before')
  t.match(saved, { name: 'before', now: MONDAY, counts: { collections: 1 } })
  await sandbox.reset()
  t.same(await snapshots.list(), [saved])
  t.same(await snapshots.get('before'), state)
  t.match(await snapshots.restore('before'), { counts: { collections: 1 } })
  t.same(await sandbox.state(), state)
  t.equal(await snapshots.remove('before'), undefined)
  t.match(await refusal(snapshots.restore('before')), { code: 'SNAPSHOT_NOT_FOUND', field: 'name', status: 404 })
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

method('collections: explain, and every move', async (t, sandbox) => {
  const { collections } = sandbox
  await sandbox.seed(RECORDS)
  const explained = await collections.explain('COL-0001')
  t.match(explained.record, { collectionReference: 'COL-0001', status: 'PENDING' })
  t.same(explained.next, { at: '2026-11-05T15:00:00Z', to: 'SUBMITTED' })
  t.same(
    explained.legal.map(({ verb }) => verb),
    ['submit', 'fail', 'cancel'],
  )
  t.match(await collections.submit('COL-0001'), { record: { status: 'SUBMITTED' } })
  t.match(await collections.process('COL-0001'), { record: { status: 'PROCESSING' } })
  t.match(await collections.settle('COL-0001'), { record: { status: 'SETTLED' } })
  const returned = await collections.return('COL-0001', { reasonCode: 'AM04' })
  t.match(returned.record, { status: 'RETURNED', reasonCode: 'AM04' })
  t.match(returned.timeline.at(-1), { from: 'SETTLED', to: 'RETURNED', reasonCode: 'AM04', cause: 'control' })

  for (const reference of ['COL-0002', 'COL-0003', 'COL-0004']) {
    await sandbox.seed({ collections: [{ ...RECORDS.collections[0], collectionReference: reference }] })
  }
  t.match(await collections.cancel('COL-0002'), { record: { status: 'CANCELLED' } })
  t.match(await collections.fail('COL-0003', { reasonCode: 'MD01' }), { record: { status: 'FAILED' } })
  await collections.submit('COL-0004')
  t.match(await collections.reject('COL-0004', { reasonCode: 'AC01' }), { record: { status: 'REJECTED' } })

  t.match(await refusal(collections.settle('COL-0004')), { code: 'ILLEGAL_TRANSITION', status: 409 })
  t.match(await refusal(collections.explain('COL-9999')), { code: 'COLLECTION_NOT_FOUND', status: 404 })
  t.match(await refusal(collections.explain('COL/0001')), { status: 404 }, 'a slash is a path separator')
})

method('mandates: explain, and every move', async (t, sandbox) => {
  const { mandates } = sandbox
  const [mandate] = RECORDS.mandates
  const references = ['MND-0001', 'MND-0002', 'MND-0003']
  await sandbox.seed({
    mandates: references.map(mandateReference => ({ ...mandate, mandateReference, status: 'PENDING' })),
  })
  t.match(await mandates.explain('MND-0001'), { record: { status: 'PENDING' }, next: null })
  t.match(await mandates.activate('MND-0001'), { record: { status: 'ACTIVE' } })
  t.match(await mandates.expire('MND-0001'), { record: { status: 'EXPIRED' } })
  t.match(await mandates.fail('MND-0002'), { record: { status: 'FAILED' } })
  t.match(await mandates.cancel('MND-0003'), { record: { status: 'CANCELLED' } })
  t.match(await refusal(mandates.activate('MND-0003')), { code: 'ILLEGAL_TRANSITION' })
})

method('payoutLinks: explain, and every move', async (t, sandbox) => {
  const { payoutLinks } = sandbox
  const ids = ['link-0001', 'link-0002', 'link-0003', 'link-0004']
  await sandbox.seed({
    payoutLinks: ids.map(payoutLinkId => ({ payoutLinkId, amount: '25', currency: 'EUR', payoutMethod: 'SEPA-CT' })),
  })
  const claim = { accountHolderName: 'Jane Doe', accountIdentifier: 'DE89370400440532013000' }
  const masked = { ...claim, accountIdentifier: '******************3000' }
  t.match(await payoutLinks.explain('link-0001'), { record: { status: 'ACTIVE', amount: '25' } })
  for (const id of ['link-0001', 'link-0002']) {
    t.match(await payoutLinks.claim(id, claim), { record: { status: 'CLAIMED', claim: masked } })
    t.match(await payoutLinks.process(id), { record: { status: 'PROCESSING' } })
  }
  t.match(await payoutLinks.pay('link-0001'), { record: { status: 'PAID' } })
  t.match(await payoutLinks.fail('link-0002'), { record: { status: 'FAILED' } })
  t.match(await payoutLinks.decline('link-0003', { remarks: 'No, thank you' }), {
    record: { status: 'REJECTED', decline: { remarks: 'No, thank you' } },
  })
  t.match(await payoutLinks.expire('link-0004'), { record: { status: 'EXPIRED' } })
  t.match(await payoutLinks.cancel('link-0004'), { record: { status: 'CANCELLED' } })
  t.match(await refusal(payoutLinks.cancel('link-0004')), { code: 'ILLEGAL_TRANSITION' })
})

method('bills: explain, in a region where several have the reference', async (t, sandbox) => {
  const bill = {
    uniqueReferenceIdentifier: 'INV-0001',
    type: 'INVOICE',
    cashflowType: 'INFLOW',
    counterpartyReference: 'CPTY-0001',
    totalAmount: '100',
    dueDate: '2026-12-01',
  } as const
  await sandbox.seed({
    bills: [
      { ...bill, currency: 'EUR' },
      { ...bill, currency: 'GBP', openAmount: '40' },
    ],
  })
  t.match(await sandbox.bills.explain('INV-0001', { region: 'UK' }), { record: { status: 'PARTIALLY_PAID' } })
  t.match(await sandbox.bills.explain('INV-0001', { region: 'EU' }), { record: { status: 'OPEN' } })
  t.match(await refusal(sandbox.bills.explain('INV-0002')), { code: 'BILL_NOT_FOUND', status: 404 })
})

method('deprecations: set, list, clear', async (t, sandbox) => {
  const { deprecations } = sandbox
  const deprecation = { operation: 'GET /api/v1/mandates', sunset: '2027-01-01T00:00:00Z', goneAfterSunset: true }
  const kept = { ...deprecation, deprecatedSince: MONDAY }
  t.same(await deprecations.set([deprecation]), [kept])
  t.same(await deprecations.list(), [kept])
  const { headers } = await api(sandbox, 'GET', '/mandates')
  t.equal(headers.get('deprecation'), 'true')
  t.equal(headers.get('sunset'), '2027-01-01T00:00:00Z')
  t.match(await refusal(deprecations.set([{ operation: 'GET /nowhere' }])), { field: 'data.0.operation' })
  t.equal(await deprecations.clear(), 1)
  t.same(await deprecations.list(), [])
})

method('settings: changes what is named, and tells all', async (t, sandbox) => {
  const allowedOrigins = ['http://localhost:*', 'http://127.0.0.1:*']
  const usual = {
    ...{ mandateActivation: 'automatic', deprecationStyle: 'seed', tokenAuthentication: 'form-or-basic' },
    senderName: null,
    allowedOrigins,
  }
  t.same(await sandbox.settings(), usual)
  t.same(await sandbox.settings({ mandateActivation: 'manual' }), { ...usual, mandateActivation: 'manual' })
  t.same(await sandbox.settings({ allowedOrigins: ['https://shop.example'] }), {
    mandateActivation: 'manual',
    deprecationStyle: 'seed',
    senderName: null,
    tokenAuthentication: 'form-or-basic',
    allowedOrigins: ['https://shop.example'],
  })
  t.equal((await api(sandbox, 'POST', '/mandates', mandate())).body.status, 'PENDING')
})

method('seed: a fixture, or records, all or nothing', async (t, sandbox) => {
  const { added, counts } = await sandbox.seed('demo')
  t.ok(added.mandates > 5 && added.accounts > 0)
  t.same(counts, added)
  t.match(await sandbox.seed(RECORDS), { added: { mandates: 1, collections: 1, bills: 0 } })
  t.match(await refusal(sandbox.seed('saga')), { code: 'INVALID_FIELD', field: 'fixture', status: 400 })
  const error = await refusal(
    sandbox.seed({ mandates: [{ ...RECORDS.mandates[0], mandateReference: 'MND-0002' }, RECORDS.mandates[0]] }),
  )
  t.match(error, { code: 'DUPLICATE_REFERENCE', field: 'records.mandates.1.mandateReference', status: 409 })
  t.match(await refusal(sandbox.mandates.explain('MND-0002')), { code: 'MANDATE_NOT_FOUND' })
})

method('reset puts the client back to where it started', async (t, sandbox) => {
  await sandbox.reset()
  const start = await sandbox.state()
  await sandbox.seed(RECORDS)
  await sandbox.faults.arm({ effect: { kind: 'truncate' } })
  await sandbox.clock.advance({ by: 'P3D' })
  t.match(await sandbox.reset(), { clientId: sandbox.clientId, fixture: 'empty', now: MONDAY, counts: { mandates: 0 } })
  t.same(await sandbox.state(), start)
  t.same(await sandbox.requests.list(), [])
})

method('state and restore: there and back', async (t, sandbox) => {
  await sandbox.seed(RECORDS)
  const state = await sandbox.state()
  t.match(state, { format: 'payments-sandbox/state', version: 1, clock: { now: MONDAY } })
  await sandbox.clock.advance({ by: 'P10D' })
  t.match(await sandbox.restore(state), { clientId: sandbox.clientId, now: MONDAY, counts: { collections: 1 } })
  t.same(await sandbox.state(), state)
  t.match(await refusal(sandbox.restore({ ...state, sequence: 0 })), { code: 'INVALID_FIELD', field: 'sequence' })
})

method('a fork starts as a copy, and diverges', async (t, sandbox) => {
  await sandbox.seed(RECORDS)
  const fork = await sandbox.fork('what-if')
  t.equal(fork.url, sandbox.url)
  t.equal(fork.clientId, 'what-if')
  t.equal(fork.clientSecret, sandbox.clientSecret)
  t.same(await fork.state(), await sandbox.state())

  await fork.collections.cancel('COL-0001')
  await fork.clock.advance({ by: 'P1D' })
  await fork.faults.arm({ effect: { kind: 'garbage' } })
  t.match(await sandbox.collections.explain('COL-0001'), { record: { status: 'PENDING' } })
  t.match(await sandbox.clock.get(), { now: MONDAY })
  t.same(await sandbox.faults.list(), [])
  await fork.faults.clear()
  t.equal((await api(fork, 'GET', '/direct-debit')).body.data[0].status, 'CANCELLED')
  t.same(await sandbox.requests.list(), [], 'its requests are its own')

  t.match(await refusal(sandbox.fork('what-if')), { code: 'DUPLICATE_REFERENCE', field: 'clientId', status: 409 })
  t.match(await refusal(sandbox.fork('not an id')), { code: 'INVALID_FIELD', field: 'clientId', status: 400 })
})

method('a fork without an id gets an unused one; so do forks of forks', async (t, sandbox) => {
  const forks = [sandbox]
  for (const _ of Array(10).keys()) forks.push(await (forks.at(-1) as Sandbox).fork())
  t.equal(new Set(forks.map(({ clientId }) => clientId)).size, 11)
  t.ok(forks.every(({ clientId }) => /^[\w.-]{1,64}$/.test(clientId)))
  t.ok(forks[1]?.clientId.startsWith(sandbox.clientId))
})

method('recording: what changed the client', async (t, sandbox) => {
  await sandbox.seed(RECORDS)
  await api(sandbox, 'POST', '/direct-debit', collection({ collectionReference: 'COL-0002' }))
  const { format, clientId, requests } = await sandbox.recording()
  t.equal(format, 'payments-sandbox/recording')
  t.equal(clientId, sandbox.clientId)
  t.match(requests.at(-1), { operation: 'POST /api/v1/direct-debit', answer: { status: 201 } })
  t.notMatch(JSON.stringify(requests), '/oauth/token')
})

method('scenarios: list, run', async (t, { scenarios, collections }) => {
  const { steps, values } = await scenarios.run('collection-returned', { reasonCode: 'AC04' })
  t.equal(steps.at(-1)?.call, 'returnCollection')
  const { record } = await collections.explain(String(values.collectionReference))
  t.match(record, { status: 'RETURNED', reasonCode: 'AC04' })
  t.same((await scenarios.run('token-expired')).values, {})
  const listed = await scenarios.list()
  t.match(
    listed.find(({ name }) => name === 'rate-limited'),
    {
      movesClock: false,
      parameters: [{ name: 'path', default: '/api/v1/*' }, { name: 'times' }, { name: 'retryAfter' }],
    },
  )
  t.match(await refusal(scenarios.run('no such scenario?')), { code: 'INVALID_FIELD', field: 'name', status: 400 })
  t.match(await refusal(scenarios.run('nothing')), { code: 'SCENARIO_NOT_FOUND', field: 'name', status: 404 })
})

/** What is of the whole server, or the same for all clients. */
const NOT_OF_A_CLIENT = [
  'GET /_sandbox',
  'GET /_sandbox/health/live',
  'GET /_sandbox/health/ready',
  'GET /_sandbox/openapi.json',
  'GET /_sandbox/clients',
  'POST /_sandbox/credentials/verify',
  'GET /_sandbox/reason-codes',
  'GET /_sandbox/errors',
  'GET /_sandbox/embed-demo',
]

/** The methods that take an object first. */
const TAKES_OBJECT = ['list', 'all', 'next', 'stream', 'create', 'fork', 'coverage', 'search', 'upcoming', 'har']

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
