import type { Region } from '../domain/regions.js'
import { ApiError, errors, quote } from '../errors.js'
import type { StoreContext } from '../tenant-context.js'
import type { Schedulable } from '../time/clock.js'
import type { Instant } from '../time/time.js'
import { formatInstant, LAST_INSTANT, readInstant } from '../time/time.js'
import { toWords } from '../words.js'
import type { Cause, Event } from './events.js'
import type { HistoryRules, Stateful } from './history.js'
import { historyOf } from './history.js'
import type { Failure, LegalTransition, Lifecycle, Step } from './lifecycle.js'
import { assertLegal, isFinal, legalTransitions } from './lifecycle.js'
import { firstIndex } from './list.js'
import type { Entry, InRegion, Snapshot, StagedRecords, StoredRecord } from './repository.js'
import { Repository } from './repository.js'

export interface StatefulEntry<R, V extends string = string> extends Entry<R>, Schedulable {
  /** The next automatic transition, not in the past when it is scheduled, or null if there is none. */
  readonly nextStep: Step<V> | null
  /** The failed transition. There is no next transition after it. Undefined if no transition has failed. */
  readonly failure?: Failure | undefined
  /** The `seq` of each event of the record, oldest first. */
  readonly timeline: readonly number[]
}

/** A record with a lifecycle in a state document (control plane, GET /state). */
export interface StatefulSnapshot<R> extends Snapshot<R> {
  readonly timeline: number[]
}

/** An outcome that a record can still have. */
export interface PossibleOutcome {
  readonly outcome: string
  readonly description: string
}

/** An automatic transition to come. */
export interface Forecast {
  readonly at: string
  readonly to: string
  readonly cause: Cause
  readonly reasonCode?: string
}

/** The explanation of a record: its history, its next transition and all legal ones (control plane, Shapes). */
export interface Explained<R> {
  readonly record: R
  /** The latest events, oldest first. */
  readonly timeline: readonly Event[]
  /** The number of earlier events. Absent if there is none. */
  readonly omitted?: number
  readonly next: Pick<Forecast, 'at' | 'to'> | null
  /** All automatic transitions to come, in order: the first one is `next`. */
  readonly forecast: readonly Forecast[]
  readonly legal: readonly LegalTransition[]
  /** The outcomes that the record can still have. Absent if its kind has no outcomes. */
  readonly outcomes?: readonly PossibleOutcome[]
  /** Why the last scheduled transition has failed. Absent if it has not. */
  readonly failed?: string
}

/** The most transitions of a forecast. */
const MAX_FORECAST = 20

/** The most events of an explanation. A bill can have any number of them. */
const MAX_EXPLAINED = 100

/** The position of due work: its time, then the record's position in the order of creation. */
export interface DuePosition {
  readonly dueAt: Instant
  readonly sequence: number
}

/** A transition that will happen by itself, with its position in the order of due work. */
export interface DueTransition extends DuePosition {
  readonly region: Region
  readonly reference: string
  /** The kind of the record, such as `mandate`. */
  readonly kind: string
  readonly from: string
  readonly to: string
  readonly cause: Cause
  /** Why it was due and has failed. Absent if it will happen. */
  readonly failed?: string
}

/** Compares by due time, then by sequence, as the scheduler does. */
export const compareDue = (a: DuePosition, b: DuePosition): number => a.dueAt - b.dueAt || a.sequence - b.sequence

/** The records of a kind with a lifecycle, events and scheduled transitions. A kind overrides what differs from the defaults. */
export abstract class StatefulRepository<R extends Stateful<S>, S extends string, V extends string> extends Repository<
  R,
  StatefulEntry<R, V>
