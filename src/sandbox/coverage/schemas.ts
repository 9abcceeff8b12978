import type { TSchema } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { assumed, component, OneOf } from '../../core/schemas.js'
import { change } from '../events/schemas.js'
import { client, integer, list, members, optional, rows, string } from '../schemas.js'

/** The kinds of pages of a list: the first page, a page after a cursor, and a page without records. */
export const PAGES = ['first', 'following', 'empty'] as const

const met = <T extends TSchema>(values: T) => ({
  met: list('The values that the app has seen.', values),
  missed: list('The other values that the app has to expect.', values),
})
const MetCount = Type.Object({
  met: integer('The number of met ones.'),
  of: integer('The number of all values, seen and missed.'),
})
const area = string('The title of the part of the service, such as `Mandates`.')
/** The answers that count. */
export const SCOPE = 'this server since its start'
export const CoverageReport = component('CoverageReport', {
  scope: assumed(
    OneOf(SCOPE),
    'The answers that count. The coverage is kept in memory: each server of a database counts its own, and a start begins again.',
  ),
  clients: list('The client ids whose answers count. Their forks count too.', Type.String()),
  summary: members('The numbers of met values.', {
    operations: assumed(MetCount, 'The operations, met by any request.'),
    statuses: assumed(MetCount, 'The statuses of answers, counted for each operation.'),
    errorCodes: assumed(MetCount, 'The error codes, counted for each operation.'),
    states: assumed(MetCount, 'The states of records, counted for each kind.'),
    pages: assumed(MetCount, 'The kinds of pages, counted for each list.'),
  }),
  operations: rows('The operations of the API.', {
    operation: string('The method and the path of the operation, such as `GET /api/v1/mandates`.'),
    summary: string('The summary of the operation.'),
    area,
    requests: integer('The number of its requests with an answer since the reset.'),
    statuses: members('The statuses of its answers.', met(Type.Integer())),
    errorCodes: members(
      'The error codes of its answers. Only errors that an app has to handle can be missed.',
      met(Type.String()),
    ),
    pages: optional(
      Type.Object(met(OneOf(...PAGES))),
      'The pages of a list. first: without cursor. following: with a cursor. empty: without records.',
    ),
  }),
  states: rows('The states of records in answers, by kind.', { kind: change.kind, area, ...met(Type.String()) }),
})

/** The most client ids of one call. */
export const MOST_CLIENTS = 100
export const CoverageQuery = Type.Object({
  client: optional(
    client.client,
    `A tenant by its client id, or up to ${MOST_CLIENTS} separated by commas; by default \`sandbox-client\`.`,
  ),
  clients: optional(OneOf('all'), 'all: all tenants of the server.'),
})
