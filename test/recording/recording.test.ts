import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { connect as dial } from 'node:net'
import fc from 'fast-check'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import t from 'tap'
import { command } from '../command.js'
import type { Client } from '../helper.js'
import {
  bill,
  build,
  call,
  collection,
  connect,
  MONDAY,
  mandate,
  NO_WAIT,
  newClient,
  payoutLink,
  requestToken,
} from '../helper.js'
import { closed, headersOf, listen, open, request } from '../http/raw.js'
import { MULTIPART, multipart } from '../multipart.js'
import { createPlayer, injecting, randomRequests } from '../random-requests.js'

// A recording is a start state and the requests since. `payments-sandbox replay` sends them again.

const IS_LONG = process.env.TEST_LONG === '1'
const MIB = 1024 * 1024

// biome-ignore lint/suspicious/noExplicitAny: states and inputs are of every shape
type Json = any

interface Entry {
  readonly n: number
  readonly at: string
  readonly receivedAt: string
  readonly operation: string
  readonly region?: string
  readonly params: Json
  readonly query: Json
  readonly body?: Json
  readonly file?: { fileName: string; contentBase64: string }
  readonly answer: { readonly status: number; readonly body?: Json; readonly sha256?: string } | null
}

interface Recording {
  readonly complete: boolean
  readonly start: Json
  readonly requests: readonly Entry[]
}

async function recordingOf(app: FastifyInstance, clientId = 'acme'): Promise<Recording> {
  const { status, body } = await call(app, 'GET', `/_sandbox/recording?client=${clientId}`)
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body
}

const operations = ({ requests }: Recording) => requests.map(({ operation }) => operation)

let files = 0

/** That all answers of a recording are the same when it is replayed. */
async function replays(t: Test, app: FastifyInstance, clientId = 'acme'): Promise<Recording> {
  const recording = await recordingOf(app, clientId)
  if (files === 0) t.testdir()
  const file = `${t.testdirName}-${files++}.json`
  writeFileSync(file, JSON.stringify(recording))
  const { code, stdout, stderr } = await command(['replay', file])
  t.same([code, stderr], [0, ''], `the recording of ${clientId} replays: ${stdout}`)
  t.equal(/bound/.test(stdout), recording.complete === false, 'replay says whether the recording stopped at its bound')
  return recording
}

// --------------------------------------------------------------------------------------------------------- sameness

t.test('control plane, GET /recording: a request has one real time, even while time passes', async t => {
  let realNow = Date.parse(MONDAY)
  const app = build(t, {
    clock: 'real',
    now() {
      realNow += 700
      return realNow
    },
  })
  const client = await connect(app)
  await client.control('POST', '/faults', { ttl: 'PT1H', times: 9, effect: { kind: 'delay', ms: 0 } })
  await client.control('PATCH', '/clock', { rate: 60 })
  await client.control('POST', '/clock/advance', { by: 'PT1M' })
  await client.post('/api/v1/mandates', mandate())
  t.same(operations(await replays(t, app, client.clientId)), [
    'POST /_sandbox/faults',
    'PATCH /_sandbox/clock',
    'POST /_sandbox/clock/advance',
    'POST /api/v1/mandates',
  ])
})

t.test('control plane, GET /recording: random requests over several tenants replay with no difference', async t => {
  const total = IS_LONG ? 7000 : 700
  const steps = fc.sample(fc.nat(1_000_000), { seed: 3, numRuns: 1009 })
  let realNow = Date.parse('2026-11-02T09:00:00.000Z')
  const app = build(t, {
    clock: 'real',
    now: () => realNow,
    timers: NO_WAIT,
    recordingBytes: 64 * MIB,
    requestLog: { entries: 9 },
  })
  const players = ['acme', 'beta', 'gamma'].map(clientId => createPlayer(injecting(app), clientId))
  players.push(createPlayer(injecting(app), 'sandbox-client', 'sandbox-secret'))
  for (const player of players) await player.authenticate()
  const [acme, beta, gamma] = players as [Player, Player, Player, Player]

  const statuses = new Set<number>()
  for (const [at, request] of randomRequests(20_261_103, total).entries()) {
    const step = steps[at % steps.length] as number
    // Seldom, the real time is set back.
    realNow += step % 500 === 0 ? -500 : step % 2500
    // These begin another recording.
    if (at === 30) await beta.control('POST', '/reset')
    if (at === 40) await gamma.control('PUT', '/state', JSON.parse((await acme.control('GET', '/state')).text))
    if (at === 50) {
      await acme.control('POST', '/fork', { clientId: 'copy', clientSecret: 'hush copy' })
      players.push(createPlayer(injecting(app), 'copy'))
    }
    const { status } = await (players[(step >> 4) % players.length] as Player).play(request)
    statuses.add(status)
  }
  let count = 0
  for (const { clientId, control } of players) {
    await control('DELETE', '/faults')
    // Its answer tells all that the state has planned.
    await control('POST', '/clock/advance', { by: 'P400D' })
    const recording = await replays(t, app, clientId)
    t.equal(recording.complete, true)
    t.notMatch(JSON.stringify(recording), 'hush', 'it holds no secret')
    count += recording.requests.length
  }
  t.ok(count >= total / 2, `${count} requests`)
  const expected = [200, 201, 204, 400, 404, 409]
  const wrong = expected.filter(status => !statuses.has(status))
  t.same(wrong, [])
})

