import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import t from 'tap'
import { reasonCodes } from '../../src/areas/direct-debit/reason-codes.js'
import { areas } from '../../src/areas/index.js'
import { OWN_FIXTURES } from '../../src/package.js'
import type { Scenario, Scenarios } from '../../src/sandbox/scenarios/files.js'
import { createScenarios } from '../../src/sandbox/scenarios/files.js'
import { ILLEGAL, invalid, missing, table } from '../answers.js'
import type { Client } from '../helper.js'
import { bill, build, call, collection, connect, mandate, newClient, payoutLink, pluck } from '../helper.js'

/** The kinds of records in a state. */
const KINDS = Object.keys(areas)

/** A fault that has not fired. */
const LATER = { times: 1, fired: 0 }
const API = { path: '/api/v1/*' }

const COLLECTION = { path: '/api/v1/direct-debit/*' }
const patch = (op: string, path: string, value: unknown) => ({ kind: 'patch', patch: [{ op, path, value }] })

/** The state that each scenario leaves: the new records by kind with their states, and other members that change. */
const LEAVES: Record<string, object> = {
  'bill-paid': { bills: [{ status: 'PAID', openAmount: '0' }], counterparties: [{}] },
  'collection-failed': { mandates: ['ACTIVE'], collections: [{ status: 'FAILED', reasonCode: 'ED05' }] },
  'collection-pending': { mandates: ['ACTIVE'], collections: ['PENDING'] },
  'collection-processing': { mandates: ['ACTIVE'], collections: ['PROCESSING'] },
  'collection-rejected': { mandates: ['ACTIVE'], collections: [{ status: 'REJECTED', reasonCode: 'AM04' }] },
  'collection-returned': { mandates: ['ACTIVE'], collections: [{ status: 'RETURNED', reasonCode: 'AM04' }] },
  'collection-settled': { mandates: ['ACTIVE'], collections: ['SETTLED'] },
  'collection-submitted': { mandates: ['ACTIVE'], collections: ['SUBMITTED'] },
  'extra-member': { faults: [{ ...LATER, match: API, effect: patch('add', '/newMember', {}) }] },
  'lost-answer': {
    faults: [
      { ...LATER, match: { method: 'POST', path: '/api/v1/direct-debit' }, effect: { kind: 'drop', when: 'after' } },
    ],
  },
  'mandate-active': { mandates: ['ACTIVE'] },
  'mandate-cancelled-with-pending': { mandates: ['CANCELLED'], collections: ['CANCELLED'] },
  'mandate-expired': { mandates: ['EXPIRED'] },
  'null-member': {
    faults: [{ ...LATER, match: COLLECTION, effect: patch('replace', '/debtorName', null) }],
  },
  'payout-link-active': { payoutLinks: ['ACTIVE'] },
  'payout-link-claimed': { payoutLinks: ['CLAIMED'] },
  'payout-link-declined': { payoutLinks: ['REJECTED'] },
  'payout-link-expired': { payoutLinks: ['EXPIRED'] },
  'payout-link-failed': { payoutLinks: ['FAILED'] },
  'payout-link-paid': { payoutLinks: ['PAID'] },
  'payout-link-processing': { payoutLinks: ['PROCESSING'] },
  'rate-limited': { faults: [{ ...LATER, match: API, effect: { kind: 'error', status: 429, retryAfter: 1 } }] },
  'service-unavailable': { faults: [{ ...LATER, match: API, times: 3, effect: { kind: 'error', status: 503 } }] },
  'slow-bank': {
    faults: [{ match: { path: '/api/v1/direct-debit*' }, times: null, effect: { kind: 'delay', median: 2000 } }],
  },
  'token-expired': { tokens: { generation: 1 } },
  'unknown-status': {
    faults: [{ ...LATER, match: COLLECTION, effect: patch('replace', '/status', 'ON_HOLD') }],
  },
}

