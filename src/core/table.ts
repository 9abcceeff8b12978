import { createCursors } from './cursor.js'
import type { Engine } from './engine.js'
import type { SandboxError } from './errors.js'
import { errors } from './errors.js'
import type { Indexed, OrderedIndex, Query } from './ordered-index.js'
import { createOrderedIndex } from './ordered-index.js'
import type { Region } from './regions.js'
import { REGIONS } from './regions.js'
import type { Instant } from './time.js'
import { formatInstant, parseInstant } from './time.js'

/** A stored record and where it stands: in which region, and in which place of its list. */
export interface Entry<R> extends Indexed {
  readonly record: R
  readonly region: Region
}

/** A record that is to be stored in a region. */
export interface Placed<R> {
  readonly region: Region
  readonly record: R
}

/** A record with its place, as a state document keeps it (control plane, GET /state). */
export interface Kept<R> extends Placed<R> {
  /** Position in the tenant's order of creation. */
  readonly sequence: number
}

/** A record without states, as a state document keeps it. */
export interface KeptPlain<R> extends Kept<R> {
  /** YYYY-MM-DDThh:mm:ssZ; the record itself does not tell. */
  readonly createdAt: string
}

/** The envelope of every list (service interface, Collection list envelope). */
export interface List<R> {
  readonly totalCount: number
  readonly hasMore: boolean
  readonly nextCursor: string | null
  readonly data: R[]
}

/** A list call: the filters, and the page as the client asks for it. */
export type ListQuery<E, Facet extends string> = Omit<Query<E, Facet>, 'after' | 'limit'> & {
  readonly cursor?: string | undefined
  readonly limit?: number | undefined
}

/** Records on a page where the client names no number (interface, Limits; assumed on lists other than direct-debit). */
export const DEFAULT_LIMIT = 100

/** What tells one table from another. */
export interface TableKind<R, Facet extends string> {
  /** Names the table in cursors. */
  readonly name: string
  /** The member of a record that holds its reference, for errors. */
  readonly referenceField: string
  reference(record: R): string
  /** The region that a record belongs to, where it tells. */
  region?(record: R): Region
  readonly facets: Readonly<Record<Facet, (record: R) => string | undefined>>
  /** A number that a record keeps for good, by which lists are filtered. */
  measure?(record: R): number
  /** How long its texts are together: what there are millions of is looked at ahead, see `fetchRecords`. */
  lengthOf?(record: R): number
}

/**
 * The records of one kind of one tenant: per region a map by reference and an index in order of creation.
 * A record belongs to the region that it was created in, and the same reference may exist in two (decisions §4).
 */
export interface Table<R, E extends Entry<R>, Facet extends string> {
  size(): number
  has(region: Region, reference: string): boolean
  /** @throws what `notFound` makes of the reference */
  get(region: Region, reference: string, notFound: (reference: string) => SandboxError): E
  /** The entries of that reference in all regions. */
  find(reference: string): E[]
  /** @throws DUPLICATE_REFERENCE */
  refuseDuplicate(region: Region, reference: string): void
  /** Stores an entry whose reference is free. */
  add(entry: E): E
  /**
   * Checks that the references of new records are free and differ from each other.
   * @param path where the list of records stands in the request, for the errors
   * @throws DUPLICATE_REFERENCE
   */
  refuseDuplicates(records: readonly Placed<R>[], path: string): void
  index(region: Region): OrderedIndex<E, Facet>
  /** @throws INVALID_CURSOR */
  list(region: Region, query: ListQuery<E, Facet>): List<R>
  /** The place of a record created now. */
  placeAt(createdAt: Instant): Indexed
  /** All entries of all regions, in order of creation. */
  entries(): E[]
  /**
   * Checks that kept records fit together: references and places differ, and each is in its region.
   * @param path where the list stands in the state document, for the errors
   * @throws DUPLICATE_REFERENCE, INVALID_FIELD
   */
  refuseMisplaced(kept: readonly Kept<R>[], path: string): void
}

