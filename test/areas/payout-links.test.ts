import t from 'tap'
import { masked as mask } from '../../src/areas/payout-links/claim.js'
import {
  each,
  gist,
  holds,
  ILLEGAL,
  invalid,
  missing,
  NO_ROUTE,
  NO_TEXT,
  secondBefore,
  table,
  tenantsOf,
  WRONG_METHOD,
  WRONG_REGION,
} from '../answers.js'
import type { Client } from '../helper.js'
import { build, call, connect, MONDAY, newClient, payoutLink } from '../helper.js'
import { explain as explainOf, lead, METHODS, move, sepaClaim } from './records.js'

const LINKS = '/api/v1/payout-links'
const SHOP = 'https://shop.example'
const UNKNOWN = '404 PAYOUT_LINK_NOT_FOUND payoutLinkId'
const CLAIMED = '409 PAYOUT_LINK_ALREADY_CLAIMED payoutLinkId'
const NOT_CANCELLABLE = '409 PAYOUT_LINK_NOT_CANCELLABLE payoutLinkId'
const NOT_ALLOWED = '403 ORIGIN_NOT_ALLOWED origin'

/** Tenants whose clock stands early in 2026, so that a test can move it to any moment after. */
const openEarly = tenantsOf(build(t, { clock: '2026-01-05T09:00:00Z' }))

const regionOf = (method: string) => METHODS[method]?.region ?? ''
const linkBy = (payoutMethod: string, changes: object = {}) =>
  payoutLink({ payoutMethod, currency: METHODS[payoutMethod]?.currency, ...changes })

async function createLink(client: Client, body: object = payoutLink(), region?: string): Promise<string> {
  const answer = await client.post(LINKS, body, region === undefined ? {} : { region })
  if (answer.status !== 201) throw new Error(gist(answer))
  return answer.body.payoutLinkId
}

const cancel = (client: Client, id: string, cancellationComment: unknown = 'changed my mind', region?: string) =>
  client.patch(`${LINKS}/${id}/cancel`, { cancellationComment }, region === undefined ? {} : { region })
const explain = (client: Client, id: string) => explainOf(client, 'payout-links', id)
const verb = (client: Client, id: string, name: string, body?: object) => move(client, 'payout-links', id, name, body)

// ------------------------------------------------------------------------------------------------------ creation

t.test('decisions §8: a link is answered with its request or the defaults, its id, url and times', async t => {
  const request = {
    amount: '25.50',
    currency: 'EUR',
    payoutMethod: 'SEPA-CT',
    counterpartyReference: 'CPTY-0001',
    accountHolderName: 'Jane Doe',
    uiMode: 'hosted',
    expiryPeriod: 'P2D',
    origin: SHOP,
    remarks: 'thanks',
  }
  const client = await newClient()
  const defaults = { ...payoutLink(), uiMode: 'hosted', expiryPeriod: 'P7D' }
  for (const [given, stored, expiresAt] of [
    [request, request, '2026-11-04T09:00:00Z'],
    [payoutLink(), defaults, '2026-11-09T09:00:00Z'],
  ]) {
    const { status, body } = await client.post(LINKS, given)
    const { payoutLinkId, url, ...rest } = body
    t.match(payoutLinkId, /^[-_a-zA-Z0-9]{7,90}$/, 'an id that the cancel path takes')
    t.equal(url, `http://127.0.0.1:8080/pay/${payoutLinkId}?client=${client.clientId}`)
    const now = { createdAt: MONDAY, updatedAt: MONDAY }
    t.same([status, rest], [201, { ...(stored as object), status: 'ACTIVE', expiresAt, ...now }])
  }
})

t.test('decisions §8: the url of a link is its page below the public URL, and each id is another', async t => {
  const client = await connect(build(t, { publicUrl: () => 'https://pay.example/sandbox' }))
  const links = await Promise.all(Array.from({ length: 20 }, () => client.post(LINKS, payoutLink())))
  const ids = links.map(({ body }) => body.payoutLinkId)
  t.equal(new Set(ids).size, 20)
  t.equal(links[0]?.body.url, `https://pay.example/sandbox/pay/${ids[0]}?client=acme`)
})