/** A state document, or the members of one that differ from another. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into states of every shape
type State = any

const textOf = async (app: FastifyInstance, client: string): Promise<string> =>
  (await app.inject(`/_sandbox/state?client=${client}`)).payload
const run = (app: FastifyInstance, client: string, name: string, parameters: object = {}) =>
  call(app, 'POST', `/_sandbox/scenarios/${name}?client=${client}`, { body: parameters })

/** Returns the difference between two states: new records and faults, and all other members that have changed. */
function difference(before: State, after: State): State {
  const changed: State = {}
  for (const name of Object.keys(after)) {
    if (name === 'ids' || name === 'sequence' || name === 'events') continue
    const [from, to] = [before[name], after[name]]
    if (JSON.stringify(from) === JSON.stringify(to)) continue
    const isExtended = Array.isArray(to) && JSON.stringify(to.slice(0, from.length)) === JSON.stringify(from)
    const added = isExtended ? to.slice(from.length) : to
    const isKind = KINDS.includes(name)
    changed[name] = isExtended && isKind ? added.map((entry: State) => entry.record) : added
  }
  return changed
}

/** Returns what a scenario is expected to leave: a record by its state or some of its members. */
const expected = (leaves: object): State =>
  Object.fromEntries(
    Object.entries(leaves).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(one => (typeof one === 'string' ? { status: one } : one)) : value,
    ]),
  )

/** A client with the records of demo, and with settings that must not matter. */
async function prepared(t: Test): Promise<FastifyInstance> {
  const app = build(t, { clients: [{ clientId: 'acme', clientSecret: 'secret', fixture: 'demo' }] })
  const control = (method: string, path: string, body: object) =>
    call(app, method, `/_sandbox${path}?client=acme`, { body })
  await control('PUT', '/settings', { mandateActivation: 'manual' })
  await control('POST', '/outcomes', { outcome: 'FAILED', times: null })
  await control('POST', '/faults', { times: null, effect: { kind: 'error', status: 503 } })
  return app
}

t.test('control plane, POST /scenarios/{name}: each leaves exactly the state that it names', async t => {
  const app = await prepared(t)
  const { data } = (await call(app, 'GET', '/_sandbox/scenarios')).body as { data: { name: string }[] }
  t.same(
    pluck(data, 'name').filter(name => name !== 'story'),
    Object.keys(LEAVES),
    'LEAVES has every scenario of the package',
  )
  let before = JSON.parse(await textOf(app, 'acme'))
  // The second run of each finds the records of the first.
  for (const name of [...Object.keys(LEAVES), ...Object.keys(LEAVES)]) {
    const { tokens, ...leaves } = expected(LEAVES[name] as object)
    // An unknown counterparty is created once.
    if (before.counterparties.some((one: State) => one.record.counterpartyReference === 'CPTY-SCENARIO')) {
      delete leaves.counterparties
    }
    const answer = await run(app, 'acme', name)
    t.equal(answer.status, 200, `${name}: ${JSON.stringify(answer.body.message)}`)
    const after = JSON.parse(await textOf(app, 'acme'))
    const left = difference(before, after)
    t.same(Object.keys(left).sort(), [...Object.keys(leaves), ...(tokens ? ['tokens'] : [])].sort(), name)
    t.match(left, leaves, name)
    t.equal(after.tokens.generation - before.tokens.generation, tokens?.generation ?? 0, name)
    for (const [kind, records] of Object.entries<State>(leaves)) t.equal(left[kind].length, records.length, name)
    const made = KINDS.flatMap(kind => after[kind].slice(before[kind].length)).map(one => Object.values(one.record)[0])
    const events: State[] = after.events.slice(before.events.length)
    t.equal(JSON.stringify(after.events.slice(0, before.events.length)), JSON.stringify(before.events), name)
    t.same(
      events.filter(({ reference }) => !made.includes(reference)),
      [],
      `${name}: events of new records only`,
    )
    t.equal(left.collections?.[0]?.outcome ?? left.payoutLinks?.[0]?.outcome, undefined, 'no armed outcome')
    before = after
  }
})

