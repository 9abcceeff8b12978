import type { Region } from '../../core/domain/regions.js'
import { errors } from '../../core/errors.js'
import type { OutcomeMatch } from '../../core/outcome-match.js'
import type { Cause } from '../../core/records/events.js'
import type { LegalTransition, Step } from '../../core/records/lifecycle.js'
import type { List } from '../../core/records/list.js'
import type { StagedRecords } from '../../core/records/repository.js'
import { StatefulRepository } from '../../core/records/stateful-repository.js'
import { onOrAfter, T2 } from '../../core/time/business-days.js'
import type { Day, Instant } from '../../core/time/time.js'
import { formatDay, formatInstant, parseDay } from '../../core/time/time.js'
import type { StoreOptions } from '../area.js'
import type { CollectionStatus, CollectionTransition } from './lifecycle.js'
import { collectionLifecycle } from './lifecycle.js'
import type { CollectionOutcome, Outcome } from './outcomes.js'
import { isPossible, outcomeOf, outcomes } from './outcomes.js'
import { assertKnownReason, assertReasonFits, legalTransitionsAt, reasonFor } from './reasons.js'
import type { Collection, CollectionQuery, NewCollection, SeedCollection, StoredCollection } from './schemas.js'
import { collectionDateBounds, nextStep, submissionOf } from './timing.js'

/** The fields of a mandate that its collections read. */
export interface CollectedMandate {
  readonly mandateReference: string
  readonly status: string
  readonly type: 'RECURRING' | 'ONE_OFF'
  readonly debtor: { readonly name: string; readonly reference?: string }
}

/** The operations of the store of mandates that collections need. */
export interface Mandates {
  /** @throws MANDATE_NOT_FOUND */
  get(mandateReference: string): CollectedMandate
  /** Records that a collection was presented to the scheme at an instant, not in the future. */
  presented(mandateReference: string, at: Instant): void
  /** Returns whether a collection is presented as scheduled. */
  permits(mandateReference: string): boolean
  /** Returns whether a mandate exists and is in a final state, which allows no new collection. */
  isFinal(mandateReference: string): boolean
}

/** The collection requests of one tenant, all in region EU (decisions §6). */
export class CollectionStore extends StatefulRepository<StoredCollection, CollectionStatus, CollectionTransition> {
  readonly #mandates: Mandates
  readonly #takeOutcome: StoreOptions['takeOutcome']

  constructor({ context, stores: { mandates }, takeOutcome }: StoreOptions<{ mandates: Mandates }>) {
    super(context, collectionLifecycle)
    this.#mandates = mandates
    this.#takeOutcome = takeOutcome
    context.events.subscribe('mandate', ({ reference, to, cause }) => {
      if (to === 'CANCELLED') this.#cancelPendingOf(reference, cause)
    })
  }

