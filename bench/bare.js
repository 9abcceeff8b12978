/**
 * Serves the four operations, and a page as it is, on a stock Fastify: `node bare.js <file>`. Checks no token and applies no filter.
 */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import formbody from '@fastify/formbody'
import Fastify from 'fastify'

const { schemas, records, now, token, html } = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const byReference = new Map(records.map(record => [record.collectionReference, record]))
const app = Fastify()
app.register(formbody)
app.get('/api/v1/direct-debit/:collectionReference', { schema: schemas.get }, ({ params }, reply) => {
  reply.send(byReference.get(params.collectionReference))
})
app.get('/api/v1/direct-debit', { schema: schemas.list }, ({ query: { limit } }, reply) => {
  const data = records.slice(-limit).reverse()
  const totalCount = records.length
  reply.send({ totalCount, hasMore: totalCount > limit, nextCursor: data.at(-1).collectionReference, data })
})
app.post('/api/v1/direct-debit', { schema: schemas.create }, ({ body }, reply) => {
  if (byReference.has(body.collectionReference)) throw new Error('There is such a collection.')
  const times = { initiatedAt: now, updatedAt: now }
  const record = { scheme: 'SEPA', debtorName: 'Jane Doe', ...body, status: 'PENDING', ...times }
  byReference.set(record.collectionReference, record)
  records.push(record)
  reply.code(201).send(record)
})
app.post('/api/v1/oauth/token', { schema: schemas.token }, (_, reply) => {
  reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' })
  reply.send({ ...token, access_token: randomBytes(24).toString('base64url') })
})
app.get('/pay/:payoutLinkId', (_, reply) => reply.type('text/html; charset=utf-8').send(html))
app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) })
