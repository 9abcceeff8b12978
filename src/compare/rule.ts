import type { ErrorCode } from '../core/errors.js'
import type { Fidelity } from '../http/schemas.js'
import type { History } from './history.js'
import type { Observation } from './observations.js'
import { isInvalid, statusOfCode, usesBasic } from './observations.js'

/** The sentence of a document that a rule comes from, word for word. */
export interface Source {
  readonly label: Fidelity
  /** A heading of docs/service-interface.md, or the number of a section of docs/decisions.md. */
  readonly place: string
  readonly sentence: string
}

/** The source of a rule that the service documents. */
export const documented = (place: string, sentence: string): Source => ({ label: 'documented', place, sentence })

/** The source of a rule that the sandbox assumes. */
export const assumed = (section: number, sentence: string): Source => ({
  label: 'assumed',
  place: `§${section}`,
  sentence,
})

/** A rule that does not hold. `seen` is a value of the traffic, of which reports show the shape only. */
export interface Broken {
  readonly why: string
  readonly seen?: unknown
}

/** Undefined: the rule does not apply. */
export type Verdict = 'holds' | Broken | undefined

/** The circumstances of an observation. */
export interface Context {
  readonly history: History
  /** The ids of the guards that expect a refusal of this request. */
  readonly expected: ReadonlySet<string>
  /** Whether one of these is about the token: nothing else is checked then. */
  readonly isUnauthorized: boolean
  /** The time at which the token of the request expires, in milliseconds; undefined: unknown. */
  readonly tokenEnd: number | undefined
  /** Whether the capture has the header Authorization at all: browsers leave it out on request. */
  readonly hasAuthorization: boolean
}

/** A rule of the contract, and how traffic shows it. */
export interface Rule extends Source {
  readonly id: string
  /** The ids of operations, or `other paths`; undefined: all operations. */
  readonly operations: readonly string[] | undefined
  check(observation: Observation, context: Context): Verdict
}

export const rule = (
  id: string,
  source: Source,
  operations: readonly string[] | undefined,
  check: Rule['check'],
): Rule => ({
  id,
  ...source,
  operations,
  check,
})

/** Holds, or is broken for a reason. */
export const verdict = (holds: boolean, why: string, seen?: unknown): Verdict => (holds ? 'holds' : { why, seen })

/** A condition under which the sandbox refuses a request. */
export interface Guard extends Source {
  readonly id: string
  readonly operations: readonly string[] | undefined
  readonly code: ErrorCode
  /** The order of checks (decisions §1): the token, the values of the request, the state of records. */
  readonly stage: 'token' | 'values' | 'state'
  /** Undefined: it cannot be seen. */
  applies(observation: Observation, context: Omit<Context, 'expected' | 'isUnauthorized'>): boolean | undefined
}

export const guard = (
  id: string,
  source: Source,
  operations: readonly string[] | undefined,
  [stage, code]: readonly [Guard['stage'], ErrorCode],
  applies: Guard['applies'],
): Guard => ({ id, ...source, operations, stage, code, applies })

/** Whether the schemas of the sandbox refuse a request. */
export const hasFaults = ({ request, queryError, isBadTarget }: Observation): boolean =>
  request.faults.size > 0 || queryError !== undefined || isBadTarget

const STAGES = ['token', 'values', 'state'] as const

/** Returns the guards that refuse a request: those of the first stage that refuses it. */
export function expectedGuards(
  guards: readonly Guard[],
  observation: Observation,
  context: Omit<Context, 'expected' | 'isUnauthorized'>,
): readonly Guard[] {
  for (const stage of STAGES) {
    if (stage === 'state' && hasFaults(observation)) break
    const found = guards.filter(guard => guard.stage === stage && guard.applies(observation, context))
    if (found.length > 0) return found
  }
  return []
}

/** The source of the code and status of a refusal whose condition is documented. */
const CODES = assumed(2, '[errors.md](errors.md) lists all codes with their statuses and conditions.')

/** Makes the rules of a guard: the request is refused, with its code. They are one if both are assumed. */
export function rulesOf(guard: Guard): readonly Rule[] {
  const { id, label, place, sentence, operations, code } = guard
  if (label === 'assumed') return [refusalWithCode(guard)]
  const refusal = rule(id, { label, place, sentence }, operations, (observation, { expected }) => {
    if (!expected.has(id)) return undefined
    if (observation.isAccepted) return { why: 'accepted, where a refusal is expected' }
    return observation.code === code ? 'holds' : undefined
  })
  return [refusal, { ...refusalWithCode(guard), ...CODES, id: `code of: ${id}` }]
}

const refusalWithCode = ({ id, label, place, sentence, operations, code, stage, applies }: Guard): Rule =>
  rule(id, { label, place, sentence }, operations, (observation, context) => {
    const { isAccepted } = observation
    if (!context.expected.has(id)) {
      // The reverse: what the sandbox takes is refused for this reason.
      const isContrary =
        stage === 'values' &&
        observation.code === code &&
        OWN_CODES.has(code) &&
        !hasFaults(observation) &&
        context.expected.size === 0 &&
        applies(observation, context) === false
      return isContrary ? { why: `refused with ${code}, although its condition is not met` } : undefined
    }
    // That breaks the rule of the refusal.
    if (isAccepted) return label === 'documented' ? undefined : { why: `accepted, where ${code} is expected` }
    if (observation.code === code) return 'holds'
    const isOther = statusOfCode(observation.code) === statusOfCode(code) && context.expected.size === 1
    return isOther && !hasFaults(observation)
      ? { why: `refused for another reason, where ${code} is expected`, seen: observation.code }
      : undefined
  })

/** The codes that only one guard of values has. */
const OWN_CODES: ReadonlySet<ErrorCode> = new Set([
  'REGION_CURRENCY_MISMATCH',
  'PAYOUT_METHOD_MISMATCH',
  'AMOUNT_LIMIT_EXCEEDED',
  'COLLECTION_DATE_TOO_EARLY',
  'COLLECTION_DATE_TOO_LATE',
  'IMMUTABLE_FIELD',
])

/** The codes of values that break a schema. The others have conditions of their own. */
const CODES_OF_VALUES: ReadonlySet<string> = new Set([
  'MALFORMED_REQUEST',
  'MISSING_FIELD',
  'INVALID_FIELD',
  'INVALID_QUERY_PARAMETER',
  'INVALID_REGION',
  'INVALID_BILL_REFERENCE',
] satisfies ErrorCode[])

/** Whether the refusal of a value may follow from a record, which the capture need not have. */
const isOfRecord = ({ field, operation }: Observation) =>
  field === 'cursor' || (operation?.id === 'updateBill' && (field === 'status' || field === 'openAmount'))

/** Whether the values of a request are refused that the sandbox takes, and no other rule says why. */
export const isDisputed = (observation: Observation, { expected }: Context): boolean =>
  isInvalid(observation) &&
  observation.code !== undefined &&
  !hasFaults(observation) &&
  expected.size === 0 &&
  !usesBasic(observation) &&
  !isOfRecord(observation) &&
  (CODES_OF_VALUES.has(observation.code) || statusOfCode(observation.code) === undefined)
