import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { gist, refused } from '../answers.js'
import { build, connect, mandate } from '../helper.js'
import { exchange, headersOf, LIVE, listen, open, type RawAnswer, request, stateOf, stillServes } from './raw.js'

// decisions §1: every 4xx answer is the envelope, also to what Node's parser rejects before Fastify sees it.

/** The server of the tests that need no other. */
const shared = build(t)
const port = await listen(shared)

/** The refusal of what is no HTTP: the envelope as JSON, its right length, and the end of the connection. */
function refusedAndClosed(
  t: Parameters<typeof refused>[0],
  answers: RawAnswer[],
  status: number,
  code: string,
  what: string,
) {
  t.equal(answers.length, 1, `${what}: one answer, then the connection is closed`)
  const [answer] = answers
  if (answer === undefined) return
  refused(t, answer, status, code, null, what)
  t.equal(answer.headers.connection, 'close')
  t.equal(answer.headers.link, `</docs/guide/errors#${code}>; rel="help"`)
}

t.test('decisions §1: what is no HTTP is 400 MALFORMED_REQUEST', async t => {
  const host = 'host: sandbox\r\n'
  for (const bytes of [
    'garbage\r\n\r\n',
    '\0\0\0\0\r\n\r\n',
    '{"a":1}\r\n\r\n',
    'GET\r\n\r\n',
    `GET ${LIVE} HTTP\r\n${host}\r\n`,
    `GET ${LIVE} HTTP/9.9\r\n${host}\r\n`,
    `GET ${LIVE} HTTP/1.1 x\r\n${host}\r\n`,
    `GET ${LIVE} FTP/1.1\r\n${host}\r\n`,
    `get ${LIVE} HTTP/1.1\r\n${host}\r\n`,
    `BREW ${LIVE} HTTP/1.1\r\n${host}\r\n`,
    `GET  HTTP/1.1\r\n${host}\r\n`,
    `GET sandbox HTTP/1.1\r\n${host}\r\n`,
    `GET /a\0b HTTP/1.1\r\n${host}\r\n`,
    `GET ${LIVE} HTTP/1.1\r\n${host}no colon\r\n\r\n`,
    `GET ${LIVE} HTTP/1.1\r\n${host}a b: c\r\n\r\n`,
    `GET ${LIVE} HTTP/1.1\r\n${host}a : c\r\n\r\n`,
    `GET ${LIVE} HTTP/1.1\r\n${host}: c\r\n\r\n`,
    `GET ${LIVE} HTTP/1.1\r\n${host}a: b\0c\r\n\r\n`,
    `GET ${LIVE} HTTP/1.1\r\n${host}a: b\rc\r\n\r\n`,
    `POST ${LIVE} HTTP/1.1\r\n${host}content-length: abc\r\n\r\n`,
    `POST ${LIVE} HTTP/1.1\r\n${host}content-length: -1\r\n\r\n`,
    `POST ${LIVE} HTTP/1.1\r\n${host}content-length: 1\r\ncontent-length: 2\r\n\r\nab`,
    `POST ${LIVE} HTTP/1.1\r\n${host}content-length: 99999999999999999999999\r\n\r\n`,
    `POST ${LIVE} HTTP/1.1\r\n${host}content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    `POST ${LIVE} HTTP/1.1\r\n${host}transfer-encoding: chunked, x\r\n\r\n0\r\n\r\n`,
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  ]) {
    const answers = await exchange(port, Buffer.from(bytes, 'latin1'))
    refusedAndClosed(t, answers, 400, 'MALFORMED_REQUEST', JSON.stringify(bytes.slice(0, 80)))
  }
  await stillServes(t, port)
})

t.test('decisions §1: request line and headers that overflow are 431 HEADERS_TOO_LARGE', async t => {
  const long = 'x'.repeat(20_000)
  const many = Object.fromEntries(Array.from({ length: 1500 }, (_, at) => [`x-${at}`, 'abcdef']))
  // The first one is Host.
  const short = (count: number) => Object.fromEntries(Array.from({ length: count - 1 }, (_, at) => [`x-${at}`, '']))
  for (const [what, bytes] of [
    ['one header', request(`GET ${LIVE}`, { 'x-long': long })],
    ['the name of a header', request(`GET ${LIVE}`, { [long]: 'x' })],
    ['the path', request(`GET /${long}`)],
    ['the query', request(`GET ${LIVE}?${long}`)],
    ['x-request-id', request(`GET ${LIVE}`, { 'x-request-id': long })],
    ['x-region', request('GET /api/v1/mandates', { 'x-region': long })],
    ['many headers', request(`GET ${LIVE}`, many)],
    ['201 short headers', request(`GET ${LIVE}`, short(201))],
  ] as const) {
    refusedAndClosed(t, await exchange(port, bytes), 431, 'HEADERS_TOO_LARGE', what)
  }
  const [allowed] = await exchange(port, request(`GET ${LIVE}`, short(200)), true)
  t.equal(allowed?.status, 200)
  await stillServes(t, port)
})

t.test('decisions §1: a request target and headers of 16 KiB are accepted, one byte more is 431', async t => {
  const port = await listen(build(t))
  const others = { connection: 'close' }
  // Separators do not count, nor do the method and the version.
  const rest = [LIVE, 'host', 'sandbox', ...Object.entries(others).flat(), 'x-long'].join('').length
  const send = (size: number) =>
    exchange(port, request(`GET ${LIVE}`, { host: 'sandbox', ...others, 'x-long': 'x'.repeat(size - rest) }))
  t.match(await send(16 * 1024), [{ status: 200 }])
  refusedAndClosed(t, await send(16 * 1024 + 1), 431, 'HEADERS_TOO_LARGE', 'one byte more')
})

const CHUNKED = { 'transfer-encoding': 'chunked' }
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`

/** Takes the time limits away again, so that a machine that stands still for a moment is not taken for a slow client. */
const giveTime = ({ server }: FastifyInstance) => Object.assign(server, { headersTimeout: 0, requestTimeout: 0 })

t.test('decisions §1: a request whose headers do not arrive in time is 408 REQUEST_TIMEOUT', async t => {
  const app = build(t, { requestTimeout: 50 })
  const port = await listen(app)
  const answers = await exchange(port, `GET ${LIVE} HTTP/1.1\r\nhost: sand`)
  refusedAndClosed(t, answers, 408, 'REQUEST_TIMEOUT', 'half of the headers')
  const kept = await exchange(port, `${request(`GET ${LIVE}`)}GET ${LIVE} HTTP/1.1\r\nhost: sand`)
  t.equal(kept[0]?.status, 200)
  refusedAndClosed(t, kept.slice(1), 408, 'REQUEST_TIMEOUT', 'half of the headers behind a whole request')
  giveTime(app)
  await stillServes(t, port)
})

t.test('decisions §1: a request whose body does not arrive in time is 408, and does nothing', async t => {
  const app = build(t, { requestTimeout: 50 })
  // The test before is about this.
  app.server.headersTimeout = 50
  const client = await connect(app)
  const port = await listen(app)
  const text = JSON.stringify(mandate())
  const post = (framing: Record<string, string>, body: string) =>
    exchange(port, request('POST /api/v1/mandates', { ...headersOf(client), ...framing }) + body)
  for (const [what, framing, body] of [
    ['one byte is missing', { 'content-length': String(text.length + 1) }, text],
    ['the last chunk is missing', CHUNKED, chunk(text)],
    ['no body', { 'content-length': '10' }, ''],
  ] as const) {
    refusedAndClosed(t, await post(framing, body), 408, 'REQUEST_TIMEOUT', what)
  }
  t.equal((await client.get('/api/v1/mandates')).body.totalCount, 0)
  giveTime(app)
  await stillServes(t, port)
})

t.test('decisions §1: a request of HTTP/1.1 without Host is 400 in the envelope; HTTP/1.0 needs none', async t => {
  for (const line of [`GET ${LIVE}`, 'GET /api/v1/mandates', 'GET /nowhere', 'POST /api/v1/mandates']) {
    const [answer] = await exchange(port, `${line} HTTP/1.1\r\nconnection: close\r\n\r\n`)
    refused(t, answer, 400, 'MALFORMED_REQUEST', 'host', line)
  }
  const [old] = await exchange(port, `GET ${LIVE} HTTP/1.0\r\n\r\n`)
  t.match(old, { status: 200, body: { status: 'ok' } })
  const [empty] = await exchange(port, `GET ${LIVE} HTTP/1.1\r\nhost:\r\nconnection: close\r\n\r\n`)
  t.equal(empty?.status, 200, 'an empty Host is one')
})

t.test('decisions §1: an expectation that is not 100-continue is passed over', async t => {
  const headers = { ...headersOf(await connect(shared, 'expects')), connection: 'close' }
  const send = async (line: string, expect: string, body?: string) =>
    (await exchange(port, request(line, { ...headers, expect }, body)))[0]
  for (const expect of ['something', '200-ok', '']) {
    t.match(await send(`GET ${LIVE}`, expect), { status: 200, body: { status: 'ok' } }, expect)
    refused(t, await send('GET /nowhere', expect), 404, 'ROUTE_NOT_FOUND', null, expect)
  }
  t.equal((await send('POST /api/v1/mandates', 'something', JSON.stringify(mandate())))?.status, 201)
})

t.test('interface, Errors: CONNECT and TRACE are refused in the envelope', async t => {
  for (const target of ['sandbox:80', '127.0.0.1:443', '/api/v1/mandates', '*']) {
    const answers = await exchange(port, `CONNECT ${target} HTTP/1.1\r\nhost: sandbox\r\n\r\n`)
    refusedAndClosed(t, answers, 400, 'MALFORMED_REQUEST', `CONNECT ${target}`)
  }
  await stillServes(t, port)
  const headers = { connection: 'close', authorization: 'Bearer secret' }
  const [trace] = await exchange(port, request('TRACE /api/v1/mandates', headers))
  refused(t, trace, 405, 'METHOD_NOT_ALLOWED', null, 'TRACE')
  t.notMatch(trace?.text, 'secret', 'RFC 9110 §9.3.8: TRACE echoes nothing')
})

t.test('decisions §1: a method of RTSP or ICE is 400 MALFORMED_REQUEST, and known ones keep the envelope', async t => {
  const unknown = 'DESCRIBE ANNOUNCE SETUP PLAY PAUSE TEARDOWN GET_PARAMETER SET_PARAMETER REDIRECT RECORD FLUSH'.split(
    ' ',
  )
  for (const path of ['/api/v1/bills', '/_sandbox/clients', '/docs', '/nothing']) {
    for (const protocol of ['RTSP/1.0', 'ICE/1.0', 'HTTP/1.1']) {
      for (const method of unknown) {
        const answers = await exchange(port, `${method} ${path} ${protocol}\r\nhost: sandbox\r\n\r\n`)
        refusedAndClosed(t, answers, 400, 'MALFORMED_REQUEST', `${method} ${path} ${protocol}`)
      }
    }
    for (const line of [`SOURCE ${path} ICE/1.0`, `OPTIONS ${path}x RTSP/1.0`, `POST ${path}x RTSP/1.0`]) {
      const [answer] = await exchange(port, `${line}\r\nhost: sandbox\r\nconnection: close\r\n\r\n`)
      t.match(gist(answer), /^(40[145] [A-Z_]+ |204$)/, line)
    }
  }
  const behind = `${request(`GET ${LIVE}`)}DESCRIBE ${LIVE} RTSP/1.0\r\n\r\n`
  t.equal((await exchange(port, behind)).map(({ status }) => status).join(), '200,400', 'after the answer before it')
  await stillServes(t, port)
})

t.test('decisions §1: an upgrade is passed over', async t => {
  for (const upgrade of ['websocket', 'h2c', 'TLS/1.0']) {
    const connection = await open(port)
    connection.send(request(`GET ${LIVE}`, { upgrade, connection: 'upgrade', 'sec-websocket-key': 'x' }))
    t.match(await connection.read(), { status: 200, body: { status: 'ok' } }, upgrade)
    connection.destroy()
  }
})

t.test('interface, Errors: a client that closes in the middle of its body creates nothing', async t => {
  const client = await connect(shared, 'closes')
  const before = await stateOf(client)
  const text = JSON.stringify(mandate())
  for (const [framing, body] of [
    [{ 'content-length': String(text.length + 1) }, text],
    [CHUNKED, chunk(text)],
  ] as [Record<string, string>, string][]) {
    const { connection, ended } = await openBoth(shared, port)
    connection.send(request('POST /api/v1/mandates', { ...headersOf(client), ...framing }) + body)
    connection.destroy()
    await ended
    t.same(await stateOf(client), before)
  }
  await stillServes(t, port)
})

t.test('decisions §2: a body that ends before its Content-Length is MALFORMED_REQUEST', async t => {
  const client = await connect(shared, 'ends')
  const text = JSON.stringify(mandate())
  const head = request('POST /api/v1/mandates', { ...headersOf(client), 'content-length': String(text.length + 1) })
  const [answer, ...others] = await exchange(port, head + text, true)
  refused(t, answer, 400, 'MALFORMED_REQUEST', null)
  t.same(others, [], 'one answer')
  t.equal((await client.get('/api/v1/mandates')).body.totalCount, 0)
})

t.test('decisions §2: a chunk that is none is MALFORMED_REQUEST, and nothing is created', async t => {
  const client = await connect(shared, 'chunks')
  const text = JSON.stringify(mandate())
  for (const chunks of ['zz\r\n', `${text.length.toString(16)}\r\n${text}garbage`, '-1\r\n', 'fffffffffffffffff\r\n']) {
    const head = request('POST /api/v1/mandates', { ...headersOf(client), ...CHUNKED })
    const answers = await exchange(port, head + chunks)
    refusedAndClosed(t, answers, 400, 'MALFORMED_REQUEST', JSON.stringify(chunks.slice(0, 20)))
  }
  await stillServes(t, port)
  t.equal((await client.get('/api/v1/mandates')).body.totalCount, 0)
})

t.test('decisions §1: on a connection that is kept, a broken request gets its answer, too', async t => {
  const good = request(`GET ${LIVE}`)
  for (const [what, bytes, status, code] of [
    ['no HTTP', 'garbage\r\n\r\n', 400, 'MALFORMED_REQUEST'],
    ['an unknown method', `BREW ${LIVE} HTTP/1.1\r\nhost: sandbox\r\n\r\n`, 400, 'MALFORMED_REQUEST'],
    ['long headers', request(`GET ${LIVE}`, { 'x-long': 'x'.repeat(20_000) }), 431, 'HEADERS_TOO_LARGE'],
  ] as const) {
    const kept = await open(port)
    for (const _ of [1, 2]) {
      kept.send(good)
      t.equal((await kept.read())?.status, 200)
    }
    kept.send(bytes)
    const answers = [await kept.read(), await kept.read()].filter(answer => answer !== undefined)
    refusedAndClosed(t, answers, status, code, what)
    refusedAndClosed(t, (await exchange(port, good + bytes)).slice(1), status, code, `${what}, at once`)
  }
  await stillServes(t, port)
})

t.test(
  'decisions §1: a request that is refused before its body has its answer, and a broken body closes the connection',
  async t => {
    const connection = await open(port)
    connection.send(request('POST /nowhere', CHUNKED))
    refused(t, await connection.read(), 404, 'ROUTE_NOT_FOUND', null)
    connection.send('zz\r\n')
    const answers = [await connection.read(), await connection.read()].filter(answer => answer !== undefined)
    refusedAndClosed(t, answers, 400, 'MALFORMED_REQUEST', 'a broken body')
    await stillServes(t, port)
  },
)

/** Opens a connection. Returns the end of the server, too. */
async function openBoth(app: FastifyInstance, port?: number) {
  const accepted = once(app.server, 'connection') as Promise<[Socket]>
  const connection = await open(port ?? (await listen(app)))
  const [socket] = await accepted
  return { connection, socket, ended: new Promise<void>(resolve => socket.on('close', () => resolve())) }
}

t.test('decisions §1: a client that keeps its half of a refused connection open is cut off', async t => {
  const { connection, socket, ended } = await openBoth(shared, port)
  connection.send('garbage\r\n\r\n')
  await once(socket, 'finish')
  t.equal(socket.timeout, 2000)
  socket.emit('timeout')
  await ended
})

t.test('decisions §1: a client may break a refused CONNECT off', async _t => {
  const { connection, socket, ended } = await openBoth(shared, port)
  connection.send('CONNECT a.example:1 HTTP/1.1\r\nhost: a.example:1\r\n\r\n')
  await once(socket, 'finish')
  // `once` would take the error.
  socket.destroy(new Error('read ECONNRESET'))
  await ended
})
