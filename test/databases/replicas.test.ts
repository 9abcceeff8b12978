import { setTimeout as pause } from 'node:timers/promises'
import fc from 'fast-check'
import type { Test } from 'tap'
import t from 'tap'
import { bill, build } from '../helper.js'
import { onPostgres, stateOf } from '../persistence/helper.js'
import { postgresSkip, startPostgres } from '../postgres.js'
import type { Program } from '../program.js'
import { uncheckedProgram } from '../program.js'
import type { Outgoing, Played, RandomRequest, Transport } from '../random-requests.js'
import { createPlayer, injecting, randomRequest } from '../random-requests.js'
import { isTimeless, PUBLIC_URL, Server } from '../server-process.js'

// Persistence: three servers on Postgres behind a client that takes them in turn, while servers are killed and started
// again, and while the database is away.

const IS_LONG = process.env.TEST_LONG === '1'
const TENANTS = IS_LONG ? 20 : 3
const OPERATIONS = IS_LONG ? 5000 : 60
/** The clients that use one tenant at the same time. */
const WORKERS = IS_LONG ? 6 : 3
const PAUSE_MS = 20
/** How often servers are killed in one test. */
const KILLS = IS_LONG ? Number.POSITIVE_INFINITY : 1
const BETWEEN_KILLS_MS = IS_LONG ? 1000 : 50

/** Paths of requests after which a bill that was just created cannot be read. */
const ENDS_OR_HIDES_RECORDS = /\/(reset|state|clients|faults|deprecations|bills)\b/

interface BillOfState {
  readonly record: { readonly uniqueReferenceIdentifier: string }
}

/** Three servers, of which one is killed and started again now and then. */
async function createCluster(t: Test, url: string) {
  const start = (program?: Program) => Server.start({ SANDBOX_DATABASE_URL: url }, program)
  const servers = await Promise.all([start(), start(), start()])
  let next = 0
  t.teardown(() => Promise.all(servers.map(server => server.kill())))
  const send: Transport = request => (servers[next++ % servers.length] as Server).transport(request)

  return {
    /** How many requests were sent. */
    get sent() {
      return next
    },
    /** Sends a request to the next server. Rejects if the server is gone before the answer is whole. */
    send,
    /** Sends a request until a server answers it. The request must change nothing if it is repeated. */
    async insist(request: Outgoing): Promise<Played> {
      for (;;) {
        const played = await send(request).catch(() => undefined)
        if (played !== undefined && played.status !== 503) return played
        await pause(PAUSE_MS)
      }
    },
    /** Kills one server after the other, and starts each again, until it ends. */
    killInTurn() {
      let isOver = false
      let kills = 0
      const killing = (async () => {
        while (kills < KILLS) {
          await pause(BETWEEN_KILLS_MS)
          if (isOver) return
          const at = kills++ % servers.length
          await (servers[at] as Server).kill()
          servers[at] = await start(uncheckedProgram)
        }
      })()
      return {
        get kills() {
          return kills
        },
        end() {
          isOver = true
          return killing
        },
      }
    },
  }
}

type Cluster = Awaited<ReturnType<typeof createCluster>>

/**
 * A client that sends one request after the other, each to another server, and does the same to a twin in memory.
 * Every answer must be that of the twin: so a read shows every write that was acknowledged before, once.
 */
