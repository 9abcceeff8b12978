import { once } from 'node:events'
import { request } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { DEMO_CLIENT } from '../../src/tenants/registry.js'
import type { Database } from '../../src/turns/database.js'
import { gist, refused } from '../answers.js'
import type { Client } from '../helper.js'
import { bill, call, connect, MONDAY, pluck, requestToken } from '../helper.js'
import { headersOf, listen } from '../http/raw.js'
import { manualTime, until } from '../manual-time.js'
import { faulty, onDatabase, onSqliteOnly, resume, secondServer, sqlite, stateOf } from './helper.js'

// persistence, State in tables: tenants are in memory while they are used.

/** Sends a request whose body goes on later. It is no JSON. */
function beginBill(port: number, token: string) {
  const sent = request({ port, method: 'POST', path: '/api/v1/bills', headers: headersOf({ token }) })
  sent.write('{')
  return sent
}

onDatabase('settings, SANDBOX_MAX_TENANTS: a tenant that is waited for makes room afterwards', async (t, storage) => {
  const { app, registry } = await storage.start({ maxTenants: 1, timers: manualTime().timers })
  for (const [path, seq] of [
    ['events', 1],
    ['requests', 2],
  ] as const) {
    const client = await connect(app, path)
    const waiting = client.control('GET', `/${path}?after=${seq - 1}&wait=60`)
    // The call waits once a later one is answered.
    await client.control('GET', '/clock')
    await connect(app, 'other')
    t.ok(registry.peek(path), `${path}: it stays in memory`)
    for (const n of [1, 2]) await client.post('/api/v1/bills', bill({ uniqueReferenceIdentifier: `INV-000${n}` }))
    t.match((await waiting).body.data, [{ seq }])
    await connect(app, 'another')
    t.equal(registry.peek(path), undefined, `${path}: it makes room`)
    t.equal((await client.get('/api/v1/bills')).body.totalCount, 2, 'and comes back')
  }
})

onDatabase('settings, SANDBOX_MAX_TENANTS: a request out of memory is in its log, at its time', async (t, storage) => {
  const { app, registry } = await storage.start({
    maxTenants: 1,
    clients: [{ clientId: 'listed', clientSecret: 'secret' }],
  })
  const { clientId: demo, clientSecret } = DEMO_CLIENT
  const owners = [await connect(app, 'listed'), await connect(app), await connect(app, demo, 'EU', clientSecret)]
  const [listed, acme] = owners as [Client, Client]
  await listed.control('POST', '/clock/advance', { by: 'PT1M' })
  await acme.control('POST', '/clock/advance', { by: 'PT2M' })
  for (const { control } of owners) await control('DELETE', '/requests')
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const credentials = (clientId: string) => `grant_type=client_credentials&client_id=${clientId}&client_secret=wrong`
  const times = { listed: '09:01:00', acme: '09:02:00', [demo]: '09:00:00' }
  for (const [owner, method, path, headers, body] of [
    ...[listed, acme].flatMap(({ clientId, token }): [string, string, string, Record<string, string>, string?][] => [
      [clientId, 'GET', '/api/v1/bills', { authorization: `Bearer ${token}` }],
      [clientId, 'GET', '/api/v1/nowhere', { authorization: `Bearer ${token}` }],
      [clientId, 'DELETE', '/api/v1/bills', { authorization: `Bearer ${token}` }],
      [clientId, 'POST', '/api/v1/oauth/token', form, credentials(clientId)],
      [clientId, 'POST', '/api/v1/oauth/token', { ...form, authorization: `Bearer ${token}` }, credentials('a b')],
      [demo, 'GET', '/api/v1/nowhere', { authorization: `Bearer ${token}x` }],
    ]),
    [demo, 'GET', '/api/v1/bills', {}] as const,
    [demo, 'POST', '/api/v1/oauth/token', form, credentials('a b')] as const,
  ]) {
    const what = `${method} ${path} of ${owner}`
    await connect(app, 'other')
    await call(app, 'GET', '/_sandbox/clients')
    for (const { clientId } of owners) t.equal(registry.peek(clientId), undefined, `${clientId} is out of memory`)
    await call(app, method, path, { headers, body })
    if (owner === demo) t.equal(registry.peek(demo), undefined, `${what} waits for no client`)
    for (const { clientId, control } of owners) {
      const { data } = (await control('GET', '/requests')).body
      const expected = clientId === owner ? [`2026-11-02T${times[owner]}Z`] : []
      t.same(
        data.map(({ at }: { at: string }) => at),
        expected,
        `${what} in the log of ${clientId}`,
      )
      await control('DELETE', '/requests')
    }
  }
})