type Player = ReturnType<typeof createPlayer>

t.test('control plane, GET /recording: a fault in the delivery does nothing to the recording', async t => {
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
  const own = { authorization: `Bearer ${client.token}`, 'x-region': 'EU', 'content-type': 'application/json' }
  for (const [at, effect] of kinds.entries()) {
    await client.control('POST', '/faults', { match: { method: 'POST' }, effect })
    const body = JSON.stringify(mandate({ mandateReference: `MND-100${at}` }))
    const socket = dial(port, '127.0.0.1')
    socket.resume().write(request('POST /api/v1/mandates', { ...own, connection: 'close' }, body))
    await closed(socket)
  }
  const { requests } = await replays(t, app)
  const created = requests.filter(({ operation }) => operation === 'POST /api/v1/mandates')
  const found = created.map(({ answer }) => answer?.status)
  t.same(found, [503, 201, 503, 201, 201, 201, 201, 201])
})

// ------------------------------------------------------------------------------------------------------------- order

/** A server on which half a request can be sent first. */
async function prepare(t: Test, { clock = MONDAY, maxTenants = 10 } = {}) {
  const time = { now: Date.parse(MONDAY) }
  const app = build(t, { clock, maxTenants, now: () => time.now })
  let hasBegun = () => {}
  // The request is authenticated, and its body is about to be read.
  app.addHook('preParsing', (_request, _reply, payload, next) => {
    hasBegun()
    next(null, payload)
  })
  const client = await connect(app)
  const port = await listen(app)
  return {
    app,
    client,
    time,
    /** Sends a request up to the last bytes of its body, and waits until it is authenticated. The result sends the rest. */
    async begin(line: string, body: string | Buffer, type: object = { 'content-type': 'application/json' }) {
      const headers = { authorization: `Bearer ${client.token}`, 'x-region': 'EU', ...type }
      const bytes = Buffer.from(request(line, headers, body))
      const connection = await open(port)
      const begun = new Promise<void>(resolve => {
        hasBegun = resolve
      })
      connection.send(bytes.subarray(0, -5))
      await begun
      return async () => {
        connection.send(bytes.subarray(-5))
        const answer = await connection.read()
        connection.end()
        return answer
      }
    },
  }
}

t.test('control plane, GET /recording: the order of a recording is that in which requests were applied', async t => {
  const { app, client, begin } = await prepare(t)
  await client.post('/api/v1/bills', bill())
  const first = await begin('POST /api/v1/mandates', JSON.stringify(mandate()))
  const second = await begin('POST /api/v1/bills/INV-2026-001/document', multipart({}), MULTIPART)
  const third = await begin('POST /api/v1/mandates', JSON.stringify(mandate({ type: 'ONE_OFF' })))
  await client.control('POST', '/faults', { match: { path: '*/document' }, effect: { kind: 'error', status: 418 } })
  const statuses = [(await third())?.status, (await second())?.status, (await first())?.status]
  t.same(statuses, [201, 418, 409])
  const references = Array.from({ length: 40 }, (_, at) => `RACE-${1000 + (at % 30)}`)
  await Promise.all(references.map(mandateReference => client.post('/api/v1/mandates', mandate({ mandateReference }))))
  const recording = await replays(t, app)
  t.same(operations(recording).slice(0, 5), [
    'POST /api/v1/bills',
    'POST /_sandbox/faults',
    'POST /api/v1/mandates',
    'POST /api/v1/bills/{uniqueReferenceIdentifier}/document',
    'POST /api/v1/mandates',
  ])
  t.equal(recording.requests.length, 45)
})

