import t, { type Test } from 'tap'
import type { Answer, Client } from '../helper.js'
import { build, call, connect, payoutLink } from '../helper.js'

const LINKS = '/api/v1/payout-links'
const ORIGIN = 'https://shop.example'

function refused(t: Test, { status, body }: Answer, expected: [number, string, string | null], what = expected[1]) {
  t.same([status, body?.code, body?.field], expected, what)
  t.same(Object.keys(body ?? {}).sort(), ['code', 'field', 'message'], `${what}: members`)
}

const invalid = (field: string | null): [number, string, string | null] => [400, 'INVALID_FIELD', field]
const missing = (field: string): [number, string, string] => [400, 'MISSING_FIELD', field]
const illegal: [number, string, null] = [409, 'ILLEGAL_TRANSITION', null]

const REGION_OF = { EUR: 'EU', USD: 'US', GBP: 'UK' } as const
type Currency = keyof typeof REGION_OF
const METHODS: Readonly<Record<string, Currency>> = {
  'SEPA-CT': 'EUR',
  'SEPA-INSTANT': 'EUR',
  'US-ACH': 'USD',
  'UK-BACS': 'GBP',
  'UK-FAST': 'GBP',
}
/** A request for a method, in the currency that belongs to it. */
const linkBy = (payoutMethod: string, changes: object = {}) =>
  payoutLink({ payoutMethod, currency: METHODS[payoutMethod], ...changes })

/** What a recipient fills in, and what the method asks for (decisions §8). */
const sepaClaim = (changes: object = {}) => ({
  accountHolderName: 'Jane Doe',
  accountIdentifier: 'DE89370400440532013000',
  ...changes,
})
const usClaim = (changes: object = {}) => ({
  accountHolderName: 'Jane Doe',
  accountIdentifier: '12345678',
  branchIdentifier: { type: 'ROUTING', value: '021000021' },
  accountType: 'CHECKING',
  ...changes,
})
const ukClaim = (changes: object = {}) => ({
  accountHolderName: 'Jane Doe',
  accountIdentifier: '12345678',
  branchIdentifier: { type: 'SORT', value: '123456' },
  ...changes,
})
const CLAIMS: Readonly<Record<string, object>> = {
  'SEPA-CT': sepaClaim(),
  'SEPA-INSTANT': sepaClaim(),
  'US-ACH': usClaim(),
  'UK-BACS': ukClaim(),
  'UK-FAST': ukClaim(),
}

/** A client in the region of the method, with its clock at `at`. */
const connectFor = (t: Test, payoutMethod: string, at?: string) =>
  connect(build(t, at === undefined ? {} : { clock: at }), 'acme', REGION_OF[METHODS[payoutMethod] as Currency])

async function createLink(client: Client, body: object = payoutLink()): Promise<string> {
  const answer = await client.post(LINKS, body)
  if (answer.status !== 201) throw new Error(`not created: ${JSON.stringify(answer.body)}`)
  return answer.body.payoutLinkId
}

const cancel = (client: Client, id: string, cancellationComment: unknown = 'changed my mind', region?: string) =>
  client.patch(`${LINKS}/${id}/cancel`, { cancellationComment }, region === undefined ? {} : { region })
const explain = async (client: Client, id: string) => (await client.control('GET', `/payout-links/${id}`)).body
const verb = (client: Client, id: string, name: string, body?: object) =>
  client.control('POST', `/payout-links/${id}/${name}`, body)

/** Brings a new SEPA-CT link into a state, by the moves that lead there. */
const INTO: Readonly<Record<string, readonly string[]>> = {
  ACTIVE: [],
  CLAIMED: ['claim'],
  PROCESSING: ['claim', 'process'],
  PAID: ['claim', 'process', 'pay'],
  FAILED: ['claim', 'process', 'fail'],
  CANCELLED: ['cancel'],
  EXPIRED: ['expire'],
  REJECTED: ['decline'],
}
const bodyOf = (name: string) =>
  name === 'claim' ? sepaClaim() : name === 'decline' ? { remarks: 'no, thank you' } : undefined

async function linkIn(client: Client, state: string): Promise<string> {
  const id = await createLink(client)
  for (const name of INTO[state] as readonly string[]) {
    await (name === 'cancel' ? cancel(client, id) : verb(client, id, name, bodyOf(name)))
  }
  return id
}

// ------------------------------------------------------------------------------------------------------ creation

t.test('decisions §8: a link is answered with its request, defaults, id, url and times', async t => {
  const client = await connect(build(t))
  const request = {
    amount: '25.50',
    currency: 'EUR',
    payoutMethod: 'SEPA-CT',
    counterpartyReference: 'CPTY-0001',
    accountHolderName: 'Jane Doe',
    uiMode: 'hosted',
    expiryPeriod: 'P2D',
    origin: ORIGIN,
    remarks: 'thanks',
  }
  const { status, body } = await client.post(LINKS, request)
  t.equal(status, 201)
  const { payoutLinkId, url, ...rest } = body
  t.same(rest, {
    ...request,
    status: 'ACTIVE',
    expiresAt: '2026-11-04T09:00:00Z',
    createdAt: '2026-11-02T09:00:00Z',
    updatedAt: '2026-11-02T09:00:00Z',
  })
  t.match(payoutLinkId, /^[-_a-zA-Z0-9]{7,90}$/, 'interface, cancel: an id that the cancel path takes')
  t.ok(URL.canParse(url))
  t.ok(url.startsWith('http://127.0.0.1:8080/') && url.includes(payoutLinkId))
})

t.test('decisions §8: what may be left out is left out, and the defaults are hosted and seven days', async t => {
  const { status, body } = await (await connect(build(t))).post(LINKS, payoutLink())
  t.equal(status, 201)
  const { payoutLinkId, url, ...rest } = body
  t.same(rest, {
    amount: '25',
    currency: 'EUR',
    payoutMethod: 'SEPA-CT',
    uiMode: 'hosted',
    expiryPeriod: 'P7D',
    status: 'ACTIVE',
    expiresAt: '2026-11-09T09:00:00Z',
    createdAt: '2026-11-02T09:00:00Z',
    updatedAt: '2026-11-02T09:00:00Z',
  })
})

t.test('decisions §8: no two links have the same id', async t => {
  const client = await connect(build(t))
  const ids = new Set<string>()
  for (let count = 0; count < 20; count++) ids.add(await createLink(client))
  t.equal(ids.size, 20)
})

t.test('decisions §8: required members are named when they are missing, empty, or there is no body', async t => {
  const client = await connect(build(t))
  for (const field of ['amount', 'currency', 'payoutMethod']) {
    refused(t, await client.post(LINKS, payoutLink({ [field]: undefined })), missing(field), `${field} missing`)
    refused(t, await client.post(LINKS, payoutLink({ [field]: '' })), missing(field), `${field} empty`)
    for (const wrong of [null, 25, true, ['EUR'], { a: 1 }]) {
      const answer = await client.post(LINKS, payoutLink({ [field]: wrong }))
      refused(t, answer, invalid(field), `${field} ${JSON.stringify(wrong)}`)
    }
  }
  refused(t, await client.post(LINKS), missing('amount'), 'no body')
  refused(t, await client.post(LINKS, []), invalid(null), 'an array')
})

