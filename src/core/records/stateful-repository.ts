import type { Region } from '../domain/regions.js'
import { ApiError, errors, quote } from '../errors.js'
import type { RecordNames, StoreContext } from '../tenant-context.js'
import type { Schedulable } from '../time/scheduler.js'
import type { Instant } from '../time/time.js'
import { formatInstant, LAST_INSTANT, parseInstant } from '../time/time.js'
import { toWords } from '../words.js'
import { firstIndex } from './binary-search.js'
import type { Cause, Event } from './events.js'
import type { Entry, Placed, RepositoryOptions, Snapshot, StoredRecord } from './repository.js'
import { createRepository } from './repository.js'
import type { Lifecycle, Move } from './state-machine.js'
import { legalMoves, next, stateAfter } from './state-machine.js'

/** The fields of every record with a lifecycle. */
export interface Stateful<S extends string> {
  readonly status: S
  readonly reasonCode?: string
  readonly updatedAt: string
}

/** An automatic transition that has failed. */
export interface Failure {
  /** When it was due. */
  readonly at: Instant
  readonly to: string
  readonly cause: Cause
  readonly reason: string
}

/** The next automatic transition of a record. */
export interface Step<V extends string> {
  readonly at: Instant
  readonly verb: V
  readonly cause: 'time' | 'outcome'
  readonly reasonCode?: string
}

export interface StatefulEntry<R, V extends string = string> extends Entry<R>, Schedulable {
  /** The next automatic transition, not in the past when it is planned; null: none. */
  readonly nextStep: Step<V> | null
  /** The transition that has failed, after which there is no next one; undefined: none has. */
  readonly failure?: Failure | undefined
  /** The `seq` of each event of the record, oldest first. */
  readonly timeline: readonly number[]
}

/** A record with a lifecycle in a state document (control plane, GET /state). */
export interface StatefulSnapshot<R> extends Snapshot<R> {
  readonly timeline: number[]
}

export interface StatefulRepositoryOptions<R, S extends string, V extends string> extends RepositoryOptions<R> {
  readonly lifecycle: Lifecycle<S, V>
  createdAt(record: R): string
  /** Returns the next automatic transition, which depends only on the record. Null: none. */
  plan(record: R): Step<V> | null
  /** Returns the first state of a seeded record. Default: the first of the lifecycle. */
  begins?(record: R): S
  /** Returns the step that followed a past state of a seeded record, as `plan`, which is the default. */
  past?(record: R): (Omit<Step<V>, 'cause'> & { readonly cause: Cause }) | null
  /** Adapts a due step to the state of other records, such as the mandate of a collection. */
  whenDue?(step: Step<V>, record: R): Step<V>
  /** Returns the transitions of a record that are legal now. Default: those of the lifecycle. */
  legal?(record: R): readonly LegalMove[]
  /** Returns the members that a move of the control plane sets. Default: those of its body. @throws as the move */
  moved?(record: R, verb: V, body: object): Partial<R>
  /** Returns a record as it is explained. Default: as it is. @param publicUrl as in `explain` */
  shown?(record: R, publicUrl: string): R
  /** Called after each transition. */
  onTransition?(record: R): void
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
  /** The latest events, oldest first. */
  readonly timeline: readonly Event[]
  /** The number of earlier events. Absent: none. */
  readonly omitted?: number
  readonly next: { readonly at: string; readonly to: string } | null
  readonly legal: readonly LegalMove[]
  /** Why the last planned transition has failed. Absent: it has not. */
  readonly failed?: string
}

/** The most events of an explanation. A bill can have any number of them. */
const MOST_EXPLAINED = 100

/** The place of due work: its time, then the record's place in the order of creation. */
export interface DuePosition {
  readonly dueAt: Instant
  readonly sequence: number
}

/** A transition that will happen by itself, with its place in the order of due work. */
export interface DueTransition extends DuePosition {
  readonly region: Region
  readonly reference: string
  /** The kind of the record, such as `mandate`. */
  readonly kind: string
  readonly from: string
  readonly to: string
  readonly cause: Cause
  /** Why it was due and has failed. Absent: it will happen. */
  readonly failed?: string
}

