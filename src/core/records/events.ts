/** The cause of a transition: an API call, time, a call of the control plane, or an outcome on demand. */
export type Cause = 'api' | 'time' | 'control' | 'outcome'

/** One transition of one record (control plane, Shapes). */
export interface Event {
  /** Number in the tenant's event log, from 1. */
  readonly seq: number
  /** The tenant's time, YYYY-MM-DDThh:mm:ssZ. */
  readonly at: string
  /** The kind of the record, such as `mandate`. */
  readonly kind: string
  readonly reference: string
  /** Null on creation. */
  readonly from: string | null
  readonly to: string
  readonly reasonCode?: string
  readonly cause: Cause
}

/** An event before it is appended. */
export interface NewEvent extends Omit<Event, 'seq' | 'reasonCode'> {
  readonly reasonCode?: string | undefined
}

/** The conditions on events; a condition that is left out does not apply. */
export interface EventFilter {
  readonly kind?: string | undefined
  readonly reference?: string | undefined
}

/** All transitions of a tenant, in order. */
export interface EventLog {
  /** Appends an event and returns its `seq`. */
  append(event: NewEvent): number
  /** Adds the events of a database, which follow the latest one. */
  load(events: readonly Event[]): void
  /** Removes the events with a higher `seq`, to undo an operation. */
  truncate(last: number): void
  /** Returns the `seq` of the latest event, or 0. */
  last(): number
  /** Returns the event with a `seq`, or undefined. */
  at(seq: number): Event | undefined
  /** Returns the events with a higher `seq`. */
  after(seq: number): Event[]
  /** Returns the first `limit` matching events with a higher `seq`. `areAll`: there are no more of them. */
  select(after: number, filter: EventFilter, limit: number): { readonly events: Event[]; readonly areAll: boolean }
}

/** @param earlier events of a restored state, numbered from 1 */
export function createEventLog(earlier: readonly Event[] = []): EventLog {
  const events = [...earlier]

  return {
    append({ at, kind, reference, from, to, reasonCode, cause }) {
      const seq = events.length + 1
      events.push({ seq, at, kind, reference, from, to, ...(reasonCode !== undefined && { reasonCode }), cause })
      return seq
    },
    load(more) {
      for (const event of more) events.push(event)
    },
    truncate(last) {
      events.length = last
    },
    last: () => events.length,
    at: seq => events[seq - 1],
    after: seq => events.slice(seq),
    select(after, { kind, reference }, limit) {
      const selected: Event[] = []
      for (let index = after; index < events.length; index++) {
        const event = events[index] as Event
        if (kind !== undefined && event.kind !== kind) continue
        if (reference !== undefined && event.reference !== reference) continue
        if (selected.length === limit) return { events: selected, areAll: false }
        selected.push(event)
      }
      return { events: selected, areAll: true }
    },
  }
}