t.test('control plane, POST /scenarios/{name}: one that fails at any step leaves nothing', async t => {
  let present: Scenario | undefined
  const own = createScenarios(OWN_FIXTURES)
  const all = [...(await own.load()).values()]
  const scenarios: Scenarios = { load: own.load, find: () => present }
  const app = build(t, { scenarios })
  await connect(app)
  const before = await textOf(app, 'acme')
  const failure = { call: 'expireMandate', params: { mandateReference: 'MND-NONE' } }
  const wrong: unknown[] = []
  let runs = 0
  for (const scenario of all) {
    for (const at of scenario.steps.keys()) {
      present = { ...scenario, steps: [...scenario.steps.slice(0, at + 1), failure] }
      const { status, body } = await run(app, 'acme', scenario.name)
      const message = `Step ${at + 2}, expireMandate: There is no mandate "MND-NONE" of this client in this region.`
      const isRefused = status === 404 && body.code === 'MANDATE_NOT_FOUND' && body.message === message
      if (!isRefused || (await textOf(app, 'acme')) !== before) wrong.push([scenario.name, at, status, body])
      runs++
    }
  }
  t.same(wrong, [])
  t.ok(runs > 60, `${runs} runs`)
  t.same((await call(app, 'GET', '/_sandbox/events?client=acme')).body.data, [])
})

// -------------------------------------------------------------------------------------------------------- parameters

const REASONS: Record<string, readonly string[]> = {
  'collection-returned': ['return', 'refund', 'unauthorised-refund'],
  'collection-rejected': ['clearing', 'bank'],
  'collection-failed': ['submission', 'settlement'],
}

t.test('control plane, POST /scenarios/{name}: every reason code that is legal in the state, and no other', async t => {
  const app = build(t)
  await connect(app)
  const seen: unknown[] = []
  const wanted: unknown[] = []
  for (const [name, phases] of Object.entries(REASONS)) {
    for (const { code, phases: legal } of reasonCodes) {
      const { status, body } = await run(app, 'acme', name, { reasonCode: code })
      seen.push([name, code, status, body.code ?? body.steps.at(-1).answer.record.reasonCode])
      const isLegal = legal.some(phase => phases.includes(phase))
      wanted.push([name, code, isLegal ? 200 : 409, isLegal ? code : 'ILLEGAL_TRANSITION'])
    }
  }
  t.same(seen, wanted)
})

async function stocked(): Promise<Client> {
  const client = await newClient()
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/direct-debit', collection())
  await client.post('/api/v1/bills', bill())
  return client
}

t.test('control plane, POST /scenarios/{name}: records that are given are not created', async t => {
  const client = await stocked()
  const { payoutLinkId } = (await client.post('/api/v1/payout-links', payoutLink())).body
  const counts = async () => (await call(client.app, 'GET', '/_sandbox/clients')).body.data.at(-1).counts
  const before = await counts()
  const rows: [name: string, parameters: object, kind: string, path: string, status: string][] = [
    ['collection-returned', { collectionReference: 'COL-0001' }, 'collections', '/direct-debit/COL-0001', 'RETURNED'],
    ['payout-link-paid', { payoutLinkId }, 'payoutLinks', `/payout-links/${payoutLinkId}`, 'PAID'],
    ['bill-paid', { uniqueReferenceIdentifier: 'INV-2026-001' }, 'bills', '/bills/INV-2026-001', 'PAID'],
  ]
  for (const [name, parameters, , path, status] of rows) {
    const { body } = await client.control('POST', `/scenarios/${name}`, parameters)
    t.match(body, { name, values: parameters }, name)
    t.equal((await client.read(path)).record.status, status, name)
  }
  t.same(await counts(), before)

  const { body } = await client.control('POST', '/scenarios/collection-settled', {
    mandateReference: 'MND-0001',
    amount: '7.5',
  })
  t.same(await counts(), { ...before, collections: before.collections + 1 })
  const { answer } = body.steps.at(-1)
  t.match(answer.record, { mandateReference: 'MND-0001', amount: '7.5', status: 'SETTLED' })
  t.same(body.values, {
    mandateReference: 'MND-0001',
    mandateStatus: 'ACTIVE',
    collectionReference: answer.record.collectionReference,
    amount: '7.5',
  })
  t.equal((await client.control('POST', '/scenarios/mandate-expired', { mandateReference: 'MND-0001' })).status, 200)
  t.equal((await client.get('/api/v1/mandates/MND-0001')).body.status, 'EXPIRED')
})

