import t from 'tap'
import type { TenantLog } from '../../src/turns/tenant-log.js'
import { claim, FORMS, open, stateOf as statusOf, tokenOf } from '../areas/pages.js'
import { call, connect, payoutLink, requestToken } from '../helper.js'
import { createMemoryLog, operationsOf, restart, resume, serveLog, start, stateOf } from './helper.js'

t.test('decisions §8, pages: a claim outlasts a crash, and the page finds its tenant again', async t => {
  const first = await start(t, t.testdir())
  const client = await connect(first.app)
  const [claimed, still] = [
    (await client.post('/api/v1/payout-links', payoutLink())).body.payoutLinkId,
    (await client.post('/api/v1/payout-links', payoutLink())).body.payoutLinkId,
  ]
  await claim(first.app, claimed, FORMS['SEPA-CT']?.form ?? {})
  const state = await stateOf(first.app)
  t.match(await operationsOf(first), ['begin', /POST/, /POST/, 'POST /pay/{payoutLinkId}'])

  const { app } = await restart(t, first)
  const page = await open(app, still)
  t.equal(page.statusCode, 200, 'no request has brought the tenant into memory')
  t.ok(tokenOf(page))
  t.equal(await stateOf(app), state)
})

t.test('decisions §8, pages: a claim on one server is seen on another', async t => {
  const log = createMemoryLog()
  const [one, two] = [serveLog(t, log), serveLog(t, log)]
  const client = await connect(one.app)
  const { payoutLinkId } = (await client.post('/api/v1/payout-links', payoutLink())).body
  await open(two.app, payoutLinkId)
  await claim(one.app, payoutLinkId, FORMS['SEPA-CT']?.form ?? {})
  t.equal(statusOf(await open(two.app, payoutLinkId)), 'PAYOUT_LINK_ALREADY_CLAIMED')
  t.equal(await stateOf(one.app), await stateOf(two.app))
})

t.test('decisions §8, pages: an unknown link reads no tenant of the database', async t => {
  const log = createMemoryLog()
  const reads: string[] = []
  const wrap = (same: TenantLog): TenantLog => ({
    ...same,
    after(clientId, sequence) {
      reads.push(clientId)
      return same.after(clientId, sequence)
    },
  })
  for (const clientId of ['one', 'two']) await connect(serveLog(t, log).app, clientId)
  const { app } = serveLog(t, log, { wrap })
  t.equal((await open(app, 'pl_unknown')).statusCode, 404)
  reads.length = 0
  t.equal((await open(app, 'pl_unknown')).statusCode, 404)
  t.same(reads, [])
})

t.test('control plane, DELETE /clients: the client is gone after a restart and on other servers', async t => {
  const log = createMemoryLog()
  const [one, two, three] = [serveLog(t, log), serveLog(t, log), serveLog(t, log)]
  const client = await connect(one.app)
  await client.post('/api/v1/payout-links', payoutLink())
  const other = resume(two.app, client.token)
  t.equal((await other.send('GET', '/api/v1/bills')).status, 200)
  t.match(await call(one.app, 'DELETE', '/_sandbox/clients/acme'), { status: 200, body: { removed: 1 } })
  t.same(await log.tenants(), [])
  t.match(await call(one.app, 'DELETE', '/_sandbox/clients/acme'), { status: 404 })
  t.match(await other.send('GET', '/api/v1/bills'), { status: 401, body: { code: 'INVALID_TOKEN' } })
  t.equal((await call(two.app, 'GET', '/_sandbox/state?client=acme')).status, 404)
  t.equal((await requestToken(three.app, { client_secret: 'another' })).status, 200, 'the id is free')
  for (const { app } of [one, two, three]) {
    t.equal((await resume(app, client.token).send('GET', '/api/v1/bills')).status, 401, 'old tokens stay invalid')
    t.same(JSON.parse(await stateOf(app)).payoutLinks, [])
  }
  t.same(await operationsOf({ log }), ['begin'])
})

t.test('control plane, POST /credentials/verify: registers a client in the database', async t => {
  const first = await start(t, t.testdir())
  const verify = (app: typeof first.app, client_secret: string) =>
    app.inject({ method: 'POST', url: '/_sandbox/credentials/verify', payload: { client_id: 'new', client_secret } })
  t.equal((await verify(first.app, 'secret')).statusCode, 200)
  const { app } = await restart(t, first)
  t.equal((await verify(app, 'wrong')).statusCode, 401)
  t.equal((await verify(app, 'secret')).statusCode, 200)
})

t.test('SANDBOX_MAX_TENANTS: pages of tenants that make room for each other are found', async t => {
  const { app } = serveLog(t, createMemoryLog(), { maxTenants: 1 })
  const links: { id: string; clientId: string }[] = []
  for (const clientId of ['one', 'two', 'three', 'four']) {
    const client = await connect(app, clientId)
    links.push({ id: (await client.post('/api/v1/payout-links', payoutLink())).body.payoutLinkId, clientId })
  }
  const rounds = Array.from({ length: 10 }, () => links).flat()
  const pages = await Promise.all(rounds.map(({ id }) => open(app, id)))
  t.same(new Set(pages.map(({ statusCode }) => statusCode)), new Set([200]))
  const claims = await Promise.all(links.map(({ id }) => claim(app, id, FORMS['SEPA-CT']?.form ?? {})))
  t.same(new Set(claims.map(({ statusCode }) => statusCode)), new Set([303]))
  for (const { id, clientId } of links) {
    const { status } = (await call(app, 'GET', `/_sandbox/payout-links/${id}?client=${clientId}`)).body.record
    t.not(status, 'ACTIVE', clientId)
  }
})

t.test('control plane, POST /fork: pages of the copied links are found after the origin is removed', async t => {
  const log = createMemoryLog()
  const [one, two] = [serveLog(t, log), serveLog(t, log)]
  const client = await connect(one.app)
  const { payoutLinkId } = (await client.post('/api/v1/payout-links', payoutLink())).body
  t.equal((await client.control('POST', '/fork', { clientId: 'copy' })).status, 201)
  t.same(await log.clientsOfLink(payoutLinkId), ['acme', 'copy'])
  t.equal((await call(one.app, 'DELETE', '/_sandbox/clients/acme')).status, 200)
  t.equal((await open(two.app, payoutLinkId)).statusCode, 200)
})

t.test('control plane, POST /fork: the id of a client that another server has removed is free', async t => {
  const log = createMemoryLog()
  const [one, two] = [serveLog(t, log), serveLog(t, log)]
  const client = await connect(one.app)
  await connect(one.app, 'target')
  t.equal((await call(two.app, 'DELETE', '/_sandbox/clients/target')).status, 200)
  t.equal((await client.control('POST', '/fork', { clientId: 'target' })).status, 201)
})

t.test('control plane, GET /clients: leaves out a client that is removed meanwhile', async t => {
  const wrap = (log: TenantLog): TenantLog => ({ ...log, tenants: async () => ['gone', ...(await log.tenants())] })
  const { app } = serveLog(t, createMemoryLog(), { wrap })
  await connect(app)
  for (const path of ['/_sandbox', '/_sandbox/clients']) t.equal((await call(app, 'GET', path)).status, 200, path)
  const { data } = (await call(app, 'GET', '/_sandbox/clients')).body
  t.same(data.map(({ clientId }: { clientId: string }) => clientId).sort(), ['acme', 'sandbox-client'])
})
