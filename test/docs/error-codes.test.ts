import t from 'tap'
import type { Area } from '../../src/areas/index.js'
import { areas } from '../../src/areas/index.js'
import type { ErrorCode } from '../../src/core/errors.js'
import { catalogue } from '../../src/core/errors.js'
import type { Answer, CallOptions } from '../helper.js'
import { bill, build, call, collection, connect, MONDAY, mandate, payoutLink, requestToken } from '../helper.js'
import { upload } from '../multipart.js'
import type { Json, Operation } from './contract.js'
import { DOCUMENTS, exampleRequest, operationsOf } from './contract.js'

/** The client of one provocation: a tenant that is a copy of the demo tenant. */
interface Scene {
  readonly operation: Operation
  readonly clientId: string
  readonly token: string
  /** Sends the request of the operation's examples, with changes. */
  send(changes?: Changes): Promise<Answer>
  /** Sends another request as this client. */
  other(method: string, url: string, options?: CallOptions): Promise<Answer>
  control(method: string, path: string, body?: unknown): Promise<Answer>
}

interface Changes extends CallOptions {
  method?: string
  /** Replaces the value of the path parameter; percent-encoded. */
  parameter?: string
  /** Appended to the URL. */
  query?: string
  /** Headers that are left out. */
  without?: string
}

type Provocation = (scene: Scene) => Promise<Answer>

const app = build(t)
let clients = 0
/** A client that no provocation has changed: all its requests were refused. */
let unchanged: Pick<Scene, 'clientId' | 'token'> | undefined

async function createCopy() {
  const clientId = `copy-${++clients}`
  await call(app, 'POST', '/_sandbox/fork', { body: { clientId, clientSecret: 'secret' } })
  return { clientId, token: (await requestToken(app, { client_id: clientId })).body.access_token as string }
}

async function open(operation: Operation): Promise<Scene> {
  unchanged ??= await createCopy()
  const { clientId, token } = unchanged
  const sent = (answer: Answer) => {
    if (answer.status < 400) unchanged = undefined
    return answer
  }
  const isControl = operation.path.startsWith('/_sandbox')
  const isBearer = operation.operation.security === undefined && !isControl
  const example = exampleRequest(operation)
  const isForm = example.mediaType === 'application/x-www-form-urlencoded'

  async function send({ method = operation.method, parameter, query = '', without = '', ...options }: Changes = {}) {
    const path = parameter === undefined ? example.url : operation.path.replace(/\{\w+\}/, parameter)
    const body = Object.hasOwn(options, 'body') ? options.body : example.body
    const headers: Record<string, string> = {
      ...(isBearer && { authorization: `Bearer ${token}` }),
      ...example.headers,
      ...(example.mediaType && { 'content-type': example.mediaType }),
      ...options.headers,
    }
    delete headers[without]
    const client = isControl && operation.operation.parameters?.some(({ name }: { name: string }) => name === 'client')
    const search = [query, client && !query.includes('client=') ? `client=${clientId}` : ''].filter(Boolean).join('&')
    const answer = await call(app, method, search === '' ? path : `${path}?${search}`, {
      headers,
      ...(body !== undefined && { body: isForm && typeof body === 'object' ? form(body as Fields) : body }),
    })
    return sent(answer)
  }
  return {
    operation,
    clientId,
    token,
    send,
    async other(method, url, options = {}) {
      const headers = { authorization: `Bearer ${token}`, ...options.headers }
      return sent(await call(app, method, url, { region: 'EU', ...options, headers }))
    },
    control: async (method, path, body) =>
      sent(await call(app, method, `/_sandbox${path}?client=${clientId}`, { body })),
  }
}

type Fields = Record<string, string>
const form = (fields: Fields) => new URLSearchParams(fields).toString()

const fault =
  (status: number): Provocation =>
  async scene => {
    await scene.control('POST', '/faults', { effect: { kind: 'error', status } })
    return scene.operation.id === 'uploadBillDocument' ? scene.send(upload()) : scene.send({ ...asClient(scene) })
  }

