import t from 'tap'
import type { Client } from '../helper.js'
import { bill, build, call, collection, connect, mandate } from '../helper.js'
import { refused } from '../http/raw.js'

// control plane, POST /requests/verify: 200 {matched, count}; when it does not hold, also the three nearest misses and
// what differs.

const verify = async ({ control }: Client, expected: object) => {
  const { status, body } = await control('POST', '/requests/verify', expected)
  if (status !== 200) throw new Error(`${status} ${body.message}`)
  return body
}

/** A client whose log holds: 1 the token, 2 a mandate, 3-5 collections, 6 a list, 7 a miss, 8 a bill in the UK. */
async function story(t: Parameters<typeof build>[0]): Promise<Client> {
  const client = await connect(build(t))
  await client.post('/api/v1/mandates', mandate())
  for (const [collectionReference, amount] of [
    ['COL-0001', '10.50'],
    ['COL-0002', '20'],
  ])
    await client.post('/api/v1/direct-debit', collection({ collectionReference, amount }))
  await client.post('/api/v1/direct-debit', collection(), { headers: { 'Idempotency-Key': 'abc' } })
  await client.get('/api/v1/direct-debit?limit=5')
  await client.get('/api/v1/direct-debit/COL-9999')
  await client.post('/api/v1/bills', bill({ currency: 'GBP' }), { region: 'UK' })
  return client
}

// -------------------------------------------------------------------------------------------------------- what counts

t.test('control plane, POST /requests/verify: method, path, status, headers and body, alone and together', async t => {
  const client = await story(t)
  for (const [expected, count] of [
    [{}, 8],
    [{ method: 'POST' }, 6],
    [{ method: 'GET' }, 2],
    [{ method: 'DELETE' }, 0],
    [{ path: '/api/v1/direct-debit' }, 4],
    [{ path: '/api/v1/direct-debit?limit=5' }, 0],
    [{ path: '/api/v1/direct-debit/*' }, 1],
    [{ path: '/api/v1/*' }, 8],
    [{ path: '*' }, 8],
    [{ path: '*debit*' }, 5],
    [{ path: '/api/v1/DIRECT-DEBIT' }, 0],
    [{ status: 201 }, 4],
    [{ status: 409 }, 1],
    [{ status: 500 }, 0],
    [{ headers: { 'x-region': 'UK' } }, 1],
    [{ headers: { 'X-REGION': 'UK' } }, 1],
    [{ headers: { 'x-region': 'uk' } }, 0],
    [{ headers: { 'x-region': 'EU', 'idempotency-key': 'abc' } }, 1],
    [{ headers: { authorization: 'Bearer ***' } }, 7],
    [{ headers: { constructor: 'x' } }, 0],
    [{ headers: {} }, 8],
    [{ body: { amount: '10.50' } }, 2],
    [{ body: { amount: '10.5' } }, 0],
    [{ body: { amount: 10.5 } }, 0],
    [{ body: { debtor: { name: 'Jane Doe' } } }, 1],
    [{ body: { debtor: { name: 'Jane Doe', iban: 'DE00' } } }, 0],
    [{ body: { debtor: {} } }, 1],
    [{ body: { debtor: 'Jane Doe' } }, 0],
    [{ body: {} }, 6],
    [{ body: null }, 2],
    [{ body: { colour: null } }, 0],
    [{ body: { grant_type: 'client_credentials', client_id: 'acme' } }, 1],
    [{ body: { client_secret: '***' } }, 1],
    [{ method: 'POST', path: '/api/v1/direct-debit', status: 201, body: { amount: '10.50' } }, 1],
    [{ method: 'GET', body: { amount: '10.50' } }, 0],
  ] as const)
    t.equal((await verify(client, { ...expected, atLeast: 0 })).count, count, JSON.stringify(expected))
})