export function createTable<R, E extends Entry<R>, Facet extends string>(
  kind: TableKind<R, Facet>,
  engine: Engine,
): Table<R, E, Facet> {
  const facets = Object.fromEntries(
    Object.entries<(record: R) => string | undefined>(kind.facets).map(([facet, of]) => [
      facet,
      (entry: E) => of(entry.record),
    ]),
  ) as Record<Facet, (entry: E) => string | undefined>

  const { measure } = kind

  interface RegionRecords {
    readonly byReference: Map<string, E>
    readonly index: OrderedIndex<E, Facet>
    readonly cursors: ReturnType<typeof createCursors>
  }
  // Made when first used: most tenants live in one region.
  const regions = new Map<Region, RegionRecords>()

  function recordsOf(region: Region): RegionRecords {
    let records = regions.get(region)
    if (records === undefined) {
      records = {
        byReference: new Map(),
        index: createOrderedIndex(facets, measure && (entry => measure(entry.record))),
        cursors: createCursors(engine.ids, `${kind.name}.${region}`),
      }
      regions.set(region, records)
    }
    return records
  }

  const lookUp = (region: Region, reference: string) => regions.get(region)?.byReference.get(reference)

  return {
    size: () => [...regions.values()].reduce((sum, { index }) => sum + index.size(), 0),
    has: (region, reference) => lookUp(region, reference) !== undefined,
    get(region, reference, notFound) {
      const entry = lookUp(region, reference)
      if (entry === undefined) throw notFound(reference)
      return entry
    },
    find: reference => REGIONS.flatMap(region => lookUp(region, reference) ?? []),
    refuseDuplicate(region, reference) {
      if (lookUp(region, reference) !== undefined) throw errors.duplicateReference(kind.referenceField, reference)
    },
    add(entry) {
      const { byReference, index } = recordsOf(entry.region)
      byReference.set(kind.reference(entry.record), entry)
      index.add(entry)
      return entry
    },
    refuseDuplicates(records, path) {
      const seen = new Set<string>()
      for (const [index, { region, record }] of records.entries()) {
        const reference = kind.reference(record)
        const key = `${region} ${reference}`
        if (seen.has(key) || lookUp(region, reference) !== undefined) {
          throw errors.duplicateReference(`${path}.${index}.${kind.referenceField}`, reference)
        }
        seen.add(key)
      }
    },
    index: region => recordsOf(region).index,
    list(region, { cursor, limit = DEFAULT_LIMIT, ...query }) {
      const { index, cursors } = recordsOf(region)
      const page = index.page({ ...query, limit, after: cursor === undefined ? undefined : cursors.decode(cursor) })
      const last = page.entries.at(-1)
      return {
        totalCount: page.totalCount,
        hasMore: page.hasMore,
        nextCursor: page.hasMore && last !== undefined ? cursors.encode(last) : null,
        data: fetchRecords(page.entries, kind),
      }
    },
    placeAt: createdAt => ({ createdAt, sequence: engine.nextSequence(), row: 0 }),
    entries: () =>
      [...regions.values()]
        .flatMap(({ byReference }) => [...byReference.values()])
        .sort((a, b) => a.sequence - b.sequence),
    refuseMisplaced(kept, path) {
      for (const [at, { region, sequence, record }] of kept.entries()) {
        const right = kind.region?.(record) ?? region
        if (region !== right) throw errors.invalid(`${path}.${at}.region`, `region must be ${right}, not ${region}.`)
        if (at > 0 && sequence <= (kept[at - 1] as Kept<R>).sequence) {
          throw errors.invalid(`${path}.${at}.sequence`, 'sequence must be above that of the record before.')
        }
      }
      this.refuseDuplicates(kept, path)
    },
  }
}

// What is looked at is counted, or the loops would be left out as useless.
let _looks = 0

/**
 * The records of a page, after a look at their texts. They lie all over the memory, and who writes them waits for one
 * text after the other; in short loops that do nothing else, the processor fetches dozens at a time. Among a million
 * collections, a page of 100 is there and written in half of the time.
 */
function fetchRecords<R>(entries: readonly Entry<R>[], { reference, lengthOf }: TableKind<R, never>): R[] {
  const records: R[] = []
  for (const { record } of entries) records.push(record)
  if (lengthOf === undefined) return records
  // First at the records themselves, then at what they point to.
  for (const record of records) _looks += reference(record).length
  for (const record of records) _looks += lengthOf(record)
  return records
}

/** What a table without states gives to a state document, and takes back from it. */
export const keeping = <R, Facet extends string>(table: Table<R, Entry<R>, Facet>) => ({
  keep: (): KeptPlain<R>[] =>
    table.entries().map(({ region, sequence, createdAt, record }) => ({
      region,
      sequence,
      createdAt: formatInstant(createdAt),
      record,
    })),
  /** @throws DUPLICATE_REFERENCE, INVALID_FIELD */
  restore(kept: readonly KeptPlain<R>[], path: string): void {
    table.refuseMisplaced(kept, path)
    for (const { createdAt, ...place } of kept) {
      table.add({ ...place, createdAt: parseInstant(createdAt) as Instant, row: 0 })
    }
  },
})
