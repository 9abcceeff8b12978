import { sha256 } from '../core/digests.js'
import type { Event } from '../core/records/events.js'
import type { RequestLog, RequestLogBounds } from '../features/request-log/request-log.js'
import type { Identity } from '../tenants/registry.js'
import type { TenantMeta, TenantRecord } from '../tenants/tenant.js'

/** The database cannot be used. The message is one line that names it and the reason. */
export class DatabaseError extends Error {}

/** A part of a tenant is not as it was written. */
export class DamageError extends DatabaseError {}

/** Another server has held a tenant for too long. */
export class LockedError extends DatabaseError {}

/** The database is away or busy. It was logged when it went, and will be when it is back. */
export class DatabaseAwayError extends Error {}

/** The row of a tenant. Versions count its changes, from 1. */
export interface TenantRow {
  readonly version: number
  /** The version that began its present life. A reset, a restored state and a removal each begin another. */
  readonly life: number
  /** The real time of its last change in milliseconds. */
  readonly instant: number
  readonly isRemoved: boolean
  /** JSON of a `TenantContents`. */
  readonly content: string
  readonly checksum: string
}

/** The content of a tenant's row. */
export interface TenantContents {
  /** A removed client has nothing else. Its resets count: its tokens stay invalid. */
  readonly identity: Identity
  readonly meta: TenantMeta
  /** The number of rows of its records and of its events. */
  readonly records: number
  readonly events: number
}

/** The tables of the rows that a tenant has many of. */
export type Table = 'record' | 'event'

/** The row of a record or of an event. */
export interface Row {
  /** Of a record its place in the order of creation, of an event its `seq`. */
  readonly number: number
  /** The version of the tenant that wrote it. */
  readonly version: number
  readonly kind: string
  /** Null: an event has none. */
  readonly region: string | null
  readonly reference: string
  /** JSON of a `TenantRecord` or an `Event`. */
  readonly content: string
  readonly checksum: string
}

/** The most rows of a table in one read or write. */
export const BATCH = 1000
/** The bytes of their content with which a batch ends. */
export const BATCH_BYTES = 1024 * 1024

/** Makes rows of the next items, up to a batch. */
export function nextRows<T>(items: Iterator<T>, toRow: (item: T) => Row): Row[] {
  const rows: Row[] = []
  for (let bytes = 0; rows.length < BATCH && bytes < BATCH_BYTES; ) {
    const next = items.next()
    if (next.done) break
    const row = toRow(next.value)
    rows.push(row)
    bytes += Buffer.byteLength(row.content)
  }
  return rows
}

/** Whether a read may have ended with a batch, and not with the last row. */
export const isBatch = (rows: readonly Row[]): boolean =>
  rows.length === BATCH || rows.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0) >= BATCH_BYTES

/** Reads tenants as of one moment. */
export interface Reader {
  /** Returns the row of a tenant; undefined: there was never one. */
  tenant(clientId: string): Promise<TenantRow | undefined>
  /** Returns a batch of the rows after a version and a number, in this order: fewer are the last ones. */
  rows(table: Table, clientId: string, after: Pick<Row, 'version' | 'number'>): Promise<Row[]>
}

/** A turn in the database: nothing else changes its tenants until it ends. */
export interface Transaction extends Reader {
  /** Deletes the records and events of a tenant. */
  clear(clientId: string): Promise<void>
  /** Writes the row of a tenant, and a batch of changed or new rows of each table. */
  write(clientId: string, tenant: TenantRow, rows: Readonly<Record<Table, readonly Row[]>>): Promise<void>
  /** Resolves after all that was written is durable. */
  commit(): Promise<void>
  /** Undoes all that was written. Never rejects. */
  rollback(): Promise<void>
}

/**
 * A database of tenants. Every method rejects with an Error of the database; after one of `commit`, the changes may be
 * there or not.
 */
export interface Database {
  /** The seed of all identifiers: that of the first use of the database. */
  readonly seed: string
  /** Whether other servers may change tenants. */
  readonly isShared: boolean
  /** Lists the client ids of all tenants that are not removed. */
  clients(): Promise<string[]>
  /** Returns the version of a tenant; 0: there was never one. */
  version(clientId: string): Promise<number>
  /** Reads as of one moment. */
  read<T>(work: (reader: Reader) => Promise<T>): Promise<T>
  /** Begins a turn of some tenants, whose ids are sorted. */
  begin(clientIds: readonly string[]): Promise<Transaction>
  /** Tells other servers that tenants have changed. */
  announce(clientIds: readonly string[]): void
  /** Calls back when another server may have changed a tenant; without an id, any of them. */
  listen(onChanged: (clientId?: string) => void): void
  /** Rejects if requests cannot be served. */
  check(): Promise<void>
  /** The number of connections in use, or of statements that run or wait, for tests. */
  inUse(): number
  /** Creates a request log that all servers share; undefined: each server has its own. */
  createRequestLog?(bounds: RequestLogBounds): RequestLog
  close(): Promise<void>
}