/** The token request of the scene's own client. */
const asClient = ({ operation, clientId }: Scene): Changes =>
  operation.id === 'issueToken'
    ? { body: { client_id: clientId, client_secret: 'secret', grant_type: 'client_credentials' } }
    : {}

const body =
  (sent: object, changes: Changes = {}): Provocation =>
  ({ send }) =>
    send({ ...changes, body: sent })
const parameter =
  (value: string, changes: Changes = {}): Provocation =>
  ({ send }) =>
    send({ ...changes, parameter: value })
const query =
  (text: string): Provocation =>
  ({ send }) =>
    send({ query: text })
const seeds = (records: object) => body({ records })

/** The codes that all operations of a kind have: how to provoke them follows from the operation. */
const GENERIC: Partial<Record<ErrorCode, Provocation>> = {
  MALFORMED_REQUEST: query('%zz'),
  MISSING_FIELD: ({ operation, send }) => {
    const has = (place: string) => operation.operation.parameters?.some((parameter: Json) => parameter.in === place)
    if (has('header')) return send({ without: 'x-region' })
    return has('path') && !operation.path.endsWith('}') ? send({ parameter: '' }) : send({ body: {} })
  },
  INVALID_FIELD: ({ operation, send }) => {
    const hasCodeOfItsOwn = operation.path.includes('{uniqueReferenceIdentifier}')
    return operation.path.includes('{') && !hasCodeOfItsOwn ? send({ parameter: '!'.repeat(100) }) : send({ body: [] })
  },
  INVALID_QUERY_PARAMETER: ({ operation, send }) =>
    send({ query: operation.path.startsWith('/_sandbox') ? 'unknown=1' : 'limit=0' }),
  INVALID_CURSOR: query('cursor=nonsense'),
  INVALID_REGION: ({ send }) => send({ headers: { 'x-region': 'GB' } }),
  INVALID_BILL_REFERENCE: parameter('!'),
  MISSING_TOKEN: ({ send }) => send({ without: 'authorization' }),
  INVALID_TOKEN: ({ send }) => send({ headers: { authorization: 'Bearer nonsense' } }),
  async EXPIRED_TOKEN({ send, control }) {
    await control('POST', '/tokens/expire')
    return send()
  },
  ADMIN_TOKEN_REQUIRED: async ({ operation }) => call(locked, operation.method, exampleRequest(operation).url),
  FORBIDDEN_ORIGIN: ({ send }) => send({ headers: { origin: 'https://elsewhere.example' } }),
  FORBIDDEN_HOST: ({ send }) => send({ headers: { host: 'rebound.example' } }),
  ROUTE_NOT_FOUND: parameter('MND%2F0001'),
  MANDATE_NOT_FOUND: parameter('MND-9999'),
  COLLECTION_NOT_FOUND: parameter('COL-9999'),
  PAYOUT_LINK_NOT_FOUND: parameter('pl_99999'),
  BILL_NOT_FOUND: ({ operation, send }) =>
    send({ parameter: 'INV-9999', ...(operation.id === 'uploadBillDocument' && upload()) }),
  COUNTERPARTY_NOT_FOUND: parameter('CPTY-9999'),
  REQUEST_NOT_FOUND: parameter('999'),
  FAULT_NOT_FOUND: parameter('fault-9'),
  OUTCOME_NOT_FOUND: parameter('outcome-9'),
  CLIENT_NOT_FOUND: query('client=unknown'),
  RECORD_LIMIT_REACHED: async ({ operation }) => {
    const client = await connect(full)
    await client.post('/api/v1/mandates', mandate({ mandateReference: 'MND-ACME-0001' }))
    const { url, headers, body } = exampleRequest(operation)
    return client.post(url, body, { headers })
  },
  METHOD_NOT_ALLOWED: ({ send }) => send({ method: 'ACL', body: undefined }),
  PAYLOAD_TOO_LARGE: ({ operation, send }) =>
    operation.id === 'uploadBillDocument'
      ? send(upload({ content: `%PDF-${'x'.repeat(10 * 1024 * 1024)}` }))
      : send({
          headers: { 'content-type': 'application/json', 'content-length': '999999999', ...formType(operation) },
          body: '{}',
        }),
  UNSUPPORTED_MEDIA_TYPE: ({ send }) => send({ headers: { 'content-type': 'text/plain' }, body: 'x' }),
  async OPERATION_SUNSET(scene) {
    const { method, path } = scene.operation
    const gone = { operation: `${method} ${path}`, deprecatedSince: MONDAY, sunset: MONDAY, goneAfterSunset: true }
    await scene.control('PUT', '/deprecations', { data: [gone] })
    return scene.send(asClient(scene))
  },
  RATE_LIMITED: fault(429),
  INTERNAL_ERROR: fault(500),
  SERVICE_UNAVAILABLE: fault(503),
}

