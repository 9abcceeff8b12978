import type { InjectOptions } from 'fastify'
import t from 'tap'
import type { BuildOptions } from '../helper.js'
import { bill, build, collection, MONDAY, mandate, NO_WAIT, payoutLink, requestToken } from '../helper.js'
import { upload } from '../multipart.js'
import { createPlayer, injecting, randomRequests } from '../random-requests.js'

// control plane: the same seed, clock and requests give the same ids, tokens and answers, byte for byte.

/** A request: a method and a URL, its body, and other headers than those of JSON. */
type Step = readonly [line: string, body?: string | object, headers?: Record<string, string>]

const TOKEN_LINE = 'POST /api/v1/oauth/token'
const LINK_LINE = 'POST /api/v1/payout-links'
const form = (fields: string): Step => [TOKEN_LINE, fields, { 'content-type': 'application/x-www-form-urlencoded' }]
/** The steps that follow send the latest token, and LINK is the latest link. */
const token = form('client_id=acme&client_secret=secret&grant_type=client_credentials')
const advance = (by: string): Step => ['POST /_sandbox/clock/advance?client=acme', { by }]
const document = (part?: Parameters<typeof upload>[0]): Step => {
  const { body, headers } = upload(part)
  return ['POST /api/v1/bills/INV-2026-001/document', body, headers]
}

const steps: Step[] = [
  ['GET /_sandbox'],
  ['GET /api/v1/mandates'],
  token,
  form('client_id=acme&client_secret=wrong&grant_type=x'),
  ['POST /api/v1/mandates', mandate()],
  ['POST /api/v1/mandates', mandate()],
  ['POST /api/v1/mandates', mandate({ mandateReference: 'MND-0002', type: 'ONE_OFF', extra: 1 })],
  ['POST /api/v1/mandates', '{'],
  ['POST /api/v1/mandates', '"\\ud800"'],
  ['GET /api/v1/mandates?limit=1'],
  ['HEAD /api/v1/mandates'],
  ['OPTIONS /api/v1/mandates'],
  ['PUT /api/v1/mandates'],
  ['GET /api/v1/mandates/%zz'],
  ['GET /api/v1/mandates/a%2Fb'],
  ...[
    { collectionReference: 'COL-0001' },
    { collectionReference: 'COL-0002' },
    { collectionReference: 'COL-0003' },
    { collectionReference: 'COL-0004', debtorReference: 'SIM-RETURNED-AM04' },
    { collectionReference: 'COL-0005', collectionDate: '2026-11-14', mandateReference: 'MND-0002' },
    { amount: 1 },
  ].map((changes): Step => ['POST /api/v1/direct-debit', collection(changes)]),
  ['GET /api/v1/direct-debit?limit=2&status=PENDING,SETTLED&page=1'],
  [LINK_LINE, payoutLink()],
  [LINK_LINE, payoutLink({ uiMode: 'embedded', origin: 'http://localhost:3000' })],
  [LINK_LINE, payoutLink()],
  ['PATCH /api/v1/payout-links/LINK/cancel', { cancellationComment: 'no' }],
  ['PATCH /api/v1/payout-links/LINK/cancel', { cancellationComment: 'no' }],
  ['GET /_sandbox/payout-links/LINK?client=acme'],
  ['POST /api/v1/bills', bill()],
  document(),
  document({ content: 'GIF89a' }),
  ['GET /api/v1/bills/INV-2026-001'],
  ['PATCH /api/v1/bills/INV-2026-001', { status: 'PAID' }],
  ['PATCH /api/v1/counterparties/CPTY-0001', { remarks: 'x', address: { line1: 'x' } }],
  ['PATCH /api/v1/counterparties/CPTY-0001', { remarks: 'x' }],
  ['GET /api/v1/accounts'],
  advance('PT30M'),
  ['GET /api/v1/direct-debit/COL-0001'],
  advance('P3D'),
  ['GET /api/v1/direct-debit/COL-0001'],
  token,
  ['POST /_sandbox/direct-debit/COL-0003/cancel?client=acme'],
  ['DELETE /api/v1/mandates/MND-0002'],
  ['DELETE /api/v1/mandates/MND-0002'],
  advance('P10D'),
  ['POST /_sandbox/clock/advance?client=acme', { toNextEvent: true }],
  token,
  ['GET /api/v1/direct-debit'],
  ['GET /_sandbox/direct-debit/COL-0004?client=acme'],
  ['GET /_sandbox/direct-debit/COL-0001?client=sandbox-client'],
  ['GET /_sandbox/clients'],
  ['POST /_sandbox/reset?client=acme'],
  ['GET /api/v1/mandates'],
  token,
  [LINK_LINE, payoutLink()],
  ['GET /nowhere'],
]

