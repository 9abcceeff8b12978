/// <reference lib="esnext.disposable" preserve="true" />

import { randomUUID } from 'node:crypto'
import { toCurl, toExpectation } from '../sandbox/request-log/snippets.js'
import type { Call, Connection } from './connection.js'
import { createConnection } from './connection.js'
import { ExpectationError } from './errors.js'
import { createEvents } from './events.js'
import { evidenceOf, writeEvidence } from './evidence.js'
import { describeExpectation } from './expectation.js'
import type { Names } from './options.js'
import { assertOptions } from './options.js'
import type { Records, Region } from './records.js'
import { createRecords } from './records.js'
import type * as types from './types.js'

export interface ClientOptions {
  /** The URL of the server without a trailing slash. */
  readonly url: string
  readonly clientId: string
  readonly clientSecret: string
  readonly adminToken?: string | undefined
  /** The settings that `reset()` restores. */
  readonly settings?: Partial<types.Settings> | undefined
  /** Whether `close()` removes the client from the server. Default: false. */
  readonly isTemporary?: boolean
  /** Runs after the client has closed its connections. */
  closed?(): Promise<void> | void
}

const COVERAGE_OPTIONS: Names<types.CoverageOptions> = { clients: true }

/** Creates the methods of a client, except the methods of events and records. `forget` resets the positions of `events.next`. */
function createCalls(connection: Connection, control: Call, forget: () => void, options: ClientOptions) {
  const { url, clientId, clientSecret, settings: initial } = options

  const all = async <T>(path: string, filter: object = {}) =>
    (await control<{ data: T[] }>('GET', path, { query: { ...filter } })).data

  const remove = async (path: string) => (await control<{ removed: number }>('DELETE', path)).removed

  const verify = (expectation: types.Expectation): Promise<types.Verification> =>
    control('POST', '/requests/verify', { body: expectation })
  const settings = (changes?: Partial<types.Settings>): Promise<types.Settings> =>
    changes === undefined ? control('GET', '/settings') : control('PUT', '/settings', { body: changes })

  return {
    /** The URL of the server without a trailing slash. The API is at `${url}/api/v1/…`. */
    url,
    /** The `client_id` of the app. */
    clientId,
    /** The `client_secret` of the app. */
    clientSecret,
    /** The clock of the client. */
    clock: {
      get: (): Promise<types.ClockState> => control('GET', '/clock'),
      /** Stops the clock. */
      freeze: (): Promise<types.ClockState> => control('PATCH', '/clock', { body: { mode: 'frozen' } }),
      /** Starts the clock. */
      resume: (): Promise<types.ClockState> => control('PATCH', '/clock', { body: { mode: 'running' } }),
      /** Sets the rate of a running clock: 1 to 86400 seconds per second. */
      setRate: (rate: number): Promise<types.ClockState> => control('PATCH', '/clock', { body: { rate } }),
      /** Moves the clock forward. Scheduled events happen at their own times. Tokens can expire. */
      advance: (step: types.ClockStep): Promise<types.ClockAdvanced> =>
        control('POST', '/clock/advance', { body: step }),
    },
    /** The faults of the client, in the order of arming. */
    faults: {
      /** Arms a fault. Rejects if the fault can never fire. */
      arm: (fault: types.FaultRequest): Promise<types.Fault> => control('POST', '/faults', { body: fault }),
      /** Lists all faults, including spent and expired ones. */
      list: (): Promise<types.Fault[]> => all('/faults'),
      async remove(id: string): Promise<void> {
        await remove(`/faults/${encodeURIComponent(id)}`)
      },
      /** Removes all faults. Resolves to their number. */
      clear: (): Promise<number> => remove('/faults'),
    },
    /** The request log of the client. It is bounded: the oldest requests are dropped first. */
    requests: {
      /**
       * Lists the requests of the app with their responses. Secrets are masked. With `wait`, an empty list waits so
       * many seconds for the next request.
       */
      list: (filter?: types.RequestFilter): Promise<types.LoggedExchange[]> => all('/requests', filter),
      /** Returns one request by its `seq`. Rejects if the log does not have it. */
      get: (seq: number): Promise<types.LoggedExchange> => control('GET', `/requests/${seq}`),
      /** Returns the requests that match as a HAR 1.2 document. Secrets are masked. */
      har: (filter: types.RequestFilter = {}): Promise<types.Har> =>
        control('GET', '/requests', { query: { ...filter, format: 'har' } }),
      /** Returns a request of the log as a curl command. The access token is `$TOKEN`. */
      toCurl: (request: types.LoggedExchange): string => toCurl(request, url),
      /** Returns a request of the log as a line of a test: `await sandbox.requests.expect({ … })`. */
      toExpectation: (request: types.LoggedExchange): string => toExpectation(request),
      /** Counts the requests that match. */
      verify,
      /**
       * Counts the requests that match. Rejects with an `ExpectationError` if the expectation does not hold. Where the
       * variable `SANDBOX_EVIDENCE` names a folder, it writes requests, events and explanations to a file there.
       */
      async expect(expectation: types.Expectation): Promise<types.Verification> {
        const verification = await verify(expectation)
        if (verification.matched) return verification
        const facts = { message: describeExpectation(expectation, verification), expectation, verification }
        const { message, path } = await evidenceOf({ clientId, control }, 'expect', facts)
        throw new ExpectationError(message, verification, path)
      },
      /** Empties the log. Resolves to the number of requests. */
      clear: (): Promise<number> => remove('/requests'),
    },
    /** The armed outcomes of the client, in the order of arming. */
    outcomes: {
      /** Steers the next matching collections or payout links that the API creates. Rejects if it can never apply. */
      arm: (outcome: types.OutcomeRequest): Promise<types.ArmedOutcome> =>
        control('POST', '/outcomes', { body: outcome }),
      /** Lists all armed outcomes, including spent ones. */
      list: async (): Promise<types.ArmedOutcome[]> => (await control<types.OutcomeTable>('GET', '/outcomes')).armed,
      async remove(id: string): Promise<void> {
        await remove(`/outcomes/${encodeURIComponent(id)}`)
      },
      /** Removes all armed outcomes. Resolves to their number. */
      clear: (): Promise<number> => remove('/outcomes'),
    },
    /** The scenarios of the server. */
    scenarios: {
      /** Lists the scenarios with their parameters. */
      list: (): Promise<types.Scenario[]> => all('/scenarios'),
      /** Brings the client into the state of a scenario, or fails without a change. */
      run: (name: string, parameters: types.ScenarioParameters = {}): Promise<types.ScenarioResult> =>
        control('POST', `/scenarios/${encodeURIComponent(name)}`, { body: parameters }),
    },
    /** The deprecated operations of the client. */
    deprecations: {
      list: (): Promise<types.Deprecation[]> => all('/deprecations'),
      /** Replaces all deprecations. */
      set: async (deprecations: readonly types.DeprecationRequest[]): Promise<types.Deprecation[]> =>
        (await control<{ data: types.Deprecation[] }>('PUT', '/deprecations', { body: { data: deprecations } })).data,
      /** Removes all deprecations. Resolves to their number. */
      clear: (): Promise<number> => remove('/deprecations'),
    },
    /** Returns a page of the transitions that are due next, in order. */
    upcoming: (query: types.UpcomingQuery = {}): Promise<types.UpcomingPage> =>
      control('GET', '/upcoming', { query: { ...query } }),
    /** Expires all tokens of the client. */
    async expireTokens(): Promise<void> {
      await control('POST', '/tokens/expire')
    },
    /** Adds the records of a fixture or given records; adds all of them or none. */
    seed: (what: string | types.SeedRecords): Promise<types.SeedResult> =>
      control('POST', '/seed', { body: typeof what === 'string' ? { fixture: what } : { records: what } }),
    /** Changes the given settings. Resolves to all settings. */
    settings,
    /** Restores the initial state: records, clock, ids, settings, faults, requests, events, tokens. */
    async reset(): Promise<types.ResetResult> {
      const result = await control<types.ResetResult>('POST', '/reset')
      forget()
      if (initial !== undefined) await settings(initial)
      return result
    },
    /** Reports the operations, statuses, error codes, states and pages that the app has seen, and missed. */
    async coverage(options: types.CoverageOptions = {}): Promise<types.Coverage> {
      assertOptions('coverage', options, COVERAGE_OPTIONS)
      const { clients = [clientId] } = options
      const query = clients === 'all' ? { clients } : { client: clients.join() }
      return connection.call({ method: 'GET', path: '/_sandbox/coverage', query })
    },
    /** Exports the client as one document. */
    state: (): Promise<types.State> => control('GET', '/state'),
    /** Replaces the whole client by a state document, or fails without a change. */
    async restore(state: types.StateDocument): Promise<types.ResetResult> {
      const result = await control<types.ResetResult>('PUT', '/state', { body: state })
      forget()
      return result
    },
    /**
     * Writes requests, events and explanations to a file of the folder that the variable `SANDBOX_EVIDENCE` names, for a hook
     * after a failed test. Resolves to the path of the file, or undefined if the variable is not set.
     * @param test the name of the test, which the file has
     */
    evidence: (test?: string): Promise<string | undefined> => writeEvidence({ clientId, control }, 'failure', { test }),
  }
}

