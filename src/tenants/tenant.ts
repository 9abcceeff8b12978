import type { Area, AreaName, Staged, SteeredStore, Store, Stores } from '../areas/index.js'
import { areas, byArea } from '../areas/index.js'
import { createTokens } from '../areas/oauth/tokens.js'
import { atPath, errors } from '../core/errors.js'
import { createIds } from '../core/ids.js'
import type { OutcomeMatch } from '../core/outcome-match.js'
import { createChangeLog } from '../core/records/changes.js'
import type { Event } from '../core/records/events.js'
import { createEventLog } from '../core/records/events.js'
import type { StagedRecords, StoredRecord } from '../core/records/repository.js'
import type { Slices } from '../core/slices.js'
import { atOnce, isSlices } from '../core/slices.js'
import type { TenantContext } from '../core/tenant-context.js'
import type { ClockStart, ClockState } from '../core/time/clock.js'
import { createClock } from '../core/time/clock.js'
import type { Instant } from '../core/time/time.js'
import { formatInstant, parseInstant } from '../core/time/time.js'
import { toNoun, toWords } from '../core/words.js'
import type { Deprecation } from '../features/deprecations/state.js'
import { createDeprecations } from '../features/deprecations/state.js'
import type { Fault } from '../features/faults/state.js'
import { createFaults } from '../features/faults/state.js'
import type { ArmedOutcome, SteeredKind } from '../features/outcomes/state.js'
import { createArmedOutcomes } from '../features/outcomes/state.js'
import { VERSION } from '../package.js'
import type { SeedRecords } from './seed.js'
import type { Settings, TenantSnapshot } from './snapshot.js'
import { DEFAULT_SETTINGS, SNAPSHOT_FORMAT, SNAPSHOT_VERSION, type StateDocument } from './snapshot.js'

declare module '../http/request-context.js' {
  interface RequestContext {
    /** The tenant of the request's token; undefined until the token is checked. */
    tenant: Tenant
  }
}

/** The number of records of each kind. */
export type Counts = Readonly<Record<AreaName, number>>

export type Tenant = ReturnType<typeof createTenant>

/** The state of a tenant beside its records and events. */
export interface TenantMeta {
  readonly clock: ClockState
  readonly settings: Settings
  readonly deprecations: readonly Deprecation[]
  readonly faults: readonly Fault[]
  readonly outcomes: readonly ArmedOutcome[]
  readonly ids: { readonly scope: string; readonly counters: Readonly<Record<string, number>> }
  readonly tokens: { readonly generation: number }
  readonly sequence: number
}

/** A record of some kind, as a database keeps it. */
export interface TenantRecord extends StoredRecord {
  readonly kind: AreaName
}

/** The state of a tenant, or what has changed in it. Loading it checks no rule, so that no later release changes it. */
export interface TenantContent {
  readonly meta: TenantMeta
  readonly records: Iterable<TenantRecord>
  readonly events: readonly Event[]
}

/** The facts of a client that its tenant is created with. */
export interface ClientFacts {
  readonly clientId: string
  /** The number of its resets when the tenant begins. */
  readonly resets: number
  readonly fixture: string
  readonly scope: string
  /** Lifetime of a token in seconds. */
  readonly tokenLifetime: number
  /** Tokens of another binding are not known. */
  tokenBinding(): string
  /** The number that is added to the generation of tokens in the state. */
  tokenGenerationOffset(): number
}

export interface TenantOptions {
  readonly seed: string
  readonly client: ClientFacts
  readonly clock: ClockStart
  /** The others are those of `DEFAULT_SETTINGS`. */
  readonly settings: Partial<Settings>
  /** Called with the error of due work, which is parked. */
  dueWorkFailed?(error: Error): void
}

/** The parts of a snapshot that are restored before the stores. */
type Past = Pick<StateDocument, 'ids' | 'tokens' | 'sequence' | 'faults' | 'outcomes' | 'deprecations' | 'events'>
const noPast = (scope: string): Past => ({
  ids: { scope, counters: {} },
  tokens: { generation: 0 },
  sequence: 0,
  faults: [],
  deprecations: [],
  events: [],
})

const areaNames = Object.keys(areas) as AreaName[]
const hasStates = (name: AreaName) => 'lifecycle' in areas[name]

/** The order of seeding. Records without states come first, since bills add the counterparties that are missing. */
const SEED_ORDER = [...areaNames.filter(name => !hasStates(name)), ...areaNames.filter(hasStates)]

