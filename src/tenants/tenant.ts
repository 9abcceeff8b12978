import type { AccountStore } from '../areas/accounts/store.js'
import { createAccountStore } from '../areas/accounts/store.js'
import type { BillStore } from '../areas/bills/store.js'
import { createBillStore } from '../areas/bills/store.js'
import type { CounterpartyStore } from '../areas/counterparties/store.js'
import { createCounterpartyStore } from '../areas/counterparties/store.js'
import { COLLECTION_OUTCOMES } from '../areas/direct-debit/outcomes.js'
import type { CollectionStore } from '../areas/direct-debit/store.js'
import { createCollectionStore } from '../areas/direct-debit/store.js'
import type { MandateStore } from '../areas/mandates/store.js'
import { createMandateStore } from '../areas/mandates/store.js'
import type { Tokens } from '../areas/oauth/tokens.js'
import { createTokens } from '../areas/oauth/tokens.js'
import { PAYOUT_LINK_OUTCOMES } from '../areas/payout-links/outcomes.js'
import type { PayoutLinkStore } from '../areas/payout-links/store.js'
import { createPayoutLinkStore } from '../areas/payout-links/store.js'
import { errors } from '../core/errors.js'
import { createIds } from '../core/ids.js'
import type { ArmedOutcomes } from '../core/outcomes.js'
import { createArmedOutcomes } from '../core/outcomes.js'
import type { Event } from '../core/records/events.js'
import { createEventLog } from '../core/records/events.js'
import type { TenantContext } from '../core/tenant-context.js'
import type { ClockStart } from '../core/time/clock.js'
import { createClock } from '../core/time/clock.js'
import type { Instant } from '../core/time/time.js'
import { formatInstant, parseInstant } from '../core/time/time.js'
import type { Deprecations } from '../features/deprecations/state.js'
import { createDeprecations } from '../features/deprecations/state.js'
import type { Fault, Faults } from '../features/faults/state.js'
import { createFaults } from '../features/faults/state.js'
import type { SeedRecords } from './seed.js'
import type { Settings, TenantSnapshot } from './snapshot.js'
import { SNAPSHOT_FORMAT, SNAPSHOT_VERSION } from './snapshot.js'

declare module '../http/request-context.js' {
  interface RequestContext {
    /** The tenant of the request's token; undefined until the token is checked. */
    tenant: Tenant
  }
}

/** The number of records of each kind. */
export type Counts = Readonly<Record<keyof Required<SeedRecords>, number>>

/**
 * A client and all its state: clock, ids, events, faults, outcomes, tokens, and one store per area (decisions §3).
 * A reset, and a state that is put back, create another tenant object of the same client.
 */
export interface Tenant extends TenantContext {
  readonly clientId: string
  /** The fixture that a reset goes back to. */
  readonly fixture: string
  readonly settings: Settings
  readonly faults: Faults
  /** The armed outcomes of new collections and payout links. */
  readonly outcomes: ArmedOutcomes
  readonly deprecations: Deprecations
  readonly tokens: Tokens
  readonly mandates: MandateStore
  readonly collections: CollectionStore
  readonly payoutLinks: PayoutLinkStore
  readonly bills: BillStore
  readonly counterparties: CounterpartyStore
  readonly accounts: AccountStore
  counts(): Counts
  /** Adds records, all or nothing. Throws the errors of the stores, with the path of the record before the field. */
  seed(records: SeedRecords): void
  /** Returns the whole tenant as one document. It shares its records with the tenant: serialise or copy it at once. */
  snapshot(): TenantSnapshot
}

/** The facts of a client that its tenant is created with. */
export interface ClientFacts {
  readonly clientId: string
  readonly fixture: string
  readonly scope: string
  /** Lifetime of a token in seconds. */
  readonly tokenLifetime: number
  /** Tokens of another binding are not known. */
  tokenBinding(): string
}

export interface TenantOptions {
  readonly seed: string
  readonly client: ClientFacts
  readonly clock: ClockStart
  readonly settings: Settings
  /** Returns the address of payout links, without a trailing slash. */
  publicUrl(): string
}

/** The parts of a snapshot that are restored before the stores. */
type Past = Pick<TenantSnapshot, 'ids' | 'tokens' | 'sequence' | 'faults' | 'outcomes' | 'deprecations' | 'events'>
const noPast = (scope: string): Past => ({
  ids: { scope, counters: {} },
  tokens: { generation: 0 },
  sequence: 0,
  faults: [],
  deprecations: [],
  events: [],
})

const KINDS = ['mandates', 'collections', 'payoutLinks', 'bills', 'counterparties', 'accounts'] as const

/** Makes a count for each kind of record. */
export const countsBy = (count: (kind: keyof Counts) => number): Counts =>
  Object.fromEntries(KINDS.map(kind => [kind, count(kind)])) as unknown as Counts

