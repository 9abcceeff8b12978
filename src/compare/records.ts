import type { TSchema } from '@sinclair/typebox'
import type { CollectionStatus } from '../areas/direct-debit/lifecycle.js'
import { COLLECTION_STATUSES, collectionLifecycle } from '../areas/direct-debit/lifecycle.js'
import { isReasonLegal } from '../areas/direct-debit/reasons.js'
import type { Collection } from '../areas/direct-debit/schemas.js'
import type { Area, AreaName } from '../areas/index.js'
import { areas } from '../areas/index.js'
import { parseInstant } from '../core/time/time.js'
import { isValid } from '../http/validation.js'
import type { Difference } from './answers.js'
import { memberDifference, memberDifferences, membersOf, valueAt } from './answers.js'
import type { Case, Known } from './case.js'
import { isDoubtful, isShown, knownOf, pick, schemaOf } from './case.js'
import type { Operation, Path } from './contract.js'
import { faultsOf, memberAt } from './contract.js'
import { reachable } from './explain.js'
import type { Json } from './sandbox.js'
import { TOLERANCE } from './sandbox.js'

/** Lists the members of an answer, or of a record in it, that its schema refuses. */
export function faultDifferences({ operation }: Case, schema: TSchema, given: unknown): Difference[] {
  return faultsOf(schema, given).map(path => {
    const value = valueAt(given, path)
    const what = value === undefined ? 'is absent' : 'has another form'
    return memberDifference(operation as Operation, schema, path, what, value)
  })
}

/** Compares a record of a list with that of the sandbox. */
export function listedDifferences(one: Case, record: Json): Difference[] {
  const schema = schemaOf(one)
  const known = knownOf(one, record)
  if (known === undefined) return []
  const [early, late] = one.ends.map(end => end.find(known)?.record)
  if (early === undefined) return faultDifferences(one, schema, record)
  const own = [early, late ?? early].map(end => pick(end, schema.properties)) as [Json, Json]
  return recordDifferences(one, record, own, schema)
}

/**
 * Compares a record with those at both ends of the time. The members that differ follow from its state: if that differs, it
 * is the only finding, and nothing more of the state of the record is noted.
 */
export function recordDifferences(
  one: Case,
  given: unknown,
  [early, late]: readonly [unknown, unknown],
  schema: TSchema,
): Difference[] {
  const { entry, named, sent } = one
  const operation = one.operation as Operation
  const { area } = operation
  const record = membersOf(given)
  const known = knownOf(one, record)
  if (known?.standing === 'disputed') return []
  if (known !== undefined && (known.standing === 'made up' || isDoubtful(one, known)))
    return faultDifferences(one, schema, given)
  const [first, second] = [membersOf(early), membersOf(late)]
  // Of two states, the one that the service shows.
  const [from, to] =
    first.status === second.status ? [early, late] : record.status === second.status ? [late, late] : [early, early]
  // A new record takes members from others.
  const isNew = known === undefined || !isShown(known)
  const isVague = isNew && named.some(({ standing }) => standing === 'made up' || standing === 'disputed')
  const isShared = area !== undefined && (areas[area] as Area).lifecycle === undefined
  const isUnknown = ([member]: Path): boolean => {
    if (member === undefined) return false
    const name = String(member)
    if (known?.isPartial === true && !operation.isList && !isInSummary(one, area as AreaName, name)) return true
    if (Object.hasOwn(sent, name)) return false
    if (isVague && name !== 'status') return true
    return isShared && name !== areas[area].reference && isValidMember(schema, name, record[name])
  }
  const differing = memberDifferences(given, from, to, {
    operation,
    schema,
    ends: one.ends,
    isUnknown,
    shown: known?.record,
  })
  const names = differing.map(({ path }) => String(path[0]))
  const isByOthers =
    entry.method === 'GET' && known !== undefined && !isNew && isChangedByOthers(one, known, record, first, names)
  const states = differing.filter(({ path }) => path[0] === 'status')
  const own = states.length > 0 ? states : differing
  const found = isByOthers || own.length === 0 ? reasonDifferences(one, known?.record, record, schema) : own
  if (found.length > 0 && known !== undefined) known.standing = 'disputed'
  return found
}

/** Holds the reason code of a collection against its transition: from the state that was shown, else from any. */
function reasonDifferences({ operation }: Case, shown: Json | undefined, record: Json, schema: TSchema): Difference[] {
  if (operation?.area !== 'collections' || schema.properties.reasonCode === undefined || !isValid(schema, record))
    return []
  const from =
    shown === undefined || shown.status === record.status
      ? COLLECTION_STATUSES
      : [shown.status, ...reachable(collectionLifecycle, String(shown.status))]
  if (isReasonLegal(record as Collection, from as CollectionStatus[])) return []
  const { reasonCode } = record
  const what = reasonCode === undefined ? 'is absent' : 'is none of this transition'
  return [memberDifference(operation, schema, ['reasonCode'], what, reasonCode)]
}

const isInSummary = ({ contract }: Case, area: AreaName, member: string): boolean =>
  contract.operations.find(one => one.area === area && one.isList)?.record?.properties[member] !== undefined

const isValidMember = (schema: TSchema, name: string, value: unknown): boolean => {
  const member = memberAt(schema, [name])
  return member !== undefined && (value === undefined || isValid(member, value))
}

/** Whether others can have changed a record, in the second of its last change or later. */
function isChangedByOthers(one: Case, known: Known, given: Json, own: Json, members: readonly string[]): boolean {
  const { record = {} } = known
  const [before, after] = [record.updatedAt, given.updatedAt].map(text => parseInstant(String(text)))
  if (before === undefined || after === undefined || after < before) return false
  if (one.entry.at !== undefined && after > one.entry.at + TOLERANCE) return false
  const [from, to] = [String(record.status), String(given.status)]
  if (from !== to) return comingByOthers(one, known).includes(to)
  return after > before && own.status === to && members.some(name => name !== 'updatedAt' && name !== 'reasonCode')
}

/** Lists the states into which others can bring a record: those that are legal, and that not only time makes. */
export function comingByOthers({ ends }: Case, known: Known): string[] {
  const { area, record = {} } = known
  const { transitions } = (areas[area] as Area).lifecycle ?? {}
  if (transitions === undefined) return []
  const byTime = ends[0].comingStates(area, record)
  // It can refer to a record that the capture has not shown, or have been held until it was shown.
  const isHeld = ends.some(end => end.isHeld(known))
  return reachable(transitions, String(record.status)).filter(to => isHeld || !byTime.includes(to))
}