t.test('control plane, GET /recording: a request has the time at which its body was complete', async t => {
  const { app, client, time, begin } = await prepare(t, { clock: 'real' })
  const end = await begin('POST /api/v1/mandates', JSON.stringify(mandate()))
  time.now += 90_500
  t.match(await end(), { status: 201, body: { createdAt: '2026-11-02T09:01:30Z' } })
  time.now += 250
  await client.delete('/api/v1/mandates/MND-0001')
  const { requests } = await replays(t, app)
  t.match(requests, [
    { n: 1, at: '2026-11-02T09:01:30Z', receivedAt: '2026-11-02T09:01:30.500Z' },
    { n: 2, at: '2026-11-02T09:01:30Z', receivedAt: '2026-11-02T09:01:30.750Z' },
  ])
})

t.test('control plane, GET /recording: a tenant may begin again while a body comes in', async t => {
  const renewals: [(client: Client) => Promise<unknown>, status: number, operations: string[]][] = [
    [client => client.control('POST', '/reset'), 401, []],
    [
      async client => client.control('PUT', '/state', (await client.control('GET', '/state')).body),
      201,
      ['POST /api/v1/mandates'],
    ],
    [({ app }) => requestToken(app, { client_id: 'other' }).then(() => requestToken(app)), 401, []],
  ]
  for (const [renew, status, expected] of renewals) {
    const { app, client, begin } = await prepare(t, { maxTenants: 2 })
    const end = await begin('POST /api/v1/mandates', JSON.stringify(mandate()))
    await renew(client)
    t.equal((await end())?.status, status)
    t.equal((await client.control('GET', '/mandates/MND-0001')).status, status === 201 ? 200 : 404)
    const recording = await replays(t, app)
    t.same([recording.start.mandates, operations(recording)], [[], expected])
  }
})

// ------------------------------------------------------------------------------------------------- what is recorded

t.test('control plane, GET /recording: a file has seed, start, and requests as the handler gets them', async t => {
  const app = build(t, { clients: [{ clientId: 'Käse & Söhne', clientSecret: 'hush', fixture: 'demo' }] })
  const name = encodeURIComponent('Käse & Söhne')
  const { headers, body } = await call(app, 'GET', `/_sandbox/recording?client=${name}`)
  t.match(headers, {
    'content-type': /^application\/json/,
    'content-disposition': `attachment; filename="recording-${name}.json"`,
  })
  t.match(body, {
    format: 'payments-sandbox/recording',
    recordedBy: (await call(app, 'GET', '/_sandbox')).body.version,
    clientId: 'Käse & Söhne',
    seed: 'test',
    complete: true,
    requests: [],
  })
  t.notOk('dropped' in body)
  t.same(body.start, (await call(app, 'GET', `/_sandbox/state?client=${name}`)).body)

  const client = await connect(app)
  const url = '/api/v1/mandates?x=1&access_token=hush'
  const record = await client.post(url, { ...mandate({ colour: 'red' }), password: 'hush' })
  await client.control('POST', '/mandates/MND-0001/cancel')
  await client.patch('/api/v1/counterparties/CPTY-0001', { remarks: 'token=abc, Basic YTpi' }, { region: 'US' })
  const [first, second, third] = (await replays(t, app)).requests
  const bodyOf = (entry: Entry | undefined) => {
    const { body } = entry?.answer ?? {}
    return typeof body === 'string' ? JSON.parse(body) : body
  }
  const times = { at: MONDAY, receivedAt: '1970-01-01T00:00:00.000Z' }
  const { answer, ...input } = first as Entry
  t.same(input, {
    n: 1,
    ...times,
    operation: 'POST /api/v1/mandates',
    region: 'EU',
    params: {},
    query: {},
    body: mandate(),
  })
  t.same([answer?.status, bodyOf(first)], [201, record.body])
  t.match(second, {
    n: 2,
    ...times,
    operation: 'POST /_sandbox/mandates/{mandateReference}/cancel',
    params: { mandateReference: 'MND-0001' },
    answer: { status: 200 },
  })
  t.match(bodyOf(second), { record: { status: 'CANCELLED' } })
  t.notOk('region' in (second ?? {}))
  t.match(third, {
    operation: 'PATCH /api/v1/counterparties/{counterpartyReference}',
    region: 'US',
    params: { counterpartyReference: 'CPTY-0001' },
    body: { remarks: 'token=abc, Basic YTpi' },
  })
})

