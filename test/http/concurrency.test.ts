import type { Test } from 'tap'
import t from 'tap'
import { gist } from '../answers.js'
import type { BuildOptions, Client } from '../helper.js'
import { bill, build, collection, connect, MONDAY, mandate } from '../helper.js'
import { until } from '../manual-time.js'
import { playRounds } from '../parallel-jobs.js'
import { PUBLIC_URL } from '../server-process.js'
import { type Connection, headersOf, listen, open, type RawAnswer, request } from './raw.js'

// decisions §2: DUPLICATE_REFERENCE 409: the caller's reference is taken, whatever the body.

const racer = (at: number) => ({ ...mandate().debtor, name: `Racer ${at}` })
const shared = build(t)
const port = await listen(shared)

/** Ends the record of each kind, which keeps its reference. */
const ends = {
  mandateReference: ({ delete: remove }: Client) => remove('/api/v1/mandates/MND-0001'),
  collectionReference: ({ control }: Client) => control('POST', '/direct-debit/COL-0001/cancel'),
  uniqueReferenceIdentifier: ({ patch }: Client) => patch('/api/v1/bills/INV-2026-001', { status: 'CANCELLED' }),
}

for (const [url, field, bodyOf] of [
  ['/api/v1/mandates', 'mandateReference', (at: number) => mandate({ debtor: racer(at) })],
  ['/api/v1/direct-debit', 'collectionReference', (at: number) => collection({ amount: `${at + 1}.00` })],
  ['/api/v1/bills', 'uniqueReferenceIdentifier', (at: number) => bill({ totalAmount: `${at + 1}.00` })],
] as const) {
  t.test(`decisions §2: of 20 simultaneous POST ${url} with one reference one is 201, 19 are 409`, async t => {
    const client = await connect(shared, `client-of-${field}`)
    if (url.endsWith('direct-debit')) await client.post('/api/v1/mandates', mandate())
    const headers = headersOf(client)
    const connections = await Promise.all(Array.from({ length: 20 }, () => open(port)))
    const send = (connection: Connection, at: number) => {
      connection.send(request(`POST ${url}`, headers, JSON.stringify(bodyOf(at))))
      return connection.read() as Promise<RawAnswer>
    }
    const answers = await Promise.all(connections.map(send))
    for (const connection of connections) connection.end()

    const refusals = Array(19).fill(`409 DUPLICATE_REFERENCE ${field}`)
    t.same(answers.map(gist).sort(), ['201', ...refusals])
    const [winner] = answers.filter(({ status }) => status === 201)
    const { totalCount, data } = (await client.get(url)).body
    t.same([totalCount, data[0][field]], [1, winner?.body[field]])
    t.same((await client.get(`${url}/${data[0][field]}`)).body, winner?.body, 'what is stored is what was answered')
    const lower = { ...bodyOf(1), [field]: data[0][field].toLowerCase() }
    t.equal(gist(await client.post(url, lower)), '201', 'case counts')
    t.equal((await ends[field](client)).status, 200)
    t.equal(gist(await client.post(url, bodyOf(1))), `409 DUPLICATE_REFERENCE ${field}`, 'also of one that has ended')
  })
}

t.test('decisions §1: 20 simultaneous first requests of a fresh server are all answered', async t => {
  const app = build(t)
  const { token } = await connect(app)
  const port = await listen(app)
  const connections = await Promise.all(Array.from({ length: 20 }, () => open(port)))
  const answers = await Promise.all(
    connections.map((connection, at) => {
      connection.send(request(`GET ${at < 10 ? '/api/v1/mandates' : '/api/v1/bills/UNKNOWN'}`, headersOf({ token })))
      return connection.read()
    }),
  )
  for (const connection of connections) connection.end()
  const statuses = answers.map(answer => answer?.status)
  t.same(statuses, [...Array(10).fill(200), ...Array(10).fill(404)])
})

/** A server on which the body of a request can arrive late. */
async function prepare(t: Test, options: BuildOptions = {}) {
  const app = build(t, options)
  let hasArrived = false
  app.addHook('preParsing', ({ url }, _reply, _payload, next) => {
    hasArrived ||= url.startsWith('/api/v1/mandates')
    next()
  })
  const client = await connect(app)
  const port = await listen(app)
  return {
    client,
    /** Sends a new mandate without the end of its body, and waits until it is authenticated. The result sends the rest. */
    async begin(changes: object = {}) {
      const whole = request('POST /api/v1/mandates', headersOf(client), JSON.stringify(mandate(changes)))
      const connection = await open(port)
      hasArrived = false
      connection.send(whole.slice(0, -9))
      await until(() => hasArrived)
      return async () => {
        connection.send(whole.slice(-9))
        const answer = await connection.read()
        connection.destroy()
        return answer as RawAnswer
      }
    },
  }
}

// test/databases/parallel-jobs.test.ts has the long form.
t.test('control plane, POST /reset: a request whose body arrives during it has an invalid token', async t => {
  const { client, begin } = await prepare(t)
  const end = await begin()
  t.equal((await client.control('POST', '/reset')).status, 200)
  t.match(await end(), { status: 401, body: { code: 'INVALID_TOKEN' } })
  t.equal((await (await connect(client.app)).get('/api/v1/mandates/MND-0001')).status, 404)
})

t.test('control plane, PUT /state: a request whose body arrives during it changes the new state', async t => {
  const { client, begin } = await prepare(t)
  const end = await begin()
  t.equal((await client.control('PUT', '/state', (await client.control('GET', '/state')).body)).status, 200)
  t.equal((await end()).status, 201)
  t.equal((await client.get('/api/v1/mandates/MND-0001')).status, 200)
})

t.test('decisions §2: a request takes effect when its body is complete, in that order and at that time', async t => {
  let now = Date.parse(MONDAY)
  const { begin } = await prepare(t, { clock: 'real', now: () => now })
  const first = await begin()
  const second = await begin({ type: 'ONE_OFF' })
  now += 90_500
  t.match(await second(), { status: 201, body: { createdAt: '2026-11-02T09:01:30Z' } })
  t.equal(gist(await first()), '409 DUPLICATE_REFERENCE mandateReference')
})

t.test('control plane, Run 16 CI jobs against one container: two rounds of the same journey', async t => {
  await playRounds(t, 1, async () => {
    const app = build(t, { publicUrl: () => PUBLIC_URL })
    return { url: `http://127.0.0.1:${await listen(app)}` }
  })
})