/** Creates a tenant without records. */
export function createTenant(
  { seed, client, clock, settings: given, publicUrl }: TenantOptions,
  past: Past = noPast(client.clientId),
): Tenant {
  const { clientId, fixture, scope, tokenLifetime, tokenBinding } = client
  const settings = { ...given }
  let { sequence } = past
  const context: TenantContext = {
    clock: createClock(clock),
    ids: createIds(seed, past.ids.scope, past.ids.counters),
    events: createEventLog(past.events as readonly Event[]),
    nextSequence: () => ++sequence,
  }
  const faults = createFaults(context, past.faults as readonly Fault[])
  const outcomes = createArmedOutcomes(
    context,
    {
      collection: {
        noun: 'collections',
        fields: ['mandateReference', 'debtorReference', 'collectionReference', 'amount'],
        outcomes: COLLECTION_OUTCOMES,
        assertReachable: match => collections.assertReachable(match),
      },
      payoutLink: {
        noun: 'payout links',
        fields: ['payoutMethod', 'counterpartyReference', 'amount'],
        outcomes: PAYOUT_LINK_OUTCOMES,
        assertReachable: match => payoutLinks.assertReachable(match),
      },
    },
    past.outcomes,
  )
  const deprecations = createDeprecations(context, past.deprecations)
  const tokenState = { ...past.tokens }
  const tokens = createTokens({
    context,
    clientId,
    binding: tokenBinding,
    scope,
    lifetime: tokenLifetime,
    state: tokenState,
  })

  const mandates: MandateStore = createMandateStore({
    context,
    activation: () => settings.mandateActivation,
    cancelled: (mandateReference, cause) => collections.cancelPendingOf(mandateReference, cause),
  })
  const collections = createCollectionStore({
    context,
    mandates,
    takeOutcome: collection => outcomes.take('collection', collection),
  })
  const accounts = createAccountStore(context)
  const payoutLinks = createPayoutLinkStore({
    context,
    publicUrl,
    allowedOrigins: () => settings.allowedOrigins,
    takeOutcome: link => outcomes.take('payoutLink', link),
    payer: region => accounts.holder(region) ?? clientId,
  })
  const counterparties = createCounterpartyStore(context)
  const bills = createBillStore({ context, counterparties })
  const stores = { mandates, collections, payoutLinks, bills, counterparties, accounts }

  return {
    ...context,
    ...stores,
    clientId,
    fixture,
    settings,
    faults,
    outcomes,
    deprecations,
    tokens,
    counts: () => countsBy(kind => stores[kind].size()),
    seed(records) {
      const counters = { ...context.ids.counters() }
      try {
        for (const { commit } of stage(records)) commit()
      } catch (error) {
        context.ids.rewind(counters)
        throw error
      }
    },
    snapshot: () => ({
      format: SNAPSHOT_FORMAT,
      version: SNAPSHOT_VERSION,
      clock: { now: formatInstant(context.clock.now()), mode: context.clock.mode(), rate: context.clock.rate() },
      settings: { ...settings },
      deprecations: [...deprecations.list()],
      faults: [...faults.list()] as TenantSnapshot['faults'],
      outcomes: [...outcomes.list()] as TenantSnapshot['outcomes'],
      ids: { scope: past.ids.scope, counters: { ...context.ids.counters() } },
      tokens: { ...tokenState },
      sequence,
      mandates: mandates.snapshot(),
      collections: collections.snapshot(),
      payoutLinks: payoutLinks.snapshot(),
      bills: bills.snapshot(),
      counterparties: counterparties.snapshot(),
      accounts: accounts.snapshot(),
      events: context.events.after(0) as TenantSnapshot['events'],
    }),
  }

  /** Checks all records, each kind against those that it refers to, before any is stored. */
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

export interface RestoreOptions extends Omit<TenantOptions, 'clock' | 'settings'> {
  /** The real time of the snapshot's clock, in milliseconds. */
  readonly realNow: number
}

/**
 * Creates a tenant from a snapshot, whose objects become the tenant's own.
 * Throws DUPLICATE_REFERENCE, MANDATE_NOT_FOUND, INVALID_FIELD where the parts do not fit together.
 */
export function restoreTenant({ realNow, ...options }: RestoreOptions, snapshot: TenantSnapshot): Tenant {
  assertOrder(snapshot)
  const { now, mode, rate } = snapshot.clock
  const clock = { now: parseInstant(now) as Instant, mode, rate, realNow }
  const tenant = createTenant({ ...options, clock, settings: snapshot.settings }, snapshot)
  tenant.mandates.restore(snapshot.mandates, 'mandates')
  tenant.collections.restore(snapshot.collections, 'collections')
  tenant.payoutLinks.restore(snapshot.payoutLinks, 'payoutLinks')
  tenant.bills.restore(snapshot.bills, 'bills')
  tenant.counterparties.restore(snapshot.counterparties, 'counterparties')
  tenant.accounts.restore(snapshot.accounts, 'accounts')
  return tenant
}

/** Refuses numbers of events and places that are missing, repeated, or above the last. */
function assertOrder({ sequence, events, ...snapshot }: TenantSnapshot) {
  const misnumbered = events.findIndex(({ seq }, at) => seq !== at + 1)
  if (misnumbered >= 0) throw errors.invalid(`events.${misnumbered}.seq`, `seq must be ${misnumbered + 1} here.`)
  const taken = new Set<number>()
  for (const kind of KINDS) {
    for (const [at, { sequence: place }] of snapshot[kind].entries()) {
      const field = `${kind}.${at}.sequence`
      if (place > sequence) throw errors.invalid(field, `sequence must be at most that of the state, ${sequence}.`)
      if (taken.has(place)) throw errors.invalid(field, `sequence ${place} is that of another record already.`)
      taken.add(place)
    }
  }
}
