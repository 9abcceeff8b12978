/**
 * Bare Fastify with the routes of the operations that are measured: no log, no schemas, no state. Reads give the record
 * or list of the file that is handed in, writes echo what they parsed (cancelling has no content to
 * answer), the token route takes a form. Without a file it
 * has one route that says ok.
 */
import { readFileSync } from 'node:fs'
import formbody from '@fastify/formbody'
import Fastify from 'fastify'

const [port, file] = process.argv.slice(2)
const app = Fastify()

if (file === undefined) {
  app.get('/', () => ({ status: 'ok' }))
} else {
  const { collection, list, token } = JSON.parse(readFileSync(file, 'utf8'))
  const echo = status => (request, reply) => {
    reply.code(status)
    return request.body
  }
  app.register(formbody)
  app.post('/api/v1/oauth/token', () => token)
  app.get('/api/v1/direct-debit/:collectionReference', () => collection)
  app.get('/api/v1/direct-debit', () => list)
  app.post('/api/v1/direct-debit', echo(201))
  app.patch('/api/v1/payout-links/:payoutLinkId/cancel', (_request, reply) => reply.code(204).send())
  app.patch('/api/v1/bills/:uniqueReferenceIdentifier', echo(200))
}
await app.listen({ port: Number(port), host: '127.0.0.1' })
