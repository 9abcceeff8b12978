import fc from 'fast-check'
import type { FastifyInstance } from 'fastify'
import { codePoint } from './code-point.js'
import { bill, collection, mandate, payoutLink } from './helper.js'
import { MULTIPART, multipart } from './multipart.js'

/**
 * Random requests of one tenant, drawn so that many are legal. Nothing here knows what will come of them; placeholders
 * stand for what only a run can know: `@MND3` is one of its latest mandates, `@COL3` a collection, `@LINK3` a payout
 * link, `@NEW` a number that was never used, `@D+5` a date counted from the tenant's clock.
 */
export interface RandomRequest {
  /** `control`: below /_sandbox, for this tenant. */
  readonly plane: 'api' | 'control' | 'token'
  readonly method: string
  readonly path: string
  readonly region?: string
  /** JSON; a Buffer goes out as it is. */
  readonly body?: object | Buffer
  readonly contentType?: string
}

const upTo = (count: number) => fc.integer({ min: 1, max: count })
const oneOf = <T>(...values: readonly T[]) => fc.constantFrom(...values)
/** An object of which some members are left out. */
const some = <T extends object>(members: { [name in keyof T]: fc.Arbitrary<T[name]> }) =>
  fc.record<Partial<T>>(members, { requiredKeys: [] })

/** Mostly the first, seldom the second. */
const mostly = <T>(first: fc.Arbitrary<T>, second: fc.Arbitrary<T>, weight = 9) =>
  fc.oneof({ weight, arbitrary: first }, { weight: 1, arbitrary: second })

const mandateReference = mostly(
  upTo(1000).map(n => `@MND${n}`),
  oneOf('MND-NONE', 'a b', 'x'),
  40,
)
const collectionReference = mostly(
  upTo(1000).map(n => `@COL${n}`),
  oneOf('COL-NONE', 'x'),
  40,
)
const billReference = upTo(25).map(n => `INV_${1000 + n}`)
const counterpartyReference = upTo(8).map(n => `CPTY-${1000 + n}`)
const link = mostly(
  upTo(1000).map(n => `@LINK${n}`),
  oneOf('pl_nothing', 'x'),
  40,
)
/** Seldom a region that the operation does not serve. */
const regionOf = (...served: readonly string[]) => mostly(oneOf(...served), oneOf('GB', 'IN', 'EU'), 30)
const amount = mostly<unknown>(
  fc.integer({ min: 100, max: 99_999_999 }).map(cents => (cents / 100).toFixed(2)),
  oneOf<unknown>('0', '01.00', '1000000000', 12, null),
  40,
)
const text = mostly(fc.string({ minLength: 1, maxLength: 20 }), fc.string({ unit: codePoint, maxLength: 8 }), 30)
/** What no operation asks for. */
const SECRETS = { client_secret: 'hush-member', clientSecret: 'hush-camel' }

const api = (method: string, path: string, region: string, body?: object): RandomRequest => ({
  plane: 'api',
  method,
  path: `/api/v1${path}`,
  region,
  ...(body !== undefined && { body }),
})
const control = (method: string, path: string, body?: object): RandomRequest => ({
  plane: 'control',
  method,
  path: `/_sandbox${path}`,
  ...(body !== undefined && { body }),
})

const OUTCOMES = [
  'SIM-REJECTED-AC01',
  'SIM-REJECTED-AC04',
  'SIM-RETURNED-AM04',
  'SIM-RETURNED-MD06',
  'SIM-FAILED',
  'SIM-CANCELLED',
  'SIM-STUCK-SUBMITTED',
]

const newMandate = fc
  .tuple(
    mostly(fc.constant('MND-@NEW'), mandateReference),
    regionOf('EU'),
    oneOf('RECURRING', 'RECURRING', 'ONE_OFF'),
    some({
      frequency: oneOf('WEEKLY', 'ANNUAL'),
      signatureDate: mostly(oneOf('2026-01-31'), oneOf('2026-02-30')),
      extra: text,
    }),
    some({ reference: text, emailAddress: mostly(oneOf('a@b.example'), oneOf('nobody')) }),
  )
  .map(([reference, region, type, more, debtor]) =>
    api(
      'POST',
      '/mandates',
      region,
      mandate({ mandateReference: reference, type, ...more, debtor: { ...mandate().debtor, ...debtor } }),
    ),
  )

