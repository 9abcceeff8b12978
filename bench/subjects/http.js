import { writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { Connection, tokenOf } from '../lib/client.js'
import { measure } from '../lib/load.js'
import { launchMockoon, launchPrism } from '../lib/peers.js'
import { billReference, bills, collectionReference, collections, mandates, payoutLinks, seed } from '../lib/records.js'
import { atLeast, perSecond } from '../lib/rows.js'
import { answering, launchChild, launchSandbox, listening, READY, TEMPORARY } from '../lib/servers.js'
import { compare, median } from '../lib/stats.js'

export const title = 'Operations over HTTP'

const CLIENT = 'bench'
const STORED = 100_000
const MANDATES = 200
const BILLS = 1000
/** Until then, the code of a large program is compiled on the core that is measured. */
const WARM_SECONDS = 4
/** More than a test suite has in use at once. */
const TOKENS = 5000

/** @param {{ quick: boolean, say: (text: string) => void }} options */
export async function run({ quick, say }) {
  const rounds = quick ? 2 : 5
  const ours = await answering(await launchSandbox(), READY)
  const connection = new Connection(ours.port)
  const token = await tokenOf(connection, CLIENT)

  say(`seeding ${STORED} collections`)
  await seed(connection, CLIENT, 'mandates', mandates(MANDATES))
  await seed(connection, CLIENT, 'collections', collections(quick ? STORED / 10 : STORED, MANDATES))
  await seed(connection, CLIENT, 'bills', bills(BILLS))

  const tokens = []
  for (let number = 0; number < TOKENS; number++) tokens.push(await tokenOf(connection, CLIENT))

  const operations = operationsFor(token)
  for (const operation of Object.values(operations)) {
    await operation.prepare?.(connection, FIRST + APART, 1)
    operation.answer = await capture(ours.port, operation)
  }
  const floors = await launchFloors(operations)
  const samples = samplesOf(operations)
  const prism = await listening(await launchPrism(samples))
  const mockoon = await listening(await launchMockoon(samples))
  connection.close()

  const peers = [
    { name: 'Prism', server: prism },
    { name: 'Mockoon', server: mockoon },
  ]

  const rows = []
  for (const [id, operation] of Object.entries(operations)) {
    const against = [
      ...(operation.isRead ? [{ name: 'node:http, same bytes', server: floors.http[id] }] : []),
      { name: `Fastify, ${operation.isRead ? 'same record' : operation.floor}`, server: floors.fastify },
      ...peers,
    ]
    say(operation.name)
    rows.push(...(await compareOn(operation, ours, against, rounds)))
  }

  say(`${TOKENS} tokens in use`)
  rows.push(await manyTokens(operations.get, ours, tokens, rounds))
  await Promise.all([ours, ...Object.values(floors.http), floors.fastify, prism, mockoon].map(server => server.stop()))
  return { rows, notes: notesOf(rows) }
}

function operationsFor(token) {
  const headers = { authorization: `Bearer ${token}`, 'x-region': 'EU' }
  const json = { ...headers, 'content-type': 'application/json' }
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  return {
    token: {
      name: 'token',
      floor: 'form to the same JSON',
      goals: { Fastify: ['token', 0.6] },
      route: '/api/v1/oauth/token',
      load: {
        method: 'POST',
        path: '/api/v1/oauth/token',
        headers: form,
        body: `grant_type=client_credentials&client_id=${CLIENT}&client_secret=bench-secret`,
      },
    },
    get: {
      name: 'GET one collection',
      isRead: true,
      goals: { 'node:http': ['get', 0.6] },
      route: '/api/v1/direct-debit/{collectionReference}',
      load: { method: 'GET', path: `/api/v1/direct-debit/${collectionReference(5000)}`, headers },
    },
    list: {
      name: 'GET list of 100 out of 100,000, unchanged',
      isRead: true,
      goals: { 'node:http': ['list', 0.5] },
      route: '/api/v1/direct-debit',
      load: { method: 'GET', path: '/api/v1/direct-debit', headers },
    },
    create: {
      name: 'POST a collection',
      floor: 'parse and echo',
      goals: { Fastify: ['create', 0.5] },
      route: '/api/v1/direct-debit',
      load: {
        method: 'POST',
        path: '/api/v1/direct-debit',
        headers: json,
        body: JSON.stringify({
          collectionReference: 'NEW-{n}',
          mandateReference: 'MND-00001',
          amount: '49.90',
          currency: 'EUR',
          collectionDate: '2026-11-16',
          debtorReference: 'CUST-4711',
        }),
      },
    },
    cancel: {
      name: 'PATCH cancel a payout link',
      floor: 'parse, no content',
      goals: {},
      route: '/api/v1/payout-links/{payoutLinkId}/cancel',
      prepare: (connection, first, count) => seed(connection, CLIENT, 'payoutLinks', payoutLinks(first, count)),
      load: {
        method: 'PATCH',
        path: '/api/v1/payout-links/LINK-{n}/cancel',
        headers: json,
        body: '{"cancellationComment":"Paid in cash instead"}',
      },
    },
    patch: {
      name: 'PATCH a bill',
      floor: 'parse and echo',
      goals: {},
      route: '/api/v1/bills/{uniqueReferenceIdentifier}',
      load: {
        method: 'PATCH',
        path: `/api/v1/bills/${billReference(1)}`,
        headers: json,
        body: '{"dueDate":"2026-12-24","openAmount":"1000.00"}',
      },
    },
  }
}

/** Where `{n}` begins, and how far apart the rounds are: further than any server comes. */
const FIRST = 1_000_000
const APART = 200_000

/** Gives a load numbers that no request had yet. */
function fresh(operation) {
  operation.next = (operation.next ?? FIRST) + APART
  return { ...operation.load, first: operation.next }
}

/** Takes turns: ours, then each of the others, round after round. */
async function compareOn(operation, ours, against, rounds) {
  const { goals, name, prepare } = operation
  const measured = new Map()
  for (const { server } of [{ server: ours }, ...against]) measured.set(server, [])
  const connection = new Connection(ours.port)
  let rate = 20_000
  // One round more, to get warm, is not counted.
  for (let round = -1; round < rounds; round++) {
    const load = fresh(operation)
    await prepare?.(connection, load.first, Math.ceil(2 * rate * (round < 0 ? WARM_SECONDS : 1)) + 1000)
    for (const [server, results] of measured) {
      const result = await measure(server, load, round < 0 ? WARM_SECONDS : 1)
      if (result.refused > 0) {
        throw new Error(`${name}, ${server.child.spawnargs.at(-1)}: ${result.refused} answers were refusals`)
      }
      if (round >= 0) results.push(result)
      if (server === ours) rate = Math.max(rate, result.rate)
    }
  }
  connection.close()
  const rateOf = server => measured.get(server).map(({ rate }) => rate)
  const cpuOf = server => measured.get(server).map(({ cpu }) => cpu)
  return against.map(({ name: peer, server }) => {
    const { ours: mine, theirs, ratio, spread } = compare(rateOf(ours), rateOf(server))
    const isPeer = peer === 'Prism' || peer === 'Mockoon'
    const [goalId, limit] = isPeer ? ['peers', 10] : (goals[peer.split(',')[0]] ?? [])
    const cpu = cpuOf(ours).includes(undefined) ? undefined : compare(cpuOf(server), cpuOf(ours)).ratio
    return {
      operation: name,
      peer,
      ours: perSecond(mine),
      theirs: perSecond(theirs),
      ratio,
      spread,
      cpuRatio: cpu,
      busy: measured.get(server).map(({ busy }) => busy),
      ...(goalId !== undefined && { goal: atLeast(goalId, limit, ratio) }),
    }
  })
}

/** A world in which many tokens are in use, against the same with one. */
async function manyTokens(operation, ours, tokens, rounds) {
  const rates = { many: [], one: [] }
  for (let round = -1; round < rounds; round++) {
    // Both are made request by request, so that they differ in the number of tokens alone.
    const many = await measure(ours, { ...operation.load, tokens })
    const one = await measure(ours, { ...operation.load, tokens: tokens.slice(0, 1) })
    if (many.refused + one.refused > 0) throw new Error('a token was refused')
    if (round < 0) continue
    rates.many.push(many.rate)
    rates.one.push(one.rate)
  }
  const { ours: mine, theirs, ratio, spread } = compare(rates.many, rates.one)
  return {
    operation: `GET one collection, ${TOKENS.toLocaleString('en-US')} tokens in use`,
    peer: 'itself with one token',
    ours: perSecond(mine),
    theirs: perSecond(theirs),
    ratio,
    spread,
  }
}

/** One answer with its head as it came over the wire. */
function capture(port, operation) {
  const load = fresh(operation)
  const { method, path, headers, body } = fill(load)
  return new Promise((resolve, reject) => {
    const outgoing = request({ port, host: '127.0.0.1', method, path, headers, agent: false }, response => {
      const chunks = []
      response.on('data', chunk => chunks.push(chunk))
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        if (response.statusCode >= 300) reject(new Error(`${method} ${path}: ${response.statusCode} ${text}`))
        resolve({ status: response.statusCode, rawHeaders: response.rawHeaders, body: text })
      })
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

const fill = ({ first, path, body, ...load }) => ({
  ...load,
  path: path.replaceAll('{n}', first),
  body: body?.replaceAll('{n}', first),
})

/** What Node adds to an answer by itself, and would be there twice. */
const BY_NODE = new Set(['date', 'connection', 'keep-alive'])

async function launchFloors(operations) {
  const parsed = id => JSON.parse(operations[id].answer.body)
  const file = join(TEMPORARY, 'floor-fastify.json')
  writeFileSync(file, JSON.stringify({ collection: parsed('get'), list: parsed('list'), token: parsed('token') }))
  const floors = { http: {}, fastify: await listening(await launchChild('floor-fastify.js', [file])) }
  for (const [id, { isRead, answer }] of Object.entries(operations)) {
    if (!isRead) continue
    const { status, rawHeaders, body } = answer
    const headers = rawHeaders.filter((_, at) => !BY_NODE.has(rawHeaders[at & ~1].toLowerCase()))
    const answerFile = join(TEMPORARY, `floor-${id}.json`)
    writeFileSync(answerFile, JSON.stringify({ status, headers, body: Buffer.from(body).toString('base64') }))
    floors.http[id] = await listening(await launchChild('floor-http.js', [answerFile]))
  }
  return floors
}

const text = { type: 'string', minLength: 1 }
const object = (...required) => ({
  type: 'object',
  required,
  properties: Object.fromEntries(required.map(name => [name, text])),
})
const BODIES = {
  token: object('grant_type', 'client_id', 'client_secret'),
  create: object('collectionReference', 'mandateReference', 'amount', 'currency', 'collectionDate'),
  cancel: object('cancellationComment'),
  patch: { type: 'object', properties: { dueDate: text, openAmount: text } },
}

const samplesOf = operations =>
  Object.entries(operations).map(([id, { route, load, answer }]) => ({
    method: load.method,
    route,
    status: answer.status,
    body: answer.body,
    request: BODIES[id],
    consumes: load.headers['content-type'],
  }))

/** A server that was not kept busy waited for the load generator, or for itself. */
function notesOf(rows) {
  const idle = rows.filter(({ busy }) => busy?.every(part => part !== undefined) && median(busy) < 0.85)
  return idle.map(
    ({ operation, peer, busy }) =>
      `At "${operation}", ${peer} was at work for ${Math.round(100 * median(busy))} % of the time only; there, the ratio by CPU time is the one to go by.`,
  )
}