const formType = ({ id }: Operation): Fields =>
  id === 'issueToken' ? { 'content-type': 'application/x-www-form-urlencoded' } : {}

const US = { headers: { 'x-region': 'US' } }
const TOO_MUCH = { amount: '1000000.01', currency: 'GBP', payoutMethod: 'UK-FAST' }
const EMBEDDED = { uiMode: 'embedded', origin: 'https://elsewhere.example' }
const CLAIM = { accountHolderName: 'Ida Lindholm', accountIdentifier: 'DE89370400440532013000' }

/** The codes of single operations; these win over the generic ones. */
const SPECIFIC: Record<string, Provocation> = {
  'issueToken INVALID_FIELD': ({ send }) =>
    send({ headers: { authorization: `Basic ${Buffer.from('other:secret').toString('base64')}` } }),
  'issueToken UNSUPPORTED_GRANT_TYPE': body({ client_id: 'acme', client_secret: 'secret', grant_type: 'password' }),
  'issueToken INVALID_CLIENT': body({
    client_id: 'sandbox-client',
    client_secret: 'wrong',
    grant_type: 'client_credentials',
  }),
  'createCollection MANDATE_NOT_FOUND': body(collection({ mandateReference: 'MND-9999' })),
  'createCollection MANDATE_NOT_ACTIVE': body(collection({ mandateReference: 'MND-ACME-0009' })),
  async 'createCollection MANDATE_ALREADY_USED'({ send, other }) {
    await other('POST', '/api/v1/mandates', { body: mandate({ type: 'ONE_OFF' }) })
    await send({ body: collection() })
    return send({ body: collection({ collectionReference: 'COL-0002' }) })
  },
  'createCollection COLLECTION_DATE_TOO_EARLY': body(
    collection({ mandateReference: 'MND-ACME-0001', collectionDate: '2026-11-03' }),
  ),
  'createCollection COLLECTION_DATE_TOO_LATE': body(
    collection({ mandateReference: 'MND-ACME-0001', collectionDate: '2027-11-03' }),
  ),
  'cancelMandate MANDATE_NOT_ACTIVE': parameter('MND-ACME-0009'),
  'createPayoutLink REGION_CURRENCY_MISMATCH': ({ send }) => send({ ...US, body: payoutLink() }),
  'createPayoutLink PAYOUT_METHOD_MISMATCH': body(payoutLink({ payoutMethod: 'US-ACH' })),
  'createPayoutLink AMOUNT_LIMIT_EXCEEDED': body(payoutLink(TOO_MUCH), { headers: { 'x-region': 'UK' } }),
  'createPayoutLink ORIGIN_NOT_ALLOWED': body(payoutLink(EMBEDDED)),
  'cancelPayoutLink PAYOUT_LINK_ALREADY_CLAIMED': parameter('PL-ACME-EU-0002'),
  'cancelPayoutLink PAYOUT_LINK_NOT_CANCELLABLE': parameter('PL-ACME-EU-0006'),
  'createBill REGION_CURRENCY_MISMATCH': ({ send }) => send({ ...US, body: bill() }),
  'createBill INVALID_BILL_REFERENCE': body(bill({ uniqueReferenceIdentifier: '!' })),
  'updateBill INCONSISTENT_BILL_UPDATE': body({ status: 'PAID', openAmount: '1' }),
  async 'updateBill BILL_CANCELLED'({ send }) {
    await send({ body: { status: 'CANCELLED' } })
    return send()
  },
  async 'uploadBillDocument BILL_CANCELLED'({ send, other }) {
    await other('PATCH', '/api/v1/bills/BILL-EU-2017', { body: { status: 'CANCELLED' } })
    return send(upload())
  },
  async 'uploadBillDocument INVALID_FIELD'({ send }) {
    for (let n = 0; n < 50; n++) await send(upload())
    return send(upload())
  },
  'uploadBillDocument INVALID_BILL_REFERENCE': ({ send }) => send({ parameter: '!', ...upload() }),
  'uploadBillDocument MISSING_FIELD': ({ send }) => send(upload({ name: 'other' })),
  'uploadBillDocument UNSUPPORTED_MEDIA_TYPE': ({ send }) => send(upload({ content: 'plain text' })),
  'updateCounterparty IMMUTABLE_FIELD': body({ counterpartyReference: 'CPTY-0002', remarks: 'x' }),

  'getServerMetadata INVALID_QUERY_PARAMETER': query('client='),
  'searchRecords CLIENT_NOT_FOUND': query('client=unknown&q=x'),
  'describeScenario SCENARIO_NOT_FOUND': parameter('nothing'),
  'runScenario SCENARIO_NOT_FOUND': parameter('nothing'),
  'runScenario MISSING_FIELD': body({ amount: '' }),
  'runScenario INVALID_BILL_REFERENCE': body({ uniqueReferenceIdentifier: '!' }, { parameter: 'bill-paid' }),
  'runScenario REGION_CURRENCY_MISMATCH': body({ region: 'US' }, { parameter: 'bill-paid' }),
  'runScenario MANDATE_NOT_FOUND': body({ mandateReference: 'MND-9999' }),
  'runScenario COLLECTION_NOT_FOUND': body({ collectionReference: 'COL-9999' }),
  'runScenario PAYOUT_LINK_NOT_FOUND': body({ payoutLinkId: 'pl_99999' }, { parameter: 'payout-link-paid' }),
  'runScenario BILL_NOT_FOUND': body({ uniqueReferenceIdentifier: 'INV-9999' }, { parameter: 'bill-paid' }),
  async 'runScenario DUPLICATE_REFERENCE'({ send, other, control }) {
    // The mandate raises the number of the scenario by one.
    const number = String((await control('GET', '/state')).body.sequence + 2).padStart(4, '0')
    await other('POST', '/api/v1/mandates', { body: mandate({ mandateReference: `MND-SCN-${number}` }) })
    return send()
  },
  async 'runScenario MANDATE_ALREADY_USED'({ send, other }) {
    await other('POST', '/api/v1/mandates', { body: mandate({ type: 'ONE_OFF' }) })
    await send({ body: { mandateReference: 'MND-0001' } })
    return send({ body: { mandateReference: 'MND-0001' } })
  },
  async 'runScenario MANDATE_NOT_ACTIVE'({ send, other, control }) {
    await other('POST', '/api/v1/mandates', { body: mandate() })
    await other('POST', '/api/v1/direct-debit', { body: collection() })
    await control('POST', '/mandates/MND-0001/expire')
    return send({ parameter: 'mandate-cancelled-with-pending', body: { collectionReference: 'COL-0001' } })
  },
  async 'runScenario BILL_CANCELLED'({ send, other }) {
    await other('PATCH', '/api/v1/bills/BILL-EU-2017', { body: { status: 'CANCELLED' } })
    return send({ parameter: 'bill-paid', body: { uniqueReferenceIdentifier: 'BILL-EU-2017' } })
  },
  'runScenario ILLEGAL_TRANSITION': body({ reasonCode: 'CNOR' }),
  'verifyCredentials INVALID_CLIENT': body({ client_id: 'sandbox-client', client_secret: 'wrong' }),
  'removeClient INVALID_FIELD': parameter('x'.repeat(1001)),
  'removeClient CLIENT_NOT_FOUND': parameter('unknown'),
  'setCollectionOutcome ILLEGAL_TRANSITION': body({ outcome: 'RETURNED-AM04' }, { parameter: 'COL-ACME-0055' }),
  'seedRecords INVALID_FIELD': body([]),
  'seedRecords INVALID_BILL_REFERENCE': seeds({ bills: [bill({ uniqueReferenceIdentifier: '!' })] }),
  'seedRecords REGION_CURRENCY_MISMATCH': seeds({ payoutLinks: [payoutLink({ payoutMethod: 'US-ACH' })] }),
  'seedRecords AMOUNT_LIMIT_EXCEEDED': seeds({ payoutLinks: [payoutLink(TOO_MUCH)] }),
  'seedRecords ORIGIN_NOT_ALLOWED': seeds({ payoutLinks: [payoutLink(EMBEDDED)] }),
  'seedRecords INCONSISTENT_BILL_UPDATE': seeds({ bills: [bill({ status: 'PAID', openAmount: '1' })] }),
  'seedRecords MANDATE_NOT_FOUND': seeds({ collections: [collection({ mandateReference: 'MND-9999' })] }),
  'seedRecords MANDATE_ALREADY_USED': seeds({
    mandates: [mandate({ type: 'ONE_OFF' })],
    collections: [collection(), collection({ collectionReference: 'COL-0002' })],
  }),
  'seedRecords DUPLICATE_REFERENCE': seeds({ mandates: [mandate({ mandateReference: 'MND-ACME-0001' })] }),
  'forkClient DUPLICATE_REFERENCE': body({ clientId: 'sandbox-client' }),
  async 'restoreState CLIENT_NOT_FOUND'({ send, control }) {
    return send({ body: (await control('GET', '/state')).body, query: 'client=unknown' })
  },
  async 'restoreState DUPLICATE_REFERENCE'({ send, control }) {
    const state = (await control('GET', '/state')).body
    const sequence = state.sequence + 1
    const copy = { ...state.mandates[0], sequence, timeline: [] }
    return send({ body: { ...state, sequence, mandates: [...state.mandates, copy] } })
  },
  async 'restoreState MANDATE_NOT_FOUND'({ send, control }) {
    const state = (await control('GET', '/state')).body
    return send({ body: { ...state, mandates: state.mandates.slice(1) } })
  },
  async 'restoreState INVALID_BILL_REFERENCE'({ send, control }) {
    const state = (await control('GET', '/state')).body
    const [first] = state.bills
    const wrong = { ...first, record: { ...first.record, uniqueReferenceIdentifier: '!' } }
    return send({ body: { ...state, bills: [wrong] } })
  },
  async 'explainBill MISSING_FIELD'({ send, other }) {
    await other('POST', '/api/v1/bills', {
      region: 'US',
      body: bill({ uniqueReferenceIdentifier: 'INV-ACME-2001', currency: 'USD' }),
    })
    return send()
  },
  async 'claimPayoutLink ILLEGAL_TRANSITION'({ send }) {
    await send({ body: CLAIM })
    return send({ body: CLAIM })
  },
}

