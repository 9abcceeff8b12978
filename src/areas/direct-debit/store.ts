import { onOrAfter, T2 } from '../../core/business-days.js'
import type { Engine } from '../../core/engine.js'
import { atPath, errors } from '../../core/errors.js'
import type { Cause } from '../../core/events.js'
import { latest, memoized } from '../../core/memo.js'
import { centsAtLeast, centsAtMost, parseAmount } from '../../core/money.js'
import type { Explained, KeptStateful, StatefulEntry } from '../../core/stateful-table.js'
import { createStatefulTable } from '../../core/stateful-table.js'
import type { List, Placed } from '../../core/table.js'
import type { CalendarDate, Instant } from '../../core/time.js'
import { formatInstant, localDate, localTime, parseInstant } from '../../core/time.js'
import type { CollectionStatus, CollectionVerb } from './lifecycle.js'
import {
  CUT_OFF,
  collectionDateBounds,
  collectionLifecycle,
  failedSubmission,
  nextStep,
  submissionOf,
} from './lifecycle.js'
import { legalMovesAt, reasonFor, refuseMisplacedReason, refuseUnknownReason } from './reasons.js'
import type { Collection, CollectionQuery, NewCollection, SeedCollection } from './schemas.js'

/** What a collection needs to know of its mandate. */
interface CollectedMandate {
  readonly mandateReference: string
  readonly status: string
  readonly type: 'RECURRING' | 'ONE_OFF'
  readonly debtor: { readonly name: string; readonly reference?: string }
}

export interface CollectionStoreOptions {
  readonly engine: Engine
  readonly mandates: {
    /** @throws MANDATE_NOT_FOUND */
    get(mandateReference: string): CollectedMandate
    /** A collection was presented to the scheme at a time that is not in the future. */
    presented(mandateReference: string, at: Instant): void
  }
}

export type CollectionStore = ReturnType<typeof createCollectionStore>

