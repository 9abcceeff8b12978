import t from 'tap'
import { CONSTRAINTS } from '../../src/core/schemas.js'
import { build } from '../helper.js'

interface Schema {
  [keyword: string]: unknown
  type?: string
  properties?: Record<string, Schema>
  items?: Schema
  required?: string[]
  'x-fidelity'?: string
  'x-fidelity-constraints'?: string[]
}

interface Labelled {
  /** Operation and place: `GET /api/v1/direct-debit query.limit`, `… 200.data[].amount`. */
  place: string
  label: string | undefined
  schema: Schema
}

/** Every operation, parameter and property with its label, as the running server has them. */
async function labels(t: Parameters<typeof build>[0]): Promise<Labelled[]> {
  const found: Labelled[] = []
  const app = build(t)
  app.addHook('onRoute', ({ method, url, schema }) => {
    if (method === 'HEAD' || schema?.hide) return
    const operation = `${method} ${url.replace(/:(\w+)/g, '{$1}')}`
    found.push({ place: operation, label: schema?.['x-fidelity'], schema: {} })
    const { headers, params, querystring, body, response = {} } = (schema ?? {}) as Record<string, Schema>
    const parts = { headers, params, query: querystring, body, ...(response as Record<string, Schema>) }
    for (const [part, partSchema] of Object.entries(parts)) walk(partSchema, `${operation} ${part}`)
  })
  await app.ready()
  return found

  function walk(schema: Schema | undefined, place: string) {
    for (const [name, property] of Object.entries(schema?.properties ?? {})) {
      found.push({ place: `${place}.${name}`, label: property['x-fidelity'], schema: property })
      walk(property, `${place}.${name}`)
    }
    if (schema?.items) walk(schema.items, `${place}[]`)
  }
}

const each = (operation: string, places: string) => places.split(/\s+/).map(place => `${operation} ${place}`)

const ENVELOPE = ['4xx.code', '4xx.field', '4xx.message', '5xx.code', '5xx.field', '5xx.message']

/** Collection request summary; Collection list envelope. */
const SUMMARY =
  'collectionReference scheme mandateReference status amount currency debtorName debtorReference collectionDate initiatedAt updatedAt'
/** Of those, what a request can have: the others are the server's. */
const REQUEST = 'collectionReference scheme mandateReference amount currency debtorName debtorReference collectionDate'
/** Other named fields: Mandate; and its reference, as the summary and the endpoints name it. */
const MANDATE = 'mandateReference mode type frequency creditor creditor.bankIdentifier currency'
/** Other named fields: Bill. */
const BILL = 'uniqueReferenceIdentifier type cashflowType counterpartyReference'
/** Other named fields: Counterparty. */
const COUNTERPARTY = 'accountHolderName emailAddress mobileNumber remarks address counterpartyReference'
/** Other named fields: Payout link. */
const PAYOUT_LINK = 'currency payoutMethod accountHolderName uiMode expiryPeriod'

const inside = (part: string, names: string) => names.replace(/\S+/g, name => `${part}.${name}`)

const ONE_MANDATE = `headers.x-region params.mandateReference ${inside('200', `${MANDATE} status`)}`
const ONE_BILL = 'headers.x-region params.uniqueReferenceIdentifier'

/**
 * What the service interface documents, written out by hand from its text: operations of the endpoint tables, and
 * their parameters and properties. All else is assumed.
 */
