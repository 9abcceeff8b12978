import { once } from 'node:events'
import { request } from 'node:http'
import t from 'tap'
import type { Exchange } from '../../src/sandbox/request-log/exchange.js'
import { createRequestLog } from '../../src/sandbox/request-log/state.js'
import { refused } from '../answers.js'
import type { Client } from '../helper.js'
import { build, call, connect, newClient, pluck, requestToken } from '../helper.js'
import { listen } from '../http/raw.js'
import { until } from '../manual-time.js'

// decisions §12: its bounds hold for whatever a client sends, and its work is linear.

const log = async ({ app, clientId }: Pick<Client, 'app' | 'clientId'>, query = '') =>
  (await call(app, 'GET', `/_sandbox/requests?client=${clientId}${query}`)).body

// Work that grows with the square of these counts would take minutes.
const MANY = 30_000

t.test('control plane, GET /requests: a parameter can be repeated many times, also by masked names', async t => {
  const client = await newClient()
  const names = {
    a: (_: number) => 'a',
    'token=***': (at: number) => `token%3D${at}`,
  }
  for (const [shown, name] of Object.entries(names)) {
    const query = Array.from({ length: MANY }, (_, at) => name(at)).join('&')
    await client.get(`/api/v1/mandates?${query}`)
    const { data } = await log(client, '&limit=1')
    t.same(Object.keys(data[0].query), [shown])
    t.equal(data[0].query[shown].length, MANY)
  }
})

t.test('decisions §1: a filter can be repeated many times, in each spelling', async t => {
  const client = await newClient()
  for (const spelling of [() => 'status', () => 'status[]', (at: number) => `status[${at}]`]) {
    const query = Array.from({ length: MANY }, (_, at) => `${spelling(at)}=SETTLED`).join('&')
    t.match(await client.get(`/api/v1/direct-debit?${query}`), { status: 200, body: { data: [] } })
  }
})

t.test('control plane, GET /requests: names of objects in queries, headers and forms are members', async t => {
  const app = build(t)
  const form = 'client_id=acme&client_secret=s&grant_type=client_credentials&__proto__=1&constructor=2'
  const headers = { 'content-type': 'application/x-www-form-urlencoded', constructor: 'x' }
  await call(app, 'POST', '/api/v1/oauth/token?__proto__=1&__proto__=2&toString=3', { body: form, headers })
  const text = JSON.stringify((await log({ app, clientId: 'acme' })).data[0])
  t.match(text, '"query":{"__proto__":["1","2"],"toString":"3"}')
  t.match(text, '"constructor":"x"')
})

t.test('decisions §1: a form has at most 1,000 fields', async t => {
  const app = build(t)
  const others = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, '']))
  t.match(await requestToken(app, others(997)), { status: 200 })
  refused(t, await requestToken(app, others(998)), 413, 'PAYLOAD_TOO_LARGE', null)
})

t.test('control plane, GET /requests: a request keeps the hints that its answer has', async t => {
  const client = await newClient()
  const names = Array.from({ length: 3000 }, (_, at) => `n${at}`)
  const answers = [
    await client.get(`/api/v1/mandates?${names.join('&')}`),
    await client.post('/api/v1/mandates', Object.fromEntries(names.map(name => [name, 1]))),
  ]
  const { data } = await log(client, '&after=1')
  t.same(
    data.map(({ hints }: { hints: string[] }) => [hints.length, hints.at(-1), hints.join('; ')]),
    answers.map(({ headers }) => [9, 'and 2992 more', headers['sandbox-hint']]),
  )
})

t.test('control plane, SANDBOX_REQUEST_LOG_BYTES: the target and the bodies of a request are counted', async t => {
  const names = (size: number) => Array.from({ length: 10 }, (_, at) => `${at}`.padEnd(size, '~'))
  const requests: Record<string, (client: Client, size: number) => Promise<unknown>> = {
    'values of a form': ({ app }, size) => requestToken(app, { note: 'x'.repeat(10 * size) }),
    'a query': ({ get }, size) => get(`/api/v1/mandates?${names(size).join('&')}`),
    'a body': ({ post }, size) => post('/api/v1/mandates', { unknown: 'x'.repeat(10 * size) }),
  }
  for (const [what, send] of Object.entries(requests)) {
    const client = await connect(build(t, { requestLog: { bytes: 20_000 } }))
    await send(client, 10)
    t.match(await log(client), { data: { length: 2 }, dropped: 0 }, what)
    await send(client, 1000)
    await send(client, 1000)
    const { data, dropped } = await log(client)
    t.same([pluck(data, 'seq'), dropped], [[4], 3], what)
  }
})

