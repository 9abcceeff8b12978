import { errors, quote } from '../errors.js'
import type { Region } from '../rules/regions.js'
import type { TenantContext } from '../tenant-context.js'
import type { Schedulable } from '../time/scheduler.js'
import type { Instant } from '../time/time.js'
import { formatInstant, parseInstant } from '../time/time.js'
import type { Cause, Event } from './events.js'
import type { Entry, Placed, Repository, RepositoryOptions, Snapshot } from './repository.js'
import { createRepository } from './repository.js'
import type { Lifecycle, Move } from './state-machine.js'
import { legalMoves, next } from './state-machine.js'

/** The fields of every record with a lifecycle. */
export interface Stateful<S extends string> {
  status: S
  reasonCode?: string
  updatedAt: string
}

/** The next automatic transition of a record. */
export interface Step<V extends string> {
  readonly at: Instant
  readonly verb: V
  readonly cause: 'time' | 'outcome'
  readonly reasonCode?: string
}

export interface StatefulEntry<R, V extends string = string> extends Entry<R>, Schedulable {
  /** The next automatic transition; null: none. */
  nextStep: Step<V> | null
  /** The `seq` of each event of the record, oldest first. */
  readonly timeline: number[]
}

/** A record with a lifecycle in a state document (control plane, GET /state). */
export interface StatefulSnapshot<R> extends Snapshot<R> {
  readonly timeline: number[]
}

export interface StatefulRepositoryOptions<R, S extends string, V extends string> extends RepositoryOptions<R> {
  /** The kind of the record in events. */
  readonly event: string
  /** The name of such a record in messages. */
  readonly noun: string
  readonly lifecycle: Lifecycle<S, V>
  createdAt(record: R): string
  /** Returns the next automatic transition, which depends only on the record. Null: none. */
  plan(record: R): Step<V> | null
  /** Adapts a due step to the state of other records, such as the mandate of a collection. */
  whenDue?(step: Step<V>, record: R): Step<V>
  /** Called after each transition. */
  onTransition?(record: R, cause: Cause): void
}

/** A legal transition, as the control plane explains it (control plane, Shapes). */
export interface LegalMove extends Move {
  readonly reasonCodes?: readonly string[]
  /** The last instant at which it is legal. */
  readonly until?: string
}

/** The explanation of a record: its history, its next transition and all legal ones (control plane, Shapes). */
export interface Explained<R> {
  readonly record: R
  readonly timeline: readonly Event[]
  readonly next: { readonly at: string; readonly to: string } | null
  readonly legal: readonly LegalMove[]
}

/** A repository of records with a lifecycle, events and scheduled transitions. */
export interface StatefulRepository<R, V extends string> extends Repository<R, StatefulEntry<R, V>> {
  /** Stores a new record and schedules its first transition. The reference must be unused. */
  create(region: Region, record: R, cause: Cause): StatefulEntry<R, V>
  /**
   * Checks seeded records of any state. Returns a function that stores them and cannot fail.
   * @throws DUPLICATE_REFERENCE
   */
  stage(records: readonly Placed<R>[], path: string): () => void
  /**
   * Makes one transition at the tenant's time.
   * @param changes fields to set together with the status
   * @throws ILLEGAL_TRANSITION naming the legal verbs
   */
  move(entry: StatefulEntry<R, V>, verb: V, cause: Cause, changes?: Partial<R>): void
  /** Schedules the next transition again, after a change of a field that `plan` reads. */
  replan(entry: StatefulEntry<R, V>): void
  explain(entry: StatefulEntry<R, V>, legal?: readonly LegalMove[]): Explained<R>
  /** Returns all records with their timelines. Scheduled transitions are left out: `plan` restores them. */
  snapshot(): StatefulSnapshot<R>[]
  /**
   * Stores the records of a state document in an empty repository and schedules their transitions.
   * @param path path of the list in the state document, for errors
   * @throws DUPLICATE_REFERENCE, INVALID_FIELD (sequence, region, or a timeline with an event of another record)
   */
  restore(snapshots: readonly StatefulSnapshot<R>[], path: string): void
}