t.test('interface, amount: a decimal string of at most 2 decimals without leading zeros', async t => {
  const client = await connect(build(t))
  for (const amount of ['1', '1.5', '1.05', '999999999.99']) {
    const answer = await client.post(LINKS, payoutLink({ amount }))
    t.same([answer.status, answer.body.amount], [201, amount], amount)
  }
  for (const amount of ['0', '-1', '+1', '01', '1.', '.5', '1.234', '1,00', '1e3', ' 1', '1 ', '1\n', 'NaN', '١']) {
    refused(t, await client.post(LINKS, payoutLink({ amount })), invalid('amount'), JSON.stringify(amount))
  }
  refused(t, await client.post(LINKS, payoutLink({ amount: '1000000000' })), invalid('amount'), 'ten digits')
})

t.test('decisions §8: each method carries at most its limit', async t => {
  const app = build(t)
  for (const [method, most, above] of [
    ['UK-BACS', '20000000.00', '20000000.01'],
    ['UK-FAST', '1000000.00', '1000000.01'],
  ] as const) {
    const client = await connect(app, 'acme', 'UK')
    t.equal((await client.post(LINKS, linkBy(method, { amount: most }))).status, 201, `${method} ${most}`)
    for (const amount of [above, '999999999.99']) {
      const answer = await client.post(LINKS, linkBy(method, { amount }))
      refused(t, answer, [400, 'AMOUNT_LIMIT_EXCEEDED', 'amount'], `${method} ${amount}`)
    }
  }
  for (const method of ['SEPA-CT', 'SEPA-INSTANT', 'US-ACH']) {
    const client = await connect(app, 'acme', REGION_OF[METHODS[method] as Currency])
    t.equal((await client.post(LINKS, linkBy(method, { amount: '999999999.99' }))).status, 201, method)
  }
})

t.test('decisions §4, §8: every region, currency and method that do not belong together are refused', async t => {
  const app = build(t)
  for (const region of ['EU', 'US', 'UK']) {
    const client = await connect(app, 'acme', region)
    for (const currency of ['EUR', 'USD', 'GBP'] as const) {
      for (const [payoutMethod, right] of Object.entries(METHODS)) {
        const what = `${region} ${currency} ${payoutMethod}`
        const answer = await client.post(LINKS, payoutLink({ currency, payoutMethod }))
        if (REGION_OF[currency] !== region) {
          refused(t, answer, [400, 'REGION_CURRENCY_MISMATCH', 'currency'], what)
        } else if (right !== currency) {
          refused(t, answer, [400, 'PAYOUT_METHOD_MISMATCH', 'payoutMethod'], what)
        } else {
          t.same([answer.status, answer.body.payoutMethod, answer.body.currency], [201, payoutMethod, currency], what)
        }
      }
    }
  }
})

t.test('interface, Payout link: currency and payoutMethod are closed lists', async t => {
  const client = await connect(build(t))
  for (const currency of ['INR', 'eur', 'EURO', 'CHF']) {
    refused(t, await client.post(LINKS, payoutLink({ currency })), invalid('currency'), currency)
  }
  for (const payoutMethod of ['sepa-ct', 'SEPA', 'SEPA_CT', 'UK-CHAPS', 'toString']) {
    refused(t, await client.post(LINKS, payoutLink({ payoutMethod })), invalid('payoutMethod'), payoutMethod)
  }
})

t.test('interface, What the service does: links are created in EU, US and UK alone', async t => {
  const client = await connect(build(t))
  for (const region of ['IN', 'GB', 'eu', 'DE']) {
    const answer = await client.post(LINKS, payoutLink(), { region })
    refused(t, answer, [400, 'INVALID_REGION', 'x-region'], region)
    if (region === 'GB') t.match(answer.body.message, /UK/, 'decisions §2: GB is told that UK replaced it')
  }
  refused(t, await client.post(LINKS, payoutLink(), { region: null }), missing('x-region'), 'no region')
})

t.test('decisions §8, §9: optional fields have their limits', async t => {
  const client = await connect(build(t))
  const cases: [string, string[], string[]][] = [
    ['accountHolderName', ['x', 'x'.repeat(140), '💶'.repeat(140)], ['', 'x'.repeat(141), '💶'.repeat(141)]],
    ['remarks', ['x', 'x'.repeat(256), '💶'.repeat(256)], ['', 'x'.repeat(257), '💶'.repeat(257)]],
    ['counterpartyReference', ['abc-5', 'x'.repeat(50)], ['', 'abcd', 'x'.repeat(51), 'abc_5', 'abc 5', 'ábcde']],
    ['uiMode', ['hosted'], ['', 'HOSTED', 'iframe']],
    ['origin', [ORIGIN], ['']],
  ]
  for (const [field, right, wrong] of cases) {
    for (const value of right) {
      const answer = await client.post(LINKS, payoutLink({ [field]: value }))
      t.same([answer.status, answer.body[field]], [201, value], `${field} ${value.slice(0, 20)} (${value.length})`)
    }
    for (const value of [...wrong, null, 7, {}]) {
      const what = `${field} ${JSON.stringify(value).slice(0, 20)}`
      refused(t, await client.post(LINKS, payoutLink({ [field]: value })), invalid(field), what)
    }
  }
})

t.test('decisions §1: members that the interface does not name are ignored with a hint, and not stored', async t => {
  const client = await connect(build(t))
  const answer = await client.post(LINKS, payoutLink({ status: 'PAID', payoutLinkId: 'mine-0001', colour: 'red' }))
  t.equal(answer.status, 201)
  t.match(answer.headers['sandbox-hint'], /status.*payoutLinkId.*colour/)
  t.equal(answer.body.status, 'ACTIVE')
  t.not(answer.body.payoutLinkId, 'mine-0001')
  t.notOk('colour' in (await explain(client, answer.body.payoutLinkId)).record)
})

// -------------------------------------------------------------------------------------------------- expiryPeriod

t.test('interface, Limits; decisions §8: expiryPeriod is bounded, for each uiMode by its own bounds', async t => {
  const client = await connect(build(t))
  await client.control('PUT', '/settings', { allowedOrigins: [ORIGIN] })
  const cases: ['hosted' | 'embedded', Record<string, string>, string[]][] = [
    [
      'embedded',
      {
        PT10M: '2026-11-02T09:10:00Z',
        pt10m: '2026-11-02T09:10:00Z',
        PT600S: '2026-11-02T09:10:00Z',
        pt12h: '2026-11-02T21:00:00Z',
        PT12H: '2026-11-02T21:00:00Z',
        PT720M: '2026-11-02T21:00:00Z',
        pt11h59m60s: '2026-11-02T21:00:00Z',
      },
      ['PT9M59S', 'pt9m59s', 'PT0S', 'PT12H1S', 'pt12h1s', 'P1D', 'P30D', 'P1W'],
    ],
    [
      'hosted',
      {
        PT10M: '2026-11-02T09:10:00Z',
        pt10m: '2026-11-02T09:10:00Z',
        PT12H1S: '2026-11-02T21:00:01Z',
        P1W: '2026-11-09T09:00:00Z',
        p1dt2h3m4s: '2026-11-03T11:03:04Z',
        P30D: '2026-12-02T09:00:00Z',
        p30d: '2026-12-02T09:00:00Z',
        PT720H: '2026-12-02T09:00:00Z',
      },
      ['PT9M59S', 'pt9m59s', 'PT0S', 'P30DT1S', 'p30dt1s', 'P31D', 'PT720H1S', 'P5W'],
    ],
  ]
  for (const [uiMode, right, wrong] of cases) {
    const request = (expiryPeriod: string) => payoutLink({ uiMode, origin: ORIGIN, expiryPeriod })
    for (const [expiryPeriod, expiresAt] of Object.entries(right)) {
      const { status, body } = await client.post(LINKS, request(expiryPeriod))
      const what = `${uiMode} ${expiryPeriod}`
      t.same([status, body.expiresAt, body.expiryPeriod], [201, expiresAt, expiryPeriod], what)
    }
    for (const expiryPeriod of wrong) {
      const answer = await client.post(LINKS, request(expiryPeriod))
      refused(t, answer, invalid('expiryPeriod'), `${uiMode} ${expiryPeriod}`)
    }
  }
})