t.test('control plane, POST /scenarios/{name}: a mandate that is given is ACTIVE in the end, or it is 409', async t => {
  for (const [at, status] of areas.mandates.lifecycle.states.entries()) {
    const client = await newClient()
    await client.control('POST', '/seed', { records: { mandates: [{ ...mandate(), status }] } })
    const answer = await client.control('POST', '/scenarios/mandate-active', { mandateReference: 'MND-0001' })
    t.equal(answer.body.values?.mandateStatus ?? answer.body.code, at < 2 ? 'ACTIVE' : 'ILLEGAL_TRANSITION', status)
  }
})

t.test('control plane, POST /scenarios/{name}: parameters of faults and of tokens have their effect', async t => {
  const client = await stocked()
  await client.control('POST', '/scenarios/rate-limited', { path: '/api/v1/bills*', times: 2, retryAfter: 7 })
  const answers = []
  for (let count = 0; count < 3; count++) {
    const { status, headers } = await client.get('/api/v1/bills')
    answers.push([status, headers['retry-after']])
  }
  t.same(answers, [
    [429, '7'],
    [429, '7'],
    [200, undefined],
  ])
  await client.control('POST', '/scenarios/token-expired')
  t.equal((await client.get('/api/v1/bills')).body.code, 'EXPIRED_TOKEN')
})

t.test('control plane, POST /scenarios/{name}: what is refused, and leaves nothing', async t => {
  const client = await stocked()
  await client.control('POST', '/direct-debit/COL-0001/submit')
  await client.post('/api/v1/mandates', mandate({ mandateReference: 'MND-ENDED' }))
  await client.delete('/api/v1/mandates/MND-ENDED')
  const before = await textOf(client.app, client.clientId)
  const returned = ['AM99', '', null, ['AM04'], 4, 'x'.repeat(1001)].map(code => [
    'collection-returned',
    { reasonCode: code },
  ])
  // A value is no template.
  const settled = ['1.234', 7, '{{number}}'].map(amount => ['collection-settled', { amount }])
  await table(t, ([name, body]) => client.control('POST', `/scenarios/${name}`, body), {
    '404 SCENARIO_NOT_FOUND name': ['no-such', 'constructor', 'x'.repeat(64)].map(name => [name, {}]),
    [invalid('name')]: ['__proto__', 'UPPER', 'x'.repeat(65)].map(name => [name, {}]),
    [invalid('reasonCode')]: [...returned, ['collection-settled', { reasonCode: 'AM04' }]],
    [invalid('times')]: [['token-expired', { times: 1 }], ...[0, 'one'].map(times => ['rate-limited', { times }])],
    [invalid(null)]: [['collection-returned', []]],
    [missing('amount')]: [['collection-settled', { amount: '' }]],
    [invalid('amount')]: settled,
    '404 MANDATE_NOT_FOUND mandateReference': [['collection-settled', { mandateReference: 'MND-NONE' }]],
    '404 COLLECTION_NOT_FOUND collectionReference': [['collection-settled', { collectionReference: 'COL-NONE' }]],
    [ILLEGAL]: [
      ['collection-settled', { mandateReference: 'MND-ENDED' }],
      ['collection-settled', { collectionReference: 'COL-0001' }],
      ['collection-pending', { collectionReference: 'COL-0001' }],
    ],
    '400 INVALID_BILL_REFERENCE uniqueReferenceIdentifier': [['bill-paid', { uniqueReferenceIdentifier: '!' }]],
    [invalid('region')]: [['bill-paid', { region: 'XX' }]],
    '400 REGION_CURRENCY_MISMATCH currency': [['bill-paid', { region: 'US' }]],
    [invalid('match.path')]: [['rate-limited', { path: '/nowhere' }]],
    [invalid('accountIdentifier')]: [['payout-link-paid', { accountIdentifier: 'DE00' }]],
    '404 PAYOUT_LINK_NOT_FOUND payoutLinkId': [['payout-link-paid', { payoutLinkId: 'pl_none' }]],
  })
  t.equal(await textOf(client.app, client.clientId), before)
})

