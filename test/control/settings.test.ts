import t, { type Test } from 'tap'
import type { Answer, Client } from '../helper.js'
import { build, call, collection, connect, mandate, payoutLink } from '../helper.js'

function refused(t: Test, answer: Answer, status: number, code: string, field: string | null) {
  t.same([answer.status, answer.body.code, answer.body.field], [status, code, field], answer.body.message)
  t.same(Object.keys(answer.body), ['code', 'field', 'message'])
}

const set = (client: Client, settings: unknown) => client.control('PUT', '/settings', settings)
const embed = (client: Client, origin: string) =>
  client.post('/api/v1/payout-links', payoutLink({ uiMode: 'embedded', origin }))

t.test('control plane, PUT /settings: mandateActivation manual holds new mandates PENDING', async t => {
  const client = await connect(build(t))
  const answer = await set(client, { mandateActivation: 'manual' })
  t.equal(answer.status, 200)
  t.match(answer.body, { mandateActivation: 'manual' }, 'and answers what it did')
  t.equal((await client.post('/api/v1/mandates', mandate())).body.status, 'PENDING')
  refused(t, await client.post('/api/v1/direct-debit', collection()), 409, 'MANDATE_NOT_ACTIVE', 'mandateReference')
  refused(t, await client.delete('/api/v1/mandates/MND-0001'), 409, 'MANDATE_NOT_ACTIVE', 'mandateReference')

  t.equal((await client.control('POST', '/mandates/MND-0001/activate')).body.record.status, 'ACTIVE')
  t.equal((await client.post('/api/v1/direct-debit', collection())).status, 201)
})

t.test('control plane, PUT /settings: mandateActivation automatic again', async t => {
  const client = await connect(build(t))
  await set(client, { mandateActivation: 'manual' })
  await client.post('/api/v1/mandates', mandate())
  t.match((await set(client, { mandateActivation: 'automatic' })).body, { mandateActivation: 'automatic' })
  t.equal((await client.post('/api/v1/mandates', mandate({ mandateReference: 'MND-0002' }))).body.status, 'ACTIVE')
  t.equal((await client.get('/api/v1/mandates/MND-0001')).body.status, 'PENDING', 'what is held stays held')
})

t.test('control plane, PUT /settings: a mandate that is held does not expire', async t => {
  const client = await connect(build(t))
  await set(client, { mandateActivation: 'manual' })
  await client.post('/api/v1/mandates', mandate())
  t.same((await client.control('GET', '/mandates/MND-0001')).body.next, null)
})

t.test('control plane, PUT /settings: allowedOrigins says where links may be embedded', async t => {
  const client = await connect(build(t))
  refused(t, await embed(client, 'https://shop.example'), 403, 'ORIGIN_NOT_ALLOWED', 'origin')
  const origins = ['https://shop.example', 'http://localhost:3000']
  const answer = await set(client, { allowedOrigins: origins })
  t.equal(answer.status, 200)
  t.same(answer.body.allowedOrigins, origins)
  for (const origin of origins) t.equal((await embed(client, origin)).status, 201, origin)
  refused(t, await embed(client, 'https://shop.example:8443'), 403, 'ORIGIN_NOT_ALLOWED', 'origin')
  refused(t, await embed(client, 'http://shop.example'), 403, 'ORIGIN_NOT_ALLOWED', 'origin')

  await set(client, { allowedOrigins: ['https://other.example'] })
  refused(t, await embed(client, 'https://shop.example'), 403, 'ORIGIN_NOT_ALLOWED', 'origin')
  await set(client, { allowedOrigins: [] })
  refused(t, await embed(client, 'https://other.example'), 403, 'ORIGIN_NOT_ALLOWED', 'origin')
})

t.test('control plane, PUT /settings: what is left out stays as it is', async t => {
  const client = await connect(build(t))
  await set(client, { mandateActivation: 'manual' })
  const answer = await set(client, { allowedOrigins: ['https://shop.example'] })
  t.match(answer.body, { mandateActivation: 'manual', allowedOrigins: ['https://shop.example'] })
  await set(client, { mandateActivation: 'automatic' })
  t.equal((await embed(client, 'https://shop.example')).status, 201)
})

t.test('control plane, PUT /settings: settings are those of one tenant', async t => {
  const app = build(t)
  const [acme, other] = [await connect(app, 'acme'), await connect(app, 'other')]
  await set(acme, { mandateActivation: 'manual', allowedOrigins: ['https://shop.example'] })
  t.equal((await other.post('/api/v1/mandates', mandate())).body.status, 'ACTIVE')
  t.equal((await embed(other, 'https://shop.example')).status, 403)
})

