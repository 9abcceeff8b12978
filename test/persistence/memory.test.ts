import { once } from 'node:events'
import { buildServer } from '../../src/server.js'
import type { Database } from '../../src/turns/database.js'
import { gist, refused } from '../answers.js'
import { follow } from '../event-stream.js'
import { bill, connect, serverOptions } from '../helper.js'
import { closed, listen } from '../http/raw.js'
import { manualTime } from '../manual-time.js'
import { onDatabase, onSqliteOnly, resume, sqlite, stateOf, timers } from './helper.js'

// persistence, State in tables: tenants are in memory while they are used.

onDatabase('settings, SANDBOX_MAX_TENANTS: a tenant that is followed makes room afterwards', async (t, storage) => {
  const { app, registry } = await storage.start({ maxTenants: 1, timers: manualTime().timers })
  const port = await listen(app)
  for (const [path, id] of [
    ['events', '1'],
    ['requests', '2'],
  ] as const) {
    const client = await connect(app, path)
    const arrived = once(app.server, 'connection')
    const reader = await follow(port, `/_sandbox/${path}?client=${path}&after=${Number(id) - 1}`)
    const [socket] = await arrived
    await reader.sees('\n\n')
    await connect(app, 'other')
    t.ok(registry.peek(path), `${path}: it stays in memory`)
    for (const n of [1, 2]) await client.post('/api/v1/bills', bill({ uniqueReferenceIdentifier: `INV-000${n}` }))
    t.match(await reader.next(), [{ id }])
    const isGone = closed(socket)
    reader.hangUp()
    await isGone
    await connect(app, 'another')
    t.equal(registry.peek(path), undefined, `${path}: it makes room`)
    t.equal((await client.get('/api/v1/bills')).body.totalCount, 2, 'and comes back')
  }
})

onDatabase('persistence, The turn of a request: calls of the same tenants do not deadlock', async (t, storage) => {
  const { app } = await storage.start()
  const clients = [await connect(app, 'a'), await connect(app, 'b')]
  const forks = clients.flatMap(client => ['a', 'b'].map(clientId => client.control('POST', '/fork', { clientId })))
  t.same((await Promise.all(forks)).map(gist), Array(4).fill('409 DUPLICATE_REFERENCE clientId'))
})

onSqliteOnly('persistence, Several servers on Postgres: changes that are read in part are read again', async t => {
  const { app, database } = await sqlite(t).start()
  let isPart = false
  // A second server on the database, of which some reads miss the records.
  const wrapped: Database = {
    ...database,
    isShared: true,
    read: work =>
      database.read(reader =>
        work({
          ...reader,
          rows: async (table, ...range) => (isPart && table === 'record' ? [] : reader.rows(table, ...range)),
        }),
      ),
  }
  const second = buildServer({ ...serverOptions({ timers, seed: database.seed }), database: wrapped })
  t.teardown(() => second.app.close())
  const client = await connect(app)
  const here = resume(second.app, client.token)
  t.equal((await here.send('GET', '/api/v1/bills')).status, 200)
  await client.post('/api/v1/bills', bill())
  isPart = true
  refused(t, await here.send('GET', '/api/v1/bills'), 503, 'SERVICE_UNAVAILABLE', null)
  isPart = false
  t.equal((await here.send('GET', '/api/v1/bills')).body.totalCount, 1)
  t.equal(await stateOf(second.app), await stateOf(app))
})
