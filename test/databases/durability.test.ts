import { execFileSync, spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as tick } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import type { Test } from 'tap'
import t from 'tap'
import { bill, build, payoutLink } from '../helper.js'
import { postgresSkip, startPostgres } from '../postgres.js'
import { program, uncheckedProgram } from '../program.js'
import type { Outgoing, Played, RandomRequest, Transport } from '../random-requests.js'
import { createPlayer, injecting, randomRequests } from '../random-requests.js'
import { isTimeless, PUBLIC_URL, Server } from '../server-process.js'

// Persistence: `kill -9` at random moments during writes. Every acknowledged write is there after the restart, and no
// other is there in part.

const IS_LONG = process.env.TEST_LONG === '1'
const ROUNDS = IS_LONG ? 100 : 3

/**
 * A tenant that is written to by one request after the other, and a twin of it in memory that goes through the same:
 * what is acknowledged at once, the one that was in flight only if the server has kept it.
 */
function createLone(clientId: string, twin: Transport, requests: readonly RandomRequest[]) {
  let server: Server | undefined
  let inFlight: Outgoing | undefined
  let position = 0
  let acknowledged = 0

  async function carry(request: Outgoing): Promise<Played> {
    inFlight = request
    const played = await (server as Server).transport(request)
    inFlight = undefined
    acknowledged++
    const expected = await twin(request)
    // Tokens are numbered from 1 again after a restart.
    const isToken = request.url.startsWith('/api/v1/oauth/token')
    const isSame = JSON.stringify(played) === JSON.stringify(expected)
    if (!isSame && !(isToken && played.status === expected.status))
      throw new Error(`${clientId}: ${JSON.stringify({ request, played, expected })}`)
    return played
  }

  const player = createPlayer(carry, clientId)
  const stateRequest = { method: 'GET', url: `/_sandbox/state?client=${clientId}`, headers: {} }
  return {
    get acknowledged() {
      return acknowledged
    },
    /** Writes until the server is gone. */
    async write(to: Server, sent: () => void) {
      server = to
      try {
        for (;;) {
          sent()
          const at = position++
          if (acknowledged === 0) await player.authenticate()
          // Never twice in a row, or it would not be known whether the second was kept: the state is the same, but the
          // tokens that follow are others.
          if (at % 50 === 49) await player.control('POST', '/reset')
          await player.play(requests[at % requests.length] as RandomRequest)
        }
      } catch (error) {
        if (!to.isKilled) throw error
      }
    },
    /** Compares with the twin, in which what was in flight is done or not. Tells which it is. */
    async check(t: Test, { transport }: Server): Promise<'kept' | 'not kept' | 'none'> {
      const { text } = await transport(stateRequest)
      const pending = inFlight
      inFlight = undefined
      if ((await twin(stateRequest)).text === text) return pending === undefined ? 'none' : 'not kept'
      if (pending !== undefined) await twin(pending)
      const expected = (await twin(stateRequest)).text
      if (expected !== text)
        t.same(JSON.parse(text), JSON.parse(expected), `${clientId}: after ${JSON.stringify(pending)}`)
      return 'kept'
    },
  }
}

/** The connections of a client, which have its token. */
function createWriter(clientId: string) {
  let headers: Record<string, string> = {}
  return {
    /** Its next request gets a new token. */
    forget() {
      headers = {}
    },
    /** Does a step again and again, until the server is gone. */
    async write(server: Server, sent: () => void, step: (headers: Record<string, string>) => Promise<void>) {
      try {
        while (!server.isKilled) {
          sent()
          if (headers.authorization === undefined) {
            const { text } = await server.transport({
              ...{ method: 'POST', url: '/api/v1/oauth/token' },
              headers: { 'content-type': 'application/x-www-form-urlencoded' },
              payload: `grant_type=client_credentials&client_id=${clientId}&client_secret=secret`,
            })
            const authorization = `Bearer ${JSON.parse(text).access_token}`
            headers = { authorization, 'x-region': 'EU', 'content-type': 'application/json' }
          }
          await step(headers)
        }
      } catch (error) {
        if (!server.isKilled) throw error
      }
    },
  }
}

