import { firstIndex } from './list.js'

/**
 * The causes of transitions: an API call, time, a call of the control plane, an outcome on demand, a step of a scenario, a
 * page of the console, and a seed or fixture that had the record.
 */
export const CAUSES = ['api', 'time', 'control', 'outcome', 'scenario', 'console', 'seed'] as const
export type Cause = (typeof CAUSES)[number]

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
  readonly cause: Cause
  readonly reasonCode?: string
}

/** An event before it is appended. */
export interface NewEvent extends Omit<Event, 'seq' | 'reasonCode'> {
  readonly reasonCode?: string | undefined
}

/** The conditions on events; a condition that is left out does not apply. */
export interface EventFilter {
  readonly kind?: string | undefined
  readonly reference?: string | undefined
  /** The state after the transition. */
  readonly to?: string | undefined
}

export type EventLog = ReturnType<typeof createEventLog>

/** Returns an event with its members in the order of all answers. A document or an earlier release may have another. */
export const inOrder = ({ seq, at, kind, reference, from, to, cause, ...others }: Event): Event => ({
  ...{ seq, at, kind, reference, from, to, cause },
  ...others,
})

/**
 * Creates the log of all transitions of a tenant, in order.
 * @param earlier events of a restored state, numbered from 1
 */
export function createEventLog(earlier: readonly Event[] = []) {
  const events = earlier.map(inOrder)
  const listeners = new Map<string, (event: Event) => void>()

  return {
    /** Names the sender of the present request, where it is no app: the cause of what it does. */
    sender: undefined as 'scenario' | 'console' | undefined,
    /** Appends an event and returns its `seq`. */
    append({ at, kind, reference, from, to, reasonCode, cause: given }: NewEvent): number {
      const seq = events.length + 1
      const cause = (given === 'api' || given === 'control') && this.sender ? this.sender : given
      events.push({ seq, at, kind, reference, from, to, cause, ...(reasonCode !== undefined && { reasonCode }) })
      return seq
    },
    /** Calls a listener after each transition of records of a kind. A kind has one listener. */
    subscribe: (kind: string, listener: (event: Event) => void): void => void listeners.set(kind, listener),
    /** Tells the listener of its kind about the transition of an event. The records of seeds and states made none. */
    publish(seq: number): void {
      const event = events[seq - 1]
      if (event !== undefined) listeners.get(event.kind)?.(event)
    },
    /** Adds the events of a database, which follow the latest one. */
    load(more: readonly Event[]): void {
      for (const event of more) events.push(event)
    },
    /** Removes the events with a higher `seq`, to undo an operation. */
    truncate(last: number): void {
      events.length = last
    },
    /** Returns the `seq` of the latest event, or 0. */
    last: (): number => events.length,
    /** Returns the event with a `seq`, or undefined. */
    at: (seq: number): Event | undefined => events[seq - 1],
    /**
     * Returns the latest events of a record, oldest first. `omitted` counts the earlier ones.
     * @param timeline the `seq` of each event of the record, oldest first
     * @param before only events with a lower `seq`
     */
    latestOf(
      timeline: readonly number[],
      limit: number,
      before = Infinity,
    ): { readonly events: Event[]; readonly omitted: number } {
      const end = firstIndex(timeline, seq => seq >= before)
      const omitted = Math.max(0, end - limit)
      return { events: timeline.slice(omitted, end).flatMap(seq => events[seq - 1] ?? []), omitted }
    },
    /** Returns the events with a higher `seq`. */
    after: (seq: number): Event[] => events.slice(seq),
    /** Returns the first `limit` matching events with a higher `seq`. `areAll`: there are no more of them. */
    select(
      after: number,
      { kind, reference, to }: EventFilter,
      limit: number,
    ): { readonly events: Event[]; readonly areAll: boolean } {
      const selected: Event[] = []
      for (let index = after, event = events[index]; event !== undefined; event = events[++index]) {
        if (kind !== undefined && event.kind !== kind) continue
        if (reference !== undefined && event.reference !== reference) continue
        if (to !== undefined && event.to !== to) continue
        if (selected.length === limit) return { events: selected, areAll: false }
        selected.push(event)
      }
      return { events: selected, areAll: true }
    },
  }
}