t.test('decisions §8: without SANDBOX_PUBLIC_URL, the url of a link has the Host of the request', async t => {
  const app = build(t, { publicUrl: host => `http://${host ?? 'own.example:8080'}` })
  const client = await connect(app)
  const id = await createLink(client)
  const baseOf = ({ url }: { url: string }) => url.slice(0, url.indexOf('/pay/'))
  const forwarded = {
    forwarded: 'host=a.example;proto=https',
    'x-forwarded-host': 'b.example',
    'x-forwarded-proto': 'https',
    'x-forwarded-port': '443',
  }
  const path = `/_sandbox/payout-links/${id}?client=acme`
  for (const [host, base] of [
    ['localhost:9000', 'http://localhost:9000'],
    ['sandbox:8080', 'http://sandbox:8080'],
    ['172.17.0.1', 'http://172.17.0.1'],
    ['[::1]:9000', 'http://[::1]:9000'],
    ['[fe80::1%25eth0]:9000', 'http://[fe80::1]:9000'],
    ['LocalHost:80', 'http://localhost'],
    ['own.example:9000', 'http://own.example:9000'],
    // A name of other sites: the token admits the request, and the server has its own address.
    ['rebind.example', 'http://own.example:8080'],
  ] as const) {
    const headers = { host, ...forwarded }
    t.equal(baseOf((await client.post(LINKS, payoutLink(), { headers })).body), base, `created by ${host}`)
    const explained = await call(app, 'GET', path, { headers })
    const read = explained.status === 200 ? baseOf(explained.body.record) : explained.body.code
    t.equal(read, host === 'rebind.example' ? 'FORBIDDEN_HOST' : base, `read by ${host}`)
  }
})

t.test('interface, Limits: the amount of a link is a decimal string of at most 2 decimals', async t => {
  const client = await newClient()
  const wrong = ['0', '-1', '+1', '01', '1.', '.5', '1.234', '1,00', '1e3', ' 1', '1 ', '1\n', 'NaN', '١', '1000000000']
  await table(t, amount => client.post(LINKS, payoutLink({ amount })), {
    201: ['1', '1.5', '1.05', '999999999.99'],
    [invalid('amount')]: wrong,
  })
})

t.test('decisions §8: each method carries at most its limit', async t => {
  const client = await newClient()
  const send = ([method, amount]: [string, string]) =>
    client.post(LINKS, linkBy(method, { amount }), { region: regionOf(method) })
  await table(t, send, {
    201: [
      ['UK-BACS', '20000000.00'],
      ['UK-FAST', '1000000.00'],
      ...['SEPA-CT', 'SEPA-INSTANT', 'US-ACH'].map(method => [method, '999999999.99']),
    ],
    '400 AMOUNT_LIMIT_EXCEEDED amount': [
      ['UK-BACS', '20000000.01'],
      ['UK-FAST', '1000000.01'],
      ['UK-FAST', '999999999.99'],
    ],
  })
})

t.test('decisions §4, §8: region, currency and method that do not belong together are refused', async t => {
  const client = await newClient()
  const cases = ['EU', 'US', 'UK'].flatMap(region =>
    ['EUR', 'USD', 'GBP'].flatMap(currency =>
      Object.entries(METHODS).map(([payoutMethod, right]): [string[], string] => {
        const isOfRegion = Object.values(METHODS).some(one => one.region === region && one.currency === currency)
        if (!isOfRegion) return [[region, currency, payoutMethod], '400 REGION_CURRENCY_MISMATCH currency']
        const isOfCurrency = right.currency === currency
        return [[region, currency, payoutMethod], isOfCurrency ? '201' : '400 PAYOUT_METHOD_MISMATCH payoutMethod']
      }),
    ),
  )
  t.equal(cases.filter(([, expected]) => expected === '201').length, 5)
  await holds(t, cases, ([region, currency, payoutMethod]) =>
    client.post(LINKS, payoutLink({ currency, payoutMethod }), { region }),
  )
})

t.test('interface, Payout link; decisions §8: optional members and closed lists have their limits', async t => {
  const client = await newClient()
  const cases: [field: string, right: string[], wrong: unknown[]][] = [
    ['accountHolderName', ['x', '💶'.repeat(140)], ['', '💶'.repeat(141), ...NO_TEXT]],
    ['remarks', ['x', '💶'.repeat(256)], ['', '💶'.repeat(257), ...NO_TEXT]],
    ['counterpartyReference', ['abc-5', 'x'.repeat(50)], ['', 'abcd', 'x'.repeat(51), 'abc_5', 'ábcde', ...NO_TEXT]],
    ['uiMode', ['hosted', 'embedded'], ['', 'HOSTED', 'iframe', ...NO_TEXT]],
    ['currency', ['EUR'], ['INR', 'eur', 'EURO', 'CHF']],
    ['payoutMethod', ['SEPA-CT'], ['sepa-ct', 'SEPA', 'SEPA_CT', 'UK-CHAPS', 'toString']],
  ]
  for (const [field, right, wrong] of cases) {
    await holds(t, [...each(right, '201'), ...each(wrong, invalid(field))], async value => {
      const answer = await client.post(LINKS, payoutLink({ [field]: value }))
      return answer.status === 201 && answer.body[field] !== value ? `stored as ${answer.body[field]}` : answer
    })
  }
})

