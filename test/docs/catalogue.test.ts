import t from 'tap'
import type { ErrorCode } from '../../src/core/errors.js'
import { catalogue } from '../../src/core/errors.js'
import type { Answer, Client } from '../helper.js'
import { bill, build, call, collection, connect, MONDAY, mandate, payoutLink, requestToken } from '../helper.js'
import { exchange, listen, request } from '../http/raw.js'

interface Scene {
  readonly t: Parameters<typeof build>[0]
  readonly client: Client
}

type Answered = Pick<Answer, 'status' | 'body'> | undefined

const MANDATES = '/api/v1/mandates'
const COLLECTIONS = '/api/v1/direct-debit'
const LINKS = '/api/v1/payout-links'
const BILLS = '/api/v1/bills'

const US_CLAIM = {
  accountHolderName: 'Jane Doe',
  accountIdentifier: '000123456789',
  branchIdentifier: { type: 'ROUTING', value: '021000021' },
  accountType: 'CHECKING',
}

async function createLink({ client }: Scene): Promise<string> {
  const usLink = payoutLink({ currency: 'USD', payoutMethod: 'US-ACH' })
  return (await client.post(LINKS, usLink, { region: 'US' })).body.payoutLinkId
}

const cancelLink = ({ client }: Scene, payoutLinkId: string) =>
  client.patch(`${LINKS}/${payoutLinkId}/cancel`, { cancellationComment: 'No' }, { region: 'US' })