const newCollection = fc
  .tuple(
    mostly(fc.constant('COL-@NEW'), collectionReference),
    mandateReference,
    regionOf('EU'),
    amount,
    mostly(fc.integer({ min: 6, max: 25 }), fc.integer({ min: -1, max: 6 })),
    some({ debtorReference: oneOf('mine', ...OUTCOMES), debtorName: text, access_token: fc.constant('hush-access') }),
  )
  .map(([reference, mandateRef, region, value, days, more]) =>
    api(
      'POST',
      '/direct-debit',
      region,
      collection({
        collectionReference: reference,
        mandateReference: mandateRef,
        amount: value,
        collectionDate: `@D+${days}`,
        ...more,
      }),
    ),
  )

const METHODS = [
  { region: 'EU', currency: 'EUR', payoutMethod: 'SEPA-CT' },
  { region: 'EU', currency: 'EUR', payoutMethod: 'SEPA-INSTANT' },
  { region: 'US', currency: 'USD', payoutMethod: 'US-ACH' },
  { region: 'UK', currency: 'GBP', payoutMethod: 'UK-FAST' },
  { region: 'UK', currency: 'EUR', payoutMethod: 'UK-BACS' },
]
const newLink = fc
  .tuple(
    oneOf(...METHODS),
    amount,
    some({
      uiMode: oneOf('hosted', 'embedded'),
      origin: mostly(oneOf('https://shop.example'), oneOf('https://other.example')),
      expiryPeriod: oneOf('PT10M', 'pt12h'),
      remarks: text,
    }),
  )
  .map(([{ region, ...method }, value, more]) =>
    api('POST', '/payout-links', region, payoutLink({ ...method, amount: value, ...more })),
  )

const REGIONS = [
  { region: 'EU', currency: 'EUR' },
  { region: 'US', currency: 'USD' },
  { region: 'UK', currency: 'GBP' },
  { region: 'IN', currency: 'INR' },
]
const newBill = fc
  .tuple(
    oneOf(...REGIONS),
    billReference,
    counterpartyReference,
    amount,
    some({ openAmount: oneOf('0', '1.00', '5000000'), description: text }),
  )
  .map(([{ region, currency }, reference, counterparty, totalAmount, more]) =>
    api(
      'POST',
      '/bills',
      region,
      bill({
        uniqueReferenceIdentifier: reference,
        counterpartyReference: counterparty,
        currency,
        totalAmount,
        ...more,
      }),
    ),
  )

const region = regionOf('EU', 'US', 'UK', 'IN')
const billUpdate = fc
  .tuple(
    billReference,
    region,
    some({
      status: oneOf('PAID', 'PARTIALLY_PAID', 'CANCELLED', 'OPEN'),
      openAmount: amount,
      dueDate: oneOf('2027-01-31'),
    }),
  )
  .map(([reference, at, body]) => api('PATCH', `/bills/${reference}`, at, body))

/** A document of random bytes, which may be no text; seldom of no format that is taken. */
const document = fc
  .tuple(billReference, region, oneOf('%PDF-1.7\n', '%PDF-1.7\n', 'GIF89a'), fc.uint8Array({ maxLength: 2000 }))
  .map(
    ([reference, at, magic, bytes]): RandomRequest => ({
      ...api('POST', `/bills/${reference}/document`, at),
      contentType: MULTIPART['content-type'],
      body: multipart({ fileName: 'é.pdf', type: null, content: Buffer.concat([Buffer.from(magic), bytes]) }),
    }),
  )

const counterpartyUpdate = fc
  .tuple(
    counterpartyReference,
    region,
    some({
      accountHolderName: text,
      emailAddress: oneOf('a@b.example'),
      mobileNumber: oneOf('+4915112345678', '0151'),
      address: fc.constant({ line1: 'Street 1', city: 'Berlin', country: 'DE' }),
    }),
  )
  .map(([reference, at, body]) => api('PATCH', `/counterparties/${reference}`, at, body))