t.test('control plane, PUT /settings: wrong values are refused, and none of the others is taken', async t => {
  const client = await connect(build(t))
  for (const mandateActivation of ['MANUAL', '', 'off', true, null]) {
    const answer = await set(client, { mandateActivation, allowedOrigins: ['https://shop.example'] })
    refused(t, answer, 400, 'INVALID_FIELD', 'mandateActivation')
  }
  const wrong: [unknown, string][] = [
    ['https://shop.example', 'allowedOrigins'],
    [{}, 'allowedOrigins'],
    [['https://shop.example', 'shop.example'], 'allowedOrigins.1'],
    [['https://shop.example/path'], 'allowedOrigins.0'],
    [['https://user@shop.example'], 'allowedOrigins.0'],
    [['ftp://shop.example'], 'allowedOrigins.0'],
    [['https://shop.example?'], 'allowedOrigins.0'],
    [['*'], 'allowedOrigins.0'],
    [[1], 'allowedOrigins.0'],
    [[null], 'allowedOrigins.0'],
    [['https://shop.example:99999'], 'allowedOrigins.0'],
  ]
  for (const [allowedOrigins, field] of wrong)
    refused(t, await set(client, { mandateActivation: 'manual', allowedOrigins }), 400, 'INVALID_FIELD', field)
  refused(t, await set(client, '{'), 400, 'MALFORMED_REQUEST', null)

  t.equal((await client.post('/api/v1/mandates', mandate())).body.status, 'ACTIVE')
  t.equal((await embed(client, 'https://shop.example')).status, 403)
})

t.test('control plane, PUT /settings: answers all of them, as they are from the start', async t => {
  const client = await connect(build(t))
  const start = { mandateActivation: 'automatic', deprecationStyle: 'seed', allowedOrigins: [] }
  for (const nothing of [{}, undefined]) {
    const answer = await set(client, nothing)
    t.same([answer.status, answer.body], [200, start])
  }
  t.same((await set(client, { deprecationStyle: 'rfc' })).body, { ...start, deprecationStyle: 'rfc' })
  t.same((await set(client, { deprecationStyle: 'rfc' })).body, { ...start, deprecationStyle: 'rfc' })
})

t.test('control plane, PUT /settings: a client has the origins of its entry from the start', async t => {
  const allowedOrigins = ['https://shop.example']
  const app = build(t, { clients: [{ clientId: 'acme', clientSecret: 'secret', allowedOrigins }] })
  const client = await connect(app)
  t.same((await set(client, {})).body.allowedOrigins, allowedOrigins)
  await set(client, { allowedOrigins: [] })
  await client.control('POST', '/reset')
  t.same((await set(client, {})).body.allowedOrigins, allowedOrigins)
})

t.test(
  'control plane, PUT /settings: a wrong deprecationStyle is refused, and none of the others is taken',
  async t => {
    const client = await connect(build(t))
    await set(client, { deprecationStyle: 'rfc' })
    for (const deprecationStyle of ['RFC', 'Seed', '', 'rfc9745', true, null, 9745, ['rfc']]) {
      const answer = await set(client, { mandateActivation: 'manual', deprecationStyle })
      refused(t, answer, 400, 'INVALID_FIELD', 'deprecationStyle')
    }
    t.match((await set(client, {})).body, { mandateActivation: 'automatic', deprecationStyle: 'rfc' })
  },
)

t.test('control plane, PUT /settings: up to 100 origins of up to 300 characters', async t => {
  const client = await connect(build(t))
  const origins = (count: number) => Array.from({ length: count }, (_, at) => `https://shop-${at}.example`)
  t.equal((await set(client, { allowedOrigins: origins(100) })).body.allowedOrigins.length, 100)
  refused(t, await set(client, { allowedOrigins: origins(101) }), 400, 'INVALID_FIELD', 'allowedOrigins')
  refused(t, await set(client, { allowedOrigins: null }), 400, 'INVALID_FIELD', 'allowedOrigins')
  const long = `https://${'a.'.repeat(150)}example`
  refused(t, await set(client, { allowedOrigins: [long] }), 400, 'INVALID_FIELD', 'allowedOrigins.0')
  t.equal((await set(client, {})).body.allowedOrigins.length, 100)
})

t.test('control plane, PUT /settings: members of no meaning are left out, and hinted at', async t => {
  const client = await connect(build(t))
  const answer = await set(client, { mandateActivation: 'manual', theme: 'dark' })
  t.same(Object.keys(answer.body).sort(), ['allowedOrigins', 'deprecationStyle', 'mandateActivation'])
  t.match(answer.headers['sandbox-hint'], 'theme')
  t.notOk('theme' in (await client.control('GET', '/state')).body.settings)
})

t.test('control plane, PUT /settings: an unknown tenant, a body that is none', async t => {
  const client = await connect(build(t))
  const unknown = await call(client.app, 'PUT', '/_sandbox/settings?client=nobody', { body: {} })
  refused(t, unknown, 404, 'CLIENT_NOT_FOUND', 'client')
  refused(t, await set(client, []), 400, 'INVALID_FIELD', null)
  refused(t, await set(client, 'null'), 400, 'INVALID_FIELD', null)
})

t.test('control plane, fork, state, reset: settings go along, come back, and go', async t => {
  const app = build(t)
  const client = await connect(app, 'origin')
  const all = { mandateActivation: 'manual', deprecationStyle: 'rfc', allowedOrigins: ['https://shop.example'] }
  await set(client, all)
  await client.control('POST', '/fork', { clientId: 'copy' })
  const copy = await connect(app, 'copy')
  t.same((await set(copy, {})).body, all)
  await set(copy, { allowedOrigins: [] })
  t.same((await set(client, {})).body, all, 'the origin keeps its own')

  const { body: state } = await client.control('GET', '/state')
  t.same(state.settings, all)
  await client.control('POST', '/reset')
  const start = { mandateActivation: 'automatic', deprecationStyle: 'seed', allowedOrigins: [] }
  t.same((await set(client, {})).body, start)
  t.equal((await client.control('PUT', '/state', state)).status, 200)
  t.same((await set(client, {})).body, all)
})
