import type { Static } from '@sinclair/typebox'
import type { Tenant } from '../../tenants/tenant.js'
import { longPoll } from '../long-poll.js'
import type { CallContext } from '../route.js'
import { call } from '../route.js'
import { EventList, EventQuery } from './schemas.js'

type Query = Static<typeof EventQuery>

export const listEvents = call({
  summary: 'Changes of state, in order; ?wait= waits for the next',
  description:
    'Past events are answered at once. With `wait`, an answer without events waits for the next one. With a reset ' +
    'or a restored state, numbers start at 1 again, and a wait ends.',
  querystring: EventQuery,
  response: EventList,
  handle: readEvents,
})

/** The maximum number of events in one answer. A reader requests the others afterwards. */
const MOST = 1000

function pageOf({ events }: Tenant, query: Query, after: number) {
  if (query.limit !== undefined) {
    const { events: all } = events.select(after, query, Infinity)
    return { data: all.slice(-query.limit), last: events.last() }
  }
  const { events: data, areAll } = events.select(after, query, MOST)
  return { data, last: areAll ? events.last() : (data.at(-1)?.seq ?? after) }
}

/** Returns the milliseconds until the next due transition; Infinity: the clock does not get there by itself. */
function untilNextDue({ clock }: Tenant, realNow: number): number {
  const due = clock.nextDue()
  const real = due === null ? null : clock.realTimeOf(due)
  return real === null ? Infinity : Math.max(0, Math.ceil(real - realNow))
}

/**
 * Returns the events after a number at once; with `wait`, at the next event or after that many seconds.
 * When the tenant is replaced meanwhile, it returns the events of the new one.
 * Throws or rejects with CLIENT_NOT_FOUND, and rejects as `longPoll`.
 */
function readEvents(call: CallContext<undefined, Query, undefined>) {
  const { client, query, registry, storage, now } = call
  const { wait: seconds = 0 } = query
  let { after = 0 } = query
  call.tenant()
  let life = storage.lifeOf(client)
  return longPoll<ReturnType<typeof pageOf>>({ ...call, seconds }, (isEnd, answer) => {
    const realNow = now()
    const tenant = registry.tenant(client, realNow)
    life ??= storage.lifeOf(client)
    const isReplaced = storage.lifeOf(client) !== life
    const page = pageOf(tenant, query, isReplaced ? 0 : after)
    if (page.data.length > 0 || isEnd || isReplaced) answer(page)
    // Events that did not match are not compared again.
    after = Math.max(after, page.last)
    return untilNextDue(tenant, realNow)
  })
}