/**
 * Returns the facts of a failure for the log. Errors of drivers have statements, values and keys of connections, too, so
 * only their code and message are logged. Of an error in our code, all is.
 */
export function factsOf(error: Error & { readonly code?: unknown }): object {
  if (!(error instanceof DatabaseError) && typeof error.code !== 'string') return { err: error }
  return { code: error.code, reason: oneLine(error.message) }
}

export const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ')

/** Returns the checksum of the values of a row. A database need not notice a changed byte within a row. */
export const checksumOf = (...values: unknown[]): string => sha256(JSON.stringify(values)).slice(0, 32)

const checksumOfTenant = (clientId: string, row: Omit<TenantRow, 'checksum'>) =>
  checksumOf(clientId, row.version, row.life, row.instant, row.isRemoved, row.content)
const checksumOfRow = (table: Table, clientId: string, row: Omit<Row, 'checksum'>) =>
  checksumOf(table, clientId, row.number, row.version, row.kind, row.region, row.reference, row.content)

export const toTenantRow = (clientId: string, row: Omit<TenantRow, 'checksum'>): TenantRow => ({
  ...row,
  checksum: checksumOfTenant(clientId, row),
})

function toRow(table: Table, clientId: string, row: Omit<Row, 'content' | 'checksum'>, content: object): Row {
  // Postgres has no U+0000 in a text. JSON escapes it, and nothing is read from the other columns of a text.
  const reference = row.reference.replaceAll('\0', '')
  const whole = { ...row, reference, content: JSON.stringify(content) }
  return { ...whole, checksum: checksumOfRow(table, clientId, whole) }
}

export const toRecordRow = (clientId: string, version: number, record: TenantRecord): Row => {
  const { sequence: number, kind, region, reference } = record
  return toRow('record', clientId, { number, version, kind, region, reference }, record)
}

export const toEventRow = (clientId: string, version: number, event: Event): Row => {
  const { seq: number, kind, reference } = event
  return toRow('event', clientId, { number, version, kind, region: null, reference }, event)
}

/** Whether the row of a tenant is as it was written. */
const isIntact = (clientId: string, row: TenantRow) => row.checksum === checksumOfTenant(clientId, row)

/** @throws DatabaseError (the row is not as it was written) */
export function fromTenantRow(clientId: string, row: TenantRow): TenantContents {
  if (!isIntact(clientId, row)) throw damaged('tenant', clientId)
  return JSON.parse(row.content) as TenantContents
}

/**
 * Returns the row of a tenant for its repair. Of a damaged row, no column is taken. Its version is above all earlier ones,
 * and so above the number of resets: the real time in milliseconds is, whatever the damaged version says.
 */
export function repairable(clientId: string, row: TenantRow, realNow: number): TenantRow {
  if (isIntact(clientId, row)) return row
  const version = row.version < Number.MAX_SAFE_INTEGER / 2 ? Math.max(row.version, realNow, 1) : realNow
  return { version, life: 0, instant: 0, isRemoved: false, content: '', checksum: '' }
}

/** Returns the identity in such a row. Of a damaged one, it is one that its next secret fits and none of its tokens. */
export const identityOf = (clientId: string, { version, content }: TenantRow): Identity =>
  content === ''
    ? ({ clientId, secretDigest: '', resets: version } as Identity)
    : (JSON.parse(content) as Pick<TenantContents, 'identity'>).identity

/** Returns the record or event of a row. @throws DatabaseError (the row is not as it was written) */
export function fromRow<T>(table: Table, clientId: string, row: Row): T {
  if (row.checksum !== checksumOfRow(table, clientId, row)) throw damaged(`${table} ${row.number}`, clientId)
  return JSON.parse(row.content) as T
}

/** A count in a row without a checksum that is higher, or negative, is damaged. */
export const MOST_COUNTED = 2 ** 48
/** Returns the count of a column, for a statement. A damaged one begins again. */
export const countOf = (column: string) => `CASE WHEN ${column} BETWEEN 0 AND ${MOST_COUNTED} THEN ${column} ELSE 0 END`

/** @param part the part of a tenant that is not as it was written */
export const damaged = (part: string, clientId: string) =>
  new DamageError(`the database is damaged: ${part} of the client ${JSON.stringify(clientId)}`)
