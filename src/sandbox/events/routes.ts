import { call } from '../route.js'
import { readEvents } from './read.js'
import { EventList, EventQuery } from './schemas.js'

export const listEvents = call({
  summary: 'Changes of state, in order; ?wait= waits for the next',
  description:
    'Past events are answered at once. With `wait`, an answer without events waits for the next one. With a reset ' +
    'or a restored state, numbers start at 1 again, and a wait ends.',
  querystring: EventQuery,
  response: EventList,
  handle: ({ client, query, request, ...context }) => readEvents(client, query, request, context),
})