> {
  readonly #kind: string

  constructor(
    context: StoreContext,
    protected readonly lifecycle: Lifecycle<S, V>,
  ) {
    super(context)
    const { name, kind } = context.names
    if (kind === undefined) throw new Error(`The row of ${name} has no lifecycle.`)
    this.#kind = kind
  }

  /** Returns when a record was created. */
  protected createdAtOf(record: R): string {
    return record.createdAt as string
  }

  /** Returns the next automatic transition, which depends only on the record. Null if there is none. */
  protected abstract stepAfter(record: R): Step<V> | null

  /** Returns the first state of a seeded record. */
  protected firstStateOf(_record: R): S {
    return Object.keys(this.lifecycle)[0] as S
  }

  /** Returns the step that followed an earlier state of a seeded record. */
  protected pastStepAfter(record: R): ReturnType<HistoryRules<R, S, V>['stepBefore']> {
    return this.stepAfter(record)
  }

  /** Adapts a due step to the state of other records, such as the mandate of a collection. */
  protected whenDue(step: Step<V>, _record: R): Step<V> {
    return step
  }

  /** Returns the transitions of a record that are legal now. */
  protected legal({ status }: R): readonly LegalTransition[] {
    return legalTransitions(this.lifecycle, status)
  }

  /** Returns the outcomes that a record can still have, or undefined if its kind has no outcomes. */
  possibleOutcomes(_reference: string): readonly PossibleOutcome[] | undefined {
    return undefined
  }

  /** Returns the members that a transition of the control plane sets. @throws as the transition */
  protected membersOf(_record: R, _transition: V, body: object): Partial<R> {
    return body
  }

  /** Returns a record as it is explained. @param publicUrl as in `explain` */
  protected toAnswer(record: R, _publicUrl: string): R {
    return record
  }

  /** Called after each transition. */
  protected afterTransition(_record: R): void {}

  // ---- Creation and transitions.

  /** Stores a new record, and schedules its first transition. The reference must be unused. @throws RECORD_LIMIT_REACHED */
  add(region: Region, record: R, cause: Cause): StatefulEntry<R, V> {
    const { clock, nextSequence } = this.context
    const sequence = nextSequence()
    return this.#store(region, record, clock.now(), sequence, [this.#appendEvent(record, null, cause)])
  }

  /**
   * Makes one transition at the tenant's time.
   * @param members members to set together with the status
   * @returns the changed record
   * @throws ILLEGAL_TRANSITION naming the legal transitions
   */
  transition(entry: StatefulEntry<R, V>, transition: V, cause: Cause, members?: Partial<R>): R {
    const { clock, events } = this.context
    const from = entry.record.status
    const status = assertLegal(this.lifecycle, from, transition, toWords(this.#kind))
    const record = { ...entry.record, ...members, status, updatedAt: formatInstant(clock.now()) }
    const seq = this.#appendEvent(record, from, cause)
    this.#replace(entry, record, [...entry.timeline, seq])
    this.afterTransition(record)
    events.publish(seq)
    return record
  }

  /**
   * Makes one transition for the control plane.
   * @param region if undefined, the only region with the reference
   * @throws as `explain`, ILLEGAL_TRANSITION naming the legal transitions
   */
  forceTransition(reference: string, transition: V, body: object = {}, region?: Region): void {
    const entry = this.entry(region, reference)
    this.transition(entry, transition, 'control', this.membersOf(entry.record, transition, body))
  }

  /** Changes members of a record that its schedule reads, and schedules its next transition again. */
  replace(entry: StatefulEntry<R, V>, members: Partial<R>): R {
    return this.#replace(entry, { ...entry.record, ...members }, entry.timeline)
  }

  #replace(entry: StatefulEntry<R, V>, record: R, timeline: readonly number[]): R {
    this.change(entry, { record, timeline, nextStep: this.#stepOf(record), failure: undefined })
    return record
  }

  #store(region: Region, record: R, createdAt: Instant, sequence: number, timeline: readonly number[]) {
    const nextStep = this.#stepOf(record)
    return this.store({ createdAt, sequence, region, record, timeline, nextStep, dueAt: null })
  }

  /** Appends the event of a transition to the present state of a record. Returns its `seq`. */
  #appendEvent(record: R, from: S | null, cause: Cause): number {
    const { updatedAt: at, status: to, reasonCode } = record
    const reference = this.referenceOf(record)
    return this.context.events.append({ at, kind: this.#kind, reference, from, to, reasonCode, cause })
  }

  // ---- The schedule.

  /** Returns the next transition of a record. One in the past happens now, and one after the last instant never. */
  #stepOf(record: R): Step<V> | null {
    const step = isFinal(this.lifecycle, record.status) ? null : this.stepAfter(record)
    if (step === null || step.at > LAST_INSTANT) return null
    const now = this.context.clock.now()
    return step.at < now ? { ...step, at: now } : step
  }

  #schedule(entry: StatefulEntry<R, V>): void {
    this.context.clock.schedule(entry, entry.nextStep?.at ?? null, this.#takeStep)
  }

  protected override set(entry: StatefulEntry<R, V>, members: Partial<StatefulEntry<R, V>>): void {
    super.set(entry, members)
    this.#schedule(entry)
  }

  protected override insert(entry: StatefulEntry<R, V>): void {
    super.insert(entry)
    this.#schedule(entry)
  }

  protected override remove(entry: StatefulEntry<R, V>): void {
    super.remove(entry)
    this.context.clock.schedule(entry, null, this.#takeStep)
  }

  /**
   * Makes the next transition, all or nothing. After a failure, there is no next transition until the record changes.
   * @throws Error (for the log)
   */
  readonly #takeStep = (entry: StatefulEntry<R, V>): void => {
    const { changes, events } = this.context
    const [changed, last] = [changes.length(), events.last()]
    const step = entry.nextStep as Step<V>
    try {
      const { transition, cause, reasonCode } = this.whenDue(step, entry.record)
      this.transition(entry, transition, cause, reasonCode === undefined ? undefined : ({ reasonCode } as Partial<R>))
    } catch (error) {
      changes.undoTo(changed)
      events.truncate(last)
      const reason = error instanceof ApiError ? error.message : 'See the log of the server.'
      this.change(entry, { nextStep: null, failure: { at: step.at, ...this.#comingOf(step, entry.record), reason } })
      const reference = quote(this.referenceOf(entry.record))
      throw new Error(`The transition of the ${toWords(this.#kind)} ${reference} failed.`, { cause: error })
    }
  }

  /** Returns the cause and the state of a scheduled transition. */
  #comingOf(step: Step<V>, record: R): Pick<DueTransition, 'to' | 'cause'> {
    const to = (transition: V) => this.lifecycle[record.status][transition] as S
    try {
      const { transition, cause } = this.whenDue(step, record)
      return { to: to(transition), cause }
    } catch {
      // It cannot be adapted, so it will fail when it is due.
      return { to: to(step.transition), cause: step.cause }
    }
  }

  /** Returns the first `limit` scheduled transitions after a position, in the order in which they are due. */
  upcoming(after: DuePosition | undefined, limit: number): DueTransition[] {
    const due: (DuePosition & { readonly entry: StatefulEntry<R, V> })[] = []
    for (const entry of this.entries()) {
      const { sequence, failure } = entry
      const dueAt = failure?.at ?? entry.dueAt
      if (dueAt === null || (after !== undefined && compareDue({ dueAt, sequence }, after) <= 0)) continue
      const at = firstIndex(due, other => compareDue(other, { dueAt, sequence }) > 0)
      if (at < limit) due.splice(at, 0, { dueAt, sequence, entry })
      if (due.length > limit) due.pop()
    }
    return due.map(({ dueAt, sequence, entry }) => {
      const { region, record, failure, nextStep } = entry
      const reference = this.referenceOf(record)
      const { to, cause } = failure ?? this.#comingOf(nextStep as Step<V>, record)
      const failed = failure && { failed: failure.reason }
      return { dueAt, sequence, region, reference, kind: this.#kind, from: record.status, to, cause, ...failed }
    })
  }

  /** Lists the transitions to come. A step depends only on the record, so the steps after the next one are known, too. */
  #forecastOf({ record: present, nextStep }: StatefulEntry<R, V>): Forecast[] {
    const forecast: Forecast[] = []
    let record = present
    for (let step = nextStep; step !== null && forecast.length < MAX_FORECAST; step = this.#stepOf(record)) {
      const { to, cause } = this.#comingOf(step, record)
      const at = formatInstant(step.at)
      const reason = step.reasonCode === undefined ? {} : { reasonCode: step.reasonCode }
      forecast.push({ at, to, cause, ...reason })
      record = { ...record, status: to as S, updatedAt: at, ...reason }
    }
    return forecast
  }

  /**
   * Explains a record.
   * @param publicUrl the address of the server for the reader, without a trailing slash
   * @param region if undefined, the only region with the reference
   * @throws the error of an unknown reference, MISSING_FIELD (region, if several regions have the reference)
   */
  explain(reference: string, publicUrl: string, region?: Region): Explained<R> {
    const entry = this.entry(region, reference)
    const { record, timeline, failure } = entry
    const forecast = this.#forecastOf(entry)
    const [next] = forecast
    const outcomes = this.possibleOutcomes(reference)
    const { events, omitted } = this.context.events.latestOf(timeline, MAX_EXPLAINED)
    return {
      record: this.toAnswer(record, publicUrl),
      timeline: events,
      ...(omitted > 0 && { omitted }),
      next: next === undefined ? null : { at: next.at, to: next.to },
      forecast,
      legal: this.legal(record),
      ...(outcomes && { outcomes: outcomes.map(({ outcome, description }) => ({ outcome, description })) }),
      ...(failure && { failed: failure.reason }),
    }
  }

  // ---- Seeds, state documents and databases.

  /** Checks seeded records, which can be in any state. @see Repository.stageEach */
  protected stageAll<T>(seeds: readonly T[], path: string, toRecord: (seed: T) => InRegion<R>): StagedRecords<R> {
    return this.stageEach(seeds, path, toRecord, ({ region, record }) => {
      const sequence = this.context.nextSequence()
      this.#store(region, record, this.#createdAt(record), sequence, this.#appendHistory(record))
    })
  }

  #createdAt(record: R): Instant {
    return readInstant(this.createdAtOf(record))
  }

  /** Appends the events of a seeded record, and returns their `seq`. */
  #appendHistory(record: R): number[] {
    const updatedAt = this.createdAtOf(record)
    const first = { ...record, status: this.firstStateOf(record), updatedAt, reasonCode: undefined }
    const stepBefore = (state: R) => this.pastStepAfter(state)
    let from: S | null = null
    return historyOf(record, { lifecycle: this.lifecycle, first, stepBefore }).map(({ record: state, cause }) => {
      const seq = this.#appendEvent(state, from, cause)
      from = state.status
      return seq
    })
  }

  /** Captures all records with their timelines. Scheduled transitions are left out: `stepAfter` restores them. */
  capture(): StatefulSnapshot<R>[] {
    return this.entries().map(({ region, sequence, record, timeline }) => ({
      region,
      sequence,
      record,
      // A change makes another list.
      timeline: timeline as number[],
    }))
  }

  /**
   * Stores the records of a state document in an empty repository and schedules their transitions.
   * @param path path of the list in the state document, for errors
   * @throws DUPLICATE_REFERENCE, INVALID_FIELD (sequence, region, or a timeline with an event of another record)
   */
  restore(snapshots: readonly StatefulSnapshot<R>[], path: string): void {
    this.assertConsistent(snapshots, path)
    const claimed = new Set<number>()
    for (const [index, snapshot] of snapshots.entries()) {
      this.#assertTimeline(snapshot, `${path}.${index}`, claimed)
      const { region, sequence, record, timeline } = snapshot
      this.#store(region, record, this.#createdAt(record), sequence, timeline)
    }
  }

  /** Refuses a timeline with an event of another record, or out of order. @throws INVALID_FIELD */
  #assertTimeline({ record, timeline }: StatefulSnapshot<R>, path: string, claimed: Set<number>): void {
    const reference = this.referenceOf(record)
    let previous = 0
    for (const [index, seq] of timeline.entries()) {
      const event = this.context.events.at(seq)
      const isOwn = event?.kind === this.#kind && event.reference === reference && !claimed.has(seq)
      if (seq <= previous || !isOwn) {
        throw errors.invalid(`${path}.timeline.${index}`, `There is no further event ${seq} of ${quote(reference)}.`)
      }
      claimed.add(seq)
      previous = seq
    }
  }

  override toStored(entry: StatefulEntry<R, V>): StoredRecord {
    const { timeline, nextStep, failure } = entry
    return { ...super.toStored(entry), timeline, nextStep, ...(failure && { failure }) }
  }

  protected override loaded({ record, timeline, nextStep, failure }: StoredRecord): Partial<StatefulEntry<R, V>> {
    return { record, timeline, nextStep, failure } as Partial<StatefulEntry<R, V>>
  }
}
