import type { Area } from '../areas/index.js'
import { areas } from '../areas/index.js'
import { ApiError } from '../core/errors.js'
import type { Slices } from '../core/slices.js'
import { atOnce } from '../core/slices.js'
import { isValid } from '../http/validation.js'
import type { Difference } from './answers.js'
import { membersOf, valueAt } from './answers.js'
import type { Case, Known } from './case.js'
import { knownOf, pick, schemaOf, touch } from './case.js'
import type { Operation } from './contract.js'
import { faultsOf } from './contract.js'
import { placeOfMember } from './places.js'
import type { Json } from './sandbox.js'

/**
 * Brings the sandbox to the records of an accepted answer. Returns the differences of records that no record of the sandbox
 * could have.
 */
export function adoptAll(one: Case): Difference[] {
  const { operation, ends, content, named, isAccepted } = one
  if (!isAccepted || operation === undefined) return []
  const isRead = operation.method === 'GET'
  if (!isRead) for (const known of named) if (known.standing !== 'named') touch(one, known)
  if (operation.area === undefined) return []
  if (operation.isList) return listed(one).flatMap(record => adopt(one, record))
  if (operation.record !== undefined && content !== undefined) return adopt(one, membersOf(content))
  // The answer does not show the record that the request has changed.
  for (const known of isRead ? [] : named) {
    const own = known.area === operation.area ? ends[1].find(known)?.record : undefined
    if (own !== undefined) known.record = pick(ends[1].original(own) as Json, memberNames(one, known))
  }
  return []
}

/** Notes that an answer shows records as the sandbox has them. */
export function noteShown(one: Case): void {
  const { content, named } = one
  for (const known of named) if (known.standing !== 'named') touch(one, known)
  const { data = [content] } = membersOf(content)
  for (const record of (Array.isArray(data) ? data : []).map(membersOf)) noteRecord(one, knownOf(one, record), record)
}

function noteRecord(one: Case, known: Known | undefined, record: Json): void {
  if (known === undefined || known.standing === 'named') return
  touch(one, known)
  known.record = record
}

/** Returns the records of a list that the sandbox has in another way, or not at all. */
export function listed(one: Case): Json[] {
  const { data } = membersOf(one.content)
  return (Array.isArray(data) ? data.map(membersOf) : []).filter(record => {
    const known = knownOf(one, record)
    if (known === undefined || !one.ends[0].has(known, record, schemaOf(one).properties)) return true
    noteRecord(one, known, record)
    return false
  })
}

function adopt(one: Case, given: Json): Difference[] {
  const { entry, operation, ends } = one
  const schema = schemaOf(one)
  const known = knownOf(one, given)
  if (known === undefined) return []
  const own = ends[0].find(known)?.record
  const record = repaired(known, given, own, schema)
  if (record === undefined) return []
  const found = own === undefined ? seedDifferences(one, known, record) : []
  if (known.last === undefined && operation?.status === 201 && !operation.isList) known.creation = entry
  if (found.length > 0) known.standing = 'disputed'
  else if (known.standing !== 'disputed') known.standing = 'shown'
  // A summary leaves members out, which the sandbox has if it is in the same state.
  const like = ends.map(end => end.find(known)?.record).find(end => end?.status === record.status)
  const names = memberNames(one, known)
  const others = Object.entries(like ?? {}).filter(([name]) => !Object.hasOwn(schema.properties, name))
  const isSummary = operation?.isList === true && Object.keys(names).some(name => !(name in schema.properties))
  known.isPartial = isSummary && (like === undefined || known.isPartial)
  known.record = { ...pick(Object.fromEntries(others), names), ...record }
  const isOld = own === undefined && known.creation !== entry
  store(one, known, known.record, like === undefined ? schema.properties : names, isOld)
  touch(one, known)
  return found
}

/** Returns a record that the sandbox can hold: of a value that it refuses, it keeps its own. */
function repaired({ area }: Known, given: Json, own: Json | undefined, schema: Operation['answer']): Json | undefined {
  const record = pick(given, schema.properties)
  if (isValid(schema, record)) return record
  if (own === undefined) return undefined
  const faulty = new Set(faultsOf(schema, record).map(([name]) => name))
  const kept = { ...record, ...Object.fromEntries(Object.entries(own).filter(([name]) => faulty.has(name))) }
  return isValid((areas[area] as Area).record, { ...own, ...kept }) ? kept : undefined
}

/**
 * Stores a record at both ends.
 * @param shown the members that are shown
 * @param isOld whether it was there before the capture
 */
export function store(
  { group, ends: [early, late] }: Case,
  known: Known,
  record: Json,
  shown: object,
  isOld = false,
): void {
  group.since ??= early.tenant.clock.now()
  const place = isOld ? { sequence: --group.lowest, createdAt: group.since } : undefined
  const names = shown as Json
  late.adopt(known, record, names, place, early.adopt(known, record, names, place))
  // The early end has made it with the bill.
  if (known.area === 'bills') late.tenant.counterparties.ensure(known.region, String(record.counterpartyReference))
}

/** Holds a record that was there before the capture against the rules of seeded records. */
function seedDifferences(one: Case, { area, region }: Known, record: Json): Difference[] {
  const [{ tenant }] = one.ends
  const mandates = {
    find: (reference: string) =>
      tenant.mandates.find(reference)[0]?.record ?? { type: 'RECURRING', status: 'ACTIVE', debtor: { name: '-' } },
  }
  try {
    atOnce(tenant[area].stage([{ region, ...record }] as never, 'x', { mandates } as never) as Slices<unknown>)
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
export const memberNames = ({ contract }: Case, { area }: Known): Readonly<Record<string, unknown>> =>
  (contract.recordOf(area) ?? (areas[area] as Area).record).properties
