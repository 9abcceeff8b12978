import type { Region } from '../domain/regions.js'
import { REGIONS } from '../domain/regions.js'
import { atPath, errors } from '../errors.js'
import type { StoreContext } from '../tenant-context.js'
import type { Instant } from '../time/time.js'
import { formatInstant } from '../time/time.js'
import { toNoun, toTitle, toWords } from '../words.js'
import type { Cursors, Filter, List, Listed, PageQuery, Position } from './list.js'
import { comparePositions, createCursors, filterRecords, insertSorted, pageOf } from './list.js'

/** A record with its region. */
export interface InRegion<R> {
  readonly region: Region
  readonly record: R
}

/** Records that are checked. `add` stores them. @throws RECORD_LIMIT_REACHED */
export interface StagedRecords<R = unknown> {
  readonly records: readonly InRegion<R>[]
  add(): void
}

/** A stored record with its region and its position in the list. Only the repository changes it. */
export interface Entry<R> extends InRegion<R>, Listed<R> {}

/** A record in a state document (control plane, GET /state). */
export interface Snapshot<R> extends InRegion<R> {
  /** Position in the tenant's order of creation. */
  readonly sequence: number
}

/** A record as a database keeps it: all of its entry, so that reading it back follows no rule. */
export interface StoredRecord extends InRegion<unknown> {
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
  /** A part of the reference, or of another text of the record, in any case. */
  readonly search?: string | undefined
  /** Members with their values, such as a reference of another kind. */
  readonly members?: Readonly<Record<string, string>> | undefined
}

/** A record that a search has found. */
export interface Found<R> extends InRegion<R> {
  /** YYYY-MM-DDThh:mm:ssZ, of the tenant. */
  readonly createdAt: string
}

/** One page of a search. */
export interface Page<T> {
  readonly data: readonly T[]
  /** The number of records that fit, on all pages. */
  readonly total: number
  /** Null if this is the last page. */
  readonly nextCursor: string | null
}

/** The most records of a page of a search. */
export const MAX_FOUND = 50

/** Returns whether a text of a value has a part, which is in lower case. */
function hasText(value: unknown, part: string): boolean {
  if (typeof value === 'string') return value.toLowerCase().includes(part)
  return value !== null && typeof value === 'object' && Object.values(value).some(member => hasText(member, part))
}

interface RegionRecords<E> {
  readonly byReference: Map<string, E>
  /** Sorted by position, oldest first. */
  readonly entries: E[]
  readonly cursors: Cursors
}

/** The members of records of any kind, by their names. */
type Members = Readonly<Record<string, unknown>>

/**
 * The records of one kind of one tenant: per region a map by reference and an array sorted by position.
 * Two regions can hold the same reference (decisions §4). Records are immutable: a change replaces the record.
 */
export class Repository<R extends object, E extends Entry<R> = Entry<R>> {
  readonly #regions: Readonly<Record<Region, RegionRecords<E>>>
  readonly #searches: Cursors
  readonly #byIndex = new Map<string, E[]>()
  /** Kept with each change: a client can have too many records to count them for each page. */
  readonly #byStatus = new Map<string, number>()

  constructor(protected readonly context: StoreContext) {
    const { ids, names } = context
    const create = (region: Region): RegionRecords<E> => ({
      byReference: new Map(),
      entries: [],
      cursors: createCursors(ids, { path: names.path, region }),
    })
    this.#regions = { EU: create('EU'), IN: create('IN'), US: create('US'), UK: create('UK') }
    this.#searches = createCursors(ids, { path: `/_sandbox/${names.path}` })
  }

  /** Returns the region that a record must be in, or undefined if the record does not determine it. */
  protected regionOf(_record: R): Region | undefined {
    return this.context.names.regions === 'EU' ? 'EU' : undefined
  }

  /** Returns the number of items in a record that can have many: a page ends early behind them. */
  protected weightOf(_record: R): number {
    return 0
  }

  /** Returns the value of the index, which never changes, or undefined if the record is in no index. */
  protected indexOf(_record: R): string | undefined {
    return undefined
  }

  /** Returns the reference of a record. */
  protected referenceOf(record: R): string {
    return (record as Record<string, string>)[this.context.names.reference] as string
  }

  // ---- Reading.

