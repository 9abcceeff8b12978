import { setImmediate } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import { ApiError, errors } from '../core/errors.js'
import { inOrder } from '../core/records/events.js'
import type { TenantRegistry } from '../tenants/registry.js'
import type { Tenant } from '../tenants/tenant.js'
import type { Database, Reader, Row, Table, TenantContents, TenantRow, Transaction } from './database.js'
import {
  DamageError,
  DatabaseAwayError,
  damaged,
  factsOf,
  fromRow,
  fromTenantRow,
  identityOf,
  isBatch,
  LockedError,
  nextRows,
  oneLine,
  repairable,
  toEventRow,
  toRecordRow,
  toTenantRow,
} from './database.js'
import type { Turns, Work } from './turns.js'

export interface StoredTurnsOptions {
  readonly database: Database
  /** Its tenants leave memory here only, so it has no bound of its own. */
  readonly registry: TenantRegistry
  readonly logger: Pick<FastifyBaseLogger, 'error'>
  /** The most tenants in memory. More are only there while all of them are in use. */
  readonly maxTenants: number
  /** Returns the real time in milliseconds. */
  now(): number
  /** Whether a tenant must stay in memory. */
  isInUse(clientId: string): boolean
  /** A tenant may have changed: calls that wait for it look again. */
  changed(clientId: string): void
}

/** The state of a tenant that is in the database and in memory. */
interface Stored {
  readonly tenant: Tenant
  readonly version: number
  readonly life: number
  readonly records: number
  readonly events: number
  /** The content of its row without the time of a running clock, which is no change. */
  readonly key: string
}

/** The turns of one client in this process. */
interface Slot {
  readonly clientId: string
  /** Undefined: the tenant is not in memory. */
  stored: Stored | undefined
  /** The end of the last turn that was queued. */
  tail: Promise<unknown>
  /** The turns that are queued or running. */
  users: number
  /** The callbacks of a refresh that has not begun. It serves all of them. */
  looks: ((error?: Error) => void)[] | undefined
  /** The failure of a turn whose tenant was locked, for those that were queued with it: they have waited as long. */
  failure: { readonly error: unknown; left: number } | undefined
}

/** A value, or the refusal of a request. The answer waits for the work after the commit. */
type Outcome<T> = ({ readonly value: T } | { readonly error: unknown }) & { readonly afterwards?: Promise<unknown> }

/** The state of a client is damaged, which concerns no other client. */
class UnreadableError extends ApiError {
  constructor() {
    super(
      'SERVICE_UNAVAILABLE',
      null,
      'The state of this client is damaged in the database. Reset or remove the client.',
    )
  }
}

type Afterwards = Parameters<Turns['afterwards']>[0]

/**
 * Creates the turns of tenants that a database keeps. A tenant in memory is a copy of its rows.
 *
 * A turn that changes something locks its tenant in the database, loads the changes of other servers, does the work in
 * memory, and stores the changed records, events and the row of the tenant in one transaction. It ends after the commit.
 * If that fails, the copy is dropped: the next turn loads what is stored.
 */