/** A state, reached by other moves, in which a move is not legal. */
async function illegalMove({ operation, send }: Scene): Promise<Answer> {
  if (operation.path.includes('/mandates/')) return send({ parameter: 'MND-ACME-0010', body: {} })
  if (operation.path.includes('/payout-links/')) return send({ parameter: 'PL-ACME-EU-0006' })
  return send({ parameter: 'COL-ACME-0055', body: operation.path.endsWith('/reject') ? { reasonCode: 'AC01' } : {} })
}

/** A second creation of the example's record. */
const again: Provocation = async ({ send }) => {
  await send()
  return send()
}

/** Codes that are answered before a request has a route, or by hooks that all routes share: tests elsewhere provoke them. */
const ELSEWHERE: Record<string, string> = {
  REQUEST_TIMEOUT: 'http/parser.test.ts: a part of a request arrives',
  HEADERS_TOO_LARGE: 'http/parser.test.ts: refused by the parser',
}
/** Faults, which provoke the others, are for operations below /api/v1. */
const ELSEWHERE_WITHOUT_FAULTS: Record<string, string> = {
  ...ELSEWHERE,
  INTERNAL_ERROR: 'http/failure.test.ts: no other call fails on purpose',
  SERVICE_UNAVAILABLE: 'http/closing.test.ts: the server closes',
}