t.test('control plane, GET /scenarios: each with its parameters, and only the story moves the clock', async t => {
  const { data } = (await call(build(t), 'GET', '/_sandbox/scenarios')).body as { data: State[] }
  t.same(
    pluck(
      data.filter(({ movesClock }) => movesClock),
      'name',
    ),
    ['story'],
  )
  t.same(
    data.find(({ name }) => name === 'collection-returned').parameters.map((one: State) => [one.name, one.default]),
    [
      ['mandateReference', null],
      ['collectionReference', null],
      ['amount', '49.90'],
      ['reasonCode', 'AM04'],
    ],
  )
  t.same(
    data
      .flatMap(({ summary, parameters }) => [summary, ...parameters.map((one: State) => one.description)])
      .filter(text => !/^[A-Z].*\.$/.test(text)),
    [],
  )
})

t.test('control plane, POST /scenarios/{name}: the story, whole and step by step, around the holidays', async t => {
  const rows = ['2026-11-02', '2026-12-23', '2027-03-24', '2027-04-28']
  for (const [at, day] of rows.entries()) {
    const app = build(t, { clock: `${day}T09:00:00Z` })
    const { control } = await connect(app)
    if (at >= 2) await control('PUT', '/settings', { mandateActivation: 'manual' })
    const runs = at % 2 === 0 ? [{}] : [1, '2', 3, '4', 5, '6'].map(step => ({ step }))
    for (const body of runs) {
      const { status, body: answer } = await control('POST', '/scenarios/story', body)
      t.equal(status, 200, `${day} ${JSON.stringify(body)}: ${answer.message}`)
    }
    const { data } = (await control('GET', '/direct-debit')).body
    t.match(
      data.map(({ record }: State) => [record.collectionReference, record.status]),
      [
        ['STORY-COLLECTION-2', 'RETURNED'],
        ['STORY-COLLECTION-1', 'SETTLED'],
      ],
      day,
    )
    t.match((await control('GET', '/payout-links')).body.data, [{ record: { status: 'ACTIVE' } }])
  }
})

// -------------------------------------------------------------------------------------------------------- own files

/** Writes scenarios into a folder of fixtures. */
const folder = (t: Test, files: Record<string, string>) =>
  t.testdir({
    scenarios: Object.fromEntries(Object.entries(files).map(([name, text]) => [`${name}.yaml`, text])),
  })

const REFUND = `
summary: A collection is refunded a month later.
after: collection-settled
parameters:
  days: { description: The time until the refund., default: P30D }
steps:
  - call: advanceClock
    body: { by: '{{days}}' }
    keep: { refundedAt: now }
  - call: returnCollection
    params: { collectionReference: '{{collectionReference}}' }
    body: { reasonCode: MD06 }
  - call: seedRecords
    body: { records: { bills: [{
      uniqueReferenceIdentifier: 'REFUND-{{number}}', type: CREDIT_NOTE, cashflowType: OUTFLOW,
      counterpartyReference: CPTY-0001, currency: EUR, totalAmount: '1', dueDate: '{{today}}' }] } }
`

