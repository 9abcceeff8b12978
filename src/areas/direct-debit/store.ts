import { onOrAfter, T2 } from '../../core/business-days.js'
import type { Engine } from '../../core/engine.js'
import { atPath, errors } from '../../core/errors.js'
import type { Cause } from '../../core/events.js'
import { centsAtLeast, centsAtMost, parseAmount } from '../../core/money.js'
import { legalMoves, next } from '../../core/state-machine.js'
import type { Explained, LegalMove, StatefulEntry } from '../../core/stateful-table.js'
import { createStatefulTable } from '../../core/stateful-table.js'
import type { List } from '../../core/table.js'
import type { CalendarDate } from '../../core/time.js'
import { formatInstant, localDate, localTime, parseInstant } from '../../core/time.js'
import type { CollectionStatus, CollectionVerb } from './lifecycle.js'
import { CUT_OFF, collectionDateBounds, collectionLifecycle, nextStep, windowsOf } from './lifecycle.js'
import { findReasonCode } from './reason-codes.js'
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
    presented(mandateReference: string): void
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
      createdAt: collection => collection.initiatedAt,
      facets: {
        mandateReference: collection => collection.mandateReference,
        debtorReference: collection => collection.debtorReference,
      },
      plan: collection => nextStep(collection, mandates.get(collection.mandateReference).status === 'ACTIVE'),
      entered({ record }) {
        if (record.status === 'SUBMITTED') mandates.presented(record.mandateReference)
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
      ...(debtorReference !== undefined && { debtorReference }),
      collectionDate: onOrAfter(T2, input.collectionDate),
      initiatedAt: now,
      updatedAt: now,
    }
  }

  function refuseUnusable(mandate: CollectedMandate) {
    if (mandate.status !== 'ACTIVE') throw errors.mandateNotActive(mandate.mandateReference, mandate.status)
    refuseSecondUse(mandate, collectionsOf(mandate.mandateReference))
  }

  function refuseUntimely(collectionDate: CalendarDate) {
    const now = clock.now()
    const today = localDate(now, T2.zone)
    const { earliest, latest } = collectionDateBounds(today, localTime(now, T2.zone) > CUT_OFF)
    if (onOrAfter(T2, collectionDate) < earliest) throw errors.collectionDateTooEarly(collectionDate, earliest)
    if (collectionDate > latest) throw errors.collectionDateTooLate(collectionDate, latest)
  }

  /** The reason code that a move carries: the given one if it is legal now, else the first legal one. */
  function reasonFor(collection: Collection, verb: CollectionVerb, given: string | undefined): string | undefined {
    next(collectionLifecycle, collection.status, verb, 'collection')
    const windows = windowsOf(collection, verb)
    if (windows.length === 0 && given === undefined) return undefined
    const now = clock.now()
    const open = windows.filter(({ until }) => until === null || now <= until)
    const code = given ?? open[0]?.codes[0]
    if (code !== undefined && open.some(({ codes }) => codes.includes(code))) return code

    const closed = windows.find(({ codes }) => code === undefined || codes.includes(code))
    const reason =
      closed === undefined
        ? `Codes that ${verb} carries from ${collection.status} now: ${open.flatMap(({ codes }) => codes).join(', ') || 'none'}.`
        : `It was legal until ${formatInstant(closed.until as number)}.`
    throw errors.illegalTransition(
      'reasonCode',
      `Cannot ${verb} a collection that is ${collection.status}${code === undefined ? '' : ` with ${code}`} now. ${reason}`,
    )
  }

  function legal(collection: Collection): LegalMove[] {
    const now = clock.now()
    return legalMoves(collectionLifecycle, collection.status).flatMap<LegalMove>(({ verb, to }) => {
      const windows = windowsOf(collection, verb)
      if (windows.length === 0) return { verb, to }
      return windows
        .filter(({ until }) => until === null || now <= until)
        .map(({ codes, until }) => ({
          verb,
          to,
          reasonCodes: codes,
          ...(until !== null && { until: formatInstant(until) }),
        }))
    })
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
      refuseUnusable(mandate)
      return table.create('EU', build(input, mandate), 'api').record
    },

    /** @throws COLLECTION_NOT_FOUND */
    get: (collectionReference: string): Collection => entryOf(collectionReference).record,

    /** @throws INVALID_CURSOR */
    list(query: CollectionQuery): List<Collection> {
      const { status, mandateReference, debtorReference, initiatedFrom, initiatedTo, cursor, limit } = query
      return table.list('EU', {
        // SEPA is the only scheme, so that filter changes nothing.
        facets: {
          status,
          mandateReference: mandateReference === undefined ? undefined : [mandateReference],
          debtorReference: debtorReference === undefined ? undefined : [debtorReference],
        },
        createdFrom: initiatedFrom === undefined ? undefined : parseInstant(initiatedFrom),
        createdTo: initiatedTo === undefined ? undefined : parseInstant(initiatedTo),
        matches: amountWithin(query),
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
      const reason = reasonFor(entry.record, verb, reasonCode)
      table.move(entry, verb, 'control', reason === undefined ? {} : { reasonCode: reason })
    },

    /** A cancelled mandate takes its pending collections with it. */
    cancelPendingOf(mandateReference: string, cause: Cause): void {
      for (const entry of collectionsOf(mandateReference)) {
        if (entry.record.status === 'PENDING') table.move(entry, 'cancel', cause)
      }
    },

    explain(collectionReference: string): Explained<Collection> {
      const entry = entryOf(collectionReference)
      return table.explain(entry, legal(entry.record))
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
      const staged: Collection[] = []
      const stagedUnder = (mandateReference: string) =>
        staged.filter(collection => collection.mandateReference === mandateReference).map(record => ({ record }))
      for (const [index, seed] of seeds.entries()) {
        const record = atPath(`${path}.${index}`, (): Collection => {
          const mandate = findMandate(seed.mandateReference)
          if (mandate === undefined) throw errors.mandateNotFound(seed.mandateReference)
          if (seed.reasonCode !== undefined) refuseUnknownReason(seed.reasonCode)
          const collection = build(seed, mandate)
          if (seed.reasonCode !== undefined) refuseNeedlessReason(seed.status)
          if (seed.status !== 'CANCELLED') {
            refuseSecondUse(mandate, collectionsOf(mandate.mandateReference))
            refuseSecondUse(mandate, stagedUnder(mandate.mandateReference))
          }
          const { status = 'PENDING', initiatedAt = collection.initiatedAt, updatedAt = initiatedAt, reasonCode } = seed
          return { ...collection, status, initiatedAt, updatedAt, ...(reasonCode !== undefined && { reasonCode }) }
        })
        staged.push(record)
      }
      return {
        commit: table.stage(
          staged.map(record => ({ region: 'EU', record })),
          path,
        ),
      }
    },

    get size() {
      return table.size
    },
  }
}

