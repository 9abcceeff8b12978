import { firstIndex } from './binary-search.js'
import type { Cursors, Position } from './cursor.js'

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

/** Sorts by creation time, then by sequence. */
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
export const MOST_WEIGHT = 5000

/**
 * Returns the page that follows the cursor, newest first.
 * @param found all matches, oldest first
 * @param weight returns the weight of a record
 * @throws INVALID_CURSOR
 */
export function page<R>(
  found: readonly Listed<R>[],
  { cursor, limit = DEFAULT_LIMIT }: PageQuery,
  cursors: Cursors,
  weight: (record: R) => number,
): List<R> {
  const after = cursor === undefined ? undefined : cursors.decode(cursor)
  const end = after === undefined ? found.length : firstIndex(found, entry => comparePositions(entry, after) >= 0)
  let [start, rest] = [end, MOST_WEIGHT]
  while (start > 0 && end - start < limit && rest > 0) rest -= weight((found[--start] as Listed<R>).record)
  const data = found
    .slice(start, end)
    .map(({ record }) => record)
    .reverse()
  const hasMore = start > 0
  return {
    totalCount: found.length,
    hasMore,
    nextCursor: hasMore ? cursors.encode(found[start] as Listed<R>) : null,
    data,
  }
}