/** One request for each code, in the order of the catalogue, and its refusal. */
const provocations: Record<ErrorCode, (scene: Scene) => Promise<Answered>> = {
  MALFORMED_REQUEST: ({ client }) => client.post(MANDATES, '{"mandateReference":'),
  MISSING_FIELD: ({ client }) => client.post(MANDATES, {}),
  INVALID_FIELD: ({ client }) => client.post(MANDATES, mandate({ type: 'SOMETIMES' })),
  INVALID_QUERY_PARAMETER: ({ client }) => client.get(`${COLLECTIONS}?limit=501`),
  INVALID_CURSOR: ({ client }) => client.get(`${COLLECTIONS}?cursor=nonsense`),
  INVALID_REGION: ({ client }) => client.get(MANDATES, { region: 'GB' }),
  INVALID_BILL_REFERENCE: ({ client }) => client.get(`${BILLS}/a.b.c`),
  REGION_CURRENCY_MISMATCH: ({ client }) => client.post(BILLS, bill({ currency: 'USD' })),
  PAYOUT_METHOD_MISMATCH: ({ client }) => client.post(LINKS, payoutLink({ payoutMethod: 'UK-BACS' })),
  AMOUNT_LIMIT_EXCEEDED: ({ client }) =>
    client.post(LINKS, payoutLink({ amount: '1000000.01', currency: 'GBP', payoutMethod: 'UK-FAST' }), {
      region: 'UK',
    }),
  COLLECTION_DATE_TOO_EARLY: ({ client }) => client.post(COLLECTIONS, collection({ collectionDate: '2026-11-03' })),
  COLLECTION_DATE_TOO_LATE: ({ client }) => client.post(COLLECTIONS, collection({ collectionDate: '2027-11-03' })),
  IMMUTABLE_FIELD: ({ client }) =>
    client.patch('/api/v1/counterparties/CPTY-0001', { counterpartyReference: 'CPTY-0002', remarks: 'x' }),
  async INCONSISTENT_BILL_UPDATE({ client }) {
    await client.post(BILLS, bill())
    return client.patch(`${BILLS}/INV-2026-001`, { status: 'PAID', openAmount: '1' })
  },
  UNSUPPORTED_GRANT_TYPE: ({ client }) => requestToken(client.app, { client_id: client.clientId, grant_type: 'x' }),
  INVALID_CLIENT: ({ client }) => requestToken(client.app, { client_id: client.clientId, client_secret: 'wrong' }),
  MISSING_TOKEN: ({ client }) => call(client.app, 'GET', MANDATES, { region: 'EU' }),
  INVALID_TOKEN: ({ client }) => client.get(MANDATES, { headers: { authorization: 'Bearer nonsense' } }),
  async EXPIRED_TOKEN({ client }) {
    await client.control('POST', '/clock/advance', { by: 'PT1H' })
    return client.get(MANDATES)
  },
  ADMIN_TOKEN_REQUIRED: ({ t }) => call(build(t, { adminToken: 'admin' }), 'GET', '/_sandbox'),
  ORIGIN_NOT_ALLOWED: ({ client }) =>
    client.post(LINKS, payoutLink({ uiMode: 'embedded', origin: 'https://shop.example' })),
  FORBIDDEN_ORIGIN: ({ client }) => client.get(MANDATES, { headers: { origin: 'https://shop.example' } }),
  FORBIDDEN_HOST: ({ client }) => call(client.app, 'GET', '/_sandbox', { headers: { host: 'shop.example' } }),
  async INVALID_PAGE_TOKEN(scene) {
    const body = { action: 'decline', token: 'forged' }
    return call(scene.client.app, 'POST', `/pay/${await createLink(scene)}`, { body })
  },
  ROUTE_NOT_FOUND: ({ client }) => client.get('/api/v1/mandate'),
  MANDATE_NOT_FOUND: ({ client }) => client.get(`${MANDATES}/MND-9999`),
  COLLECTION_NOT_FOUND: ({ client }) => client.get(`${COLLECTIONS}/COL-9999`),
  PAYOUT_LINK_NOT_FOUND: scene => cancelLink(scene, 'pl_99999'),
  BILL_NOT_FOUND: ({ client }) => client.get(`${BILLS}/INV-9999`),
  COUNTERPARTY_NOT_FOUND: ({ client }) => client.patch('/api/v1/counterparties/CPTY-9999', { remarks: 'x' }),
  CLIENT_NOT_FOUND: ({ client }) => call(client.app, 'GET', '/_sandbox/clock?client=nobody'),
  FAULT_NOT_FOUND: ({ client }) => client.control('DELETE', '/faults/fault-9'),
  OUTCOME_NOT_FOUND: ({ client }) => client.control('DELETE', '/outcomes/outcome-9'),
  METHOD_NOT_ALLOWED: ({ client }) => client.send('PUT', MANDATES),
  async REQUEST_TIMEOUT({ t }) {
    const port = await listen(build(t, { requestTimeout: 20 }))
    return (await exchange(port, 'GET / HTTP/1.1\r\n'))[0]
  },
  async DUPLICATE_REFERENCE({ client }) {
    await client.post(MANDATES, mandate())
    return client.post(MANDATES, mandate())
  },
  async MANDATE_NOT_ACTIVE({ client }) {
    await client.post(MANDATES, mandate())
    await client.delete(`${MANDATES}/MND-0001`)
    return client.delete(`${MANDATES}/MND-0001`)
  },
  async MANDATE_ALREADY_USED({ client }) {
    await client.post(MANDATES, mandate({ type: 'ONE_OFF' }))
    await client.post(COLLECTIONS, collection())
    return client.post(COLLECTIONS, collection({ collectionReference: 'COL-0002' }))
  },
  async PAYOUT_LINK_ALREADY_CLAIMED(scene) {
    const payoutLinkId = await createLink(scene)
    await scene.client.control('POST', `/payout-links/${payoutLinkId}/claim`, US_CLAIM)
    return cancelLink(scene, payoutLinkId)
  },
  async PAYOUT_LINK_NOT_CANCELLABLE(scene) {
    const payoutLinkId = await createLink(scene)
    await cancelLink(scene, payoutLinkId)
    return cancelLink(scene, payoutLinkId)
  },
  async BILL_CANCELLED({ client }) {
    await client.post(BILLS, bill())
    await client.patch(`${BILLS}/INV-2026-001`, { status: 'CANCELLED' })
    return client.patch(`${BILLS}/INV-2026-001`, { dueDate: '2026-12-24' })
  },
  async ILLEGAL_TRANSITION({ client }) {
    await client.post(MANDATES, mandate())
    await client.post(COLLECTIONS, collection())
    return client.control('POST', '/direct-debit/COL-0001/settle', {})
  },
  async OPERATION_SUNSET({ client }) {
    const gone = { operation: 'GET /api/v1/mandates', deprecatedSince: MONDAY, sunset: MONDAY, goneAfterSunset: true }
    await client.control('PUT', '/deprecations', { data: [gone] })
    return client.get(MANDATES)
  },
  async PAYOUT_LINK_CLOSED(scene) {
    const payoutLinkId = await createLink(scene)
    await cancelLink(scene, payoutLinkId)
    return call(scene.client.app, 'GET', `/pay/${payoutLinkId}`, { headers: { accept: 'application/json' } })
  },
  PAYLOAD_TOO_LARGE: ({ client }) => client.post(MANDATES, 'x'.repeat(1024 * 1024 + 1)),
  // A text above the maximum of V8 is the error of a large answer.
  ANSWER_TOO_LARGE: ({ t }) => call(build(t, { publicUrl: () => 'x'.repeat(2 ** 30) }), 'GET', '/_sandbox/recording'),
  UNSUPPORTED_MEDIA_TYPE: ({ client }) => client.post(MANDATES, '{}', { headers: { 'content-type': 'text/plain' } }),
  async HEADERS_TOO_LARGE({ t }) {
    const port = await listen(build(t))
    return (await exchange(port, request('GET /', { 'x-long': 'x'.repeat(20_000) })))[0]
  },
  async RATE_LIMITED({ client }) {
    await client.control('POST', '/faults', { effect: { kind: 'error', status: 429 } })
    return client.get(MANDATES)
  },
  async INTERNAL_ERROR({ t }) {
    const app = build(t)
    app.get('/broken', () => {
      throw new Error('a secret of the inside')
    })
    return call(app, 'GET', '/broken')
  },
  async SERVICE_UNAVAILABLE({ t }) {
    return requestToken(build(t, { maxTenants: 1 }))
  },
}

t.test('interface, Errors 1: every code of the catalogue can be met, with its status and in the envelope', async t => {
  const app = build(t)
  const seen = []
  for (const [code, provoke] of Object.entries(provocations)) {
    const answer = await provoke({ t, client: await connect(app, code) })
    const { field, message } = answer?.body ?? {}
    const isField = field === null || typeof field === 'string'
    const isMessage = /^[^\n]{10,400}$/.test(message) && !message.includes('secret of the inside')
    seen.push([answer?.body.code, answer?.status, isField, isMessage])
  }
  t.same(
    seen,
    Object.entries(catalogue).map(([code, { status }]) => [code, status, true, true]),
  )
})