const DOCUMENTED: Record<string, string> = {
  'POST /api/v1/oauth/token':
    'body.client_id body.client_secret body.grant_type 200.access_token 200.expires_in 200.scope 200.token_type',
  'GET /api/v1/direct-debit': `headers.x-region query.cursor query.limit query.scheme query.status
     query.mandateReference query.debtorReference query.initiatedFrom query.initiatedTo query.amountMin query.amountMax
     200.totalCount 200.hasMore 200.nextCursor 200.data ${inside('200.data[]', SUMMARY)}`,
  'PATCH /api/v1/payout-links/{payoutLinkId}/cancel': 'headers.x-region params.payoutLinkId body.cancellationComment',
  // Other endpoints
  'POST /api/v1/direct-debit': `headers.x-region ${inside('body', REQUEST)} ${inside('201', SUMMARY)}`,
  'GET /api/v1/direct-debit/{collectionReference}': `headers.x-region params.collectionReference
     ${inside('200', SUMMARY)}`,
  'POST /api/v1/mandates': `headers.x-region ${inside('body', MANDATE)} ${inside('201', `${MANDATE} status`)}`,
  'GET /api/v1/mandates': `headers.x-region ${inside('200.data[]', `${MANDATE} status`)}`,
  'GET /api/v1/mandates/{mandateReference}': ONE_MANDATE,
  'DELETE /api/v1/mandates/{mandateReference}': ONE_MANDATE,
  'POST /api/v1/bills': `headers.x-region ${inside('body', BILL)} ${inside('201', `${BILL} status`)}`,
  'GET /api/v1/bills': `headers.x-region query.status query.type query.cashflowType query.counterpartyReference
     ${inside('200.data[]', `${BILL} status`)}`,
  'GET /api/v1/bills/{uniqueReferenceIdentifier}': `${ONE_BILL} ${inside('200', `${BILL} status`)}`,
  'PATCH /api/v1/bills/{uniqueReferenceIdentifier}': `${ONE_BILL} body.status ${inside('200', `${BILL} status`)}`,
  'POST /api/v1/bills/{uniqueReferenceIdentifier}/document': ONE_BILL,
  'PATCH /api/v1/counterparties/{counterpartyReference}': `headers.x-region params.counterpartyReference
     ${inside('body', COUNTERPARTY)} ${inside('200', `${COUNTERPARTY} branchIdentifier branchIdentifier.type`)}`,
}

/** Documented members of an operation whose path is not: (create payout link). And the header of GET /api/v1/accounts. */
const DOCUMENTED_MEMBERS_ELSEWHERE = [
  ...each('POST /api/v1/payout-links', `headers.x-region ${inside('body', PAYOUT_LINK)} ${inside('201', PAYOUT_LINK)}`),
  'GET /api/v1/accounts headers.x-region',
]

t.test('fidelity, Documented and assumed: labels are as the interface has it', async t => {
  const all = await labels(t)
  const placesOf = (label: string) => all.filter(one => one.label === label).map(({ place }) => place)
  const known = [...placesOf('documented'), ...placesOf('assumed')]
  t.ok(known.length > 500, 'there is a lot to label')
  t.equal(known.length, all.length, 'nothing is left without a label')

  const isEnvelope = (place: string) => ENVELOPE.some(member => place.endsWith(` ${member}`))
  const ofApi = placesOf('documented').filter(place => place.includes(' /api/v1/') && !isEnvelope(place))
  const members = Object.entries(DOCUMENTED).flatMap(([operation, places]) => each(operation, places))
  const documented = [...Object.keys(DOCUMENTED), ...members, ...DOCUMENTED_MEMBERS_ELSEWHERE]
  t.same(ofApi.sort(), documented.sort(), 'no more and no less is documented below /api/v1')

  const operations = all.map(({ place }) => place).filter(place => place.split(' ').length === 2)
  const envelopes = operations.flatMap(operation => ENVELOPE.map(member => `${operation} ${member}`))
  const labelled = new Set(placesOf('documented'))
  const wrong = envelopes.filter(place => !labelled.has(place))
  t.same(wrong, [], 'interface, Errors 1: every operation documents the error envelope')
  const others = [...labelled].filter(place => /^\S+ \/_sandbox\S*( (params|headers|query)\.\S+)?$/.test(place))
  t.same(others, [], 'no operation of the control plane is documented by the interface, and no parameter of one')
})

