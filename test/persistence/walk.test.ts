import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { build, call, MONDAY, requestToken } from '../helper.js'
import { postgresSkip } from '../postgres.js'
import { createPlayer, injecting, randomRequests } from '../random-requests.js'
import { postgresOf, sqlite, stateOf, timers } from './helper.js'

const TOTAL = process.env.TEST_LONG === '1' ? 3000 : 400
const CLIENTS = ['acme', 'beta', 'sandbox-client', 'copy']

/** Calls that concern whole tenants, at the numbers of the requests before which they are sent. */
const CALLS: Record<number, (on: FastifyInstance) => Promise<unknown>> = {
  100: on => call(on, 'POST', '/_sandbox/reset?client=beta'),
  150: async on => {
    const body = JSON.parse(await stateOf(on, 'acme'))
    await call(on, 'PUT', '/_sandbox/state?client=beta', { body })
    await call(on, 'POST', '/_sandbox/fork?client=acme', { body: { clientId: 'copy', clientSecret: 'hush copy' } })
  },
  250: async on => {
    await call(on, 'DELETE', '/_sandbox/clients/beta')
    await requestToken(on, { client_id: 'beta', client_secret: 'hush beta' })
  },
}

for (const seed of process.env.TEST_LONG === '1' ? [77, 78, 79, 80] : [77]) {
  t.test(`persistence: memory, SQLite and Postgres answer the same, whatever restarts (seed ${seed})`, async t => {
    const time = { now: Date.parse(MONDAY) }
    const options = { timers, now: () => time.now }
    const storages = [sqlite(t), ...(postgresSkip === false ? [await postgresOf(t), await postgresOf(t)] : [])]
    const servers = await Promise.all(storages.map(storage => storage.start(options)))
    const memory = build(t, options)
    // The servers of the last database take turns.
    const last = storages.at(-1)
    const other = await last?.start(options)
    const playersOf = (on: () => FastifyInstance) =>
      CLIENTS.map(clientId =>
        createPlayer(
          request => injecting(on())(request),
          clientId,
          clientId === 'sandbox-client' ? 'sandbox-secret' : undefined,
        ),
      )
    let at = 0
    const apps = () =>
      servers.map(({ app }, n) => (postgresSkip === false && n === 2 && at % 2 ? (other?.app ?? app) : app))
    const expectations = playersOf(() => memory)
    const worlds = servers.map((_, n) => playersOf(() => apps()[n] as FastifyInstance))
    const found: unknown[] = []
    for (const request of randomRequests(seed, TOTAL)) {
      at++
      time.now += (at % 5) * 30
      if (at % 40 === 20) {
        for (const n of servers.keys()) {
          const [storage, server] = [storages[n], servers[n]]
          if (n < 2 && storage && server) servers[n] = await storage.restart(server, options)
        }
      }
      for (const on of [memory, ...apps()]) await CALLS[at]?.(on)
      const turn = (at * 7 + (at >> 3)) % (at > 150 ? 4 : 3)
      const expected = await expectations[turn]?.play(request)
      const isToken = request.path === '/api/v1/oauth/token'
      for (const [n, players] of worlds.entries()) {
        const played = await players[turn]?.play(request)
        // Each process numbers its tokens.
        const isSame = JSON.stringify(played) === JSON.stringify(expected)
        if (!isSame && !(isToken && played?.status === expected?.status)) {
          found.push([at, storages[n]?.name, n, request, played, expected])
        }
      }
      if (found.length > 0) break
    }
    t.same(found, [])
    for (const clientId of CLIENTS) {
      const expected = await stateOf(memory, clientId)
      for (const [n, on] of apps().entries()) {
        t.ok((await stateOf(on, clientId)) === expected, `${clientId} of ${storages[n]?.name}`)
      }
    }
  })
}
