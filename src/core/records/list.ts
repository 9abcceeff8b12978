import type { Region } from '../domain/regions.js'
import { errors } from '../errors.js'
import type { Ids } from '../ids.js'
import type { Instant } from '../time/time.js'

/** The position of a record in its list. Lists are sorted by creation time, then by sequence (decisions §5). */
export interface Position {
  readonly createdAt: Instant
  /** Position in the tenant's order of creation. */
  readonly sequence: number
}

/** A list: the records of one kind in one region, or a list of the control plane. */
export interface ListName {
  /** The path of the list below `/api/v1`; of the control plane, the whole path. */
  readonly path: string
  /** Undefined if the list has the records of all regions. */
  readonly region?: Region
}

export type Cursors = ReturnType<typeof createCursors>

/**
 * Creates the opaque cursors of one list. A cursor is a position and a signature.
 * The signature proves that this server issued it for this list, also when the record is gone.
 */
export function createCursors(ids: Ids, { path, region }: ListName) {
  const sign = (position: string) => ids.sign(`cursor\0${path}.${region}`, position)
  return {
    encode({ createdAt, sequence }: Position): string {
      const position = `${(createdAt / 1000).toString(36)}.${sequence.toString(36)}`
      return `${position}.${sign(position)}`
    },
    /** @throws INVALID_CURSOR */
    decode(cursor: string): Position {
      const [seconds = '', sequence = ''] = cursor.split('.')
      const position = `${seconds}.${sequence}`
      if (cursor !== `${position}.${sign(position)}`) throw errors.invalidCursor(path, region)
      return { createdAt: Number.parseInt(seconds, 36) * 1000, sequence: Number.parseInt(sequence, 36) }
    },
  }
}

/**
 * Returns the index of the first item that meets a condition, or the length of the list if there is none.
 * The list must be sorted so that all items that meet it follow all that do not.
 */
export function firstIndex<T>(items: readonly T[], isMet: (item: T) => boolean): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (isMet(items[middle] as T)) high = middle
    else low = middle + 1
  }
  return low
}

/** Inserts an item into a sorted list, behind all that are not after it. Usually that is the end. */
export function insertSorted<T>(items: T[], item: T, isAfter: (other: T, item: T) => boolean): void {
  const last = items.at(-1)
  if (last === undefined || !isAfter(last, item)) items.push(item)
  else
    items.splice(
      firstIndex(items, other => isAfter(other, item)),
      0,
      item,
    )
}

/** The envelope of every list (service interface, Collection list envelope). */
export interface List<R> {
  readonly totalCount: number
  readonly hasMore: boolean
  readonly nextCursor: string | null
  readonly data: R[]
}

/** The page size if the client gives none (interface, Limits; assumed on lists other than direct-debit). */
export const DEFAULT_LIMIT = 100

/** The wanted values by field. Several values mean any of them; undefined means no condition. */
export type FilterFields<R> = { readonly [Field in keyof R]?: R[Field] | readonly R[Field][] | undefined }

/** The conditions of a list call. A record must meet all of them. */
export interface Filter<R> {
  readonly fields?: FilterFields<R> | undefined
  readonly matches?: ((record: R) => boolean) | undefined
}

export interface PageQuery {
  readonly cursor?: string | undefined
  readonly limit?: number | undefined
}

/** An item of a list: a record with its position. */
export interface Listed<R> extends Position {
  readonly record: R
}

/** Compares by creation time, then by sequence. */
export const comparePositions = (a: Position, b: Position): number =>
  a.createdAt - b.createdAt || a.sequence - b.sequence

/**
 * Returns the matching entries in the same order. Without conditions it returns `entries` itself: lists are long.
 * @param entries sorted by position, oldest first
 */
export function filterRecords<R, E extends Listed<R>>(
  entries: readonly E[],
  { fields = {}, matches }: Filter<R>,
): readonly E[] {
  const wanted = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([field, value]) => ({ field: field as keyof R, values: new Set([value].flat()) }))
  if (wanted.length === 0 && matches === undefined) return entries

  const found: E[] = []
  for (const entry of entries) {
    const { record } = entry
    if (wanted.some(({ field, values }) => !values.has(record[field]))) continue
    if (matches === undefined || matches(record)) found.push(entry)
  }
  return found
}

/** A page ends early behind the record with which its records weigh this much. */
export const MAX_WEIGHT = 5000

/** One page of entries. */
interface PageOf<E> {
  /** The number of entries on all pages. */
  readonly total: number
  readonly hasMore: boolean
  /** Null if this is the last page. */
  readonly nextCursor: string | null
  /** Newest first. */
  readonly page: readonly E[]
}

/**
 * Returns the page that follows the cursor, newest first.
 * @param found all matches, oldest first
 * @param weight returns the weight of a record
 * @throws INVALID_CURSOR
 */
export function pageOf<R, E extends Listed<R>>(
  found: readonly E[],
  { cursor, limit = DEFAULT_LIMIT }: PageQuery,
  cursors: Cursors,
  weight: (record: R) => number,
): PageOf<E> {
  const after = cursor === undefined ? undefined : cursors.decode(cursor)
  const end = after === undefined ? found.length : firstIndex(found, entry => comparePositions(entry, after) >= 0)
  let [start, rest] = [end, MAX_WEIGHT]
  while (start > 0 && end - start < limit && rest > 0) rest -= weight((found[--start] as E).record)
  const hasMore = start > 0
  const nextCursor = hasMore ? cursors.encode(found[start] as E) : null
  return { total: found.length, hasMore, nextCursor, page: found.slice(start, end).reverse() }
}
