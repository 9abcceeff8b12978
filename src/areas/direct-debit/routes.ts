import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { sepaHint } from '../../core/domain/identifiers.js'
import { RegionHeader } from '../../core/domain/schemas.js'
import { documented, named } from '../../core/schemas.js'
import { hint } from '../../http/hints.js'
import { withClient } from '../../http/request-context.js'
import { failures } from '../../http/schemas.js'
import { outcomeOf } from './outcomes.js'
import { REASONED } from './reason-codes.js'
import { Collection, CollectionList, CollectionParams, CollectionQuery, NewCollection } from './schemas.js'

/** The interface states the regions of these operations, and of no other of this area. */
const statedRegions = RegionHeader(documented, 'EU')
const headers = RegionHeader(named, 'EU')

/** /api/v1/direct-debit: the list is documented in full, the others by path (interface, Endpoints). */
export const collectionRoutes: FastifyPluginCallbackTypebox = (app, _options, done) => {
  app.post(
    '',
    {
      schema: {
        operationId: 'createCollection',
        summary: 'Initiate a collection request against an active mandate',
        'x-fidelity': 'documented',
        description:
          'The collection date is at least two open T2 days ahead (three after 16:00 Berlin) and at most 365 days. A date on ' +
          'which T2 is closed moves to the next open day: the answer has the moved date, and a `Sandbox-Hint`. The request ' +
          'is SUBMITTED two open days before the date, PROCESSING one open day before, and SETTLED on the date. ' +
          'A `debtorReference` such as `SIM-RETURNED-AM04` steers the outcome.',
        'x-error-codes': [
          'RECORD_LIMIT_REACHED',
          'MANDATE_NOT_FOUND',
          'DUPLICATE_REFERENCE',
          'MANDATE_NOT_ACTIVE',
          'MANDATE_ALREADY_USED',
          'COLLECTION_DATE_TOO_EARLY',
          'COLLECTION_DATE_TOO_LATE',
        ],
        headers: statedRegions,
        body: NewCollection,
        response: { 201: Collection, ...failures },
      },
    },
    (request, reply) => {
      reply.code(201)
      return withClient(request, ({ collections }) => {
        const { collectionReference, collectionDate, debtorName, debtorReference } = request.body
        const collection = collections.create(request.body)
        hint(request, sepaHint('collectionReference', collectionReference, 'reference'))
        hint(request, sepaHint('debtorName', debtorName, 'name'))
        if (collection.collectionDate !== collectionDate) {
          hint(request, `collectionDate ${collectionDate} is a closed T2 day: moved to ${collection.collectionDate}`)
        }
        if (debtorReference?.startsWith('SIM-') && outcomeOf({ debtorReference }) === undefined) {
          hint(request, 'debtorReference looks like an outcome on demand, but names none')
        }
        return collection
      })
    },
  )

  app.get(
    '',
    {
      schema: {
        operationId: 'listCollections',
        summary: 'List collection requests, newest first',
        'x-fidelity': 'documented',
        description:
          'Sorted by `initiatedAt`, newest first. Filters combine with AND; the values of an array filter combine with OR. ' +
          'A cursor is a position. Records that are added later neither repeat nor shift the following pages.',
        headers: statedRegions,
        querystring: CollectionQuery,
        response: { 200: CollectionList, ...failures },
      },
    },
    request => {
      const { amountMin, amountMax, initiatedFrom, initiatedTo } = request.query
      if (amountMin !== undefined && amountMax !== undefined && amountMin > amountMax) {
        hint(request, 'amountMin is above amountMax: nothing can match')
      }
      if (initiatedFrom !== undefined && initiatedTo !== undefined && initiatedFrom > initiatedTo) {
        hint(request, 'initiatedFrom is after initiatedTo: nothing can match')
      }
      return withClient(request, ({ collections }) => collections.list(request.query))
    },
  )

  app.get(
    '/:collectionReference',
    {
      schema: {
        operationId: 'getCollection',
        summary: 'Read one collection request',
        'x-fidelity': 'documented',
        description: `The summary, and \`reasonCode\` where the status is ${REASONED}.`,
        'x-error-codes': ['COLLECTION_NOT_FOUND'],
        headers,
        params: CollectionParams,
        response: { 200: Collection, ...failures },
      },
    },
    request => withClient(request, ({ collections }) => collections.get(request.params.collectionReference)),
  )

  done()
}