t.test(
  'control plane, POST /requests/verify: of objects, what is named must be the same; arrays as a whole',
  async t => {
    const client = await connect(build(t))
    await client.post('/api/v1/mandates', { list: [1, { a: 1, b: 2 }], nested: { list: [], nothing: null, is: true } })
    for (const [body, count] of [
      [{ list: [1, { a: 1, b: 2 }] }, 1],
      [{ list: [1, { b: 2, a: 1 }] }, 1],
      [{ list: [1, { a: 1 }] }, 0],
      [{ list: [1] }, 0],
      [{ list: [{ a: 1, b: 2 }, 1] }, 0],
      [{ list: [] }, 0],
      [{ list: {} }, 0],
      [{ nested: { list: [] } }, 1],
      [{ nested: { nothing: null } }, 1],
      [{ nested: { nothing: {} } }, 0],
      [{ nested: { is: 'true' } }, 0],
      [{ nested: { is: true, more: true } }, 0],
      ['text', 0],
      [[], 0],
      [5, 0],
    ] as const)
      t.equal((await verify(client, { path: '*mandates', body, atLeast: 0 })).count, count, JSON.stringify(body))
  },
)

t.test('control plane, POST /requests/verify: bodies that are no objects', async t => {
  const client = await connect(build(t))
  await client.post('/api/v1/mandates', '[1,2]')
  await client.post('/api/v1/mandates', '{"half":')
  await client.post('/api/v1/mandates', 'text', { headers: { 'content-type': 'text/plain' } })
  for (const [body, count] of [
    [[1, 2], 1],
    [[1], 0],
    ['{"half":', 1],
    ['(4 bytes of text/plain)', 1],
    [{ half: 1 }, 0],
  ] as const)
    t.equal((await verify(client, { body, atLeast: 0 })).count, count, JSON.stringify(body))
})

t.test('control plane, POST /requests/verify: members with names of JavaScript’s own are members', async t => {
  const client = await connect(build(t))
  await client.post('/api/v1/mandates', { a: 1 })
  const expect = async (body: object) => (await verify(client, { path: '*mandates', body, atLeast: 0 })).count
  t.equal(await expect({ toString: 'x' }), 0)
  t.equal(await expect({ hasOwnProperty: {} }), 0)
})

t.test('control plane, POST /requests/verify: an answer that was lost has no status', async t => {
  const client = await connect(build(t))
  await client.control('POST', '/faults', { effect: { kind: 'drop', when: 'after' } })
  await client.post('/api/v1/mandates', mandate()).catch(() => {})
  t.same(await verify(client, { path: '*mandates' }), { matched: true, count: 1, dropped: 0 })
  const { nearestMisses } = await verify(client, { path: '*mandates', status: 201 })
  t.match(nearestMisses[0], { seq: 2, status: null, differences: [{ at: 'status', expected: 201, actual: null }] })
})

// ------------------------------------------------------------------------------------------------------- how many

t.test('control plane, POST /requests/verify: times, atLeast and atMost', async t => {
  const client = await story(t)
  const posts = { method: 'POST', path: '/api/v1/direct-debit' }
  for (const [bounds, matched] of [
    [{}, true],
    [{ times: 3 }, true],
    [{ times: 2 }, false],
    [{ times: 4 }, false],
    [{ times: 0 }, false],
    [{ atLeast: 3 }, true],
    [{ atLeast: 4 }, false],
    [{ atLeast: 0 }, true],
    [{ atMost: 3 }, true],
    [{ atMost: 2 }, false],
    [{ atMost: 0 }, false],
    [{ atLeast: 1, atMost: 3 }, true],
    [{ atLeast: 3, atMost: 3 }, true],
    [{ atLeast: 1, atMost: 2 }, false],
    [{ atLeast: 4, atMost: 9 }, false],
    [{ times: 1_000_000 }, false],
  ] as const) {
    const answer = await verify(client, { ...posts, ...bounds })
    t.match(answer, { matched, count: 3, dropped: 0 }, JSON.stringify(bounds))
    t.equal('nearestMisses' in answer, !matched)
  }
  const never = { method: 'DELETE' }
  for (const [bounds, matched] of [
    [{}, false],
    [{ times: 0 }, true],
    [{ times: 1 }, false],
    [{ atLeast: 0 }, true],
    [{ atMost: 0 }, true],
    [{ atMost: 5 }, true],
    [{ atLeast: 1 }, false],
  ] as const)
    t.match(await verify(client, { ...never, ...bounds }), { matched, count: 0 }, JSON.stringify(bounds))
})

