import type { Schedulable } from './agenda.js'
import type { Engine } from './engine.js'
import { errors, quote } from './errors.js'
import type { Cause, Event, EventKind } from './events.js'
import type { Region } from './regions.js'
import type { Lifecycle, Move } from './state-machine.js'
import { legalMoves, next } from './state-machine.js'
import type { Entry, Kept, Placed, Table, TableKind } from './table.js'
import { createTable } from './table.js'
import type { Instant } from './time.js'
import { formatInstant, parseInstant } from './time.js'

/** What every record with states has. */
export interface Stateful<S extends string> {
  status: S
  reasonCode?: string
  updatedAt: string
}

/** The move that comes next by itself. */
export interface Step<V extends string> {
  readonly at: Instant
  readonly verb: V
  readonly cause: 'time' | 'outcome'
  readonly reasonCode?: string
}

export interface StatefulEntry<R, V extends string = string> extends Entry<R>, Schedulable {
  /** What happens next by itself; null: nothing. */
  nextStep: Step<V> | null
  /** The `seq` of the record's latest event; 0: none is known. */
  latestEvent: number
}

/** A record with states, its place and its history, as a state document keeps it (control plane, GET /state). */
export interface KeptStateful<R> extends Kept<R> {
  /** The `seq` of each event of its timeline. */
  readonly timeline: number[]
}

export interface StatefulKind<R, S extends string, V extends string, Facet extends string> extends TableKind<R, Facet> {
  readonly event: EventKind
  /** What messages call such a record. */
  readonly noun: string
  readonly lifecycle: Lifecycle<S, V>
  createdAt(record: R): string
  /** What happens next if nothing intervenes, which follows from the record alone. Null: nothing. */
  plan(record: R): Step<V> | null
  /** What a planned step comes to when it is due: for what hangs on other records, which change without a word. */
  whenDue?(step: Step<V>, record: R): Step<V>
  /** Told of each move, once the record is in its new state. */
  entered?(entry: StatefulEntry<R, V>, cause: Cause): void
}

/** A move that is legal now, as the explaining reads give it (control plane, Shapes). */
export interface LegalMove extends Move {
  readonly reasonCodes?: readonly string[]
  /** The last instant at which it is legal. */
  readonly until?: string
}

/** Why a record is as it is, what comes next and what may be done (control plane, Shapes). */
export interface Explained<R> {
  readonly record: R
  readonly timeline: readonly Event[]
  readonly next: { readonly at: string; readonly to: string } | null
  readonly legal: readonly LegalMove[]
}

export interface StatefulTable<R, V extends string, Facet extends string>
  extends Table<R, StatefulEntry<R, V>, Facet | 'status'> {
  /** Stores a new record and plans its first step. The reference must be free. */
  create(region: Region, record: R, cause: Cause): StatefulEntry<R, V>
  /**
   * Checks records of any state, as seeding gives them, and answers what stores them and cannot fail any more.
   * @throws DUPLICATE_REFERENCE
   */
  stage(records: readonly Placed<R>[], path: string): () => void
  /**
   * Makes one move at the tenant's time.
   * @param facts what the record gains by it, if it is legal
   * @throws ILLEGAL_TRANSITION naming the legal verbs
   */
  move(entry: StatefulEntry<R, V>, verb: V, cause: Cause, facts?: Partial<R>): void
  /** Plans the next step anew, after something that `plan` looks at has changed. */
  replan(entry: StatefulEntry<R, V>): void
  explain(entry: StatefulEntry<R, V>, legal?: readonly LegalMove[]): Explained<R>
  /** All records with their places and histories. Plans are left out: they follow from the records. */
  keep(): KeptStateful<R>[]
  /**
   * Takes kept records into an empty table, and plans their next steps.
   * @param path where the list stands in the state document, for the errors
   * @throws DUPLICATE_REFERENCE, INVALID_FIELD (a place, a region, or a timeline that names no event of this record)
   */
  restore(kept: readonly KeptStateful<R>[], path: string): void
}