t.test('decisions §8: the default of an embedded link is one hour', async t => {
  const client = await connect(build(t))
  await client.control('PUT', '/settings', { allowedOrigins: [ORIGIN] })
  const { status, body } = await client.post(LINKS, payoutLink({ uiMode: 'embedded', origin: ORIGIN }))
  t.same([status, body.expiryPeriod, body.expiresAt], [201, 'PT1H', '2026-11-02T10:00:00Z'])
})

t.test('decisions §8: what is no ISO 8601 duration is refused', async t => {
  const client = await connect(build(t))
  const wrong = ['', 'P', 'PT', 'P1DT', '1D', '10m', '600', 'P1M', 'P1Y', '-PT10M', '+PT10M', 'PT10M ', 'PT10', 'P1H']
  for (const expiryPeriod of [...wrong, `P${'9'.repeat(400)}D`, 600, null]) {
    const answer = await client.post(LINKS, payoutLink({ expiryPeriod }))
    refused(t, answer, invalid('expiryPeriod'), JSON.stringify(expiryPeriod).slice(0, 40))
  }
})

// -------------------------------------------------------------------------------------------------------- origin

t.test('interface, Payout link uiMode rules: an embedded link needs an origin that is allowed', async t => {
  const client = await connect(build(t))
  const embedded = (origin?: string) => payoutLink({ uiMode: 'embedded', origin })
  refused(t, await client.post(LINKS, embedded()), missing('origin'), 'no origin')
  refused(t, await client.post(LINKS, embedded('')), invalid('origin'), 'empty')
  refused(t, await client.post(LINKS, embedded(ORIGIN)), [403, 'ORIGIN_NOT_ALLOWED', 'origin'], 'nothing is allowed')

  const settings = await client.control('PUT', '/settings', { allowedOrigins: [ORIGIN, 'http://localhost:3000'] })
  t.same([settings.status, settings.body.allowedOrigins], [200, [ORIGIN, 'http://localhost:3000']])
  for (const origin of [ORIGIN, 'http://localhost:3000']) {
    const answer = await client.post(LINKS, embedded(origin))
    t.same([answer.status, answer.body.origin, answer.body.uiMode], [201, origin, 'embedded'], origin)
  }
  for (const origin of [
    'http://shop.example',
    'https://shop.example:8443',
    'https://www.shop.example',
    'https://shop.example.evil.example',
    'https://localhost:3000',
    'http://localhost',
    'http://localhost:30001',
  ]) {
    refused(t, await client.post(LINKS, embedded(origin)), [403, 'ORIGIN_NOT_ALLOWED', 'origin'], origin)
  }
})

t.test('decisions §8: origins are the same when scheme, host and port are', async t => {
  const client = await connect(build(t))
  await client.control('PUT', '/settings', { allowedOrigins: ['https://shop.example:443', 'http://SHOP.example'] })
  for (const origin of [ORIGIN, 'https://shop.example:443', 'HTTPS://Shop.Example', 'http://shop.example:80']) {
    t.equal((await client.post(LINKS, payoutLink({ uiMode: 'embedded', origin }))).status, 201, origin)
  }
})

t.test('decisions §8: what is not scheme, host and port is no origin, for either uiMode', async t => {
  const client = await connect(build(t))
  const wrong = [
    'shop.example',
    '//shop.example',
    'https://',
    'https://shop.example/',
    'https://shop.example/pay',
    'https://shop.example?x=1',
    'https://shop.example#x',
    'https://user@shop.example',
    'https://shop.example:99999',
    'https://shop example',
    'javascript:alert(1)',
    'null',
    '*',
  ]
  for (const origin of wrong) {
    for (const uiMode of ['hosted', 'embedded']) {
      const answer = await client.post(LINKS, payoutLink({ uiMode, origin }))
      refused(t, answer, invalid('origin'), `${uiMode} ${origin}`)
    }
  }
})

t.test('decisions §8: a hosted link may name any origin', async t => {
  const answer = await (await connect(build(t))).post(LINKS, payoutLink({ origin: 'https://anyone.example' }))
  t.same([answer.status, answer.body.origin], [201, 'https://anyone.example'])
})

t.test('decisions §8: a refused link is not created', async t => {
  const client = await connect(build(t))
  await client.post(LINKS, payoutLink({ uiMode: 'embedded', origin: ORIGIN }))
  await client.post(LINKS, payoutLink({ currency: 'USD' }))
  const { body } = await call(client.app, 'GET', '/_sandbox/clients')
  const mine = body.data.find(({ clientId }: { clientId: string }) => clientId === 'acme')
  t.equal(mine.counts.payoutLinks, 0)
})

// -------------------------------------------------------------------------------------------------------- cancel

t.test('interface, cancel: 204 without content, and the comment is stored', async t => {
  const client = await connect(build(t))
  const id = await createLink(client)
  await client.advance({ by: 'PT1M' })
  const answer = await client.patch(`${LINKS}/${id}/cancel`, { cancellationComment: 'Überwiesen — “danke”' })
  t.same([answer.status, answer.body], [204, null])
  t.equal(answer.headers['content-type'], undefined)
  t.notOk(Number(answer.headers['content-length'] ?? 0) > 0)

  const { record, timeline, next, legal } = await explain(client, id)
  t.equal(record.status, 'CANCELLED')
  t.equal(record.cancellationComment, 'Überwiesen — “danke”')
  t.equal(record.updatedAt, '2026-11-02T09:01:00Z')
  t.equal(record.createdAt, '2026-11-02T09:00:00Z')
  t.same(
    timeline.map(({ seq, ...event }: { seq: number }) => event),
    [
      { at: '2026-11-02T09:00:00Z', kind: 'payoutLink', reference: id, from: null, to: 'ACTIVE', cause: 'api' },
      { at: '2026-11-02T09:01:00Z', kind: 'payoutLink', reference: id, from: 'ACTIVE', to: 'CANCELLED', cause: 'api' },
    ],
  )
  t.equal(next, null)
  t.same(legal, [])
})

