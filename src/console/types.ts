/** The answers of the control plane, as far as the console shows them. */

export type Fields = Readonly<Record<string, string>>
export type AnyRecord = Readonly<Record<string, unknown>>

/** The error envelope of every refusal. */
export interface Refusal {
  readonly code: string
  readonly field: string | null
  readonly message: string
}

/** A body that makes a transition. */
export interface TransitionForm {
  /** The members that a record must have for this form. */
  readonly when: Fields
  readonly body: AnyRecord
  /** The members of the body that take the value of a member of the record. */
  readonly from: Fields
  /** The members of the body that are half of an amount of the record, rounded up to a cent. */
  readonly half: Fields
  readonly fields: readonly string[]
}

/** A kind of records (`GET /_sandbox/kinds`). */
export interface Kind {
  /** In the plural, as in counts and state documents, such as `payoutLinks`. */
  readonly name: string
  readonly noun: string
  readonly title: string
  /** The path of its calls below `/api/v1` and `/_sandbox`. */
  readonly path: string
  readonly reference: string
  readonly regions: 'EU' | 'shared' | 'apart'
  readonly columns: readonly string[]
  readonly empty: string
  /** Whether the API creates a record. */
  readonly isCreated: boolean
  /** The records of other kinds that a record names. */
  readonly names: readonly { readonly member: string; readonly name: string; readonly accepts: Fields }[]
  readonly outcomes: readonly string[]
  readonly lifecycle?: {
    /** The kind in events, such as `payoutLink`. */
    readonly kind: string
    readonly states: readonly string[]
    /** The states of a record that nothing stops. */
    readonly line: readonly string[]
    readonly transitions: readonly { readonly from: string; readonly verb: string; readonly to: string }[]
    readonly verbs: readonly {
      readonly verb: string
      readonly label: string
      readonly method: string
      readonly path: string
      readonly forms: readonly TransitionForm[]
    }[]
  }
}

/** An outcome that a record can have. */
export interface Outcome {
  readonly outcome: string
  readonly description: string
  readonly reasonCode?: string
}

export interface Found {
  readonly kind: string
  readonly region: string
  readonly createdAt: string
  readonly record: AnyRecord
}

export interface Event {
  readonly seq: number
  readonly at: string
  readonly kind: string
  readonly reference: string
  readonly from: string | null
  readonly to: string
  readonly cause: string
  readonly reasonCode?: string
}

/** A step that is still to come. */
export interface Step {
  readonly at: string
  readonly to: string
  readonly cause: string
  readonly reasonCode?: string
}

/** A transition that is legal now. */
export interface Legal {
  readonly verb: string
  readonly to: string
  readonly reasonCodes?: readonly string[]
  readonly until?: string
}

export interface Explained {
  readonly record: AnyRecord
  readonly timeline: readonly Event[]
  readonly omitted?: number
  readonly next: Pick<Step, 'at' | 'to'> | null
  readonly forecast: readonly Step[]
  readonly legal: readonly Legal[]
  /** Those that the record can still have. Absent: its kind has none. */
  readonly outcomes?: readonly Outcome[]
  readonly failed?: string
}

export interface Coming extends Step {
  readonly kind: string
  readonly reference: string
  readonly region: string
  readonly from: string
  readonly failed?: string
}

export interface LoggedRequest {
  readonly seq: number
  readonly at: string
  readonly receivedAt: string
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string | string[]>>
  readonly headers: Fields
  readonly body: unknown
  readonly text?: string | undefined
  readonly status: number | null
  readonly responseHeaders: Fields
  readonly responseBody: unknown
  readonly durationMs: number
  readonly faults: readonly {
    readonly id: string
    readonly kind: string
    readonly when?: string
    readonly status?: number
  }[]
  readonly hints: readonly string[]
  readonly records: readonly { readonly kind: string; readonly reference: string }[]
}

export interface Client {
  /** Whether the secret is the documented one. */
  readonly hasKnownSecret: boolean
  readonly clientId: string
  readonly fixture: string
  readonly counts: Readonly<Record<string, number>>
  readonly now: string
}

export interface Clock {
  readonly now: string
  readonly mode: 'frozen' | 'running'
  readonly rate: number
}

export interface Advanced {
  readonly now: string
  readonly transitions: readonly Event[]
  readonly omitted?: number
}

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
  /** The request of the step. Null: the scenario makes the step. */
  readonly request: SentCall | null
}

export interface Scenario {
  readonly name: string
  readonly summary: string
  readonly title?: string
  readonly movesClock: boolean
  readonly parameters: readonly {
    readonly name: string
    readonly description: string
    readonly default: string | number | null
  }[]
}

/** A request that the console sends. */
export interface SentCall {
  readonly method: string
  /** Below the server, such as `/_sandbox/faults`. */
  readonly path: string
  readonly region?: string | undefined
  readonly body?: unknown
}