const cancellations = fc.oneof(
  mandateReference.map(reference => api('DELETE', `/mandates/${reference}`, 'EU')),
  fc
    .tuple(link, regionOf('EU', 'EU', 'EU', 'US', 'UK'), text)
    .map(([id, at, cancellationComment]) =>
      api('PATCH', `/payout-links/${id}/cancel`, at, { cancellationComment, ...SECRETS }),
    ),
)

const reads = fc.oneof(
  fc
    .tuple(oneOf('direct-debit', 'mandates', 'bills', 'accounts'), oneOf('GET', 'GET', 'HEAD'), oneOf('', '?limit=3'))
    .map(([list, method, query]) => api(method, `/${list}${query}`, 'EU')),
  collectionReference.map(reference => api('GET', `/direct-debit/${reference}`, 'EU')),
)

const verbs = fc.oneof(
  fc
    .tuple(
      collectionReference,
      oneOf('submit', 'submit', 'process', 'process', 'settle', 'settle', 'fail', 'reject', 'return', 'cancel'),
      some({ reasonCode: oneOf('AC01', 'AC04', 'AM04', 'MD06', 'AC13') }),
    )
    .map(([reference, verb, body]) => control('POST', `/direct-debit/${reference}/${verb}`, body)),
  fc
    .tuple(mandateReference, mostly(oneOf('activate'), oneOf('fail', 'cancel', 'expire')))
    .map(([reference, verb]) => control('POST', `/mandates/${reference}/${verb}`)),
  fc
    .tuple(link, oneOf('process', 'pay', 'fail', 'expire', 'decline'))
    .map(([id, verb]) => control('POST', `/payout-links/${id}/${verb}`)),
  link.map(id =>
    control('POST', `/payout-links/${id}/claim`, {
      accountHolderName: 'Jane Doe',
      accountIdentifier: 'DE89370400440532013000',
    }),
  ),
)

const clock = fc.oneof(
  oneOf('PT10M', 'PT30M', 'PT20H', 'P1D', 'P3D', '-P1D').map(by => control('POST', '/clock/advance', { by })),
  fc.constant(control('POST', '/clock/advance', { toNextEvent: true })),
  some({ mode: oneOf('running', 'frozen'), rate: mostly(oneOf(1, 1, 60), oneOf(3600, 86_400, 0)) }).map(body =>
    control('PATCH', '/clock', body),
  ),
)

const faultId = upTo(60).map(n => `fault-${n}`)
const match = some({
  method: oneOf('GET', 'HEAD', 'POST', 'PATCH', 'DELETE'),
  path: oneOf('/api/v1/*', '*direct-debit*', '/api/v1/oauth/token', '*/bills/INV_100*', '/api/v1/nowhere'),
  region: oneOf('EU', 'US'),
})
const faults = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .tuple(
        mostly(match, oneOf({ method: 'POST' }, { path: '/api/v1/*' }, {}), 1),
        some({
          times: oneOf(null, 2, 5, 9),
          skip: oneOf(0, 1, 3),
          probability: oneOf(0.3, 0.7, 1),
          ttl: oneOf('PT1S', 'PT1M', 'PT1H', 'PT10H', 'PT10H', 'PT0S'),
        }),
        fc.oneof(
          fc.record({ kind: fc.constant('error'), status: oneOf(429, 500, 503, 404, 418) }),
          fc.constant({
            kind: 'error',
            status: 402,
            code: 'NO_MONEY',
            message: 'None left.',
            headers: { password: 'x' },
          }),
          fc.constant({ kind: 'delay', distribution: 'uniform', min: 0, max: 900 }),
          fc.constant({ kind: 'delay', distribution: 'lognormal', median: 50, sigma: 1, max: 1000 }),
          fc.constant({ kind: 'stale-token' }),
        ),
      )
      .map(([matched, when, effect]) => control('POST', '/faults', { match: matched, ...when, effect })),
  },
  { weight: 2, arbitrary: faultId.map(id => control('DELETE', `/faults/${id}`)) },
  { weight: 1, arbitrary: fc.constant(control('DELETE', '/faults')) },
)

