import { isDeepStrictEqual } from 'node:util'
import type { Lifecycle } from '../../core/records/state-machine.js'
import { legalMoves } from '../../core/records/state-machine.js'
import { REGIONS } from '../../core/rules/regions.js'
import type { Kind, Operation } from '../contract.js'
import { recordSchemaOf } from '../contract.js'
import type { Observation } from '../observations.js'
import { isSound } from '../observations.js'
import type { Context, Guard, Rule, Source, Verdict } from '../rule.js'
import { assumed, documented, guard, hasFaults, rule, verdict } from '../rule.js'
import { membersOf, textAt } from '../values.js'

/** The operations that answer records of a kind, with lists. */
export const READS = {
  collections: ['createCollection', 'getCollection', 'listCollections'],
  mandates: ['createMandate', 'getMandate', 'listMandates', 'cancelMandate'],
  bills: ['createBill', 'getBill', 'listBills', 'updateBill'],
} as const

/** Applies a check to each record of an answer whose values are valid. The first that is broken decides. */
export const ofRecords =
  (
    check: (record: Readonly<Record<string, unknown>>, observation: Observation, context: Context) => Verdict,
  ): Rule['check'] =>
  (observation, context) => {
    if (!observation.isAccepted) return undefined
    let found: Verdict
    for (const record of observation.records) {
      const result = check(record, observation, context)
      if (result !== undefined && result !== 'holds') return result
      found ??= result
    }
    return found
  }

// ------------------------------------------------------------------------------------------------------------- echo

/** Members that follow from others, or that rules of their own compare. */
const NOT_ECHOED: ReadonlySet<string> = new Set(['collectionDate', 'status', 'openAmount'])

/** Whether a value has what was sent. Members that the schema does not name are left out of it. */
function isEcho(sent: unknown, answered: unknown): boolean {
  const members = membersOf(sent)
  if (members !== sent) return isDeepStrictEqual(sent, answered)
  const others = membersOf(answered)
  return Object.entries(members).every(([name, value]) => !Object.hasOwn(others, name) || isEcho(value, others[name]))
}

const ECHO = assumed(1, 'Answers the members of a request as they were sent.')

const echo = (operation: Operation): Rule[] => {
  const names = Object.keys(operation.body?.properties ?? {}).filter(
    name => !NOT_ECHOED.has(name) && operation.answer.properties?.[name] !== undefined,
  )
  if (names.length === 0) return []
  return [
    rule('members as sent', ECHO, [operation.id], observation => {
      const { isAccepted, input, records } = observation
      const [record] = records
      if (!isAccepted || record === undefined || hasFaults(observation)) return undefined
      const other = names.find(
        name => input[name] !== undefined && isSound(observation, name) && !isEcho(input[name], record[name]),
      )
      return other === undefined ? 'holds' : { why: `${other} differs from what was sent`, seen: record[other] }
    }),
  ]
}

// -------------------------------------------------------------------------------------------------------- read back

/** Members that change in the life of a record. */
const CHANGING: ReadonlySet<string> = new Set([
  'status',
  'updatedAt',
  'initiatedAt',
  'reasonCode',
  'openAmount',
  'dueDate',
  'documents',
])

const READ_BACK = assumed(1, 'Finds a created record at once, with the same members.')

const readBack = (operation: Operation, kind: Kind): Rule =>
  rule('records as before', READ_BACK, [operation.id], (observation, context) => {
    const { history } = context
    if (operation.params !== undefined && observation.status === 404) {
      const known = history.find(kind.path, observation.params[kind.reference], observation)
      if (known === undefined || observation.region === '' || hasFaults(observation) || context.isUnauthorized)
        return undefined
      return { why: 'not found, although an earlier answer has it' }
    }
    if (operation.method !== 'GET') return undefined
    return ofRecords(record => {
      const known = history.find(kind.path, record[kind.reference], observation)
      if (known === undefined) return undefined
      const other = Object.keys(record).find(
        name =>
          !CHANGING.has(name) &&
          Object.hasOwn(known.record, name) &&
          isSound(observation, name) &&
          !isDeepStrictEqual(record[name], known.record[name]),
      )
      return other === undefined ? 'holds' : { why: 'another value than before', seen: record[other] }
    })(observation, context)
  })

// -------------------------------------------------------------------------------------------------------- lifecycle

/** Whether a state can follow another one, by any number of transitions. */
export function canFollow(lifecycle: Lifecycle, from: string, to: string): boolean {
  const reached = new Set([from])
  // A set also yields what is added meanwhile.
  for (const state of reached) for (const move of legalMoves(lifecycle, state)) reached.add(move.to)
  return reached.has(to)
}

interface LifecycleSources {
  readonly final: Source
  readonly others: Source
}