t.test('control plane, POST /requests/verify: when it holds, no more than that is told', async t => {
  const client = await story(t)
  t.same(await verify(client, { method: 'GET', atLeast: 2 }), { matched: true, count: 2, dropped: 0 })
})

// -------------------------------------------------------------------------------------------------- nearest misses

t.test('control plane, POST /requests/verify: the three nearest misses, and what differs', async t => {
  const client = await story(t)
  const answer = await verify(client, {
    method: 'POST',
    path: '/api/v1/direct-debit',
    status: 201,
    headers: { 'Idempotency-Key': 'abc' },
    body: { amount: '20', currency: 'EUR', debtor: { name: 'Jane Doe' } },
  })
  t.same(answer, {
    matched: false,
    count: 0,
    dropped: 0,
    nearestMisses: [
      {
        seq: 4,
        method: 'POST',
        path: '/api/v1/direct-debit',
        status: 201,
        differences: [
          { at: 'headers.idempotency-key', expected: 'abc' },
          { at: 'body.debtor', expected: { name: 'Jane Doe' } },
        ],
      },
      {
        seq: 5,
        method: 'POST',
        path: '/api/v1/direct-debit',
        status: 409,
        differences: [
          { at: 'status', expected: 201, actual: 409 },
          { at: 'body.amount', expected: '20', actual: '10.50' },
          { at: 'body.debtor', expected: { name: 'Jane Doe' } },
        ],
      },
      {
        seq: 3,
        method: 'POST',
        path: '/api/v1/direct-debit',
        status: 201,
        differences: [
          { at: 'headers.idempotency-key', expected: 'abc' },
          { at: 'body.amount', expected: '20', actual: '10.50' },
          { at: 'body.debtor', expected: { name: 'Jane Doe' } },
        ],
      },
    ],
  })
})

t.test('control plane, POST /requests/verify: another operation is further away than other values', async t => {
  const client = await story(t)
  const { nearestMisses } = await verify(client, {
    method: 'GET',
    path: '/api/v1/direct-debit/COL-0001',
    status: 200,
    headers: { a: '1', b: '2', c: '3' },
    body: { x: 1, y: 2 },
  })
  t.same(
    nearestMisses.map(({ seq, differences }: { seq: number; differences: { at: string }[] }) => [
      seq,
      ...differences.map(({ at }) => at),
    ]),
    [
      [6, 'path', 'headers.a', 'headers.b', 'headers.c', 'body'],
      [7, 'path', 'status', 'headers.a', 'headers.b', 'headers.c', 'body'],
      [1, 'method', 'path', 'headers.a', 'headers.b', 'headers.c', 'body.x', 'body.y'],
    ],
  )
  t.match(nearestMisses[0].differences, [
    { at: 'path', expected: '/api/v1/direct-debit/COL-0001', actual: '/api/v1/direct-debit' },
    { at: 'headers.a', expected: '1' },
    {},
    {},
    { at: 'body', expected: { x: 1, y: 2 }, actual: null },
  ])
})

t.test('control plane, POST /requests/verify: of misses that are equally near, the latest come first', async t => {
  const client = await connect(build(t))
  for (let count = 0; count < 5; count++) await client.get('/api/v1/bills')
  const { nearestMisses } = await verify(client, { method: 'GET', path: '/api/v1/mandates' })
  t.same(
    nearestMisses.map(({ seq }: { seq: number }) => seq),
    [6, 5, 4],
  )
})

t.test('control plane, POST /requests/verify: with too many, misses are those that are none of them', async t => {
  const client = await connect(build(t))
  await client.get('/api/v1/bills')
  await client.get('/api/v1/bills')
  const { count, nearestMisses } = await verify(client, { method: 'GET', times: 1 })
  t.equal(count, 2)
  t.match(nearestMisses, [{ seq: 1, differences: [{ at: 'method', expected: 'GET', actual: 'POST' }] }])
  t.equal(nearestMisses.length, 1)
})