const REFERENCE = { minLength: 5, maxLength: 50, pattern: '^[a-zA-Z0-9\\-]+$' }
const DATE_TIME = { format: 'date-time', pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}Z$' }
const AMOUNT_BOUND = { format: 'double', minimum: 0.01 }

/** Operations whose regions the interface states: their own sections, and the notes of Other endpoints. */
const STATED_REGIONS: Record<string, string[]> = {
  'GET /api/v1/direct-debit': ['EU'],
  'POST /api/v1/direct-debit': ['EU'],
  'POST /api/v1/mandates': ['EU'],
  'PATCH /api/v1/payout-links/{payoutLinkId}/cancel': ['EU', 'US', 'UK'],
  'POST /api/v1/payout-links': ['EU', 'US', 'UK'],
  'POST /api/v1/bills': ['EU', 'IN', 'US', 'UK'],
}

/** The constraints that the interface states, by field and by the start of the place where they apply; by hand. */
const STATED: [place: RegExp, constraints: object][] = [
  // Collection request summary; query parameters of GET /api/v1/direct-debit; Limits
  [/ \/api\/v1\/direct-debit (body|query|\d+).*(collectionReference|mandateReference)$/, REFERENCE],
  [/ \/api\/v1\/direct-debit\/.* 200\.(collectionReference|mandateReference)$/, REFERENCE],
  [/ \/api\/v1\/direct-debit .*\.scheme$/, { enum: ['SEPA'] }],
  [
    / \/api\/v1\/direct-debit.*\.status$/,
    { enum: ['PENDING', 'SUBMITTED', 'PROCESSING', 'SETTLED', 'FAILED', 'CANCELLED', 'RETURNED', 'REJECTED'] },
  ],
  [/ \/api\/v1\/direct-debit.*\.amount$/, { pattern: '^[1-9]\\d{0,8}(\\.\\d{1,2})?$' }],
  [/ \/api\/v1\/direct-debit.*\.currency$/, { enum: ['EUR'] }],
  [/ \/api\/v1\/direct-debit.*\.debtorReference$/, { minLength: 1, maxLength: 100 }],
  [
    / \/api\/v1\/direct-debit.*\.collectionDate$/,
    { format: 'date', pattern: '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])$' },
  ],
  [/ \/api\/v1\/direct-debit.*\.(initiatedAt|updatedAt|initiatedFrom|initiatedTo)$/, DATE_TIME],
  [/ query\.limit$/, { minimum: 1, maximum: 500, default: 100 }],
  [/ query\.amount(Min|Max)$/, AMOUNT_BOUND],
  [/\.scheme$/, { enum: ['SEPA'] }],
  // POST /api/v1/oauth/token
  [/ body\.grant_type$/, { enum: ['client_credentials'] }],
  // PATCH /api/v1/payout-links/{payoutLinkId}/cancel
  [/ params\.payoutLinkId$/, { minLength: 7, maxLength: 90, pattern: '^[-_a-zA-Z0-9]+$' }],
  [/ body\.cancellationComment$/, { minLength: 1, maxLength: 256 }],
  // Other named fields: Mandate
  [/ \/api\/v1\/mandates.*\.mode$/, { enum: ['CORE'] }],
  [/ \/api\/v1\/mandates[^.]* .*[.\]]\.?type$/, { enum: ['RECURRING', 'ONE_OFF'] }],
  [/ \/api\/v1\/mandates.*\.currency$/, { enum: ['EUR'] }],
  // Other named fields: Payout link
  [/ \/api\/v1\/payout-links.*\.payoutMethod$/, { enum: ['SEPA-CT', 'SEPA-INSTANT', 'US-ACH', 'UK-BACS', 'UK-FAST'] }],
  [/ \/api\/v1\/payout-links body\.uiMode$/, { enum: ['hosted', 'embedded'], default: 'hosted' }],
  [/ \/api\/v1\/payout-links.*\.uiMode$/, { enum: ['hosted', 'embedded'] }],
  [/ \/api\/v1\/payout-links.*\.currency$/, { enum: ['EUR', 'USD', 'GBP'] }],
  // Other named fields: Counterparty
  [/\.branchIdentifier\.type$/, { enum: ['BIC', 'SORT', 'ROUTING', 'IFSC'] }],
]

