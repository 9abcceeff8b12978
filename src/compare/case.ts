import type { TSchema } from '@sinclair/typebox'
import type { AreaName } from '../areas/index.js'
import { areas } from '../areas/index.js'
import type { Region } from '../core/rules/regions.js'
import { CURRENCY_OF, REGIONS } from '../core/rules/regions.js'
import type { Instant } from '../core/time/time.js'
import { contentOf, isSuccess, membersOf } from './answers.js'
import type { Contract, Match, Operation } from './contract.js'
import type { Entry } from './har.js'
import { isBefore, isOverlapping } from './har.js'
import type { Ledger } from './ledger.js'
import type { End, Json } from './sandbox.js'

/**
 * How far the capture has shown a record. A made-up one explains an answer. Of a disputed one, a difference was noted, and
 * nothing more of its state is.
 */
export type Standing = 'named' | 'absent' | 'made up' | 'shown' | 'disputed'

/** A record that the capture names. */
export interface Known {
  readonly area: AreaName
  readonly region: Region
  readonly reference: string
  standing: Standing
  /** As it was seen last; undefined: it was never seen whole. */
  record: Json | undefined
  /** The latest entry that has shown or changed it. */
  last: Entry | undefined
  /** The entry that has created it; undefined: it was there before. */
  creation: Entry | undefined
  /** Whether the last answer was a summary. */
  isPartial: boolean
}

/** A client of the capture, and what the sandbox has in its place. */
export interface Group {
  readonly ends: readonly [End, End]
  /** The records by area, region and reference. */
  readonly known: Map<string, Known>
  /** Own tokens by the number of the captured one, with the time at which it ends. */
  readonly tokens: Map<number, { readonly own: readonly string[]; readonly end: number }>
  /** The number of the secret that was accepted. */
  secret?: number
  /** The time at which records without a time of creation were there before, in milliseconds. */
  since?: Instant
  /** Goes down with each record that was there before. */
  lowest: number
  /** The last record of the page that has given a cursor. */
  readonly cursors: Map<string, Known>
}

export const createGroup = (ends: Group['ends']): Group => ({
  ends,
  known: new Map(),
  tokens: new Map(),
  lowest: 0,
  cursors: new Map(),
})

/** Returns the record with a reference. */
export function recordIn({ known: records }: Group, area: AreaName, region: Region, reference: string): Known {
  const key = `${area} ${region} ${reference}`
  const known = records.get(key) ?? {
    ...{ area, region, reference, record: undefined, last: undefined, creation: undefined },
    ...{ standing: 'named' as const, isPartial: false },
  }
  records.set(key, known)
  return known
}

export const isShown = ({ standing }: Known): boolean => standing === 'shown' || standing === 'disputed'

/** A comparison of a file. */
export interface Run {
  readonly contract: Contract
  readonly ledger: Ledger
  /** Whether all entries have a time. */
  readonly isTimed: boolean
  /** Whether the capture has kept the header `Authorization` of an environment. */
  hasAuthorization(origin: string): boolean
  /** Whether the capture has several clients of an environment. */
  hasSeveral(origin: string): boolean
  /** The states that were tried. */
  trials: number
}

/** A captured request with its answer, and what it is held against. */
export interface Case {
  readonly run: Run
  readonly contract: Contract
  readonly entry: Entry
  readonly match: Match
  /** Undefined: the request is of another path. */
  readonly operation: Operation | undefined
  readonly group: Group
  readonly ends: readonly [End, End]
  readonly region: Region
  /** The members of the request, if it has a JSON object. */
  readonly sent: Json
  /** The JSON of the answer; undefined: it has none. */
  readonly content: unknown
  readonly isAccepted: boolean
  readonly isToken: boolean
  /** The records that the request and its answer refer to, but for those of a list. */
  readonly named: readonly Known[]
}

/** Returns a request with its answer as it is compared. */
export function createCase(run: Run, entry: Entry, match: Match, group: Group): Case {
  const { operation } = match
  const { contract } = run
  const content = contentOf(entry)
  const sent = membersOf(entry.body.kind === 'json' ? entry.body.value : undefined)
  const region = regionOf(entry, content)
  const texts = [match.params, sent, operation?.record === undefined || operation.isList ? {} : membersOf(content)]
  const named = texts.flatMap(Object.entries).flatMap(([member, reference]) => {
    const area = contract.areaOf(member)
    return area === undefined || typeof reference !== 'string' ? [] : knownIn(group, area, region, reference)
  })
  return {
    ...{ run, contract, entry, match, operation, group, region, sent, content },
    ends: group.ends,
    isAccepted: isSuccess(entry.status),
    isToken: operation?.id === 'issueToken',
    named: [...new Set(named)],
  }
}

/** Returns the region of a request. A capture without headers shows it by the currency of the answer. */
function regionOf({ headers }: Entry, content: unknown): Region {
  const { data, currency } = membersOf(content)
  const shown = Array.isArray(data) ? membersOf(data[0]).currency : currency
  const isAsked = (region: Region) =>
    headers['x-region'] === undefined ? CURRENCY_OF[region] === shown : headers['x-region'] === region
  return REGIONS.find(isAsked) ?? 'EU'
}

/** Returns a record. Those of some areas are in one region, whatever the header says. */
const knownIn = (group: Group, area: AreaName, region: Region, reference: string): Known =>
  recordIn(group, area, areas[area].regions === 'EU' ? 'EU' : region, reference)

/** Returns the members of a record that others name. */
export const pick = (record: Json, names: object): Json =>
  Object.fromEntries(Object.entries(record).filter(([name]) => Object.hasOwn(names, name)))

/** Returns what the capture has shown of a record of an answer; undefined: it has no reference. */
export function knownOf({ group, region, operation }: Case, record: Json): Known | undefined {
  const area = operation?.area
  const reference = area && record[areas[area].reference]
  return area !== undefined && typeof reference === 'string' ? knownIn(group, area, region, reference) : undefined
}

/** Notes that an entry shows or changes a record. */
export function touch({ entry }: Case, known: Known): void {
  if (known.last === undefined || !isBefore(entry, known.last)) known.last = entry
}

/** Whether nothing more is noted of the state of a record: it differs, or an overlapping request has changed it. */
export const isDoubtful = ({ entry }: Case, { standing, last }: Known): boolean =>
  standing === 'disputed' || (last !== undefined && isOverlapping(last, entry))

/** Returns the schema of the record of an answer with one or with a list of them. */
export const schemaOf = ({ operation }: Case): TSchema => (operation as Operation).record as TSchema
