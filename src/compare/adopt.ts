import type { Area, AreaName } from '../areas/index.js'
import { areas } from '../areas/index.js'
import { ApiError } from '../core/errors.js'
import type { Region } from '../core/rules/regions.js'
import type { Slices } from '../core/slices.js'
import { atOnce } from '../core/slices.js'
import { isValid } from '../http/validation.js'
import type { Difference } from './answers.js'
import { membersOf, valueAt } from './answers.js'
import type { Case } from './case.js'
import { know, knownOf, pick, referenceOf, regionIn, regionOfRecord, schemaOf, stored, touch } from './case.js'
import type { Operation } from './contract.js'
import { faultsOf } from './contract.js'
import { placeOfMember } from './places.js'
import type { Json } from './sandbox.js'

const LATEST_WRITES = 50

/**
 * Brings the sandbox to the records of an accepted answer. Returns the differences of records that no record of the sandbox
 * could have.
 * @param isDisputed whether the outcome differs, so that nothing more of the state of its record is noted
 */
export function adoptAll(one: Case, isDisputed = false): Difference[] {
  const { entry, operation, group, content, named, isAccepted } = one
  if (!isAccepted || operation === undefined) return []
  const isRead = operation.method === 'GET'
  if (!isRead) {
    group.writes.push(entry)
    if (group.writes.length > LATEST_WRITES) group.writes.shift()
    for (const { key } of named) touch(one, group.known.get(key))
  }
  const { area, record: schema } = operation
  if (entry.method === 'HEAD' || area === undefined) return []
  if (schema === undefined || content === undefined) {
    if (!isRead) for (const other of named) if (other.area === area) refresh(one, area, other.reference)
    return []
  }
  if (!operation.isList) return adopt(one, area, membersOf(content), 0, isDisputed)
  return listed(one).flatMap((record, at) => adopt(one, area, record, at, false))
}

/** Notes that an answer shows records as the sandbox has them. */
export function noteShown(one: Case): void {
  const { operation, content, named, group } = one
  for (const { key } of named) touch(one, group.known.get(key))
  const { data = [content] } = membersOf(content)
  for (const record of (Array.isArray(data) ? data : []).map(membersOf)) noteRecord(one, operation?.area, record)
}

function noteRecord(one: Case, area: AreaName | undefined, record: Json): void {
  const known = area && knownOf(one, area, referenceOf(one, area, record))
  if (known === undefined) return
  touch(one, known)
  known.record = record
}

/** Returns the records of a list that the sandbox has in another way, or not at all. */
export function listed(one: Case): Json[] {
  const { data } = membersOf(one.content)
  return Array.isArray(data) ? data.map(membersOf).filter(record => !isAsStored(one, record)) : []
}

function isAsStored(one: Case, record: Json): boolean {
  const { area } = one.operation as Operation & { area: AreaName }
  const known = knownOf(one, area, referenceOf(one, area, record))
  if (known === undefined || !one.ends[0].has(area, known.region, record, schemaOf(one).properties)) return false
  noteRecord(one, area, record)
  return true
}

/** Notes the state of a record that an answer without it has changed. */
function refresh(one: Case, area: AreaName, reference: string): void {
  const [known, own] = [knownOf(one, area, reference), stored(one, 1, area, reference)]
  if (known !== undefined && own !== undefined)
    known.record = pick(one.ends[1].original(own) as Json, memberNames(one, area))
}

function adopt(one: Case, area: AreaName, given: Json, place: number, isDisputed: boolean): Difference[] {
  const { entry, operation, ends } = one
  const schema = schemaOf(one)
  const reference = referenceOf(one, area, given)
  if (reference === undefined) return []
  const asked = regionIn(area, one.region)
  const region = knownOf(one, area, reference) === undefined ? regionOfRecord(given, asked) : asked
  const own = ends[0].find(area, region, reference)?.record
  const record = repaired(area, given, own, schema)
  if (record === undefined) return []
  const found = own === undefined ? seedDifferences(one, area, region, record) : []
  const creation = operation?.status === 201 && !operation.isList ? entry : undefined
  const known = know(one, area, reference, region, creation)
  if (found.length > 0 || isDisputed) known.isDisputed = true
  // A summary leaves members out, which the sandbox has if it is in the same state.
  const like = ends.map(end => end.find(area, region, reference)?.record).find(end => end?.status === record.status)
  const names = memberNames(one, area)
  const others = Object.entries(like ?? {}).filter(([name]) => !Object.hasOwn(schema.properties, name))
  const isSummary = operation?.isList === true && Object.keys(names).some(name => !(name in schema.properties))
  known.isMadeUp = false
  known.isPartial = isSummary && (like === undefined || known.isPartial)
  known.record = { ...pick(Object.fromEntries(others), names), ...record }
  store(one, area, region, known.record, {
    shown: like === undefined ? schema.properties : names,
    place: own !== undefined || creation !== undefined ? undefined : place,
  })
  touch(one, known)
  return found
}

/** Returns a record that the sandbox can hold: of a value that it refuses, it keeps its own. */
function repaired(area: AreaName, given: Json, own: Json | undefined, schema: Operation['answer']): Json | undefined {
  const record = pick(given, schema.properties)
  if (isValid(schema, record)) return record
  if (own === undefined) return undefined
  const faulty = new Set(faultsOf(schema, record).map(([name]) => String(name)))
  const kept = { ...record, ...Object.fromEntries(Object.entries(own).filter(([name]) => faulty.has(name))) }
  return isValid((areas[area] as Area).record, { ...own, ...kept }) ? kept : undefined
}

/** Where a record is stored: the members that are shown, and its place in the answer if it was there before. */
interface Storing {
  readonly shown: Readonly<Record<string, unknown>>
  readonly place?: number | undefined
}

/** Stores a record at both ends. */
export function store(
  { group, ends }: Case,
  area: AreaName,
  region: Region,
  record: Json,
  { shown, place }: Storing,
): void {
  const sequence = place === undefined ? undefined : --group.lowest
  const now = ends[0].tenant.clock.now()
  group.since ??= now
  const createdAt = place === undefined ? now : group.since
  const adopted = { area, region, record, shown, sequence, createdAt }
  ends[1].adopt(adopted, ends[0].adopt(adopted))
}

/** Holds a record that was there before the capture against the rules of seeded records. */
function seedDifferences(one: Case, area: AreaName, region: Region, record: Json): Difference[] {
  const mandates = {
    find: (mandateReference: string) =>
      stored(one, 0, 'mandates', mandateReference) ?? {
        mandateReference,
        type: 'RECURRING',
        status: 'ACTIVE',
        debtor: { name: '-' },
      },
  }
  try {
    atOnce(
      one.ends[0].tenant[area].stage([{ region, ...record }] as never, 'x', { mandates } as never) as Slices<unknown>,
    )
    return []
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error.status !== 400 || error.field === null) return []
    const path = error.field.split('.').slice(2)
    const seen = valueAt(record, path)
    const place = placeOfMember(one.operation as Operation, schemaOf(one), path, record)
    return [{ place, what: `${path.join('.')} is one that the sandbox refuses`, seen }]
  }
}

/** Returns the members of whole records of an area. */
export const memberNames = ({ contract }: Case, area: AreaName): Readonly<Record<string, unknown>> =>
  (contract.recordOf(area) ?? (areas[area] as Area).record).properties