onDatabase(
  'settings, SANDBOX_MAX_TENANTS: a request whose client makes room meanwhile is logged',
  async (t, storage) => {
    const { wrap, during: failing } = faulty()
    const { app, registry } = await storage.start({ maxTenants: 1, timers: manualTime().timers, wrap })
    const port = await listen(app)
    const remove = () => call(app, 'DELETE', '/_sandbox/clients/acme')
    const reset = () => call(app, 'POST', '/_sandbox/reset?client=acme')
    const register = () => connect(app, 'acme', 'EU', 'another')
    const evict = async () => {
      await connect(app, 'other')
      t.equal(registry.peek('acme'), undefined)
    }
    const [token, late] = [`/api/v1/oauth/token ${MONDAY}`, '/api/v1/bills 2026-11-02T09:05:00Z']
    for (const [what, meanwhile, afterwards, expected] of [
      ['at its time', [evict], [], [token, late]],
      ['not once its client is removed', [evict, remove], [register], [token]],
      ['nor for the next client with its id', [evict, remove, register], [], [token]],
      ['but if the removal has failed', [evict, () => failing(remove)], [], [token, late]],
      ['also without leaving memory', [() => failing(remove)], [], [token, late]],
      ['nor after a reset', [reset], [], []],
      ['nor after a reset that has failed, and a removal', [() => failing(reset), remove, register], [], [token]],
    ] as const) {
      await remove()
      const { token, control } = await connect(app)
      await control('POST', '/clock/advance', { by: 'PT5M' })
      await evict()
      const sent = beginBill(port, token)
      await until(() => registry.peek('acme') !== undefined)
      for (const act of meanwhile) await act()
      const [answer] = await once(sent.end(), 'response')
      t.equal(answer.resume().statusCode, 400)
      for (const act of afterwards) await act()
      const { data } = (await control('GET', '/requests')).body
      t.same(
        data.map(({ path, at }: { path: string; at: string }) => `${path} ${at}`),
        expected,
        what,
      )
    }
  },
)

onDatabase('persistence, The turn of a request: calls of the same tenants do not deadlock', async (t, storage) => {
  const { app } = await storage.start()
  const clients = [await connect(app, 'a'), await connect(app, 'b')]
  const forks = clients.flatMap(client => ['a', 'b'].map(clientId => client.control('POST', '/fork', { clientId })))
  t.same((await Promise.all(forks)).map(gist), Array(4).fill('409 DUPLICATE_REFERENCE clientId'))
})

onDatabase('persistence, The turn of a request: no log has a turn that fails', async (t, storage) => {
  const { wrap, during: failing } = faulty()
  const { app } = await storage.start({ wrap })
  const { get, control } = await connect(app)
  const removal = await failing(() => call(app, 'DELETE', '/_sandbox/clients/acme'))
  refused(t, removal, 503, 'SERVICE_UNAVAILABLE', null)
  t.equal((await get('/api/v1/bills')).status, 200)
  t.equal((await control('GET', '/requests')).body.last, 2, 'the client is logged on')
  t.equal((await failing(() => requestToken(app, { client_id: 'beta' }))).status, 503)
  const beta = await connect(app, 'beta')
  t.match((await beta.control('GET', '/requests')).body, { data: [{ seq: 1, status: 200 }], last: 1 })
})

