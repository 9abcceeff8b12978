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

onDatabase('persistence, State in tables: the coverage in a database is that in memory', async (t, storage) => {
  const { app } = await storage.start()
  const base = await connect(app, 'base')
  for (const clientId of ['one', 'two']) {
    await call(app, 'POST', '/_sandbox/fork?client=base', { body: { clientId } })
    await (await connect(app, clientId)).get(MANDATES)
  }
  await call(app, 'POST', '/_sandbox/fork?client=one', { body: { clientId: 'three' } })
  await (await connect(app, 'three')).get(MANDATES)
  const requests = async (query: string) => {
    const { operations } = await coverage(app, query)
    return operations.find(({ operation }: { operation: string }) => operation === `GET ${MANDATES}`).requests
  }
  const counts = async () => [
    await requests('client=base'),
    await requests('client=base,one,three'),
    await requests('clients=all'),
  ]
  t.same([await requests('client=one'), ...(await counts())], [2, 3, 3, 3])
  await call(app, 'POST', '/_sandbox/reset?client=one')
  t.same([await requests('client=one'), ...(await counts())], [0, 3, 3, 3], 'a fork is reset')
  await call(app, 'DELETE', '/_sandbox/clients/one')
  t.same(await counts().catch(() => []), [], 'one is gone')
  await (await connect(app, 'one', 'EU', 'another')).get(MANDATES)
  t.same([await requests('client=base'), await requests('client=one')], [3, 1], 'a new client of its id is no fork')
  t.same([await requests('client=base'), await requests('client=three')], [3, 1])
  await base.control('POST', '/reset')
  t.same([await requests('client=base'), await requests('client=three')], [0, 1], 'the origin is reset')
  await (await connect(app, 'base')).get('/api/v1/bills')
  t.match((await coverage(app, 'client=base')).summary, { operations: { met: 2 } })
})