// -------------------------------------------------------------------------------------------------- expiryPeriod

t.test('interface, Limits; decisions §8: expiryPeriod has bounds of its own for each uiMode', async t => {
  const client = await newClient()
  const refused = invalid('expiryPeriod')
  const bounds: Record<string, Record<string, unknown[]>> = {
    embedded: {
      '2026-11-02T09:10:00Z': ['PT10M', 'pt10m', 'PT600S'],
      '2026-11-02T10:00:00Z': [undefined],
      '2026-11-02T21:00:00Z': ['PT12H', 'pt12h', 'PT720M', 'pt11h59m60s'],
      [refused]: ['PT9M59S', 'pt9m59s', 'PT0S', 'PT12H1S', 'P1D', 'P1W'],
    },
    hosted: {
      '2026-11-02T09:10:00Z': ['pt10m'],
      '2026-11-02T21:00:01Z': ['PT12H1S'],
      '2026-11-09T09:00:00Z': ['P1W', undefined],
      '2026-11-03T11:03:04Z': ['p1dt2h3m4s'],
      '2026-12-02T09:00:00Z': ['P30D', 'p30d', 'PT720H'],
      [refused]: ['PT9M59S', 'PT0S', 'P30DT1S', 'p30dt1s', 'P31D', 'PT720H1S'],
    },
  }
  for (const [uiMode, rows] of Object.entries(bounds)) {
    const send = async (expiryPeriod: unknown) => {
      const answer = await client.post(LINKS, payoutLink({ uiMode, expiryPeriod }))
      return answer.status === 201 ? answer.body.expiresAt : answer
    }
    await table(t, send, rows)
  }
})

t.test('decisions §8: an expiryPeriod that is no ISO 8601 duration is refused', async t => {
  const client = await newClient()
  const wrong = ['', 'P', 'PT', 'P1DT', '1D', '10m', '600', 'P1M', 'P1Y', '-PT10M', '+PT10M', 'PT10M ', 'PT10', 'P1H']
  await holds(t, each([...wrong, `P${'9'.repeat(400)}D`, 600, null], invalid('expiryPeriod')), expiryPeriod =>
    client.post(LINKS, payoutLink({ expiryPeriod })),
  )
})

// -------------------------------------------------------------------------------------------------------- origin

const embed = (client: Client, origin?: unknown) => client.post(LINKS, payoutLink({ uiMode: 'embedded', origin }))

t.test('decisions §8: an origin that is given must be on the list, by scheme, host and port', async t => {
  const client = await newClient()
  t.same((await client.control('GET', '/settings')).body.allowedOrigins, ['http://localhost:*', 'http://127.0.0.1:*'])
  const own = [undefined, 'http://localhost', 'http://127.0.0.1:65535', 'HTTP://LOCALHOST:80']
  const others = ['https://localhost:3000', 'http://localhost.evil.example', 'http://127.0.0.2:80', 'http://[::1]:80']
  others.push('http://my.localhost:1', 'http://mylocalhost:1')
  await table(t, origin => embed(client, origin), { 201: own, [NOT_ALLOWED]: [...others, SHOP] })
  const allowedOrigins = [SHOP, 'http://SHOP.example:8080', 'https://any-port.example:*']
  t.equal((await client.control('PUT', '/settings', { allowedOrigins })).status, 200)
  const right = [undefined, SHOP, `${SHOP}:443`, 'HTTPS://Shop.Example', 'http://shop.example:8080']
  right.push('https://any-port.example', 'https://any-port.example:65535')
  const wrong = ['http://shop.example', `${SHOP}:8443`, 'https://www.shop.example', `${SHOP}.evil.example`]
  wrong.push('http://any-port.example:1', 'https://x.any-port.example:1', 'http://localhost:3000')
  await table(t, origin => embed(client, origin), { 201: right, [NOT_ALLOWED]: wrong })
})

