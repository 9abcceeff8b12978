import { centsAtLeast, centsAtMost, parseAmount } from '../../core/domain/money.js'
import { errors } from '../../core/errors.js'
import type { OutcomeMatch } from '../../core/outcome-match.js'
import type { List } from '../../core/records/list.js'
import type { StagedRecords } from '../../core/records/repository.js'
import { createStatefulRepository } from '../../core/records/stateful-repository.js'
import type { StoreContext } from '../../core/tenant-context.js'
import { onOrAfter, T2 } from '../../core/time/business-days.js'
import type { CalendarDate, Instant } from '../../core/time/time.js'
import { formatInstant } from '../../core/time/time.js'
import type { CollectionStatus, CollectionVerb } from './lifecycle.js'
import { collectionLifecycle } from './lifecycle.js'
import type { CollectionOutcome, Outcome } from './outcomes.js'
import { findOutcome, isPossible, outcomes } from './outcomes.js'
import { assertKnownReason, assertReasonFits, legalMovesAt, reasonFor } from './reasons.js'
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
  /** Returns whether a collection is presented as planned. */
  permits(mandateReference: string): boolean
  /** Returns whether a mandate exists and is in a final state, which allows no new collection. */
  isFinal(mandateReference: string): boolean
}

export type CollectionStore = ReturnType<typeof createCollectionStore>

/**
 * The collection requests of one tenant, all in region EU (decisions §6).
 * @param takeOutcome returns the armed outcome of a new collection, and counts it
 */
