import type { Static } from '@sinclair/typebox'
import { errors } from '../../core/errors.js'
import type { List } from '../../core/records/list.js'
import type { StagedRecords } from '../../core/records/repository.js'
import { createStatefulRepository } from '../../core/records/stateful-repository.js'
import type { StoreContext } from '../../core/tenant-context.js'
import type { Instant } from '../../core/time/time.js'
import { addMonths, formatInstant, isMoment, localDate, parseInstant } from '../../core/time/time.js'
import type { MandateStatus, MandateVerb } from './lifecycle.js'
import { FINAL_STATUSES, MONTHS_UNTIL_EXPIRY, mandateLifecycle } from './lifecycle.js'
import type { MandateQuery, NewMandate, SeedMandate, StoredMandate } from './schemas.js'

export type MandateStore = ReturnType<typeof createMandateStore>

/**
 * The mandates of one tenant, all in region EU (decisions §7).
 * @param activation whether a new mandate is ACTIVE at once or PENDING until the control plane activates it
 */
export function createMandateStore(context: StoreContext, activation: () => 'automatic' | 'manual') {
  const { clock } = context

  const repository = createStatefulRepository<StoredMandate, MandateStatus, MandateVerb>(
    {
      lifecycle: mandateLifecycle,
      region: () => 'EU',
      createdAt: mandate => mandate.createdAt,
      begins: ({ status }) => (status === 'FAILED' ? 'PENDING' : 'ACTIVE'),
      plan: mandate => (mandate.status === 'ACTIVE' ? { at: expiryOf(mandate), verb: 'expire', cause: 'time' } : null),
    },
    context,
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

  const entryOf = (mandateReference: string) => repository.get('EU', mandateReference)

  return {
    ...repository.ofStore,

    /** @throws DUPLICATE_REFERENCE, INVALID_FIELD (frequency of a ONE_OFF mandate) */
    create(input: NewMandate): StoredMandate {
      const mandate = build(input, clock.now(), activation() === 'manual' ? 'PENDING' : 'ACTIVE')
      repository.assertUnused('EU', mandate.mandateReference)
      return repository.create('EU', mandate, 'api').record
    },

    /** @throws MANDATE_NOT_FOUND */
    get: (mandateReference: string): StoredMandate => entryOf(mandateReference).record,

    /** Returns whether a collection is presented as planned: its mandate is active. */
    permits: (mandateReference: string): boolean => entryOf(mandateReference).record.status === 'ACTIVE',

    /** Returns whether a mandate exists and is in a final state. */
    isFinal: (mandateReference: string): boolean =>
      repository.find(mandateReference).some(({ record }) => FINAL_STATUSES.includes(record.status)),

    /** @throws INVALID_CURSOR */
    list({ status, type, debtorReference, cursor, limit }: Static<typeof MandateQuery>): List<StoredMandate> {
      return repository.list('EU', {
        fields: { status, type },
        matches: ({ debtor }) => debtorReference === undefined || debtor.reference === debtorReference,
        cursor,
        limit,
      })
    },

    /**
     * Cancels an active mandate (interface, Mandate). Its pending collections follow.
     * @throws MANDATE_NOT_FOUND, MANDATE_NOT_ACTIVE
     */
    cancel(mandateReference: string): StoredMandate {
      const entry = entryOf(mandateReference)
      if (entry.record.status !== 'ACTIVE') throw errors.mandateNotActive(mandateReference, entry.record.status)
      return repository.move(entry, 'cancel', 'api')
    },

    /** Records that a collection was presented to the scheme, which restarts the 36 months until expiry. */
    presented(mandateReference: string, at: Instant): void {
      const entry = entryOf(mandateReference)
      const presentedAt = formatInstant(at)
      if (presentedAt > (entry.record.lastPresentedAt ?? '')) {
        repository.update(entry, { lastPresentedAt: presentedAt })
      }
    },

    /**
     * Checks seeded mandates, of any state.
     * @throws the errors of `create`, with the path of the record before the field
     */
    stage(
      mandates: readonly SeedMandate[],
      path: string,
    ): StagedRecords & { find(reference: string): StoredMandate | undefined } {
      const now = clock.now()
      const staged = repository.stage(mandates, path, seed => {
        const { status = 'ACTIVE', createdAt = formatInstant(now), updatedAt = createdAt, lastPresentedAt } = seed
        const presented = lastPresentedAt !== undefined && { lastPresentedAt }
        return { region: 'EU', record: { ...build(seed, now, status), createdAt, updatedAt, ...presented } }
      })
      const byReference = new Map(staged.records.map(({ record }) => [record.mandateReference, record]))
      return {
        ...staged,
        /** Finds a stored or staged mandate. */
        find: (reference: string) => byReference.get(reference) ?? repository.find(reference)[0]?.record,
      }
    },
  }
}

function expiryOf({ lastPresentedAt, createdAt }: Pick<StoredMandate, 'lastPresentedAt' | 'createdAt'>): Instant {
  return addMonths(parseInstant(lastPresentedAt ?? createdAt) as Instant, MONTHS_UNTIL_EXPIRY)
}

/**
 * Returns the state of a seeded mandate at an instant, if only time has acted on it since its creation (decisions §7).
 * Undefined: its times are wrong.
 */
export function stateAt({ createdAt, lastPresentedAt = createdAt }: Readonly<Record<string, unknown>>, now: Instant) {
  if (!isMoment(createdAt) || !isMoment(lastPresentedAt)) return undefined
  const expiry = expiryOf({ createdAt, lastPresentedAt })
  return expiry <= now
    ? { status: 'EXPIRED', updatedAt: formatInstant(expiry) }
    : { status: 'ACTIVE', updatedAt: createdAt }
}