t.test('control plane, GET /recording: a recorded body is the sent one', async t => {
  const client = await newClient()
  const sent: [string, string, object][] = [
    ['PUT', '/_sandbox/settings', { allowedOrigins: ['https://a.example'] }],
    ['POST', '/_sandbox/seed', { records: { counterparties: [{ region: 'EU', counterpartyReference: 'CPTY-0001' }] } }],
    ['POST', '/api/v1/mandates', mandate()],
    ['POST', '/api/v1/direct-debit', collection()],
    ['POST', '/api/v1/bills', bill()],
    ['PATCH', '/api/v1/counterparties/CPTY-0001', { address: { line1: 'Street 1', city: 'Bonn', country: 'DE' } }],
    ['PATCH', '/api/v1/bills/INV-2026-001', { dueDate: '2026-12-02' }],
    ['PATCH', '/api/v1/bills/INV-2026-001', { dueDate: '2026-12-03' }],
    ['PUT', '/_sandbox/settings', { allowedOrigins: ['https://b.example'] }],
  ]
  for (const [method, path, body] of sent) await client.send(method, `${path}?client=${client.clientId}`, { body })
  await client.control('POST', '/mandates/MND-0001/cancel')
  await client.control('POST', '/clock/advance', { by: 'P30D' })
  const { requests } = await replays(t, client.app, client.clientId)
  const found = requests.slice(0, sent.length).map(({ body }) => body)
  t.same(
    found,
    sent.map(([, , body]) => body),
  )
})

t.test('control plane, GET /recording: token requests are recorded only if a fault matches', async t => {
  const app = build(t)
  const client = await connect(app)
  await client.control('POST', '/faults', {
    match: { path: '/api/v1/oauth/token' },
    effect: { kind: 'error', status: 503 },
  })
  const statuses = []
  const secret = { client_secret: 'secret', password: 'hush-1', access_token: client.token }
  for (let count = 0; count < 2; count++) statuses.push((await requestToken(app, secret)).status)
  await client.post(`/api/v1/mandates?client%5Fsecret=hush-2&Access_Token=${client.token}`, {
    ...mandate({ client_secret: 'hush-3', clientSecret: 'hu\\"sh-4' }),
    creditor: { ...mandate().creditor, password: 'hush-5' },
  })
  await client.control('POST', '/fork', { clientId: 'copy', clientSecret: 'hush-6' })
  const recording = await replays(t, app)
  t.same(statuses, [503, 200])
  t.same(operations(recording), ['POST /_sandbox/faults', 'POST /api/v1/oauth/token', 'POST /api/v1/mandates'])
  const text = JSON.stringify(recording)
  t.notMatch(text, /hush|sh-4|"secret"|=secret/)
  t.notOk(text.includes(client.token))
})

t.test('control plane, GET /recording: an uploaded file is recorded with its name and content', async t => {
  const client = await newClient()
  await client.post('/api/v1/bills', bill())
  const contents = [Buffer.from('%PDF-1.7\n\xff\xfe', 'latin1'), Buffer.from('%PDF-1.7\nplain: é')]
  for (const content of contents)
    await client.post('/api/v1/bills/INV-2026-001/document', multipart({ fileName: 'é\\"1.pdf', content }), {
      headers: MULTIPART,
    })
  const { requests } = await replays(t, client.app, client.clientId)
  t.same(
    requests.slice(1).map(({ file, params, answer }) => [file, params, answer?.status]),
    contents.map(content => [
      { fileName: 'é"1.pdf', contentBase64: content.toString('base64') },
      { uniqueReferenceIdentifier: 'INV-2026-001' },
      201,
    ]),
  )
})

t.test('control plane, GET /recording: a long answer is known by its digest', async t => {
  const client = await newClient()
  const mandates = Array.from({ length: 200 }, (_, at) => mandate({ mandateReference: `MND-${1000 + at}` }))
  await client.control('POST', '/seed', { records: { mandates } })
  const { payoutLinkId } = (await client.post('/api/v1/payout-links', payoutLink())).body
  await client.patch(`/api/v1/payout-links/${payoutLinkId}/cancel`, { cancellationComment: 'No.' })
  await client.control('POST', '/faults', { times: null, effect: { kind: 'delay', ms: 0 } })
  const headers = { authorization: `Bearer ${client.token}`, 'x-region': 'EU' }
  const { payload } = await client.app.inject({ url: '/api/v1/mandates?limit=200', headers })
  t.ok(payload.length > 64 * 1024)
  const { requests } = await replays(t, client.app, client.clientId)
  const sha256 = createHash('sha256').update(payload).digest('hex')
  t.same(requests.at(-1)?.answer, { status: 200, sha256 })
  t.match(requests[2]?.answer, { status: 204 })
  t.notOk(requests[2]?.answer?.body)
})