t.test('control plane, SANDBOX_REQUEST_LOG_BYTES: the oldest of all clients goes first', async t => {
  const bounds = { entries: 5, bytes: 100 }
  const log = createRequestLog(bounds)
  /** All entries in order: the log as simple as it can be. */
  let model: { client: string; seq: number; bytes: number }[] = []
  const last: Record<string, number> = { a: 0, b: 0, c: 0 }
  const dropped: Record<string, number> = { a: 0, b: 0, c: 0 }
  const drop = (index: number) => {
    const [gone] = model.splice(index, 1)
    dropped[gone?.client as string] = (dropped[gone?.client as string] ?? 0) + 1
  }
  const [seen, expected]: [unknown[], unknown[]] = [[], []]
  let random = 7
  const pick = (count: number) => {
    random = (random * 1103515245 + 12345) % 2 ** 31
    return Math.floor((random / 2 ** 31) * count)
  }
  for (let step = 0; step < 3000; step++) {
    const client = 'abc'[pick(3)] as string
    const chance = pick(100)
    if (chance < 2) {
      log.remove(client)
      Object.assign(last, { [client]: 0 })
      Object.assign(dropped, { [client]: 0 })
      model = model.filter(entry => entry.client !== client)
    } else if (chance < 6) {
      seen.push(log.clear(client))
      expected.push(model.filter(entry => entry.client === client).length)
      model = model.filter(entry => entry.client !== client)
    } else {
      const bytes = 1 + pick(40)
      log.add(client, { bytes, method: 'GET', target: '/', faults: [], hints: [] } as unknown as Exchange, 0)
      model.push({ client, seq: ++(last[client] as number), bytes })
      if (model.filter(entry => entry.client === client).length > bounds.entries) {
        drop(model.findIndex(entry => entry.client === client))
      }
      while (model.reduce((sum, entry) => sum + entry.bytes, 0) > bounds.bytes) drop(0)
    }
    if (step % 10 > 0) continue
    for (const client of 'abc') {
      const page = await log.list(client)
      const kept = model.filter(entry => entry.client === client)
      seen.push([step, pluck(page.data, 'seq'), page.last, page.dropped])
      expected.push([step, pluck(kept, 'seq'), last[client], dropped[client]])
    }
  }
  t.same(seen, expected)
})

t.test('control plane, GET /requests: only as many requests are looked at as the limit needs', async t => {
  const log = createRequestLog({ entries: 1000, bytes: 1e9 })
  const looks = { target: 0, headers: 0, bodyText: 0 }
  for (let count = 0; count < 1000; count++) {
    const entry = { method: count % 2 ? 'GET' : 'POST', status: 200, faults: [], hints: [], bytes: 1 }
    for (const name of ['target', 'headers', 'bodyText'] as const) {
      const value = { target: '/a', headers: {}, bodyText: '{}' }[name]
      Object.defineProperty(entry, name, {
        get() {
          looks[name]++
          return value
        },
      })
    }
    log.add('a', entry as unknown as Exchange, 0)
  }
  const { data } = await log.list('a', { method: 'GET', path: '*a', limit: 3 })
  t.same(pluck(data, 'seq'), [996, 998, 1000])
  t.ok(looks.target <= 12, `${looks.target} targets`)
  t.same([looks.headers, looks.bodyText], [0, 0], 'nothing is masked that the filter does not need')
})

const members = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`m${at}`, at]))

t.test('control plane, POST /requests/verify: of a longer value, the first 10,000 characters are shown', async t => {
  const client = await newClient()
  const sent = { a: 'a'.repeat(10_000), b: { c: Array(5000).fill(1) } }
  await client.post('/api/v1/mandates', `${JSON.stringify(sent).slice(0, -1)},"d":-0}`)
  const verify = async (body: object) =>
    (await client.control('POST', '/requests/verify', { path: '*mandates', body })).body.nearestMisses?.[0].differences
  t.same(await verify({ a: 'x'.repeat(9998), b: 1 }), [
    { at: 'body.a', expected: 'x'.repeat(9998), actual: `${'a'.repeat(10_000)}…` },
    { at: 'body.b', expected: 1, actual: `${JSON.stringify(sent.b).slice(0, 10_000)}…` },
  ])
  t.equal(await verify({ d: 0 }), undefined, 'JSON has one zero')
})

t.test('control plane, POST /requests/verify: 50 differences are listed, and the others are counted', async t => {
  const client = await newClient()
  const nested = (value: object) => Array.from({ length: 90 }).reduce<object>(inner => ({ a: inner }), value)
  await client.post('/api/v1/mandates', nested({ m49: 49, m50: 'another' }))
  await client.post('/api/v1/mandates', { list: Array.from({ length: 2000 }, () => [{}]) })
  const verify = async (expected: object) => (await client.control('POST', '/requests/verify', expected)).body
  const { nearestMisses } = await verify({ path: '*mandates', body: nested(members(3000)) })
  t.same(
    nearestMisses.map(({ seq, differences, omitted }: { seq: number; differences: object[]; omitted?: number }) => [
      seq,
      differences.length,
      omitted,
    ]),
    [
      [3, 1, undefined],
      [1, 2, undefined],
      [2, 50, 2949],
    ],
  )
  const at = nearestMisses[2].differences.map((difference: { expected: number }) => difference.expected)
  t.same(at, [...Array(49).keys(), 50, 51].slice(0, 50), 'in the order of the expectation')
  const list = Array.from({ length: 2000 }, () => [{}])
  t.match(await verify({ body: { list } }), { matched: true, count: 1 })
  t.match(await verify({ body: { list: [...list.slice(1), [{ a: 1 }]] } }), { matched: false })
})

t.test('decisions §3: a dropped client leaves no log and no coverage, by a late request either', async t => {
  const app = build(t, { maxTenants: 2 })
  let begun = 0
  app.addHook('preParsing', (_request, _reply, _payload, next) => {
    begun++
    next()
  })
  const port = await listen(app)
  const { token } = await connect(app)
  const before = begun
  const headers = { authorization: `Bearer ${token}`, 'x-region': 'EU', 'content-type': 'application/json' }
  const late = request({ port, method: 'POST', path: '/api/v1/mandates', headers })
  late.write('{')
  await until(() => begun > before)
  // More than those whose resets are remembered.
  for (let n = 0; n < 12; n++) await connect(app, `other-${n}`)
  late.end('}')
  const [response] = await once(late, 'response')
  response.resume()
  await connect(app)
  const { data } = await log({ app, clientId: 'acme' })
  t.same(
    data.map(({ seq, path }: { seq: number; path: string }) => [seq, path]),
    [[1, '/api/v1/oauth/token']],
  )
  const coverage = await call(app, 'GET', '/_sandbox/coverage?client=acme')
  t.equal(coverage.body.summary.operations.met, 1)
})