export function createStatefulRepository<R extends Stateful<S>, S extends string, V extends string>(
  options: StatefulRepositoryOptions<R, S, V>,
  context: TenantContext,
): StatefulRepository<R, V> {
  const { lifecycle } = options
  const { clock, events } = context
  const repository = createRepository<R, StatefulEntry<R, V>>(options, context)

  function appendEvent({ record, timeline }: StatefulEntry<R, V>, from: S | null, cause: Cause) {
    const { updatedAt: at, status: to, reasonCode } = record
    timeline.push(
      events.append({ at, kind: options.event, reference: options.reference(record), from, to, reasonCode, cause }),
    )
  }

  function move(entry: StatefulEntry<R, V>, verb: V, cause: Cause, changes?: Partial<R>) {
    const { record } = entry
    const from = record.status
    const status = next(lifecycle, from, verb, options.noun)
    Object.assign(record, changes, { status, updatedAt: formatInstant(clock.now()) })
    appendEvent(entry, from, cause)
    replan(entry)
    options.onTransition?.(record, cause)
  }

  function replan(entry: StatefulEntry<R, V>) {
    entry.nextStep = options.plan(entry.record)
    clock.schedule(entry, entry.nextStep?.at ?? null, takeStep)
  }

  const currentStep = ({ nextStep, record }: StatefulEntry<R, V>): Step<V> | null =>
    nextStep === null || options.whenDue === undefined ? nextStep : options.whenDue(nextStep, record)

  function takeStep(entry: StatefulEntry<R, V>) {
    // Only an entry with a next step is scheduled.
    const { verb, cause, reasonCode } = currentStep(entry) as Step<V>
    move(entry, verb, cause, reasonCode === undefined ? undefined : ({ reasonCode } as Partial<R>))
  }

  function store(region: Region, record: R, sequence: number, timeline: number[]): StatefulEntry<R, V> {
    const createdAt = parseInstant(options.createdAt(record)) as Instant
    return repository.add({ createdAt, sequence, region, record, timeline, nextStep: null, dueAt: null })
  }

  function create(region: Region, record: R, cause: Cause) {
    const entry = store(region, record, context.nextSequence(), [])
    appendEvent(entry, null, cause)
    replan(entry)
    return entry
  }

  /**
   * Checks that a timeline lists events of its record, in order and not claimed by another record.
   * @throws INVALID_FIELD
   */
  function assertTimeline({ record, timeline }: StatefulSnapshot<R>, path: string, claimed: Set<number>) {
    const reference = options.reference(record)
    let previous = 0
    for (const [index, seq] of timeline.entries()) {
      const event = events.at(seq)
      const isOwn = event?.kind === options.event && event.reference === reference && !claimed.has(seq)
      if (seq <= previous || !isOwn) {
        throw errors.invalid(`${path}.timeline.${index}`, `There is no further event ${seq} of ${quote(reference)}.`)
      }
      claimed.add(seq)
      previous = seq
    }
  }

  return {
    ...repository,
    create,
    stage(records, path) {
      repository.assertAllUnused(records, path)
      return () => {
        for (const { region, record } of records) create(region, record, 'control')
      }
    },
    move,
    replan,
    explain(entry, legal = legalMoves(lifecycle, entry.record.status)) {
      const { record, timeline, dueAt } = entry
      const step = currentStep(entry)
      return {
        record,
        timeline: timeline.map(seq => events.at(seq) as Event),
        next:
          step === null || dueAt === null
            ? null
            : { at: formatInstant(dueAt), to: lifecycle[record.status][step.verb] as S },
        legal,
      }
    },
    snapshot: () =>
      repository.entries().map(({ region, sequence, record, timeline }) => ({
        region,
        sequence,
        record,
        timeline: [...timeline],
      })),
    restore(snapshots, path) {
      repository.assertConsistent(snapshots, path)
      const claimed = new Set<number>()
      for (const [index, snapshot] of snapshots.entries()) {
        assertTimeline(snapshot, `${path}.${index}`, claimed)
        const { region, sequence, record, timeline } = snapshot
        replan(store(region, record, sequence, [...timeline]))
      }
    },
  }
}