const locked = build(t, { adminToken: 'admin' })
/** A server whose clients are full with one record. */
const full = build(t, { maxRecords: 1 })

for (const [documentPath, file] of Object.entries(DOCUMENTS)) {
  t.test(`decisions §2: ${file}: every error code of every operation can be met there`, async t => {
    const document = (await call(app, 'GET', documentPath)).body
    const wanted: string[] = []
    const met: string[] = []
    for (const operation of operationsOf(document)) {
      const elsewhere = operation.path.startsWith('/api/') ? ELSEWHERE : ELSEWHERE_WITHOUT_FAULTS
      for (const code of operation.codes) {
        if (elsewhere[code]) continue
        wanted.push(`${operation.id} ${catalogue[code].status} ${code}`)
        const provoke =
          SPECIFIC[`${operation.id} ${code}`] ??
          (code === 'ILLEGAL_TRANSITION' ? illegalMove : undefined) ??
          (code === 'DUPLICATE_REFERENCE' ? again : undefined) ??
          GENERIC[code]
        const answer = await provoke?.(await open(operation))
        met.push(`${operation.id} ${answer?.status} ${answer?.body?.code}`)
        const required = { 401: 'www-authenticate', 405: 'allow', 429: 'retry-after' }[String(answer?.status)]
        const isBare = code === 'INVALID_CLIENT'
        if (required !== undefined && !isBare && answer?.headers[required] === undefined) {
          t.fail(`${operation.id} ${code} has no ${required}`)
        }
      }
    }
    t.ok(wanted.length > 100, `${wanted.length} codes`)
    t.same(met, wanted)
  })
}