/** A table whose records have a lifecycle, a history and a future on the tenant's clock. */
export function createStatefulTable<R extends Stateful<S>, S extends string, V extends string, Facet extends string>(
  kind: StatefulKind<R, S, V, Facet>,
  engine: Engine,
): StatefulTable<R, V, Facet> {
  const { clock, events } = engine
  const facets = { ...kind.facets, status: (record: R) => record.status } as Record<
    Facet | 'status',
    (record: R) => string | undefined
  >
  const table = createTable<R, StatefulEntry<R, V>, Facet | 'status'>({ ...kind, facets }, engine)

  /** The change from one state, or from none, to that in which the record is now. */
  function happened(entry: StatefulEntry<R, V>, from: S | null, cause: Cause) {
    const { record } = entry
    const { updatedAt: at, status: to, reasonCode } = record
    const event = { at, kind: kind.event, reference: kind.reference(record), from, to, reasonCode, cause }
    entry.latestEvent = events.append(event, entry.latestEvent)
  }

  function move(entry: StatefulEntry<R, V>, verb: V, cause: Cause, facts?: Partial<R>) {
    const { record } = entry
    const from = record.status
    const to = next(kind.lifecycle, from, verb, kind.noun)
    if (facts !== undefined) Object.assign(record, facts)
    record.status = to
    record.updatedAt = formatInstant(clock.now())
    table.index(entry.region).moved(entry, 'status', from, to)
    happened(entry, from, cause)
    replan(entry)
    kind.entered?.(entry, cause)
  }

  function replan(entry: StatefulEntry<R, V>) {
    entry.nextStep = kind.plan(entry.record)
    clock.schedule(entry, entry.nextStep?.at ?? null, takeStep)
  }

  /** What the planned step of an entry comes to, if it is due now. */
  const dueStep = ({ nextStep, record }: StatefulEntry<R, V>): Step<V> | null =>
    nextStep === null || kind.whenDue === undefined ? nextStep : kind.whenDue(nextStep, record)

  function takeStep(entry: StatefulEntry<R, V>) {
    // Only an entry with a plan is on the agenda.
    const { verb, cause, reasonCode } = dueStep(entry) as Step<V>
    move(entry, verb, cause, reasonCode === undefined ? undefined : ({ reasonCode } as Partial<R>))
  }

  function store(region: Region, record: R, sequence: number, latestEvent: number): StatefulEntry<R, V> {
    const createdAt = parseInstant(kind.createdAt(record)) as Instant
    return table.add({
      createdAt,
      sequence,
      row: 0,
      region,
      record,
      latestEvent,
      nextStep: null,
      dueAt: null,
    })
  }

  function create(region: Region, record: R, cause: Cause) {
    const entry = store(region, record, engine.nextSequence(), 0)
    happened(entry, null, cause)
    replan(entry)
    return entry
  }

  /** Chains the events of a timeline. Answers the `seq` of the latest. */
  function chain({ record, timeline }: KeptStateful<R>, path: string): number {
    const reference = kind.reference(record)
    let latest = 0
    for (const [at, seq] of timeline.entries()) {
      const event = events.at(seq)
      const isNext = seq > latest && event?.kind === kind.event && event.reference === reference
      if (!isNext || !events.link(seq, latest)) {
        throw errors.invalid(`${path}.timeline.${at}`, `There is no further event ${seq} of ${quote(reference)}.`)
      }
      latest = seq
    }
    return latest
  }

  return {
    ...table,
    create,
    stage(records, path) {
      table.refuseDuplicates(records, path)
      return () => {
        for (const { region, record } of records) create(region, record, 'control')
      }
    },
    move,
    replan,
    explain(entry, legal = legalMoves(kind.lifecycle, entry.record.status)) {
      const step = dueStep(entry)
      const isPlanned = step !== null && entry.dueAt !== null
      return {
        record: entry.record,
        timeline: events.chain(entry.latestEvent).map(seq => events.at(seq) as Event),
        next: isPlanned
          ? { at: formatInstant(entry.dueAt as Instant), to: kind.lifecycle[entry.record.status][step.verb] as S }
          : null,
        legal,
      }
    },
    keep: () =>
      table.entries().map(({ region, sequence, record, latestEvent }) => ({
        region,
        sequence,
        record,
        timeline: events.chain(latestEvent),
      })),
    restore(kept, path) {
      table.refuseMisplaced(kept, path)
      for (const [at, item] of kept.entries()) {
        const { region, sequence, record } = item
        replan(store(region, record, sequence, chain(item, `${path}.${at}`)))
      }
    },
  }
}
