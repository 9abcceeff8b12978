import t from 'tap'
import type { Client } from '../helper.js'
import { build, call, connect, MONDAY, mandate, requestToken } from '../helper.js'
import { refused } from '../http/raw.js'

const MANDATES = '/api/v1/mandates'

const expire = (client: Client) => client.control('POST', '/tokens/expire')
const issue = async ({ app, clientId }: Client): Promise<string> =>
  (await requestToken(app, { client_id: clientId })).body.access_token

/** What a token gets for its holder. */
const use = (client: Client, token: string) => client.get(MANDATES, { headers: { authorization: `Bearer ${token}` } })

t.test('control plane, POST /tokens/expire: every token of the tenant is EXPIRED_TOKEN from now on', async t => {
  const client = await connect(build(t))
  const tokens = [client.token, await issue(client), await issue(client)]
  for (const token of tokens) t.equal((await use(client, token)).status, 200)
  const answer = await expire(client)
  t.same([answer.status, answer.body], [200, { clientId: 'acme', now: MONDAY }])
  for (const token of tokens) {
    const refusal = await use(client, token)
    refused(t, refusal, 401, 'EXPIRED_TOKEN', 'authorization')
    t.equal(refusal.headers['www-authenticate'], 'Bearer realm="payments-sandbox", error="invalid_token"')
  }
})

t.test('control plane, POST /tokens/expire: what is issued later works, in the same second, too', async t => {
  const client = await connect(build(t))
  await expire(client)
  const fresh = await issue(client)
  t.equal((await use(client, fresh)).status, 200)
  t.equal((await use(client, await issue(client))).status, 200)
  refused(t, await use(client, client.token), 401, 'EXPIRED_TOKEN', 'authorization')
  await expire(client)
  refused(t, await use(client, fresh), 401, 'EXPIRED_TOKEN', 'authorization', 'until it is asked for again')
  t.equal((await use(client, await issue(client))).status, 200)
})

t.test('control plane, POST /tokens/expire: neither the clock nor the records change', async t => {
  const client = await connect(build(t))
  await client.post(MANDATES, mandate())
  const before = (await client.control('GET', '/state')).body
  await expire(client)
  const { tokens, ...after } = (await client.control('GET', '/state')).body
  t.same({ ...after, tokens: before.tokens }, before)
  t.notSame(tokens, before.tokens)
})

t.test('decisions §3: tokens of other tenants are untouched', async t => {
  const app = build(t)
  const [acme, other] = [await connect(app, 'acme'), await connect(app, 'other')]
  await issue(other)
  await expire(acme)
  t.equal((await other.get(MANDATES)).status, 200)
  t.equal((await acme.get(MANDATES)).status, 401)
})

t.test('control plane, POST /tokens/expire: a tenant that has issued none yet', async t => {
  const app = build(t)
  t.equal((await call(app, 'POST', '/_sandbox/tokens/expire')).status, 200)
  const demo = await requestToken(app, { client_id: 'sandbox-client', client_secret: 'sandbox-secret' })
  const headers = { authorization: `Bearer ${demo.body.access_token}` }
  t.equal((await call(app, 'GET', MANDATES, { region: 'EU', headers })).status, 200)
})

t.test('control plane, POST /tokens/expire: an unknown tenant, a body that is none', async t => {
  const client = await connect(build(t))
  const unknown = await call(client.app, 'POST', '/_sandbox/tokens/expire?client=nobody')
  refused(t, unknown, 404, 'CLIENT_NOT_FOUND', 'client')
  refused(t, await client.control('POST', '/tokens/expire', '{'), 400, 'MALFORMED_REQUEST', null)
  refused(t, await client.control('POST', '/tokens/expire', '[]'), 400, 'INVALID_FIELD', null)
  t.equal((await client.get(MANDATES)).status, 200, 'a refusal expires nothing')
  const hinted = await client.control('POST', '/tokens/expire', { token: 'x' })
  t.equal(hinted.status, 200)
  t.match(hinted.headers['sandbox-hint'], 'token')
})

t.test('control plane, PUT /state: what was expired stays so, what was issued since works', async t => {
  const client = await connect(build(t))
  await expire(client)
  const fresh = await issue(client)
  const { body: state } = await client.control('GET', '/state')
  t.equal((await client.control('PUT', '/state', state)).status, 200)
  refused(t, await use(client, client.token), 401, 'EXPIRED_TOKEN', 'authorization')
  t.equal((await use(client, fresh)).status, 200)
  t.equal((await use(client, await issue(client))).status, 200)
})

t.test('control plane, PUT /state: a state from before has the tokens of before', async t => {
  const client = await connect(build(t))
  const { body: state } = await client.control('GET', '/state')
  await expire(client)
  t.equal((await client.get(MANDATES)).status, 401)
  await client.control('PUT', '/state', state)
  t.equal((await client.get(MANDATES)).status, 200)
})

t.test('control plane, POST /fork: the fork expires its own tokens alone', async t => {
  const app = build(t)
  const origin = await connect(app, 'origin')
  await origin.control('POST', '/fork', { clientId: 'copy' })
  const copy = await connect(app, 'copy')
  await expire(copy)
  t.equal((await origin.get(MANDATES)).status, 200)
  t.equal((await copy.get(MANDATES)).status, 401)
  t.equal((await use(copy, await issue(copy))).status, 200)
})

t.test('control plane, POST /reset: what was expired is not known any more', async t => {
  const client = await connect(build(t))
  await expire(client)
  await client.control('POST', '/reset')
  refused(t, await use(client, client.token), 401, 'INVALID_TOKEN', 'authorization')
  t.equal((await use(client, await issue(client))).status, 200)
})