onDatabase(
  'persistence, The turn of a request: one whose client cannot be read again is in its log, at its time',
  async (t, storage) => {
    const database = faulty()
    const clients = [{ clientId: 'listed', clientSecret: 'secret' }]
    const options = { maxTenants: 1, clients, timers: manualTime().timers, wrap: database.wrap }
    const { app, registry } = await storage.start(options)
    const port = await listen(app)
    const setUnreadable = async (isUnreadable: boolean) => void Object.assign(database, { isUnreadable })
    const unreadable = async <T>(work: () => Promise<T>) => {
      await setUnreadable(true)
      return work().finally(() => setUnreadable(false))
    }
    // The turn itself needs to read the client.
    const failing = <T>(work: () => Promise<T>) =>
      database.during(work, () => setUnreadable(true)).finally(() => setUnreadable(false))
    for (const clientId of ['acme', 'listed']) {
      const remove = () => call(app, 'DELETE', `/_sandbox/clients/${clientId}`)
      const reset = () => call(app, 'POST', `/_sandbox/reset?client=${clientId}`)
      for (const [what, past] of Object.entries({
        'a reset': reset,
        'a removal': remove,
        'a reset that has failed': () => database.during(reset),
        'a removal that has failed': () => database.during(remove),
      })) {
        await connect(app, clientId)
        await reset()
        await past()
        const { token, get, post, control } = await connect(app, clientId)
        await control('POST', '/clock/advance', { by: 'PT1M' })
        await control('DELETE', '/requests')
        await connect(app, 'other')
        const sent = beginBill(port, token)
        await until(() => registry.peek(clientId) !== undefined)
        await connect(app, 'other')
        t.equal(registry.peek(clientId), undefined)
        const [answer] = await unreadable(() => once(sent.end(), 'response'))
        t.equal(answer.resume().statusCode, 400)
        t.equal((await get('/api/v1/bills')).status, 200)
        refused(t, await failing(() => post('/api/v1/bills', bill())), 503, 'SERVICE_UNAVAILABLE', null)
        const { data } = (await control('GET', '/requests')).body
        t.match(
          data,
          [400, 200, 503].map(status => ({ status, at: '2026-11-02T09:01:00Z' })),
          `${clientId} after ${what}`,
        )
        const arrived = once(app.server, 'request')
        const late = beginBill(port, token)
        await arrived
        await remove()
        await unreadable(() => once(late.end(), 'response'))
        const again = await connect(app, clientId)
        t.match((await again.control('GET', '/requests')).body, { data: [{ status: 200 }], last: 1 })
      }
    }
    t.equal((await failing(() => requestToken(app, { client_id: 'beta' }))).status, 503)
    const beta = await connect(app, 'beta')
    t.match((await beta.control('GET', '/requests')).body, { data: [{ seq: 1, status: 200 }], last: 1 })
  },
)

onDatabase('settings, SANDBOX_MAX_TENANTS: a client may make room before its answer', async (t, storage) => {
  const database = faulty()
  const wrap = (original: Database): Database => ({ ...database.wrap(original), isShared: true })
  const { app, registry } = await storage.start({ maxTenants: 1, wrap })
  let isReadable = false
  app.addHook('preSerialization', async ({ body }) => {
    if ((body as Record<string, unknown> | undefined)?.client_id !== 'acme') return
    await connect(app, 'other')
    t.equal(registry.peek('acme'), undefined)
    database.isUnreadable = !isReadable
  })
  t.equal((await requestToken(app)).status, 200)
  database.isUnreadable = false
  isReadable = true
  const { control } = await connect(app)
  const match = { path: '/api/v1/oauth/token' }
  const effect = { kind: 'error', status: 503, code: 'SERVICE_UNAVAILABLE' }
  t.equal((await control('POST', '/faults', { match, effect })).status, 201)
  t.equal((await requestToken(app)).status, 503)
  t.same(pluck((await control('GET', '/requests')).body.data, 'status'), [200, 200, 503])
})

