import { errors } from '../../core/errors.js'
import type { LegalTransition } from '../../core/records/lifecycle.js'
import { assertLegal, legalTransitions } from '../../core/records/lifecycle.js'
import type { Instant } from '../../core/time/time.js'
import { DAY, formatInstant, parseDay } from '../../core/time/time.js'
import type { CollectionStatus, CollectionTransition } from './lifecycle.js'
import { collectionLifecycle } from './lifecycle.js'
import type { Phase, PhaseRules } from './reason-codes.js'
import { codesOf, findReasonCode, phases, REASONED_STATUSES } from './reason-codes.js'
import type { Timed } from './timing.js'
import { inZoneOfT2 } from './timing.js'

/** A group of reason codes that a transition can have, and the end of their time limit. */
interface Window {
  readonly codes: readonly string[]
  readonly until: Instant | null
}

/** Returns the reason codes of a transition with their limits (decisions §6), or an empty list. */
function windowsOf({ status, collectionDate }: Timed, transition: CollectionTransition): Window[] {
  return (Object.entries(phases) as [Phase, PhaseRules][])
    .filter(([, rules]) => rules.from === status && rules.transition === transition)
    .map(([phase, { limit }]) => ({
      codes: codesOf(phase),
      until: limit === undefined ? null : inZoneOfT2(limit.lastDay(parseDay(collectionDate)), DAY - 1000),
    }))
}

/** Returns the windows that are open at an instant. */
const openAt = (windows: readonly Window[], now: Instant) =>
  windows.filter(({ until }) => until === null || now <= until)

/** Returns the transitions that are legal at an instant, with their reason codes and time limits. */
export function legalTransitionsAt(collection: Timed, now: Instant): LegalTransition[] {
  return legalTransitions(collectionLifecycle, collection.status).flatMap<LegalTransition>(({ transition, to }) => {
    const windows = windowsOf(collection, transition)
    if (windows.length === 0) return { transition, to }
    return openAt(windows, now).map(({ codes, until }) => ({
      transition,
      to,
      reasonCodes: codes,
      ...(until !== null && { until: formatInstant(until) }),
    }))
  })
}

/**
 * Returns the reason code of a transition: the given one, or the first legal one if none is given.
 * Undefined if the transition has no reason code.
 * @throws ILLEGAL_TRANSITION naming the legal codes, or the end of the time limit
 */
export function reasonFor(
  collection: Timed,
  transition: CollectionTransition,
  given: string | undefined,
  now: Instant,
): string | undefined {
  const { status } = collection
  assertLegal(collectionLifecycle, status, transition, 'collection')
  const windows = windowsOf(collection, transition)
  if (windows.length === 0 && given === undefined) return undefined

  const open = openAt(windows, now)
  const code = given ?? open[0]?.codes[0]
  if (code !== undefined && open.some(({ codes }) => codes.includes(code))) return code

  const closed = windows.find(({ codes }) => code === undefined || codes.includes(code))
  const legal = open.flatMap(({ codes }) => codes).join(', ') || 'none'
  const reason =
    closed === undefined
      ? `Codes that ${transition} carries from ${status} now: ${legal}.`
      : `It was legal until ${formatInstant(closed.until as Instant)}.`
  const what = code === undefined ? '' : ` with ${code}`
  throw errors.illegalTransition(
    'reasonCode',
    `Cannot ${transition} a collection that is ${status}${what} now. ${reason}`,
  )
}

/** Refuses a code that is not a reason code of SEPA Core. @throws INVALID_FIELD */
export function assertKnownReason(code: string): void {
  if (code === 'AC13') throw errors.invalid('reasonCode', 'AC13 belongs to the B2B scheme; mandates here are CORE.')
  if (findReasonCode(code) === undefined) {
    throw errors.invalid('reasonCode', `${code} is not a reason code of SEPA Core.`)
  }
}

/** Refuses a reason code with a status that takes no reason (decisions §6). @throws INVALID_FIELD */
export function assertReasonFits(code: string, status: CollectionStatus): void {
  assertKnownReason(code)
  if (!REASONED_STATUSES.includes(status)) {
    throw errors.invalid('reasonCode', `A collection that is ${status} has no reasonCode.`)
  }
}
