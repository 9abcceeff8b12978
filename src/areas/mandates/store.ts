import type { Static } from '@sinclair/typebox'
import { errors } from '../../core/errors.js'
import type { Step } from '../../core/records/lifecycle.js'
import type { List } from '../../core/records/list.js'
import type { StagedRecords } from '../../core/records/repository.js'
import { StatefulRepository } from '../../core/records/stateful-repository.js'
import type { Instant } from '../../core/time/time.js'
import { addMonths, formatDay, formatInstant, isMoment, localTime, readInstant } from '../../core/time/time.js'
import type { StoreOptions } from '../area.js'
import type { MandateStatus, MandateTransition } from './lifecycle.js'
import { FINAL_STATUSES, MONTHS_UNTIL_EXPIRY, mandateLifecycle } from './lifecycle.js'
import type { MandateQuery, NewMandate, SeedMandate, StoredMandate } from './schemas.js'

/** The mandates of one tenant, all in region EU (decisions §7). */
export class MandateStore extends StatefulRepository<StoredMandate, MandateStatus, MandateTransition> {
  readonly #settings: StoreOptions['settings']

  constructor({ context, settings }: StoreOptions) {
    super(context, mandateLifecycle)
    this.#settings = settings
  }

  /** @throws DUPLICATE_REFERENCE, INVALID_FIELD (frequency of a ONE_OFF mandate) */
  create(input: NewMandate): StoredMandate {
    const status = this.#settings.mandateActivation === 'manual' ? 'PENDING' : 'ACTIVE'
    const mandate = build(input, this.context.clock.now(), status)
    this.assertUnused('EU', mandate.mandateReference)
    return this.add('EU', mandate, 'api').record
  }

  /** @throws MANDATE_NOT_FOUND */
  get(mandateReference: string): StoredMandate {
    return this.entry('EU', mandateReference).record
  }

  /** Returns whether a collection is presented as scheduled: its mandate is active. */
  permits(mandateReference: string): boolean {
    return this.get(mandateReference).status === 'ACTIVE'
  }

  /** Returns whether a mandate exists and is in a final state. */
  isFinal(mandateReference: string): boolean {
    return this.find(mandateReference).some(({ record }) => FINAL_STATUSES.includes(record.status))
  }

  /** @throws INVALID_CURSOR */
  list({ status, type, debtorReference, cursor, limit }: Static<typeof MandateQuery>): List<StoredMandate> {
    return this.page('EU', {
      fields: { status, type },
      matches: ({ debtor }) => debtorReference === undefined || debtor.reference === debtorReference,
      cursor,
      limit,
    })
  }

  /**
   * Cancels an active mandate (interface, Mandate). Its pending collections follow.
   * @throws MANDATE_NOT_FOUND, MANDATE_NOT_ACTIVE
   */
  cancel(mandateReference: string): StoredMandate {
    const entry = this.entry('EU', mandateReference)
    if (entry.record.status !== 'ACTIVE') throw errors.mandateNotActive(mandateReference, entry.record.status)
    return this.transition(entry, 'cancel', 'api')
  }

  /** Records that a collection was presented to the scheme, which restarts the 36 months until expiry. */
  presented(mandateReference: string, at: Instant): void {
    const entry = this.entry('EU', mandateReference)
    const lastPresentedAt = formatInstant(at)
    if (lastPresentedAt > (entry.record.lastPresentedAt ?? '')) this.replace(entry, { lastPresentedAt })
  }

  /**
   * Checks seeded mandates, of any state.
   * @throws the errors of `create`, with the path of the record before the field
   */
  stage(
    seeds: readonly SeedMandate[],
    path: string,
  ): StagedRecords & { find(reference: string): StoredMandate | undefined } {
    const now = this.context.clock.now()
    const staged = this.stageAll(seeds, path, seed => {
      const { status = 'ACTIVE', createdAt = formatInstant(now), updatedAt = createdAt } = seed
      return { region: 'EU', record: { ...build(seed, now, status), createdAt, updatedAt } }
    })
    const byReference = new Map(staged.records.map(({ record }) => [record.mandateReference, record]))
    return {
      ...staged,
      /** Finds a stored or staged mandate. */
      find: reference => byReference.get(reference) ?? this.find(reference)[0]?.record,
    }
  }

  protected override firstStateOf({ status }: StoredMandate): MandateStatus {
    return status === 'FAILED' ? 'PENDING' : 'ACTIVE'
  }

  protected override stepAfter(mandate: StoredMandate): Step<MandateTransition> | null {
    return mandate.status === 'ACTIVE' ? { at: expiryOf(mandate), transition: 'expire', cause: 'time' } : null
  }
}

function build(input: NewMandate, now: Instant, status: MandateStatus): StoredMandate {
  if (input.type === 'ONE_OFF' && input.frequency !== undefined) {
    throw errors.invalid('frequency', 'frequency goes only with type RECURRING.')
  }
  return {
    ...input,
    mode: 'CORE',
    scheme: 'SEPA',
    currency: 'EUR',
    signatureDate: input.signatureDate ?? formatDay(localTime(now, 'Europe/Berlin').day),
    status,
    createdAt: formatInstant(now),
    updatedAt: formatInstant(now),
  }
}

function expiryOf({ lastPresentedAt, createdAt }: Pick<StoredMandate, 'lastPresentedAt' | 'createdAt'>): Instant {
  return addMonths(readInstant(lastPresentedAt ?? createdAt), MONTHS_UNTIL_EXPIRY)
}

/**
 * Returns the state of a seeded mandate at an instant, if only time has acted on it since its creation (decisions §7).
 * Undefined if its times are wrong.
 */
export function stateAt({ createdAt, lastPresentedAt = createdAt }: Readonly<Record<string, unknown>>, now: Instant) {
  if (!isMoment(createdAt) || !isMoment(lastPresentedAt)) return undefined
  const expiry = expiryOf({ createdAt, lastPresentedAt })
  return expiry <= now
    ? { status: 'EXPIRED', updatedAt: formatInstant(expiry) }
    : { status: 'ACTIVE', updatedAt: createdAt }
}
