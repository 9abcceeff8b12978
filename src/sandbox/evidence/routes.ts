import { Type } from '@sinclair/typebox'
import { preferredType } from '../../http/negotiation.js'
import { call, toDocument } from '../route.js'
import { evidenceOf } from './evidence.js'
import { Evidence } from './schemas.js'

export const getEvidence = call({
  command: 'evidence',
  summary: 'What has happened, in one document: a summary, the requests, the events and the records that they mention',
  description: 'It is for a test that has failed. A request that prefers text/plain gets the summary alone.',
  response: Evidence,
  otherTypes: { 'text/plain': Type.String({ description: 'The summary.' }) },
  async handle({ client, tenant, requestLog, request, reply }) {
    // A client that is not there is a 404 before the log is read. Reading the log of a database takes time, so the client
    // is asked for again afterwards.
    tenant()
    const { data: requests } = await requestLog.list(client)
    const evidence = evidenceOf(tenant(), requests, request.sandbox.publicUrl)
    reply.header('vary', 'accept')
    if (preferredType(request, ['application/json', 'text/plain']) !== 'text/plain') return toDocument(reply, evidence)
    reply.type('text/plain; charset=utf-8')
    return evidence.summary
  },
})