t.test('decisions §8: an empty list refuses every embedded link, and no hosted one, also of a seed', async t => {
  const client = await newClient()
  await client.control('PUT', '/settings', { allowedOrigins: [] })
  t.match(gist(await embed(client)), /^403 ORIGIN_NOT_ALLOWED/)
  t.equal(gist(await embed(client, 'http://localhost:3000')), NOT_ALLOWED)
  t.equal(gist(await client.post(LINKS, payoutLink({ origin: 'https://anyone.example' }))), '201')
  const { data } = (await client.control('GET', '/events')).body
  t.equal(data.length, 1, 'a refused link is not created')
  const seed = (changes: object) => client.control('POST', '/seed', { records: { payoutLinks: [payoutLink(changes)] } })
  t.equal(gist(await seed({ uiMode: 'embedded' })), '403 ORIGIN_NOT_ALLOWED records.payoutLinks.0.origin')
  t.equal(gist(await seed({ origin: SHOP })), '200')
})

t.test('decisions §8: an origin that is not scheme, host and port is refused for either uiMode', async t => {
  const client = await newClient()
  const wrong = ['', 'shop.example', '//shop.example', 'https://', 'https://user@shop.example', 'https://shop example']
  wrong.push(...['/', '/pay', '?x=1', '#x', ':99999', ':*'].map(end => `${SHOP}${end}`), 'javascript:x', '*')
  for (const uiMode of ['hosted', 'embedded']) {
    const send = (origin: unknown) => client.post(LINKS, payoutLink({ uiMode, origin }))
    await table(t, send, { [invalid('origin')]: [...wrong, ...NO_TEXT] })
  }
})

// -------------------------------------------------------------------------------------------------------- cancel

t.test('interface, Payout link cancel request body: 204 without content, and the comment is stored', async t => {
  const client = await newClient()
  const id = await createLink(client)
  await client.advance({ by: 'PT1M' })
  const { status, body, headers } = await cancel(client, id, 'Überwiesen — “danke”')
  t.same([status, body, headers['content-type']], [204, null, undefined])
  const { record, timeline, next, legal } = await explain(client, id)
  const at = '2026-11-02T09:01:00Z'
  const cancelled = { status: 'CANCELLED', cancellationComment: 'Überwiesen — “danke”' }
  t.match(record, { ...cancelled, createdAt: MONDAY, updatedAt: at })
  t.match(timeline.at(-1), { at, kind: 'payoutLink', reference: id, from: 'ACTIVE', to: 'CANCELLED', cause: 'api' })
  t.same([next, legal], [null, []])
})

t.test('decisions §8: links that were never claimed can be cancelled, once, and no others', async t => {
  const client = await newClient()
  const cases: [state: string, expected: string][] = [
    ...['ACTIVE', 'REJECTED', 'EXPIRED'].map((state): [string, string] => [state, '204 CANCELLED a comment']),
    ...['CLAIMED', 'PROCESSING', 'PAID', 'FAILED'].map((state): [string, string] => [
      state,
      `${CLAIMED} ${state} undefined`,
    ]),
    ['CANCELLED', `${NOT_CANCELLABLE} CANCELLED undefined`],
  ]
  await holds(t, cases, async state => {
    const id = await lead(client, 'payout-links', state, '')
    const answer = gist(await cancel(client, id, 'a comment'))
    const { status, cancellationComment } = (await explain(client, id)).record
    return `${answer} ${status} ${cancellationComment}`
  })
  const id = await createLink(client)
  const answers = await Promise.all(['one', 'two'].map(comment => cancel(client, id, comment)))
  t.same(answers.map(gist), ['204', NOT_CANCELLABLE], 'two at once')
  t.equal((await explain(client, id)).record.cancellationComment, 'one')
})

t.test('interface, PATCH /api/v1/payout-links/{payoutLinkId}/cancel: 7 to 90 letters, digits, -, _', async t => {
  const client = await newClient()
  const right = ['1234567', 'aZ-_09x', '-------', 'x'.repeat(90)]
  const wrong = ['x', '123456', 'x'.repeat(91), 'x'.repeat(5000), 'abc.defg', 'abc%20defg', '%C3%A4bcdefg', 'abc~defg']
  const records = { payoutLinks: right.map(payoutLinkId => payoutLink({ payoutLinkId })) }
  t.equal((await client.control('POST', '/seed', { records })).status, 200)
  await table(t, id => cancel(client, id), {
    204: right,
    [invalid('payoutLinkId')]: wrong,
    [UNKNOWN]: ['abcdefg', 'x'.repeat(89)],
    [NO_ROUTE]: ['abc/defgh', 'abc%2Fdefgh', 'abc%2fdefgh', '%2F'],
  })
})

