import { createHash } from 'node:crypto'
import { connect as dial } from 'node:net'
import fc from 'fast-check'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import t from 'tap'
import { loadFixtures } from '../src/fixtures.js'
import { warmUp } from '../src/http/validation.js'
import { OWN_FIXTURES, VERSION } from '../src/package.js'
import type { RecordedRequest, Recording } from '../src/recording.js'
import { answerLine, createRecordings } from '../src/recording.js'
import { startReplay } from '../src/replay.js'
import type { Tenant } from '../src/sandbox.js'
import { bill, build, call, collection, connect, MONDAY, mandate, payoutLink, requestToken } from './helper.js'
import { closed, LIVE, listen, open, request } from './http/raw.js'
import { createPlayer, injecting, randomRequests } from './random-requests.js'

await warmUp()

const fixtures = loadFixtures(OWN_FIXTURES)
const MIB = 1024 * 1024

/** What a fault holds back is given at once. */
const timers = {
  later(_: number, work: () => void) {
    work()
    return () => {}
  },
  flush() {},
}

async function recordingOf(app: FastifyInstance, clientId = 'acme'): Promise<Recording> {
  const { status, body } = await call(app, 'GET', `/_sandbox/recording?client=${clientId}`)
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body
}

const targets = ({ requests }: Recording) => requests.map(({ method, url }) => `${method} ${url}`)

/** Goes through a recording; each answer must be the one that was recorded. */
async function replay(t: Test, recording: Recording) {
  const { clientId, identity, requests, ...options } = structuredClone(recording)
  const replay = await startReplay({ ...options, identity: { clientId, ...identity }, fixtures })
  for (const { n, answer, ...request } of requests) {
    const replayed = await replay.apply(request)
    if (JSON.stringify(replayed) === JSON.stringify(answer)) continue
    t.same(replayed, answer, `${clientId}: ${n}. ${JSON.stringify(request)}`)
    break
  }
  await replay.close()
  return replay.state()
}

/** That the recording of a tenant leads to the answers that were given and to the state that it is in. */
async function replays(t: Test, app: FastifyInstance, clientId = 'acme'): Promise<Recording> {
  const recording = await recordingOf(app, clientId)
  const replayed = JSON.stringify(await replay(t, recording), null, 2)
  const { payload } = await app.inject(`/_sandbox/state?client=${clientId}`)
  const count = `${recording.requests.length} requests of ${clientId}`
  if (replayed === payload) t.pass(`${count} lead to the same state, byte for byte`)
  else t.same(JSON.parse(replayed), JSON.parse(payload), `${count} lead to the same state, byte for byte`)
  return recording
}

// --------------------------------------------------------------------------------------------------------- sameness

t.test('issue 3: 5,000 and more random requests over several tenants replay with no difference', async t => {
  const steps = fc.sample(fc.integer({ min: 0, max: 1_000_000 }), { seed: 3, numRuns: 1009 })
  let looks = 0
  let realNow = Date.parse('2026-11-02T09:00:00.000Z')
  /** Real time passes with each look at it, and seldom it is set back. */
  const pass = (most: number) => {
    const step = steps[looks++ % steps.length] as number
    realNow += step % 500 === 0 ? -500 : step % most
    return realNow
  }
  const app = build(t, { clock: 'real', now: () => pass(3), timers, recordingBytes: 64 * MIB, journal: { entries: 9 } })
  const players = ['acme', 'beta', 'gamma'].map(clientId => createPlayer(injecting(app), clientId))
  players.push(createPlayer(injecting(app), 'sandbox-client', 'sandbox-secret'))
  for (const player of players) await player.authenticate()
  const [acme, beta, gamma] = players as [Player, Player, Player, Player]

  const statuses = new Map<number, number>()
  for (const [at, request] of randomRequests(20_261_103, 7000).entries()) {
    pass(2500)
    // What begins another life, and its recording, comes early.
    if (at === 300) await beta.control('POST', '/reset')
    if (at === 400) await gamma.control('PUT', '/state', JSON.parse((await acme.control('GET', '/state')).text))
    if (at === 500) {
      await acme.control('POST', '/fork', { clientId: 'copy', clientSecret: 'hush copy' })
      players.push(createPlayer(injecting(app), 'copy'))
    }
    const player = players[((steps[at % steps.length] as number) >> 4) % players.length] as Player
    const { status } = await player.play(request)
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }

  let count = 0
  for (const { clientId, control } of players) {
    // From here on no time passes.
    await control('PATCH', '/clock', { mode: 'frozen' })
    const recording = await replays(t, app, clientId)
    t.equal(recording.dropped, 0)
    t.notMatch(JSON.stringify(recording), 'hush', 'it tells no secret')
    count += recording.requests.length
  }
  t.ok(count >= 5000, `${count} requests`)
  for (const status of [200, 201, 204, 400, 401, 402, 403, 404, 409, 418, 429, 500, 503]) {
    t.ok((statuses.get(status) ?? 0) >= 4, `${statuses.get(status)} answers of status ${status}`)
  }
})