/** The collection requests of one tenant (decisions §6). They exist in region EU alone. */
export function createCollectionStore({ engine, mandates }: CollectionStoreOptions) {
  const { clock } = engine

  const table = createStatefulTable<
    Collection,
    CollectionStatus,
    CollectionVerb,
    'mandateReference' | 'debtorReference'
  >(
    {
      name: 'direct-debit',
      event: 'collection',
      noun: 'collection',
      lifecycle: collectionLifecycle,
      referenceField: 'collectionReference',
      reference: collection => collection.collectionReference,
      region: () => 'EU',
      createdAt: collection => collection.initiatedAt,
      facets: {
        mandateReference: collection => collection.mandateReference,
        debtorReference: collection => collection.debtorReference,
      },
      measure: collection => parseAmount(collection.amount),
      lengthOf: ({ mandateReference, amount, debtorName, collectionDate, initiatedAt, updatedAt }) =>
        mandateReference.length +
        amount.length +
        debtorName.length +
        collectionDate.length +
        initiatedAt.length +
        updatedAt.length,
      plan: nextStep,
      whenDue: (step, { mandateReference, collectionDate }) =>
        step.verb !== 'submit' || mandates.get(mandateReference).status === 'ACTIVE'
          ? step
          : failedSubmission(collectionDate),
      entered({ record }) {
        if (record.status === 'SUBMITTED') mandates.presented(record.mandateReference, clock.now())
      },
    },
    engine,
  )

  const entryOf = (collectionReference: string) => table.get('EU', collectionReference, errors.collectionNotFound)
  const collectionsOf = (mandateReference: string) => table.index('EU').withFacet('mandateReference', mandateReference)

  function build(input: NewCollection, mandate: CollectedMandate): Collection {
    const debtorReference = input.debtorReference ?? mandate.debtor.reference
    const now = formatInstant(clock.now())
    return {
      collectionReference: input.collectionReference,
      scheme: 'SEPA',
      mandateReference: mandate.mandateReference,
      status: 'PENDING',
      amount: input.amount,
      currency: 'EUR',
      debtorName: input.debtorName ?? mandate.debtor.name,
      ...(debtorReference !== undefined && { debtorReference: shared(debtorReference) }),
      collectionDate: dueDateOf(input.collectionDate),
      initiatedAt: now,
      updatedAt: now,
    }
  }

  /** A ONE_OFF mandate carries one collection; only a cancelled one frees it (decisions §6). */
  function refuseSecondUse({ mandateReference, type }: CollectedMandate) {
    const isLive = (entry: StatefulEntry<Collection>) => entry.record.status !== 'CANCELLED'
    if (type === 'ONE_OFF' && collectionsOf(mandateReference).some(isLive)) {
      throw errors.mandateAlreadyUsed(mandateReference)
    }
  }

  function refuseUntimely(collectionDate: CalendarDate) {
    const bounds = boundsAt(clock.now())
    if (dueDateOf(collectionDate) < bounds.earliest) {
      throw errors.collectionDateTooEarly(collectionDate, bounds.earliest)
    }
    if (collectionDate > bounds.latest) throw errors.collectionDateTooLate(collectionDate, bounds.latest)
  }

  return {
    /**
     * @throws DUPLICATE_REFERENCE, MANDATE_NOT_FOUND, MANDATE_NOT_ACTIVE, MANDATE_ALREADY_USED,
     * COLLECTION_DATE_TOO_EARLY, COLLECTION_DATE_TOO_LATE
     */
    create(input: NewCollection): Collection {
      refuseUntimely(input.collectionDate)
      const mandate = mandates.get(input.mandateReference)
      table.refuseDuplicate('EU', input.collectionReference)
      if (mandate.status !== 'ACTIVE') throw errors.mandateNotActive(mandate.mandateReference, mandate.status)
      refuseSecondUse(mandate)
      return table.create('EU', build(input, mandate), 'api').record
    },

    /** As it is stored, with its latest event. @throws COLLECTION_NOT_FOUND */
    entry: entryOf,

    /** @throws INVALID_CURSOR */
    list(query: CollectionQuery): List<Collection> {
      const { status, mandateReference, debtorReference, initiatedFrom, initiatedTo, cursor, limit } = query
      return table.list('EU', {
        // SEPA is the only scheme, so that filter changes nothing.
        facets: { status, mandateReference, debtorReference },
        createdFrom: initiatedFrom === undefined ? undefined : parseInstant(initiatedFrom),
        createdTo: initiatedTo === undefined ? undefined : parseInstant(initiatedTo),
        range: amountWithin(query),
        cursor,
        limit,
      })
    },

    /**
     * Makes one move for the control plane.
     * @throws COLLECTION_NOT_FOUND, ILLEGAL_TRANSITION, INVALID_FIELD (a reason code that is no SEPA Core code)
     */
    transition(collectionReference: string, verb: CollectionVerb, reasonCode?: string): void {
      if (reasonCode !== undefined) refuseUnknownReason(reasonCode)
      const entry = entryOf(collectionReference)
      const carried = reasonFor(entry.record, verb, reasonCode, clock.now())
      table.move(entry, verb, 'control', carried === undefined ? {} : { reasonCode: carried })
    },

    /** A cancelled mandate takes its pending collections with it. */
    cancelPendingOf(mandateReference: string, cause: Cause): void {
      for (const entry of collectionsOf(mandateReference)) {
        if (entry.record.status === 'PENDING') table.move(entry, 'cancel', cause)
      }
    },

    explain(collectionReference: string): Explained<Collection> {
      const entry = entryOf(collectionReference)
      return table.explain(entry, legalMovesAt(entry.record, clock.now()))
    },

    /**
     * Checks seeded collections, of any state and date.
     * @param findMandate a mandate that is stored or staged
     * @throws DUPLICATE_REFERENCE, MANDATE_NOT_FOUND, INVALID_FIELD, the field with the path of the record in front
     */
    stage(
      seeds: readonly SeedCollection[],
      path: string,
      findMandate: (reference: string) => CollectedMandate | undefined,
    ) {
      const spent = new Set<string>()
      const records = seeds.map((seed, index) =>
        atPath(`${path}.${index}`, (): Placed<Collection> => {
          const { status = 'PENDING', reasonCode } = seed
          const mandate = findMandate(seed.mandateReference)
          if (mandate === undefined) throw errors.mandateNotFound(seed.mandateReference)
          if (reasonCode !== undefined) refuseMisplacedReason(reasonCode, status)
          if (mandate.type === 'ONE_OFF' && status !== 'CANCELLED') {
            refuseSecondUse(mandate)
            if (spent.has(mandate.mandateReference)) throw errors.mandateAlreadyUsed(mandate.mandateReference)
            spent.add(mandate.mandateReference)
          }
          const collection = build(seed, mandate)
          const { initiatedAt = collection.initiatedAt, updatedAt = initiatedAt } = seed
          const given = { status, initiatedAt, updatedAt, ...(reasonCode !== undefined && { reasonCode }) }
          return { region: 'EU', record: { ...collection, ...given } }
        }),
      )
      const store = table.stage(records, path)
      return {
        commit() {
          store()
          for (const { record } of records) {
            if (wasPresented(record))
              mandates.presented(record.mandateReference, Math.min(submissionOf(record.collectionDate), clock.now()))
          }
        },
      }
    },

    keep: table.keep,
    /** Takes what `keep` gave into an empty store, after the mandates. @throws as the table, MANDATE_NOT_FOUND */
    restore(kept: readonly KeptStateful<Collection>[], path: string): void {
      for (const [at, { record }] of kept.entries())
        atPath(`${path}.${at}`, () => mandates.get(record.mandateReference))
      table.restore(kept, path)
    },

    size: table.size,
  }
}

/** One text for all collections of a debtor, who has many: they take 40 bytes less, and a page of them is sooner read. */
const shared = memoized((debtorReference: string) => debtorReference)

/** The open day on which a collection falls due: one text for all of them, as above. */
const dueDateOf = memoized((date: CalendarDate) => onOrAfter(T2, date))

/** The collection dates that are accepted at a moment. */
const boundsAt = latest((now: Instant) =>
  collectionDateBounds(localDate(now, T2.zone), localTime(now, T2.zone) > CUT_OFF),
)

/** Whether a collection has reached the scheme, by the state that it is in. */
const wasPresented = ({ status, reasonCode }: Collection) =>
  status !== 'PENDING' && status !== 'CANCELLED' && !(status === 'FAILED' && reasonCode === 'MD01')

function amountWithin({ amountMin, amountMax }: CollectionQuery) {
  if (amountMin === undefined && amountMax === undefined) return undefined
  return {
    least: amountMin === undefined ? 0 : centsAtLeast(amountMin),
    most: amountMax === undefined ? Infinity : centsAtMost(amountMax),
  }
}
