import type { Static } from '@sinclair/typebox'
import type { Engine } from '../../core/engine.js'
import { atPath, errors } from '../../core/errors.js'
import type { Cause } from '../../core/events.js'
import type { Explained } from '../../core/stateful-table.js'
import { createStatefulTable } from '../../core/stateful-table.js'
import type { List } from '../../core/table.js'
import type { Instant } from '../../core/time.js'
import { addMonths, formatInstant, localDate, parseInstant } from '../../core/time.js'
import type { MandateStatus, MandateVerb } from './lifecycle.js'
import { MONTHS_UNTIL_EXPIRY, mandateLifecycle } from './lifecycle.js'
import type { MandateQuery, NewMandate, SeedMandate, StoredMandate } from './schemas.js'

export interface MandateStoreOptions {
  readonly engine: Engine
  /** Whether a new mandate is ACTIVE at once or waits PENDING for the control plane. */
  activation(): 'automatic' | 'manual'
  /** Told when a mandate has been cancelled, so that its pending collections can be. */
  cancelled(mandateReference: string, cause: Cause): void
}

export type MandateStore = ReturnType<typeof createMandateStore>

/** The mandates of one tenant (decisions §7). They exist in region EU alone. */
export function createMandateStore({ engine, activation, cancelled }: MandateStoreOptions) {
  const { clock } = engine

  const table = createStatefulTable<StoredMandate, MandateStatus, MandateVerb, 'type' | 'debtorReference'>(
    {
      name: 'mandates',
      event: 'mandate',
      noun: 'mandate',
      lifecycle: mandateLifecycle,
      referenceField: 'mandateReference',
      reference: mandate => mandate.mandateReference,
      region: () => 'EU',
      createdAt: mandate => mandate.createdAt,
      facets: { type: mandate => mandate.type, debtorReference: mandate => mandate.debtor.reference },
      plan: mandate => (mandate.status === 'ACTIVE' ? { at: expiryOf(mandate), verb: 'expire', cause: 'time' } : null),
      entered({ record }, cause) {
        if (record.status === 'CANCELLED') cancelled(record.mandateReference, cause)
      },
    },
    engine,
  )

  function build(input: NewMandate, now: Instant, status: MandateStatus): StoredMandate {
    if (input.type === 'ONE_OFF' && input.frequency !== undefined) {
      throw errors.invalid('frequency', 'frequency goes only with type RECURRING.')
    }
    const { mandateReference, type, frequency, creditor, debtor } = input
    return {
      mandateReference,
      type,
      ...(frequency !== undefined && { frequency }),
      mode: 'CORE',
      scheme: 'SEPA',
      currency: 'EUR',
      signatureDate: input.signatureDate ?? localDate(now, 'Europe/Berlin'),
      creditor,
      debtor,
      status,
      createdAt: formatInstant(now),
      updatedAt: formatInstant(now),
    }
  }

  const entryOf = (mandateReference: string) => table.get('EU', mandateReference, errors.mandateNotFound)

  return {
    /** @throws DUPLICATE_REFERENCE, INVALID_FIELD (frequency of a ONE_OFF mandate) */
    create(input: NewMandate): StoredMandate {
      const mandate = build(input, clock.now(), activation() === 'manual' ? 'PENDING' : 'ACTIVE')
      table.refuseDuplicate('EU', mandate.mandateReference)
      return table.create('EU', mandate, 'api').record
    },

    /** @throws MANDATE_NOT_FOUND */
    get: (mandateReference: string): StoredMandate => entryOf(mandateReference).record,

    /** As it is stored, with its latest event. @throws MANDATE_NOT_FOUND */
    entry: entryOf,

    /** @throws INVALID_CURSOR */
    list({ status, type, debtorReference, cursor, limit }: Static<typeof MandateQuery>): List<StoredMandate> {
      return table.list('EU', {
        facets: { status, type, debtorReference },
        cursor,
        limit,
      })
    },

    /**
     * DELETE of an active mandate (interface, Mandate).
     * @throws MANDATE_NOT_FOUND, MANDATE_NOT_ACTIVE
     */
    cancel(mandateReference: string): StoredMandate {
      const entry = entryOf(mandateReference)
      if (entry.record.status !== 'ACTIVE') throw errors.mandateNotActive(mandateReference, entry.record.status)
      table.move(entry, 'cancel', 'api')
      return entry.record
    },

    /** @throws MANDATE_NOT_FOUND, ILLEGAL_TRANSITION */
    transition(mandateReference: string, verb: MandateVerb): void {
      table.move(entryOf(mandateReference), verb, 'control')
    },

    /** A collection under the mandate was presented to the scheme: its 36 months begin anew, unless it was earlier. */
    presented(mandateReference: string, at: Instant): void {
      const entry = entryOf(mandateReference)
      const presentedAt = formatInstant(at)
      if (presentedAt <= (entry.record.lastPresentedAt ?? '')) return
      entry.record.lastPresentedAt = presentedAt
      table.replan(entry)
    },

    explain: (mandateReference: string): Explained<StoredMandate> => table.explain(entryOf(mandateReference)),

    /**
     * Checks seeded mandates, of any state.
     * @throws as `create`, the field with the path of the record in front
     */
    stage(mandates: readonly SeedMandate[], path: string) {
      const now = clock.now()
      const records = mandates.map((seed, index) => {
        const { status = 'ACTIVE', createdAt = formatInstant(now), updatedAt = createdAt, lastPresentedAt } = seed
        const mandate = atPath(`${path}.${index}`, () => build(seed, now, status))
        return { ...mandate, createdAt, updatedAt, ...(lastPresentedAt !== undefined && { lastPresentedAt }) }
      })
      const byReference = new Map(records.map(mandate => [mandate.mandateReference, mandate]))
      return {
        /** A mandate that is stored or staged. */
        find: (reference: string) => byReference.get(reference) ?? table.find(reference)[0]?.record,
        commit: table.stage(
          records.map(record => ({ region: 'EU', record })),
          path,
        ),
      }
    },

    keep: table.keep,
    restore: table.restore,

    size: table.size,
  }
}

function expiryOf(mandate: StoredMandate): Instant {
  return addMonths(parseInstant(mandate.lastPresentedAt ?? mandate.createdAt) as Instant, MONTHS_UNTIL_EXPIRY)
}
