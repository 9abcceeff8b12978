import type { FastifyBaseLogger } from 'fastify'
import { ApiError, errors, quote } from '../core/errors.js'
import { formatInstant } from '../core/time/time.js'
import type { RecordedRequest } from '../features/recording/file-format.js'
import type { Identity, TenantListener, TenantRegistry, TenantRegistryOptions } from '../tenants/registry.js'
import type { TenantSnapshot } from '../tenants/snapshot.js'
import type { Tenant } from '../tenants/tenant.js'
import type { ApplyRequest } from './apply.js'
import type { StoredState } from './stored-requests.js'
import { instantOf, isState, OPERATIONS, toRequest, toRow, toTimeRow } from './stored-requests.js'
import type { LogRow, TenantLog } from './tenant-log.js'
import { DatabaseAwayError } from './tenant-log.js'
import type { Step, Turns } from './turns.js'

export interface StoredTurnsOptions {
  readonly log: TenantLog
  /** Called after all of it is created. */
  registry(): TenantRegistry
  readonly apply: ApplyRequest
  readonly logger: Pick<FastifyBaseLogger, 'error' | 'info'>
  /** The most tenants in memory. More are only there while all of them are in use. */
  readonly maxTenants: number
  now(): number
  /** Whether a tenant must stay in memory. */
  isInUse(clientId: string): boolean
  /** A tenant has changed: calls that wait for it look again. */
  changed(clientId: string): void
}

export interface StoredTurns extends Turns, TenantListener {
  /** Options of the registry: tenants leave memory here, and their clocks move with their logs. */
  readonly registryOptions: Pick<TenantRegistryOptions, 'maxTenants' | 'syncClock' | 'isKept'>
  /** Returns the address of payout links of the request that is being applied; undefined: that of this server. */
  appliedUrl(): string | undefined
  /** Brings a tenant up to date, and does the work that is due. Rejects with SERVICE_UNAVAILABLE. */
  doDueWork(clientId: string): Promise<void>
}

/** How far this server has applied a tenant's log. */
interface Slot {
  readonly clientId: string
  /** The number of the last row that is applied; 0: the tenant is not in memory. */
  sequence: number
  /** Its real time. */
  instant: number
  /** The length of the newest snapshot, and of the rows after it, in characters. */
  snapshotLength: number
  logLength: number
  /** The number of the row, and the length of the log, from which on a snapshot is worth its cost. */
  nextSnapshot: { sequence: number; length: number }
  /** The resets of the client. */
  resets: number
  /** The number of payout links that are noted in the database. */
  links: number
  /** The end of the last work that was queued. */
  tail: Promise<unknown>
  /** The work that is queued or running. */
  users: number
  /** A refresh that has not started. All calls that need one share it. */
  refresh: Promise<void> | undefined
}

/** A tenant would begin or end, and the database does not have that. */
class Unstored extends Error {
  constructor(
    readonly clientId: string,
    /** Makes the row. */
    readonly toRow: (slot: Slot, realNow: number) => LogRow,
  ) {
    super()
  }
}

/** A log cannot be applied. */
class LogError extends Error {}

/** A snapshot follows so many rows, or so many characters and bytes of them, or more if it is longer than they are. */
const ROWS_PER_SNAPSHOT = 500
const LENGTH_PER_SNAPSHOT = 8 * 1024 * 1024

/**
 * Serves tenants from their logs. Each server holds the tenants that it uses in memory, as a cache of the database.
 *
 * A request that changes something is appended to the log first, under the number after the last that this server has
 * applied. If the log has that number already, the server catches up and decides again. Only then is the request
 * applied and answered, so an answer never precedes its row, and all servers apply the same rows in the same order.
 */