  /** Returns the number of records. */
  size(): number {
    return REGIONS.reduce((sum, region) => sum + this.#regions[region].entries.length, 0)
  }

  /** Returns the numbers of records by their present status. Records without a status are in none. */
  counts(): ReadonlyMap<string, number> {
    return this.#byStatus
  }

  has(region: Region, reference: string): boolean {
    return this.#regions[region].byReference.has(reference)
  }

  /** Returns the entries with a reference, of all regions. */
  find(reference: string): readonly E[] {
    return REGIONS.flatMap(region => this.#regions[region].byReference.get(reference) ?? [])
  }

  /**
   * Returns the entry with a reference.
   * @param region if undefined, the only region with the reference
   * @throws the error of an unknown reference, MISSING_FIELD (region, if several regions have the reference)
   */
  entry(region: Region | undefined, reference: string): E {
    if (region !== undefined) {
      const entry = this.#regions[region].byReference.get(reference)
      if (entry !== undefined) return entry
    }
    const { name, notFound, reference: field } = this.context.names
    const [entry, another] = region === undefined ? this.find(reference) : []
    if (entry === undefined) throw errors.recordNotFound(notFound, field, toNoun(name), reference)
    if (another === undefined) return entry
    const records = toTitle(toWords(name))
    throw errors.missing('region', `${records} of several regions have this reference: say which with ?region=.`)
  }

  /** Returns the entries with a value of `indexOf`, in the order of creation. */
  indexed(value: string): readonly E[] {
    return this.#byIndex.get(value) ?? []
  }

  /** Returns the entry at the top of the list of a region, or undefined if the list is empty. */
  newest(region: Region): E | undefined {
    return this.#regions[region].entries.at(-1)
  }

  /** Returns the entries of all records, in the order of creation. */
  entries(): readonly E[] {
    return REGIONS.flatMap(region => this.#regions[region].entries).sort((a, b) => a.sequence - b.sequence)
  }

  /** Returns a page of the records of a region, newest first. @throws INVALID_CURSOR */
  page(region: Region, query: Filter<R> & PageQuery): List<R> {
    const { entries, cursors } = this.#regions[region]
    const found = filterRecords(entries, query)
    const { total, hasMore, nextCursor, page } = pageOf<R, E>(found, query, cursors, record => this.weightOf(record))
    return { totalCount: total, hasMore, nextCursor, data: page.map(({ record }) => record) }
  }

  /** Returns a page of the records of all regions, newest first. @throws INVALID_CURSOR */
  search({ region, status, search, members = {}, limit = MAX_FOUND, ...query }: SearchQuery): Page<Found<R>> {
    const part = search?.toLowerCase() ?? ''
    const wanted = Object.entries(status === undefined ? members : { ...members, status })
    const matches = (record: R) =>
      wanted.every(([name, value]) => (record as Members)[name] === value) && (part === '' || hasText(record, part))
    const among = (region === undefined ? REGIONS : [region]).flatMap(one => this.#regions[one].entries)
    // Each region is in order, so that sorting merges them in one pass.
    if (region === undefined) among.sort(comparePositions)
    const found = wanted.length === 0 && part === '' ? among : filterRecords(among, { matches })
    const { total, nextCursor, page } = pageOf<R, E>(found, { ...query, limit }, this.#searches, record =>
      this.weightOf(record),
    )
    return { data: page.map(show), total, nextCursor }
  }

  // ---- Changing. Each change is in the log of changes, so that it can be undone.

  /** @throws DUPLICATE_REFERENCE */
  assertUnused(region: Region, reference: string): void {
    if (this.has(region, reference)) throw errors.duplicateReference(this.context.names.reference, reference)
  }

  /** Stores an entry. Its reference must be unused. @throws RECORD_LIMIT_REACHED */
  store(entry: E): E {
    const { room, changes, names } = this.context
    if (room.used >= room.most) throw errors.recordLimitReached(room.most)
    this.insert(entry)
    changes.add({ kind: names.name, entry, undo: () => this.remove(entry) })
    return entry
  }

  /** Changes members of an entry. */
  change(entry: E, members: Partial<E>): void {
    const before: Partial<E> = {}
    for (const name of Object.keys(members) as (keyof E)[]) before[name] = entry[name]
    this.set(entry, members)
    this.context.changes.add({ kind: this.context.names.name, entry, undo: () => this.set(entry, before) })
  }

  /** Sets members of an entry, which is no change of its own. */
  protected set(entry: E, members: Partial<E>): void {
    this.#count(entry, -1)
    Object.assign(entry, members)
    this.#count(entry, 1)
  }

  /** Inserts an entry, which is no change of its own. */
  protected insert(entry: E): void {
    const { byReference, entries } = this.#regions[entry.region]
    byReference.set(this.referenceOf(entry.record), entry)
    this.context.room.used++
    // Seeded records can be older than the latest one.
    insertSorted(entries, entry, isAfter)
    this.#count(entry, 1)
    const value = this.indexOf(entry.record)
    if (value === undefined) return
    const indexed = this.#byIndex.get(value)
    if (indexed === undefined) this.#byIndex.set(value, [entry])
    // A database returns the records in the order of their last changes.
    else insertSorted(indexed, entry, (other, one) => other.sequence > one.sequence)
  }

  /** Removes the entry that was inserted last. */
  protected remove(entry: E): void {
    const { byReference, entries } = this.#regions[entry.region]
    byReference.delete(this.referenceOf(entry.record))
    this.context.room.used--
    entries.splice(entries.lastIndexOf(entry), 1)
    this.#count(entry, -1)
    const value = this.indexOf(entry.record)
    if (value !== undefined) this.#byIndex.get(value)?.pop()
  }

  #count({ record }: E, by: 1 | -1): void {
    const { status }: { status?: string } = record
    if (status === undefined) return
    const counted = (this.#byStatus.get(status) ?? 0) + by
    if (counted === 0) this.#byStatus.delete(status)
    else this.#byStatus.set(status, counted)
  }

  // ---- Seeds, state documents and databases.

  /**
   * Checks seeded records, whose references must be unused and distinct.
   * @param path path of their list in the request, for errors
   * @param toRecord makes the record of a seed, or throws an error on a field of the seed
   * @param add stores a record
   * @throws the errors of `toRecord`, DUPLICATE_REFERENCE, with the path of the record before the field
   */
  protected stageEach<S>(
    seeds: readonly S[],
    path: string,
    toRecord: (seed: S) => InRegion<R>,
    add: (added: InRegion<R>) => void,
  ): StagedRecords<R> {
    const records = seeds.map((seed, at) => atPath(`${path}.${at}`, () => toRecord(seed)))
    this.#assertAllUnused(records, path)
    return { records, add: () => records.forEach(add) }
  }

  /**
   * Checks the references, the sequence numbers and the regions of a snapshot.
   * @param path path of the list in the state document, for errors
   * @throws DUPLICATE_REFERENCE, INVALID_FIELD
   */
  protected assertConsistent(snapshots: readonly Snapshot<R>[], path: string): void {
    let previous = 0
    for (const [index, { region, sequence, record }] of snapshots.entries()) {
      const expected = this.regionOf(record) ?? region
      if (region !== expected) {
        throw errors.invalid(`${path}.${index}.region`, `region must be ${expected}, not ${region}.`)
      }
      if (sequence <= previous) {
        throw errors.invalid(`${path}.${index}.sequence`, 'sequence must be above the sequence of the previous record.')
      }
      previous = sequence
    }
    this.#assertAllUnused(snapshots, path)
  }

  #assertAllUnused(records: readonly InRegion<R>[], path: string): void {
    const { names } = this.context
    const isShared = names.regions === 'shared'
    const seen = new Set<string>()
    for (const [index, { region, record }] of records.entries()) {
      const reference = this.referenceOf(record)
      const key = isShared ? reference : `${region} ${reference}`
      const isUsed = isShared ? this.find(reference).length > 0 : this.has(region, reference)
      if (isUsed || seen.has(key)) throw errors.duplicateReference(`${path}.${index}.${names.reference}`, reference)
      seen.add(key)
    }
  }

  /** Returns an entry as a database keeps it. */
  toStored({ region, sequence, createdAt, record }: E): StoredRecord {
    return { region, sequence, reference: this.referenceOf(record), createdAt, record }
  }

  /** Adds or replaces the entry of a record of a database. It is not a change, and no rule is checked. */
  load(stored: StoredRecord): void {
    const { region, sequence, reference, createdAt } = stored
    const known = this.#regions[region].byReference.get(reference)
    const members = this.loaded(stored)
    if (known !== undefined) this.set(known, members)
    else this.insert({ createdAt, sequence, region, ...members } as E)
  }

  /** Returns the members of an entry that change, from a record of a database. */
  protected loaded({ record }: StoredRecord): Partial<E> {
    return { record } as Partial<E>
  }
}

const isAfter = (other: Position, one: Position) => comparePositions(other, one) > 0

const show = <R>({ region, createdAt, record }: Entry<R>): Found<R> => ({
  region,
  createdAt: formatInstant(createdAt),
  record,
})
