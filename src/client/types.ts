/**
 * The types of the library, beside those of records (records.ts). They are those of the server's schemas.
 *
 * Formats: moments are `YYYY-MM-DDThh:mm:ssZ`, dates `YYYY-MM-DD`, amounts decimal strings.
 * Durations are ISO 8601 without years and months, for example `P3D` or `PT90M`.
 */
import type { Static } from '@sinclair/typebox'
import type * as clients from '../sandbox/clients/schemas.js'
import type * as clock from '../sandbox/clock/schemas.js'
import type { CoverageReport } from '../sandbox/coverage/schemas.js'
import type * as deprecations from '../sandbox/deprecations/schemas.js'
import type * as events from '../sandbox/events/schemas.js'
import type * as faults from '../sandbox/faults/schemas.js'
import type { Effect } from '../sandbox/faults/state.js'
import type * as outcomes from '../sandbox/outcomes/schemas.js'
import type * as requests from '../sandbox/request-log/schemas.js'
import type { LoggedExchange } from '../sandbox/request-log/state.js'
import type * as scenarios from '../sandbox/scenarios/schemas.js'
import type * as settings from '../sandbox/settings/schemas.js'
import type * as state from '../sandbox/state/schemas.js'
import type { Filter, Input } from './input.js'

export type { LoggedExchange }

/** Records to seed, in any state: the fields of the API, plus `status` and times. */
export type SeedRecords = Input<state.SeedRecords>
/** The result of `seed()`: the numbers of added records and of all records. */
export type SeedResult = Static<typeof state.SeedResult>
/** The result of `reset()` and `restore()`. */
export type ResetResult = Static<typeof clients.TenantSummary>
/** The number of records of each kind. */
export type Counts = ResetResult['counts']
/** A client as one document. */
export type State = state.TenantSnapshot
/** A state document of this or an earlier release, which lacks members that later releases have added. */
export type StateDocument = state.StateDocument
/** The settings of a client. */
export type Settings = settings.Settings

/** The time of a client. */
export type ClockState = Static<typeof clock.ClockState>
/** The time of a client after a step, with the transitions that happened during the step. */
export type ClockAdvanced = Static<typeof clock.ClockAdvanced>
/** A step of the clock: by a duration, to a moment, or to the next scheduled event. */
export type ClockStep =
  | { readonly by: string; readonly to?: never; readonly toNextEvent?: never }
  | { readonly by?: never; readonly to: string; readonly toNextEvent?: never }
  | { readonly by?: never; readonly to?: never; readonly toNextEvent: true }

/** The transitions that are due next, in order. `nextCursor` is null on the last page. */
export type UpcomingPage = Static<typeof clock.UpcomingList>
/** The page of `upcoming()`: `limit` is 1 to 100 (20), `cursor` the `nextCursor` of the page before. */
export type UpcomingQuery = Filter<Omit<Static<typeof clock.UpcomingQuery>, 'client'>>

/** A fault to arm: the requests that match, the number of times and the effect. */
export type FaultRequest = Input<Static<typeof faults.FaultRequest>>
/** A fault with its state. */
export type Fault = Static<typeof faults.Fault>
export type { Effect }

/** An outcome to arm: the new records that match, and the number of times. */
export type OutcomeRequest = Input<Static<typeof outcomes.OutcomeRequest>>
/** An armed outcome with its state. */
export type ArmedOutcome = Static<typeof outcomes.ArmedOutcome>
/** The outcomes of the product, and the armed ones. */
export type OutcomeTable = Static<typeof outcomes.OutcomeTable>
/** A scenario with its parameters. */
export type Scenario = Static<typeof scenarios.ScenarioList>['data'][number]
/** The parameters of a scenario by name, for example `{ reasonCode: 'AM04' }`. */
export type ScenarioParameters = Static<typeof scenarios.ScenarioParameters>
/** The values and the answers of a scenario. */
export type ScenarioResult = Omit<Static<typeof scenarios.ScenarioResult>, 'values'> & {
  values: Record<string, string | number>
}
/** Requests that a test expects. Default: at least one. */
export type Expectation = Input<Static<typeof requests.Verification>>
/** The result of an expectation, with the nearest misses if it does not hold. */
export type Verification = Static<typeof requests.VerificationResult>
/** The answers that the application has met since its reset, and those that it has missed. */
export type Coverage = Static<typeof CoverageReport>
/** A filter of the request log. `*` in `path` matches any characters. */
export type RequestFilter = Filter<Omit<Static<typeof requests.RequestQuery>, 'client' | 'format'>>
/** The requests as a HAR 1.2 document. */
export type Har = Static<typeof requests.Har>

/** A change of state with its number and cause. */
export type Event = Static<typeof events.EventList>['data'][number]
/** A change of state. */
export type Transition = ClockAdvanced['transitions'][number]
export type EventKind = Event['kind']

/** A deprecated operation. */
export type Deprecation = Static<typeof deprecations.DeprecationList>['data'][number]
/** A deprecation to set. Default: deprecated from now on, without a sunset. */
export type DeprecationRequest = Input<Static<typeof deprecations.DeprecationsUpdate>['data'][number]>

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
  /** The client id of the application: 1 to 64 letters, digits, dots, underscores or hyphens. Default: `app`. */
  readonly clientId?: string | undefined
  /** The client secret of the application. Default: `secret`. */
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
  readonly to?: string | undefined
  /** Only events with a higher `seq`. */
  readonly after?: number | undefined
}

/** The options of `events.next()`. */
export interface NextOptions {
  /** The timeout in whole seconds. Default: 4. */
  readonly timeoutSeconds?: number | undefined
}