t.test('decisions §8: whether a link can be cancelled depends on its state', async t => {
  const client = await connect(build(t))
  const expected: Record<string, [number, string, string] | null> = {
    ACTIVE: null,
    CLAIMED: [409, 'PAYOUT_LINK_ALREADY_CLAIMED', 'payoutLinkId'],
    PROCESSING: [409, 'PAYOUT_LINK_ALREADY_CLAIMED', 'payoutLinkId'],
    PAID: [409, 'PAYOUT_LINK_ALREADY_CLAIMED', 'payoutLinkId'],
    FAILED: [409, 'PAYOUT_LINK_NOT_CANCELLABLE', 'payoutLinkId'],
    CANCELLED: [409, 'PAYOUT_LINK_NOT_CANCELLABLE', 'payoutLinkId'],
    EXPIRED: [409, 'PAYOUT_LINK_NOT_CANCELLABLE', 'payoutLinkId'],
    REJECTED: [409, 'PAYOUT_LINK_NOT_CANCELLABLE', 'payoutLinkId'],
  }
  for (const [state, refusal] of Object.entries(expected)) {
    const id = await linkIn(client, state)
    const before = (await explain(client, id)).record
    t.equal(before.status, state, `a link that is ${state}`)
    const answer = await cancel(client, id, 'another comment')
    const after = (await explain(client, id)).record
    if (refusal === null) {
      t.same([answer.status, after.status, after.cancellationComment], [204, 'CANCELLED', 'another comment'], state)
    } else {
      refused(t, answer, refusal, state)
      t.same(after, before, `${state}: nothing has changed, the comment neither`)
    }
  }
})

t.test('interface, cancel: payoutLinkId has 7 to 90 letters, digits, hyphens and underscores', async t => {
  const client = await connect(build(t))
  const right = ['1234567', 'aZ-_09x', '-------', 'x'.repeat(90)]
  const records = { payoutLinks: right.map(payoutLinkId => payoutLink({ payoutLinkId })) }
  t.equal((await client.control('POST', '/seed', { records })).status, 200)
  for (const id of right) t.equal((await cancel(client, id)).status, 204, id)
  for (const id of [
    'x',
    '123456',
    'x'.repeat(91),
    'x'.repeat(5000),
    'abc.defg',
    'abc%20defg',
    '%C3%A4bcdefg',
    'abc~defg',
  ]) {
    refused(t, await cancel(client, id), invalid('payoutLinkId'), id.slice(0, 20))
  }
  for (const id of ['abcdefg', 'x'.repeat(89)]) {
    refused(t, await cancel(client, id), [404, 'PAYOUT_LINK_NOT_FOUND', 'payoutLinkId'], `unknown ${id.slice(0, 20)}`)
  }
})

t.test('interface, cancel: an identifier with a forward slash is a routing error, not a pattern mismatch', async t => {
  const client = await connect(build(t))
  for (const id of ['abc/defgh', 'abc%2Fdefgh', 'abc%2fdefgh', '%2F']) {
    refused(t, await cancel(client, id), [404, 'ROUTE_NOT_FOUND', null], id)
  }
})

t.test('interface, cancel: cancellationComment has 1 to 256 characters', async t => {
  const client = await connect(build(t))
  for (const comment of ['x', 'x'.repeat(256), '💶', '💶'.repeat(256), ' ', '\n', '"\\\u0000']) {
    const id = await createLink(client)
    t.equal((await cancel(client, id, comment)).status, 204, JSON.stringify(comment).slice(0, 20))
    t.equal((await explain(client, id)).record.cancellationComment, comment)
  }
  const id = await createLink(client)
  refused(t, await cancel(client, id, ''), missing('cancellationComment'), 'empty')
  refused(t, await client.patch(`${LINKS}/${id}/cancel`, {}), missing('cancellationComment'), 'missing')
  refused(t, await client.patch(`${LINKS}/${id}/cancel`), missing('cancellationComment'), 'no body')
  for (const comment of ['x'.repeat(257), '💶'.repeat(257), null, 7, true, ['x'], {}]) {
    const what = JSON.stringify(comment).slice(0, 20)
    refused(t, await cancel(client, id, comment), invalid('cancellationComment'), what)
  }
  t.equal((await explain(client, id)).record.status, 'ACTIVE', 'none of these has cancelled it')
})

t.test('decisions §1: a cancel body of another type is 415 with Accept-Patch', async t => {
  const client = await connect(build(t))
  const id = await createLink(client)
  const answer = await client.patch(`${LINKS}/${id}/cancel`, 'cancellationComment=x', {
    headers: { 'content-type': 'text/plain' },
  })
  refused(t, answer, [415, 'UNSUPPORTED_MEDIA_TYPE', 'content-type'])
  t.match(answer.headers['accept-patch'], /application\/json/)
})

t.test('decisions §1: unknown members of a cancel body are ignored, with a hint', async t => {
  const client = await connect(build(t))
  const id = await createLink(client)
  const answer = await client.patch(`${LINKS}/${id}/cancel`, { cancellationComment: 'x', reason: 'y' })
  t.equal(answer.status, 204)
  t.match(answer.headers['sandbox-hint'], /reason/)
})

t.test(
  'decisions §1: a cancel is refused for its path first, then its body, then its record, then its state',
  async t => {
    const client = await connect(build(t))
    const cancelled = await linkIn(client, 'CANCELLED')
    refused(t, await cancel(client, 'short', ''), invalid('payoutLinkId'), 'path before body')
    refused(t, await cancel(client, 'unknown-link', ''), missing('cancellationComment'), 'body before record')
    refused(t, await cancel(client, cancelled, ''), missing('cancellationComment'), 'body before state')
  },
)

t.test('decisions §4: a link of one region is not found in another, and stays as it is', async t => {
  const app = build(t)
  for (const [method, region] of [
    ['SEPA-CT', 'EU'],
    ['US-ACH', 'US'],
    ['UK-FAST', 'UK'],
  ] as const) {
    const client = await connect(app, 'acme', region)
    const id = await createLink(client, linkBy(method))
    for (const other of ['EU', 'US', 'UK'].filter(name => name !== region)) {
      const answer = await cancel(client, id, 'x', other)
      refused(t, answer, [404, 'PAYOUT_LINK_NOT_FOUND', 'payoutLinkId'], `${region} asked for in ${other}`)
    }
    for (const none of ['IN', 'GB']) {
      refused(t, await cancel(client, id, 'x', none), [400, 'INVALID_REGION', 'x-region'], none)
    }
    t.equal((await explain(client, id)).record.status, 'ACTIVE')
    t.equal((await cancel(client, id)).status, 204, `${region} in its own`)
  }
})

t.test('decisions §8: there is no way to read links under /api/v1', async t => {
  const client = await connect(build(t))
  const id = await createLink(client)
  const list = await client.get(LINKS)
  refused(t, list, [405, 'METHOD_NOT_ALLOWED', null], 'list')
  t.match(list.headers.allow, /POST/)
  t.notMatch(list.headers.allow, /GET/)
  refused(t, await client.get(`${LINKS}/${id}`), [404, 'ROUTE_NOT_FOUND', null], 'one')
  refused(t, await client.get(`${LINKS}/${id}/cancel`), [405, 'METHOD_NOT_ALLOWED', null], 'cancel')
  refused(t, await client.delete(`${LINKS}/${id}`), [404, 'ROUTE_NOT_FOUND', null], 'delete')
})

t.test('control plane: an unknown link is PAYOUT_LINK_NOT_FOUND, a malformed id INVALID_FIELD', async t => {
  const client = await connect(build(t))
  const unknown: [number, string, string] = [404, 'PAYOUT_LINK_NOT_FOUND', 'payoutLinkId']
  refused(t, await client.control('GET', '/payout-links/pl_unknown'), unknown, 'explain')
  refused(t, await client.control('GET', '/payout-links/short'), invalid('payoutLinkId'), 'malformed')
  for (const name of ['claim', 'decline', 'process', 'pay', 'fail', 'expire']) {
    refused(t, await verb(client, 'pl_unknown', name, bodyOf(name)), unknown, name)
  }
})

