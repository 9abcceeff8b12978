import type { Area, AreaName, SteeredStore, Store, StoreOptions, Stores } from '../areas/index.js'
import { areaNames, areas, byArea } from '../areas/index.js'
import type { TokenClient } from '../areas/oauth/tokens.js'
import { createTokens } from '../areas/oauth/tokens.js'
import { ApiError, errors } from '../core/errors.js'
import { createIds } from '../core/ids.js'
import type { OutcomeMatch } from '../core/outcome-match.js'
import { createChangeLog } from '../core/records/changes.js'
import { createEventLog } from '../core/records/events.js'
import type { StagedRecords } from '../core/records/repository.js'
import type { TenantContext } from '../core/tenant-context.js'
import type { ClockStart } from '../core/time/clock.js'
import { createClock } from '../core/time/clock.js'
import { formatInstant, readInstant } from '../core/time/time.js'
import { toWords } from '../core/words.js'
import { VERSION } from '../package.js'
import { createDeprecations } from '../sandbox/deprecations/state.js'
import { createFaults } from '../sandbox/faults/state.js'
import type { SteeredKind } from '../sandbox/outcomes/state.js'
import { createArmedOutcomes } from '../sandbox/outcomes/state.js'
import type { Settings } from '../sandbox/settings/schemas.js'
import { DEFAULT_SETTINGS } from '../sandbox/settings/schemas.js'
import type { SeedRecords, StateDocument } from '../sandbox/state/schemas.js'
import { SNAPSHOT_FORMAT, SNAPSHOT_VERSION } from '../sandbox/state/schemas.js'
import type { Counts, Json, TenantContent, TenantMeta, TenantRecord } from './content.js'
import { assertKnown, assertOrder, assertRelated } from './content.js'

declare module '../http/request-context.js' {
  interface RequestContext {
    /** The tenant of the request's token; undefined until the token is checked. */
    tenant?: Tenant
  }
}

export type Tenant = ReturnType<typeof createTenant>

/** The facts of a client that its tenant is created with. */
export interface ClientFacts {
  readonly clientId: string
  /** The number of its resets when the tenant begins. */
  readonly resets: number
  readonly fixture: string
  /** By default, each token request has its own scope. */
  readonly scope: string | undefined
  /** Lifetime of a token in seconds. */
  readonly tokenLifetime: number
  /** The client as it is now. */
  readonly tokenClient: TokenClient
}

export interface TenantOptions {
  readonly seed: string
  readonly client: ClientFacts
  readonly clock: ClockStart
  /** The others come from `DEFAULT_SETTINGS`. */
  readonly settings: Partial<Settings>
  /** The most records, of all kinds together. */
  readonly maxRecords: number
  /** Called with the error of due work. */
  dueWorkFailed?(error: Error): void
}

/** The parts of a state document that a tenant is created with. */
type InitialState = Pick<
  StateDocument,
  'ids' | 'tokens' | 'sequence' | 'faults' | 'outcomes' | 'deprecations' | 'events'
>
const emptyState = (scope: string): InitialState => ({
  ids: { scope, counters: {} },
  tokens: { generation: 0 },
  sequence: 0,
  faults: [],
  deprecations: [],
  events: [],
})

const hasStates = (name: AreaName) => 'lifecycle' in areas[name]

/** The order in which stores are created and seeded: a store calls only earlier stores. */
const CREATION_ORDER = [...areaNames().filter(name => !hasStates(name)), ...areaNames().filter(hasStates)]

/**
 * Creates a client with all its state, but no records: clock, ids, events, faults, outcomes, tokens, and one store per
 * area (decisions §3). A reset, and a state that is put back, create another tenant object of the same client.
 */