type Player = ReturnType<typeof createPlayer>

t.test('issue 3: what a fault does to the delivery of an answer does nothing to the recording', async t => {
  const app = build(t)
  const client = await connect(app)
  const port = await listen(app)
  const kinds = [
    { kind: 'drop', when: 'before' },
    { kind: 'drop', when: 'after' },
    { kind: 'reset', when: 'before' },
    { kind: 'reset', when: 'after' },
    { kind: 'truncate' },
    { kind: 'garbage' },
    { kind: 'dribble', ms: 0 },
    { kind: 'delay', ms: 1 },
  ]
  for (const [at, effect] of kinds.entries()) {
    await client.control('POST', '/faults', { match: { method: 'POST' }, effect })
    const body = JSON.stringify(mandate({ mandateReference: `MND-100${at}` }))
    const headers = {
      authorization: `Bearer ${client.token}`,
      'x-region': 'EU',
      'content-type': 'application/json',
      connection: 'close',
    }
    const socket = dial(port, '127.0.0.1')
    socket.resume().write(request('POST /api/v1/mandates', headers, body))
    await closed(socket)
  }
  const { requests } = await replays(t, app)
  const answers = requests.filter(({ url }) => url === '/api/v1/mandates').map(({ answer }) => answer?.status)
  t.same(answers, [503, 201, 503, 201, 201, 201, 201, 201], 'what came of each, delivered or not')
})

// ------------------------------------------------------------------------------------------------------------- order

/** Connections to a server on which half a request can be sent first. */
async function prepare(t: Test, { clock = MONDAY, maxTenants = 10 } = {}) {
  const time = { now: Date.parse(MONDAY) }
  const app = build(t, { clock, maxTenants, now: () => time.now })
  const client = await connect(app)
  const port = await listen(app)
  return {
    app,
    client,
    time,
    /** Sends all of a request but the end of its body. When it answers, that has arrived; what it answers ends it. */
    async begin(line: string, body: string | Buffer, type = 'application/json') {
      const headers = { authorization: `Bearer ${client.token}`, 'x-region': 'EU', 'content-type': type }
      const bytes = Buffer.from(request(line, headers, body))
      const connection = await open(port)
      connection.send(Buffer.concat([Buffer.from(request(`GET ${LIVE}`)), bytes.subarray(0, -5)]))
      await connection.read()
      return async () => {
        connection.send(bytes.subarray(-5))
        const answer = await connection.read()
        connection.end()
        return answer
      }
    },
  }
}

const MULTIPART = 'multipart/form-data; boundary=cut'
const upload = (content: string | Buffer) =>
  Buffer.concat([
    Buffer.from('--cut\r\ncontent-disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n%PDF-1.7\n'),
    Buffer.from(content),
    Buffer.from('\r\n--cut--\r\n'),
  ])

t.test('issue 3: the order of a recording is that in which requests were applied, not in which they began', async t => {
  const { app, client, begin } = await prepare(t)
  await client.post('/api/v1/bills', bill())
  const first = await begin('POST /api/v1/mandates', JSON.stringify(mandate()))
  const second = await begin('POST /api/v1/bills/INV-2026-001/document', upload('slow'), MULTIPART)
  const third = await begin('POST /api/v1/mandates', JSON.stringify(mandate({ type: 'ONE_OFF' })))
  await client.post('/api/v1/bills', bill({ uniqueReferenceIdentifier: 'INV-2' }))
  t.equal((await third())?.status, 201)
  t.equal((await second())?.status, 201)
  t.equal((await first())?.status, 409)
  const recording = await replays(t, app)
  t.same(targets(recording), [
    'POST /api/v1/oauth/token',
    'POST /api/v1/bills',
    'POST /api/v1/bills',
    'POST /api/v1/mandates',
    'POST /api/v1/bills/INV-2026-001/document',
    'POST /api/v1/mandates',
  ])
})

