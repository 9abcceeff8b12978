import type { Region } from '../domain/regions.js'
import { REGIONS } from '../domain/regions.js'
import { atPath, errors } from '../errors.js'
import type { StoreContext } from '../tenant-context.js'
import type { Instant } from '../time/time.js'
import { formatInstant } from '../time/time.js'
import { toNoun, toTitle, toWords } from '../words.js'
import { firstIndex } from './binary-search.js'
import type { Cursors, Position } from './cursor.js'
import { createCursors } from './cursor.js'
import type { Filter, List, Listed, PageQuery } from './list.js'
import { comparePositions, filterRecords, MOST_WEIGHT, page } from './list.js'

/** Records that are checked. `add` stores them. @throws RECORD_LIMIT_REACHED */
export interface StagedRecords<R = unknown> {
  readonly records: readonly Placed<R>[]
  add(): void
}

/** A record with its region. */
export interface Placed<R> {
  readonly region: Region
  readonly record: R
}

/** A stored record with its region and its position in the list. Only the repository changes it. */
export interface Entry<R> extends Placed<R>, Listed<R> {}

/** A record in a state document (control plane, GET /state). */
export interface Snapshot<R> extends Placed<R> {
  /** Position in the tenant's order of creation. */
  readonly sequence: number
}

/** A record as a database keeps it: all of its entry, so that reading it back follows no rule. */
export interface StoredRecord extends Placed<unknown> {
  readonly sequence: number
  readonly reference: string
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  readonly createdAt: Instant
  /** The members of an entry with a lifecycle. */
  readonly timeline?: readonly number[]
  readonly nextStep?: unknown
  readonly failure?: unknown
}

/** The conditions and the page of a search. A condition that is left out does not apply. */
export interface SearchQuery extends PageQuery {
  readonly region?: Region | undefined
  readonly status?: string | undefined
  /** A part of the reference, in any case. */
  readonly search?: string | undefined
  /** Members with their values, such as a reference of another kind. */
  readonly members?: Readonly<Record<string, string>> | undefined
}

/** A record that a search has found. */
export interface Found<R> extends Placed<R> {
  /** YYYY-MM-DDThh:mm:ssZ, of the tenant. */
  readonly createdAt: string
}

/** One page of a list without its total. */
export interface Page<T> {
  readonly data: readonly T[]
  /** Null: this is the last page. */
  readonly nextCursor: string | null
}

/** The most records of a page of a search. */
export const MOST_FOUND = 50

export interface RepositoryOptions<R> {
  /** Returns the region that the record must be in. Left out if the record does not determine it. */
  region?(record: R): Region
  /** Returns the number of items in a record that can have many: a page ends early behind them. */
  weight?(record: R): number
  /** Returns a value by which records are looked up together, and which never changes. */
  index?(record: R): string
}

interface RegionRecords<E> {
  readonly byReference: Map<string, E>
  /** Sorted by position, oldest first. */
  readonly entries: E[]
  readonly cursors: Cursors
}

/**
 * Creates the records of one kind of one tenant: per region a map by reference and an array sorted by position.
 * Two regions can hold the same reference (decisions §4). Records are immutable: a change replaces the record.
 */
