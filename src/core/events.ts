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

/** What an event tells beside when and of which record. */
type Change = Pick<Event, 'kind' | 'from' | 'to' | 'reasonCode' | 'cause'>

/** An event that is to be appended. */
export interface NewEvent extends Omit<Event, 'seq' | 'reasonCode'> {
  readonly reasonCode?: string | undefined
}

/** What of the events is wanted; what is left out does not matter. */
export interface EventFilter {
  readonly kind?: EventKind | undefined
  readonly reference?: string | undefined
}

/** A tenant's changes of state, in order. Those of one record are chained, so that a record knows but its latest one. */
export interface EventLog {
  /**
   * Appends an event of a record.
   * @param previous the `seq` of the record's latest event; 0: there is none
   * @returns its own `seq`
   */
  append(event: NewEvent, previous: number): number
  /** The `seq` of the latest event; 0 before the first. */
  last(): number
  /** The event of a `seq`; undefined: there is none. */
  at(seq: number): Event | undefined
  /** The events with a `seq` above the given one. */
  after(seq: number): Event[]
  /** So many wanted events above a `seq` at most, and whether they are all. */
  select(after: number, wanted: EventFilter, most: number): { readonly events: Event[]; readonly areAll: boolean }
  /** The `seq` of each event of a record, oldest first, by that of its latest. */
  chain(latest: number): number[]
  /** Chains an event of an earlier life to the one before it; false: it belongs to a record already. */
  link(seq: number, previous: number): boolean
}

/** Of an event of an earlier life that no record has claimed. */
const UNCLAIMED = -1

/**
 * Events are kept in columns, and made when they are asked for: 40 bytes each, where objects would take 120 and be the
 * greater part of what a record takes after some moves.
 * @param earlier events of an earlier life, numbered from 1; they are chained by `link`
 */
export function createEventLog(earlier: readonly Event[] = []): EventLog {
  const times: string[] = []
  const references: string[] = []
  const changes: Change[] = []
  const previous: number[] = []

  // There are some dozens of different ones, and mostly the same comes again.
  const known = new Map<string, Change>()
  let latest: Change | undefined

  function changeOf({ kind, from, to, reasonCode, cause }: NewEvent): Change {
    const isLatest =
      latest?.to === to &&
      latest.from === from &&
      latest.kind === kind &&
      latest.cause === cause &&
      latest.reasonCode === reasonCode
    if (!isLatest) {
      const key = `${kind} ${from} ${to} ${reasonCode} ${cause}`
      latest = known.get(key)
      if (latest === undefined) {
        latest = { kind, from, to, ...(reasonCode !== undefined && { reasonCode }), cause }
        known.set(key, latest)
      }
    }
    return latest as Change
  }

  function append(event: NewEvent, before: number): number {
    times.push(event.at)
    references.push(event.reference)
    changes.push(changeOf(event))
    return previous.push(before)
  }

  function make(seq: number): Event {
    const { kind, from, to, reasonCode, cause } = changes[seq - 1] as Change
    return {
      seq,
      at: times[seq - 1] as string,
      kind,
      reference: references[seq - 1] as string,
      from,
      to,
      ...(reasonCode !== undefined && { reasonCode }),
      cause,
    }
  }

  function select(after: number, { kind, reference }: EventFilter, most: number) {
    const events: Event[] = []
    for (let seq = after + 1; seq <= times.length; seq++) {
      if (reference !== undefined && references[seq - 1] !== reference) continue
      if (kind !== undefined && changes[seq - 1]?.kind !== kind) continue
      if (events.length === most) return { events, areAll: false }
      events.push(make(seq))
    }
    return { events, areAll: true }
  }

  for (const event of earlier) append(event, UNCLAIMED)

  return {
    append,
    last: () => times.length,
    at: seq => (changes[seq - 1] === undefined ? undefined : make(seq)),
    after: seq => select(seq, {}, Infinity).events,
    select,
    chain(seq) {
      const chain: number[] = []
      for (let at = seq; at > 0; at = previous[at - 1] as number) chain.push(at)
      return chain.reverse()
    },
    link(seq, before) {
      if (previous[seq - 1] !== UNCLAIMED) return false
      previous[seq - 1] = before
      return true
    },
  }
}
