import type { AccountStore } from './areas/accounts/store.js'
import { createAccountStore } from './areas/accounts/store.js'
import type { BillStore } from './areas/bills/store.js'
import { createBillStore } from './areas/bills/store.js'
import type { CounterpartyStore } from './areas/counterparties/store.js'
import { createCounterpartyStore } from './areas/counterparties/store.js'
import type { CollectionStore } from './areas/direct-debit/store.js'
import { createCollectionStore } from './areas/direct-debit/store.js'
import type { MandateStore } from './areas/mandates/store.js'
import { createMandateStore } from './areas/mandates/store.js'
import type { PayoutLinkStore } from './areas/payout-links/store.js'
import { createPayoutLinkStore } from './areas/payout-links/store.js'
import type { ClockStart } from './core/clock.js'
import { createClock } from './core/clock.js'
import type { Engine } from './core/engine.js'
import { createEventLog } from './core/events.js'
import { createIds } from './core/ids.js'
import type { SeedRecords } from './seed.js'

/** What a tenant can change about how its world behaves. */
export interface Settings {
  /** Whether a new mandate is ACTIVE at once or waits PENDING for the control plane. */
  mandateActivation: 'automatic' | 'manual'
  /** The origins that may embed a payout link. */
  allowedOrigins: readonly string[]
}

/** How many records of each kind a world holds. */
export type Counts = Readonly<Record<keyof Required<SeedRecords>, number>>

/** All state of one tenant: its clock, ids and history, and one store per area. */
export interface World extends Engine {
  readonly settings: Settings
  readonly mandates: MandateStore
  readonly collections: CollectionStore
  readonly payoutLinks: PayoutLinkStore
  readonly bills: BillStore
  readonly counterparties: CounterpartyStore
  readonly accounts: AccountStore
  counts(): Counts
  /**
   * Adds records, all or nothing.
   * @throws what the stores refuse, the field with the path of the record in front
   */
  seed(records: SeedRecords): void
}

export interface WorldOptions {
  readonly seed: string
  readonly clientId: string
  readonly clock: ClockStart
  readonly settings: Settings
  publicUrl(): string
}

const KINDS = ['mandates', 'collections', 'payoutLinks', 'bills', 'counterparties', 'accounts'] as const

/** A count for each kind of record. */
export const countsBy = (count: (kind: keyof Counts) => number): Counts =>
  Object.fromEntries(KINDS.map(kind => [kind, count(kind)])) as unknown as Counts

export function createWorld({ seed, clientId, clock, settings, publicUrl }: WorldOptions): World {
  let sequence = 0
  const engine: Engine = {
    clock: createClock(clock),
    ids: createIds(seed, clientId),
    events: createEventLog(),
    nextSequence: () => ++sequence,
  }

  const mandates: MandateStore = createMandateStore({
    engine,
    activation: () => settings.mandateActivation,
    cancelled: (mandateReference, cause) => collections.cancelPendingOf(mandateReference, cause),
  })
  const collections = createCollectionStore({ engine, mandates })
  const payoutLinks = createPayoutLinkStore({ engine, publicUrl, allowedOrigins: () => settings.allowedOrigins })
  const counterparties = createCounterpartyStore(engine)
  const bills = createBillStore({ engine, counterparties })
  const accounts = createAccountStore(engine)
  const stores = { mandates, collections, payoutLinks, bills, counterparties, accounts }

  return {
    ...engine,
    ...stores,
    settings,
    counts: () => countsBy(kind => stores[kind].size),
    seed(records) {
      const counters = { ...engine.ids.counters }
      try {
        for (const { commit } of stage(records)) commit()
      } catch (error) {
        engine.ids.rewind(counters)
        throw error
      }
    },
  }

  /** Checks all records, each kind against those that it refers to. Nothing is stored before all are found good. */
  function stage(records: SeedRecords): { commit(): void }[] {
    const stagedMandates = mandates.stage(records.mandates ?? [], 'records.mandates')
    return [
      counterparties.stage(records.counterparties ?? [], 'records.counterparties'),
      accounts.stage(records.accounts ?? [], 'records.accounts'),
      stagedMandates,
      collections.stage(records.collections ?? [], 'records.collections', stagedMandates.find),
      payoutLinks.stage(records.payoutLinks ?? [], 'records.payoutLinks'),
      bills.stage(records.bills ?? [], 'records.bills'),
    ]
  }
}
