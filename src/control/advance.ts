import type { Static } from '@sinclair/typebox'
import { parseDuration } from '../core/duration.js'
import { errors } from '../core/errors.js'
import type { Instant } from '../core/time.js'
import { formatInstant, LAST_INSTANT, parseInstant } from '../core/time.js'
import type { World } from '../world.js'
import type { ClockAdvance, ClockAdvanced } from './schemas.js'

/**
 * Moves a tenant's clock forward; all that becomes due happens first, each at its own time.
 * @throws MALFORMED_REQUEST (more than one way to say where to), INVALID_FIELD (backwards, or past the year 9999)
 */
export function advance(world: World, request: Static<typeof ClockAdvance>): Static<typeof ClockAdvanced> {
  const seen = world.events.last()
  world.clock.advanceTo(targetOf(world, request))
  return {
    now: formatInstant(world.clock.now()),
    // The schema of the answer leaves out what is not asked for.
    transitions: world.events.after(seen),
  }
}

function targetOf({ clock }: World, { by, to, toNextEvent }: Static<typeof ClockAdvance>): Instant {
  if ([by, to, toNextEvent].filter(way => way !== undefined).length > 1) {
    throw errors.malformed(null, 'Give one of by, to and toNextEvent.')
  }
  const now = clock.now()
  if (toNextEvent) return clock.nextDue() ?? now
  const target = by === undefined ? (parseInstant(to as string) as Instant) : now + (parseDuration(by) as number) * 1000
  if (target < now) throw errors.invalid('to', `The clock only goes forward, and it is ${formatInstant(now)} already.`)
  if (target > LAST_INSTANT) throw errors.invalid('by', `The clock ends at ${formatInstant(LAST_INSTANT)}.`)
  return target
}