export function createRepository<R, E extends Entry<R> = Entry<R>>(
  options: RepositoryOptions<R>,
  { ids, changes, names, room }: Pick<StoreContext, 'ids' | 'changes' | 'names' | 'room'>,
) {
  const { index, weight = () => 0 } = options
  const { name: kind, reference: referenceField } = names
  const referenceOf = (record: R): string => (record as Readonly<Record<string, string>>)[referenceField] as string
  const regions = {
    __proto__: null,
    ...Object.fromEntries(
      REGIONS.map(region => [
        region,
        { byReference: new Map(), entries: [], cursors: createCursors(ids, { path: names.path, region }) },
      ]),
    ),
  } as unknown as Record<Region, RegionRecords<E>>
  const searches = createCursors(ids, { path: `/_sandbox/${names.path}` })
  const byIndex = new Map<string, E[]>()
  /** Kept with each change: a client can have too many records to count them for each page. */
  const counts = new Map<string, number>()

  function count({ record }: E, by: 1 | -1) {
    const { status } = record as { status?: string }
    if (status === undefined) return
    const counted = (counts.get(status) ?? 0) + by
    if (counted === 0) counts.delete(status)
    else counts.set(status, counted)
  }

  /** Sets members of an entry. */
  function set(entry: E, members: Partial<E>) {
    count(entry, -1)
    Object.assign(entry, members)
    count(entry, 1)
  }

  function insert(entry: E) {
    const { byReference, entries } = regions[entry.region]
    byReference.set(referenceOf(entry.record), entry)
    room.used++
    // Usually the end: only seeded records can be older than the latest one.
    entries.splice(placeOf(entry), 0, entry)
    count(entry, 1)
    if (index === undefined) return
    const value = index(entry.record)
    const indexed = byIndex.get(value)
    if (indexed === undefined) byIndex.set(value, [entry])
    // A database returns the records in the order of their last changes.
    else
      indexed.splice(
        firstIndex(indexed, other => other.sequence > entry.sequence),
        0,
        entry,
      )
  }

  /** Removes the entry that was inserted last. */
  function removeLast(entry: E) {
    const { byReference, entries } = regions[entry.region]
    byReference.delete(referenceOf(entry.record))
    room.used--
    entries.splice(placeOf(entry) - 1, 1)
    count(entry, -1)
    if (index !== undefined) byIndex.get(index(entry.record))?.pop()
  }

  /** Returns the place behind all entries at or before the position of an entry. */
  const placeOf = (entry: E) => {
    const { entries } = regions[entry.region]
    return firstIndex(entries, other => comparePositions(other, entry) > 0)
  }

  /** Changes members of an entry. `undone` is called if that is undone. */
  function change(entry: E, members: Partial<E>, undone?: () => void) {
    const names = Object.keys(members) as (keyof E)[]
    const before = Object.fromEntries(names.map(name => [name, entry[name]])) as Partial<E>
    set(entry, members)
    changes.add({
      kind,
      entry,
      undo() {
        set(entry, before)
        undone?.()
      },
    })
  }

  /** Returns a function that returns the next entry of some regions before a position, newest first, if there is one. */
  function newestFirst(among: readonly Region[], before: Position | undefined): () => E | undefined {
    const lists = among.map(region => {
      const { entries } = regions[region]
      const end = before === undefined ? entries.length : firstIndex(entries, one => comparePositions(one, before) >= 0)
      return { entries, end }
    })
    const top = ({ entries, end }: (typeof lists)[number]) => entries[end - 1] as E
    return () => {
      const rest = lists.filter(({ end }) => end > 0)
      if (rest.length === 0) return undefined
      const newest = rest.reduce((best, list) => (comparePositions(top(list), top(best)) > 0 ? list : best))
      const entry = top(newest)
      newest.end--
      return entry
    }
  }

  /**
   * Returns a page of the records of all regions, newest first. It reads only as many records as the page needs.
   * @throws INVALID_CURSOR
   */
  function search(query: SearchQuery): Page<Found<R>> {
    const { region, status, search = '', members = {}, cursor, limit = MOST_FOUND } = query
    const before = cursor === undefined ? undefined : searches.decode(cursor)
    const part = search.toLowerCase()
    const wanted = Object.entries(members)
    const found: E[] = []
    let rest = MOST_WEIGHT
    const next = newestFirst(region === undefined ? REGIONS : [region], before)
    for (let entry = next(); entry !== undefined; entry = next()) {
      const { record } = entry
      if (status !== undefined && (record as { status?: string }).status !== status) continue
      if (!referenceOf(record).toLowerCase().includes(part)) continue
      if (wanted.some(([name, value]) => (record as Readonly<Record<string, unknown>>)[name] !== value)) continue
      const last = found.at(-1)
      if ((found.length === limit || rest <= 0) && last !== undefined)
        return { data: found.map(show), nextCursor: searches.encode(last) }
      found.push(entry)
      rest -= weight(record)
    }
    return { data: found.map(show), nextCursor: null }
  }

  /**
   * Checks that the references of new records are unused and distinct.
   * @param path path of the list of records in the request, for errors
   * @throws DUPLICATE_REFERENCE
   */
  function assertAllUnused(records: readonly Placed<R>[], path: string) {
    const seen = new Set<string>()
    for (const [index, { region, record }] of records.entries()) {
      const reference = referenceOf(record)
      const key = `${region} ${reference}`
      if (seen.has(key) || regions[region].byReference.has(reference)) {
        throw errors.duplicateReference(`${path}.${index}.${referenceField}`, reference)
      }
      seen.add(key)
    }
  }

  /**
   * Checks seeded records, whose references must be unused and distinct.
   * @param path path of their list in the request, for errors
   * @param place makes the record of a seed, or throws an error on a field of the seed
   * @param store stores a record
   * @throws the errors of `place`, DUPLICATE_REFERENCE, with the path of the record before the field
   */
  function stage<S>(
    seeds: readonly S[],
    path: string,
    place: (seed: S) => Placed<R>,
    store: (placed: Placed<R>) => void,
  ): StagedRecords<R> {
    const records = seeds.map((seed, at) => atPath(`${path}.${at}`, () => place(seed)))
    assertAllUnused(records, path)
    return {
      records,
      add() {
        for (const record of records) store(record)
      },
    }
  }

  /** Returns the entries with the reference, of all regions. */
  const find = (reference: string): E[] => REGIONS.flatMap(region => regions[region].byReference.get(reference) ?? [])

  /**
   * Returns the entry with a reference.
   * @param region undefined: the only region with the reference
   * @throws the error of an unknown reference, MISSING_FIELD (region, if several regions have the reference)
   */
  function get(region: Region | undefined, reference: string): E {
    const [entry, another] = region === undefined ? find(reference) : [regions[region].byReference.get(reference)]
    if (entry === undefined) throw errors.recordNotFound(names.notFound, referenceField, toNoun(kind), reference)
    if (another === undefined) return entry
    const records = toTitle(toWords(kind))
    throw errors.missing('region', `${records} of several regions have this reference: say which with ?region=.`)
  }

  return {
    size: () => REGIONS.reduce((sum, region) => sum + regions[region].entries.length, 0),
    /** Returns the numbers of records by their present status. Records without a status are in none. */
    counts: (): ReadonlyMap<string, number> => counts,
    has: (region: Region, reference: string): boolean => regions[region].byReference.has(reference),
    get,
    find,
    /** Returns the entries with a value of `index`, in the order of creation. */
    indexed: (value: string): readonly E[] => byIndex.get(value) ?? [],
    /** Returns the entry at the top of the list of a region; undefined: the list is empty. */
    newest: (region: Region): E | undefined => regions[region].entries.at(-1),
    /** @throws DUPLICATE_REFERENCE */
    assertUnused(region: Region, reference: string): void {
      if (regions[region].byReference.has(reference)) throw errors.duplicateReference(referenceField, reference)
    },
    /** Stores an entry. Its reference must be unused. `undone` is called if that is undone. @throws RECORD_LIMIT_REACHED */
    add(entry: E, undone?: () => void): E {
      if (room.used >= room.most) throw errors.recordLimitReached(room.most)
      insert(entry)
      changes.add({
        kind,
        entry,
        undo() {
          removeLast(entry)
          undone?.()
        },
      })
      return entry
    },
    change,
    /** Changes fields of a record. Returns the changed record. */
    update(entry: E, fields: Partial<R>): R {
      const record = { ...entry.record, ...fields }
      change(entry, { record } as Partial<E>)
      return record
    },
    stage,
    /** @throws INVALID_CURSOR */
    list(region: Region, query: Filter<R> & PageQuery): List<R> {
      const { entries, cursors } = regions[region]
      return page(filterRecords(entries, query), query, cursors, weight)
    },
    search,
    referenceOf,
    /** Returns all entries in any order. */
    all: (): E[] => REGIONS.flatMap(region => regions[region].entries),
    /** Returns all entries of all regions, in order of creation. */
    entries: (): E[] => inOrder(REGIONS.flatMap(region => regions[region].entries)),
    /** Returns an entry as a database keeps it. */
    toStored: ({ region, sequence, createdAt, record }: E): StoredRecord => ({
      region,
      sequence,
      reference: referenceOf(record),
      createdAt,
      record,
    }),
    /** Adds or replaces the entry of a record of a database. It is not a change, and no rule is checked. */
    load({ region, sequence, reference, createdAt, record }: StoredRecord): E {
      const known = regions[region].byReference.get(reference)
      if (known !== undefined) {
        set(known, { record } as Partial<E>)
        return known
      }
      const entry = { createdAt, sequence, region, record } as unknown as E
      insert(entry)
      return entry
    },
    /**
     * Checks the references, the sequence numbers and the regions of a snapshot.
     * @param path path of the list in the state document, for errors
     * @throws DUPLICATE_REFERENCE, INVALID_FIELD
     */
    assertConsistent(snapshots: readonly Snapshot<R>[], path: string): void {
      let previous = 0
      for (const [index, { region, sequence, record }] of snapshots.entries()) {
        const expected = options.region?.(record) ?? region
        if (region !== expected) {
          throw errors.invalid(`${path}.${index}.region`, `region must be ${expected}, not ${region}.`)
        }
        if (sequence <= previous) {
          throw errors.invalid(`${path}.${index}.sequence`, 'sequence must be above that of the record before.')
        }
        previous = sequence
      }
      assertAllUnused(snapshots, path)
    },
  }
}

/** Sorts what has a number in the order of creation. */
const inOrder = <T extends { readonly sequence: number }>(list: T[]): T[] =>
  list.sort((a, b) => a.sequence - b.sequence)

const show = <R>({ region, createdAt, record }: Entry<R>): Found<R> => ({
  region,
  createdAt: formatInstant(createdAt),
  record,
})