t.test('control plane, GET /recording: reads and refused requests are not recorded', async t => {
  const app = build(t)
  const client = await connect(app)
  const json = { 'content-type': 'application/json' }
  const own = { authorization: `Bearer ${client.token}`, 'x-region': 'EU', ...json }
  const { authorization, ...anonymous } = own
  const cases: [status: number, method: string, url: string, headers: Record<string, string>, body?: unknown][] = [
    [404, 'POST', '/api/v1/nowhere', own, mandate()],
    [405, 'PUT', '/api/v1/mandates', own, mandate()],
    [401, 'POST', '/api/v1/mandates', anonymous, mandate()],
    [401, 'POST', '/api/v1/mandates', { ...own, authorization: 'Bearer x' }, mandate()],
    [400, 'POST', '/api/v1/mandates', { authorization, ...json }, mandate()],
    [415, 'POST', '/api/v1/mandates', { ...own, 'content-type': 'text/plain' }, 'x'],
    [413, 'POST', '/api/v1/mandates', own, Buffer.alloc(MIB + 1)],
    [400, 'POST', '/api/v1/mandates', own, '{'],
    [400, 'POST', '/api/v1/mandates', own, {}],
    [400, 'DELETE', '/api/v1/mandates/!', { authorization, 'x-region': 'EU' }],
    [400, 'POST', '/_sandbox/clock/advance?client=acme', json, { by: 'x' }],
    [404, 'POST', '/_sandbox/clock/advance?client=nobody', json, { by: 'P1D' }],
    [200, 'GET', '/api/v1/mandates', { authorization, 'x-region': 'EU' }],
    [200, 'HEAD', '/api/v1/mandates', { authorization, 'x-region': 'EU' }],
    [204, 'OPTIONS', '/api/v1/mandates', { authorization, 'x-region': 'EU' }],
    [200, 'GET', '/_sandbox/state?client=acme', {}],
    [200, 'POST', '/_sandbox/requests/verify?client=acme', json, { path: '/' }],
    [200, 'DELETE', '/_sandbox/requests?client=acme', {}],
    [201, 'POST', '/_sandbox/fork?client=acme', json, { clientId: 'copy' }],
  ]
  const seen = []
  for (const [, method, url, headers, body] of cases)
    seen.push([(await call(app, method, url, { headers, body })).status, method, url])
  t.same(
    seen,
    cases.map(([status, method, url]) => [status, method, url]),
  )
  t.same(operations(await recordingOf(app)), [])

  await client.delete('/api/v1/mandates/MND-NONE')
  await client.post('/api/v1/direct-debit', collection())
  await client.control('POST', '/mandates/MND-NONE/cancel')
  const { requests } = await replays(t, app)
  const found = requests.map(({ answer }) => answer?.status)
  t.same(found, [404, 404, 404], 'what the state refuses is recorded')
})

t.test('control plane, GET /recording: a read is recorded while a fault is armed for it', async t => {
  const client = await newClient()
  const match = { path: '/api/v1/mandates' }
  await client.control('POST', '/faults', { match, skip: 1, times: 1, effect: { kind: 'stale-token' } })
  const statuses = []
  for (let count = 0; count < 3; count++) statuses.push((await client.get('/api/v1/mandates?limit=5')).status)
  await client.get('/api/v1/bills')
  t.same(statuses, [200, 401, 200])
  await client.control('POST', '/faults', { match, effect: { kind: 'error', status: 418 } })
  t.equal((await call(client.app, 'HEAD', '/api/v1/mandates', { headers: headersOf(client) })).status, 418)
  const recording = await replays(t, client.app, client.clientId)
  t.same(operations(recording).slice(1, 3), ['GET /api/v1/mandates', 'GET /api/v1/mandates'])
  t.ok(operations(recording).includes('HEAD /api/v1/mandates'))
  t.notMatch(operations(recording), /bills/)
})