// --------------------------------------------------------------------------------------------------------- claim

t.test('decisions §8: a claim that has what the method asks for is taken', async t => {
  const app = build(t)
  for (const [method, claim] of Object.entries(CLAIMS)) {
    const client = await connect(app, 'acme', REGION_OF[METHODS[method] as Currency])
    const id = await createLink(client, linkBy(method))
    const { status, body } = await verb(client, id, 'claim', claim)
    t.equal(status, 200, method)
    t.equal(body.record.status, 'CLAIMED', method)
    t.same(body.record.claim, claim, `${method}: the record tells the claim`)
    t.same(
      body.timeline.map((event: { to: string; cause: string }) => [event.to, event.cause]),
      [
        ['ACTIVE', 'api'],
        ['CLAIMED', 'control'],
      ],
    )
  }
})

t.test('decisions §8: a SEPA claim needs a valid IBAN', async t => {
  for (const method of ['SEPA-CT', 'SEPA-INSTANT']) {
    const client = await connectFor(t, method)
    const id = await createLink(client, linkBy(method))
    for (const accountIdentifier of [
      'DE89370400440532013001',
      'DE8937040044053201300',
      'DE89 3704 0044 0532 0130 00',
      'de89370400440532013000',
      '12345678',
      'XX89370400440532013000',
    ]) {
      const answer = await verb(client, id, 'claim', sepaClaim({ accountIdentifier }))
      refused(t, answer, invalid('accountIdentifier'), `${method} ${accountIdentifier}`)
    }
    t.equal((await explain(client, id)).record.status, 'ACTIVE')
    const french = sepaClaim({ accountIdentifier: 'FR1420041010050500013M02606' })
    t.equal((await verb(client, id, 'claim', french)).body.record.status, 'CLAIMED')
  }
})

t.test('decisions §8: a US-ACH claim needs routing number, account of 4 to 17 digits and account type', async t => {
  const client = await connectFor(t, 'US-ACH')
  const id = await createLink(client, linkBy('US-ACH'))
  const claim = (changes: object) => verb(client, id, 'claim', usClaim(changes))
  for (const accountIdentifier of ['123', '1'.repeat(18), '12a4', '1234 5678', '-1234', 'DE89370400440532013000']) {
    refused(t, await claim({ accountIdentifier }), invalid('accountIdentifier'), accountIdentifier)
  }
  refused(t, await claim({ branchIdentifier: undefined }), missing('branchIdentifier'))
  for (const type of ['SORT', 'BIC', 'IFSC']) {
    const answer = await claim({ branchIdentifier: { type, value: '021000021' } })
    refused(t, answer, invalid('branchIdentifier.type'), type)
  }
  for (const value of ['021000022', '000000000', '02100002', '0210000210', '02100002x', '123456']) {
    const answer = await claim({ branchIdentifier: { type: 'ROUTING', value } })
    refused(t, answer, invalid('branchIdentifier.value'), value)
  }
  refused(t, await claim({ accountType: undefined }), missing('accountType'))
  for (const accountType of ['', 'checking', 'CURRENT', null]) {
    refused(t, await claim({ accountType }), invalid('accountType'), JSON.stringify(accountType))
  }
  t.equal((await explain(client, id)).record.status, 'ACTIVE')

  for (const changes of [
    { accountIdentifier: '1234' },
    { accountIdentifier: '1'.repeat(17) },
    { accountType: 'SAVINGS' },
    { branchIdentifier: { type: 'ROUTING', value: '011401533' } },
  ]) {
    const another = await createLink(client, linkBy('US-ACH'))
    t.equal((await verb(client, another, 'claim', usClaim(changes))).status, 200, JSON.stringify(changes))
  }
})

t.test('decisions §8: a UK claim needs a sort code and an account of 8 digits', async t => {
  for (const method of ['UK-BACS', 'UK-FAST']) {
    const client = await connectFor(t, method)
    const id = await createLink(client, linkBy(method))
    const claim = (changes: object) => verb(client, id, 'claim', ukClaim(changes))
    for (const accountIdentifier of ['1234567', '123456789', '1234567x', '1234 5678', 'GB29NWBK60161331926819']) {
      refused(t, await claim({ accountIdentifier }), invalid('accountIdentifier'), `${method} ${accountIdentifier}`)
    }
    refused(t, await claim({ branchIdentifier: undefined }), missing('branchIdentifier'), method)
    for (const type of ['ROUTING', 'BIC', 'IFSC']) {
      const answer = await claim({ branchIdentifier: { type, value: '123456' } })
      refused(t, answer, invalid('branchIdentifier.type'), `${method} ${type}`)
    }
    for (const value of ['12345', '1234567', '12-34-56', '12345x']) {
      const answer = await claim({ branchIdentifier: { type: 'SORT', value } })
      refused(t, answer, invalid('branchIdentifier.value'), `${method} ${value}`)
    }
    t.equal((await explain(client, id)).record.status, 'ACTIVE')
    t.equal((await claim({})).body.record.status, 'CLAIMED', 'no account type is asked for')
  }
})

t.test('decisions §8: the parts of any claim are there, and of their type', async t => {
  const client = await connectFor(t, 'US-ACH')
  const id = await createLink(client, linkBy('US-ACH'))
  const claim = (changes: object) => verb(client, id, 'claim', usClaim(changes))
  for (const field of ['accountHolderName', 'accountIdentifier']) {
    refused(t, await claim({ [field]: undefined }), missing(field), `${field} missing`)
    refused(t, await claim({ [field]: '' }), missing(field), `${field} empty`)
    for (const wrong of [null, 12345678, ['x'], {}]) {
      refused(t, await claim({ [field]: wrong }), invalid(field), `${field} ${JSON.stringify(wrong)}`)
    }
  }
  refused(t, await claim({ accountHolderName: 'x'.repeat(141) }), invalid('accountHolderName'), '141 characters')
  refused(t, await verb(client, id, 'claim'), missing('accountHolderName'), 'no body')
  refused(t, await claim({ branchIdentifier: '021000021' }), invalid('branchIdentifier'), 'a string')
  refused(t, await claim({ branchIdentifier: {} }), missing('branchIdentifier.type'), 'without type')
  const typeAlone = { branchIdentifier: { type: 'ROUTING' } }
  refused(t, await claim(typeAlone), missing('branchIdentifier.value'), 'without value')
  const unknownType = { branchIdentifier: { type: 'ABA', value: '021000021' } }
  refused(t, await claim(unknownType), invalid('branchIdentifier.type'), 'another type')
  t.equal((await claim({ accountHolderName: 'x'.repeat(140) })).status, 200)
})

// ------------------------------------------------------------------------------------------------------- decline

t.test('decisions §8: a declined link is REJECTED, with the remarks of the recipient', async t => {
  const client = await connect(build(t))
  const id = await createLink(client)
  const { status, body } = await verb(client, id, 'decline', { remarks: 'I know nobody here' })
  t.same([status, body.record.status], [200, 'REJECTED'])
  t.match(JSON.stringify(body.record), /I know nobody here/)
  t.match(JSON.stringify((await explain(client, id)).record), /I know nobody here/)
})