t.test('issue 3: 40 simultaneous requests on as many connections replay with no difference', async t => {
  const { app, client, begin } = await prepare(t)
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/bills', bill())
  const ends = await Promise.all(
    Array.from({ length: 40 }, (_, at) => {
      const reference = `RACE-${1000 + (at % 15)}`
      if (at % 3 === 0)
        return begin('POST /api/v1/bills/INV-2026-001/document', upload(`${at}`.repeat(9999)), MULTIPART)
      if (at % 3 === 1) return begin('POST /api/v1/mandates', JSON.stringify(mandate({ mandateReference: reference })))
      return begin('POST /api/v1/direct-debit', JSON.stringify(collection({ collectionReference: reference })))
    }),
  )
  const answers = await Promise.all(ends.map(end => end()))
  t.same(new Set(answers.map(answer => answer?.status)), new Set([201, 409]))
  t.equal((await replays(t, app)).requests.length, 43)
})

t.test('issue 3: a request has the time at which its body was complete', async t => {
  const { app, client, time, begin } = await prepare(t, { clock: 'real' })
  const end = await begin('POST /api/v1/mandates', JSON.stringify(mandate()))
  time.now += 90_500
  t.match(await end(), { status: 201, body: { createdAt: '2026-11-02T09:01:30Z' } })
  time.now += 250
  await client.delete('/api/v1/mandates/MND-0001')
  const { requests } = await recordingOf(app)
  t.match(requests, [
    { n: 1, at: '2026-11-02T09:00:00Z', receivedAt: '2026-11-02T09:00:00.000Z' },
    { n: 2, at: '2026-11-02T09:01:30Z', receivedAt: '2026-11-02T09:01:30.500Z' },
    { n: 3, at: '2026-11-02T09:01:30Z', receivedAt: '2026-11-02T09:01:30.750Z' },
  ])
  await replays(t, app)
})

t.test('decisions §11: an operation that goes while the body comes in is gone, and nothing is recorded', async t => {
  const { app, client, begin } = await prepare(t)
  const gone = { operation: 'POST /api/v1/mandates', sunset: '2026-11-03T09:00:00Z', goneAfterSunset: true }
  await client.control('PUT', '/deprecations', { data: [gone] })
  const end = await begin('POST /api/v1/mandates', JSON.stringify(mandate()))
  await client.control('POST', '/clock/advance', { by: 'P1D' })
  t.match(await end(), { status: 410, body: { code: 'OPERATION_SUNSET' } })
  const recording = await replays(t, app)
  t.notOk(targets(recording).includes('POST /api/v1/mandates'))
})

t.test('issue 3: a fault that is armed while the body comes in is met, and recorded before', async t => {
  const { app, client, begin } = await prepare(t)
  const end = await begin('POST /api/v1/mandates', JSON.stringify(mandate()))
  await client.control('POST', '/faults', { effect: { kind: 'error', status: 500 } })
  t.match(await end(), { status: 500 })
  t.match(targets(await replays(t, app)), [/token/, /faults/, /mandates/])
})

t.test('issue 3: a tenant that is reset, replaced or registered anew while a body comes in has none of it', async t => {
  for (const [name, renew, status] of [
    ['reset', (client: Client) => client.control('POST', '/reset'), 401],
    [
      'replaced',
      async (client: Client) => client.control('PUT', '/state', (await client.control('GET', '/state')).body),
      201,
    ],
    ['registered anew', ({ app }: Client) => requestToken(app, { client_id: 'other' }), 401],
  ] as const) {
    const { app, client, begin } = await prepare(t, { maxTenants: 2 })
    const end = await begin('POST /api/v1/mandates', JSON.stringify(mandate()))
    await renew(client)
    t.equal((await end())?.status, status, name)
    if (name === 'registered anew') await requestToken(app)
    const { start, requests } = await recordingOf(app)
    t.same(start.mandates, [], name)
    t.same(
      requests.map(({ url, answer }) => [url, answer?.status]),
      {
        401: { reset: [], 'registered anew': [['/api/v1/oauth/token', 200]], replaced: [] }[name],
        201: [['/api/v1/mandates', 201]],
      }[status],
      name,
    )
    await replays(t, app)
  }
})

type Client = Awaited<ReturnType<typeof connect>>

// ------------------------------------------------------------------------------------------------- what is recorded

