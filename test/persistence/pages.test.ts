import t from 'tap'
import { claim, FORMS, open, stateOf as statusOf, tokenOf } from '../areas/pages.js'
import { connect, payoutLink } from '../helper.js'
import { createMemoryLog, operationsOf, restart, serveLog, start, stateOf } from './helper.js'

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

t.test('control plane, DELETE /clients: a client of a database is reset', async t => {
  const first = await start(t, t.testdir())
  const client = await connect(first.app)
  await client.post('/api/v1/payout-links', payoutLink())
  const answer = await first.app.inject({ method: 'DELETE', url: `/_sandbox/clients/${client.clientId}` })
  t.same([answer.statusCode, answer.json()], [200, { removed: 0 }])
  const { app } = await restart(t, first)
  t.same(JSON.parse(await stateOf(app)).payoutLinks, [])
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
