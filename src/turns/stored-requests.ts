import type { Instant } from '../core/time/time.js'
import { parseInstant } from '../core/time/time.js'
import type { RecordedRequest } from '../features/recording/file-format.js'
import type { Identity } from '../tenants/registry.js'
import type { TenantSnapshot } from '../tenants/snapshot.js'
import type { LogRow } from './tenant-log.js'
import { END } from './tenant-log.js'

/** The rows of a tenant's log that are no request. */
export const OPERATIONS = {
  /** The first state of a tenant, also after a reset, a restored state or a fork. */
  begin: 'begin',
  /** The state after all rows before it. */
  snapshot: 'snapshot',
  /** The tenant is removed. The log goes on if its client registers again. */
  end: END,
  /** Work that was due is done. */
  time: 'time',
} as const

export const isState = ({ operation }: LogRow) => operation === OPERATIONS.begin || operation === OPERATIONS.snapshot

/** The content of `begin` and `snapshot`. It has no secret, only its digest. */
export interface StoredState {
  readonly identity: Identity
  /** The real time at which the clock reached its second, in milliseconds. */
  readonly clockStart: number
  readonly state: TenantSnapshot
}

/** Makes the row of a request. The content of a document is stored as bytes. */
export function toRow(sequence: number, { receivedAt, operation, file, ...rest }: RecordedRequest): LogRow {
  return {
    sequence,
    instant: Date.parse(receivedAt),
    operation,
    content: JSON.stringify({ ...rest, ...(file !== undefined && { fileName: file.fileName }) }),
    document: file === undefined ? null : Buffer.from(file.contentBase64, 'base64'),
  }
}

/** Returns the request of a row. */
export function toRequest({ instant, operation, content, document }: LogRow): RecordedRequest {
  const { fileName = '', ...rest } = JSON.parse(content) as Omit<RecordedRequest, 'file'> & { fileName?: string }
  return {
    ...rest,
    receivedAt: new Date(instant).toISOString(),
    operation,
    ...(document !== null && { file: { fileName, contentBase64: Buffer.from(document).toString('base64') } }),
  }
}

/** Makes a row that does the work due at a tenant's time. */
export const toTimeRow = (sequence: number, at: string, instant: number): LogRow => ({
  sequence,
  instant,
  operation: OPERATIONS.time,
  content: JSON.stringify({ at }),
  document: null,
})

export const instantOf = (at: string): Instant => parseInstant(at) as Instant