t.test('issue 3: the file has seed, start, and the requests with the time of the tenant', async t => {
  const app = build(t, {
    clients: [{ clientId: 'Käse & Söhne', clientSecret: 'hush', scope: 'read', fixture: 'demo' }],
  })
  const { headers, body } = await call(app, 'GET', '/_sandbox/recording?client=K%C3%A4se%20%26%20S%C3%B6hne')
  t.match(headers, {
    'content-type': 'application/json; charset=utf-8',
    'content-disposition': 'attachment; filename="recording-K%C3%A4se%20%26%20S%C3%B6hne.json"',
  })
  const { start, ...rest } = body
  t.same(rest, {
    format: 'payments-sandbox/recording',
    version: 1,
    recordedBy: VERSION,
    clientId: 'Käse & Söhne',
    seed: 'test',
    publicUrl: 'http://127.0.0.1:8080',
    tokenLifetime: 3600,
    identity: { resets: 0, fixture: 'demo', scope: 'read', allowedOrigins: [] },
    dropped: 0,
    requests: [],
  })
  t.same(start, (await call(app, 'GET', '/_sandbox/state?client=K%C3%A4se%20%26%20S%C3%B6hne')).body)

  const client = await connect(app)
  await client.post('/api/v1/mandates', mandate(), { headers: { 'content-type': 'application/json; charset=UTF-8' } })
  await client.control('POST', '/mandates/MND-0001/cancel')
  const { requests } = await recordingOf(app)
  const at = '2026-11-02T09:00:00Z'
  const receivedAt = '1970-01-01T00:00:00.000Z'
  t.same(requests, [
    {
      n: 1,
      at,
      receivedAt,
      method: 'POST',
      url: '/api/v1/oauth/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'client_id=acme&client_secret=***&grant_type=client_credentials',
      answer: {
        status: 200,
        body: '{"access_token":"***","expires_in":3600,"scope":"payments","token_type":"Bearer"}',
      },
    },
    {
      n: 2,
      at,
      receivedAt,
      method: 'POST',
      url: '/api/v1/mandates',
      headers: { 'x-region': 'EU', 'content-type': 'application/json' },
      body: JSON.stringify(mandate()),
      answer: { status: 201, body: requests[1]?.answer?.body },
    },
    {
      n: 3,
      at,
      receivedAt,
      method: 'POST',
      url: '/_sandbox/mandates/MND-0001/cancel?client=acme',
      headers: {},
      answer: { status: 200, body: requests[2]?.answer?.body },
    },
  ])
  t.match(JSON.parse(requests[1]?.answer?.body ?? ''), { mandateReference: 'MND-0001', status: 'ACTIVE' })
})

t.test('issue 4: what is recorded of a body is what was sent, whatever has become of its record since', async t => {
  const app = build(t)
  const client = await connect(app)
  const sent: string[] = []
  const expect = (body: object, { status }: { status: number }) => {
    t.ok(status < 300, `${status} for ${JSON.stringify(body)}`)
    sent.push(JSON.stringify(body))
  }
  const post = async (url: string, body: object) => expect(body, await client.post(url, body))
  const patch = async (url: string, body: object) => expect(body, await client.patch(url, body))
  const control = async (method: string, path: string, body: object) =>
    expect(body, await client.control(method, path, body))

  await control('POST', '/seed', {
    records: {
      mandates: [mandate({ mandateReference: 'MND-0009', status: 'PENDING' })],
      counterparties: [{ region: 'EU', counterpartyReference: 'CPTY-0001', remarks: 'seeded' }],
    },
  })
  await control('PUT', '/settings', { allowedOrigins: ['https://a.example'] })
  await control('POST', '/faults', {
    match: { path: '/api/v1/accounts' },
    times: 1,
    effect: { kind: 'error', status: 500 },
  })
  await post('/api/v1/mandates', mandate())
  await post('/api/v1/direct-debit', collection())
  await post('/api/v1/bills', bill())
  for (const city of ['Berlin', 'Bonn']) {
    const address = { line1: 'Main Street 1', city, country: 'DE' }
    await patch('/api/v1/counterparties/CPTY-0001', { remarks: `moved to ${city}`, address })
  }
  for (const dueDate of ['2026-12-02', '2026-12-03']) await patch('/api/v1/bills/INV-2026-001', { dueDate })
  await control('PUT', '/settings', { allowedOrigins: ['https://b.example'] })
  await client.control('POST', '/mandates/MND-0009/activate')
  await client.control('POST', '/mandates/MND-0009/cancel')
  await client.control('POST', '/clock/advance', { by: 'P30D' })

  const { requests } = await recordingOf(app)
  const isOurs = ({ url }: { url: string }) => !/token|activate|cancel|advance/.test(url)
  t.same(
    requests.filter(isOurs).map(({ body }) => body),
    sent,
  )
})

