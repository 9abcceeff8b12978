import type { FastifyInstance } from 'fastify'
import { call, connect } from '../helper.js'
import { onDatabase } from './helper.js'

const MANDATES = '/api/v1/mandates'

const coverage = async (app: FastifyInstance, query: string) =>
  (await call(app, 'GET', `/_sandbox/coverage?${query}`)).body

onDatabase('control plane, GET /coverage: it is of one server since its start, and says so', async (t, storage) => {
  const stored = await storage.start()
  await (await connect(stored.app)).get(MANDATES)
  const scope = 'this server since its start'
  t.match(await coverage(stored.app, 'client=acme'), { scope, summary: { operations: { met: 2 } } })
  const { app } = await storage.restart(stored)
  t.match(await coverage(app, 'client=acme'), { scope, summary: { operations: { met: 0 } } })
  t.match(await coverage(app, 'clients=all'), { clients: [] })
})