const outcomeId = upTo(20).map(n => `outcome-${n}`)
const outcomes = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .tuple(
        mostly(
          oneOf('FAILED', 'RETURNED-AM04', 'REJECTED-AC01', 'CANCELLED', 'STUCK-PROCESSING'),
          oneOf('SIM-FAILED', 'PAID'),
        ),
        some({ match: some({ mandateReference, payoutMethod: oneOf('SEPA-CT') }), times: oneOf(null, 2, 5, 0) }),
      )
      .map(([outcome, more]) => control('POST', '/outcomes', { outcome, ...more })),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(collectionReference, oneOf('FAILED', 'RETURNED-AM04', 'SETTLED', 'STUCK-PENDING'))
      .map(([reference, outcome]) => control('PUT', `/direct-debit/${reference}/outcome`, { outcome })),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(link, oneOf('FAILED', 'STUCK-PROCESSING'))
      .map(([id, outcome]) => control('PUT', `/payout-links/${id}/outcome`, { outcome })),
  },
  { weight: 2, arbitrary: outcomeId.map(id => control('DELETE', `/outcomes/${id}`)) },
  { weight: 1, arbitrary: fc.constant(control('DELETE', '/outcomes')) },
)

const settings = fc.oneof(
  some({
    mandateActivation: oneOf('automatic', 'automatic', 'manual'),
    deprecationStyle: oneOf('seed', 'rfc'),
    allowedOrigins: oneOf(['https://shop.example'], [], ['shop']),
  }).map(body => control('PUT', '/settings', body)),
  fc
    .array(
      fc.record(
        {
          operation: oneOf('GET /api/v1/bills', 'POST /api/v1/bills', 'GET /api/v1/nothing'),
          sunset: oneOf('@D+2T00:00:00Z', '@D+-2T00:00:00Z'),
          deprecatedSince: oneOf('2020-01-01T00:00:00Z'),
          goneAfterSunset: fc.boolean(),
        },
        { requiredKeys: ['operation'] },
      ),
      { maxLength: 2 },
    )
    .map(data => control('PUT', '/deprecations', { data })),
  fc.constant(control('DELETE', '/deprecations')),
  mostly(fc.constant(control('DELETE', '/deprecations')), fc.constant(control('POST', '/tokens/expire')), 3),
)

const seeds = fc.tuple(mandateReference, billReference, text).map(([mandateRef, billRef, extra]) =>
  control('POST', '/seed', {
    records: {
      mandates: [{ ...mandate({ mandateReference: mandateRef }), status: 'PENDING' }],
      bills: [{ ...bill({ uniqueReferenceIdentifier: billRef }), extra }],
    },
  }),
)

/** A request of a tenant, legal or not. */
export const randomRequest: fc.Arbitrary<RandomRequest> = fc.oneof(
  { weight: 6, arbitrary: newMandate },
  { weight: 18, arbitrary: newCollection },
  { weight: 8, arbitrary: newLink },
  { weight: 8, arbitrary: newBill },
  { weight: 6, arbitrary: billUpdate },
  { weight: 4, arbitrary: document },
  { weight: 5, arbitrary: counterpartyUpdate },
  { weight: 6, arbitrary: cancellations },
  { weight: 5, arbitrary: reads },
  { weight: 18, arbitrary: verbs },
  { weight: 8, arbitrary: clock },
  { weight: 5, arbitrary: faults },
  { weight: 5, arbitrary: outcomes },
  { weight: 4, arbitrary: settings },
  { weight: 1, arbitrary: seeds },
  { weight: 1, arbitrary: fc.constant(control('POST', '/seed', { fixture: 'demo' })) },
  { weight: 2, arbitrary: fc.constant<RandomRequest>({ plane: 'token', method: 'POST', path: '/api/v1/oauth/token' }) },
)

/** The requests that a seed gives, always the same. */
export const randomRequests = (seed: number, count: number): RandomRequest[] =>
  fc.sample(randomRequest, { seed, numRuns: count })

/** What came of a request: the text, as a client sees it. */
export interface Played {
  readonly status: number
  readonly text: string
}

