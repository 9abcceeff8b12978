import t, { type Test } from 'tap'
import { gist } from '../answers.js'
import { follow as followStream, type Sent } from '../event-stream.js'
import type { BuildOptions } from '../helper.js'
import { build, call, connect, mandate } from '../helper.js'
import { listen } from '../http/raw.js'
import { manualTime, until } from '../manual-time.js'

// control plane, GET /requests: with `Accept: text/event-stream`, the requests of the app as they come.

const MANDATES = '/api/v1/mandates'
const follow = (port: number, query = '', headers: Record<string, string> = {}) =>
  followStream(port, `/_sandbox/requests?client=acme${query}`, headers)

async function streaming(t: Test, options: BuildOptions = {}) {
  const time = manualTime()
  const app = build(t, { now: time.now, timers: time.timers, ...options })
  const port = await listen(app)
  return { app, time, port, client: await connect(app) }
}

const line = ({ id, event, data = '{}' }: Sent) => {
  const { method, path, status } = JSON.parse(data)
  return event === 'request' ? `${id} ${method} ${path} ${status}` : `${id} ${event}`
}

t.test('control plane, GET /requests: a stream has each request as the list has it, past and future', async t => {
  const { app, client, port } = await streaming(t)
  await client.post(MANDATES, mandate())
  const reader = await follow(port)
  t.match(reader.response.headers, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' })
  t.same((await reader.next(2)).map(line), ['1 POST /api/v1/oauth/token 200', '2 POST /api/v1/mandates 201'])
  await client.post(MANDATES, mandate())
  const [sent] = await reader.next()
  t.equal(line(sent as Sent), '3 POST /api/v1/mandates 409')
  const { data } = (await call(app, 'GET', '/_sandbox/requests?client=acme&after=2')).body
  t.same(JSON.parse(sent?.data as string), data[0])
  t.notMatch(reader.text(), client.token, 'secrets are masked')
  reader.hangUp()
})

t.test('control plane, GET /requests: a stream takes the filters of the list', async t => {
  const { client, port } = await streaming(t)
  const filters = {
    'method=GET': ['5 GET /api/v1/mandates 200'],
    'path=*MND-9*': ['6 DELETE /api/v1/mandates/MND-9999 404'],
    'status=409': ['4 POST /api/v1/mandates 409'],
    'errors=true': ['4 POST /api/v1/mandates 409', '6 DELETE /api/v1/mandates/MND-9999 404'],
    'hints=true': ['3 POST /api/v1/mandates 201'],
    'errors=true&method=POST': ['4 POST /api/v1/mandates 409'],
    'hints=false&errors=false&after=5': ['6 DELETE /api/v1/mandates/MND-9999 404'],
    'limit=1&before=2&after=5': ['6 DELETE /api/v1/mandates/MND-9999 404'],
  }
  await client.get('/api/v1/accounts')
  const readers = await Promise.all(
    Object.keys(filters).map(query => follow(port, `&after=2&${query}`.replace(/&after=2(?=.*after)/, ''))),
  )
  await client.post(MANDATES, { ...mandate(), colour: 'red' })
  await client.post(MANDATES, mandate())
  await client.get(MANDATES)
  await client.send('DELETE', `${MANDATES}/MND-9999`)
  const seen: Record<string, string[]> = {}
  for (const [at, [query, expected]] of Object.entries(filters).entries()) {
    seen[query] = (await readers[at]?.next(expected.length))?.map(line) ?? []
    t.equal(readers[at]?.text().match(/^id:/gm)?.length, expected.length, query)
    readers[at]?.hangUp()
  }
  t.same(seen, filters)
})

t.test('control plane, GET /requests: a stream resumes after the last id', async t => {
  const { client, port } = await streaming(t)
  for (let at = 0; at < 3; at++) await client.get(MANDATES)
  const rows: [headers: Record<string, string>, query: string, first: string][] = [
    [{}, '', '1'],
    [{}, '&after=2', '3'],
    [{ 'last-event-id': '3' }, '', '4'],
    [{ 'last-event-id': '3' }, '&after=1', '4'],
    [{ 'last-event-id': '99' }, '&after=1', '1'],
    [{ 'last-event-id': 'x' }, '', '1'],
    [{ 'last-event-id': '' }, '&after=3', '4'],
  ]
  for (const [headers, query, first] of rows) {
    const reader = await follow(port, query, headers)
    t.equal((await reader.next())[0]?.id, first, JSON.stringify([headers, query]))
    reader.hangUp()
  }
})

t.test('control plane, POST /reset: a stream of requests tells of it, and begins with the new log', async t => {
  const { app, client, port } = await streaming(t)
  await client.get(MANDATES)
  const reader = await follow(port)
  await reader.next(2)
  await client.control('POST', '/reset')
  t.same(await reader.next(), [{ event: 'reset', id: '0', data: '{}' }])
  await connect(app)
  t.same((await reader.next()).map(line), ['1 POST /api/v1/oauth/token 200'])
  await call(app, 'DELETE', '/_sandbox/requests?client=acme')
  await connect(app)
  t.same((await reader.next()).map(line), ['2 POST /api/v1/oauth/token 200'], 'an emptied log goes on')
  reader.hangUp()
})

t.test('control plane, GET /requests: a stream is kept open, and ends with its client or the server', async t => {
  const { app, time, client, port } = await streaming(t)
  const reader = await follow(port)
  const another = await follow(port)
  await until(() => time.pending === 2)
  time.pass(15_000)
  await reader.sees(': still here')
  another.hangUp()
  await until(() => time.pending === 1)
  await call(app, 'DELETE', `/_sandbox/clients/${client.clientId}`)
  await reader.end
  t.equal(time.pending, 0)
  const last = await followStream(port, '/_sandbox/requests')
  await last.sees('\n\n')
  await app.close()
  await last.end
})

t.test('control plane, GET /requests: a stream of an unknown client, and with a wrong filter, is refused', async t => {
  const { app } = await streaming(t)
  const headers = { accept: 'text/event-stream' }
  const seen = []
  for (const query of ['client=nobody', 'client=acme&errors=yes', 'client=acme&status=99', 'client=acme&colour=red'])
    seen.push(gist(await call(app, 'GET', `/_sandbox/requests?${query}`, { headers })))
  t.same(seen, [
    '404 CLIENT_NOT_FOUND client',
    '400 INVALID_QUERY_PARAMETER errors',
    '400 INVALID_QUERY_PARAMETER status',
    '400 INVALID_QUERY_PARAMETER colour',
  ])
})

t.test('control plane, GET /requests: a reader that takes nothing gets all requests later', async t => {
  const { client, port } = await streaming(t)
  const reader = await follow(port)
  await reader.next()
  reader.response.pause()
  const long = 'x'.repeat(100_000)
  for (let at = 0; at < 60; at++) await client.post(MANDATES, { ...mandate(), note: long })
  reader.response.resume()
  t.equal((await reader.next(60)).length, 60)
  reader.hangUp()
})