t.test('control plane, POST /requests/verify: without any request there is nothing near', async t => {
  const client = await connect(build(t))
  await client.control('DELETE', '/requests')
  t.same(await verify(client, { method: 'GET' }), { matched: false, count: 0, dropped: 0, nearestMisses: [] })
  t.same(await verify(client, { method: 'GET', times: 0 }), { matched: true, count: 0, dropped: 0 })
})

t.test('control plane, POST /requests/verify: it tells how many requests are not there any more', async t => {
  const client = await connect(build(t, { journal: { entries: 2 } }))
  for (let count = 0; count < 4; count++) await client.get('/api/v1/bills')
  t.same(await verify(client, { path: '/api/v1/bills', times: 2 }), { matched: true, count: 2, dropped: 3 })
})

t.test('decisions §3: secrets are in no difference', async t => {
  const client = await connect(build(t))
  const answer = await verify(client, { headers: { authorization: 'x' }, body: { client_secret: 'x' }, path: '*' })
  t.match(answer.nearestMisses[0].differences.at(-1), { at: 'body.client_secret', actual: '***' })
  t.notOk(JSON.stringify(answer).includes(client.token))
})

t.test('decisions §3: requests of another tenant do not count', async t => {
  const app = build(t)
  const [acme, other] = [await connect(app, 'acme'), await connect(app, 'other')]
  await other.post('/api/v1/mandates', mandate())
  t.match(await verify(acme, { path: '*mandates', times: 0 }), { matched: true })
})

t.test('control plane, POST /requests/verify: it changes nothing, and is in no log', async t => {
  const client = await story(t)
  const before = (await client.control('GET', '/requests')).body
  const state = (await client.control('GET', '/state')).body
  const recording = (await client.control('GET', '/recording')).body
  await verify(client, { method: 'GET' })
  t.same((await client.control('GET', '/requests')).body, before)
  t.same((await client.control('GET', '/state')).body, state)
  t.same((await client.control('GET', '/recording')).body, recording)
})

// --------------------------------------------------------------------------------------------------------- refusals

t.test('control plane, POST /requests/verify: what is wrong is refused', async t => {
  const client = await connect(build(t))
  const many = Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`x-${at}`, 'a']))
  for (const [body, code, field] of [
    [{ method: 'get' }, 'INVALID_FIELD', 'method'],
    [{ method: 'TRACE' }, 'INVALID_FIELD', 'method'],
    [{ method: ['GET'] }, 'INVALID_FIELD', 'method'],
    [{ path: '' }, 'INVALID_FIELD', 'path'],
    [{ path: 'x'.repeat(501) }, 'INVALID_FIELD', 'path'],
    [{ path: 5 }, 'INVALID_FIELD', 'path'],
    [{ headers: [] }, 'INVALID_FIELD', 'headers'],
    [{ headers: 'x-region: EU' }, 'INVALID_FIELD', 'headers'],
    [{ headers: { 'x-region': 5 } }, 'INVALID_FIELD', 'headers.x-region'],
    [{ headers: { 'x-region': null } }, 'INVALID_FIELD', 'headers.x-region'],
    [{ headers: many }, 'INVALID_FIELD', 'headers'],
    [{ status: '200' }, 'INVALID_FIELD', 'status'],
    [{ status: 99 }, 'INVALID_FIELD', 'status'],
    [{ status: 600 }, 'INVALID_FIELD', 'status'],
    [{ status: null }, 'INVALID_FIELD', 'status'],
    [{ times: -1 }, 'INVALID_FIELD', 'times'],
    [{ times: 1.5 }, 'INVALID_FIELD', 'times'],
    [{ times: '1' }, 'INVALID_FIELD', 'times'],
    [{ times: null }, 'INVALID_FIELD', 'times'],
    [{ times: 1_000_001 }, 'INVALID_FIELD', 'times'],
    [{ atLeast: -1 }, 'INVALID_FIELD', 'atLeast'],
    [{ atMost: 1_000_001 }, 'INVALID_FIELD', 'atMost'],
    [{ times: 1, atLeast: 1 }, 'MALFORMED_REQUEST', 'times'],
    [{ times: 1, atMost: 1 }, 'MALFORMED_REQUEST', 'times'],
    [{ times: 1, atLeast: 1, atMost: 1 }, 'MALFORMED_REQUEST', 'times'],
    [{ atLeast: 2, atMost: 1 }, 'INVALID_FIELD', 'atLeast'],
    ['{"method":', 'MALFORMED_REQUEST', null],
    ['[]', 'INVALID_FIELD', null],
    ['null', 'INVALID_FIELD', null],
  ] as const)
    refused(
      t,
      await client.control('POST', '/requests/verify', body),
      400,
      code,
      field,
      JSON.stringify(body).slice(0, 60),
    )
  const text = await call(client.app, 'POST', '/_sandbox/requests/verify?client=acme', {
    body: '{}',
    headers: { 'content-type': 'text/plain' },
  })
  refused(t, text, 415, 'UNSUPPORTED_MEDIA_TYPE', 'content-type')
  const nobody = await call(client.app, 'POST', '/_sandbox/requests/verify?client=nobody', { body: {} })
  refused(t, nobody, 404, 'CLIENT_NOT_FOUND', 'client')
})