t.test('interface, Payout link cancel request body: cancellationComment has 1 to 256 characters', async t => {
  const client = await newClient()
  const id = await createLink(client)
  await table(t, body => client.patch(`${LINKS}/${id}/cancel`, body), {
    [missing('cancellationComment')]: [undefined, {}, { cancellationComment: '' }],
    [invalid('cancellationComment')]: ['💶'.repeat(257), 'x'.repeat(257), ...NO_TEXT].map(comment => ({
      cancellationComment: comment,
    })),
    [invalid(null)]: [[]],
    '400 MALFORMED_REQUEST null': ['{'],
  })
  t.equal((await explain(client, id)).record.status, 'ACTIVE', 'none of these has cancelled it')
  const comments = ['x', 'x'.repeat(256), '💶'.repeat(256), ' ', '\n', '"\\\u0000']
  for (const comment of comments) {
    const another = await createLink(client)
    await cancel(client, another, comment)
    t.equal((await explain(client, another)).record.cancellationComment, comment)
  }
})

t.test('decisions §4: a link of one region is not found in another, and stays as it is', async t => {
  const client = await newClient()
  for (const [method, region] of Object.entries({ 'SEPA-CT': 'EU', 'US-ACH': 'US', 'UK-FAST': 'UK' })) {
    const id = await createLink(client, linkBy(method), region)
    await table(t, name => cancel(client, id, 'x', name), {
      [WRONG_REGION]: ['IN', 'GB'],
      [UNKNOWN]: ['EU', 'US', 'UK'].filter(name => name !== region),
      204: [region],
    })
  }
})

t.test('decisions §8: no way to read links under /api/v1 is invented', async t => {
  const client = await newClient()
  const one = `${LINKS}/${await createLink(client)}`
  await table(t, input => client.send(input.split(' ')[0], input.split(' ')[1]), {
    [WRONG_METHOD]: [`GET ${LINKS}`, `GET ${one}/cancel`],
    [NO_ROUTE]: [`GET ${one}`, `DELETE ${one}`],
  })
  t.equal((await client.get(LINKS)).headers.allow?.includes('GET'), false)
})

// ------------------------------------------------------------------------------------------------ claim, decline

/** Decisions §8: after the claim, only the last four characters of the account number are kept. */
const masked = (claim: { accountIdentifier: string }) => ({
  ...claim,
  accountIdentifier: claim.accountIdentifier.replace(/.(?=.{4})/g, '*'),
})

t.test('decisions §8: a claim that has what its method asks for is taken', async t => {
  const client = await newClient()
  for (const [method, { claim }] of Object.entries(METHODS)) {
    const id = await createLink(client, linkBy(method), regionOf(method))
    const { status, body } = await verb(client, id, 'claim', claim)
    t.match([status, body.record.status, body.timeline.at(-1).cause], [200, 'CLAIMED', 'control'], method)
    t.same(body.record.claim, masked(claim))
  }
  const numbers = ['1234', '12345', '1234567', '12345678', '123456789'].map(
    accountIdentifier => mask({ accountHolderName: 'Jane Doe', accountIdentifier }).accountIdentifier,
  )
  t.same(numbers, ['**34', '***45', '****567', '****5678', '*****6789'], 'of a short number, at most half stays')
})