export function createCollectionStore(
  context: StoreContext,
  mandates: Mandates,
  takeOutcome: (collection: OutcomeMatch) => string | undefined,
) {
  const { clock, events } = context

  const repository = createStatefulRepository<StoredCollection, CollectionStatus, CollectionVerb>(
    {
      lifecycle: collectionLifecycle,
      region: () => 'EU',
      createdAt: collection => collection.initiatedAt,
      index: collection => collection.mandateReference,
      plan: nextStep,
      whenDue(step, { mandateReference }) {
        if (step.verb !== 'submit' || mandates.permits(mandateReference)) return step
        return { ...step, verb: 'fail', reasonCode: 'MD01' }
      },
      legal: collection => legalMovesAt(collection, clock.now()),
      moved(collection, verb, { reasonCode: given }: { reasonCode?: string }) {
        const reasonCode = reasonFor(collection, verb, given, clock.now())
        return reasonCode === undefined ? {} : { reasonCode }
      },
      onTransition({ status, mandateReference }) {
        if (status === 'SUBMITTED') mandates.presented(mandateReference, clock.now())
      },
    },
    context,
  )

  const entryOf = (collectionReference: string) => repository.get('EU', collectionReference)

  // A cancelled mandate cancels its pending collections.
  events.subscribe('mandate', ({ reference, to, cause }) => {
    if (to !== 'CANCELLED') return
    for (const entry of repository.indexed(reference)) {
      if (entry.record.status === 'PENDING') repository.move(entry, 'cancel', cause)
    }
  })

  /**
   * Makes a new collection. The outcome that its debtorReference selects is stored, so that a later release with other
   * outcomes does not change it.
   */
  function build(input: NewCollection, mandate: CollectedMandate): StoredCollection {
    const debtorReference = input.debtorReference ?? mandate.debtor.reference
    const selected = findOutcome(debtorReference)?.outcome as CollectionOutcome | undefined
    const now = formatInstant(clock.now())
    return {
      collectionReference: input.collectionReference,
      scheme: 'SEPA',
      mandateReference: mandate.mandateReference,
      status: 'PENDING',
      amount: input.amount,
      currency: 'EUR',
      debtorName: input.debtorName ?? mandate.debtor.name,
      ...(debtorReference !== undefined && { debtorReference }),
      collectionDate: onOrAfter(T2, input.collectionDate),
      initiatedAt: now,
      updatedAt: now,
      ...(selected !== undefined && { outcome: selected }),
    }
  }

  /** Gives a new collection the armed outcome that matches it, unless its debtorReference selects one. */
  function steer(collection: StoredCollection): StoredCollection {
    if (collection.outcome !== undefined) return collection
    const outcome = takeOutcome(collection) as CollectionOutcome | undefined
    return outcome === undefined ? collection : { ...collection, outcome }
  }

  /** Returns the outcomes that a collection can still have. */
  function possibleFor(collection: StoredCollection): readonly Outcome[] {
    const legal = legalMovesAt(collection, clock.now())
    return outcomes.filter(outcome => isPossible(outcome, collection.status, legal))
  }

  /** A ONE_OFF mandate has one collection; only a cancelled one frees it (decisions §6). */
  function assertFree({ mandateReference, type }: CollectedMandate) {
    const isUsed = () => repository.indexed(mandateReference).some(({ record }) => record.status !== 'CANCELLED')
    if (type === 'ONE_OFF' && isUsed()) throw errors.mandateAlreadyUsed(mandateReference)
  }

  function assertTimely(collectionDate: CalendarDate) {
    const { earliest, latest } = collectionDateBounds(clock.now())
    if (onOrAfter(T2, collectionDate) < earliest) throw errors.collectionDateTooEarly(collectionDate, earliest)
    if (collectionDate > latest) throw errors.collectionDateTooLate(collectionDate, latest)
  }

  return {
    ...repository.ofStore,

    /**
     * @throws DUPLICATE_REFERENCE, MANDATE_NOT_FOUND, MANDATE_NOT_ACTIVE, MANDATE_ALREADY_USED,
     * COLLECTION_DATE_TOO_EARLY, COLLECTION_DATE_TOO_LATE
     */
    create(input: NewCollection): Collection {
      const { collectionReference, mandateReference, collectionDate } = input
      assertTimely(collectionDate)
      const mandate = mandates.get(mandateReference)
      repository.assertUnused('EU', collectionReference)
      if (mandate.status !== 'ACTIVE') throw errors.mandateNotActive(mandateReference, mandate.status)
      assertFree(mandate)
      return repository.create('EU', steer(build(input, mandate)), 'api').record
    },

    /** @throws COLLECTION_NOT_FOUND */
    get: (collectionReference: string): Collection => entryOf(collectionReference).record,

    /** @throws INVALID_CURSOR */
    list(query: CollectionQuery): List<Collection> {
      const { scheme, status, mandateReference, debtorReference, cursor, limit } = query
      return repository.list('EU', {
        fields: { scheme, status, mandateReference, debtorReference },
        matches: withinBounds(query),
        cursor,
        limit,
      })
    },

    /** @throws COLLECTION_NOT_FOUND, ILLEGAL_TRANSITION, INVALID_FIELD (not a reason code of SEPA Core) */
    transition(collectionReference: string, verb: CollectionVerb, body: { readonly reasonCode?: string } = {}) {
      if (body.reasonCode !== undefined) assertKnownReason(body.reasonCode)
      return repository.ofStore.transition(collectionReference, verb, body)
    },

    /** @throws COLLECTION_NOT_FOUND */
    possibleOutcomes: (collectionReference: string): readonly Outcome[] =>
      possibleFor(entryOf(collectionReference).record),

    /**
     * Gives a collection an outcome, for the control plane. It replaces an earlier one.
     * @throws COLLECTION_NOT_FOUND, ILLEGAL_TRANSITION naming the outcomes that are still possible
     */
    setOutcome(collectionReference: string, name: CollectionOutcome): void {
      const entry = entryOf(collectionReference)
      const { status } = entry.record
      const possible = possibleFor(entry.record).map(({ outcome }) => outcome)
      if (!possible.includes(name)) {
        throw errors.illegalTransition(
          'outcome',
          `The outcome ${name} is not possible for a collection that is ${status} now. Possible: ${possible.join(', ') || 'none'}.`,
        )
      }
      repository.update(entry, { outcome: name })
    },

    /** Refuses the match of an armed outcome that no new collection can meet. @throws INVALID_FIELD */
    assertReachable({ mandateReference, debtorReference, collectionReference }: OutcomeMatch): void {
      if (collectionReference !== undefined && repository.has('EU', collectionReference)) {
        throw errors.invalid(
          'match.collectionReference',
          `The outcome could never apply: the collection exists. Use PUT /_sandbox/direct-debit/${collectionReference}/outcome.`,
        )
      }
      if (findOutcome(debtorReference) !== undefined) {
        throw errors.invalid(
          'match.debtorReference',
          `The outcome could never apply: ${debtorReference} selects an outcome itself, and that wins.`,
        )
      }
      if (mandateReference !== undefined && mandates.isFinal(mandateReference)) {
        const { status } = mandates.get(mandateReference)
        throw errors.invalid('match.mandateReference', `The outcome could never apply: the mandate is ${status}.`)
      }
    },

    /**
     * Checks seeded collections, of any state and date.
     * @param staged the staged mandates, which find a stored or staged one
     * @throws DUPLICATE_REFERENCE, MANDATE_ALREADY_USED, INVALID_FIELD, with the path of the record before the field
     */
    stage(
      seeds: readonly SeedCollection[],
      path: string,
      staged: { readonly mandates: { find(mandateReference: string): CollectedMandate | undefined } },
    ): StagedRecords {
      const used = new Set<string>()
      const { records, add } = repository.stage(seeds, path, seed => {
        const { status = 'PENDING', reasonCode } = seed
        // `refersTo` of the row makes sure that it is there.
        const mandate = staged.mandates.find(seed.mandateReference) as CollectedMandate
        if (reasonCode !== undefined) assertReasonFits(reasonCode, status)
        if (mandate.type === 'ONE_OFF' && status !== 'CANCELLED') {
          assertFree(mandate)
          if (used.has(mandate.mandateReference)) throw errors.mandateAlreadyUsed(mandate.mandateReference)
          used.add(mandate.mandateReference)
        }
        const collection = build(seed, mandate)
        const { initiatedAt = collection.initiatedAt, updatedAt = initiatedAt } = seed
        const given = { status, initiatedAt, updatedAt, ...(reasonCode !== undefined && { reasonCode }) }
        return { region: 'EU', record: { ...collection, ...given } }
      })
      return {
        records,
        add() {
          add()
          for (const { record } of records) {
            const at = presentedAt(record, clock.now())
            if (at !== undefined) mandates.presented(record.mandateReference, at)
          }
        },
      }
    },
  }
}

