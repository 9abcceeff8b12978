import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import { areas } from '../src/areas/index.js'
import { parseInstant } from '../src/core/time/time.js'
import { OWN_FIXTURES } from '../src/package.js'
import { createScenarios } from '../src/sandbox/scenarios/files.js'
import type { ServerOptions } from '../src/server.js'
import { buildServer } from '../src/server.js'
import { loadFixtures } from '../src/tenants/fixtures.js'

/** A Monday, 10:00 in Berlin, far from any closed day: where a test's clock stands unless it says otherwise. */
export const MONDAY = '2026-11-02T09:00:00Z'

/** The counts of a client without records. */
export const NO_RECORDS = Object.fromEntries(Object.keys(areas).map(name => [name, 0]))

interface Teardown {
  teardown(close: () => Promise<void>): void
}

export interface BuildOptions extends Partial<Omit<ServerOptions, 'frozenAt'>> {
  /** Where every tenant's clock starts, frozen; `real`: running, with `now`. */
  clock?: string
}

const fixtures = loadFixtures(OWN_FIXTURES)
/** Their files are read once in a process. */
const scenarios = createScenarios(OWN_FIXTURES)

/** Returns the options of a server with a frozen clock and a fixed seed, which the given ones replace. */
export const serverOptions = ({ clock = MONDAY, ...options }: BuildOptions = {}): ServerOptions => ({
  seed: 'test',
  frozenAt: clock === 'real' ? undefined : parseInstant(clock),
  fixtures,
  scenarios,
  clients: [],
  openRegistration: true,
  maxTenants: 2000,
  tokenLifetime: 3600,
  publicUrl: () => 'http://127.0.0.1:8080',
  now: () => 0,
  ...options,
})

/** Timers that do not wait. */
export const NO_WAIT = {
  elapsed: () => 0,
  later(_milliseconds: number, work: () => void) {
    setImmediate(work)
    return () => {}
  },
  flush() {},
}

/** A fresh server that does not listen, with a frozen clock and a fixed seed. It closes with the test. */
export function build(t: Teardown, options: BuildOptions = {}): FastifyInstance {
  const { app } = buildServer(serverOptions(options))
  t.teardown(() => app.close())
  return app
}

/** What a call answered; `body` is the parsed JSON, the text of a page, or null where there is no content. */
export interface Answer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  body: any
  headers: LightMyRequestResponse['headers']
}

export interface CallOptions {
  region?: string | null
  headers?: Record<string, string>
  /** A JSON body; a string or Buffer goes out as it is. */
  body?: unknown
}

export async function call(
  app: FastifyInstance,
  method: string,
  url: string,
  options: CallOptions = {},
): Promise<Answer> {
  const { body, headers = {}, region } = options
  const isRaw = typeof body === 'string' || Buffer.isBuffer(body)
  const response = await app.inject({
    method: method as 'GET',
    url,
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(region && { 'x-region': region }),
      ...headers,
    },
    ...(body !== undefined && { payload: isRaw ? body : JSON.stringify(body) }),
  })
  // Unlike HTTP, inject shows the content that an answer to HEAD leaves out.
  const hasContent = response.payload !== '' && method !== 'HEAD'
  const isHtml = String(response.headers['content-type']).startsWith('text/html')
  return {
    status: response.statusCode,
    body: hasContent ? (isHtml ? response.payload : response.json()) : null,
    headers: response.headers,
  }
}

/** A client that has its token and names its region: `client.get('/api/v1/mandates')`. */
export interface Client {
  readonly app: FastifyInstance
  readonly clientId: string
  readonly token: string
  send(method: string, url: string, options?: CallOptions): Promise<Answer>
  get(url: string, options?: CallOptions): Promise<Answer>
  post(url: string, body?: unknown, options?: CallOptions): Promise<Answer>
  patch(url: string, body?: unknown, options?: CallOptions): Promise<Answer>
  delete(url: string, options?: CallOptions): Promise<Answer>
  /** A call of the control plane for this client: `client.control('POST', '/clock/advance', { by: 'P1D' })`. */
  control(method: string, path: string, body?: unknown): Promise<Answer>
  /** The body that a call of the control plane by GET answers. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  read(path: string): Promise<any>
  /** Moves the clock and asks for a new token, since the old one may have expired on the way. */
  advance(step: { by: string } | { to: string } | { toNextEvent: true }): Promise<Answer>
}

