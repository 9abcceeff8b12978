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
import type { Deprecations } from './core/deprecations.js'
import { createDeprecations } from './core/deprecations.js'
import type { Engine } from './core/engine.js'
import { errors } from './core/errors.js'
import type { Event as CoreEvent } from './core/events.js'
import { createEventLog } from './core/events.js'
import type { Fault, Faults } from './core/faults.js'
import { createFaults } from './core/faults.js'
import { createIds } from './core/ids.js'
import type { Instant } from './core/time.js'
import { formatInstant, parseInstant } from './core/time.js'
import type { SeedRecords } from './seed.js'
import type { Settings, State } from './state.js'
import { STATE_FORMAT, STATE_VERSION } from './state.js'

/** How many records of each kind a world holds. */
export type Counts = Readonly<Record<keyof Required<SeedRecords>, number>>

/** All state of one tenant: its clock, ids and history, and one store per area. */
export interface World extends Engine {
  /**
   * What a tenant can change about how its world behaves: whether a new mandate is ACTIVE at once or waits PENDING for
   * the control plane, how deprecations are told, and which origins may embed a payout link.
   */
  readonly settings: Settings
  readonly faults: Faults
  readonly deprecations: Deprecations
  /** Tokens with a number up to this one are expired, whatever the clock says. */
  readonly tokens: { expiredUpTo: number }
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
  /** All of it as one document, which shares its records with this world: serialise or copy it at once. */
  keep(): State
}

export interface WorldOptions {
  readonly seed: string
  readonly clientId: string
  readonly clock: ClockStart
  readonly settings: Settings
  publicUrl(): string
}

/** What a world without a past begins with. */
type Past = Pick<State, 'ids' | 'tokens' | 'sequence' | 'faults' | 'deprecations' | 'events'>
const noPast = (scope: string): Past => ({
  ids: { scope, counters: {} },
  tokens: { expiredUpTo: 0 },
  sequence: 0,
  faults: [],
  deprecations: [],
  events: [],
})

const KINDS = ['mandates', 'collections', 'payoutLinks', 'bills', 'counterparties', 'accounts'] as const

/** A count for each kind of record. */
export const countsBy = (count: (kind: keyof Counts) => number): Counts =>
  Object.fromEntries(KINDS.map(kind => [kind, count(kind)])) as unknown as Counts

export function createWorld(
  { seed, clientId, clock, settings: given, publicUrl }: WorldOptions,
  past: Past = noPast(clientId),
): World {
  const settings = { ...given }
  let { sequence } = past
  const { scope } = past.ids
  const engine: Engine = {
    clock: createClock(clock),
    ids: createIds(seed, scope, past.ids.counters),
    events: createEventLog(past.events as readonly CoreEvent[]),
    nextSequence: () => ++sequence,
  }
  const faults = createFaults(engine, past.faults as readonly Fault[])
  const deprecations = createDeprecations(engine, past.deprecations)
  const tokens = { ...past.tokens }

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
    faults,
    deprecations,
    tokens,
    counts: () => countsBy(kind => stores[kind].size()),
    seed(records) {
      const counters = { ...engine.ids.counters() }
      try {
        for (const { commit } of stage(records)) commit()
      } catch (error) {
        engine.ids.rewind(counters)
        throw error
      }
    },
    keep: () => ({
      format: STATE_FORMAT,
      version: STATE_VERSION,
      clock: { now: formatInstant(engine.clock.now()), mode: engine.clock.mode(), rate: engine.clock.rate() },
      settings: { ...settings },
      deprecations: [...deprecations.list()],
      faults: [...faults.list()] as State['faults'],
      ids: { scope, counters: { ...engine.ids.counters() } },
      tokens: { ...tokens },
      sequence,
      mandates: mandates.keep(),
      collections: collections.keep(),
      payoutLinks: payoutLinks.keep(),
      bills: bills.keep(),
      counterparties: counterparties.keep(),
      accounts: accounts.keep(),
      events: engine.events.after(0) as State['events'],
    }),
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

export interface RestoreOptions extends Omit<WorldOptions, 'clock' | 'settings' | 'clientId'> {
  /** The real time that the clock of the document stands for, in milliseconds. */
  readonly realNow: number
}

/**
 * A world as a state document has it. The document's objects become the world's own.
 * @throws DUPLICATE_REFERENCE, MANDATE_NOT_FOUND, INVALID_FIELD: the parts do not fit together
 */
export function restoreWorld({ realNow, ...options }: RestoreOptions, state: State): World {
  refuseDisorder(state)
  const { now, mode, rate } = state.clock
  const clock = { now: parseInstant(now) as Instant, mode, rate, realNow }
  const world = createWorld({ ...options, clientId: state.ids.scope, clock, settings: state.settings }, state)
  world.mandates.restore(state.mandates, 'mandates')
  world.collections.restore(state.collections, 'collections')
  world.payoutLinks.restore(state.payoutLinks, 'payoutLinks')
  world.bills.restore(state.bills, 'bills')
  world.counterparties.restore(state.counterparties, 'counterparties')
  world.accounts.restore(state.accounts, 'accounts')
  return world
}

/** Places and events are numbered, and what comes next must not meet what is there. */
function refuseDisorder({ sequence, events, ...state }: State) {
  const misnumbered = events.findIndex(({ seq }, at) => seq !== at + 1)
  if (misnumbered >= 0) throw errors.invalid(`events.${misnumbered}.seq`, `seq must be ${misnumbered + 1} here.`)
  const taken = new Set<number>()
  for (const kind of KINDS) {
    for (const [at, { sequence: place }] of state[kind].entries()) {
      const field = `${kind}.${at}.sequence`
      if (place > sequence) throw errors.invalid(field, `sequence must be at most that of the state, ${sequence}.`)
      if (taken.has(place)) throw errors.invalid(field, `sequence ${place} is that of another record already.`)
      taken.add(place)
    }
  }
}