t.test('decisions §8: remarks of a decline have 1 to 256 characters', async t => {
  const client = await connect(build(t))
  for (const remarks of ['x', 'x'.repeat(256), '💶'.repeat(256)]) {
    const answer = await verb(client, await createLink(client), 'decline', { remarks })
    t.equal(answer.status, 200, remarks.slice(0, 10))
  }
  const id = await createLink(client)
  for (const remarks of ['', 'x'.repeat(257), '💶'.repeat(257), null, 7]) {
    const answer = await verb(client, id, 'decline', { remarks })
    t.equal(answer.body.field, 'remarks')
    t.equal(answer.status, 400, JSON.stringify(remarks).slice(0, 10))
  }
  t.equal((await explain(client, id)).record.status, 'ACTIVE')
})

// --------------------------------------------------------------------------------------------------------- verbs

t.test('decisions §8: from every state every verb is taken, or refused with the legal ones', async t => {
  const client = await connect(build(t))
  const lifecycle: Record<string, Record<string, string>> = {
    ACTIVE: { claim: 'CLAIMED', decline: 'REJECTED', expire: 'EXPIRED' },
    CLAIMED: { process: 'PROCESSING' },
    PROCESSING: { pay: 'PAID', fail: 'FAILED' },
    PAID: {},
    FAILED: {},
    CANCELLED: {},
    EXPIRED: {},
    REJECTED: {},
  }
  for (const [state, moves] of Object.entries(lifecycle)) {
    for (const name of ['claim', 'decline', 'process', 'pay', 'fail', 'expire']) {
      const id = await linkIn(client, state)
      const before = await explain(client, id)
      const answer = await verb(client, id, name, bodyOf(name))
      const to = moves[name]
      if (to === undefined) {
        refused(t, answer, illegal, `${state}: ${name}`)
        for (const legal of Object.keys(moves))
          t.match(answer.body.message, new RegExp(legal), `${state}: names ${legal}`)
        t.same(await explain(client, id), before, `${state}: ${name} has changed nothing`)
      } else {
        t.same([answer.status, answer.body.record.status], [200, to], `${state}: ${name}`)
        t.same(await explain(client, id), answer.body, 'transitions answer with the explained record')
      }
    }
  }
})

t.test('control plane, Shapes: an explained link tells what is legal now', async t => {
  const client = await connect(build(t))
  const legal = async (state: string) =>
    (await explain(client, await linkIn(client, state))).legal.map((move: { verb: string; to: string }) => [
      move.verb,
      move.to,
    ])
  const active = new Map<string, string>(await legal('ACTIVE'))
  for (const [name, to] of Object.entries({ claim: 'CLAIMED', decline: 'REJECTED', expire: 'EXPIRED' })) {
    t.equal(active.get(name), to)
  }
  t.same(await legal('CLAIMED'), [['process', 'PROCESSING']])
  t.same((await legal('PROCESSING')).sort(), [
    ['fail', 'FAILED'],
    ['pay', 'PAID'],
  ])
  for (const state of ['PAID', 'FAILED', 'CANCELLED', 'EXPIRED', 'REJECTED']) t.same(await legal(state), [], state)
})

// ------------------------------------------------------------------------------------------------------- expiry

t.test('decisions §8: a link that nobody claims is EXPIRED at expiresAt, to the second', async t => {
  const client = await connect(build(t))
  const id = await createLink(client, payoutLink({ expiryPeriod: 'PT10M' }))
  t.same((await explain(client, id)).next, { at: '2026-11-02T09:10:00Z', to: 'EXPIRED' })

  await client.advance({ by: 'PT9M59S' })
  t.equal((await explain(client, id)).record.status, 'ACTIVE', 'one second before')
  const { body } = await client.advance({ by: 'PT1S' })
  t.same(body.transitions, [
    { at: '2026-11-02T09:10:00Z', kind: 'payoutLink', reference: id, from: 'ACTIVE', to: 'EXPIRED' },
  ])
  const { record, next, timeline } = await explain(client, id)
  t.same([record.status, record.updatedAt, next], ['EXPIRED', '2026-11-02T09:10:00Z', null])
  t.equal(timeline.at(-1).cause, 'time')
  refused(t, await cancel(client, id), [409, 'PAYOUT_LINK_NOT_CANCELLABLE', 'payoutLinkId'])
  refused(t, await verb(client, id, 'claim', sepaClaim()), illegal)
})

t.test('decisions §8: until its last second a link can be cancelled or claimed', async t => {
  const client = await connect(build(t))
  const first = await createLink(client, payoutLink({ expiryPeriod: 'PT10M' }))
  const second = await createLink(client, payoutLink({ expiryPeriod: 'PT10M' }))
  await client.advance({ by: 'PT9M59S' })
  t.equal((await cancel(client, first)).status, 204)
  t.equal((await verb(client, second, 'claim', sepaClaim())).status, 200)
  await client.advance({ by: 'PT1S' })
  t.equal((await explain(client, first)).record.status, 'CANCELLED')
  t.not((await explain(client, second)).record.status, 'EXPIRED', 'a claimed link does not expire')
})

t.test('control plane, clock: a link expires at its own time, however far the clock is moved', async t => {
  const client = await connect(build(t))
  const late = await createLink(client)
  const early = await createLink(client, payoutLink({ expiryPeriod: 'PT1H' }))
  const { body } = await client.advance({ by: 'P40D' })
  t.same(
    body.transitions.map(({ at, reference }: { at: string; reference: string }) => [at, reference]),
    [
      ['2026-11-02T10:00:00Z', early],
      ['2026-11-09T09:00:00Z', late],
    ],
  )
  t.equal((await explain(client, late)).record.updatedAt, '2026-11-09T09:00:00Z')
})

t.test('control plane, Time: with a running clock a link expires before the next request is looked at', async t => {
  let real = Date.parse('2026-11-02T09:00:00Z')
  const app = build(t, { clock: 'real', now: () => real })
  const client = await connect(app)
  const id = await createLink(client, payoutLink({ expiryPeriod: 'PT10M' }))
  real += 599_999
  t.equal((await explain(client, id)).record.status, 'ACTIVE')
  real += 1
  refused(t, await cancel(client, id), [409, 'PAYOUT_LINK_NOT_CANCELLABLE', 'payoutLinkId'])
})

// ---------------------------------------------------------------------------------------------------- being paid

/** Claims a new link at `claimedAt` and asserts that it is PAID at `paidAt`, and not a second before. */
async function assertPaid(t: Test, method: string, claimedAt: string, paidAt: string, why: string) {
  const client = await connectFor(t, method, claimedAt)
  const id = await createLink(client, linkBy(method))
  await verb(client, id, 'claim', CLAIMS[method] as object)
  const before = new Date(Date.parse(paidAt) - 1000).toISOString().replace('.000Z', 'Z')
  await client.advance({ to: before })
  t.not((await explain(client, id)).record.status, 'PAID', `${method}: ${why}: not a second before`)
  await client.advance({ to: paidAt })
  const { record, timeline } = await explain(client, id)
  t.same([record.status, record.updatedAt], ['PAID', paidAt], `${method} claimed at ${claimedAt}: ${why}`)
  t.same(
    timeline.map((event: { to: string }) => event.to),
    ['ACTIVE', 'CLAIMED', 'PROCESSING', 'PAID'],
  )
}

t.test('decisions §8: SEPA-INSTANT and UK-FAST are PAID 10 s after the claim, on any day at any hour', async t => {
  for (const method of ['SEPA-INSTANT', 'UK-FAST']) {
    await assertPaid(t, method, '2026-11-02T09:00:00Z', '2026-11-02T09:00:10Z', 'a Monday')
    await assertPaid(t, method, '2026-12-25T23:59:55Z', '2026-12-26T00:00:05Z', 'Christmas, across midnight')
    await assertPaid(t, method, '2026-10-25T00:59:55Z', '2026-10-25T01:00:05Z', 'as summer time ends')
  }
})