t.test('decisions §8: each method asks for an account, a branch and a type of its own', async t => {
  const client = await newClient()
  const account = invalid('accountIdentifier')
  const type = invalid('branchIdentifier.type')
  const value = invalid('branchIdentifier.value')
  const branches = (name: string, values: string[]) =>
    values.map(one => ({ branchIdentifier: { type: name, value: one } }))
  const types = (names: string[], one: string) => names.flatMap(name => branches(name, [one]))
  const accounts = (values: unknown[]) => values.map(accountIdentifier => ({ accountIdentifier }))
  const uk = [
    ...each(accounts(['1234567', '123456789', '1234567x', '1234 5678', 'GB29NWBK60161331926819']), account),
    ...each([{ branchIdentifier: undefined }], missing('branchIdentifier')),
    ...each(types(['ROUTING', 'BIC', 'IFSC', 'ABA'], '123456'), type),
    ...each([{ accountType: 'CHECKING' }], invalid('accountType')),
    ...each(branches('SORT', ['12345', '1234567', '12-34-56', '12345x']), value),
  ]
  const cases: Record<string, (readonly [unknown, string])[]> = {
    'SEPA-CT': each(
      accounts([
        ...['DE89370400440532013001', 'DE8937040044053201300', 'DE89 3704 0044 0532 0130 00'],
        ...['de89370400440532013000', '12345678', 'XX89370400440532013000'],
        // Valid, but of no SEPA country.
        'SA0380000000608010167519',
      ]),
      account,
    ),
    'SEPA-INSTANT': [
      ...each(accounts(['DE89370400440532013001']), account),
      ...each(branches('BIC', ['COBADEFFXXX']), invalid('branchIdentifier')),
      ...each([{ accountType: 'CHECKING' }], invalid('accountType')),
    ],
    'UK-BACS': uk,
    'UK-FAST': uk,
    'US-ACH': [
      ...each(accounts(['123', '1'.repeat(18), '12a4', '1234 5678', '-1234', 'DE89370400440532013000']), account),
      ...each([{ branchIdentifier: undefined }], missing('branchIdentifier')),
      ...each([{ branchIdentifier: {} }], missing('branchIdentifier.type')),
      ...each([{ branchIdentifier: { type: 'ROUTING' } }], missing('branchIdentifier.value')),
      ...each([{ branchIdentifier: '021000021' }], invalid('branchIdentifier')),
      ...each(types(['SORT', 'BIC', 'IFSC', 'ABA'], '021000021'), type),
      ...each(branches('ROUTING', ['021000022', '000000000', '02100002', '0210000210', '02100002x']), value),
      ...each([{ accountType: undefined }], missing('accountType')),
      ...each(
        ['', 'checking', 'CURRENT', null].map(accountType => ({ accountType })),
        invalid('accountType'),
      ),
      ...['accountHolderName', 'accountIdentifier'].flatMap(field => [
        ...each([{ [field]: undefined }, { [field]: '' }], missing(field)),
        ...each(
          NO_TEXT.map(wrong => ({ [field]: wrong })),
          invalid(field),
        ),
      ]),
      ...each([{ accountHolderName: '💶'.repeat(141) }], invalid('accountHolderName')),
    ],
  }
  for (const [method, wrong] of Object.entries(cases)) {
    const id = await createLink(client, linkBy(method), regionOf(method))
    await holds(t, wrong, changes => verb(client, id, 'claim', { ...METHODS[method]?.claim, ...changes }))
    t.equal(gist(await client.control('POST', `/payout-links/${id}/claim`)), missing('accountHolderName'), 'no body')
    t.equal((await explain(client, id)).record.status, 'ACTIVE', `${method} is not claimed`)
  }
  const named = await createLink(client, payoutLink({ accountHolderName: 'Jane Doe' }))
  const other = { ...sepaClaim, accountHolderName: 'John Doe' }
  t.equal(gist(await verb(client, named, 'claim', other)), invalid('accountHolderName'), 'not the name of the link')
  t.equal((await verb(client, named, 'claim', sepaClaim)).status, 200, 'the name of the link')
  const right = [
    ['SEPA-CT', { accountIdentifier: 'FR1420041010050500013M02606' }],
    ['US-ACH', { accountIdentifier: '1234' }],
    ['US-ACH', { accountIdentifier: '1'.repeat(17), accountType: 'SAVINGS' }],
    ['US-ACH', { branchIdentifier: { type: 'ROUTING', value: '011401533' } }],
    ['UK-FAST', { accountHolderName: '💶'.repeat(140) }],
  ]
  await holds(t, each(right, '200'), async ([method, changes]) => {
    const id = await createLink(client, linkBy(method), regionOf(method))
    return verb(client, id, 'claim', { ...METHODS[method]?.claim, ...changes })
  })
})

t.test('decisions §8: a declined link is REJECTED, with remarks of 1 to 256 characters', async t => {
  const client = await newClient()
  const decline = async (remarks: unknown) => {
    const answer = await verb(client, await createLink(client), 'decline', { remarks })
    const { status, decline } = answer.body.record ?? {}
    return answer.status === 200 ? `${status} ${decline.remarks === remarks}` : answer
  }
  await table(t, decline, {
    'REJECTED true': ['x', 'x'.repeat(256), '💶'.repeat(256)],
    [invalid('remarks')]: ['', '💶'.repeat(257), ...NO_TEXT],
  })
})

// ---------------------------------------------------------------------------------------------------------- time