t.test('fixtures, Scenarios of your own: steps of both planes, after one of the package', async t => {
  const scenarios = createScenarios(OWN_FIXTURES, folder(t, { refund: REFUND }))
  const app = build(t, { scenarios })
  const client = await connect(app)
  const { status, body } = await client.control('POST', '/scenarios/refund')
  t.equal(status, 200, body.message)
  const { collectionReference, refundedAt } = body.values
  t.equal(refundedAt, '2026-12-02T09:00:00Z')
  const { record } = await client.read(`/direct-debit/${collectionReference}`)
  t.match(record, { status: 'RETURNED', reasonCode: 'MD06' })
  const { bills } = JSON.parse(await textOf(app, 'acme'))
  t.same(
    bills.map((one: State) => [one.record.uniqueReferenceIdentifier, one.record.dueDate]),
    [['REFUND-0001', '2026-12-02']],
  )
  const { data } = (await call(app, 'GET', '/_sandbox/scenarios')).body
  t.match(
    data.find(({ name }: State) => name === 'refund'),
    { movesClock: true, summary: 'A collection is refunded a month later.' },
  )

  const before = await textOf(app, 'acme')
  const failed = await client.control('POST', '/scenarios/refund', { days: 'P3000D' })
  t.match(failed, { status: 409, body: { code: 'ILLEGAL_TRANSITION', field: 'reasonCode' } })
  t.equal(await textOf(app, 'acme'), before, 'the clock is back, too')
})

t.test('fixtures, Scenarios of your own: the file that is shown there works', async t => {
  const [, after = ''] = readFileSync('docs/fixtures.md', 'utf8').split('## Scenarios of your own')
  const [, shown = ''] = /```yaml\n(.*?)```/s.exec(after) ?? []
  const app = build(t, { scenarios: createScenarios(OWN_FIXTURES, folder(t, { shown })) })
  const { status, body } = await run(app, 'sandbox-client', 'shown')
  t.equal(status, 200, body.message)
  t.match(body.steps.at(-1), { call: 'returnCollection', answer: { record: { reasonCode: 'MD06' } } })
  t.equal((await call(app, 'GET', '/_sandbox/clock')).body.now, '2026-12-02T09:00:00Z')
})

t.test('fixtures, Scenarios of your own: a file replaces that of the package', async t => {
  const file = 'summary: It arms an outcome.\nsteps: [{ call: armOutcome, body: { outcome: FAILED } }]'
  const scenarios = createScenarios(OWN_FIXTURES, folder(t, { 'bill-paid': file }))
  const { body } = await run(build(t, { scenarios }), 'sandbox-client', 'bill-paid')
  t.match(body.steps, [{ call: 'armOutcome', answer: { id: 'outcome-1', state: 'armed' } }])
})

/** The calls that a step cannot make: they replace the tenant, wait, run scenarios, or are of the whole server. */
const NO_STEPS = ['resetClient', 'restoreState', 'forkClient', 'removeClient', 'listEvents', 'getState', 'runScenario']

