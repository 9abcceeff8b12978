import { Type } from '@sinclair/typebox'
import { assumed, component } from '../../core/schemas.js'
import { Event } from '../events/schemas.js'
import { LoggedRequest } from '../request-log/schemas.js'
import { ClientId, Now } from '../schemas.js'

export const Evidence = component('Evidence', {
  summary: assumed(
    Type.String(),
    'The rest in some lines of text: the last failure, the latest requests and transitions, the records and what comes next.',
  ),
  clientId: ClientId,
  now: Now,
  requests: assumed(Type.Array(LoggedRequest), 'The requests of the log, in order.'),
  events: assumed(Type.Array(Event), 'The latest 1,000 events, oldest first.'),
  records: assumed(
    Type.Array(Type.Any()),
    'The explanations of the records that requests mention: the 20 with the latest events, those first. Each has `kind` and ' +
      '`reference`, too.',
  ),
})