t.test('issue 3: secrets and tokens are in no recording, wherever they were sent', async t => {
  const app = build(t)
  const client = await connect(app)
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const token = (await requestToken(app)).body.access_token
  await call(app, 'POST', `/api/v1/oauth/token?client_secret=hush-1&access_token=${token}&x=1`, {
    headers: form,
    body: `client_id=acme&client_secret=secret&grant_type=client_credentials&password=hush-2&access_token=${token}`,
  })
  await client.post(`/api/v1/mandates?Access_Token=${token}&a=b%20c&client%5Fsecret=hush-3`, {
    ...mandate({ client_secret: 'hush-4', clientSecret: 'hu\\"sh-4' }),
    creditor: { ...mandate().creditor, password: 'hush-5' },
  })
  const recording = await replays(t, app)
  t.equal(recording.requests.length, 4)
  const text = JSON.stringify(recording)
  t.notMatch(text, 'hush')
  t.notMatch(text, 'sh-4')
  t.notOk(text.includes(token))
  t.notOk(text.includes('"secret"') || text.includes('=secret'))
  t.match(recording.requests[3], { answer: { status: 201 }, url: /^\/api\/v1\/mandates\?.*a=b%20c/ })
})

t.test('issue 3: of a body there is what the operation reads, to the letter, and nothing else', async t => {
  const app = build(t)
  const client = await connect(app)
  // What looks like a secret, but is a record's own.
  const own = { accountHolderName: 'token=abc', remarks: `Basic ${Buffer.from('a:b').toString('base64')}, password=x` }
  const link = payoutLink({ ...own, note: 'not read' })
  await client.post('/api/v1/payout-links?note="a+b"&%61=%7e', ` ${JSON.stringify(link, null, 3)}\n`)
  const effect = { kind: 'error', status: 500, headers: { password: 'x', 'x-token': 'Basic YTpi' } }
  const armed = await client.control('POST', '/faults', { effect })
  t.same(armed.body.effect, effect)
  await client.send('DELETE', '/api/v1/mandates/MND-0001', {
    body: 'not read',
    headers: { 'content-type': 'text/plain' },
  })
  await client.control('POST', '/tokens/expire', {})
  const recording = await replays(t, app)
  const bodies = recording.requests.slice(1).map(({ body }) => body)
  t.same(bodies, [JSON.stringify(payoutLink(own)), JSON.stringify({ effect }), undefined, '{}'])
  t.notMatch(JSON.stringify(recording.requests), 'not read')
  t.match(recording.requests[1]?.url, /\?note=(%22|")a\+b(%22|")&%61=%7e$/)
})

t.test('issue 3: a body that is no text is in base64, one that is text is not', async t => {
  const app = build(t)
  const client = await connect(app)
  await client.post('/api/v1/bills', bill())
  for (const content of [Buffer.from([0xff, 0xfe]), 'plain: é', Buffer.alloc(50)]) {
    const options = { headers: { 'content-type': MULTIPART } }
    const { status } = await client.post('/api/v1/bills/INV-2026-001/document', upload(content), options)
    t.equal(status, 201)
  }
  const { requests } = await replays(t, app)
  const [binary, plain, zeros] = requests.slice(2)
  t.same([binary?.body, binary?.bodyBase64], [undefined, upload(Buffer.from([0xff, 0xfe])).toString('base64')])
  t.same([plain?.body, plain?.bodyBase64], [upload('plain: é').toString(), undefined])
  t.same([zeros?.body, zeros?.bodyBase64], [undefined, upload(Buffer.alloc(50)).toString('base64')])
})

t.test('issue 3: a long answer is known by its digest', async t => {
  const app = build(t)
  const client = await connect(app)
  const mandates = Array.from({ length: 60 }, (_, at) => mandate({ mandateReference: `MND-${1000 + at}` }))
  await client.control('POST', '/seed', { records: { mandates } })
  await client.control('POST', '/faults', { times: null, effect: { kind: 'delay', ms: 0 } })
  const { payload } = await app.inject({
    url: '/api/v1/mandates',
    headers: { authorization: `Bearer ${client.token}`, 'x-region': 'EU' },
  })
  t.ok(payload.length > 16 * 1024)
  const { requests } = await replays(t, app)
  t.same(requests[3]?.answer, { status: 200, sha256: createHash('sha256').update(payload).digest('hex') })

  for (const [length, isWhole] of [
    [16 * 1024, true],
    [16 * 1024 + 1, false],
  ] as const) {
    t.same(Object.keys(answerLine(200, 'x'.repeat(length))), ['status', isWhole ? 'body' : 'sha256'])
  }
})

t.test('issue 3: an answer without content is recorded without', async t => {
  const app = build(t)
  const client = await connect(app)
  const { payoutLinkId } = (await client.post('/api/v1/payout-links', payoutLink())).body
  await client.patch(`/api/v1/payout-links/${payoutLinkId}/cancel`, { cancellationComment: 'No.' })
  await client.control('POST', '/faults', { match: { method: 'HEAD' }, effect: { kind: 'delay', ms: 0 } })
  await client.send('HEAD', '/api/v1/mandates')
  const { requests } = await replays(t, app)
  t.same(requests[2]?.answer, { status: 204, body: '' })
  t.match(requests[4], { method: 'HEAD', url: '/api/v1/mandates', answer: { status: 200, body: '' } })
})

