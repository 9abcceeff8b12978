/**
 * The types of the library, except the types of records (records.ts). They come from the OpenAPI documents.
 *
 * Formats: moments are `YYYY-MM-DDThh:mm:ssZ`, dates `YYYY-MM-DD`, amounts decimal strings.
 * Durations are ISO 8601 without years and months, for example `P3D` or `PT90M`.
 */
import type { Effect } from '../sandbox/faults/effect.js'
import type * as api from './api.js'
import type { Filter, Input } from './input.js'

export type { Effect }

/** Records to seed, in any state: the fields of the API, plus `status` and times. */
export type SeedRecords = Input<api.SeedRecords>
/** The result of `seed()`: the numbers of added records and of all records. */
export type SeedResult = api.SeedResult
/** The result of `reset()` and `restore()`. */
export type ResetResult = api.TenantSummary
/** The number of records of each kind. */
export type Counts = api.RecordCounts
/** A client as one document. */
export type State = api.TenantSnapshot
/** A state document of this or an earlier release, which lacks members that later releases have added. */
export type StateDocument = Input<api.StateDocument>
/** The settings of a client. */
export type Settings = api.Settings

/** The time of a client. */
export type ClockState = api.ClockState
/** The time of a client after a step, with the transitions that happened during the step. */
export type ClockAdvanced = api.ClockAdvanceResult
/** A step of the clock: by a duration, to a moment, or to the next scheduled event. */
export type ClockStep =
  | { readonly by: string; readonly to?: never; readonly toNextEvent?: never }
  | { readonly by?: never; readonly to: string; readonly toNextEvent?: never }
  | { readonly by?: never; readonly to?: never; readonly toNextEvent: true }

/** The transitions that are due next, in order. `nextCursor` is null on the last page. */
export type UpcomingPage = api.UpcomingList
/** The page of `upcoming()`: `limit` is 1 to 100 (20), `cursor` the `nextCursor` of the page before. */
export type UpcomingQuery = Filter<api.ListUpcomingQuery>

/** A fault to arm: the requests that match, the number of times and the effect. */
export type FaultRequest = Input<Omit<api.FaultRequest, 'effect'>> & { readonly effect: Effect }
/** A fault with its state. */
export type Fault = Omit<api.Fault, 'match' | 'effect'> & {
  /** The requests that the fault applies to. An empty object matches all. */
  match: api.FaultMatch
  /** The effect on the requests. */
  effect: Effect
}

/** An outcome to arm: the new records that match, and the number of times. */
export type OutcomeRequest = Input<api.OutcomeRequest>
/** An armed outcome with its state. */
export type ArmedOutcome = api.ArmedOutcome
/** The outcomes of the product, and the armed ones. */
export type OutcomeTable = api.OutcomeTable
/** A scenario with its parameters. */
export type Scenario = api.ScenarioList['data'][number]
/** The parameters of a scenario by name, for example `{ reasonCode: 'AM04' }`. */
export type ScenarioParameters = Readonly<api.ScenarioParameters>
/** The values and the answers of a scenario. */
export type ScenarioResult = Omit<api.ScenarioResult, 'values'> & {
  /** The values by name: parameters, and values from answers, such as the references of new records. */
  values: Record<string, string | number>
}
/** Requests that a test expects. Default: at least one. */
export type Expectation = Input<api.VerificationRequest>
/** The result of an expectation, with the nearest misses if it does not hold. */
export type Verification = api.VerificationResult
/** The answers that the app has seen since its reset, and the answers that it has missed. */
export type Coverage = api.CoverageReport
/** A filter of the request log. `*` in `path` matches any characters. */
export type RequestFilter = Filter<Omit<api.ListRequestsQuery, 'format'>>
/** The requests as a HAR 1.2 document. */
export type Har = api.Har
/** A logged request and its answer. */
export type LoggedExchange = Readonly<Omit<api.LoggedRequest, 'query' | 'headers' | 'responseHeaders' | 'faults'>> & {
  /** The query parameters by name. A repeated one is a list. */
  readonly query: Readonly<Record<string, string | string[]>>
  /** The headers of the request, by name in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The headers of the answer, by name in lower case. */
  readonly responseHeaders: Readonly<Record<string, string>>
  /** The faults that fired: `id` and the members of the effect without `message`, `headers` and `patch`. */
  readonly faults: readonly { readonly id: string; readonly kind: Effect['kind']; readonly [member: string]: unknown }[]
}