/**
 * A client of a sandbox server: the credentials of the app and the control plane.
 *
 * All methods act on this client over HTTP. Each of them can reject with a `SandboxError`.
 */
export interface Sandbox
  extends Readonly<ReturnType<typeof createCalls>>,
    Records,
    Readonly<Pick<ReturnType<typeof createEvents>, 'events'>> {
  /** Requests a new access token. The request log contains this request. */
  token(): Promise<string>
  /**
   * Removes the client with all records from the server. Later calls reject.
   *
   * A client that always exists is reset instead: the client of `createSandbox`, `sandbox-client`, and listed clients.
   * Resolves to whether the client is removed.
   */
  delete(): Promise<boolean>
  /**
   * Creates an independent copy of the client with the same secret. Default: a random client id.
   *
   * Its `close()` removes it from the server, unless it is made with `keep: true`.
   */
  fork(options?: string | types.ForkOptions): Promise<Sandbox>
  /**
   * Closes the sandbox and its forks: pending calls reject.
   *
   * Closes the server too if `createSandbox` started it. A second call has no effect.
   */
  close(): Promise<void>
  /** Closes the sandbox, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
  /** Starts to close the sandbox and does not wait, for `using`. */
  [Symbol.dispose](): void
}

/** Creates a client of a sandbox server. Sends no request. */
export function createClient(options: ClientOptions): Sandbox {
  const { url, clientId, clientSecret, adminToken, closed } = options
  const connection = createConnection({ url, adminToken })
  const forks = new Set<Sandbox>()

  const control: Call = (method, path, { body, query } = {}) =>
    connection.call({ method, path: `/_sandbox${path}`, query: { client: clientId, ...query }, body })

  async function token() {
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }
    const { access_token } = await connection.call<{ access_token: string }>({
      method: 'POST',
      path: '/api/v1/oauth/token',
      body: new URLSearchParams(form),
    })
    return access_token
  }

  async function apiIn(region: Region): Promise<Call> {
    const headers = { authorization: `Bearer ${await token()}`, 'x-region': region }
    return (method, path, { body, query } = {}) =>
      connection.call({ method, path: `/api/v1${path}`, headers, body, query })
  }

  async function fork(given: string | types.ForkOptions = {}) {
    const forkOptions = typeof given === 'string' ? { clientId: given } : given
    assertOptions('fork', forkOptions, FORK_OPTIONS)
    const { clientId: forkId = `${clientId.slice(0, MAX_PREFIX)}-${randomUUID().slice(0, 8)}`, keep = false } =
      forkOptions
    await control('POST', '/fork', { body: { clientId: forkId } })
    const closed = () => void forks.delete(fork)
    const fork = createClient({ ...options, clientId: forkId, isTemporary: !keep, closed })
    forks.add(fork)
    return fork
  }

  /** Whether `close()` still has to remove the client. */
  let isTemporary = options.isTemporary === true

  async function end() {
    connection.close()
    await Promise.all([...forks].map(fork => fork.close()))
    if (isTemporary) {
      // The server may be gone, or have dropped the client.
      await removeClient(createConnection({ url, adminToken }), clientId).catch(() => {})
    }
    await closed?.()
  }

  let ending: Promise<void> | undefined
  function close() {
    ending ??= end()
    return ending
  }

  const { forget, ...events } = createEvents(connection, { clientId, control })
  return {
    ...createCalls(connection, control, forget, options),
    ...createRecords(control, apiIn),
    ...events,
    token,
    fork,
    async delete() {
      const isRemoved = await removeClient(connection, clientId)
      isTemporary = false
      forget()
      return isRemoved
    },
    close,
    [Symbol.asyncDispose]: close,
    [Symbol.dispose]: () => void close(),
  }
}

const FORK_OPTIONS: Names<types.ForkOptions> = { clientId: true, keep: true }

/** Removes a client from a server, or resets one that always exists. Resolves to whether it is removed. */
async function removeClient(connection: Connection, clientId: string): Promise<boolean> {
  const path = `/_sandbox/clients/${encodeURIComponent(clientId)}`
  return (await connection.call<{ removed: number }>({ method: 'DELETE', path })).removed === 1
}

/** The length of a client id, 64, without a hyphen and 8 random characters. */
const MAX_PREFIX = 64 - 9
