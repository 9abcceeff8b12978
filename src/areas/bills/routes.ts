import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { RegionHeader } from '../../core/domain/schemas.js'
import { documented, named } from '../../core/schemas.js'
import { hint } from '../../http/hints.js'
import { MULTIPART, multipart } from '../../http/multipart.js'
import type { Upload } from '../../http/request-context.js'
import { withClient } from '../../http/request-context.js'
import { failures } from '../../http/schemas.js'
import { documentTypeOf } from './documents.js'
import {
  Bill,
  BillDocument,
  BillDocumentUpload,
  BillList,
  BillParams,
  BillQuery,
  BillUpdate,
  MOST_DOCUMENTS,
  NewBill,
} from './schemas.js'

/** The interface states the regions of these operations, and of no other of this area. */
const statedRegions = RegionHeader(documented, 'EU', 'IN', 'US', 'UK')
const headers = RegionHeader(named, 'EU', 'IN', 'US', 'UK')

/** /api/v1/bills: paths documented (interface, Other endpoints), payloads assumed (decisions §9). */
export const billRoutes: FastifyPluginCallbackTypebox = (app, _options, done) => {
  app.post(
    '',
    {
      schema: {
        operationId: 'createBill',
        summary: 'Ingest a bill',
        'x-fidelity': 'documented',
        description: 'An unknown `counterpartyReference` creates that counterparty, with only its reference.',
        'x-error-codes': ['DUPLICATE_REFERENCE', 'REGION_CURRENCY_MISMATCH', 'RECORD_LIMIT_REACHED'],
        headers: statedRegions,
        body: NewBill,
        response: { 201: Bill, ...failures },
      },
    },
    (request, reply) => {
      reply.code(201)
      return withClient(request, ({ bills }) => bills.create(request.body, request.sandbox.region))
    },
  )

  app.get(
    '',
    {
      schema: {
        operationId: 'listBills',
        summary: 'List bills, newest first',
        'x-fidelity': 'documented',
        description: 'Filters combine with AND; the values of an array filter combine with OR.',
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
      return withClient(request, ({ bills }) => bills.list(request.sandbox.region, request.query))
    },
  )

  app.get(
    '/:uniqueReferenceIdentifier',
    {
      schema: {
        operationId: 'getBill',
        summary: 'Read one bill',
        'x-fidelity': 'documented',
        description: 'A bill belongs to the region of its creation: another region answers 404.',
        'x-error-codes': ['BILL_NOT_FOUND'],
        headers,
        params: BillParams,
        response: { 200: Bill, ...failures },
      },
    },
    request =>
      withClient(request, ({ bills }) => bills.get(request.sandbox.region, request.params.uniqueReferenceIdentifier)),
  )

  app.patch(
    '/:uniqueReferenceIdentifier',
    {
      schema: {
        operationId: 'updateBill',
        summary: 'Update status, open amount or due date of a bill',
        'x-fidelity': 'documented',
        description:
          'The status follows `openAmount`: the total is OPEN, less is PARTIALLY_PAID, 0 is PAID. A cancelled bill takes no update.',
        'x-error-codes': ['BILL_NOT_FOUND', 'BILL_CANCELLED', 'INCONSISTENT_BILL_UPDATE'],
        'x-example': { uniqueReferenceIdentifier: 'BILL-EU-2017' },
        headers,
        params: BillParams,
        body: BillUpdate,
        response: { 200: Bill, ...failures },
      },
    },
    request =>
      withClient(request, ({ bills }) =>
        bills.update(request.sandbox.region, request.params.uniqueReferenceIdentifier, request.body),
      ),
  )

  app.register(documentRoutes)
  done()
}

/** A separate scope, since only this route uses the multipart parser. */
const documentRoutes: FastifyPluginCallbackTypebox = (app, _options, done) => {
  app.register(multipart, { accepts: isDocument, formats: 'a PDF, JPEG or PNG' })
  app.post(
    '/:uniqueReferenceIdentifier/document',
    {
      config: { consumes: MULTIPART, form: BillDocumentUpload },
      schema: {
        operationId: 'uploadBillDocument',
        summary: 'Upload a PDF, JPEG or PNG document and link it to the bill',
        'x-fidelity': 'documented',
        'x-fidelity-note':
          'The service documents the upload and the formats. It also says that all bodies are JSON, except in the token ' +
          'request. How a file is sent is not documented: `multipart/form-data` is assumed.',
        description:
          'One part `file` of at most 10 MiB. Its first bytes decide the format, not the declared type. The content is not kept. ' +
          `A bill takes at most ${MOST_DOCUMENTS} documents.`,
        'x-error-codes': ['INVALID_FIELD', 'MISSING_FIELD', 'BILL_NOT_FOUND', 'BILL_CANCELLED'],
        'x-example': { uniqueReferenceIdentifier: 'BILL-EU-2017' },
        headers,
        params: BillParams,
        response: { 201: BillDocument, ...failures },
      },
    },
    (request, reply) => {
      const { region, upload } = request.sandbox
      reply.code(201)
      return withClient(request, ({ bills }) =>
        bills.attach(region, request.params.uniqueReferenceIdentifier, upload as Upload),
      )
    },
  )
  done()
}

const isDocument = (content: Buffer) => documentTypeOf(content) !== undefined