t.test('decisions §8: SEPA-CT is PAID on the next T2 day at 14:00 in Berlin', async t => {
  const cases: [string, string, string][] = [
    ['2026-11-02T09:00:00Z', '2026-11-03T13:00:00Z', 'Monday to Tuesday'],
    ['2026-11-02T22:59:59Z', '2026-11-03T13:00:00Z', 'a second before midnight in Berlin'],
    ['2026-11-02T23:00:00Z', '2026-11-04T13:00:00Z', 'at midnight in Berlin it is Tuesday already'],
    ['2026-11-06T12:00:00Z', '2026-11-09T13:00:00Z', 'Friday to Monday'],
    ['2026-11-07T12:00:00Z', '2026-11-09T13:00:00Z', 'Saturday to Monday'],
    ['2026-11-08T12:00:00Z', '2026-11-09T13:00:00Z', 'Sunday to Monday'],
    ['2026-12-24T09:00:00Z', '2026-12-28T13:00:00Z', 'across Christmas and a weekend'],
    ['2026-12-31T09:00:00Z', '2027-01-04T13:00:00Z', 'across New Year and a weekend'],
    ['2026-04-02T09:00:00Z', '2026-04-07T12:00:00Z', 'across Good Friday and Easter Monday'],
    ['2026-04-30T09:00:00Z', '2026-05-04T12:00:00Z', 'across 1 May'],
    ['2026-03-27T09:00:00Z', '2026-03-30T12:00:00Z', 'into summer time'],
    ['2026-10-23T09:00:00Z', '2026-10-26T13:00:00Z', 'out of summer time'],
    ['2026-05-13T09:00:00Z', '2026-05-14T12:00:00Z', 'Ascension Day is a T2 day'],
    ['2026-12-23T09:00:00Z', '2026-12-24T13:00:00Z', 'Christmas Eve is a T2 day'],
  ]
  for (const [claimedAt, paidAt, why] of cases) await assertPaid(t, 'SEPA-CT', claimedAt, paidAt, why)
})

t.test('decisions §8: US-ACH is PAID on the next Fed day at 06:00 in New York', async t => {
  const cases: [string, string, string][] = [
    ['2026-11-02T09:00:00Z', '2026-11-03T11:00:00Z', 'Monday to Tuesday'],
    ['2026-11-03T04:59:59Z', '2026-11-03T11:00:00Z', 'Monday, a second before midnight in New York'],
    ['2026-11-03T05:00:00Z', '2026-11-04T11:00:00Z', 'at midnight in New York'],
    ['2026-11-06T15:00:00Z', '2026-11-09T11:00:00Z', 'Friday to Monday'],
    ['2026-11-07T15:00:00Z', '2026-11-09T11:00:00Z', 'Saturday to Monday'],
    ['2026-11-10T15:00:00Z', '2026-11-12T11:00:00Z', 'across Veterans Day'],
    ['2026-11-25T15:00:00Z', '2026-11-27T11:00:00Z', 'across Thanksgiving'],
    ['2026-12-24T15:00:00Z', '2026-12-28T11:00:00Z', 'across Christmas and a weekend'],
    ['2026-07-02T15:00:00Z', '2026-07-03T10:00:00Z', 'a holiday on Saturday closes no other day'],
    ['2027-07-02T15:00:00Z', '2027-07-06T10:00:00Z', 'a holiday on Sunday is observed on Monday'],
    ['2026-01-16T15:00:00Z', '2026-01-20T11:00:00Z', 'across Martin Luther King Day'],
    ['2026-03-06T15:00:00Z', '2026-03-09T10:00:00Z', 'into daylight saving time'],
    ['2026-10-30T15:00:00Z', '2026-11-02T11:00:00Z', 'out of daylight saving time'],
    ['2026-04-02T15:00:00Z', '2026-04-03T10:00:00Z', 'Good Friday is a Fed day'],
  ]
  for (const [claimedAt, paidAt, why] of cases) await assertPaid(t, 'US-ACH', claimedAt, paidAt, why)
})

/** decisions §8 gives no hour for UK-BACS: the day is asserted, in London, and that `next` tells the very second. */
t.test('decisions §8: UK-BACS is PAID after two UK business days', async t => {
  const cases: [string, string, string][] = [
    ['2026-11-02T09:00:00Z', '2026-11-04', 'Monday to Wednesday'],
    ['2026-11-05T09:00:00Z', '2026-11-09', 'Thursday to Monday'],
    ['2026-11-06T09:00:00Z', '2026-11-10', 'Friday to Tuesday'],
    ['2026-11-07T09:00:00Z', '2026-11-10', 'Saturday to Tuesday'],
    ['2026-12-23T09:00:00Z', '2026-12-29', 'across Christmas, Boxing Day being made up for on Monday'],
    ['2027-12-23T09:00:00Z', '2027-12-29', 'across a Christmas on Saturday, both days being made up for'],
    ['2026-04-02T09:00:00Z', '2026-04-08', 'across Easter'],
    ['2026-05-01T09:00:00Z', '2026-05-06', 'across the early May bank holiday'],
    ['2026-08-28T09:00:00Z', '2026-09-02', 'across the summer bank holiday'],
    ['2026-12-31T09:00:00Z', '2027-01-05', 'across New Year'],
    ['2026-06-02T22:59:59Z', '2026-06-04', 'a second before midnight in London'],
    ['2026-06-02T23:00:00Z', '2026-06-05', 'at midnight in London, in summer time'],
    ['2026-03-27T09:00:00Z', '2026-03-31', 'into summer time'],
    ['2026-10-23T09:00:00Z', '2026-10-27', 'out of summer time'],
  ]
  const london = new Intl.DateTimeFormat('en-CA', { timeZone: 'Europe/London' })
  for (const [claimedAt, paidOn, why] of cases) {
    const client = await connectFor(t, 'UK-BACS', claimedAt)
    const id = await createLink(client, linkBy('UK-BACS'))
    await verb(client, id, 'claim', ukClaim())
    await verb(client, id, 'process')
    const { at, to } = (await explain(client, id)).next
    t.same([to, london.format(new Date(at))], ['PAID', paidOn], `claimed at ${claimedAt}: ${why}`)
    await client.advance({ to: new Date(Date.parse(at) - 1000).toISOString().replace('.000Z', 'Z') })
    t.equal((await explain(client, id)).record.status, 'PROCESSING', `${why}: not a second before`)
    await client.advance({ by: 'PT1S' })
    const { record } = await explain(client, id)
    t.same([record.status, record.updatedAt], ['PAID', at], why)
  }
})

t.test('decisions §8: the time of payment counts from the claim, not from processing', async t => {
  const client = await connectFor(t, 'SEPA-CT', '2026-11-02T09:00:00Z')
  const id = await createLink(client)
  await verb(client, id, 'claim', sepaClaim())
  await verb(client, id, 'process')
  t.same((await explain(client, id)).next, { at: '2026-11-03T13:00:00Z', to: 'PAID' })
})

