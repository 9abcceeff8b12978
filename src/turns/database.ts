import { sha256 } from '../core/digests.js'
import type { Event } from '../core/records/events.js'
import type { RequestLog, RequestLogBounds } from '../features/request-log/request-log.js'
import type { Identity } from '../tenants/registry.js'
import type { TenantMeta, TenantRecord } from '../tenants/tenant.js'

/** The database cannot be used. The message is one line that names it and the reason. */
export class DatabaseError extends Error {}

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
  /** Of a removed client, its resets count: its tokens stay invalid. */
  readonly identity: Identity
  readonly meta: TenantMeta
  /** The number of rows of its records and of its events. */
  readonly records: number
  readonly events: number
}

/** The row of a record, with the version of its tenant that wrote it. */
export interface RecordRow {
  /** Position in the tenant's order of creation: the key of the record. */
  readonly sequence: number
  readonly version: number
  readonly kind: string
  readonly region: string
  readonly reference: string
  /** JSON of a `TenantRecord`. */
  readonly content: string
  readonly checksum: string
}

/** The row of an event. */
export interface EventRow {
  readonly seq: number
  /** JSON of an `Event`. */
  readonly content: string
  readonly checksum: string
}

/** The most records or events of one read or write. */
export const BATCH = 1000

/** Reads tenants as of one moment. */
export interface Reader {
  /** Returns the row of a tenant; undefined: there was never one. */
  tenant(clientId: string): Promise<TenantRow | undefined>
  /** Returns up to `BATCH` records after a version and a sequence, in this order. */
  records(clientId: string, version: number, sequence: number): Promise<RecordRow[]>
  /** Returns up to `BATCH` events after a number, in order. */
  events(clientId: string, seq: number): Promise<EventRow[]>
}

/** A turn in the database: nothing else changes its tenants until it ends. */
export interface Transaction extends Reader {
  /** Deletes the records and the events of a tenant. */
  clear(clientId: string): Promise<void>
  /** Writes the row of a tenant, and up to `BATCH` changed records and new events. */
  write(clientId: string, row: TenantRow, records: readonly RecordRow[], events: readonly EventRow[]): Promise<void>
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
  /** Calls back when another server may have changed a tenant. */
  listen(onChanged: (clientId: string) => void): void
  /** Rejects if requests cannot be served. */
  check(): Promise<void>
  /** Creates a request log that all servers share; undefined: each server has its own. */
  createRequestLog?(bounds: RequestLogBounds): RequestLog
  close(): Promise<void>
}

/** Returns the checksum of a row. A database need not notice a changed byte within a row. */
const checksumOf = (...values: unknown[]): string => sha256(JSON.stringify(values)).slice(0, 32)

const checksumOfTenant = (clientId: string, row: Omit<TenantRow, 'checksum'>) =>
  checksumOf(clientId, row.version, row.life, row.instant, row.isRemoved, row.content)
const checksumOfRecord = (clientId: string, row: Omit<RecordRow, 'checksum'>) =>
  checksumOf(clientId, row.sequence, row.version, row.kind, row.region, row.reference, row.content)
const checksumOfEvent = (clientId: string, { seq, content }: Omit<EventRow, 'checksum'>) =>
  checksumOf(clientId, seq, content)

export function toTenantRow(clientId: string, row: Omit<TenantRow, 'checksum'>): TenantRow {
  return { ...row, checksum: checksumOfTenant(clientId, row) }
}

export function toRecordRow(clientId: string, version: number, record: TenantRecord): RecordRow {
  const { sequence, kind, region, reference } = record
  const row = { sequence, version, kind, region, reference, content: JSON.stringify(record) }
  return { ...row, checksum: checksumOfRecord(clientId, row) }
}

export function toEventRow(clientId: string, event: Event): EventRow {
  const row = { seq: event.seq, content: JSON.stringify(event) }
  return { ...row, checksum: checksumOfEvent(clientId, row) }
}

/** @throws DatabaseError (the row is not as it was written) */
export function fromTenantRow(clientId: string, row: TenantRow): TenantContents {
  return contentOf<TenantContents>(row, checksumOfTenant(clientId, row), `the tenant ${JSON.stringify(clientId)}`)
}

/** @throws DatabaseError (the row is not as it was written) */
export function fromRecordRow(clientId: string, row: RecordRow): TenantRecord {
  const name = `record ${row.sequence} of the tenant ${JSON.stringify(clientId)}`
  return contentOf<TenantRecord>(row, checksumOfRecord(clientId, row), name)
}

/** @throws DatabaseError (the row is not as it was written) */
export function fromEventRow(clientId: string, row: EventRow): Event {
  const name = `event ${row.seq} of the tenant ${JSON.stringify(clientId)}`
  return contentOf<Event>(row, checksumOfEvent(clientId, row), name)
}

function contentOf<T>({ content, checksum }: { content: string; checksum: string }, expected: string, name: string): T {
  if (checksum !== expected) throw new DatabaseError(`the database is damaged: ${name} is not as it was written`)
  return JSON.parse(content) as T
}