  /**
   * @throws DUPLICATE_REFERENCE, MANDATE_NOT_FOUND, MANDATE_NOT_ACTIVE, MANDATE_ALREADY_USED,
   * COLLECTION_DATE_TOO_EARLY, COLLECTION_DATE_TOO_LATE
   */
  create(input: NewCollection): Collection {
    const { collectionReference, mandateReference } = input
    const now = this.context.clock.now()
    const day = parseDay(input.collectionDate)
    const settlementDay = onOrAfter(T2, day)
    const { earliest, latest } = collectionDateBounds(now)
    if (settlementDay < earliest) throw errors.collectionDateTooEarly(input.collectionDate, formatDay(earliest))
    if (day > latest) throw errors.collectionDateTooLate(input.collectionDate, formatDay(latest))

    const mandate = this.#mandates.get(mandateReference)
    this.assertUnused('EU', collectionReference)
    if (mandate.status !== 'ACTIVE') throw errors.mandateNotActive(mandateReference, mandate.status)
    this.#assertFree(mandate)

    const collection = build(input, mandate, settlementDay, now)
    // An outcome of its debtorReference wins over an armed outcome.
    const outcome = collection.outcome ?? (this.#takeOutcome(collection) as CollectionOutcome | undefined)
    // Stores the record with its event, and schedules its submission.
    return this.add('EU', outcome === undefined ? collection : { ...collection, outcome }, 'api').record
  }

  /** @throws COLLECTION_NOT_FOUND */
  get(collectionReference: string): Collection {
    return this.entry('EU', collectionReference).record
  }

  /** @throws INVALID_CURSOR */
  list(query: CollectionQuery): List<Collection> {
    const { scheme, status, mandateReference, debtorReference, cursor, limit } = query
    return this.page('EU', {
      fields: { scheme, status, mandateReference, debtorReference },
      matches: withinBounds(query),
      cursor,
      limit,
    })
  }

  /** @throws COLLECTION_NOT_FOUND, ILLEGAL_TRANSITION, INVALID_FIELD (not a reason code of SEPA Core) */
  override forceTransition(
    collectionReference: string,
    transition: CollectionTransition,
    body: { readonly reasonCode?: string } = {},
    region?: Region,
  ): void {
    if (body.reasonCode !== undefined) assertKnownReason(body.reasonCode)
    super.forceTransition(collectionReference, transition, body, region)
  }

  /** Returns the outcomes that a collection can still have. @throws COLLECTION_NOT_FOUND */
  override possibleOutcomes(collectionReference: string): readonly Outcome[] {
    const { record } = this.entry('EU', collectionReference)
    const legal = this.legal(record)
    return outcomes.filter(outcome => isPossible(outcome, record.status, legal))
  }

  /**
   * Gives a collection an outcome, for the control plane. It replaces an earlier one.
   * @throws COLLECTION_NOT_FOUND, ILLEGAL_TRANSITION naming the outcomes that are still possible
   */
  setOutcome(collectionReference: string, given: CollectionOutcome | null): void {
    // It wins over the outcome of the debtor reference.
    const name = given ?? 'SETTLED'
    const possible = this.possibleOutcomes(collectionReference).map(({ outcome }) => outcome)
    const entry = this.entry('EU', collectionReference)
    if (!possible.includes(name)) {
      throw errors.illegalTransition(
        'outcome',
        `The outcome ${name} is not possible for a collection that is ${entry.record.status} now. Possible: ${possible.join(', ') || 'none'}.`,
      )
    }
    this.replace(entry, { outcome: name })
  }

  /** Refuses the match of an armed outcome that no new collection can meet. @throws INVALID_FIELD */
  assertReachable({ mandateReference, debtorReference, collectionReference }: OutcomeMatch): void {
    if (collectionReference !== undefined && this.has('EU', collectionReference)) {
      throw errors.invalid(
        'match.collectionReference',
        `The outcome could never apply: the collection exists. Use PUT /_sandbox/direct-debit/${collectionReference}/outcome.`,
      )
    }
    if (debtorReference !== undefined && outcomeOf({ debtorReference }) !== undefined) {
      throw errors.invalid(
        'match.debtorReference',
        `The outcome could never apply: ${debtorReference} selects an outcome itself, and that wins.`,
      )
    }
    if (mandateReference !== undefined && this.#mandates.isFinal(mandateReference)) {
      const { status } = this.#mandates.get(mandateReference)
      throw errors.invalid('match.mandateReference', `The outcome could never apply: the mandate is ${status}.`)
    }
  }

  /**
   * Checks seeded collections, of any state and date.
   * @param staged finds a stored or staged mandate
   * @throws DUPLICATE_REFERENCE, MANDATE_ALREADY_USED, INVALID_FIELD, with the path of the record before the field
   */
  stage(
    seeds: readonly SeedCollection[],
    path: string,
    staged: { readonly mandates: { find(mandateReference: string): CollectedMandate | undefined } },
  ): StagedRecords {
    const now = this.context.clock.now()
    const used = new Set<string>()
    const { records, add } = this.stageAll(seeds, path, seed => {
      const { status = 'PENDING', reasonCode } = seed
      // `refersTo` of the row makes sure that it is there.
      const mandate = staged.mandates.find(seed.mandateReference) as CollectedMandate
      if (reasonCode !== undefined) assertReasonFits(reasonCode, status)
      if (mandate.type === 'ONE_OFF' && status !== 'CANCELLED') {
        this.#assertFree(mandate)
        if (used.has(mandate.mandateReference)) throw errors.mandateAlreadyUsed(mandate.mandateReference)
        used.add(mandate.mandateReference)
      }
      const collection = build(seed, mandate, onOrAfter(T2, parseDay(seed.collectionDate)), now)
      const { initiatedAt = collection.initiatedAt, updatedAt = initiatedAt } = seed
      return { region: 'EU', record: { ...collection, status, initiatedAt, updatedAt } }
    })
    return {
      records,
      add: () => {
        add()
        for (const { record } of records) {
          const at = presentedAt(record, now)
          if (at !== undefined) this.#mandates.presented(record.mandateReference, at)
        }
      },
    }
  }

  protected override createdAtOf({ initiatedAt }: StoredCollection): string {
    return initiatedAt
  }

  protected override indexOf({ mandateReference }: StoredCollection): string {
    return mandateReference
  }

  protected override stepAfter(collection: StoredCollection): Step<CollectionTransition> | null {
    return nextStep(collection)
  }

  /** A submission fails without an active mandate. */
  protected override whenDue(
    step: Step<CollectionTransition>,
    { mandateReference }: StoredCollection,
  ): Step<CollectionTransition> {
    if (step.transition !== 'submit' || this.#mandates.permits(mandateReference)) return step
    return { ...step, transition: 'fail', reasonCode: 'MD01' }
  }

  protected override legal(collection: StoredCollection): readonly LegalTransition[] {
    return legalTransitionsAt(collection, this.context.clock.now())
  }

  protected override membersOf(
    collection: StoredCollection,
    transition: CollectionTransition,
    body: { reasonCode?: string },
  ) {
    const reasonCode = reasonFor(collection, transition, body.reasonCode, this.context.clock.now())
    return reasonCode === undefined ? {} : { reasonCode }
  }

  protected override afterTransition({ status, mandateReference }: StoredCollection): void {
    if (status === 'SUBMITTED') this.#mandates.presented(mandateReference, this.context.clock.now())
  }

  #cancelPendingOf(mandateReference: string, cause: Cause): void {
    for (const entry of this.indexed(mandateReference)) {
      if (entry.record.status === 'PENDING') this.transition(entry, 'cancel', cause)
    }
  }

  /** A ONE_OFF mandate has one collection; only a cancelled one frees it (decisions §6). @throws MANDATE_ALREADY_USED */
  #assertFree({ mandateReference, type }: CollectedMandate): void {
    if (type !== 'ONE_OFF') return
    const isUsed = this.indexed(mandateReference).some(({ record }) => record.status !== 'CANCELLED')
    if (isUsed) throw errors.mandateAlreadyUsed(mandateReference)
  }
}

