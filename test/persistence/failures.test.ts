import type { FastifyInstance } from 'fastify'
import { refused } from '../answers.js'
import { bill, call, collection, connect, MONDAY, mandate, pluck, requestToken } from '../helper.js'
import { onDatabase, resume, stateOf } from './helper.js'

const clientIds = async (app: FastifyInstance): Promise<string[]> =>
  pluck((await call(app, 'GET', '/_sandbox/clients')).body.data, 'clientId') as string[]

onDatabase(
  'persistence, A transaction: nothing of a refused change is there, and all else goes on',
  async (t, storage) => {
    const first = await storage.start()
    const { token } = await connect(first.app)
    const other = await connect(first.app, 'other')
    await resume(first.app, token).send('POST', '/api/v1/mandates', mandate({ mandateReference: 'MND-REFUSED' }))
    const document = JSON.parse(await stateOf(first.app))
    const stored = await storage.change(first, storage.refusal)
    const { app, registry } = stored
    const { send, control } = resume(app, token)
    const refusedBill = bill({ uniqueReferenceIdentifier: 'INV-2', description: 'REFUSED' })
    const [state, rows] = [await stateOf(app), await storage.rows()]
    const refusals: Record<string, () => ReturnType<typeof call>> = {
      'a record': () => send('POST', '/api/v1/bills', refusedBill),
      'a change of a record': () => send('DELETE', '/api/v1/mandates/MND-REFUSED'),
      'the last of many records': () =>
        control('POST', '/seed', { records: { bills: [bill({ uniqueReferenceIdentifier: 'INV-3' }), refusedBill] } }),
      'the row of the client': () => control('PUT', '/settings', { senderName: 'REFUSED' }),
      'a registration': () => requestToken(app, { client_id: 'REFUSED' }),
      'a fork': () => control('POST', '/fork', { clientId: 'REFUSED' }),
      'a state': () =>
        control('PUT', '/state', { ...document, settings: { ...document.settings, senderName: 'REFUSED' } }),
    }
    for (const [what, send] of Object.entries(refusals)) {
      for (const _ of ['first', 'again']) {
        const answer = await send()
        refused(t, answer, 503, 'SERVICE_UNAVAILABLE', null, what)
        t.match(answer.headers, { 'retry-after': /^\d+$/ }, what)
        t.equal(
          (await resume(app, other.token, 'other').send('GET', '/api/v1/bills')).status,
          200,
          'other clients go on',
        )
      }
      t.equal(registry.peek('REFUSED'), undefined, what)
      t.same(await storage.rows(), rows, what)
      t.equal(await stateOf(app), state, what)
    }
    t.same((await clientIds(app)).sort(), ['acme', 'other', 'sandbox-client'])
    const again = (await storage.restart(stored)).app
    t.equal(await stateOf(again), state, 'after a restart')
    const created = await resume(again, token).send('POST', '/api/v1/bills', { ...refusedBill, description: 'fine' })
    t.equal(created.status, 201)
  },
)

onDatabase('persistence, A transaction: a reset or removal that is refused leaves the client', async (t, storage) => {
  const clients = [{ clientId: 'listed', clientSecret: 'secret' }]
  const first = await storage.start({ clients })
  const tokens: [string, string][] = []
  for (const clientId of ['acme', 'listed']) {
    const client = await connect(first.app, clientId)
    await client.control('PUT', '/settings', { senderName: 'Kept' })
    tokens.push([clientId, client.token])
  }
  const refusal = storage.refusal.replaceAll('REFUSED', '"resets":1')
  const { app } = await storage.change(first, refusal, { clients })
  for (const [clientId, token] of tokens) {
    const state = await stateOf(app, clientId)
    for (const [method, path] of [
      ['POST', `/reset?client=${clientId}`],
      ['DELETE', `/clients/${clientId}`],
    ] as const) {
      refused(t, await call(app, method, `/_sandbox${path}`), 503, 'SERVICE_UNAVAILABLE', null)
      t.equal((await resume(app, token).send('GET', '/api/v1/bills')).status, 200, 'its tokens are valid')
      t.equal(await stateOf(app, clientId), state)
    }
  }
})

onDatabase('persistence, A transaction: due work is stored as a whole, or undone', async (t, storage) => {
  const time = { now: Date.parse(MONDAY) }
  const options = { clock: 'real', now: () => time.now, tokenLifetime: 30 * 24 * 3600 }
  const first = await storage.start(options)
  const client = await connect(first.app)
  await client.post('/api/v1/mandates', mandate())
  for (const collectionReference of ['COL-1', 'COL-REFUSED'])
    await client.post('/api/v1/direct-debit', collection({ collectionReference }))
  await connect(first.app, 'other')
  let stored = await storage.change(first, storage.refusal, options)
  const rows = await storage.rows()
  time.now += 8 * 24 * 3_600_000
  const here = resume(stored.app, client.token)
  for (const answer of [
    await here.send('GET', '/api/v1/direct-debit/COL-1'),
    await here.send('POST', '/api/v1/bills', bill()),
    await here.control('GET', '/state'),
    await requestToken(stored.app),
  ]) {
    refused(t, answer, 503, 'SERVICE_UNAVAILABLE', null)
  }
  t.equal((await requestToken(stored.app, { client_id: 'other' })).status, 200)
  t.equal((await call(stored.app, 'GET', '/_sandbox/clients')).status, 200)
  const ofClient = (all: readonly string[]) => all.filter(row => row.includes('acme'))
  t.same(ofClient(await storage.rows()), ofClient(rows))
  stored = await storage.change(stored, storage.acceptance, options)
  for (const reference of ['COL-1', 'COL-REFUSED']) {
    const { body } = await resume(stored.app, client.token).control('GET', `/direct-debit/${reference}`)
    t.equal(body.timeline.at(-1).at, '2026-11-09T13:00:00Z', `${reference}: at its own time`)
  }
})