t.test('control plane, GET /recording: reset, PUT /state and fork each begin a recording', async t => {
  const app = build(t, { maxTenants: 3 })
  const client = await connect(app)
  await client.post('/api/v1/mandates', mandate())
  const state = (await client.control('GET', '/state')).body
  await client.control('POST', '/fork', { clientId: 'copy' })
  const copy = await connect(app, 'copy')
  await copy.delete('/api/v1/mandates/MND-0001')
  const recording = await replays(t, app, 'copy')
  t.same(operations(recording), ['DELETE /api/v1/mandates/{mandateReference}'])
  t.same(recording.start.mandates, state.mandates)
  t.same(operations(await replays(t, app)), ['POST /api/v1/mandates'], 'the origin goes on')

  await client.control('POST', '/reset')
  t.match(await recordingOf(app), { requests: [], start: { mandates: [] } })
  await client.control('PUT', '/state', state)
  t.same((await recordingOf(app)).start, state)
  t.same((await replays(t, app)).requests, [])
})

// ------------------------------------------------------------------------------------------------------------ bounds

/** The size of the requests of recordings in a file, without the white space. */
const sizeOf = (...recordings: Recording[]) =>
  recordings.reduce((sum, { requests }) => sum + JSON.stringify(requests).length, 0)

t.test('control plane, SANDBOX_RECORDING_BYTES: at its bound, a recording stops, and says so', async t => {
  for (const [recordingBytes, least] of [
    [0, 0],
    [1, 0],
    [20_000, 5],
  ] as const) {
    const app = build(t, { recordingBytes })
    const client = await connect(app)
    const add = async (at: number) =>
      client.post('/api/v1/bills', bill({ uniqueReferenceIdentifier: `INV-${at}`, description: 'é'.repeat(100) }))
    for (let at = 0; at < 60; at++) await add(at)
    const recording = await replays(t, app)
    t.equal(recording.complete, false)
    t.notOk('dropped' in recording)
    t.same(recording.start.bills, [], 'it keeps the start')
    const { length } = recording.requests
    t.ok(length >= least && length < 60, `${recordingBytes}: ${length} requests`)
    const found = recording.requests.map(({ n, body }) => [n, body?.uniqueReferenceIdentifier])
    t.same(
      found,
      Array.from({ length }, (_, at) => [at + 1, `INV-${at}`]),
      'it keeps the first requests',
    )
    t.ok(sizeOf(recording) <= recordingBytes + 2, `${sizeOf(recording)} bytes`)
    await client.patch('/api/v1/bills/INV-0', { status: 'PAID' })
    t.same(await recordingOf(app), recording, 'nothing is added behind the gap')

    if (recordingBytes < 1000) continue
    await client.control('POST', '/reset')
    const again = await connect(app)
    await again.post('/api/v1/bills', bill())
    t.match(await replays(t, app), { complete: true, requests: { length: 1 } }, 'a reset begins again')
  }
})

t.test('control plane, SANDBOX_RECORDING_BYTES: a restored state without room is read, unrecorded', async t => {
  const app = build(t, { recordingBytes: 100 })
  const client = await connect(app)
  await client.post('/api/v1/bills', bill())
  const state = (await client.control('GET', '/state')).body
  t.equal((await client.control('PUT', '/state', state)).status, 200)
  t.match(await replays(t, app), { complete: false, start: { bills: { length: 1 } }, requests: { length: 0 } })
})

t.test('control plane, SANDBOX_RECORDING_BYTES: one bound for all tenants; answers and files count', async t => {
  const recordingBytes = 100_000
  const app = build(t, { recordingBytes })
  const clients = await Promise.all(Array.from({ length: 5 }, (_, at) => connect(app, `tenant-${at}`)))
  for (const client of clients) await client.post('/api/v1/bills', bill())
  for (const [at, client] of clients.entries()) {
    for (let count = 0; count < 4; count++)
      if (at % 2 === 0)
        await client.post(
          '/api/v1/bills/INV-2026-001/document',
          multipart({ content: `%PDF-1.7${'x'.repeat(9000)}` }),
          { headers: MULTIPART },
        )
      else await client.patch('/api/v1/bills/INV-2026-001', { dueDate: '2026-12-03' })
  }
  const recordings = []
  for (const { clientId } of clients) recordings.push(await replays(t, app, clientId))
  t.ok(sizeOf(...recordings) <= recordingBytes, `${sizeOf(...recordings)} bytes`)
  const isRight = recordings.some(({ complete }) => !complete)
  t.ok(isRight, 'one at least has stopped')
  const holds = recordings.every(({ complete, requests }) => complete === (requests.length === 5))
  t.ok(holds, 'each says whether it is complete')
})

t.test('decisions §3: a recording has no digest of the secret', async t => {
  const { identity } = (await (await newClient()).control('GET', '/recording')).body
  t.same(Object.keys(identity).sort(), ['allowedOrigins', 'fixture', 'resets', 'scope'])
})
