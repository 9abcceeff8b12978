import { randomUUID } from 'node:crypto'
import type { Currency, Region } from '../core/rules/regions.js'
import { CURRENCIES, regionOf } from '../core/rules/regions.js'
import type { Request } from './connection.js'
import { createConnection } from './connection.js'
import { createEvents } from './events.js'
import { toExpectationError } from './expectation.js'
import type {
  Account,
  Bill,
  Collection,
  CollectionSummary,
  Counterparty,
  Deprecation,
  Expectation,
  Explained,
  Mandate,
  OutcomeTable,
  PayoutLink,
  ResetResult,
  Sandbox,
  Settings,
  Verification,
} from './types.js'

export interface ClientOptions {
  /** The URL of the server without a trailing slash. */
  readonly url: string
  readonly clientId: string
  readonly clientSecret: string
  readonly adminToken?: string | undefined
  /** The settings that `reset()` restores. */
  readonly settings?: Partial<Settings> | undefined
  /** Runs after the client has closed its connections. */
  closed?(): Promise<void> | void
}

/** Creates a client of a sandbox server. Sends no request. */
export function createClient(options: ClientOptions): Sandbox {
  const { url, clientId, clientSecret, adminToken, settings: initial, closed } = options
  const connection = createConnection({ url, adminToken })
  const { events, forget } = createEvents(connection, clientId)
  const forks = new Set<Sandbox>()

  /** Calls a route of the control plane with this client id. */
  const control = <T>(method: Request['method'], path: string, { body, query }: Pick<Request, 'body' | 'query'> = {}) =>
    connection.call<T>({ method, path: `/_sandbox${path}`, query: { client: clientId, ...query }, body })

  const all = async <T>(path: string, filter: object = {}) =>
    (await control<{ data: T[] }>('GET', path, { query: { ...filter } })).data

  const remove = async (path: string) => (await control<{ removed: number }>('DELETE', path)).removed

  /** Creates the methods that explain and change the records of an area. */
  function records<R>(area: string) {
    const pathOf = (reference: string, verb = '') => `/${area}/${encodeURIComponent(reference)}${verb}`
    return {
      explain: (reference: string, query: Request['query'] = {}) =>
        control<Explained<R>>('GET', pathOf(reference), { query }),
      move: (verb: string) => (reference: string, body?: object) =>
        control<Explained<R>>('POST', pathOf(reference, `/${verb}`), { body }),
      setOutcome: (reference: string, outcome: string) =>
        control<Explained<R>>('PUT', pathOf(reference, '/outcome'), { body: { outcome } }),
    }
  }

  const collection = records<Collection>('direct-debit')
  const mandate = records<Mandate>('mandates')
  const payoutLink = records<PayoutLink>('payout-links')
  const bill = records<Bill>('bills')

  async function token() {
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }
    const { access_token } = await connection.call<{ access_token: string }>({
      method: 'POST',
      path: '/api/v1/oauth/token',
      body: new URLSearchParams(form),
    })
    return access_token
  }

  /** Returns a function that sends requests of the API in a region, all with one new token. */
  async function apiIn(region: Region) {
    const headers = { authorization: `Bearer ${await token()}`, 'x-region': region }
    return <T>(method: Request['method'], path: string, { body, query }: Pick<Request, 'body' | 'query'> = {}) =>
      connection.call<T>({ method, path: `/api/v1${path}`, headers, body, query })
  }

  const create = async <T>(path: string, body: object, region: Region = 'EU') =>
    (await apiIn(region))<T>('POST', path, { body })

  /** Returns the matching records of all pages. */
  async function list<T>(path: string, filter: object = {}, region: Region = 'EU'): Promise<T[]> {
    const send = await apiIn(region)
    const records: T[] = []
    for (let cursor: string | undefined; ; ) {
      const query = { ...filter, limit: MAX_PAGE, cursor }
      const { data, nextCursor } = await send<{ data: T[]; nextCursor?: string | null }>('GET', path, { query })
      records.push(...data)
      if (typeof nextCursor !== 'string') return records
      cursor = nextCursor
    }
  }

  const verify = (expectation: Expectation) => control<Verification>('POST', '/requests/verify', { body: expectation })

  const settings = (changes?: Partial<Settings>) =>
    changes === undefined
      ? control<Settings>('GET', '/settings')
      : control<Settings>('PUT', '/settings', { body: changes })

  async function close() {
    connection.close()
    await Promise.all([...forks].map(fork => fork.close()))
    await closed?.()
  }

  return {
    url,
    clientId,
    clientSecret,
    clock: {
      get: () => control('GET', '/clock'),
      freeze: () => control('PATCH', '/clock', { body: { mode: 'frozen' } }),
      resume: () => control('PATCH', '/clock', { body: { mode: 'running' } }),
      setRate: rate => control('PATCH', '/clock', { body: { rate } }),
      advance: step => control('POST', '/clock/advance', { body: step }),
    },
    faults: {
      arm: fault => control('POST', '/faults', { body: fault }),
      list: () => all('/faults'),
      async remove(id) {
        await remove(`/faults/${encodeURIComponent(id)}`)
      },
      clear: () => remove('/faults'),
    },
    requests: {
      list: filter => all('/requests', filter),
      verify,
      async expect(expectation) {
        const verification = await verify(expectation)
        if (!verification.matched) throw toExpectationError(expectation, verification)
        return verification
      },
      clear: () => remove('/requests'),
    },
    events,
    outcomes: {
      arm: outcome => control('POST', '/outcomes', { body: outcome }),
      list: async () => (await control<OutcomeTable>('GET', '/outcomes')).armed,
      async remove(id) {
        await remove(`/outcomes/${encodeURIComponent(id)}`)
      },
      clear: () => remove('/outcomes'),
    },
    collections: {
      list: filter => list<CollectionSummary>('/direct-debit', filter),
      create: body => create('/direct-debit', body),
      setOutcome: collection.setOutcome,
      explain: reference => collection.explain(reference),
      submit: collection.move('submit'),
      process: collection.move('process'),
      settle: collection.move('settle'),
      fail: collection.move('fail'),
      reject: collection.move('reject'),
      return: collection.move('return'),
      cancel: collection.move('cancel'),
    },
    mandates: {
      list: filter => list<Mandate>('/mandates', filter),
      create: body => create('/mandates', body),
      explain: reference => mandate.explain(reference),
      activate: mandate.move('activate'),
      fail: mandate.move('fail'),
      cancel: mandate.move('cancel'),
      expire: mandate.move('expire'),
    },
    payoutLinks: {
      create: body => create('/payout-links', body, regionFor(body)),
      setOutcome: payoutLink.setOutcome,
      explain: reference => payoutLink.explain(reference),
      claim: payoutLink.move('claim'),
      decline: payoutLink.move('decline'),
      process: payoutLink.move('process'),
      pay: payoutLink.move('pay'),
      fail: payoutLink.move('fail'),
      expire: payoutLink.move('expire'),
    },
    bills: {
      list: (filter, { region } = {}) => list<Bill>('/bills', filter, region),
      create: body => create('/bills', body, regionFor(body)),
      explain: (reference, { region } = {}) => bill.explain(reference, { region }),
    },
    counterparties: {
      async update(reference, changes, { region = 'EU' } = {}) {
        const send = await apiIn(region)
        return send<Counterparty>('PATCH', `/counterparties/${encodeURIComponent(reference)}`, { body: changes })
      },
    },
    accounts: {
      list: (filter, { region } = {}) => list<Account>('/accounts', filter, region),
    },
    deprecations: {
      list: () => all('/deprecations'),
      set: async deprecations =>
        (await control<{ data: Deprecation[] }>('PUT', '/deprecations', { body: { data: deprecations } })).data,
      clear: () => remove('/deprecations'),
    },
    token,
    async expireTokens() {
      await control('POST', '/tokens/expire')
    },
    seed: what => control('POST', '/seed', { body: typeof what === 'string' ? { fixture: what } : { records: what } }),
    settings,
    async reset() {
      const result = await control<ResetResult>('POST', '/reset')
      forget()
      if (initial !== undefined) await settings(initial)
      return result
    },
    coverage: () => control('GET', '/coverage'),
    state: () => control('GET', '/state'),
    async restore(state) {
      const result = await control<ResetResult>('PUT', '/state', { body: state })
      forget()
      return result
    },
    async fork(forkId = `${clientId.slice(0, MAX_PREFIX)}-${randomUUID().slice(0, 8)}`) {
      await control('POST', '/fork', { body: { clientId: forkId } })
      const fork = createClient({ ...options, clientId: forkId, closed: () => void forks.delete(fork) })
      forks.add(fork)
      return fork
    },
    recording: () => control('GET', '/recording'),
    async delete() {
      const path = `/_sandbox/clients/${encodeURIComponent(clientId)}`
      const { removed } = await connection.call<{ removed: number }>({ method: 'DELETE', path })
      forget()
      return removed === 1
    },
    close,
    [Symbol.asyncDispose]: close,
    [Symbol.dispose]: () => void close(),
  }
}

/** The length of a client id, 64, without a hyphen and 8 random characters. */
const MAX_PREFIX = 64 - 9

/** The most records of a page of the API. */
const MAX_PAGE = 500

/** Returns the region of a new record. The server refuses an unknown currency, whatever the region. */
const regionFor = ({ currency }: { readonly currency?: unknown }): Region =>
  CURRENCIES.includes(currency as Currency) ? regionOf(currency as Currency) : 'EU'