function createClient(t: Test, clientId: string, cluster: Cluster, twin: Transport) {
  const counts = { acknowledged: 0, ambiguous: 0, unavailable: 0 }
  let fences = 0
  const stateRequest = { method: 'GET', url: `/_sandbox/state?client=${clientId}`, headers: {} }

  /** Finds out whether a request without an answer was applied, and does the same to the twin. */
  async function settle(request: Outgoing) {
    counts.ambiguous++
    // A later row of the tenant: from then on, the request cannot be applied any more.
    if ((await cluster.insist(stateRequest)).status === 200) {
      if ((await twin(stateRequest)).status === 404) await twin(request)
      const body = { mandateActivation: ++fences % 2 === 0 ? 'automatic' : 'manual' }
      const fence = {
        ...{ method: 'PUT', url: `/_sandbox/settings?client=${clientId}` },
        ...{ headers: { 'content-type': 'application/json' }, payload: JSON.stringify(body) },
      }
      await cluster.insist(fence)
      const { text } = await cluster.insist(stateRequest)
      const before = JSON.parse((await twin(stateRequest)).text)
      const withFence = { ...before, settings: { ...before.settings, ...body } }
      const isApplied = JSON.stringify(withFence) !== JSON.stringify(JSON.parse(text))
      if (isApplied) await twin(request)
      await twin(fence)
      const expected = (await twin(stateRequest)).text
      if (expected !== text)
        t.same(JSON.parse(text), JSON.parse(expected), `${clientId} after ${JSON.stringify(request)}`)
    }
  }

  async function carry(request: Outgoing): Promise<Played> {
    const played = await cluster.send(request).catch(() => undefined)
    if (played === undefined || /"The database cannot be used/.test(played.text)) {
      if (played !== undefined) counts.unavailable++
      if (request.method === 'GET' && request.url.startsWith('/_sandbox')) {
        await pause(PAUSE_MS)
        return carry(request)
      }
      await settle(request)
      return { status: 0, text: '{}' }
    }
    counts.acknowledged++
    const expected = await twin(request)
    // Each server numbers its tokens.
    const isToken = request.url.startsWith('/api/v1/oauth/token')
    const isSame = played.status === expected.status && (isToken || played.text === expected.text)
    if (!isSame) t.same(played, expected, `${clientId}: ${JSON.stringify(request)}`)
    return played
  }

  const player = createPlayer(carry, clientId)
  return {
    counts,
    async run(requests: readonly RandomRequest[]) {
      while ((await player.authenticate()).status !== 200) await pause(PAUSE_MS)
      for (const [at, request] of requests.entries()) {
        if (at % 60 === 59) await player.control('POST', '/reset')
        await player.play(request)
        if (!t.passing()) return
      }
    },
  }
}

