import type { TSchema } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { assumed, component, OneOf } from '../../core/schemas.js'
import { change } from '../events/schemas.js'
import { client } from '../schemas.js'

/** The kinds of pages of a list: the first page, a page after a cursor, and a page without records. */
export const PAGES = ['first', 'following', 'empty'] as const

const met = <T extends TSchema>(values: T) => ({
  met: assumed(Type.Array(values), 'The values that the app has seen.'),
  missed: assumed(Type.Array(values), 'The other values that the app has to expect.'),
})
const MetCount = Type.Object({
  met: assumed(Type.Integer(), 'The number of met ones.'),
  of: assumed(Type.Integer(), 'The number of all values, seen and missed.'),
})
const area = assumed(Type.String(), 'The title of the part of the service, such as `Mandates`.')
/** The answers that count. */
export const SCOPE = 'this server since its start'
export const CoverageReport = component('CoverageReport', {
  scope: assumed(
    OneOf(SCOPE),
    'The answers that count. The coverage is kept in memory: each server of a database counts its own, and a start begins again.',
  ),
  clients: assumed(Type.Array(Type.String()), 'The client ids whose answers count. Their forks count too.'),
  summary: assumed(
    Type.Object({
      operations: assumed(MetCount, 'The operations, met by any request.'),
      statuses: assumed(MetCount, 'The statuses of answers, counted for each operation.'),
      errorCodes: assumed(MetCount, 'The error codes, counted for each operation.'),
      states: assumed(MetCount, 'The states of records, counted for each kind.'),
      pages: assumed(MetCount, 'The kinds of pages, counted for each list.'),
    }),
    'The numbers of met values.',
  ),
  operations: assumed(
    Type.Array(
      Type.Object({
        operation: assumed(Type.String(), 'The method and the path of the operation, such as `GET /api/v1/mandates`.'),
        summary: assumed(Type.String(), 'The summary of the operation.'),
        area,
        requests: assumed(Type.Integer(), 'The number of its requests with an answer since the reset.'),
        statuses: assumed(Type.Object(met(Type.Integer())), 'The statuses of its answers.'),
        errorCodes: assumed(
          Type.Object(met(Type.String())),
          'The error codes of its answers. Only errors that an app has to handle can be missed.',
        ),
        pages: Type.Optional(
          assumed(
            Type.Object(met(OneOf(...PAGES))),
            'The pages of a list. first: without cursor. following: with a cursor. empty: without records.',
          ),
        ),
      }),
    ),
    'The operations of the API.',
  ),
  states: assumed(
    Type.Array(Type.Object({ kind: change.kind, area, ...met(Type.String()) })),
    'The states of records in answers, by kind.',
  ),
})

/** The most client ids of one call. */
export const MOST_CLIENTS = 100
export const CoverageQuery = Type.Object({
  client: Type.Optional(
    assumed(
      client.client,
      `A tenant by its client id, or up to ${MOST_CLIENTS} separated by commas; by default \`sandbox-client\`.`,
    ),
  ),
  clients: Type.Optional(assumed(OneOf('all'), 'all: all tenants of the server.')),
})