const statedAt = (place: string): object => {
  const [method, path, member] = place.split(' ')
  if (member === 'headers.x-region') {
    const regions = STATED_REGIONS[`${method} ${path}`]
    return regions === undefined ? {} : { enum: regions }
  }
  return STATED.find(([pattern]) => pattern.test(place))?.[1] ?? {}
}

/** The constraints of a schema; those of an array are those of its items. `required` is of members, not of a value. */
function constraintsOf(schema: Schema): { all: object; assumed: Set<string> } {
  const constrained = schema.items ?? schema
  const names = CONSTRAINTS.filter(name => name !== 'required' && constrained[name] !== undefined)
  return {
    all: Object.fromEntries(names.map(name => [name, constrained[name]])),
    assumed: new Set(constrained['x-fidelity-constraints']),
  }
}

t.test('fidelity, Documented and assumed: constraints of documented fields', async t => {
  const documented = (await labels(t)).filter(
    ({ place, label }) => label === 'documented' && place.includes(' /api/v1/'),
  )
  const found = documented.map(({ place, schema }) => {
    const { all, assumed } = constraintsOf(schema)
    return [place, Object.fromEntries(Object.entries(all).filter(([name]) => !assumed.has(name)))]
  })
  t.same(
    Object.fromEntries(found.filter(([place]) => place?.includes('.') === true)),
    Object.fromEntries(
      documented.filter(({ place }) => place.includes('.')).map(({ place }) => [place, statedAt(place)]),
    ),
  )
  const isUsed = (pattern: RegExp) => documented.some(({ place }) => pattern.test(place))
  const wrong = STATED.filter(([pattern]) => !isUsed(pattern))
  t.same(wrong, [], 'each stated constraint is somewhere')
})

/** Bodies and answers of which the interface states which members are required. */
const STATED_REQUIRED: Record<string, string[]> = {
  'POST /api/v1/oauth/token body': ['client_id', 'client_secret', 'grant_type'],
  'POST /api/v1/oauth/token 200': ['access_token', 'expires_in', 'scope', 'token_type'],
  'GET /api/v1/direct-debit 200': ['totalCount', 'hasMore', 'data'],
  'PATCH /api/v1/payout-links/{payoutLinkId}/cancel body': ['cancellationComment'],
}

t.test('fidelity, Documented and assumed: required members of documented bodies', async t => {
  const app = build(t)
  const found: [string, unknown][] = []
  app.addHook('onRoute', ({ method, url, schema }) => {
    if (method === 'HEAD' || !url.startsWith('/api/v1')) return
    const { body, response = {} } = (schema ?? {}) as { body?: Schema; response?: Record<string, Schema> }
    for (const [part, partSchema] of Object.entries({ body, ...response })) {
      if (partSchema?.required === undefined || part.endsWith('xx')) continue
      const members = Object.values(partSchema.properties ?? {})
      const isAssumed =
        partSchema['x-fidelity-constraints']?.includes('required') ||
        members.every(member => member['x-fidelity'] === 'assumed')
      if (isAssumed) continue
      found.push([`${method} ${url.replace(/:(\w+)/g, '{$1}')} ${part}`, partSchema.required])
    }
  })
  await app.ready()
  const singles = ['POST /api/v1/direct-debit 201', 'GET /api/v1/direct-debit/{collectionReference} 200']
  const summary = SUMMARY.split(' ').filter(name => name !== 'debtorReference')
  t.same(Object.fromEntries(found), {
    ...STATED_REQUIRED,
    ...Object.fromEntries(singles.map(operation => [operation, summary])),
  })
})