/** Sorts by due time, then by sequence, as the scheduler does. */
export const compareDue = (a: DuePosition, b: DuePosition): number => a.dueAt - b.dueAt || a.sequence - b.sequence

/** Creates a repository of records with a lifecycle, events and scheduled transitions. */
export function createStatefulRepository<R extends Stateful<S>, S extends string, V extends string>(
  options: StatefulRepositoryOptions<R, S, V>,
  context: StoreContext,
) {
  const { lifecycle } = options
  const { clock, events, changes, names } = context
  const kind = kindOf(names)
  const repository = createRepository<R, StatefulEntry<R, V>>(options, context)

  /** Plans the next transition of a record. */
  const schedule = (entry: StatefulEntry<R, V>) => clock.schedule(entry, entry.nextStep?.at ?? null, takeStep)

  /** Returns the next transition of a record. One in the past happens now, and one after the last instant never. */
  function planOf(record: R): Step<V> | null {
    // A final state has none.
    const step = legalMoves(lifecycle, record.status).length === 0 ? null : options.plan(record)
    return step === null || step.at > LAST_INSTANT ? null : { ...step, at: Math.max(step.at, clock.now()) }
  }

  /** Appends the event of a transition to the present state of a record. Returns its `seq`. */
  const appendEvent = (record: R, from: S | null, cause: Cause) => {
    const { updatedAt: at, status: to, reasonCode } = record
    return events.append({ at, kind, reference: repository.referenceOf(record), from, to, reasonCode, cause })
  }

  /** Changes members of an entry, and schedules its next transition. */
  function set(entry: StatefulEntry<R, V>, members: Partial<StatefulEntry<R, V>>) {
    repository.change(entry, members, () => schedule(entry))
    schedule(entry)
  }

  function change(entry: StatefulEntry<R, V>, record: R, timeline = entry.timeline) {
    set(entry, { record, timeline, nextStep: planOf(record), failure: undefined })
    return record
  }

  /**
   * Makes one transition at the tenant's time.
   * @param fields fields to set together with the status
   * @returns the changed record
   * @throws ILLEGAL_TRANSITION naming the legal verbs
   */
  function move(entry: StatefulEntry<R, V>, verb: V, cause: Cause, fields?: Partial<R>): R {
    const from = entry.record.status
    const status = next(lifecycle, from, verb, toWords(kind))
    const record = { ...entry.record, ...fields, status, updatedAt: formatInstant(clock.now()) }
    const seq = appendEvent(record, from, cause)
    change(entry, record, [...entry.timeline, seq])
    options.onTransition?.(record)
    events.publish(seq)
    return record
  }

  /** Returns the next transition of a record as it would be now. Only an entry with a next step is scheduled. */
  function stepOf({ nextStep, record }: StatefulEntry<R, V>): Step<V> {
    const step = nextStep as Step<V>
    return options.whenDue?.(step, record) ?? step
  }

  /**
   * Makes the next transition, all or nothing. After one that fails, there is no next one until the record changes.
   * @throws Error (for the log)
   */
  function takeStep(entry: StatefulEntry<R, V>) {
    const [changed, last] = [changes.length(), events.last()]
    const { at } = entry.nextStep as Step<V>
    try {
      const { verb, cause, reasonCode } = stepOf(entry)
      move(entry, verb, cause, reasonCode === undefined ? undefined : ({ reasonCode } as Partial<R>))
    } catch (error) {
      changes.undoTo(changed)
      events.truncate(last)
      const reason = error instanceof ApiError ? error.message : 'See the log of the server.'
      set(entry, { nextStep: null, failure: { at, ...comingOf(entry), reason } })
      const reference = quote(repository.referenceOf(entry.record))
      throw new Error(`The transition of the ${toWords(kind)} ${reference} failed.`, { cause: error })
    }
  }

  /** Returns the cause and the state of the next transition of a scheduled record. */
  function comingOf(entry: StatefulEntry<R, V>): Pick<DueTransition, 'to' | 'cause'> {
    const planned = entry.nextStep as Step<V>
    const { status } = entry.record
    try {
      const { verb, cause } = stepOf(entry)
      return { to: lifecycle[status][verb] as S, cause }
    } catch {
      // It cannot be adapted, so it will fail when it is due.
      return { to: lifecycle[status][planned.verb] as S, cause: planned.cause }
    }
  }

  function store(region: Region, record: R, sequence: number, timeline: readonly number[]): StatefulEntry<R, V> {
    const createdAt = parseInstant(options.createdAt(record)) as Instant
    const nextStep = planOf(record)
    const entry: StatefulEntry<R, V> = { createdAt, sequence, region, record, timeline, nextStep, dueAt: null }
    schedule(entry)
    return repository.add(entry, () => clock.schedule(entry, null, takeStep))
  }

  /** Stores a new record and schedules its first transition. The reference must be unused. */
  const create = (region: Region, record: R, cause: Cause) =>
    store(region, record, context.nextSequence(), [appendEvent(record, null, cause)])

  /**
   * Appends the events of a seeded record, and returns their `seq`. Those before its state follow from its schedule between its
   * creation and its last change. If they do not lead to its state, it has one event.
   */
  function appendHistory(record: R): number[] {
    const { createdAt, plan, past = plan, begins = () => Object.keys(lifecycle)[0] as S } = options
    const end = parseInstant(record.updatedAt) as Instant
    const states: R[] = []
    const causes: Cause[] = ['control']
    let state: R = { ...record, status: begins(record), updatedAt: createdAt(record), reasonCode: undefined }
    for (let at = parseInstant(state.updatedAt) as Instant; at < end; ) {
      states.push(state)
      const step = past(state)
      const status = step === null ? undefined : stateAfter(lifecycle, state.status, step.verb)
      if (step === null || status === undefined || step.at <= at || step.at > end) break
      if (step.at === end && status !== record.status) break
      causes.push(step.cause)
      at = step.at
      state = { ...state, status, updatedAt: formatInstant(at), reasonCode: step.reasonCode }
    }
    const isBefore = ({ status }: R) => legalMoves(lifecycle, status).some(({ to }) => to === record.status)
    const way = states.slice(0, states.findLastIndex(isBefore) + 1)
    // If the schedule leads elsewhere, the last change was not made by the schedule.
    const last = (way.length === states.length && causes[way.length]) || 'control'
    return [...way, record].map((one, at) => {
      const cause = at < way.length ? (causes[at] as Cause) : last
      return appendEvent(one, way[at - 1]?.status ?? null, cause)
    })
  }

  /**
   * Checks that a timeline lists events of its record, in order and not claimed by another record.
   * @throws INVALID_FIELD
   */
  function assertTimeline({ record, timeline }: StatefulSnapshot<R>, path: string, claimed: Set<number>) {
    const reference = repository.referenceOf(record)
    let previous = 0
    for (const [index, seq] of timeline.entries()) {
      const event = events.at(seq)
      const isOwn = event?.kind === kind && event.reference === reference && !claimed.has(seq)
      if (seq <= previous || !isOwn) {
        throw errors.invalid(`${path}.timeline.${index}`, `There is no further event ${seq} of ${quote(reference)}.`)
      }
      claimed.add(seq)
      previous = seq
    }
  }

  /** Returns the first `limit` scheduled transitions after a position, in the order in which they are due. */
  function upcoming(after: DuePosition | undefined, limit: number): DueTransition[] {
    const due: (DuePosition & { readonly entry: StatefulEntry<R, V> })[] = []
    for (const entry of repository.all()) {
      const { sequence, failure } = entry
      const dueAt = failure?.at ?? entry.dueAt
      if (dueAt === null || (after !== undefined && compareDue({ dueAt, sequence }, after) <= 0)) continue
      const place = firstIndex(due, other => compareDue(other, { dueAt, sequence }) > 0)
      if (place < limit) due.splice(place, 0, { dueAt, sequence, entry })
      if (due.length > limit) due.pop()
    }
    return due.map(({ dueAt, sequence, entry }) => {
      const { region, record, failure } = entry
      const reference = repository.referenceOf(record)
      const { to, cause } = failure ?? comingOf(entry)
      const failed = failure && { failed: failure.reason }
      return { dueAt, sequence, region, reference, kind, from: record.status, to, cause, ...failed }
    })
  }

  /** Captures all records with their timelines. Scheduled transitions are left out: `plan` restores them. */
  const capture = (): StatefulSnapshot<R>[] =>
    repository.entries().map(({ region, sequence, record, timeline }) => ({
      region,
      sequence,
      record,
      // A change makes another list.
      timeline: timeline as number[],
    }))

  /**
   * Stores the records of a state document in an empty repository and schedules their transitions.
   * @param path path of the list in the state document, for errors
   * @throws DUPLICATE_REFERENCE, INVALID_FIELD (sequence, region, or a timeline with an event of another record)
   */
  function restore(snapshots: readonly StatefulSnapshot<R>[], path: string): void {
    repository.assertConsistent(snapshots, path)
    const claimed = new Set<number>()
    for (const [index, snapshot] of snapshots.entries()) {
      assertTimeline(snapshot, `${path}.${index}`, claimed)
      const { region, sequence, record, timeline } = snapshot
      store(region, record, sequence, timeline)
    }
  }

  const toStored = (entry: StatefulEntry<R, V>): StoredRecord => ({
    ...repository.toStored(entry),
    timeline: entry.timeline,
    nextStep: entry.nextStep,
    ...(entry.failure && { failure: entry.failure }),
  })

  function load(stored: StoredRecord): StatefulEntry<R, V> {
    const { timeline, nextStep, failure } = stored as StoredRecord & StatefulEntry<R, V>
    const entry = Object.assign(repository.load(stored), { timeline, nextStep, failure })
    entry.dueAt ??= null
    schedule(entry)
    return entry
  }

  /**
   * Explains a record.
   * @param publicUrl the address of the server for the reader, without a trailing slash
   * @param region undefined: the only region with the reference
   * @throws the error of an unknown reference, MISSING_FIELD (region, if several regions have the reference)
   */
  function explain(reference: string, publicUrl: string, region?: Region): Explained<R> {
    const entry = repository.get(region, reference)
    const { record, timeline, nextStep, failure } = entry
    const { events: latest, omitted } = events.latestOf(timeline, MOST_EXPLAINED)
    const next = nextStep === null ? null : { at: formatInstant(nextStep.at), to: comingOf(entry).to }
    return {
      record: options.shown?.(record, publicUrl) ?? record,
      timeline: latest,
      ...(omitted > 0 && { omitted }),
      next,
      legal: options.legal?.(record) ?? legalMoves(lifecycle, record.status),
      ...(failure && { failed: failure.reason }),
    }
  }

  /**
   * Makes one transition for the control plane.
   * @param region undefined: the only region with the reference
   * @throws as `explain`, ILLEGAL_TRANSITION naming the legal verbs
   */
  function transition(reference: string, verb: V, body: object = {}, region?: Region): void {
    const entry = repository.get(region, reference)
    move(entry, verb, 'control', options.moved?.(entry.record, verb, body) ?? (body as Partial<R>))
  }

  const { size, counts, search, entries, get, find, has, indexed, list, assertUnused } = repository
  return {
    ...{ get, find, has, indexed, list, assertUnused, create, move },
    /** As that of the repository. The records can be in any state. */
    stage: <T>(seeds: readonly T[], path: string, place: (seed: T) => Placed<R>) =>
      repository.stage(seeds, path, place, ({ region, record }) =>
        store(region, record, context.nextSequence(), appendHistory(record)),
      ),
    /** Changes fields of a record that `plan` reads, and schedules its next transition again. */
    update: (entry: StatefulEntry<R, V>, fields: Partial<R>): R => change(entry, { ...entry.record, ...fields }),
    /** The operations that every store of records with a lifecycle has. */
    ofStore: {
      ...{ size, counts, find, search, upcoming, entries, explain, transition },
      ...{ toStored, load, capture, restore },
    },
  }
}

/** @throws Error if the row of the records has no lifecycle */
function kindOf({ name, kind }: RecordNames): string {
  if (kind === undefined) throw new Error(`The row of ${name} in areas/index.ts has no lifecycle.`)
  return kind
}