/** Returns when a collection was presented to the scheme, which is not in the future; undefined: it was not. */
export function presentedAt({ status, reasonCode, collectionDate }: Collection, now: Instant): Instant | undefined {
  const isBefore = status === 'PENDING' || status === 'CANCELLED' || (status === 'FAILED' && reasonCode === 'MD01')
  return isBefore ? undefined : Math.min(submissionOf(collectionDate), now)
}

/** Returns a filter by initiation time and amount; undefined: there are no bounds. Instants compare as text. */
function withinBounds({ initiatedFrom, initiatedTo, amountMin, amountMax }: CollectionQuery) {
  if ([initiatedFrom, initiatedTo, amountMin, amountMax].every(bound => bound === undefined)) return undefined
  const least = amountMin === undefined ? undefined : centsAtLeast(amountMin)
  const most = amountMax === undefined ? undefined : centsAtMost(amountMax)
  return ({ initiatedAt, amount }: Collection): boolean => {
    if (initiatedFrom !== undefined && initiatedAt < initiatedFrom) return false
    if (initiatedTo !== undefined && initiatedAt > initiatedTo) return false
    if (least === undefined && most === undefined) return true
    const cents = parseAmount(amount)
    return (least === undefined || least <= cents) && (most === undefined || cents <= most)
  }
}