t.test('control plane, POST /requests/verify: no body at all asks whether there was any request', async t => {
  const client = await connect(build(t))
  t.same((await client.control('POST', '/requests/verify')).body, { matched: true, count: 1, dropped: 0 })
})

t.test(
  'control plane, POST /requests/verify: a criterion that is not known is refused, or a typo would pass',
  async t => {
    const client = await connect(build(t))
    for (const name of ['paths', 'time', 'bdy', 'querry']) {
      refused(t, await client.control('POST', '/requests/verify', { [name]: '*' }), 400, 'INVALID_FIELD', name)
    }
  },
)

t.test('control plane, POST /requests/verify: parameters of the query that are named must be equal', async t => {
  const client = await connect(build(t))
  await client.get('/api/v1/direct-debit?limit=5&status=PENDING&status=SETTLED&amountMin=4.35')
  const path = '/api/v1/direct-debit'
  const expectations: [query: object, count: number][] = [
    [{}, 1],
    [{ limit: '5' }, 1],
    [{ limit: '5', status: ['PENDING', 'SETTLED'] }, 1],
    [{ limit: '6' }, 0],
    [{ status: 'PENDING' }, 0],
    [{ status: ['SETTLED', 'PENDING'] }, 0],
    [{ cursor: 'x' }, 0],
  ]
  for (const [query, count] of expectations) {
    t.match(await verify(client, { path, query }), { count, matched: count === 1 }, JSON.stringify(query))
  }
  t.match(await verify(client, { path, query: { limit: '6' } }), {
    nearestMisses: [{ differences: [{ at: 'query.limit', expected: '6', actual: '5' }] }],
  })
  for (const [query, field] of [
    ['limit=5', 'query'],
    [[], 'query'],
    [null, 'query'],
    [{ limit: 5 }, 'query.limit'],
    [{ limit: [5] }, 'query.limit.0'],
  ]) {
    refused(t, await client.control('POST', '/requests/verify', { query }), 400, 'INVALID_FIELD', field as string)
  }
})

t.test('decisions §1: what is expected may be nested as deeply as anybody likes', async t => {
  const client = await connect(build(t))
  for (const [open, close] of [
    ['[', ']'],
    ['{"a":', '}'],
  ] as const) {
    const deep = `{"x":${open.repeat(50_000)}1${close.repeat(50_000)}}`
    await client.post('/api/v1/mandates', deep)
    const answer = await client.control('POST', '/requests/verify', `{"path":"*mandates","body":${deep}}`)
    t.equal(answer.status, 200)
    t.match(answer.body, { matched: false, nearestMisses: [{ differences: [{ expected: {} }] }] })
  }
})