t.test('decisions §8: a link that is not claimed is EXPIRED at expiresAt, to the second', async t => {
  const client = await newClient()
  const expiryPeriod = 'PT10M'
  const id = await createLink(client, payoutLink({ expiryPeriod }))
  const claimed = await createLink(client, payoutLink({ expiryPeriod }))
  const at = '2026-11-02T09:10:00Z'
  t.same((await explain(client, id)).next, { at, to: 'EXPIRED' })
  await client.advance({ by: 'PT9M59S' })
  t.equal((await explain(client, id)).record.status, 'ACTIVE', 'one second before')
  t.equal((await verb(client, claimed, 'claim', sepaClaim)).status, 200, 'in its last second')
  const { transitions } = (await client.advance({ by: 'PT1S' })).body
  t.same(transitions, [{ at, kind: 'payoutLink', reference: id, from: 'ACTIVE', to: 'EXPIRED' }])
  const { record, next, timeline } = await explain(client, id)
  t.same([record.status, record.updatedAt, next, timeline.at(-1).cause], ['EXPIRED', at, null, 'time'])
  t.equal(gist(await verb(client, id, 'claim', sepaClaim)), ILLEGAL)
})

t.test('control plane, Skip to payday: a link expires before the next request', async t => {
  let real = Date.parse('2026-11-02T09:00:00Z')
  const client = await connect(build(t, { clock: 'real', now: () => real }))
  const id = await createLink(client, payoutLink({ expiryPeriod: 'PT10M' }))
  real += 599_999
  t.equal((await explain(client, id)).record.status, 'ACTIVE')
  real += 1
  t.equal(gist(await verb(client, id, 'claim', sepaClaim)), ILLEGAL)
})

/** Claims a link at each moment, in their order, and compares the moments at which it will be PAID, or their days. */
async function paid(t: Parameters<typeof holds>[0], method: string, cases: [claimedAt: string, paidAt: string][]) {
  const client = await openEarly(regionOf(method))
  await holds(t, cases, async (claimedAt, index) => {
    await client.advance({ to: claimedAt })
    const id = await createLink(client, linkBy(method))
    await verb(client, id, 'claim', METHODS[method]?.claim)
    const { next } = (await verb(client, id, 'process')).body
    return next.to === 'PAID' ? next.at.slice(0, cases[index]?.[1].length) : next.to
  })
}

t.test('decisions §8: SEPA-INSTANT and UK-FAST are PAID 10 s after the claim, on any day', async t => {
  for (const method of ['SEPA-INSTANT', 'UK-FAST']) {
    await paid(t, method, [
      ['2026-10-25T00:59:55Z', '2026-10-25T01:00:05Z'],
      ['2026-12-25T23:59:55Z', '2026-12-26T00:00:05Z'],
    ])
  }
})

// The tests of core/business-days have the closed days of each calendar.
t.test('decisions §8: SEPA-CT is PAID on the next T2 day at 14:00 in Berlin', t =>
  paid(t, 'SEPA-CT', [
    // Over Easter; Friday and Saturday into summer time.
    ['2026-04-02T09:00:00Z', '2026-04-07T12:00:00Z'],
    ['2026-10-23T09:00:00Z', '2026-10-26T13:00:00Z'],
    ['2026-10-24T09:00:00Z', '2026-10-26T13:00:00Z'],
    // Midnight in Berlin.
    ['2026-11-02T22:59:59Z', '2026-11-03T13:00:00Z'],
    ['2026-11-02T23:00:00Z', '2026-11-04T13:00:00Z'],
  ]),
)

t.test('decisions §8: US-ACH is PAID on the next Fed day at 06:00 in New York', t =>
  paid(t, 'US-ACH', [
    // Good Friday is a Fed day; Friday and Saturday out of daylight saving time; Veterans Day.
    ['2026-04-02T15:00:00Z', '2026-04-03T10:00:00Z'],
    ['2026-10-30T15:00:00Z', '2026-11-02T11:00:00Z'],
    ['2026-10-31T15:00:00Z', '2026-11-02T11:00:00Z'],
    // Midnight in New York.
    ['2026-11-03T04:59:59Z', '2026-11-03T11:00:00Z'],
    ['2026-11-03T05:00:00Z', '2026-11-04T11:00:00Z'],
    ['2026-11-10T15:00:00Z', '2026-11-12T11:00:00Z'],
  ]),
)

