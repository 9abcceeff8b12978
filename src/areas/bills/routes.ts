import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { hint } from '../../http/hints.js'
import { failures, RegionHeader } from '../../http/schemas.js'
import { acceptUpload, acceptUploads } from '../../http/upload.js'
import { documentTypeOf } from './documents.js'
import { Bill, BillDocument, BillList, BillParams, BillQuery, BillUpdate, NewBill } from './schemas.js'

const tags = ['bills']
const headers = RegionHeader('EU', 'IN', 'US', 'UK')

/** /api/v1/bills: paths documented (interface, Other endpoints), payloads assumed (decisions §9). */
export const billRoutes: FastifyPluginCallbackTypebox = (app, _options, done) => {
  app.post(
    '',
    {
      schema: {
        operationId: 'createBill',
        summary: 'Ingest a bill',
        tags,
        'x-fidelity': 'documented',
        headers,
        body: NewBill,
        response: { 201: Bill, ...failures },
      },
    },
    (request, reply) => {
      reply.code(201)
      return request.world.bills.create(request.region, request.body)
    },
  )

  app.get(
    '',
    {
      schema: {
        operationId: 'listBills',
        summary: 'List bills, newest first',
        tags,
        'x-fidelity': 'documented',
        headers,
        querystring: BillQuery,
        response: { 200: BillList, ...failures },
      },
    },
    request => {
      const { dueDateFrom, dueDateTo } = request.query
      if (dueDateFrom !== undefined && dueDateTo !== undefined && dueDateFrom > dueDateTo) {
        hint(request, 'dueDateFrom is after dueDateTo: nothing can match')
      }
      return request.world.bills.list(request.region, request.query)
    },
  )

  app.get(
    '/:uniqueReferenceIdentifier',
    {
      schema: {
        operationId: 'getBill',
        summary: 'Read one bill',
        tags,
        'x-fidelity': 'documented',
        headers,
        params: BillParams,
        response: { 200: Bill, ...failures },
      },
    },
    request => request.world.bills.get(request.region, request.params.uniqueReferenceIdentifier),
  )

  app.patch(
    '/:uniqueReferenceIdentifier',
    {
      schema: {
        operationId: 'updateBill',
        summary: 'Update status, open amount or due date of a bill',
        tags,
        'x-fidelity': 'documented',
        headers,
        params: BillParams,
        body: BillUpdate,
        response: { 200: Bill, ...failures },
      },
    },
    request => request.world.bills.update(request.region, request.params.uniqueReferenceIdentifier, request.body),
  )

  app.register(documentRoutes)
  done()
}

/** Apart from the others, which would carry the hooks of the parser along on every request. */
const documentRoutes: FastifyPluginCallbackTypebox = (app, _options, done) => {
  acceptUploads(app)

  app.post(
    '/:uniqueReferenceIdentifier/document',
    {
      ...acceptUpload(documentTypeOf, 'a PDF, JPEG or PNG'),
      schema: {
        operationId: 'uploadBillDocument',
        summary: 'Upload a PDF, JPEG or PNG document and link it to the bill',
        tags,
        'x-fidelity': 'documented',
        headers,
        params: BillParams,
        response: { 201: BillDocument, ...failures },
      },
    },
    (request, reply) => {
      const { uniqueReferenceIdentifier } = request.params
      reply.code(201)
      return request.world.bills.attach(request.region, uniqueReferenceIdentifier, request.upload)
    },
  )

  done()
}