t.test('issue 3: what was refused before it could change anything is not recorded, nor are reads', async t => {
  const app = build(t)
  const client = await connect(app)
  const json = { 'content-type': 'application/json' }
  const own = { authorization: `Bearer ${client.token}`, 'x-region': 'EU', ...json }
  const without = (name: string) => Object.fromEntries(Object.entries(own).filter(([key]) => key !== name))
  const refused: [status: number, method: string, url: string, headers: Record<string, string>, body?: unknown][] = [
    [404, 'POST', '/api/v1/nowhere', own, mandate()],
    [405, 'PUT', '/api/v1/mandates', own, mandate()],
    [401, 'POST', '/api/v1/mandates', without('authorization'), mandate()],
    [401, 'POST', '/api/v1/mandates', { ...own, authorization: 'Bearer x' }, mandate()],
    [400, 'POST', '/api/v1/mandates', without('x-region'), mandate()],
    [415, 'POST', '/api/v1/mandates', { ...own, 'content-type': 'text/plain' }, 'x'],
    [413, 'POST', '/api/v1/mandates', own, Buffer.alloc(MIB + 1)],
    [400, 'POST', '/api/v1/mandates', own, '{'],
    [400, 'POST', '/api/v1/mandates', own, {}],
    [400, 'DELETE', '/api/v1/mandates/!', without('content-type')],
    [
      401,
      'POST',
      '/api/v1/oauth/token',
      { 'content-type': 'application/x-www-form-urlencoded' },
      'client_id=acme&client_secret=wrong&grant_type=client_credentials',
    ],
    [
      400,
      'POST',
      '/api/v1/oauth/token',
      { 'content-type': 'application/x-www-form-urlencoded' },
      'client_id=acme&client_secret=secret&grant_type=x',
    ],
    [400, 'POST', '/_sandbox/clock/advance?client=acme', json, { by: 'x' }],
    [404, 'POST', '/_sandbox/clock/advance?client=nobody', json, { by: 'P1D' }],
    [200, 'GET', '/api/v1/mandates', without('content-type')],
    [200, 'HEAD', '/api/v1/mandates', without('content-type')],
    [204, 'OPTIONS', '/api/v1/mandates', without('content-type')],
    [200, 'GET', '/_sandbox/state?client=acme', {}],
    [200, 'GET', '/_sandbox/recording?client=acme', {}],
    [200, 'POST', '/_sandbox/requests/verify?client=acme', json, { path: '/' }],
    [200, 'DELETE', '/_sandbox/requests?client=acme', {}],
    [201, 'POST', '/_sandbox/fork?client=acme', json, { clientId: 'copy' }],
    [409, 'POST', '/_sandbox/fork?client=acme', json, { clientId: 'copy' }],
  ]
  for (const [status, method, url, headers, body] of refused) {
    t.equal((await call(app, method, url, { headers, body })).status, status, `${method} ${url}`)
  }
  t.same(targets(await recordingOf(app)), ['POST /api/v1/oauth/token'])

  await client.delete('/api/v1/mandates/MND-NONE')
  await client.post('/api/v1/direct-debit', collection())
  await client.control('POST', '/mandates/MND-NONE/cancel')
  const { requests } = await replays(t, app)
  t.same(
    requests.slice(1).map(({ answer }) => answer?.status),
    [404, 404, 404],
    'what the state refuses is',
  )
})

t.test('issue 3: a read is recorded while a fault is armed for it, whether or not the fault fires', async t => {
  const app = build(t)
  const client = await connect(app)
  const fault = { match: { path: '/api/v1/mandates' }, skip: 1, times: 1, effect: { kind: 'stale-token' } }
  await client.control('POST', '/faults', fault)
  const statuses = []
  for (let count = 0; count < 3; count++) statuses.push((await client.get('/api/v1/mandates')).status)
  await client.get('/api/v1/bills')
  t.same(statuses, [200, 401, 200])
  const recording = await replays(t, app)
  t.same(targets(recording).slice(2, 4), ['GET /api/v1/mandates', 'GET /api/v1/mandates'])
  t.notMatch(targets(recording), /bills/)
})