/** A tenant that several connections write to at the same time. */
function createShared(clientId: string) {
  const answered = new Map<string, Played>()
  let sentBills = 0
  const writer = createWriter(clientId)
  const url = '/api/v1/bills'

  return {
    clientId,
    write: (server: Server, sent: () => void) =>
      writer.write(server, sent, async headers => {
        const { transport } = server
        const number = ++sentBills
        const uniqueReferenceIdentifier = `INV-${number}`
        // A bill that brings a counterparty into being: two records at once.
        const body = bill({ uniqueReferenceIdentifier, counterpartyReference: `CPTY-${number}` })
        const payload = JSON.stringify(body)
        answered.set(uniqueReferenceIdentifier, await transport({ method: 'POST', url, headers, payload }))
      }),
    /** How many were acknowledged, and how many are kept that were not. */
    async check(t: Test, { transport }: Server): Promise<{ all: number; kept: number }> {
      const { status, text } = await transport({
        method: 'GET',
        url: `/_sandbox/state?client=${clientId}`,
        headers: {},
      })
      if (status === 404 && answered.size === 0) {
        writer.forget()
        return { all: 0, kept: 0 }
      }
      const state = JSON.parse(text)
      const bills = new Map<string, object>(
        state.bills.map(({ record }: { record: { uniqueReferenceIdentifier: string } }) => [
          record.uniqueReferenceIdentifier,
          record,
        ]),
      )
      const lost = [...answered].filter(
        ([reference, played]) =>
          played.status !== 201 || !isDeepStrictEqual(bills.get(reference), JSON.parse(played.text)),
      )
      if (lost.length > 0) t.fail(`acknowledged, and not there as it was: ${JSON.stringify(lost)}`)
      const isWhole =
        state.counterparties.length === bills.size &&
        state.events.length === bills.size &&
        state.sequence === 2 * bills.size &&
        [...bills.values()].every(record => Object.keys(record).length === 12)
      if (!isWhole) t.fail(`half there: ${text}`)
      return { all: answered.size, kept: bills.size - answered.size }
    },
  }
}

/** A tenant of payout links. After a restart, their pages are the first requests that concern it. */
function createRecipients(clientId: string) {
  const acknowledged: string[] = []
  let opened = 0
  const writer = createWriter(clientId)

  return {
    get opened() {
      return opened
    },
    write: (server: Server, sent: () => void) =>
      writer.write(server, sent, async headers => {
        const request = { method: 'POST', url: '/api/v1/payout-links', headers, payload: JSON.stringify(payoutLink()) }
        const { status, text } = await server.transport(request)
        if (status === 201) acknowledged.push(JSON.parse(text).payoutLinkId)
      }),
    /** Opens the pages of the links that were acknowledged last. */
    async check(t: Test, { transport }: Server) {
      const pages = await Promise.all(
        acknowledged.slice(-10).map(async id => {
          const url = `/pay/${id}?client=${clientId}`
          const { status } = await transport({ method: 'GET', url, headers: { accept: 'text/html' } })
          return `${status} ${url}`
        }),
      )
      opened += pages.length
      const lost = pages.filter(page => !page.startsWith('200 '))
      if (lost.length > 0) t.same(lost, [], 'the page of each acknowledged link opens')
    },
  }
}

/** The requests of two lone tenants. */
const REQUESTS = [0, 1].map(seed => randomRequests(seed, IS_LONG ? 1000 : 300).filter(isTimeless))

async function testKills(t: Test, settings: Readonly<Record<string, string>>) {
  const twin = injecting(build(t, { publicUrl: () => PUBLIC_URL, requestLog: { entries: 0 } }))
  const lone = REQUESTS.map((requests, at) => createLone(`lone-${at}`, twin, requests))
  let shared = createShared('shared')
  const recipients = createRecipients('recipients')
  const moments = fc.sample(
    // A short run needs some answers in each round.
    fc.record({ sends: fc.integer({ min: IS_LONG ? 1 : 30, max: 40 }), ticks: fc.oneof(fc.nat(40), fc.nat(400)) }),
    { seed: 9, numRuns: ROUNDS },
  )
  const inFlight = { kept: 0, 'not kept': 0, none: 0 }
  let extra = 0
  let acknowledged = 0

  for (const [round, { sends, ticks }] of moments.entries()) {
    // The first ones check their answers, empty and after a restart.
    const server = await Server.start(settings, round < 2 ? program : uncheckedProgram)
    t.teardown(() => server.child.kill('SIGKILL'))
    await recipients.check(t, server)
    for (const tenant of lone) inFlight[await tenant.check(t, server)]++
    const { kept, all } = await shared.check(t, server)
    // It would only become slower.
    if (round % 20 === 19 || round === ROUNDS - 1) {
      extra += kept
      acknowledged += all
      await server.transport({ method: 'POST', url: `/_sandbox/reset?client=${shared.clientId}`, headers: {} })
      shared = createShared(`shared-${round}`)
    }

    let count = 0
    let reached = () => {}
    const moment = new Promise<void>(resolve => {
      reached = resolve
    })
    const sent = () => {
      if (++count === sends) reached()
    }
    const writing = [
      ...lone.map(tenant => tenant.write(server, sent)),
      ...[1, 2, 3].map(() => shared.write(server, sent)),
      recipients.write(server, sent),
    ]
    await Promise.race([moment, Promise.all(writing)])
    for (let count = 0; count < ticks; count++) await tick()
    await server.kill()
    await Promise.all(writing)
    if (!t.passing()) break
  }

  const own = lone.map(tenant => tenant.acknowledged)
  t.ok(Math.min(...own) > ROUNDS, `acknowledged: ${own}`)
  t.ok(acknowledged > ROUNDS, `acknowledged: ${acknowledged}, and kept without: ${extra}`)
  t.ok(recipients.opened > 0, `pages of links: ${recipients.opened}`)
  if (!IS_LONG) return
  t.ok(inFlight.kept + extra > 0 && inFlight['not kept'] > 0, `in flight: ${JSON.stringify(inFlight)}`)
}

