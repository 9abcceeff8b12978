import type { Static } from '@sinclair/typebox'
import type { StatefulStore, Store } from '../../areas/index.js'
import { areaNames } from '../../areas/index.js'
import { errors } from '../../core/errors.js'
import { createCursors } from '../../core/records/list.js'
import type { DuePosition } from '../../core/records/stateful-repository.js'
import { compareDue } from '../../core/records/stateful-repository.js'
import { parseDuration } from '../../core/time/duration.js'
import type { Instant } from '../../core/time/time.js'
import { formatInstant, LAST_INSTANT, parseInstant } from '../../core/time/time.js'
import type { Tenant } from '../../tenants/tenant.js'
import { call } from '../route.js'
import * as schemas from './schemas.js'

export const getClock = call({
  summary: "The tenant's time, whether it runs, and how fast",
  response: schemas.ClockState,
  handle: ({ tenant }) => clockOf(tenant()),
})

export const updateClock = call({
  summary: 'Freeze or resume the clock, or set its pace: 1 to 86400 tenant-seconds per second',
  description: 'The change applies from now on. It does not move the clock.',
  body: schemas.ClockUpdate,
  response: schemas.ClockState,
  handle: ({ tenant, body }) => {
    const changed = tenant()
    changed.clock.configure(body)
    return clockOf(changed)
  },
})

export const advanceClock = call({
  summary: 'Move the clock forward by a duration, to a moment, or to the next event; all that is due happens first',
  description:
    'The body has exactly one of `by`, `to` and `toNextEvent`. All due transitions happen before the answer, in ' +
    'order and each at its own time. A running clock continues from the new time. Tokens can expire. With `dryRun`, the ' +
    'answer is the same, and nothing has happened.',
  body: schemas.ClockAdvance,
  response: schemas.ClockAdvanced,
  handle: ({ tenant, body }) =>
    body.dryRun === true ? tenant().tryOut(() => advance(tenant(), body)) : advance(tenant(), body),
})

export const listUpcoming = call({
  summary: 'The transitions that are due next, in order',
  description:
    'The list has each scheduled transition of a record, with the effect of its outcome on demand. A page follows ' +
    'the last transition of the page before it: transitions that have happened meanwhile are on no page.',
  querystring: schemas.UpcomingQuery,
  response: schemas.UpcomingList,
  handle: ({ tenant, query }) => upcoming(tenant(), query),
})

const clockOf = ({ clock }: Tenant) => ({
  now: formatInstant(clock.now()),
  mode: clock.mode(),
  rate: clock.rate(),
})

/** The maximum number of transitions in an answer. */
const MOST_TRANSITIONS = 10_000

/**
 * Moves a tenant's clock forward. Each due transition happens first, in order and at its own time.
 * The answer lists the first 10,000 transitions and counts the omitted ones.
 * Throws MALFORMED_REQUEST (more than one target), INVALID_FIELD (backwards, or past the year 9999).
 */
function advance(tenant: Tenant, request: Static<typeof schemas.ClockAdvance>): object {
  const { clock, events } = tenant
  const last = events.last()
  clock.advance(targetOf(tenant, request))
  const { events: transitions } = events.select(last, {}, MOST_TRANSITIONS)
  const omitted = events.last() - last - transitions.length
  return { now: formatInstant(clock.now()), transitions, ...(omitted > 0 && { omitted }) }
}

function targetOf({ clock }: Tenant, { by, to, toNextEvent }: Static<typeof schemas.ClockAdvance>): Instant {
  if ([by, to, toNextEvent].filter(target => target !== undefined).length > 1) {
    throw errors.malformed(null, 'Give one of by, to and toNextEvent.')
  }
  const now = clock.now()
  if (toNextEvent) return clock.nextDue() ?? now
  // The schema has checked the text.
  const target = (to === undefined ? now + Number(parseDuration(by ?? '')) * 1000 : parseInstant(to)) ?? now
  if (target < now) throw errors.invalid('to', `The clock only goes forward, and it is ${formatInstant(now)} already.`)
  if (target > LAST_INSTANT) throw errors.invalid('by', `The clock ends at ${formatInstant(LAST_INSTANT)}.`)
  return target
}

/** The number of transitions in an answer if the caller gives none. */
const DEFAULT_LIMIT = 20

/**
 * Returns a page of the transitions that are due next, in their order. A transition that has happened since is on no page.
 * @throws INVALID_CURSOR
 */
function upcoming(tenant: Tenant, { cursor, limit = DEFAULT_LIMIT }: Static<typeof schemas.UpcomingQuery>) {
  const cursors = createCursors(tenant.ids, { path: '/_sandbox/upcoming' })
  const after = cursor === undefined ? undefined : toDue(cursors.decode(cursor))
  const stores = areaNames().map((name): Store | StatefulStore => tenant[name])
  const due = stores.flatMap(store => ('upcoming' in store ? store.upcoming(after, limit + 1) : [])).sort(compareDue)
  const page = due.slice(0, limit)
  const last = page.at(-1)
  return {
    data: page.map(({ dueAt, sequence, ...transition }) => ({ at: formatInstant(dueAt), ...transition })),
    nextCursor: due.length > limit && last !== undefined ? cursors.encode(toPosition(last)) : null,
  }
}

// A cursor is an instant and a place in the order of creation. In this list, it is the instant of the due work.
const toPosition = ({ dueAt, sequence }: DuePosition) => ({ createdAt: dueAt, sequence })
const toDue = ({ createdAt, sequence }: ReturnType<typeof toPosition>): DuePosition => ({ dueAt: createdAt, sequence })
