/** What brought a change of state about: a call of the API, time, a call of the control plane, an outcome on demand. */
export type Cause = 'api' | 'time' | 'control' | 'outcome'

export type EventKind = 'mandate' | 'collection' | 'payoutLink' | 'bill'

/** One change of state of one record (control plane, Shapes). `from` is null on creation. */
export interface Event {
  /** Position among the tenant's events, from 1. */
  readonly seq: number
  /** The tenant's time, YYYY-MM-DDThh:mm:ssZ. */
  readonly at: string
  readonly kind: EventKind
  readonly reference: string
  readonly from: string | null
  readonly to: string
  readonly reasonCode?: string
  readonly cause: Cause
}

/** A tenant's changes of state, in order. */
export interface EventLog {
  append(event: Omit<Event, 'seq'>): Event
  /** The `seq` of the latest event; 0 before the first. */
  last(): number
  /** The event of a `seq`; undefined: there is none. */
  at(seq: number): Event | undefined
  /** The events with a `seq` above the given one. */
  after(seq: number): readonly Event[]
}

/** @param earlier events of an earlier life, numbered from 1 */
export function createEventLog(earlier: readonly Event[] = []): EventLog {
  const events = [...earlier]
  return {
    append(event) {
      const numbered = { seq: events.length + 1, ...event }
      events.push(numbered)
      return numbered
    },
    last: () => events.length,
    at: seq => events[seq - 1],
    after: seq => events.slice(seq),
  }
}
