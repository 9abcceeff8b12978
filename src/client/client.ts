import { randomUUID } from 'node:crypto'
import type { Request } from './connection.js'
import { createConnection } from './connection.js'
import { createEvents } from './events.js'
import { toExpectationError } from './expectation.js'
import type {
  Bill,
  Collection,
  Deprecation,
  Expectation,
  Explained,
  Mandate,
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
    }
  }

  const collection = records<Collection>('direct-debit')
  const mandate = records<Mandate>('mandates')
  const payoutLink = records<PayoutLink>('payout-links')
  const bill = records<Bill>('bills')

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
    collections: {
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
      explain: reference => mandate.explain(reference),
      activate: mandate.move('activate'),
      fail: mandate.move('fail'),
      cancel: mandate.move('cancel'),
      expire: mandate.move('expire'),
    },
    payoutLinks: {
      explain: reference => payoutLink.explain(reference),
      claim: payoutLink.move('claim'),
      decline: payoutLink.move('decline'),
      process: payoutLink.move('process'),
      pay: payoutLink.move('pay'),
      fail: payoutLink.move('fail'),
      expire: payoutLink.move('expire'),
    },
    bills: {
      explain: (reference, { region } = {}) => bill.explain(reference, { region }),
    },
    deprecations: {
      list: () => all('/deprecations'),
      set: async deprecations =>
        (await control<{ data: Deprecation[] }>('PUT', '/deprecations', { body: { data: deprecations } })).data,
      clear: () => remove('/deprecations'),
    },
    async token() {
      const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }
      const { access_token } = await connection.call<{ access_token: string }>({
        method: 'POST',
        path: '/api/v1/oauth/token',
        body: new URLSearchParams(form),
      })
      return access_token
    },
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
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** The length of a client id, 64, without a hyphen and 8 random characters. */
const MAX_PREFIX = 64 - 9
