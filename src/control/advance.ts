import type { Static } from '@sinclair/typebox'
import { parseDuration } from '../core/duration.js'
import { errors } from '../core/errors.js'
import type { Instant } from '../core/time.js'
import { formatInstant, LAST_INSTANT, parseInstant } from '../core/time.js'
import { serializerOf } from '../http/validation.js'
import type { World } from '../world.js'
import type { ClockAdvance } from './schemas.js'
import { ClockAdvanced } from './schemas.js'

/**
 * So many transitions are made and written at a time: as one text, a month of 10,000 collections is a rope of a million
 * pieces, which takes three times as long and is felt by the garbage collector.
 */
const BATCH = 1000

const Transitions = ClockAdvanced.properties.transitions

/**
 * Moves a tenant's clock forward; all that becomes due happens first, each at its own time.
 * @returns `ClockAdvanced` in JSON
 * @throws MALFORMED_REQUEST (more than one way to say where to), INVALID_FIELD (backwards, or past the year 9999)
 */
export function advance(world: World, request: Static<typeof ClockAdvance>): string | Buffer {
  const { clock, events } = world
  const seen = events.last()
  clock.advanceTo(targetOf(world, request))
  const head = `{"now":"${formatInstant(clock.now())}","transitions":`
  const write = serializerOf(Transitions)
  const { events: first, areAll } = events.select(seen, {}, BATCH)
  if (areAll) return `${head}${write(first)}}`
  const pieces = [Buffer.from(`${head}[`), Buffer.from(write(first).slice(1, -1))]
  for (let after = seen + BATCH; after < events.last(); after += BATCH) {
    pieces.push(Buffer.from(`,${write(events.select(after, {}, BATCH).events).slice(1, -1)}`))
  }
  pieces.push(Buffer.from(']}'))
  return Buffer.concat(pieces)
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