const LIFECYCLES: Readonly<Record<string, LifecycleSources>> = {
  'direct-debit': {
    final: assumed(6, 'FAILED, CANCELLED, REJECTED and RETURNED are final.'),
    others: assumed(6, '**Transitions.** Times are Europe/Berlin. D is `collectionDate`. D−n counts open days.'),
  },
  mandates: {
    final: assumed(7, 'States: PENDING, ACTIVE, CANCELLED, EXPIRED, FAILED.'),
    others: assumed(7, 'Sets a new mandate to ACTIVE.'),
  },
  bills: {
    final: assumed(9, 'The fourth status is CANCELLED. It is final.'),
    others: assumed(9, 'Derives the status from `openAmount`:'),
  },
}

/** A record is read in states that its lifecycle allows, one after the other. */
function transitions(operation: Operation, kind: Kind): Rule[] {
  const sources = LIFECYCLES[kind.path]
  const { lifecycle } = kind
  // A creation of a known record is a duplicate.
  if (sources === undefined || lifecycle === undefined || operation.status === 201) return []
  const check = (isFinal: boolean) =>
    ofRecords((record, observation, { history }) => {
      const known = history.find(kind.path, record[kind.reference], observation)
      const [from, to] = [known?.status, textAt(record, 'status')]
      if (from === undefined || to === undefined) return undefined
      if (!Object.hasOwn(lifecycle, from) || !Object.hasOwn(lifecycle, to)) return undefined
      if ((legalMoves(lifecycle, from).length === 0) !== isFinal) return undefined
      return verdict(canFollow(lifecycle, from, to), `${to} after ${from}`)
    })
  return [
    rule('final states', sources.final, [operation.id], check(true)),
    rule('transitions', sources.others, [operation.id], check(false)),
  ]
}

// ---------------------------------------------------------------------------------------------------------- regions

/** A record of another region is not found. */
function otherRegion(operation: Operation, kind: Kind): Guard[] {
  const code = [...operation.codes].find(name => name.endsWith('_NOT_FOUND') && name !== 'ROUTE_NOT_FOUND')
  if (operation.params === undefined || code === undefined) return []
  return [
    guard(
      'record of another region',
      assumed(4, 'A record belongs to the region of its creation. Another region returns 404 for it.'),
      [operation.id],
      ['state', code as Guard['code']],
      (observation, { history }) =>
        REGIONS.includes(observation.region as never) &&
        history.elsewhere(kind.path, observation.params[kind.reference], observation) !== undefined,
    ),
  ]
}

const SUMMARY = 'Collection request summary (element of `data` in the list response)'
const DUPLICATE: Readonly<Record<string, Source>> = {
  createCollection: documented(SUMMARY, 'Unique reference that the caller chooses.'),
  createMandate: documented(SUMMARY, 'Unique mandate reference that the caller provides.'),
}
const DUPLICATES = assumed(2, '409 DUPLICATE_REFERENCE does not depend on the body: an identical one is refused, too.')
const IDEMPOTENCY = assumed(
  1,
  'Sends a hint for a POST with `Idempotency-Key`: the header is not documented and has no effect.',
)

/** A reference is taken once. The region is part of it. */
function duplicates(operation: Operation, kind: Kind): Guard[] {
  if (!operation.codes.has('DUPLICATE_REFERENCE')) return []
  const isDuplicate = (isIdempotent: boolean): Guard['applies'] => {
    return (observation, { history }) => {
      const known = history.find(kind.path, observation.input[kind.reference], observation)
      const key = observation.headers['idempotency-key']
      const isRepeated = key !== undefined && known?.creation?.headers['idempotency-key'] === key
      return known !== undefined && isRepeated === isIdempotent
    }
  }
  const of = (id: string, source: Source, isIdempotent: boolean) =>
    guard(id, source, [operation.id], ['state', 'DUPLICATE_REFERENCE'], isDuplicate(isIdempotent))
  return [
    of('duplicate reference', DUPLICATE[operation.id] ?? DUPLICATES, false),
    of('Idempotency-Key', IDEMPOTENCY, true),
  ]
}

/** Makes the rules of the records of an operation. */
export const recordRules = (operation: Operation): readonly Rule[] => [
  ...echo(operation),
  ...(operation.kind === undefined ||
  recordSchemaOf(operation).properties === undefined ||
  operation.id === 'uploadBillDocument'
    ? []
    : [readBack(operation, operation.kind), ...transitions(operation, operation.kind)]),
]

/** Makes the refusals that follow from the records of an operation. */
export const recordGuards = (operation: Operation): readonly Guard[] =>
  operation.kind === undefined
    ? []
    : [...otherRegion(operation, operation.kind), ...duplicates(operation, operation.kind)]