t.test('control plane: a link that is paid, or failed, by hand stays so', async t => {
  const client = await connect(build(t))
  for (const [name, state] of [
    ['pay', 'PAID'],
    ['fail', 'FAILED'],
  ] as const) {
    const id = await linkIn(client, 'PROCESSING')
    const moved = (await verb(client, id, name)).body
    t.same([moved.record.status, moved.next], [state, null])
    await client.advance({ by: 'P30D' })
    t.same(await explain(client, id), moved, `${state}: nothing has happened to it in 30 days`)
  }
})

t.test('control plane, clock: toNextEvent goes through the life of a claimed link', async t => {
  const client = await connect(build(t))
  const id = await createLink(client)
  await verb(client, id, 'claim', sepaClaim())
  const seen: string[] = []
  for (let steps = 0; steps < 5 && !seen.includes('PAID'); steps++) {
    for (const { to } of (await client.advance({ toNextEvent: true })).body.transitions) seen.push(to)
  }
  t.same(seen, ['PROCESSING', 'PAID'])
  t.equal((await client.control('GET', '/clock')).body.now, '2026-11-03T13:00:00Z')
})

// ------------------------------------------------------------------------------------------------------- seeding

t.test('control plane, seed: links of any state and any past can be given', async t => {
  const client = await connect(build(t))
  const payoutLinks = [
    payoutLink({ payoutLinkId: 'seed-active', createdAt: '2026-11-01T09:00:00Z' }),
    payoutLink({
      payoutLinkId: 'seed-claimed',
      payoutMethod: 'SEPA-INSTANT',
      status: 'CLAIMED',
      createdAt: '2026-11-01T09:00:00Z',
      claimedAt: '2026-11-02T08:59:58Z',
      updatedAt: '2026-11-02T08:59:58Z',
      claim: sepaClaim(),
    }),
    payoutLink({
      payoutLinkId: 'seed-processing',
      status: 'PROCESSING',
      createdAt: '2026-11-01T09:00:00Z',
      updatedAt: '2026-11-01T10:00:00Z',
      claim: sepaClaim(),
    }),
    payoutLink({ payoutLinkId: 'seed-cancelled', status: 'CANCELLED', cancellationComment: 'wrong amount' }),
    payoutLink({ payoutLinkId: 'seed-rejected', status: 'REJECTED', decline: { remarks: 'not me' } }),
    linkBy('US-ACH', { payoutLinkId: 'seed-paid-us', status: 'PAID', claim: usClaim() }),
    linkBy('UK-FAST', { payoutLinkId: 'seed-failed-uk', status: 'FAILED', claim: ukClaim() }),
    linkBy('UK-BACS', { payoutLinkId: 'seed-embedded', uiMode: 'embedded', origin: ORIGIN }),
    linkBy('UK-BACS', { payoutLinkId: 'seed-processing-bare', status: 'PROCESSING' }),
  ]
  await client.control('PUT', '/settings', { allowedOrigins: [ORIGIN] })
  const seeded = await client.control('POST', '/seed', { records: { payoutLinks } })
  t.same([seeded.status, seeded.body.added?.payoutLinks], [200, payoutLinks.length])

  t.equal((await explain(client, 'seed-active')).record.expiresAt, '2026-11-08T09:00:00Z', 'from its creation')
  t.equal((await explain(client, 'seed-cancelled')).record.cancellationComment, 'wrong amount')
  t.match(JSON.stringify((await explain(client, 'seed-rejected')).record), /not me/)
  t.same((await explain(client, 'seed-paid-us')).record.claim, usClaim())
  t.equal((await explain(client, 'seed-processing')).next.at, '2026-11-02T13:00:00Z', 'the next T2 day of its claim')
  refused(t, await cancel(client, 'seed-claimed'), [409, 'PAYOUT_LINK_ALREADY_CLAIMED', 'payoutLinkId'])
  t.equal((await cancel(client, 'seed-embedded', 'x', 'UK')).status, 204, 'the region follows from the currency')

  await client.advance({ to: '2026-11-02T09:00:08Z' })
  const { record } = await explain(client, 'seed-claimed')
  t.same([record.status, record.updatedAt], ['PAID', '2026-11-02T09:00:08Z'], '10 s after its claim')
})

t.test('control plane, seed: a seeded link whose expiry has passed expires at once', async t => {
  const client = await connect(build(t))
  const link = payoutLink({ payoutLinkId: 'seed-stale', createdAt: '2026-01-01T09:00:00Z' })
  await client.control('POST', '/seed', { records: { payoutLinks: [link] } })
  await client.advance({ by: 'PT1S' })
  t.equal((await explain(client, 'seed-stale')).record.status, 'EXPIRED')
})

t.test('control plane, seed: links are validated as the API does, all or nothing', async t => {
  const client = await connect(build(t))
  const good = payoutLink({ payoutLinkId: 'seed-good' })
  const at = 'records.payoutLinks.1'
  const cases: [object, [number, string, string]][] = [
    [payoutLink({ payoutLinkId: 'seed-good' }), [409, 'DUPLICATE_REFERENCE', `${at}.payoutLinkId`]],
    [payoutLink({ payoutLinkId: 'short' }), invalid(`${at}.payoutLinkId`) as [number, string, string]],
    [payoutLink({ amount: undefined }), missing(`${at}.amount`)],
    [payoutLink({ status: 'OPEN' }), invalid(`${at}.status`) as [number, string, string]],
    [payoutLink({ payoutMethod: 'US-ACH' }), [400, 'REGION_CURRENCY_MISMATCH', `${at}.currency`]],
    [linkBy('UK-FAST', { amount: '1000000.01' }), [400, 'AMOUNT_LIMIT_EXCEEDED', `${at}.amount`]],
    [payoutLink({ expiryPeriod: 'PT1M' }), invalid(`${at}.expiryPeriod`) as [number, string, string]],
    [payoutLink({ uiMode: 'embedded' }), missing(`${at}.origin`)],
    [
      payoutLink({ status: 'CLAIMED', claim: sepaClaim({ accountIdentifier: '1234' }) }),
      invalid(`${at}.claim.accountIdentifier`) as [number, string, string],
    ],
    [
      linkBy('UK-BACS', { status: 'CLAIMED', claim: ukClaim({ branchIdentifier: undefined }) }),
      missing(`${at}.claim.branchIdentifier`),
    ],
    [
      linkBy('US-ACH', { status: 'CLAIMED', claim: usClaim({ accountType: undefined }) }),
      missing(`${at}.claim.accountType`),
    ],
  ]
  for (const [wrong, expected] of cases) {
    const answer = await client.control('POST', '/seed', { records: { payoutLinks: [good, wrong] } })
    if (expected[1] === 'REGION_CURRENCY_MISMATCH') {
      // Currency and method contradict each other: either may be to blame.
      t.equal(answer.status, 400, 'currency and method that do not belong together')
    } else refused(t, answer, expected, JSON.stringify(expected))
    const unknown: [number, string, string] = [404, 'PAYOUT_LINK_NOT_FOUND', 'payoutLinkId']
    refused(t, await client.control('GET', '/payout-links/seed-good'), unknown, 'and the good one is not stored')
  }
})

// An origin can be taken off the list while its links live on, so that such a link is a state like any other.
t.test('control plane, seed: any state may be given, also a link from an origin that is not allowed now', async t => {
  const client = await connect(build(t))
  const records = { payoutLinks: [payoutLink({ uiMode: 'embedded', origin: ORIGIN })] }
  const answer = await client.control('POST', '/seed', { records })
  t.same([answer.status, answer.body.added.payoutLinks], [200, 1])
})