export function createTenant(
  { seed, client, clock, settings: given, maxRecords, dueWorkFailed }: TenantOptions,
  initial: InitialState = emptyState(client.clientId),
) {
  const { clientId, resets, fixture, scope, tokenLifetime, tokenClient } = client
  const settings: Settings = { ...DEFAULT_SETTINGS, ...given }
  let { sequence } = initial
  const context: TenantContext = {
    clock: createClock(clock, dueWorkFailed),
    ids: createIds(seed, initial.ids.scope, initial.ids.counters),
    events: createEventLog(initial.events),
    changes: createChangeLog(),
    room: { used: 0, most: maxRecords },
    nextSequence: () => ++sequence,
  }
  const { ids, events, changes } = context
  const faults = createFaults(context, initial.faults)
  const deprecations = createDeprecations(context, initial.deprecations)
  const tokenState = { ...initial.tokens }
  const tokens = createTokens({
    context,
    clientId,
    keys: createIds(seed, clientId),
    client: tokenClient,
    scope,
    lifetime: tokenLifetime,
    state: tokenState,
  })

  const stores = {} as Stores
  const storeOf = (name: AreaName): Store => stores[name]
  const outcomes = createArmedOutcomes(context, steeredKinds(storeOf), initial.outcomes)
  for (const name of CREATION_ORDER) {
    const area: Area = areas[name]
    const takeOutcome = (record: OutcomeMatch) => outcomes.take(name, record)
    const { path, reference, notFound, regions, lifecycle } = area
    const names = { name, path, kind: lifecycle?.kind, reference, notFound, regions }
    const options = { context: { ...context, names }, clientId, settings, stores, takeOutcome }
    // The compiler checks that the stores have the operations that others call.
    const create: (options: StoreOptions<Stores>) => Store = areas[name].createStore
    Object.assign(stores, { [name]: create(options) })
  }

  const meta = (): TenantMeta => ({
    clock: context.clock.state(),
    settings: { ...settings },
    deprecations: deprecations.list(),
    faults: faults.list(),
    outcomes: outcomes.list(),
    ids: { scope: initial.ids.scope, counters: { ...ids.counters() } },
    tokens: { ...tokenState },
    sequence,
  })

  function restoreMeta(meta: TenantMeta, realNow?: number) {
    context.clock.restore(meta.clock, realNow)
    Object.assign(settings, meta.settings)
    deprecations.restore(meta.deprecations)
    faults.restore(meta.faults)
    outcomes.restore(meta.outcomes)
    ids.rewind(meta.ids.counters)
    Object.assign(tokenState, meta.tokens)
    sequence = meta.sequence
  }

  /** Returns a function that undoes all that changes from now on. */
  function undoFromNow(): () => void {
    const before = meta()
    const changed = changes.length()
    const last = events.last()
    return () => {
      // The clock first: its state has no scheduled work.
      restoreMeta(before)
      changes.undoTo(changed)
      events.truncate(last)
    }
  }

  function attempt<T>(operation: () => T): T {
    const undo = undoFromNow()
    try {
      return operation()
    } catch (error) {
      undo()
      throw error
    }
  }

  return {
    ...context,
    ...stores,
    clientId,
    resets,
    /** The fixture that a reset goes back to. */
    fixture,
    settings,
    faults,
    /** The armed outcomes of new collections and payout links. */
    outcomes,
    deprecations,
    tokens,
    counts: (): Counts => byArea(name => storeOf(name).size()),
    /** Returns all state except records and events. It shares nothing that changes. */
    meta,
    /** Does an operation, or nothing: what it has changed is undone if it throws. */
    attempt,
    /** Returns the result of an operation, and undoes what it has changed. */
    tryOut<T>(operation: () => T): T {
      const undo = undoFromNow()
      try {
        return operation()
      } finally {
        undo()
      }
    },
    /** Returns the records that have changed since the last call, as a database keeps them. */
    takeChanges: (): TenantRecord[] => changes.take().map(({ kind, entry }) => toRecord(kind as AreaName, entry)),
    /** Returns all records, likewise. */
    records: (): TenantRecord[] =>
      areaNames().flatMap(kind =>
        storeOf(kind)
          .entries()
          .map(entry => toRecord(kind, entry)),
      ),
    /**
     * Brings the tenant to the state of a database: replaces the meta, adds or replaces records, and adds events.
     * @throws Error (this release lacks something that a record has)
     */
    load(content: TenantContent, realNow: number): void {
      restoreMeta(content.meta, realNow)
      for (const record of content.records) {
        assertKnown(record)
        storeOf(record.kind).load(record)
      }
      events.load(content.events)
    },
    /** Adds records, all or nothing. Throws the errors of the stores, with the path of the record before the field. */
    seed: (records: SeedRecords): void =>
      attempt(() => {
        const staged = stage(records)
        try {
          for (const { add } of staged) add()
        } catch (error) {
          if (error instanceof ApiError && error.code === 'RECORD_LIMIT_REACHED')
            throw errors.tooManyRecords(maxRecords)
          throw error
        }
      }),
    /** Returns the whole tenant as a state document. It shares records with the tenant, which replaces them by others. */
    snapshot: () => ({
      format: SNAPSHOT_FORMAT,
      version: SNAPSHOT_VERSION,
      release: VERSION,
      ...meta(),
      clock: { now: formatInstant(context.clock.now()), mode: context.clock.mode(), rate: context.clock.rate() },
      ...byArea(name => storeOf(name).capture()),
      events: events.after(0),
    }),
  }

  function toRecord(kind: AreaName, entry: object): TenantRecord {
    return { kind, ...storeOf(kind).toStored(entry as never) }
  }

  /** Checks all records, each kind against those that it refers to, before any is stored. */
  function stage(records: SeedRecords): StagedRecords[] {
    const staged: Partial<Record<AreaName, StagedRecords>> = {}
    const recordsOf = (name: AreaName): readonly Json[] => records[name] ?? []
    const isStored = (name: AreaName, reference: string) => storeOf(name).find(reference).length > 0
    for (const name of CREATION_ORDER) {
      assertRelated(name, { recordsOf, path: `records.${name}`, isStored })
      staged[name] = storeOf(name).stage(records[name] ?? [], `records.${name}`, staged as never)
    }
    return Object.values(staged)
  }
}