t.test('decisions §2: POST /seed documents the codes of the records that the API refuses', async t => {
  const operations = operationsOf((await call(app, 'GET', '/openapi.json')).body)
  const seeding = operationsOf((await call(app, 'GET', '/_sandbox/openapi.json')).body)
  const documented = seeding.find(({ id }) => id === 'seedRecords')?.codes
  const met = new Set<ErrorCode>()
  for (const [name, { path }] of Object.entries<Area>(areas)) {
    const writes = operations.filter(one => one.path.startsWith(`/api/v1/${path}`) && /^(create|update)/.test(one.id))
    const creation = writes.find(({ id }) => id.startsWith('create'))
    for (const operation of writes) {
      for (const code of operation.codes) {
        const scene = await open(operation)
        // An update is seeded as a record that has its members.
        let record: Json
        const send = (changes: Changes = {}) => {
          record = { ...(operation !== creation && creation && exampleRequest(creation).body), ...Object(changes.body) }
          return scene.send(changes)
        }
        await SPECIFIC[`${operation.id} ${code}`]?.({ ...scene, send })
        if (record === undefined) continue
        const answer = await scene.control('POST', '/seed', { records: { [name]: [record] } })
        if (answer.status >= 400) met.add(answer.body.code)
      }
    }
  }
  const wrong = [...met].filter(code => !documented?.includes(code))
  t.same(wrong, [])
  for (const { errors = [] } of Object.values<Area>(areas))
    t.same(
      errors.filter(code => !met.has(code)),
      [],
    )
})
