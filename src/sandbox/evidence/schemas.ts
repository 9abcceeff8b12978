import { Type } from '@sinclair/typebox'
import { component } from '../../core/schemas.js'
import { Event } from '../events/schemas.js'
import { LoggedRequest } from '../request-log/schemas.js'
import { ClientId, list, Now, string } from '../schemas.js'

export const Evidence = component('Evidence', {
  summary: string(
    'The rest in some lines of text: the last failure, the latest requests and transitions, the records and what comes next.',
  ),
  clientId: ClientId,
  now: Now,
  requests: list('The requests of the log, in order.', LoggedRequest),
  events: list('The latest 1,000 events, oldest first.', Event),
  records: list(
    'The explanations of the records that requests mention: the 20 with the latest events, those first. Each has `kind` and ' +
      '`reference`, too.',
    Type.Any(),
  ),
})