export async function connect(
  app: FastifyInstance,
  clientId = 'acme',
  region = 'EU',
  clientSecret = 'secret',
): Promise<Client> {
  const credentials = { client_id: clientId, client_secret: clientSecret }
  const issue = async () => (await requestToken(app, credentials)).body.access_token as string
  let token = await issue()

  const send = (method: string, url: string, options: CallOptions = {}) =>
    call(app, method, url, {
      region,
      ...options,
      headers: { authorization: `Bearer ${token}`, ...options.headers },
    })
  const control = (method: string, path: string, body?: unknown) => {
    const separator = path.includes('?') ? '&' : '?'
    return call(app, method, `/_sandbox${path}${separator}client=${encodeURIComponent(clientId)}`, { body })
  }

  return {
    app,
    clientId,
    get token() {
      return token
    },
    send,
    get: (url, options) => send('GET', url, options),
    post: (url, body, options) => send('POST', url, { body, ...options }),
    patch: (url, body, options) => send('PATCH', url, { body, ...options }),
    delete: (url, options) => send('DELETE', url, options),
    control,
    read: async path => (await control('GET', path)).body,
    async advance(step) {
      const answer = await control('POST', '/clock/advance', step)
      token = await issue()
      return answer
    },
  }
}

let shared: FastifyInstance | undefined
let clients = 0

/** Returns a client of its own on a server that the tests of a process share, since a server takes longer than a test. */
export function newClient(region = 'EU'): Promise<Client> {
  shared ??= buildServer(serverOptions()).app
  return connect(shared, `client-${++clients}`, region)
}

/** A token request, with whatever fields the test changes; undefined leaves one out. */
export function requestToken(app: FastifyInstance, fields: Record<string, string | undefined> = {}): Promise<Answer> {
  const all = { client_id: 'acme', client_secret: 'secret', grant_type: 'client_credentials', ...fields }
  const form = new URLSearchParams(
    Object.entries(all).filter((field): field is [string, string] => field[1] !== undefined),
  )
  return call(app, 'POST', '/api/v1/oauth/token', {
    body: form.toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
}

/** Returns one member of each item. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into lists of every shape
export const pluck = (items: readonly any[], name: string): any[] => items.map(item => item[name])

/** A mandate request that is accepted. */
export const mandate = (changes: object = {}) => ({
  mandateReference: 'MND-0001',
  type: 'RECURRING',
  creditor: { name: 'Acme GmbH', bankIdentifier: { type: 'CREDITOR_IDENTIFIER', value: 'DE98ZZZ09999999999' } },
  debtor: { name: 'Jane Doe', iban: 'DE89370400440532013000' },
  ...changes,
})

/** A collection request that is accepted on MONDAY, under the mandate MND-0001. */
export const collection = (changes: object = {}) => ({
  collectionReference: 'COL-0001',
  mandateReference: 'MND-0001',
  amount: '10.50',
  currency: 'EUR',
  collectionDate: '2026-11-09',
  ...changes,
})

/** A payout link request that is accepted in region EU. */
export const payoutLink = (changes: object = {}) => ({
  amount: '25',
  currency: 'EUR',
  payoutMethod: 'SEPA-CT',
  ...changes,
})

/** A bill request that is accepted in region EU. */
export const bill = (changes: object = {}) => ({
  uniqueReferenceIdentifier: 'INV-2026-001',
  type: 'INVOICE',
  cashflowType: 'INFLOW',
  counterpartyReference: 'CPTY-0001',
  currency: 'EUR',
  totalAmount: '1190.00',
  dueDate: '2026-12-01',
  ...changes,
})

/** Gives a client a bill `B-1` that has changed so often that it has this number of events, the last one to OPEN or PAID. */
export async function changedOften({ control }: Client, count: number) {
  await control('POST', '/seed', { records: { bills: [bill({ uniqueReferenceIdentifier: 'B-1' })] } })
  const state = (await control('GET', '/state')).body
  const [created] = state.events
  const changes = Array.from({ length: count - 1 }, (_, at) => {
    const [from, to] = at % 2 === 0 ? ['OPEN', 'PAID'] : ['PAID', 'OPEN']
    return { ...created, seq: at + 2, from, to }
  })
  const events = [created, ...changes]
  const [first] = state.bills
  return control('PUT', '/state', { ...state, events, bills: [{ ...first, timeline: events.map(({ seq }) => seq) }] })
}
