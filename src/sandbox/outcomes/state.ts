import type { Static } from '@sinclair/typebox'
import { parseAmount } from '../../core/domain/money.js'
import { errors } from '../../core/errors.js'
import type { OutcomeMatch } from '../../core/outcome-match.js'
import type { TenantContext } from '../../core/tenant-context.js'
import { formatInstant } from '../../core/time/time.js'
import { createArmedList } from '../armed/state.js'
import type * as schemas from './schemas.js'

type OutcomeRequest = Static<typeof schemas.OutcomeRequest>
/** An armed outcome of a tenant (control plane, Outcomes). */
export type ArmedOutcome = Static<typeof schemas.OutcomeSnapshot>

/** The rules of one kind of record that outcomes steer. */
export interface SteeredKind {
  /** Its name in messages, in the plural. */
  readonly noun: string
  /** The fields of a match that its records have. */
  readonly fields: readonly (keyof OutcomeMatch)[]
  /** The names of its outcomes. */
  readonly outcomes: readonly string[]
  /** Refuses a match that no new record can meet. @throws INVALID_FIELD */
  assertReachable(match: OutcomeMatch): void
}

/** Whether an outcome has steered all the records that it was armed for. */
export const isSpent = ({ times, fired }: ArmedOutcome): boolean => times !== null && fired >= times

/**
 * Creates the armed outcomes of one tenant, in the order of arming.
 * @param kinds the kinds of records that outcomes steer
 * @param earlier the outcomes of a restored state
 * @throws INVALID_FIELD, DUPLICATE_REFERENCE (an invalid outcome among them)
 */
export function createArmedOutcomes<K extends string = string>(
  context: Pick<TenantContext, 'clock' | 'ids'>,
  kinds: Readonly<Record<K, SteeredKind>>,
  earlier: readonly ArmedOutcome[] = [],
) {
  const allKinds = Object.values<SteeredKind>(kinds)
  const notFound = errors.outcomeNotFound
  const armed = createArmedList(context, { name: 'outcome', assertValid: kindsOf, notFound }, earlier)

  /** Returns the kinds whose records an outcome can steer: at least one. @throws INVALID_FIELD */
  function kindsOf({ match = {}, outcome }: OutcomeRequest): SteeredKind[] {
    const fields = Object.keys(match) as (keyof OutcomeMatch)[]
    const matching = allKinds.filter(kind => fields.every(field => kind.fields.includes(field)))
    if (matching.length === 0) {
      const known = allKinds.map(({ noun, fields }) => `${noun} have ${fields.join(', ')}`).join('; ')
      throw errors.invalid(
        'match',
        `The outcome could never apply: no record has all fields of match. Fields: ${known}.`,
      )
    }
    const steered = matching.filter(kind => kind.outcomes.includes(outcome))
    if (steered.length === 0) {
      const nouns = matching.map(({ noun }) => noun).join(' and ')
      throw errors.invalid(
        'outcome',
        `The outcome could never apply: ${nouns} with such fields have no outcome ${outcome}. See GET /_sandbox/outcomes.`,
      )
    }
    return steered
  }

  /** Refuses a match that no kind of record can meet. @throws INVALID_FIELD */
  function assertReachable(match: OutcomeMatch, candidates: readonly SteeredKind[]): void {
    const failures = candidates.flatMap(kind => {
      try {
        kind.assertReachable(match)
        return []
      } catch (error) {
        return [error]
      }
    })
    if (failures.length === candidates.length) throw failures[0]
  }

  const { list, restore } = armed
  return {
    ...armed,
    /** @throws INVALID_FIELD (it can never apply, or there are too many) */
    arm(request: OutcomeRequest): ArmedOutcome {
      const { match = {}, outcome, times = 1 } = request
      armed.assertFree()
      assertReachable(match, kindsOf(request))
      const added = { id: armed.nextId(), match, outcome, times, armedAt: formatInstant(context.clock.now()), fired: 0 }
      restore([...list(), added])
      return added
    },
    /** Returns the first outcome that matches a new record, if any does, and counts it. */
    take(kind: K, record: OutcomeMatch): string | undefined {
      const { outcomes } = kinds[kind] as SteeredKind
      const found = list().find(one => !isSpent(one) && outcomes.includes(one.outcome) && isMatch(one.match, record))
      if (found === undefined) return undefined
      restore(list().map(one => (one === found ? { ...one, fired: one.fired + 1 } : one)))
      return found.outcome
    },
  }
}

const isMatch = ({ amount, ...match }: OutcomeMatch, record: OutcomeMatch): boolean =>
  (amount === undefined || (record.amount !== undefined && parseAmount(amount) === parseAmount(record.amount))) &&
  Object.entries(match).every(([field, value]) => record[field as keyof OutcomeMatch] === value)
