import type { Static } from '@sinclair/typebox'
import { errors } from '../../core/errors.js'
import { parseDuration } from '../../core/time/duration.js'
import type { Instant } from '../../core/time/time.js'
import { formatInstant, LAST_INSTANT, parseInstant } from '../../core/time/time.js'
import type { Tenant } from '../../tenants/tenant.js'
import type { ClockAdvance } from '../kinds/schemas.js'

/** The maximum number of transitions in an answer. */
const MOST_TRANSITIONS = 10_000

/**
 * Moves a tenant's clock forward. Each due transition happens first, in order and at its own time.
 * The answer lists the first 10,000 transitions and counts the omitted ones.
 * Throws MALFORMED_REQUEST (more than one target), INVALID_FIELD (backwards, or past the year 9999).
 */
export function advance(tenant: Tenant, request: Static<typeof ClockAdvance>): object {
  const { clock, events } = tenant
  const last = events.last()
  clock.advance(targetOf(tenant, request))
  const { events: transitions } = events.select(last, {}, MOST_TRANSITIONS)
  const omitted = events.last() - last - transitions.length
  return { now: formatInstant(clock.now()), transitions, ...(omitted > 0 && { omitted }) }
}

function targetOf({ clock }: Tenant, { by, to, toNextEvent }: Static<typeof ClockAdvance>): Instant {
  if ([by, to, toNextEvent].filter(target => target !== undefined).length > 1) {
    throw errors.malformed(null, 'Give one of by, to and toNextEvent.')
  }
  const now = clock.now()
  if (toNextEvent) return clock.nextDue() ?? now
  const target = by === undefined ? (parseInstant(to as string) as Instant) : now + (parseDuration(by) as number) * 1000
  if (target < now) throw errors.invalid('to', `The clock only goes forward, and it is ${formatInstant(now)} already.`)
  if (target > LAST_INSTANT) throw errors.invalid('by', `The clock ends at ${formatInstant(LAST_INSTANT)}.`)
  return target
}