t.test('issue 3: an answer that is not there yet is null', async t => {
  const app = build(t)
  await connect(app)
  const world = { counts: () => ({}), events: { last: () => 0 }, keep: () => ({}) }
  const tenant = { clientId: 'acme', world } as unknown as Tenant
  const recordings = createRecordings(MIB)
  recordings.began(tenant, { how: 'fixture', identity: {} as never, state: () => ({}) as never })
  const pending: RecordedRequest = {
    at: 0,
    receivedAt: 0,
    method: 'POST',
    url: '/',
    region: undefined,
    contentType: undefined,
    body: null,
    bodyBytes: 0,
    answer: null,
  }
  recordings.add(tenant, pending)
  t.equal(recordings.of(tenant).requests[0]?.answer, null)
  recordings.answered(tenant, pending, 200, 'x')
  t.same(recordings.of(tenant).requests[0]?.answer, { status: 200, body: 'x' })
})

t.test('issue 3: a reset, a state that is put back, and a new life of a dropped client begin it anew', async t => {
  const app = build(t, { maxTenants: 2 })
  const client = await connect(app)
  await client.post('/api/v1/mandates', mandate())
  const state = (await client.control('GET', '/state')).body
  await client.control('POST', '/reset')
  t.match(await recordingOf(app), { requests: [], start: { mandates: [] }, identity: { resets: 1 } })
  await client.control('PUT', '/state', state)
  const after = await recordingOf(app)
  t.same(after.requests, [])
  t.same(after.start, state)
  await requestToken(app)
  t.same(targets(await replays(t, app)), ['POST /api/v1/oauth/token'])

  await requestToken(app, { client_id: 'beta' })
  await requestToken(app)
  t.match(await recordingOf(app), { dropped: 0, start: { mandates: [] }, requests: [{ n: 1 }] })
  t.equal((await recordingOf(app)).requests.length, 1)
})

t.test('issue 3: a fork has a recording of its own, which begins with the copy', async t => {
  const app = build(t)
  const client = await connect(app)
  await client.post('/api/v1/mandates', mandate())
  const state = (await client.control('GET', '/state')).body
  await client.control('POST', '/fork', { clientId: 'copy' })
  const copy = await connect(app, 'copy')
  await copy.delete('/api/v1/mandates/MND-0001')
  const recording = await replays(t, app, 'copy')
  t.same(recording.start, state)
  t.match(targets(recording), ['POST /api/v1/oauth/token', 'DELETE /api/v1/mandates/MND-0001'])
  t.notMatch(targets(await replays(t, app)), /DELETE/)
})

// ------------------------------------------------------------------------------------------------------------ bounds

/** What the requests of recordings take in a file, without the white space. */
const sizeOf = (...recordings: Recording[]) =>
  recordings.reduce((sum, { requests }) => sum + JSON.stringify(requests).length, 0)

t.test('issue 3: a flood stays inside the bound; older stretches go, and what is left replays', async t => {
  const recordingBytes = 200_000
  const app = build(t, { recordingBytes })
  const client = await connect(app)
  await client.post('/api/v1/bills', bill())
  let sent = 2
  let previous = 0
  const lengths = new Set<number>()
  for (let at = 0; at < 1200; at++) {
    const dueDate = `2027-01-${10 + (at % 20)}`
    await client.patch('/api/v1/bills/INV-2026-001', { dueDate, note: 'é'.repeat(at % 300) })
    sent++
    if (at % 50 > 0) continue
    const recording = await recordingOf(app)
    t.equal(recording.dropped + recording.requests.length, sent, 'what is gone is counted')
    t.ok(recording.dropped >= previous)
    t.ok(sizeOf(recording) <= recordingBytes, `${sizeOf(recording)} bytes`)
    lengths.add(recording.requests.length)
    previous = recording.dropped
  }
  t.ok(previous > 500, `${previous} are gone`)
  t.ok(lengths.size > 5, 'they go little by little')
  const { requests } = await replays(t, app)
  t.ok(requests.length > 50, `${requests.length} are left`)
  t.equal(requests[0]?.n, 1)
})

t.test('issue 3: answers count, too', async t => {
  const recordingBytes = 200_000
  const app = build(t, { recordingBytes })
  const client = await connect(app)
  const mandates = Array.from({ length: 30 }, (_, at) => mandate({ mandateReference: `MND-${1000 + at}` }))
  await client.control('POST', '/seed', { records: { mandates } })
  await client.control('POST', '/faults', { times: null, effect: { kind: 'delay', ms: 0 } })
  for (let at = 0; at < 40; at++) await client.get('/api/v1/mandates')
  const recording = await replays(t, app)
  t.ok((recording.requests.at(-1)?.answer?.body?.length ?? 0) > 8000)
  t.ok(recording.dropped > 0)
  t.ok(sizeOf(recording) <= recordingBytes, `${sizeOf(recording)} bytes`)
})

