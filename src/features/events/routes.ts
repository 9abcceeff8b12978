import type { ControlRoute } from '../control-route.js'
import { route } from '../control-route.js'
import { STREAM_TYPE, wantsStream } from '../stream.js'
import { readEvents, streamEvents } from './read.js'
import { EventList, EventQuery } from './schemas.js'

/** The calls of events. */
export const eventRoutes: readonly ControlRoute[] = [
  route({
    method: 'GET',
    url: '/events',
    operationId: 'listEvents',
    summary: 'Changes of state, in order; ?wait= waits for the next, Accept: text/event-stream streams',
    description:
      'Past events are answered at once. With `wait`, an answer without events waits for the next one. With ' +
      '`Accept: text/event-stream`, the answer is a stream of server-sent events: `id` is the `seq`, `event` the ' +
      'kind, `data` the event. With a reset or a restored state, numbers start at 1 again: a wait ends, and a ' +
      'stream sends the event `reset`.',
    querystring: EventQuery,
    response: EventList,
    otherTypes: STREAM_TYPE,
    handle({ client, query, request, reply, ...context }) {
      return wantsStream(request)
        ? streamEvents(client, query, { request, reply }, context)
        : readEvents(client, query, request, context)
    },
  }),
]