onDatabase('persistence, A transaction: due work stays if the handler throws', async (t, storage) => {
  const time = { now: Date.parse(MONDAY) }
  const options = { clock: 'real', now: () => time.now, tokenLifetime: 30 * 24 * 3600 }
  const stored = await storage.start(options)
  const client = await connect(stored.app)
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/direct-debit', collection())
  time.now += 8 * 24 * 3_600_000
  refused(t, await client.post('/api/v1/mandates', mandate()), 409, 'DUPLICATE_REFERENCE', 'mandateReference')
  t.ok((await storage.rows()).some(row => row.includes('SETTLED')))
  const state = await stateOf(stored.app)
  t.equal(await stateOf((await storage.restart(stored, options)).app), state)
})

onDatabase('persistence, A transaction: what is answered outlasts a crash before the answer', async (t, storage) => {
  const { app } = await storage.start()
  let survivor: FastifyInstance | undefined
  app.addHook('onSend', async ({ method, url }) => {
    if (method === 'POST' && url === '/api/v1/bills') survivor = (await storage.crash()).app
  })
  const client = await connect(app)
  t.equal((await client.post('/api/v1/bills', bill())).status, 201)
  t.equal(await stateOf(survivor as FastifyInstance), await stateOf(app))
  const again = await resume(survivor as FastifyInstance, client.token).send('POST', '/api/v1/bills', bill())
  refused(t, again, 409, 'DUPLICATE_REFERENCE', 'uniqueReferenceIdentifier')
})

onDatabase('persistence, A transaction: a read writes nothing, and a list begins no client', async (t, storage) => {
  const { app } = await storage.start({ clients: [{ clientId: 'listed', clientSecret: 'secret' }] })
  const lists = ['/_sandbox', '/_sandbox/clients', '/docs', '/openapi.json']
  for (const url of lists) t.equal((await app.inject(url)).statusCode, 200, url)
  t.same((await clientIds(app)).sort(), ['listed', 'sandbox-client'])
  t.same(await storage.rows(), [])
  const client = await connect(app)
  await client.post('/api/v1/bills', bill())
  const rows = await storage.rows()
  t.equal(rows.length, 4, 'a client, its counterparty, its bill and an event')
  for (const path of ['/bills', '/bills/INV-2026-001', '/mandates', '/bills?page=0']) await client.get(`/api/v1${path}`)
  for (const path of ['/state', '/clock', '/events', '/requests', '/faults', '/coverage']) {
    t.equal((await client.control('GET', path)).status, 200, path)
  }
  for (const url of lists) await app.inject(url)
  await requestToken(app)
  await requestToken(app, { client_secret: 'wrong' })
  await client.get('/api/v1/nowhere')
  refused(t, await client.post('/api/v1/bills', bill()), 409, 'DUPLICATE_REFERENCE', 'uniqueReferenceIdentifier')
  t.same(await storage.rows(), rows)
})

onDatabase('persistence, A transaction: calls of the same tenants do not deadlock', async (t, storage) => {
  const { app } = await storage.start()
  const clients = [await connect(app, 'a'), await connect(app, 'b')]
  const forks = clients.flatMap(client => ['a', 'b'].map(clientId => client.control('POST', '/fork', { clientId })))
  for (const answer of await Promise.all(forks)) refused(t, answer, 409, 'DUPLICATE_REFERENCE', 'clientId')
})

onDatabase('persistence, A transaction: a refused request is in the log of its client', async (t, storage) => {
  const stored = await storage.change(await storage.start(), storage.refusal)
  const { post, control } = await connect(stored.app)
  refused(t, await post('/api/v1/bills', bill({ description: 'REFUSED' })), 503, 'SERVICE_UNAVAILABLE', null)
  t.same(pluck((await control('GET', '/requests')).body.data, 'status'), [200, 503])
  t.equal((await requestToken(stored.app, { client_id: 'REFUSED' })).status, 503)
  t.same(pluck((await control('GET', '/requests')).body.data, 'status'), [200, 503], 'but not of another client')
})

onDatabase('persistence, A transaction: an id that no database can store is of no client', async (t, storage) => {
  const { app } = await storage.start({ openRegistration: true })
  const { control } = await connect(app)
  for (const id of ['a\0b', '\0', '\ud800', 'x'.repeat(501), 'x'.repeat(100_000)]) {
    const what = JSON.stringify(id.slice(0, 20))
    const text = id.isWellFormed() && id.length < 10_000 ? encodeURIComponent(id) : undefined
    if (text !== undefined) {
      refused(t, await call(app, 'GET', `/_sandbox/state?client=${text}`), 404, 'CLIENT_NOT_FOUND', 'client', what)
      refused(t, await call(app, 'DELETE', `/_sandbox/clients/${text}`), 404, 'CLIENT_NOT_FOUND', 'clientId', what)
      refused(t, await requestToken(app, { client_id: id }), 401, 'INVALID_CLIENT', 'client_id', what)
    }
    const body = { client_id: id, client_secret: 'secret' }
    const { status } = await call(app, 'POST', '/_sandbox/credentials/verify', { body })
    t.ok([200, 400, 401, 404].includes(status), `${what}: ${status}`)
    const fork = await control('POST', '/fork', { clientId: id })
    t.equal(fork.status, 400, what)
    const owner = Buffer.from(JSON.stringify(id)).toString('base64url')
    t.equal((await resume(app, `${owner}.x.y`).send('GET', '/api/v1/bills')).status, 401, what)
  }
  t.equal((await call(app, 'GET', '/_sandbox/health/ready')).status, 200)
})
