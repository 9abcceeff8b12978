import t from 'tap'
import { refused } from '../answers.js'
import { bill, build, collection, connect, mandate } from '../helper.js'
import { until } from '../manual-time.js'
import { playRounds } from '../parallel-jobs.js'
import { PUBLIC_URL } from '../server-process.js'
import { type Connection, listen, open, type RawAnswer, request } from './raw.js'

// decisions §2: DUPLICATE_REFERENCE 409: the caller's reference is taken, whatever the body.

for (const { url, field, bodyOf } of [
  {
    url: '/api/v1/mandates',
    field: 'mandateReference',
    bodyOf: (at: number) =>
      mandate({ mandateReference: 'MND-RACE', debtor: { ...mandate().debtor, name: `Racer ${at}` } }),
  },
  {
    url: '/api/v1/direct-debit',
    field: 'collectionReference',
    bodyOf: (at: number) => collection({ collectionReference: 'COL-RACE', amount: `${at + 1}.00` }),
  },
  {
    url: '/api/v1/bills',
    field: 'uniqueReferenceIdentifier',
    bodyOf: (at: number) => bill({ uniqueReferenceIdentifier: 'INV-RACE', totalAmount: `${at + 1}.00` }),
  },
]) {
  t.test(`decisions §2: of 20 simultaneous POST ${url} with one reference one is 201, 19 are 409`, async t => {
    const app = build(t)
    const client = await connect(app)
    await client.post('/api/v1/mandates', mandate())
    const countBefore = (await client.get(url)).body.totalCount
    const port = await listen(app)
    const headers = { authorization: `Bearer ${client.token}`, 'x-region': 'EU', 'content-type': 'application/json' }
    const connections = await Promise.all(Array.from({ length: 20 }, () => open(port)))
    const send = (connection: Connection, at: number) => {
      connection.send(request(`POST ${url}`, headers, JSON.stringify(bodyOf(at))))
      return connection.read() as Promise<RawAnswer>
    }
    const answers = await Promise.all(connections.map(send))
    for (const connection of connections) connection.end()

    const created = answers.filter(({ status }) => status === 201)
    t.equal(created.length, 1)
    const others = answers.filter(({ status }) => status !== 201)
    t.equal(others.length, 19)
    for (const answer of others) refused(t, answer, 409, 'DUPLICATE_REFERENCE', field)
    const list = (await client.get(url)).body
    t.equal(list.totalCount, countBefore + 1)
    const [winner] = created
    t.same(
      (await client.get(`${url}/${winner?.body[field]}`)).body,
      winner?.body,
      'what is stored is what was answered',
    )
  })
}

t.test('decisions §1: 20 simultaneous first requests of a fresh server are all answered', async t => {
  const app = build(t)
  const { token } = await connect(app)
  const port = await listen(app)
  const connections = await Promise.all(Array.from({ length: 20 }, () => open(port)))
  const answers = await Promise.all(
    connections.map((connection, at) => {
      const url = at % 2 === 0 ? '/api/v1/mandates' : '/api/v1/bills/UNKNOWN'
      connection.send(request(`GET ${url}`, { authorization: `Bearer ${token}`, 'x-region': 'EU' }))
      return connection.read()
    }),
  )
  for (const connection of connections) connection.end()
  t.same(
    answers.map(answer => answer?.status),
    Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? 200 : 404)),
  )
})

// test/databases/parallel-jobs.test.ts has the long form.
t.test('control plane, POST /reset: a request whose body arrives during it has an invalid token', async t => {
  const app = build(t)
  let hasArrived = false
  app.addHook('preParsing', ({ method }, _reply, _payload, next) => {
    hasArrived ||= method === 'POST'
    next()
  })
  const client = await connect(app)
  const body = JSON.stringify(mandate())
  const headers = { authorization: `Bearer ${client.token}`, 'x-region': 'EU', 'content-type': 'application/json' }
  const whole = request('POST /api/v1/mandates', headers, body)
  const connection = await open(await listen(app))
  hasArrived = false
  connection.send(whole.slice(0, -9))
  await until(() => hasArrived)
  t.equal((await client.control('POST', '/reset')).status, 200)
  connection.send(whole.slice(-9))
  t.match(await connection.read(), { status: 401, body: { code: 'INVALID_TOKEN' } })
  connection.destroy()
  t.equal((await (await connect(app)).get('/api/v1/mandates/MND-0001')).status, 404)
})

t.test('control plane, Run 16 CI jobs against one container: two rounds of the same journey', async t => {
  await playRounds(t, 1, async () => {
    const app = build(t, { publicUrl: () => PUBLIC_URL })
    return { url: `http://127.0.0.1:${await listen(app)}` }
  })
})