/**
 * Creates a client with all its state, but no records: clock, ids, events, faults, outcomes, tokens, and one store per
 * area (decisions §3). A reset, and a state that is put back, create another tenant object of the same client.
 */
export function createTenant(
  { seed, client, clock, settings: given, dueWorkFailed }: TenantOptions,
  past: Past = noPast(client.clientId),
) {
  const { clientId, resets, fixture, scope, tokenLifetime, tokenBinding, tokenGenerationOffset } = client
  const settings: Settings = { ...DEFAULT_SETTINGS, ...given }
  let { sequence } = past
  const context: TenantContext = {
    clock: createClock(clock, dueWorkFailed),
    ids: createIds(seed, past.ids.scope, past.ids.counters),
    events: createEventLog(past.events as readonly Event[]),
    changes: createChangeLog(),
    nextSequence: () => ++sequence,
  }
  const faults = createFaults(context, past.faults)
  const deprecations = createDeprecations(context, past.deprecations)
  const tokenState = { ...past.tokens }
  const { ids, events, changes } = context
  const tokens = createTokens({
    context,
    clientId,
    keys: createIds(seed, clientId),
    binding: tokenBinding,
    scope,
    lifetime: tokenLifetime,
    state: tokenState,
    generationOffset: tokenGenerationOffset,
  })

  const stores = {} as Stores
  const storeOf = (name: AreaName): Store => stores[name]
  const outcomes = createArmedOutcomes(context, steeredKinds(storeOf), past.outcomes)
  for (const [name, area] of Object.entries<Area>(areas)) {
    const takeOutcome = (record: OutcomeMatch) => outcomes.take(name, record)
    const names = {
      name,
      path: area.path,
      kind: area.lifecycle?.kind,
      reference: area.reference,
      notFound: area.notFound,
    }
    const options = { context: { ...context, names }, clientId, settings, stores, takeOutcome }
    Object.assign(stores, { [name]: area.createStore(options) })
  }

  const meta = (): TenantMeta => ({
    clock: context.clock.state(),
    settings: { ...settings },
    deprecations: deprecations.list(),
    faults: faults.list(),
    outcomes: outcomes.list(),
    ids: { scope: past.ids.scope, counters: { ...ids.counters() } },
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

  function attempt<T>(operation: () => T): T {
    const before = meta()
    const changed = changes.length()
    const last = events.last()

    function* undo(): Slices {
      // The clock first: plans are not in its past.
      restoreMeta(before)
      yield* changes.undoTo(changed)
      events.truncate(last)
    }

    function* watched<R>(work: Slices<R>): Slices<R> {
      try {
        return yield* work
      } catch (error) {
        yield* undo()
        throw error
      }
    }

    try {
      const result = operation()
      return isSlices(result) ? (watched(result) as T) : result
    } catch (error) {
      atOnce(undo())
      throw error
    }
  }

  const seeding = (records: SeedRecords): Slices =>
    attempt(function* () {
      for (const { add } of yield* stage(records)) yield* add()
    })

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
    /** Returns all state beside records and events. It shares nothing that changes. */
    meta,
    /** Does an operation, which may be in slices, or nothing: what it has changed is undone if it throws. */
    attempt,
    /**
     * Returns the records that have changed since the last call, as a database keeps them. The tenant must not change
     * while they are read.
     */
    takeChanges: (): Iterable<TenantRecord> => toRecords(changes.take()),
    /** Returns all records, likewise. */
    *records(): Iterable<TenantRecord> {
      for (const kind of areaNames) for (const entry of storeOf(kind).entries()) yield toRecord(kind, entry)
    },
    /** Brings the tenant to the state of a database: replaces the meta, adds or replaces records, and adds events. */
    *load(content: TenantContent, realNow: number): Slices {
      restoreMeta(content.meta, realNow)
      for (const record of content.records) {
        storeOf(record.kind).load(record)
        yield
      }
      events.load(content.events)
    },
    /** Adds records, all or nothing. Throws the errors of the stores, with the path of the record before the field. */
    seed: (records: SeedRecords): void => atOnce(seeding(records)),
    /** Does the same in slices. */
    seeding,
    /** Captures the whole tenant as one document, whose lists of records are read once. */
    capture,
    /** Returns the whole tenant as one document. It shares records with the tenant: serialise or copy it at once. */
    snapshot(): TenantSnapshot {
      const captured = capture()
      return { ...captured, ...(byArea(name => [...captured[name]]) as Pick<TenantSnapshot, AreaName>) }
    },
  }

  function capture(): Omit<TenantSnapshot, AreaName> & Readonly<Record<AreaName, Iterable<unknown>>> {
    return {
      format: SNAPSHOT_FORMAT,
      version: SNAPSHOT_VERSION,
      release: VERSION,
      clock: { now: formatInstant(context.clock.now()), mode: context.clock.mode(), rate: context.clock.rate() },
      settings: { ...settings },
      deprecations: [...deprecations.list()],
      faults: [...faults.list()],
      outcomes: [...outcomes.list()],
      ids: { scope: past.ids.scope, counters: { ...context.ids.counters() } },
      tokens: { ...tokenState },
      sequence,
      ...byArea(name => storeOf(name).capture()),
      events: context.events.after(0) as TenantSnapshot['events'],
    }
  }

  function* toRecords(entries: ReturnType<typeof changes.take>): Iterable<TenantRecord> {
    for (const { kind, entry } of entries) yield toRecord(kind as AreaName, entry)
  }

  function toRecord(kind: AreaName, entry: object): TenantRecord {
    return { kind, ...storeOf(kind).toStored(entry as never) }
  }

  /** Checks all records, each kind against those that it refers to, before any is stored. */
  function* stage(records: SeedRecords): Slices<StagedRecords[]> {
    const staged = {} as Staged
    const recordsOf = (name: AreaName) => (records[name] ?? []) as readonly Json[]
    const isStored = (name: AreaName, reference: string) => storeOf(name).find(reference).length > 0
    for (const name of SEED_ORDER) {
      yield* assertRelated(name, { recordsOf, path: `records.${name}`, isStored })
      Object.assign(staged, { [name]: yield* storeOf(name).stage(records[name] ?? [], `records.${name}`, staged) })
    }
    return Object.values(staged)
  }
}

type Json = Readonly<Record<string, unknown>>

interface Related {
  recordsOf(name: AreaName): readonly Json[]
  /** The path of the list in the request, for errors. */
  readonly path: string
  isStored(name: AreaName, reference: string): boolean
}

/**
 * Refuses records that name one of another kind which is neither given nor stored (`refersTo` of their row).
 * @throws the code `notFound` of the other kind
 */
function* assertRelated(name: AreaName, { recordsOf, path, isStored }: Related): Slices {
  const { refersTo = {} }: Area = areas[name]
  for (const [member, { kind }] of Object.entries(refersTo)) {
    const { reference, notFound } = areas[kind]
    const given = new Set(recordsOf(kind).map(record => record[reference]))
    for (const [index, { [member]: wanted }] of recordsOf(name).entries()) {
      yield
      if (wanted === undefined || given.has(wanted) || isStored(kind, String(wanted))) continue
      atPath(`${path}.${index}`, () => {
        throw errors.recordNotFound(notFound, member, toNoun(kind), String(wanted))
      })
    }
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
export function* restoreTenant({ realNow, ...options }: RestoreOptions, snapshot: StateDocument): Slices<Tenant> {
  assertOrder(snapshot)
  const { now, mode, rate } = snapshot.clock
  const clock = { now: parseInstant(now) as Instant, mode, rate, realNow }
  const recordsOf = (name: AreaName) => (snapshot[name] ?? []).map(({ record }) => record)
  const tenant = createTenant({ ...options, clock, settings: snapshot.settings }, snapshot)
  for (const name of areaNames) {
    const store: Store = tenant[name]
    yield* assertRelated(name, { recordsOf, path: name, isStored: () => false })
    yield* store.restore(snapshot[name] ?? [], name)
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
  return createTenant({ ...options, clock: start, settings }, { ...noPast(ids.scope), ids })
}

/** Refuses numbers of events and places that are missing, repeated, or above the last. */
function assertOrder({ sequence, events, ...snapshot }: StateDocument) {
  const misnumbered = events.findIndex(({ seq }, at) => seq !== at + 1)
  if (misnumbered >= 0) throw errors.invalid(`events.${misnumbered}.seq`, `seq must be ${misnumbered + 1} here.`)
  const taken = new Set<number>()
  for (const kind of areaNames) {
    for (const [at, { sequence: place }] of (snapshot[kind] ?? []).entries()) {
      const field = `${kind}.${at}.sequence`
      if (place > sequence) throw errors.invalid(field, `sequence must be at most that of the state, ${sequence}.`)
      if (taken.has(place)) throw errors.invalid(field, `sequence ${place} is that of another record already.`)
      taken.add(place)
    }
  }
}