t.test('fixtures, Scenarios of your own: a step that is no call, or has wrong members, is named', async t => {
  const files: [name: string, step: string, message: RegExp][] = [
    ...[...NO_STEPS, 'nonsense', 'toString'].map((call): [string, string, RegExp] => [
      call.toLowerCase(),
      `call: ${call}`,
      new RegExp(`^Step 1, ${call}: There is no such call. Known: createMandate, .*advanceClock`),
    ]),
    [
      'member',
      'call: expireTokens\n    body: { all: true }',
      /^Step 1, expireTokens: There is no member all\. Known: none/,
    ],
    [
      'setting',
      'call: updateSettings\n    body: { colour: red }',
      /^Step 1, updateSettings: There is no member colour/,
    ],
    ['missing', 'call: expireMandate', /^Step 1, expireMandate: mandateReference is required/],
  ]
  const texts = files.map(([name, step]) => [name, `summary: One call.\nsteps:\n  - ${step}`])
  const app = build(t, { scenarios: createScenarios(folder(t, Object.fromEntries(texts))) })
  const before = await textOf(app, 'sandbox-client')
  const known: string = (await run(app, 'sandbox-client', 'nonsense')).body.message
  const { paths } = JSON.parse(readFileSync('openapi/payments-service.json', 'utf8')) as {
    paths: Record<string, State>
  }
  for (const [method, { operationId }] of Object.values(paths).flatMap(path => Object.entries<State>(path))) {
    // A scenario gets no token, and has no file.
    const isCall = method !== 'get' && !['issueToken', 'uploadBillDocument'].includes(operationId)
    if (operationId) t.equal(known.includes(` ${operationId},`), isCall, operationId)
  }
  for (const [name, , message] of files) {
    const { status, body } = await run(app, 'sandbox-client', name)
    t.equal(status, 400, name)
    t.match(body.message, message)
  }
  t.equal(await textOf(app, 'sandbox-client'), before)
})

t.test('fixtures, Scenarios of your own: a wrong file is named with its fault', async t => {
  const step = '{ call: expireTokens }'
  const rows: [text: string, message: RegExp][] = [
    ['steps: [', /^wrong.yaml: .+/],
    ['7', /^wrong.yaml: .*an object with only the members summary/],
    [`steps: [${step}]`, /^wrong.yaml: summary is required/],
    [`summary: ''\nsteps: [${step}]`, /^wrong.yaml: summary is required/],
    [`summary: A.\nstep: [${step}]\nsteps: [${step}]`, /^wrong.yaml: .*only the members summary/],
    ['summary: A.\nsteps: []', /^wrong.yaml: There must be 1 to 50 steps/],
    [`summary: A.\nsteps: [${Array(21).fill(step)}]`, /^wrong.yaml: steps must be a list of at most 20/],
    ['summary: A.\nsteps: [{ call: expireTokens, bodies: {} }]', /^wrong.yaml: steps.0 must be an object with only/],
    [`summary: A.\nparameters: { a: { description: '' } }\nsteps: [${step}]`, /^wrong.yaml: parameters.a.description/],
    ["summary: A.\nsteps: [{ call: armFault, body: { ttl: '{{later}}' } }]", /^wrong.yaml: steps.0: .* "later"/],
    ['summary: A.\nsteps: [{ call: expireTokens, unlessGiven: [a] }]', /^wrong.yaml: steps.0: .* "a"/],
    ['summary: A.\nsteps: [{ call: expireTokens, when: { a: [1] } }]', /^wrong.yaml: steps.0: .* "a"/],
    [`summary: A.\nafter: nothing\nsteps: [${step}]`, /^wrong.yaml: after: there is no scenario "nothing"/],
    [`summary: A.\nafter: wrong\nsteps: [${step}]`, /^wrong.yaml: after: the scenario "wrong" follows itself/],
  ]
  const [base, ...more] = [10, 20, 20, 1].map((count, at) => {
    const after = at === 0 ? '' : `after: s${at}\n`
    return `summary: A.\n${after}steps: [${Array(count).fill(step)}]`
  }) as [string, string, string, string]
  const [s2, s3, s4] = more
  const longest = await createScenarios(folder(t, { s1: base, s2, s3 })).load()
  t.equal(longest.get('s3')?.steps.length, 50)
  const tooLong = createScenarios(folder(t, { s1: base, s2, s3, s4 }))
  await t.rejects(tooLong.load(), { message: /^s4.yaml: There must be 1 to 50 steps/ })
  for (const [text, message] of rows) {
    await t.rejects(createScenarios(folder(t, { wrong: text })).load(), { message }, text)
  }
})