/** A request as it goes out. */
export interface Outgoing {
  readonly method: string
  readonly url: string
  readonly headers: Record<string, string>
  readonly payload?: string | Buffer | undefined
}

/** What carries requests to a server. */
export type Transport = (request: Outgoing) => Promise<Played>

/** Straight into a server that does not listen. */
export const injecting =
  (app: FastifyInstance): Transport =>
  async ({ method, url, headers, payload }) => {
    const response = await app.inject({
      method: method as 'GET',
      url,
      headers,
      ...(payload !== undefined && { payload }),
    })
    // On the wire, Node leaves it out.
    return { status: response.statusCode, text: method === 'HEAD' ? '' : response.payload }
  }

/** Of the records that a client knows, it goes on with so many. */
const LATEST = 12

/** A client that sends such requests as a tenant, with whatever it has learned from earlier answers. */
export function createPlayer(
  transport: Transport,
  clientId: string,
  secret = `hush ${clientId}`,
  known = { token: '', count: 1000, MND: ['MND-NONE'], COL: ['COL-NONE'], LINK: ['pl_nothing'] },
) {
  const send = (method: string, url: string, headers: Record<string, string>, payload?: string | Buffer) =>
    transport({ method, url, headers, payload })

  async function control(method: string, path: string, body?: object): Promise<Played> {
    const headers: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
    return send(method, `/_sandbox${path}?client=${clientId}`, headers, body && JSON.stringify(body))
  }

  async function authenticate(): Promise<Played> {
    const played = await send(
      'POST',
      '/api/v1/oauth/token?access_token=hush-query',
      { 'content-type': 'application/x-www-form-urlencoded' },
      `grant_type=client_credentials&client_secret=${encodeURIComponent(secret)}&client_id=${clientId}&password=hush-password`,
    )
    if (played.status === 200) known.token = JSON.parse(played.text).access_token
    return played
  }

  /** Puts in what the run knows. */
  async function fill(text: string): Promise<string> {
    const named = text
      .replaceAll(/@(MND|COL|LINK)(\d+)/g, (_, kind: 'MND' | 'COL' | 'LINK', n) => {
        const latest = known[kind].slice(-LATEST)
        return latest[n % latest.length] as string
      })
      .replaceAll('@NEW', () => `${++known.count}`)
    if (!named.includes('@D')) return named
    const { now } = JSON.parse((await control('GET', '/clock')).text)
    const dateIn = (days: number) => new Date(Date.parse(now) + days * 86_400_000).toISOString().slice(0, 10)
    return named.replaceAll(/@D\+(-?\d+)/g, (_, days) => dateIn(Number(days)))
  }

  function learn({ mandateReference, collectionReference, payoutLinkId }: Record<string, string>) {
    if (payoutLinkId !== undefined) known.LINK.push(payoutLinkId)
    else if (collectionReference !== undefined) known.COL.push(collectionReference)
    else if (mandateReference !== undefined) known.MND.push(mandateReference)
  }

  async function sendApi({ method, path, region = '', body, contentType = 'application/json' }: RandomRequest) {
    const payload = body === undefined || Buffer.isBuffer(body) ? body : await fill(JSON.stringify(body))
    const headers = {
      authorization: `Bearer ${known.token}`,
      'x-region': region,
      ...(payload !== undefined && { 'content-type': contentType }),
    }
    return send(method, await fill(path), headers, payload)
  }

  return {
    clientId,
    /** The same client at a server that has been restarted. */
    movedTo: (restarted: Transport) => createPlayer(restarted, clientId, secret, known),
    control,
    authenticate,
    async play(request: RandomRequest): Promise<Played> {
      const { plane, method, path, body } = request
      if (plane === 'token') return authenticate()
      if (plane === 'control') {
        const filled = await fill(JSON.stringify({ path, body }))
        const { path: target, body: value } = JSON.parse(filled)
        return control(method, target.slice('/_sandbox'.length), value)
      }
      let played = await sendApi(request)
      // As any client does.
      if (played.status === 401 && (await authenticate()).status === 200) played = await sendApi(request)
      if (played.status === 201) learn(JSON.parse(played.text))
      return played
    },
  }
}