t.test('persistence, Several servers on Postgres: three servers on Postgres', { skip: postgresSkip }, async t => {
  const postgres = await startPostgres()
  t.teardown(() => postgres.remove())

  // The tests share servers and a database, and each has clients of its own.
  const url = await postgres.createDatabase()
  const cluster = await createCluster(t, url)

  async function run(t: Test, prefix: string, disturb: () => Promise<void>) {
    const twin = injecting(build(t, { publicUrl: () => PUBLIC_URL, requestLog: { entries: 0 } }))
    const requests = fc
      .sample(randomRequest, { seed: 16, numRuns: 2 * OPERATIONS })
      .filter(isTimeless)
      .slice(0, OPERATIONS)
    const clients = Array.from({ length: TENANTS }, (_, at) => createClient(t, `${prefix}-${at}`, cluster, twin))
    const disturbing = disturb()
    await Promise.all(clients.map((client, at) => client.run(requests.filter((_, n) => n % TENANTS === at))))
    await disturbing

    const sum = (name: keyof (typeof clients)[0]['counts']) =>
      clients.reduce((all, { counts }) => all + counts[name], 0)
    t.comment(
      `${sum('acknowledged')} acknowledged, ${sum('ambiguous')} without an answer, ${sum('unavailable')} times 503`,
    )
    // Another server reads what is stored.
    const reader = await onPostgres(t, url, { publicUrl: () => PUBLIC_URL })
    for (const at of clients.keys()) {
      const clientId = `${prefix}-${at}`
      const state = (await twin({ method: 'GET', url: `/_sandbox/state?client=${clientId}`, headers: {} })).text
      t.ok((await stateOf(reader.app, clientId)) === state, `${clientId} is stored like its twin, byte for byte`)
    }
    await reader.close()
    return { acknowledged: sum('acknowledged'), unavailable: sum('unavailable') }
  }

  t.test(`${OPERATIONS} random operations of ${TENANTS} tenants, while servers are killed`, async t => {
    const killing = cluster.killInTurn()
    const { acknowledged } = await run(t, 'killed', async () => {})
    await killing.end()
    t.ok(acknowledged > OPERATIONS / 2, `${acknowledged}`)
    t.ok(killing.kills > 0, `${killing.kills}`)
  })

  t.test(`${OPERATIONS} random operations, while the database is away`, async t => {
    const { unavailable } = await run(t, 'away', async () => {
      const before = cluster.sent
      while (cluster.sent < before + OPERATIONS / 4) await pause(1)
      await postgres.stop()
      await pause(IS_LONG ? 10_000 : 500)
      await postgres.start()
    })
    t.ok(unavailable > 0, `${unavailable} answers of 503`)
  })

  t.test(`${OPERATIONS} random operations of ${WORKERS} clients of one tenant, while servers are killed`, async t => {
    const killing = cluster.killInTurn()
    const known = { token: '', count: 1000, MND: ['MND-NONE'], COL: ['COL-NONE'], LINK: ['pl_nothing'] }
    const clientId = 'shared'
    const acknowledged: string[] = []
    const transport: Transport = request => {
      const isRepeatable = request.method === 'GET' || request.url.startsWith('/api/v1/oauth/token')
      return isRepeatable ? cluster.insist(request) : cluster.send(request).catch(() => ({ status: 0, text: '{}' }))
    }

    /** Reads with a valid token: another client may advance the clock at any moment. */
    async function read(player: ReturnType<typeof createPlayer>, path: string): Promise<Played> {
      const played = await player.play({ plane: 'api', method: 'GET', path, region: 'EU' })
      return played.status === 401 ? read(player, path) : played
    }

    async function work(worker: number) {
      const player = createPlayer(transport, clientId, 'secret', known)
      await player.authenticate()
      const requests = fc
        .sample(randomRequest, { seed: worker, numRuns: (4 * OPERATIONS) / WORKERS })
        .filter(request => isTimeless(request) && !ENDS_OR_HIDES_RECORDS.test(request.path))
        .slice(0, OPERATIONS / WORKERS)
      for (const [at, request] of requests.entries()) {
        await player.play(request)
        const reference = `INV-${worker}-${at}`
        const path = '/api/v1/bills'
        const body = bill({ uniqueReferenceIdentifier: reference })
        const created = await player.play({ plane: 'api', method: 'POST', path, region: 'EU', body })
        if (created.status !== 201) continue
        acknowledged.push(reference)
        const { status, text } = await read(player, `${path}/${reference}`)
        if (status !== 200 || text !== created.text) t.same({ status, text }, { status: 200, text: created.text })
      }
    }
    await Promise.all(Array.from({ length: WORKERS }, (_, worker) => work(worker)))
    await killing.end()
    t.comment(`${acknowledged.length} bills acknowledged, ${killing.kills} kills`)
    t.ok(acknowledged.length > OPERATIONS / 10 && killing.kills > 0)

    const reader = await onPostgres(t, url, { publicUrl: () => PUBLIC_URL })
    const state = await stateOf(reader.app, clientId)
    for (const _ of [1, 2, 3]) {
      const served = await cluster.send({ method: 'GET', url: `/_sandbox/state?client=${clientId}`, headers: {} })
      t.ok(served.text === state, 'each server has the stored state, byte for byte')
    }
    const references = JSON.parse(state).bills.map((one: BillOfState) => one.record.uniqueReferenceIdentifier)
    const times = acknowledged.map(reference => references.filter((other: string) => other === reference).length)
    t.same(new Set(times), new Set([1]), 'each acknowledged bill is there once')
    await reader.close()
  })
})