/** A ONE_OFF mandate carries one collection; only a cancelled one frees it (decisions §6). */
function refuseSecondUse(mandate: CollectedMandate, collections: readonly { readonly record: Collection }[]) {
  if (mandate.type === 'ONE_OFF' && collections.some(({ record }) => record.status !== 'CANCELLED')) {
    throw errors.mandateAlreadyUsed(mandate.mandateReference)
  }
}

function refuseUnknownReason(code: string) {
  if (code === 'AC13') throw errors.invalid('reasonCode', 'AC13 belongs to the B2B scheme; mandates here are CORE.')
  if (findReasonCode(code) === undefined)
    throw errors.invalid('reasonCode', `${code} is not a reason code of SEPA Core.`)
}

/** Only what did not come through has a reason (decisions §6). */
function refuseNeedlessReason(status: CollectionStatus = 'PENDING') {
  if (status !== 'REJECTED' && status !== 'RETURNED' && status !== 'FAILED') {
    throw errors.invalid('reasonCode', `A collection that is ${status} has no reasonCode.`)
  }
}

function amountWithin({ amountMin, amountMax }: CollectionQuery) {
  if (amountMin === undefined && amountMax === undefined) return undefined
  const least = amountMin === undefined ? 0 : centsAtLeast(amountMin)
  const most = amountMax === undefined ? Infinity : centsAtMost(amountMax)
  return ({ record }: StatefulEntry<Collection>) => {
    const cents = parseAmount(record.amount)
    return least <= cents && cents <= most
  }
}
