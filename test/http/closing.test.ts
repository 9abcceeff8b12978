import t from 'tap'
import { refused } from '../answers.js'
import { build, connect } from '../helper.js'
import { LIVE, listen, open, request, stillServes } from './raw.js'

/**
 * A server that closes while connections have a half-sent request on them, which keeps them open. `halfSent` sends a
 * whole request and the first half of another at once: when the first is answered, the half has arrived.
 */
async function prepare(t: Parameters<typeof build>[0]) {
  const app = build(t)
  let hasBegun = () => {}
  const begun = new Promise<void>(resolve => {
    hasBegun = resolve
  })
  app.addHook('preClose', done => {
    hasBegun()
    done()
  })
  const client = await connect(app)
  const port = await listen(app)
  return {
    client,
    port,
    async halfSent(first: string) {
      const connection = await open(port)
      connection.send(request(`GET ${LIVE}`) + first)
      await connection.read()
      return connection
    },
    /** Resolves when closing is under way; what it resolves with is the end of it. */
    async close() {
      const closed = app.close()
      await begun
      return { closed }
    },
  }
}

t.test(
  'decisions §2: while the server closes, a request on a connection that is kept is 503 in the envelope',
  async t => {
    const { client, halfSent, close } = await prepare(t)
    const kept = await halfSent('GET /api/v1/mandates HTTP/1.1\r\n')
    const { closed } = await close()
    kept.send(`authorization: Bearer ${client.token}\r\nx-region: EU\r\nhost: sandbox\r\n\r\n`)
    const answer = await kept.read()
    refused(t, answer, 503, 'SERVICE_UNAVAILABLE', null)
    t.equal(answer?.headers.connection, 'close')
    t.equal(await kept.read(), undefined, 'and the connection is closed')
    await closed
  },
)

t.test('control plane, GET /health/ready: while the server closes, it is alive still, but not ready', async t => {
  const { halfSent, close } = await prepare(t)
  const live = await halfSent(`GET ${LIVE} HTTP/1.1\r\n`)
  const query = await halfSent(`GET ${LIVE}?client=acme HTTP/1.1\r\n`)
  const ready = await halfSent('GET /_sandbox/health/ready HTTP/1.1\r\n')
  const { closed } = await close()
  for (const connection of [live, query, ready]) connection.send('host: sandbox\r\n\r\n')
  const answer = await live.read()
  t.same([answer?.status, answer?.body], [200, { status: 'ok' }])
  t.equal((await query.read())?.status, 200)
  refused(t, await ready.read(), 503, 'SERVICE_UNAVAILABLE', null)
  await closed
})

t.test('settings, Settings: what is in flight when the server begins to close is finished', async t => {
  const app = build(t)
  let answerNow = () => {}
  let hasArrived = () => {}
  const allowed = new Promise<void>(resolve => {
    answerNow = resolve
  })
  const arrived = new Promise<void>(resolve => {
    hasArrived = resolve
  })
  app.get('/slow', async () => {
    hasArrived()
    await allowed
    return { slow: true }
  })
  app.addHook('preClose', done => {
    answerNow()
    done()
  })
  const connection = await open(await listen(app))
  connection.send(request('GET /slow'))
  await arrived
  const closed = app.close()
  const answer = await connection.read()
  t.same([answer?.status, answer?.body, answer?.headers.connection], [200, { slow: true }, 'close'])
  t.equal(await connection.read(), undefined, 'the server ends the connection')
  await closed
})

t.test('settings, Settings: an idle connection does not keep the server from closing', async t => {
  const app = build(t)
  const port = await listen(app)
  const idle = await open(port)
  idle.send(request(`GET ${LIVE}`))
  t.equal((await idle.read())?.status, 200)
  await app.close()
  t.equal(await idle.read(), undefined)
})

t.test('settings, Settings: a connection on which nothing has come does not hold up the end', async t => {
  const app = build(t)
  const connection = await open(await listen(app))
  await stillServes(t, (app.server.address() as { port: number }).port)
  await app.close()
  t.equal(await connection.read(), undefined, 'it is closed')
})