/** What has happened, for a test that has failed. */
export type Evidence = Omit<api.Evidence, 'requests' | 'records'> & {
  /** The requests of the log, in order. */
  requests: LoggedExchange[]
  /** The explanations of the records that requests mention, ordered by their latest event. */
  records: (Omit<api.ExplainedBill, 'record'> & { kind: Event['kind']; reference: string; record: object })[]
}

/** A change of state with its number and cause. */
export type Event = api.Event
/** A change of state. */
export type Transition = ClockAdvanced['transitions'][number]
export type EventKind = Event['kind']
/** A state of any kind of record. */
export type EventState = Event['to']
/** The ISO 20022 reason code of a rejected, returned or failed collection. */
export type ReasonCode = NonNullable<Event['reasonCode']>

/** A deprecated operation. */
export type Deprecation = api.Deprecation
/** A deprecation to set. Default: deprecated from now on, without a sunset. */
export type DeprecationRequest = Readonly<api.DeprecationRequest>

// ----------------------------------------------------------------------------------------------------------- options

/** The options of `createSandbox`. */
export interface SandboxOptions {
  /** The seed of ids and tokens. The default is constant, so each run gives the same ids. */
  readonly seed?: string | undefined
  /** A moment: the clocks of all clients start frozen at it. `real` (default): they run with the real time. */
  readonly clock?: string | undefined
  /** The fixture of the sandbox's own client: `empty` (default), `demo`, or a fixture of `fixtures`. */
  readonly fixture?: string | undefined
  /** A folder with additional fixtures, and with scenarios in its folder `scenarios`. */
  readonly fixtures?: string | undefined
  /** The client id of the app: 1 to 64 letters, digits, dots, underscores or hyphens. Default: `app`. */
  readonly clientId?: string | undefined
  /** The client secret of the app. Default: `secret`. */
  readonly clientSecret?: string | undefined
  /** Settings of the client. `reset()` restores them. */
  readonly settings?: Partial<Settings> | undefined
  /** The lifetime of a token in seconds of the client's clock. Default: 3600. */
  readonly tokenLifetime?: number | undefined
  /** The port on 127.0.0.1. Default: a free port. */
  readonly port?: number | undefined
  /** The bearer token that calls of the control plane need. The sandbox's own calls send it. */
  readonly adminToken?: string | undefined
  /** The limits of memory use. */
  readonly bounds?: SandboxBounds | undefined
}

/** The limits of memory use. */
export interface SandboxBounds {
  /** The maximum number of requests in the log of a client. Default: 1000. */
  readonly requestLogEntries?: number | undefined
  /** The maximum size of all request logs in bytes. Default: 16 MiB. */
  readonly requestLogBytes?: number | undefined
  /** @deprecated Use `requestLogEntries`. */
  readonly journalEntries?: number | undefined
  /** @deprecated Use `requestLogBytes`. */
  readonly journalBytes?: number | undefined
  /** The maximum number of clients. Clients without records are dropped first, then the longest idle. Default: 2000. */
  readonly maxTenants?: number | undefined
  /** The maximum number of records of a client, of all kinds together. Default: 50,000. */
  readonly maxRecords?: number | undefined
}

/** The options of `connectSandbox`. */
export interface ConnectOptions {
  /** The URL of the server, for example `http://127.0.0.1:8080`. */
  readonly url: string | { readonly href: string }
  /** The SANDBOX_ADMIN_TOKEN of the server. */
  readonly adminToken?: string | undefined
  /** The client. Default: `sandbox-client`, which has the `demo` fixture. */
  readonly clientId?: string | undefined
  /** The client secret. Default: the secret of `sandbox-client`, or `secret`. */
  readonly clientSecret?: string | undefined
}

/** The options of `fork()`. */
export interface ForkOptions {
  /** The client id of the fork. Default: a random one. */
  readonly clientId?: string | undefined
  /** Whether the fork stays on the server after its `close()`. Default: false. */
  readonly keep?: boolean | undefined
}

/** The options of `coverage()`. */
export interface CoverageOptions {
  /** The client ids whose coverage adds up, or all clients of the server. Default: the client of the sandbox. */
  readonly clients?: readonly string[] | 'all' | undefined
}

/** A filter of events. */
export interface EventFilter {
  readonly kind?: EventKind | undefined
  /** The reference or id of the record. */
  readonly reference?: string | undefined
  /** The new state of the record. */
  readonly to?: EventState | undefined
  /** Only events with a higher `seq`. */
  readonly after?: number | undefined
}

/** The options of `events.next()`. */
export interface NextOptions {
  /** The timeout in whole seconds. Default: 4. */
  readonly timeoutSeconds?: number | undefined
}
