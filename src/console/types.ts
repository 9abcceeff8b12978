/** The answers of the control plane. They are the types of its schemas, more exact where a schema allows anything. */
import type { Static, TSchema } from '@sinclair/typebox'
import type { ErrorEnvelope } from '../core/errors.js'
import type { ClientList } from '../sandbox/clients/schemas.js'
import type { ClockAdvanced, ClockState, UpcomingList } from '../sandbox/clock/schemas.js'
import type { Event as EventSchema } from '../sandbox/events/schemas.js'
import type { AnyFound, ExplainedRecord, KindList } from '../sandbox/kinds/schemas.js'
import type { ScenarioList } from '../sandbox/scenarios/schemas.js'

export type Fields = Readonly<Record<string, string>>
export type AnyRecord = Readonly<Record<string, unknown>>

type Items<T extends TSchema> = Static<T> extends { data: (infer Item)[] } ? Item : never
/** A type with some of its members more exact. */
type With<T, Members> = Omit<T, keyof Members> & Members

export type Refusal = With<ErrorEnvelope, { code: string }>

export type Kind = Items<typeof KindList>
/** A body that makes a transition. */
export type TransitionForm = NonNullable<Kind['lifecycle']>['operations'][number]['forms'][number]

export type Found = With<Items<typeof AnyFound>, { region: string; record: AnyRecord }>
export type Event = Static<typeof EventSchema>
export type Explained = With<ExplainedRecord, { record: AnyRecord }>
export type Step = Explained['forecast'][number]
export type Legal = Explained['legal'][number]
export type Outcome = NonNullable<Explained['outcomes']>[number]
export type Coming = Items<typeof UpcomingList>
export type Client = With<Items<typeof ClientList>, { counts: Readonly<Record<string, number>> }>
export type Clock = Static<typeof ClockState>
export type Advanced = Static<typeof ClockAdvanced>
export type Scenario = Items<typeof ScenarioList>

export type { LoggedExchange as LoggedRequest } from '../sandbox/request-log/exchange.js'

export interface StoryStep {
  readonly title: string
  readonly button: string
  readonly before: string
  readonly after: string
  readonly ends?: Fields
  readonly kind: string
  readonly record: AnyRecord
  readonly until?: readonly string[]
  readonly opens?: string
  /** The request of the step. Null if the scenario makes the step. */
  readonly request: SentCall | null
}

/** A request that the console sends. */
export interface SentCall {
  readonly method: string
  /** Below the server, such as `/_sandbox/faults`. */
  readonly path: string
  readonly region?: string | undefined
  /** A JSON value, or a file. */
  readonly body?: unknown
}