/** decisions §8 gives no hour for UK-BACS: the day in London is compared. */
t.test('decisions §8: UK-BACS is PAID after two UK business days', t =>
  // decisions §8 gives no hour.
  paid(t, 'UK-BACS', [
    ['2026-03-27T09:00:00Z', '2026-03-31'],
    // Midnight in London, in summer time; the summer bank holiday.
    ['2026-06-02T22:59:59Z', '2026-06-04'],
    ['2026-06-02T23:00:00Z', '2026-06-05'],
    ['2026-08-28T09:00:00Z', '2026-09-02'],
    ['2026-11-05T09:00:00Z', '2026-11-09'],
    ['2026-11-07T09:00:00Z', '2026-11-10'],
  ]),
)

t.test('decisions §8: a claimed link is PROCESSING, then PAID at the very second that was told', async t => {
  for (const method of Object.keys(METHODS)) {
    const client = await newClient(regionOf(method))
    const id = await createLink(client, linkBy(method))
    const state = async () => (await explain(client, id)).record
    const { next: processing } = (await verb(client, id, 'claim', METHODS[method]?.claim)).body
    await client.advance({ to: processing.at })
    const { record, next } = await explain(client, id)
    await client.advance({ to: secondBefore(next.at) })
    t.same([record.status, (await state()).status], ['PROCESSING', 'PROCESSING'], method)
    await client.advance({ to: next.at })
    t.match(await state(), { status: 'PAID', updatedAt: next.at }, method)
  }
})

// ------------------------------------------------------------------------------------------------------- seeding

t.test('control plane, POST /seed: links of any past can be given, and go on', async t => {
  const client = await newClient()
  const past = { createdAt: '2026-11-01T09:00:00Z' }
  const claimedAt = '2026-11-02T08:59:58Z'
  const claimed = { status: 'CLAIMED', claimedAt, updatedAt: claimedAt, claim: sepaClaim }
  const payoutLinks = [
    linkBy('SEPA-INSTANT', { payoutLinkId: 'seed-claimed', ...past, ...claimed }),
    payoutLink({ payoutLinkId: 'seed-processing', status: 'PROCESSING', ...past, updatedAt: '2026-11-01T10:00:00Z' }),
    linkBy('UK-BACS', { payoutLinkId: 'seed-embedded', uiMode: 'embedded', origin: 'http://localhost:3000' }),
    payoutLink({ payoutLinkId: 'seed-stale', createdAt: '2026-01-01T09:00:00Z' }),
  ]
  t.equal((await client.control('POST', '/seed', { records: { payoutLinks } })).status, 200)
  t.equal((await explain(client, 'seed-processing')).next.at, '2026-11-02T13:00:00Z', 'the next T2 day')
  t.equal(gist(await cancel(client, 'seed-embedded', 'x', 'UK')), '204', 'the region follows from the currency')
  await client.advance({ to: '2026-11-02T09:00:08Z' })
  t.match((await explain(client, 'seed-claimed')).record, { status: 'PAID', updatedAt: '2026-11-02T09:00:08Z' })
  t.equal((await explain(client, 'seed-stale')).record.status, 'EXPIRED', 'its expiry had passed')
})

t.test('control plane, POST /seed: links are validated as the API does', async t => {
  const client = await newClient()
  const at = 'records.payoutLinks.0'
  const claimed = (method: string, changes: object) =>
    linkBy(method, { status: 'CLAIMED', claim: { ...METHODS[method]?.claim, ...changes } })
  await table(t, wrong => client.control('POST', '/seed', { records: { payoutLinks: [wrong] } }), {
    [invalid(`${at}.payoutLinkId`)]: [payoutLink({ payoutLinkId: 'short' })],
    [missing(`${at}.amount`)]: [payoutLink({ amount: undefined })],
    [invalid(`${at}.status`)]: [payoutLink({ status: 'OPEN' })],
    [`400 AMOUNT_LIMIT_EXCEEDED ${at}.amount`]: [linkBy('UK-FAST', { amount: '1000000.01' })],
    [invalid(`${at}.expiryPeriod`)]: [payoutLink({ expiryPeriod: 'PT1M' })],
    [`403 ORIGIN_NOT_ALLOWED ${at}.origin`]: [
      payoutLink({ uiMode: 'embedded', origin: SHOP }),
      payoutLink({ uiMode: 'embedded', origin: SHOP, status: 'PAID' }),
    ],
    [invalid(`${at}.claim.accountIdentifier`)]: [claimed('SEPA-CT', { accountIdentifier: '1234' })],
    [missing(`${at}.claim.branchIdentifier`)]: [claimed('UK-BACS', { branchIdentifier: undefined })],
    [missing(`${at}.claim.accountType`)]: [claimed('US-ACH', { accountType: undefined })],
  })
})
