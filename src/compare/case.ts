import type { TSchema } from '@sinclair/typebox'
import type { AreaName } from '../areas/index.js'
import { areas } from '../areas/index.js'
import type { Region } from '../core/rules/regions.js'
import { CURRENCY_OF, REGIONS, regionOf } from '../core/rules/regions.js'
import { contentOf, isSuccess, membersOf } from './answers.js'
import type { Contract, Match, Operation } from './contract.js'
import type { Group, Known } from './group.js'
import { keyOf } from './group.js'
import type { Entry } from './har.js'
import { isBefore, isOverlapping } from './har.js'
import type { Ledger } from './ledger.js'
import type { End, Json } from './sandbox.js'

/** A comparison of a file. */
export interface Run {
  readonly contract: Contract
  readonly ledger: Ledger
  /** Whether all entries have a time. */
  readonly isTimed: boolean
  /** Whether the capture has kept the header `Authorization` of an environment. */
  hasAuthorization(origin: string): boolean
  /** The states that were tried. */
  trials: number
}

/** A record that a request refers to. */
export interface Named {
  readonly area: AreaName
  readonly reference: string
  readonly key: string
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
  readonly named: readonly Named[]
}

/** Returns a request with its answer as it is compared. */
export function createCase(run: Run, entry: Entry, match: Match, group: Group): Case {
  const { operation } = match
  const { contract } = run
  const content = contentOf(entry)
  const sent = membersOf(entry.body.kind === 'json' ? entry.body.value : undefined)
  const region = isRegion(entry.headers['x-region']) ? entry.headers['x-region'] : 'EU'
  const texts = [match.params, sent, operation?.record === undefined || operation.isList ? {} : membersOf(content)]
  const named = new Map<string, Named>()
  for (const [member, reference] of texts.flatMap(Object.entries)) {
    const area = contract.areaOf(member)
    if (area === undefined || typeof reference !== 'string') continue
    const key = keyOf(area, regionIn(area, region), reference)
    named.set(key, { area, reference, key })
  }
  return {
    run,
    contract,
    entry,
    match,
    operation,
    group,
    ends: group.ends,
    region,
    sent,
    content,
    isAccepted: isSuccess(entry.status),
    isToken: operation?.id === 'issueToken',
    named: [...named.values()],
  }
}

const isRegion = (text: string | undefined): text is Region => REGIONS.includes(text as Region)

/** Returns the region of the records of an area: some are in one region, whatever the header says. */
export const regionIn = (area: AreaName, region: Region): Region => (areas[area].regions === 'EU' ? 'EU' : region)

/** Returns the region of a record. A currency has one region. */
export const regionOfRecord = ({ currency }: Json, otherwise: Region): Region =>
  Object.values(CURRENCY_OF).includes(currency as never) ? regionOf(currency as never) : otherwise

/** Returns the members of a record that others name. */
export const pick = (record: Json, names: object): Json =>
  Object.fromEntries(Object.entries(record).filter(([name]) => Object.hasOwn(names, name)))

/** Returns the text that identifies a record; undefined: it has none. */
export function referenceOf({ contract }: Case, area: AreaName, record: Json): string | undefined {
  const text = record[contract.references.get(area) as string]
  return typeof text === 'string' ? text : undefined
}

/** Finds what the capture has shown of a record. */
export const knownOf = ({ group, region }: Case, area: AreaName, reference: string | undefined): Known | undefined =>
  reference === undefined ? undefined : group.known.get(keyOf(area, regionIn(area, region), reference))

/** Returns what the capture has shown of a record: a first entry if it is nothing. */
export function know(one: Case, area: AreaName, reference: string, region: Region, creation?: Entry): Known {
  const { group, entry } = one
  const key = keyOf(area, region, reference)
  const known = group.known.get(key) ?? {
    area,
    region,
    reference,
    record: undefined,
    last: entry,
    creation,
    isMadeUp: false,
    isDisputed: false,
    isPartial: false,
  }
  group.known.set(key, known)
  group.absent.delete(key)
  return known
}

/** Notes that an entry shows or changes a record. */
export function touch({ entry }: Case, known: Known | undefined): void {
  if (known !== undefined && !isBefore(entry, known.last)) known.last = entry
}

/** Whether nothing more is noted of the state of a record: it differs, or an overlapping request has changed it. */
export const isDoubtful = ({ entry }: Case, known: Known | undefined): boolean =>
  known !== undefined && (known.isDisputed || isOverlapping(known.last, entry))

/** Finds a record of the client at one end by its captured reference. */
export const stored = ({ ends, region }: Case, at: 0 | 1, area: AreaName, reference: string): Json | undefined =>
  ends[at].find(area, regionIn(area, region), reference)?.record

/** Returns the record of an answer with one or with a list of them. */
export const schemaOf = ({ operation }: Case): TSchema => (operation as Operation).record as TSchema
