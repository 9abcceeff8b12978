import { once } from 'node:events'
import { request } from 'node:http'
import { DEMO_CLIENT } from '../../src/tenants/registry.js'
import type { Client } from '../helper.js'
import { bill, call, connect, MONDAY, pluck, requestToken } from '../helper.js'
import { headersOf, listen } from '../http/raw.js'
import { manualTime, until } from '../manual-time.js'
import { onDatabase } from './helper.js'

// persistence, What is kept: tenants are in memory while they are used.

/** Sends a request whose body goes on later. It is no JSON. */
function beginBill(port: number, token: string) {
  const sent = request({ port, method: 'POST', path: '/api/v1/bills', headers: headersOf({ token }) })
  sent.write('{')
  return sent
}

onDatabase(
  'settings, SANDBOX_MAX_TENANTS: a tenant that is waited for makes room after the wait',
  async (t, storage) => {
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
  },
)

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
      [clientId, 'GET', '/api/v1/nowhere', { authorization: `Bearer ${token}x` }],
    ]),
    [demo, 'GET', '/api/v1/bills', {}] as const,
    [demo, 'POST', '/api/v1/oauth/token', form, credentials('a b')] as const,
  ]) {
    const what = `${method} ${path} of ${owner}`
    await connect(app, 'other')
    await call(app, 'GET', '/_sandbox/clients')
    for (const { clientId } of owners) t.equal(registry.peek(clientId), undefined, `${clientId} is out of memory`)
    await call(app, method, path, { headers, body })
    // On Postgres, another server can have reset it: its log counts the resets.
    if (owner === demo && storage.name === 'SQLite') t.equal(registry.peek(demo), undefined, `${what} loads no client`)
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
    const { app, registry } = await storage.start({ maxTenants: 1, timers: manualTime().timers })
    const port = await listen(app)
    const remove = () => call(app, 'DELETE', '/_sandbox/clients/acme')
    const reset = () => call(app, 'POST', '/_sandbox/reset?client=acme')
    const register = () => connect(app, 'acme', 'EU', 'another')
    const evict = async () => {
      await connect(app, 'other')
      t.equal(registry.peek('acme'), undefined)
    }
    const [token, late] = [`/api/v1/oauth/token ${MONDAY}`, '/api/v1/bills 2026-11-02T09:05:00Z']
    for (const [what, meanwhile, then, expected] of [
      ['at its time', [evict], [], [token, late]],
      ['not once its client is removed', [evict, remove], [register], [token]],
      ['nor for the next client with its id', [evict, remove, register], [], [token]],
      ['nor after a reset', [reset], [], []],
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
      for (const act of then) await act()
      const { data } = (await control('GET', '/requests')).body
      t.same(
        data.map(({ path, at }: { path: string; at: string }) => `${path} ${at}`),
        expected,
        what,
      )
    }
  },
)

onDatabase('settings, SANDBOX_MAX_TENANTS: a client may make room before its answer', async (t, storage) => {
  const { app, registry } = await storage.start({ maxTenants: 1 })
  app.addHook('preSerialization', async ({ body }) => {
    if ((body as Record<string, unknown> | undefined)?.client_id !== 'acme') return
    await connect(app, 'other')
    t.equal(registry.peek('acme'), undefined)
  })
  t.equal((await requestToken(app)).status, 200)
  const { control } = await connect(app)
  const match = { path: '/api/v1/oauth/token' }
  const effect = { kind: 'error', status: 503, code: 'SERVICE_UNAVAILABLE' }
  t.equal((await control('POST', '/faults', { match, effect })).status, 201)
  t.equal((await requestToken(app)).status, 503)
  t.same(pluck((await control('GET', '/requests')).body.data, 'status'), [200, 200, 503])
})