/**
 * Makes a new collection. The outcome that its debtorReference selects is stored, so that a later release with other
 * outcomes does not change it.
 */
function build(input: NewCollection, mandate: CollectedMandate, settlementDay: Day, now: Instant): StoredCollection {
  const debtorReference = input.debtorReference ?? mandate.debtor.reference
  const steered = debtorReference === undefined ? {} : { debtorReference }
  const outcome = outcomeOf(steered)?.outcome
  const initiatedAt = formatInstant(now)
  return {
    ...input,
    ...steered,
    scheme: 'SEPA',
    status: 'PENDING',
    debtorName: input.debtorName ?? mandate.debtor.name,
    collectionDate: formatDay(settlementDay),
    initiatedAt,
    updatedAt: initiatedAt,
    ...(outcome !== undefined && { outcome }),
  }
}

/** Returns when a collection was presented to the scheme, which is not in the future, or undefined if it was not. */
export function presentedAt({ status, reasonCode, collectionDate }: Collection, now: Instant): Instant | undefined {
  const isBefore = status === 'PENDING' || status === 'CANCELLED' || (status === 'FAILED' && reasonCode === 'MD01')
  return isBefore ? undefined : Math.min(submissionOf(parseDay(collectionDate)), now)
}

/** Returns a filter by initiation time and amount, or undefined if there are no bounds. Instants compare as text. */
function withinBounds({ initiatedFrom, initiatedTo, amountMin, amountMax }: CollectionQuery) {
  if ([initiatedFrom, initiatedTo, amountMin, amountMax].every(bound => bound === undefined)) return undefined
  return ({ initiatedAt, amount }: Collection): boolean =>
    (initiatedFrom === undefined || initiatedFrom <= initiatedAt) &&
    (initiatedTo === undefined || initiatedAt <= initiatedTo) &&
    (amountMin === undefined || amountMin <= Number(amount)) &&
    (amountMax === undefined || Number(amount) <= amountMax)
}