export function createStoredTurns(options: StoredTurnsOptions): Turns {
  const { database, registry, logger, maxTenants, now, isInUse, changed } = options
  /** The tenant used longest ago comes first. */
  const slots = new Map<string, Slot>()
  /** The work after the commit of the turn that runs now; undefined: none does. */
  let afterCommit: Afterwards[] | undefined

  // ---------------------------------------------------------------------------------------------------------- memory

  function slotOf(clientId: string): Slot {
    const slot = slots.get(clientId) ?? {
      ...{ clientId, stored: undefined, tail: Promise.resolve(), users: 0, looks: undefined, failure: undefined },
    }
    slots.delete(clientId)
    slots.set(clientId, slot)
    return slot
  }

  /** Drops a tenant from memory: the database has it. */
  function forget(slot: Slot) {
    slot.stored = undefined
    registry.letGo(slot.clientId)
  }

  function makeRoom() {
    for (const slot of slots.values()) {
      if (slots.size <= maxTenants) return
      if (slot.users > 0 || isInUse(slot.clientId)) continue
      forget(slot)
      slots.delete(slot.clientId)
    }
  }

  /** Does some work of tenants after all that was queued before. Their order is that of their ids, so none waits in a circle. */
  function queued<T>([slot, ...others]: readonly Slot[], work: () => Promise<T>): Promise<T> {
    if (slot === undefined) return work()
    slot.users++
    const result = slot.tail.then(() => queued(others, work))
    slot.tail = result
      .catch(() => {})
      .then(() => {
        slot.users--
        if (slot.failure !== undefined && --slot.failure.left === 0) slot.failure = undefined
        // There is no such tenant.
        if (slot.users === 0 && slot.stored === undefined && slots.get(slot.clientId) === slot) {
          slots.delete(slot.clientId)
        }
        makeRoom()
      })
    return result
  }

  // -------------------------------------------------------------------------------------------------------- database

  /** Reports a failure of the database, and returns SERVICE_UNAVAILABLE. */
  function unavailable(error: unknown, clientId?: string): ApiError {
    if (error instanceof ApiError) return error
    if (!(error instanceof DatabaseAwayError)) {
      logger.error({ clientId, ...factsOf(error as Error) }, 'the database cannot be used')
    }
    return error instanceof DamageError ? new UnreadableError() : errors.databaseUnavailable()
  }

  /** Loads the changes of other servers into a tenant, or all of it. Returns its row. */
  async function load(slot: Slot, reader: Reader): Promise<TenantRow | undefined> {
    const { clientId, stored } = slot
    const row = await reader.tenant(clientId)
    // The rows of a tenant can be deleted from outside. Writes to what is left would have no beginning.
    if (row === undefined && stored !== undefined) forget(slot)
    if (row === undefined || row.version === stored?.version) return row
    if (row.isRemoved) {
      registry.retire(clientId, fromTenantRow(clientId, row).identity.resets)
      slot.stored = undefined
    } else {
      slot.stored = await loadRow(
        clientId,
        stored !== undefined && stored.version >= row.life ? stored : undefined,
        row,
        reader,
      )
    }
    return row
  }

  /** Does the same for work that needs no state. Of a tenant that cannot be loaded, only the identity is. */
  async function loadForReplacement(slot: Slot, reader: Reader): Promise<TenantRow | undefined> {
    try {
      return await load(slot, reader)
    } catch (error) {
      const row = await reader.tenant(slot.clientId)
      if (!(error instanceof DamageError) || row === undefined) throw error
      forget(slot)
      // A row that cannot be parsed is as good as removed.
      try {
        const { identity, meta } = fromTenantRow(slot.clientId, row)
        registry.load(identity, meta, row.instant).install()
      } catch {
        registry.retire(slot.clientId, row.version)
      }
      return row
    }
  }

  /** @param known the state in memory; undefined: all is loaded */
  async function loadRow(clientId: string, known: Stored | undefined, row: TenantRow, reader: Reader): Promise<Stored> {
    const { identity, meta, records, events } = fromTenantRow(clientId, row)
    const loading = known === undefined ? registry.load(identity, meta, row.instant) : undefined
    const tenant = loading?.tenant ?? (known?.tenant as Tenant)
    for (const table of ['record', 'event'] as const) {
      let after = { version: known?.version ?? 0, number: Number.MAX_SAFE_INTEGER }
      for (let isLast = false; !isLast; await setImmediate()) {
        const batch = await reader.rows(table, clientId, after)
        loadRows(tenant, table, batch, { meta, instant: row.instant })
        after = batch.at(-1) ?? after
        isLast = !isBatch(batch)
      }
    }
    if (sizeOf(tenant) !== records || tenant.events.last() !== events) throw damaged('a row', clientId)
    loading?.install()
    return { tenant, version: row.version, life: row.life, records, events, key: keyOf(tenant) }
  }

  /** Adds rows of a table to a tenant. */
  function loadRows(
    tenant: Tenant,
    table: Table,
    rows: readonly Row[],
    { meta, instant }: Pick<TenantContents, 'meta'> & Pick<TenantRow, 'instant'>,
  ): void {
    try {
      const items = rows.map((row): never => fromRow(table, tenant.clientId, row))
      const [records, events] = table === 'record' ? [items, []] : [[], items.map(inOrder)]
      tenant.load({ meta, records, events }, instant)
    } catch (error) {
      // A row that this release cannot place, such as one of a region that it lacks, concerns its client only.
      throw error instanceof DamageError
        ? error
        : damaged(`a row (${oneLine((error as Error).message)})`, tenant.clientId)
    }
  }

  const contentOf = (
    tenant: Tenant,
    { records, events }: Pick<TenantContents, 'records' | 'events'>,
  ): TenantContents => ({
    identity: registry.identityOf(tenant.clientId),
    meta: tenant.meta(),
    records,
    events,
  })

  function keyOf(tenant: Tenant): string {
    const { clock, ...meta } = tenant.meta()
    const { now, ...pace } = clock
    return JSON.stringify([registry.identityOf(tenant.clientId), meta, clock.mode === 'running' ? pace : clock])
  }

  /** Writes the changes of a turn. Returns the state that is stored then; null: nothing has changed. */
  async function write(
    { clientId, stored }: Slot,
    transaction: Transaction,
    found: TenantRow | undefined,
    realNow: number,
  ) {
    const before = found && repairable(clientId, found, realNow)
    const tenant = registry.peek(clientId)
    const isGone = tenant === undefined && before?.isRemoved === false && !registry.has(clientId)
    if (tenant === stored?.tenant && (stored === undefined ? !isGone : !hasChanged(stored))) return null
    // A client without a row can have had one. No other server takes this one for it.
    const version = (before?.version ?? realNow) + 1
    const instant = Math.max(realNow, before?.instant ?? 0)
    if (tenant === undefined) {
      const identity = { ...identityOf(clientId, before as TenantRow), resets: registry.resetsOf(clientId) as number }
      const content = JSON.stringify({ identity })
      await transaction.clear(clientId)
      const row = toTenantRow(clientId, { version, life: version, instant, isRemoved: true, content })
      await transaction.write(clientId, row, { record: [], event: [] })
      return { stored: undefined }
    }
    const known = tenant === stored?.tenant ? stored : undefined
    const changes = tenant.takeChanges()
    const records = (known === undefined ? tenant.records() : changes).values()
    const events = tenant.events.after(known?.events ?? 0).values()
    const next = { version, life: known?.life ?? version, records: sizeOf(tenant), events: tenant.events.last() }
    const content = JSON.stringify(contentOf(tenant, next))
    const row = toTenantRow(clientId, { version, life: next.life, instant, isRemoved: false, content })
    // Rows can be left where the row of the tenant is missing.
    if (known === undefined) await transaction.clear(clientId)
    for (let isFirst = true; ; isFirst = false) {
      const record = nextRows(records, record => toRecordRow(clientId, version, record))
      const event = nextRows(events, event => toEventRow(clientId, version, event))
      if (!isFirst && record.length + event.length === 0) break
      if (!isFirst) await setImmediate()
      await transaction.write(clientId, row, { record, event })
    }
    return { stored: { tenant, ...next, key: keyOf(tenant) } }
  }

  const hasChanged = ({ tenant, events, key }: Stored) =>
    tenant.changes.length() > 0 || tenant.events.last() !== events || keyOf(tenant) !== key

  // ----------------------------------------------------------------------------------------------------------- turns

  /** Does due work, then the work of a request. */
  function turnOf<T>(all: readonly Slot[], work: Work<T>, realNow: number): T {
    for (const { clientId } of work.skipsDueWork ? [] : all) {
      const tenant = registry.peek(clientId)
      if (tenant !== undefined) tenant.clock.sync(realNow)
    }
    return work.run(realNow)
  }

  /** Does a turn. A refusal is an outcome, since due work stays. */
  function attempt<T>(turn: () => T, later: Afterwards[]): Outcome<T> {
    afterCommit = later
    try {
      const value = turn()
      // It may be refused before it is answered, which must not count as unhandled.
      if (value instanceof Promise) value.catch(() => {})
      return { value }
    } catch (error) {
      return { error }
    } finally {
      afterCommit = undefined
    }
  }

  /** Takes a turn in the database. The slots are at work for it. */
  async function takeTurn<T>(all: readonly Slot[], work: Work<T>): Promise<Outcome<T>> {
    for (const { failure } of all) if (failure !== undefined) throw failure.error
    let transaction: Transaction | undefined
    try {
      const isReplacing = work.skipsDueWork === true && !work.isRead(now())
      const clientIds = all.map(({ clientId }) => clientId)
      transaction = await database.begin(clientIds)
      const rows = new Map<Slot, TenantRow | undefined>()
      const loading = isReplacing ? loadForReplacement : load
      for (const slot of all) rows.set(slot, await loading(slot, transaction))
      const realNow = now()
      const later: Afterwards[] = []
      const outcome = attempt(() => turnOf(all, work, realNow), later)
      const written = new Map<Slot, { readonly stored: Stored | undefined }>()
      for (const slot of all) {
        const result = await write(slot, transaction, rows.get(slot), realNow)
        if (result !== null) written.set(slot, result)
      }
      if (written.size === 0) await transaction.rollback()
      else await transaction.commit()
      for (const [slot, { stored }] of written) slot.stored = stored
      // A reset that was refused has left a client without its tenant.
      for (const slot of all) if (slot.stored === undefined && registry.has(slot.clientId)) forget(slot)
      if (written.size > 0) database.announce([...written.keys()].map(({ clientId }) => clientId))
      for (const { clientId } of all) changed(clientId)
      return { ...outcome, afterwards: Promise.all(later.map(work => work())) }
    } catch (error) {
      if (transaction !== undefined) {
        await transaction.rollback()
        // Its copies in memory may have changes that are not stored.
        for (const slot of all) forget(slot)
      }
      const refusal = unavailable(error, all[0]?.clientId)
      if (error instanceof LockedError) for (const slot of all) slot.failure = { error: refusal, left: slot.users }
      throw refusal
    }
  }

  /** Loads what other servers have changed, and does due work. */
  async function catchUp(slot: Slot, { skipsDueWork = false }: Pick<Work<unknown>, 'skipsDueWork'>): Promise<void> {
    const { clientId, stored } = slot
    let isLoading = false
    try {
      if (stored === undefined || (database.isShared && (await database.version(clientId)) !== stored.version)) {
        isLoading = true
        await database.read(reader => load(slot, reader))
        if (slot.stored !== stored) changed(clientId)
      }
    } catch (error) {
      // Its copy in memory may have a part of the changes.
      if (isLoading) forget(slot)
      throw unavailable(error, clientId)
    }
    const tenant = slot.stored?.tenant
    if (tenant === undefined || skipsDueWork) return
    if (tenant.clock.isDueAt(now())) await takeTurn([slot], IDLE)
    else tenant.clock.sync(now())
  }

  /** Whether some work can be done on the copy in memory, which is up to date. */
  function isReadable(
    { clientId, stored }: Slot,
    { isRead, skipsDueWork = false }: Pick<Work<unknown>, 'isRead' | 'skipsDueWork'>,
  ): boolean {
    const realNow = now()
    if (stored === undefined || registry.peek(clientId) !== stored.tenant) return false
    return (skipsDueWork || !stored.tenant.clock.isDueAt(realNow)) && isRead(realNow)
  }

  /** Does some work on the copy in memory, which changes nothing. */
  function read<T>({ stored }: Slot, { run, skipsDueWork = false }: Work<T>): T {
    const realNow = now()
    if (!skipsDueWork) stored?.tenant.clock.sync(realNow)
    return run(realNow) as T
  }

  /** Whether the copy in memory is up to date without asking the database. */
  const isCurrent = ({ stored, users }: Slot, isFresh = false) =>
    stored !== undefined && users === 0 && (isFresh || !database.isShared)

  async function clients(): Promise<string[]> {
    const stored = await database.clients().catch(error => {
      throw unavailable(error)
    })
    return [...new Set([...registry.configured(), ...stored])]
  }

  /** Whether a turn of a client is queued or running. */
  const isBusy = (clientId: string) => (slots.get(clientId)?.users ?? 0) > 0

  async function takeInTurn<T>(clientId: string, work: Work<T>, other: string): Promise<T> {
    const slot = slotOf(clientId)
    const all = [...new Set([clientId, other])].sort().map(slotOf)
    const outcome = await queued(all, async (): Promise<Outcome<T>> => {
      if (other === clientId && work.isRead(now())) {
        if (!work.isFresh || slot.stored === undefined) await catchUp(slot, work)
        if (isReadable(slot, work)) {
          try {
            return { value: read(slot, work) }
          } catch (error) {
            return { error }
          }
        }
        if (work.skipsDueWork) {
          // A list begins the life of no client: it shows the state in which one would begin.
          try {
            return { value: work.run(now()) as T }
          } finally {
            forget(slot)
          }
        }
      }
      return takeTurn(all, work)
    })
    await outcome.afterwards
    if ('error' in outcome) throw outcome.error
    return outcome.value
  }

  function take<T>(clientId: string, work: Work<T>, other = clientId): T | Promise<T> {
    const slot = slots.get(clientId)
    if (other === clientId && slot !== undefined && isCurrent(slot, work.isFresh) && isReadable(slot, work)) {
      return read(slot, work)
    }
    return takeInTurn(clientId, work, other)
  }

  return {
    refresh(clientId, done) {
      if (clientId === undefined) {
        done()
        return
      }
      const slot = slotOf(clientId)
      if (isCurrent(slot) && isReadable(slot, IDLE)) {
        read(slot, IDLE)
        done()
        return
      }
      if (slot.looks !== undefined) {
        slot.looks.push(done)
        return
      }
      const looks = [done]
      slot.looks = looks
      void queued([slot], async () => {
        // A call that comes from now on needs another look at the database.
        slot.looks = undefined
        let error: Error | undefined
        await catchUp(slot, IDLE).catch(failure => {
          error = failure
        })
        for (const look of looks) look(error)
      })
    },
    take,
    clients,
    async all(describe, clientIds) {
      const described: ReturnType<typeof describe>[] = []
      for (const clientId of clientIds ?? (await clients())) {
        try {
          const run = (realNow: number) => {
            // Another request may have removed it meanwhile.
            if (registry.has(clientId)) described.push(describe(registry.tenant(clientId, realNow), realNow))
          }
          if (isBusy(clientId) && registry.peek(clientId) !== undefined) run(now())
          else await take(clientId, { isRead: () => true, skipsDueWork: true, run })
        } catch (error) {
          if (!(error instanceof UnreadableError)) throw error
        }
      }
      return described
    },
    afterwards(work) {
      if (afterCommit === undefined) void work()
      else afterCommit.push(work)
    },
    lifeOf(clientId) {
      const stored = slots.get(clientId)?.stored
      // The object is another one after a failure or a while without use.
      return stored?.tenant === registry.peek(clientId) ? stored?.life : undefined
    },
    check: () =>
      database.check().catch(error => {
        throw unavailable(error)
      }),
    inUse: () => [...slots.values()].reduce((sum, { users }) => sum + users, database.inUse()),
  }
}

const sizeOf = (tenant: Tenant) => Object.values(tenant.counts()).reduce((sum, count) => sum + count, 0)

/** A turn for due work only. */
const IDLE: Work<void> = { isRead: () => true, run() {} }