t.test(`persistence, SANDBOX_DATA: ${ROUNDS} times kill -9 during writes`, async t => {
  await testKills(t, { SANDBOX_DATA: join(t.testdir(), 'data') })
})

t.test(`persistence, SANDBOX_DATABASE_URL: ${ROUNDS} times kill -9 during writes`, { skip: postgresSkip }, async t => {
  const postgres = await startPostgres()
  t.teardown(() => postgres.remove())
  await testKills(t, { SANDBOX_DATABASE_URL: await postgres.createDatabase() })
})

// --------------------------------------------------------------------------------------------------- a full disk

// A limit of the size of files has the same effect on one process.

const prlimitSkip = spawnSync('prlimit', ['--version']).status !== 0 && 'needs prlimit (util-linux)'

/** Sends requests of `sandbox-client`. */
async function connect(server: Server) {
  const form = { grant_type: 'client_credentials', client_id: 'sandbox-client', client_secret: 'sandbox-secret' }
  const { text } = await server.transport({
    ...{ method: 'POST', url: '/api/v1/oauth/token', payload: new URLSearchParams(form).toString() },
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  const headers = { authorization: `Bearer ${JSON.parse(text).access_token}`, 'x-region': 'EU' }
  return {
    get: (url: string) => server.transport({ method: 'GET', url, headers }),
    create: (uniqueReferenceIdentifier: string) =>
      server.transport({
        ...{ method: 'POST', url: '/api/v1/bills', headers: { ...headers, 'content-type': 'application/json' } },
        payload: JSON.stringify(bill({ uniqueReferenceIdentifier })),
      }),
  }
}

async function start(t: Test, settings: Readonly<Record<string, string>>, of = program) {
  const server = await Server.start(settings, of)
  t.teardown(() => server.child.kill('SIGKILL'))
  return server
}

t.test(
  'persistence, SQLite: a full disk: writes and health/ready are 503, reads go on',
  { skip: prlimitSkip },
  async t => {
    const SANDBOX_DATA = join(t.testdir(), 'data')
    const server = await start(t, { SANDBOX_DATA })
    let log = ''
    server.child.stdout?.on('data', text => {
      log += text
    })
    const limit = (bytes: number | 'unlimited') =>
      execFileSync('prlimit', ['--pid', String(server.child.pid), `--fsize=${bytes}:`])
    const { get, create } = await connect(server)
    const ready = async () => (await get('/_sandbox/health/ready')).status
    const state = async () => (await get('/_sandbox/state')).text
    t.equal((await create('INV-0001')).status, 201)
    t.equal(await ready(), 200)
    const before = await state()

    limit(statSync(join(SANDBOX_DATA, 'sandbox.db-wal')).size)
    t.equal(await ready(), 503, 'also before the first write that fails')
    const refused = await create('INV-0002')
    t.match([refused.status, JSON.parse(refused.text).code], [503, 'SERVICE_UNAVAILABLE'])
    t.equal((await get('/api/v1/bills/INV-0001')).status, 200)
    t.equal((await get('/_sandbox/health/live')).status, 200)
    t.equal(await state(), before)
    t.equal(await ready(), 503)

    limit('unlimited')
    t.equal(await ready(), 200)
    t.equal(await state(), before)
    t.equal((await create('INV-0002')).status, 201)
    const after = await state()
    await server.kill()
    const lines = log.split('\n').filter(Boolean)
    t.equal(lines.length, 3)
    for (const line of lines) {
      const { level, time, pid, hostname, clientId, code, reason, ...rest } = JSON.parse(line)
      t.same(rest, { msg: 'the database cannot be used' })
      t.match([code, reason], [/^SQLITE_/, /^[^\n]{5,100}$/])
    }
    t.equal(
      (await (await connect(await start(t, { SANDBOX_DATA }, uncheckedProgram))).get('/_sandbox/state')).text,
      after,
    )
  },
)