/** What a client of a new server sees of each answer: status, headers but for the date, the bytes of the body. */
async function play(options: BuildOptions = {}, isAlone = true): Promise<string[]> {
  const app = build(t, options)
  if (!isAlone) await requestToken(app, { client_id: 'other' })
  let bearer = ''
  let link = ''
  const answers: string[] = []
  for (const [line, body, headers] of steps) {
    const [method, url] = line.replace('LINK', link).split(' ') as [InjectOptions['method'], string]
    const authorization = bearer === '' ? {} : { authorization: `Bearer ${bearer}` }
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const all = { 'x-region': 'EU', ...authorization, ...type, ...headers }
    const response = await app.inject({ method, url, headers: all, payload: body })
    if (line === TOKEN_LINE && response.statusCode === 200) bearer = response.json().access_token
    if (line === LINK_LINE) link = response.json().payoutLinkId
    const { date, ...others } = response.headers
    answers.push(`${line}\n${response.statusCode}\n${JSON.stringify(others)}\n${response.payload}`)
  }
  return answers
}

const usual = await play()

t.test('settings, SANDBOX_SEED: the same seed, clock and requests give byte-identical answers', async t => {
  t.same(await play({ now: () => 1_000_000_000_000 }), usual, 'whatever the real time is')
})

t.test('settings, SANDBOX_SEED: another seed gives other tokens, links and documents', async t => {
  const another = await play({ seed: 'two' })
  for (const [at, [line]] of steps.entries()) {
    const isMade = [TOKEN_LINE, LINK_LINE].includes(line) && usual[at]?.startsWith(`${line}\n20`)
    if (isMade) t.not(another[at], usual[at], line)
  }
})

t.test('settings, SANDBOX_SEED: requests of another tenant in between change nothing', async t => {
  const together = await play({}, false)
  const own = (answers: string[]) =>
    answers
      .filter(answer => !/^GET \/_sandbox(\/clients)?\n/.test(answer))
      .map(answer => answer.replace(/"x-request-id":"req-\d+"/, ''))
  t.same(own(together), own(usual))
})

/** What several tenants of a new server see of random requests, and their states at the end. */
async function playRandomly(): Promise<{ readonly answers: unknown[]; readonly states: string[] }> {
  let realNow = Date.parse(MONDAY)
  const app = injecting(build(t, { clock: 'real', now: () => realNow, timers: NO_WAIT, requestLog: { entries: 9 } }))
  const players = ['acme', 'beta', 'gamma'].map(clientId => createPlayer(app, clientId))
  for (const player of players) await player.authenticate()
  const answers: unknown[] = []
  for (const [at, random] of randomRequests(20_261_103, process.env.TEST_LONG === '1' ? 7000 : 300).entries()) {
    // Seldom, the real time is set back.
    realNow += at % 100 === 99 ? -500 : (at * 379) % 2500
    answers.push(await (players[(at * 7) % 3] as Player).play(random))
  }
  const states = []
  for (const { control } of players) {
    // The state tells all that is planned once it has happened.
    await control('DELETE', '/faults')
    await control('POST', '/clock/advance', { by: 'P400D' })
    states.push((await control('GET', '/state')).text)
  }
  return { answers, states }
}

type Player = ReturnType<typeof createPlayer>

t.test('settings, SANDBOX_SEED: random requests of several tenants give the same answers and states', async t => {
  const { answers, states } = await playRandomly()
  const statuses = new Set(answers.map(answer => (answer as { status: number }).status))
  t.same(
    [200, 201, 204, 400, 404, 409].filter(status => !statuses.has(status)),
    [],
  )
  t.same(await playRandomly(), { answers, states })
})
