import t, { type Test } from 'tap'
import type { Fixtures } from '../../src/fixtures.js'
import type { Answer } from '../helper.js'
import { build, call, collection, connect, MONDAY, mandate, payoutLink, requestToken } from '../helper.js'

function refused(t: Test, answer: Answer, status: number, code: string, field: string | null) {
  t.same([answer.status, answer.body.code, answer.body.field], [status, code, field], answer.body.message)
  t.same(Object.keys(answer.body), ['code', 'field', 'message'])
}

const fixtures: Fixtures = new Map([
  ['demo', { mandates: [mandate({ mandateReference: 'MND-DEMO', createdAt: '{{now-P3D}}' })] }],
  ['empty', {}],
])

t.test('control plane, POST /reset: the records are those of the fixture again', async t => {
  const app = build(t, { fixtures })
  const demo = await connect(app, 'acme')
  await demo.post('/api/v1/mandates', mandate())
  const answer = await demo.control('POST', '/reset')
  t.equal(answer.status, 200)
  t.match(answer.body, { clientId: 'acme', fixture: 'empty' }, 'and the answer says what was done')
  t.same((await demo.control('GET', '/mandates/MND-0001')).status, 404)

  await call(app, 'POST', '/_sandbox/mandates/MND-DEMO/cancel')
  await call(app, 'POST', '/_sandbox/seed', { body: { records: { mandates: [mandate()] } } })
  t.match((await call(app, 'POST', '/_sandbox/reset')).body, { clientId: 'sandbox-client', fixture: 'demo' })
  const { body } = await call(app, 'GET', '/_sandbox/mandates/MND-DEMO')
  t.match(body.record, { status: 'ACTIVE', createdAt: '2026-10-30T09:00:00Z' })
  t.equal(body.timeline.length, 1)
  t.equal((await call(app, 'GET', '/_sandbox/mandates/MND-0001')).status, 404)
})

t.test('control plane, POST /reset: the clock is where it started, as it started', async t => {
  const client = await connect(build(t))
  await client.control('POST', '/clock/advance', { by: 'P40D' })
  await client.control('PATCH', '/clock', { mode: 'running', rate: 60 })
  await client.control('POST', '/reset')
  t.same((await client.control('GET', '/clock')).body, { now: MONDAY, mode: 'frozen', rate: 1 })
})

t.test('control plane, POST /reset: a running clock is at the real time again', async t => {
  let real = Date.parse(MONDAY)
  const client = await connect(build(t, { clock: 'real', now: () => real }))
  await client.control('POST', '/clock/advance', { by: 'P40D' })
  await client.control('PATCH', '/clock', { mode: 'frozen' })
  real += 60_000
  await client.control('POST', '/reset')
  t.same((await client.control('GET', '/clock')).body, { now: '2026-11-02T09:01:00Z', mode: 'running', rate: 1 })
})

t.test('control plane, POST /reset: ids begin anew, so that the same calls get the same answers', async t => {
  const client = await connect(build(t))
  const story = async () => {
    const token = (await requestToken(client.app, { client_id: client.clientId })).body
    const headers = { authorization: `Bearer ${token.access_token}`, 'x-request-id': 'same' }
    const post = (url: string, body: object) => client.post(url, body, { headers })
    const answers = [
      await post('/api/v1/payout-links', payoutLink()),
      await post('/api/v1/payout-links', payoutLink()),
      await post('/api/v1/mandates', mandate()),
      await post('/api/v1/direct-debit', collection()),
    ]
    return JSON.stringify(answers.map(({ status, body }) => [status, body]))
  }
  await client.control('POST', '/reset')
  const before = await story()
  t.match(before, /"payoutLinkId"/)
  await client.control('POST', '/reset')
  t.equal(await story(), before)
})

t.test('control plane, POST /reset: events begin anew', async t => {
  const client = await connect(build(t))
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/mandates', mandate({ mandateReference: 'MND-0002' }))
  await client.control('POST', '/reset')
  await client.control('POST', '/seed', { records: { mandates: [mandate({ mandateReference: 'MND-0003' })] } })
  const { timeline } = (await client.control('GET', '/mandates/MND-0003')).body
  t.match(timeline, [{ seq: 1, reference: 'MND-0003' }])
})

t.test('control plane, POST /reset: settings are those of the start', async t => {
  const app = build(t, {
    clients: [{ clientId: 'acme', clientSecret: 'secret', allowedOrigins: ['https://shop.example'] }],
  })
  const before = await connect(app)
  await before.control('PUT', '/settings', { mandateActivation: 'manual', allowedOrigins: ['https://evil.example'] })
  await before.control('POST', '/reset')
  const client = await connect(app)
  t.equal((await client.post('/api/v1/mandates', mandate())).body.status, 'ACTIVE')
  const embed = (origin: string) => client.post('/api/v1/payout-links', payoutLink({ uiMode: 'embedded', origin }))
  t.equal((await embed('https://shop.example')).status, 201)
  refused(t, await embed('https://evil.example'), 403, 'ORIGIN_NOT_ALLOWED', 'origin')
})

t.test('control plane, POST /reset: planned transitions are gone', async t => {
  const client = await connect(build(t))
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/direct-debit', collection())
  await client.control('POST', '/reset')
  t.same((await client.control('POST', '/clock/advance', { by: 'P2000D' })).body.transitions, [])
})

t.test('control plane, POST /reset: tokens are not known any more', async t => {
  const client = await connect(build(t))
  t.equal((await client.get('/api/v1/mandates')).status, 200)
  await client.control('POST', '/reset')
  refused(t, await client.get('/api/v1/mandates'), 401, 'INVALID_TOKEN', 'authorization')
})

t.test('control plane, POST /reset: an old token is not known even when new ones have been issued', async t => {
  let real = Date.parse(MONDAY)
  const app = build(t, { clock: 'real', now: () => real })
  const client = await connect(app)
  const old = { authorization: `Bearer ${client.token}` }
  real += 60_000
  await client.control('POST', '/reset')
  const fresh = (await requestToken(app)).body.access_token
  t.not(fresh, client.token)
  t.equal((await client.get('/api/v1/mandates', { headers: { authorization: `Bearer ${fresh}` } })).status, 200)
  refused(t, await client.get('/api/v1/mandates', { headers: old }), 401, 'INVALID_TOKEN', 'authorization')
})

t.test('control plane, POST /reset: nothing of another tenant is touched', async t => {
  const app = build(t)
  const [acme, other] = [await connect(app, 'acme'), await connect(app, 'other')]
  await other.post('/api/v1/mandates', mandate())
  await other.control('POST', '/clock/advance', { by: 'PT1M' })
  await acme.control('POST', '/reset')
  t.equal((await other.get('/api/v1/mandates/MND-0001')).status, 200)
  t.equal((await other.control('GET', '/clock')).body.now, '2026-11-02T09:01:00Z')
})

t.test('decisions §3: the secret stays that of the registration', async t => {
  const app = build(t)
  await requestToken(app, { client_secret: 'first' })
  await call(app, 'POST', '/_sandbox/reset?client=acme')
  t.equal((await requestToken(app, { client_secret: 'other' })).body.code, 'INVALID_CLIENT')
  t.equal((await requestToken(app, { client_secret: 'first' })).status, 200)
})
