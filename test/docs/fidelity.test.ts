import t from 'tap'
import { build } from '../helper.js'

interface Schema {
  type?: string
  properties?: Record<string, Schema>
  items?: Schema
  required?: string[]
  'x-fidelity'?: string
}

interface Labelled {
  /** Operation and place: `GET /api/v1/direct-debit query.limit`, `… 200.data[].amount`. */
  place: string
  label: string | undefined
}

/** Every operation, parameter and property with its label, as the running server has them. */
async function labels(t: Parameters<typeof build>[0]): Promise<Labelled[]> {
  const found: Labelled[] = []
  const app = build(t)
  app.addHook('onRoute', ({ method, url, schema }) => {
    if (method === 'HEAD') return
    const operation = `${method} ${url.replace(/:(\w+)/g, '{$1}')}`
    found.push({ place: operation, label: schema?.['x-fidelity'] })
    const { headers, params, querystring, body, response = {} } = (schema ?? {}) as Record<string, Schema>
    const parts = { headers, params, query: querystring, body, ...(response as Record<string, Schema>) }
    for (const [part, partSchema] of Object.entries(parts)) walk(partSchema, `${operation} ${part}`)
  })
  await app.ready()
  return found

  function walk(schema: Schema | undefined, place: string) {
    for (const [name, property] of Object.entries(schema?.properties ?? {})) {
      found.push({ place: `${place}.${name}`, label: property['x-fidelity'] })
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

/**
 * What the service interface documents, written out by hand from its text: operations of the endpoint tables, and
 * their parameters and properties. All else is assumed.
 */
const DOCUMENTED: Record<string, string[]> = {
  // POST /api/v1/oauth/token; Access token response
  'POST /api/v1/oauth/token': each(
    'POST /api/v1/oauth/token',
    'body.client_id body.client_secret body.grant_type 200.access_token 200.expires_in 200.scope 200.token_type',
  ),
  // GET /api/v1/direct-debit
  'GET /api/v1/direct-debit': each(
    'GET /api/v1/direct-debit',
    `headers.x-region query.cursor query.limit query.scheme query.status query.mandateReference query.debtorReference
     query.initiatedFrom query.initiatedTo query.amountMin query.amountMax
     200.totalCount 200.hasMore 200.nextCursor 200.data ${inside('200.data[]', SUMMARY)}`,
  ),
  // PATCH /api/v1/payout-links/{payoutLinkId}/cancel
  'PATCH /api/v1/payout-links/{payoutLinkId}/cancel': each(
    'PATCH /api/v1/payout-links/{payoutLinkId}/cancel',
    'headers.x-region params.payoutLinkId body.cancellationComment',
  ),
  // Other endpoints
  'POST /api/v1/direct-debit': each(
    'POST /api/v1/direct-debit',
    `headers.x-region ${inside('body', REQUEST)} ${inside('201', SUMMARY)}`,
  ),
  'GET /api/v1/direct-debit/{collectionReference}': each(
    'GET /api/v1/direct-debit/{collectionReference}',
    `headers.x-region params.collectionReference ${inside('200', SUMMARY)}`,
  ),
  'POST /api/v1/mandates': each(
    'POST /api/v1/mandates',
    `headers.x-region ${inside('body', MANDATE)} ${inside('201', `${MANDATE} status`)}`,
  ),
  'GET /api/v1/mandates': each('GET /api/v1/mandates', `headers.x-region ${inside('200.data[]', `${MANDATE} status`)}`),
  'GET /api/v1/mandates/{mandateReference}': each(
    'GET /api/v1/mandates/{mandateReference}',
    `headers.x-region params.mandateReference ${inside('200', `${MANDATE} status`)}`,
  ),
  'DELETE /api/v1/mandates/{mandateReference}': each(
    'DELETE /api/v1/mandates/{mandateReference}',
    `headers.x-region params.mandateReference ${inside('200', `${MANDATE} status`)}`,
  ),
  'POST /api/v1/bills': each(
    'POST /api/v1/bills',
    `headers.x-region ${inside('body', BILL)} ${inside('201', `${BILL} status`)}`,
  ),
  'GET /api/v1/bills': each(
    'GET /api/v1/bills',
    `headers.x-region query.status query.type query.cashflowType query.counterpartyReference
     ${inside('200.data[]', `${BILL} status`)}`,
  ),
  'GET /api/v1/bills/{uniqueReferenceIdentifier}': each(
    'GET /api/v1/bills/{uniqueReferenceIdentifier}',
    `headers.x-region params.uniqueReferenceIdentifier ${inside('200', `${BILL} status`)}`,
  ),
  'PATCH /api/v1/bills/{uniqueReferenceIdentifier}': each(
    'PATCH /api/v1/bills/{uniqueReferenceIdentifier}',
    `headers.x-region params.uniqueReferenceIdentifier body.status ${inside('200', `${BILL} status`)}`,
  ),
  'POST /api/v1/bills/{uniqueReferenceIdentifier}/document': each(
    'POST /api/v1/bills/{uniqueReferenceIdentifier}/document',
    'headers.x-region params.uniqueReferenceIdentifier',
  ),
  'PATCH /api/v1/counterparties/{counterpartyReference}': each(
    'PATCH /api/v1/counterparties/{counterpartyReference}',
    `headers.x-region params.counterpartyReference ${inside('body', COUNTERPARTY)}
     ${inside('200', `${COUNTERPARTY} branchIdentifier branchIdentifier.type`)}`,
  ),
}

/** Documented members of an operation whose path is not: (create payout link). And the header of GET /api/v1/accounts. */
const DOCUMENTED_MEMBERS_ELSEWHERE = [
  ...each('POST /api/v1/payout-links', `headers.x-region ${inside('body', PAYOUT_LINK)} ${inside('201', PAYOUT_LINK)}`),
  'GET /api/v1/accounts headers.x-region',
]

t.test(
  'every operation, parameter and property is labelled documented or assumed, as the interface has it',
  async t => {
    const all = await labels(t)
    const placesOf = (label: string) => all.filter(one => one.label === label).map(({ place }) => place)
    const known = [...placesOf('documented'), ...placesOf('assumed')]
    t.ok(known.length > 500, 'there is a lot to label')
    t.equal(known.length, all.length, 'nothing is left without a label')

    const isEnvelope = (place: string) => ENVELOPE.some(member => place.endsWith(` ${member}`))
    const ofApi = placesOf('documented').filter(place => place.includes(' /api/v1/') && !isEnvelope(place))
    const documented = [
      ...Object.keys(DOCUMENTED),
      ...Object.values(DOCUMENTED).flat(),
      ...DOCUMENTED_MEMBERS_ELSEWHERE,
    ]
    t.same(ofApi.sort(), documented.sort(), 'no more and no less is documented below /api/v1')

    const operations = all.map(({ place }) => place).filter(place => place.split(' ').length === 2)
    const envelopes = operations.flatMap(operation => ENVELOPE.map(member => `${operation} ${member}`))
    const labelled = new Set(placesOf('documented'))
    t.same(
      envelopes.filter(place => !labelled.has(place)),
      [],
      'interface, Errors 1: every operation documents the error envelope',
    )
    t.same(
      operations.filter(operation => operation.includes(' /_sandbox') && labelled.has(operation)),
      [],
      'no operation of the control plane is documented by the interface',
    )
  },
)