onDatabase(
  'persistence, The turn of a request: a reset or removal that fails hides no request of its client',
  async (t, storage) => {
    const { wrap, during: failing } = faulty()
    const clients = [{ clientId: 'listed', clientSecret: 'secret' }]
    const { app } = await storage.start({ wrap, clients, timers: manualTime().timers })
    let refusals = 0
    app.addHook('onError', async () => void refusals++)
    const port = await listen(app)
    for (const clientId of ['acme', 'listed']) {
      for (const [method, path] of [
        ['POST', `/_sandbox/reset?client=${clientId}`],
        ['DELETE', `/_sandbox/clients/${clientId}`],
      ] as const) {
        for (const isLate of [false, true]) {
          const what = `${method} ${path}, ${isLate ? 'answered after it' : 'answered before it fails'}`
          const { token, get, control } = await connect(app, clientId)
          await control('DELETE', '/requests')
          const arrived = once(app.server, 'request')
          const sent = beginBill(port, token)
          const response = once(sent, 'response')
          await arrived
          const before = refusals
          let unknown: ReturnType<typeof get> | undefined
          const end = async () => {
            sent.end()
            unknown = get('/api/v1/nowhere')
            await until(() => refusals === before + 2)
            await setImmediate()
          }
          const failed = await failing(() => call(app, method, path), isLate ? undefined : end)
          refused(t, failed, 503, 'SERVICE_UNAVAILABLE', null)
          if (isLate) await end()
          const [answer] = await response
          t.equal(answer.resume().statusCode, 400, what)
          refused(t, await unknown, 404, 'ROUTE_NOT_FOUND', null)
          const { data } = (await control('GET', '/requests')).body
          t.same(pluck(data, 'path').sort(), ['/api/v1/bills', '/api/v1/nowhere'], what)
        }
      }
    }
  },
)

onSqliteOnly('persistence, Several servers on Postgres: a late token is of no client of another server', async t => {
  const { app, database } = await sqlite(t).start()
  const second = secondServer(t, database)
  const here = resume(second, (await connect(app)).token)
  const paths = async (client: string) =>
    pluck((await call(second, 'GET', `/_sandbox/requests?client=${client}`)).body.data, 'path')
  await here.send('GET', '/api/v1/bills')
  await call(app, 'DELETE', '/_sandbox/clients/acme')
  await connect(app, 'acme', 'EU', 'another')
  await here.send('GET', '/api/v1/nowhere')
  t.same(await paths('acme'), ['/api/v1/bills'])
  t.same(await paths(DEMO_CLIENT.clientId), ['/api/v1/nowhere'])
})

onSqliteOnly(
  'persistence, The turn of a request: one that is refused waits once for a database that is away',
  async t => {
    let failures: number | undefined
    const wrap = (database: Database): Database => ({
      ...database,
      isShared: true,
      async version(clientId) {
        if (failures === undefined) return database.version(clientId)
        failures++
        throw new Error('away')
      },
    })
    const { app } = await sqlite(t).start({ wrap })
    const { get } = await connect(app)
    failures = 0
    refused(t, await get('/api/v1/bills'), 503, 'SERVICE_UNAVAILABLE', null)
    t.equal(failures, 1)
    const metadata = '/.well-known/oauth-authorization-server'
    refused(t, await call(app, 'GET', `${metadata}?client=acme`), 503, 'SERVICE_UNAVAILABLE', null)
    t.equal(failures, 2)
    failures = undefined
    const logged = async (client: string) =>
      pluck((await call(app, 'GET', `/_sandbox/requests?client=${client}`)).body.data, 'path')
    t.same(await logged('acme'), ['/api/v1/oauth/token', '/api/v1/bills', metadata])
    t.same(await logged(DEMO_CLIENT.clientId), [])
  },
)

onSqliteOnly('persistence, Several servers on Postgres: changes that are read in part are read again', async t => {
  const { app, database } = await sqlite(t).start()
  let isPart = false
  // A second server on the database, of which some reads miss the records.
  const wrapped: Database = {
    ...database,
    read: work =>
      database.read(reader =>
        work({
          ...reader,
          rows: async (table, ...range) => (isPart && table === 'record' ? [] : reader.rows(table, ...range)),
        }),
      ),
  }
  const second = secondServer(t, wrapped)
  const client = await connect(app)
  const here = resume(second, client.token)
  t.equal((await here.send('GET', '/api/v1/bills')).status, 200)
  await client.post('/api/v1/bills', bill())
  isPart = true
  refused(t, await here.send('GET', '/api/v1/bills'), 503, 'SERVICE_UNAVAILABLE', null)
  isPart = false
  t.equal((await here.send('GET', '/api/v1/bills')).body.totalCount, 1)
  t.equal(await stateOf(second), await stateOf(app))
})