export function createStoredTurns(options: StoredTurnsOptions): StoredTurns {
  const { log, registry, apply, logger, maxTenants, now, isInUse, changed } = options
  /** The tenant used longest ago comes first. */
  const slots = new Map<string, Slot>()
  /** The clients that this server had in memory at some time. */
  const begun = new Set<string>()
  let appliedUrl: string | undefined
  /** The client whose next creation is in the log. */
  let accepted: string | undefined

  // ------------------------------------------------------------------------------------------------------ the database

  /** Throws SERVICE_UNAVAILABLE. */
  async function database<T>(clientId: string | undefined, work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (error) {
      throw unavailable(error, clientId)
    }
  }

  function unavailable(error: unknown, clientId: string | undefined): ApiError {
    if (error instanceof ApiError) return error
    if (error instanceof DatabaseAwayError) return errors.databaseUnavailable()
    logger.error({ err: error, ...(clientId !== undefined && { clientId }) }, 'the database cannot be used')
    return errors.databaseUnavailable()
  }

  /** @param isBehind whether the log must have rows that this server lacks, since it refused one */
  async function catchUp(slot: Slot, isBehind = false): Promise<void> {
    const { clientId } = slot
    if (registry().peek(clientId) === undefined) slot.sequence = 0
    const rows = await database(clientId, log.after(clientId, slot.sequence))
    try {
      if (isBehind && rows.length === 0) throw new LogError(`it has no row after ${slot.sequence}, and takes none`)
      for (const row of rows) applyRow(slot, row)
    } catch (error) {
      forget(slot)
      const reason = error instanceof LogError ? error.message : ((error as ApiError).field ?? (error as Error).message)
      throw unavailable(new Error(`the log of tenant ${quote(clientId)} cannot be applied: ${reason}`), clientId)
    }
    if (rows.length > 0) changed(clientId)
  }

  function applyRow(slot: Slot, row: LogRow): void {
    const isOwnState = row.operation === OPERATIONS.snapshot && row.sequence === slot.sequence + 1
    if (row.operation === OPERATIONS.end) {
      registry().retire(slot.clientId, JSON.parse(row.content).resets)
      count(slot, row)
      return
    }
    if (isState(row)) {
      if (!isOwnState || slot.sequence === 0) restore(slot, JSON.parse(row.content) as StoredState)
      count(slot, row)
      return
    }
    if (row.sequence !== slot.sequence + 1) throw new LogError(`row ${slot.sequence + 1} is missing`)
    const tenant = registry().peek(slot.clientId) as Tenant
    const request = toRequest(row)
    tenant.clock.applyAt(instantOf(request.at), row.instant)
    appliedUrl = request.publicUrl
    try {
      if (row.operation !== OPERATIONS.time) apply(tenant, request)
    } finally {
      appliedUrl = undefined
    }
    count(slot, row)
  }

  function restore({ clientId }: Slot, { identity, state, clockStart }: StoredState) {
    accepted = clientId
    try {
      registry().adopt(identity, state, clockStart)
    } finally {
      accepted = undefined
    }
  }

  function count(slot: Slot, row: LogRow) {
    slot.sequence = row.sequence
    slot.instant = row.instant
    const length = row.content.length + (row.document?.length ?? 0)
    if (isState(row)) {
      Object.assign(slot, { snapshotLength: length, logLength: 0, nextSnapshot: nextSnapshot(row.sequence, 0) })
    } else {
      slot.logLength += length
    }
  }

  /** Appends a row, and counts it. Returns false if another server was first. */
  async function append(slot: Slot, row: LogRow): Promise<boolean> {
    const isFirst = await database(slot.clientId, log.append(slot.clientId, row))
    if (isFirst) count(slot, row)
    return isFirst
  }

  /** Appends the first state or the end of a tenant. Returns false if another server was first. */
  async function begin(slot: Slot, { toRow }: Unstored, realNow: number): Promise<boolean> {
    const row = toRow(slot, realNow)
    const isFirst = await database(slot.clientId, log.appendSnapshot(slot.clientId, row))
    if (isFirst) count(slot, row)
    return isFirst
  }

  function toStateRow(
    { sequence }: Slot,
    operation: string,
    identity: Identity,
    { clock }: Tenant,
    state: TenantSnapshot,
    instant: number,
  ): LogRow {
    const stored: StoredState = { identity, clockStart: clock.realTimeOf(clock.now()) ?? instant, state }
    return { sequence: sequence + 1, instant, operation, content: JSON.stringify(stored), document: null }
  }

  const nextSnapshot = (sequence: number, length: number) => ({
    sequence: sequence + ROWS_PER_SNAPSHOT,
    length: length + LENGTH_PER_SNAPSHOT,
  })

  /** Writes a snapshot if the log is long. A failure changes nothing: the next one is tried after as many rows again. */
  async function snapshotIfLong(slot: Slot): Promise<void> {
    const { sequence, logLength, snapshotLength } = slot
    const isLong = sequence >= slot.nextSnapshot.sequence || logLength >= slot.nextSnapshot.length
    if (!isLong || 2 * logLength < snapshotLength) return
    slot.nextSnapshot = nextSnapshot(sequence, logLength)
    const tenant = registry().peek(slot.clientId) as Tenant
    const identity = registry().identityOf(slot.clientId)
    const row = toStateRow(slot, OPERATIONS.snapshot, identity, tenant, tenant.snapshot(), slot.instant)
    try {
      if (await log.appendSnapshot(slot.clientId, row)) count(slot, row)
    } catch (error) {
      logger.error({ err: error, clientId: slot.clientId }, 'a snapshot cannot be written: the log goes on')
    }
  }

  /** Notes new payout links, so that every server finds the tenant of a page. After a failure the next turn does it. */
  async function noteLinks(slot: Slot): Promise<void> {
    const links = registry().peek(slot.clientId)?.payoutLinks
    if (links === undefined || links.size() === slot.links) return
    const ids = links.snapshot().map(({ record }) => record.payoutLinkId)
    try {
      await log.addLinks(slot.clientId, ids.slice(slot.links))
      slot.links = ids.length
    } catch (error) {
      unavailable(error, slot.clientId)
    }
  }

  // ---------------------------------------------------------------------------------------------------------- memory

  function slotOf(clientId: string): Slot {
    const slot: Slot = slots.get(clientId) ?? {
      clientId,
      ...{
        sequence: 0,
        instant: 0,
        snapshotLength: 0,
        logLength: 0,
        nextSnapshot: nextSnapshot(0, 0),
        resets: 0,
        links: 0,
      },
      ...{ tail: Promise.resolve(), users: 0, refresh: undefined },
    }
    slots.delete(clientId)
    slots.set(clientId, slot)
    return slot
  }

  /** Drops a tenant from memory: the database has it. */
  function forget(slot: Slot) {
    slot.sequence = 0
    registry().letGo(slot.clientId)
  }

  function makeRoom() {
    for (const slot of slots.values()) {
      if (slots.size <= maxTenants) return
      if (slot.users > 0 || isInUse(slot.clientId)) continue
      forget(slot)
      slots.delete(slot.clientId)
    }
  }

  /** Does some work of a tenant after all that was queued before. */
  function queued<T>(slot: Slot, work: () => Promise<T>): Promise<T> {
    slot.users++
    const result = slot.tail.then(work)
    slot.tail = result
      .catch(() => {})
      .then(() => {
        slot.users--
        // There is no such tenant.
        const isGone = registry().peek(slot.clientId) === undefined
        if (slot.users === 0 && isGone && slots.get(slot.clientId) === slot) slots.delete(slot.clientId)
        makeRoom()
      })
    return result
  }

  // ----------------------------------------------------------------------------------------------------------- turns

  const realTime = (slot: Slot) => Math.max(now(), slot.instant)

  /** Brings a tenant up to date. A catch-up that starts later serves all calls that wait for one. */
  function refresh(clientId: string): Promise<void> {
    const slot = slotOf(clientId)
    slot.refresh ??= queued(slot, async () => {
      slot.refresh = undefined
      await catchUp(slot)
      registry().peek(clientId)?.clock.observe(realTime(slot))
    })
    return slot.refresh
  }

  /** Does a step that needs no row; undefined: it must wait for its turn. */
  function takeAtOnce<T>(slot: Slot, { isRead, record, run }: Step<T>): { value: T } | undefined {
    const tenant = registry().peek(slot.clientId)
    const realNow = realTime(slot)
    if (!isRead || tenant === undefined || tenant.clock.isDueAt(realNow)) return undefined
    tenant.clock.observe(realNow)
    return record(realNow) === undefined ? { value: run(realNow, undefined) } : undefined
  }

  async function takeInTurn<T>(slot: Slot, step: Step<T>): Promise<{ value: T }> {
    if (registry().peek(slot.clientId) === undefined) await catchUp(slot)
    let fresh: { clientId: string; realNow: number } | undefined
    /** The slots of the tenants that the step changes. */
    const written = new Set([slot])
    for (;;) {
      // A tenant begins at the time that is in the log.
      const realNow = fresh?.realNow ?? realTime(slot)
      if (fresh === undefined && (await doWorkDue(slot, realNow))) continue
      const outcome = attempt(slot, step, realNow, fresh?.clientId)
      fresh = undefined
      if (outcome instanceof Unstored) {
        const { clientId } = outcome
        const target = clientId === slot.clientId ? slot : slotOf(clientId)
        written.add(target)
        if (await begin(target, outcome, realNow)) fresh = { clientId, realNow }
        else await catchUp(target, true)
      } else if ('value' in outcome) {
        changed(slot.clientId)
        for (const each of written) await noteLinks(each)
        return outcome
      } else if (await append(slot, toRow(slot.sequence + 1, outcome.recorded))) {
        registry().peek(slot.clientId)?.clock.applyAt(instantOf(outcome.recorded.at), realNow)
        const value = step.run(realNow, outcome.recorded)
        changed(slot.clientId)
        await noteLinks(slot)
        await snapshotIfLong(slot)
        return { value }
      } else {
        await catchUp(slot, true)
      }
    }
  }

  /** Does a step. Returns the row that must be in the log before: its record, or the tenant that it creates. */
  function attempt<T>(
    { clientId }: Slot,
    step: Step<T>,
    realNow: number,
    begun: string | undefined,
  ): Unstored | { value: T } | { recorded: RecordedRequest } {
    registry().peek(clientId)?.clock.observe(realNow)
    accepted = begun
    try {
      const recorded = step.record(realNow)
      if (recorded === undefined) return { value: step.run(realNow, undefined) }
      return { recorded: { ...recorded, publicUrl: registry().publicUrl() } }
    } catch (error) {
      if (error instanceof Unstored) return error
      throw error
    } finally {
      accepted = undefined
    }
  }

  /** Does the work that is due. Returns whether there was any, or another server was first. */
  async function doWorkDue(slot: Slot, realNow: number): Promise<boolean> {
    const clock = registry().peek(slot.clientId)?.clock
    if (!clock?.isDueAt(realNow)) return false
    const at = clock.timeAt(realNow)
    if (await append(slot, toTimeRow(slot.sequence + 1, formatInstant(at), realNow))) clock.applyAt(at, realNow)
    else await catchUp(slot, true)
    return true
  }

  async function take<T>(clientId: string, step: Step<T>, other = clientId): Promise<T> {
    const slot = slotOf(clientId)
    const inTurn = () => takeInTurn(slot, step)
    const done = other === clientId ? takeAtOnce(slot, step) : undefined
    // Always in the same order, so that two requests never wait for each other.
    const [first = slot, second] = [...new Set([clientId, other])].sort().map(slotOf)
    // The value is in an object, since a reply must not be awaited here.
    const { value } = done ?? (await queued(first, second === undefined ? inTurn : () => queued(second, inTurn)))
    return value
  }

  async function refreshAndTake<T>(clientId: string, step: Step<T>, other?: string): Promise<T> {
    await refresh(clientId)
    if (other !== undefined) await refresh(other)
    return take(clientId, step, other)
  }

  /** Brings the tenants that can have a link up to date. They stay in memory until the returned function is called. */
  async function refreshLink(payoutLinkId: string, clientId: string | undefined): Promise<() => void> {
    const found = clientId === undefined ? await database(clientId, log.clientsOfLink(payoutLinkId)) : [clientId]
    // A listed client without a request so far has the links of its fixture.
    const isUnused = (id: string) => !begun.has(id)
    const clientIds = found.length > 0 ? found : registry().configured().filter(isUnused)
    const used = clientIds.map(slotOf)
    const release = () => {
      for (const slot of used) slot.users--
    }
    for (const slot of used) slot.users++
    try {
      for (const id of clientIds) {
        const run = (realNow: number) => void (registry().has(id) && registry().tenant(id, realNow))
        await refreshAndTake(id, { isRead: true, record: () => undefined, run })
      }
      return release
    } catch (error) {
      release()
      throw error
    }
  }

  return {
    registryOptions: { maxTenants: Infinity, syncClock() {}, isKept: true },
    doDueWork: clientId => refreshAndTake(clientId, { isRead: true, record: () => undefined, run() {} }),
    appliedUrl: () => appliedUrl,
    onCreated(tenant, { identity, snapshot }) {
      const { clientId, resets } = identity
      if (clientId !== accepted) {
        throw new Unstored(clientId, (slot, realNow) =>
          toStateRow(slot, OPERATIONS.begin, identity, tenant, snapshot(), realNow),
        )
      }
      Object.assign(slotOf(clientId), { resets, links: 0 })
      begun.add(clientId)
    },
    onRemoved(clientId, reason) {
      if (reason !== 'deleted' || clientId === accepted) return
      throw new Unstored(clientId, ({ sequence, resets }, instant) => ({
        sequence: sequence + 1,
        instant,
        operation: OPERATIONS.end,
        // Tokens of the removed tenant stay invalid.
        content: JSON.stringify({ resets: resets + 1 }),
        document: null,
      }))
    },
    refresh(clientId, done) {
      if (clientId === undefined) done()
      else void refresh(clientId).then(() => done(), done)
    },
    refreshLink(payoutLinkId, clientId, done) {
      void refreshLink(payoutLinkId, clientId).then(release => {
        done()
        release()
      }, done)
    },
    take,
    refreshAndTake,
    async all(describe) {
      const clientIds = new Set([...registry().configured(), ...(await database(undefined, log.tenants()))])
      const described: ReturnType<typeof describe>[] = []
      for (const clientId of clientIds) {
        const run = (realNow: number) => {
          // Another request may have removed it meanwhile.
          if (registry().has(clientId)) described.push(describe(registry().tenant(clientId, realNow)))
        }
        await refreshAndTake(clientId, { isRead: true, record: () => undefined, run })
      }
      return described
    },
    check: () => database(undefined, log.check()),
  }
}