t.test('issue 3: what earlier lives had takes no room', async t => {
  const app = build(t, { recordingBytes: 100_000, maxTenants: 2 })
  for (let life = 0; life < 12; life++) {
    const client = await connect(app, life % 2 === 0 ? 'acme' : 'beta')
    for (let at = 0; at < 15; at++) await client.post('/api/v1/bills', bill({ uniqueReferenceIdentifier: `INV-${at}` }))
    if (life % 4 === 0) await client.control('POST', '/reset')
    else t.match(await recordingOf(app, client.clientId), { dropped: 0, requests: { length: 16 } })
  }
})

t.test('issue 3: many tenants share the bound, and the one that has most gives way', async t => {
  const recordingBytes = 300_000
  const app = build(t, { recordingBytes })
  const quiet = await connect(app, 'quiet')
  await quiet.post('/api/v1/mandates', mandate())
  const clients = await Promise.all(Array.from({ length: 20 }, (_, at) => connect(app, `tenant-${at}`)))
  for (let round = 0; round < 40; round++) {
    for (const [at, client] of clients.entries()) {
      await client.post('/api/v1/bills', bill({ uniqueReferenceIdentifier: `INV-${at}-${round}` }))
    }
  }
  const recordings = await Promise.all(clients.map(({ clientId }) => recordingOf(app, clientId)))
  const total = sizeOf(...recordings)
  t.ok(total <= recordingBytes, `${total} bytes`)
  t.ok(recordings.reduce((sum, { dropped }) => sum + dropped, 0) > 200)
  for (const { clientId } of clients) await replays(t, app, clientId)
  const kept = await replays(t, app, 'quiet')
  t.equal(kept.dropped, 0, 'a tenant of few requests keeps them')
})

t.test('issue 3: a request that alone is larger than the bound is not kept, and the next one begins anew', async t => {
  const recordingBytes = 20_000
  const app = build(t, { recordingBytes })
  const client = await connect(app)
  await client.post('/api/v1/bills', bill())
  const headers = { 'content-type': MULTIPART }
  await client.post('/api/v1/bills/INV-2026-001/document', upload('x'.repeat(30_000)), { headers })
  t.match(await recordingOf(app), { dropped: 3, requests: [], start: { bills: [{ record: { documents: [{}] } }] } })
  await client.patch('/api/v1/bills/INV-2026-001', { status: 'PAID' })
  const recording = await replays(t, app)
  t.match(recording, {
    dropped: 3,
    requests: [{ n: 1, method: 'PATCH' }],
    start: { bills: [{ record: { status: 'OPEN' } }] },
  })
})

t.test('issue 3: where the state is too large for a snapshot nothing is recorded, until the next life', async t => {
  const recordingBytes = 3000
  const app = build(t, { recordingBytes })
  const client = await connect(app)
  const mandates = Array.from({ length: 50 }, (_, at) => mandate({ mandateReference: `MND-${1000 + at}` }))
  await client.control('POST', '/seed', { records: { mandates } })
  for (let at = 0; at < 100; at++) await client.delete('/api/v1/mandates/MND-NONE')
  const recording = await replays(t, app)
  t.same(recording.requests, [])
  t.ok(recording.dropped >= 102)
  t.equal(recording.start.mandates.length, 50, 'it begins and ends with the present state')
  await client.control('POST', '/reset')
  await requestToken(app)
  t.equal((await replays(t, app)).requests.length, 1)
})

t.test('control plane, SANDBOX_RECORDING_BYTES 0: nothing is recorded', async t => {
  const app = build(t, { recordingBytes: 0 })
  const client = await connect(app)
  await client.post('/api/v1/mandates', mandate())
  await client.control('POST', '/fork', { clientId: 'copy' })
  for (const clientId of ['acme', 'copy']) {
    t.match(await recordingOf(app, clientId), { dropped: 0, requests: [], start: { mandates: [{}] } })
    await replays(t, app, clientId)
  }
})

t.test('control plane, SANDBOX_RECORDING_BYTES: any bound is kept to, however small', async t => {
  for (const recordingBytes of [1, 100, 1000, 3000]) {
    const app = build(t, { recordingBytes })
    const client = await connect(app)
    for (let at = 0; at < 20; at++) {
      await client.post('/api/v1/bills', bill({ uniqueReferenceIdentifier: `INV-${at}` }))
      const recording = await recordingOf(app)
      t.ok(sizeOf(recording) <= recordingBytes + 2, `${recordingBytes}: ${sizeOf(recording)} bytes`)
      t.equal(recording.dropped + recording.requests.length, at + 2)
    }
    await replays(t, app)
  }
})