/** The kinds of records whose outcomes can be armed, by the names of their areas. */
const steeredKinds = (storeOf: (name: AreaName) => Store): Readonly<Record<string, SteeredKind>> =>
  Object.fromEntries(
    Object.entries<Area>(areas).flatMap(([name, { outcomes }]) => {
      if (outcomes === undefined) return []
      const assertReachable = (match: OutcomeMatch) =>
        (storeOf(name as AreaName) as SteeredStore).assertReachable(match)
      return [[name, { ...outcomes, noun: toWords(name), outcomes: outcomes.names, assertReachable }]]
    }),
  )

export interface RestoreOptions extends Omit<TenantOptions, 'clock' | 'settings'> {
  /** The real time of the snapshot's clock, in milliseconds. */
  readonly realNow: number
}

/**
 * Creates a tenant from a state document, whose objects become the tenant's own. A missing list has no records.
 * Throws DUPLICATE_REFERENCE, INVALID_FIELD, and the code of an unknown reference where the parts do not fit together.
 */
export function restoreTenant({ realNow, ...options }: RestoreOptions, snapshot: StateDocument): Tenant {
  assertOrder(snapshot)
  const size = areaNames().reduce((sum, name) => sum + (snapshot[name]?.length ?? 0), 0)
  if (size > options.maxRecords) throw errors.tooManyRecords(options.maxRecords)
  const { now, mode, rate } = snapshot.clock
  const clock = { now: readInstant(now), mode, rate, realNow }
  const recordsOf = (name: AreaName) => (snapshot[name] ?? []).map(({ record }) => record)
  const tenant = createTenant({ ...options, clock, settings: snapshot.settings }, snapshot)
  for (const name of areaNames()) {
    const store: Store = tenant[name]
    assertRelated(name, { recordsOf, path: name, isStored: () => false })
    store.restore(snapshot[name] ?? [], name)
  }
  return tenant
}

/** Creates the tenant of a database, without its records and events: `load` adds them. */
export function loadTenant(
  options: Omit<TenantOptions, 'clock' | 'settings'>,
  meta: TenantMeta,
  realNow: number,
): Tenant {
  const { settings, ids, clock } = meta
  const start = { now: clock.now, mode: clock.mode, rate: clock.rate, realNow }
  return createTenant({ ...options, clock: start, settings }, { ...emptyState(ids.scope), ids })
}
