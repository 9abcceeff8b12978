import type { FastifyInstance } from 'fastify'
import { build, call, MONDAY, requestToken } from '../helper.js'
import { createPlayer, injecting, randomRequests } from '../random-requests.js'
import { onDatabase, stateOf, timers, wrongCounts } from './helper.js'

const IS_LONG = process.env.TEST_LONG === '1'
const TOTAL = IS_LONG ? 3000 : 280
const CLIENTS = {
  acme: 'hush acme',
  beta: 'hush beta',
  'sandbox-client': 'sandbox-secret',
  copy: 'hush copy',
}

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

for (const seed of IS_LONG ? [77, 78, 79, 80] : [77]) {
  onDatabase(`persistence, What is kept: it answers as memory, whatever restarts (${seed})`, async (t, storage) => {
    const time = { now: Date.parse(MONDAY) }
    const options = { now: () => time.now, timers }
    let stored = await storage.start(options)
    const memory = build(t, options)
    const playersOf = (on: () => FastifyInstance) =>
      Object.entries(CLIENTS).map(([clientId, secret]) =>
        createPlayer(request => injecting(on())(request), clientId, secret),
      )
    const players = playersOf(() => stored.app)
    const twins = playersOf(() => memory)
    const wrong: unknown[] = []
    for (const [at, request] of randomRequests(seed, TOTAL).entries()) {
      time.now += (at % 5) * 30
      if (at % 40 === 20) stored = await storage.restart(stored, options)
      for (const on of [memory, stored.app]) await CALLS[at]?.(on)
      const player = (at * 7 + (at >> 3)) % (at > 150 ? 4 : 3)
      const [played, expected] = [await players[player]?.play(request), await twins[player]?.play(request)]
      // Each process numbers its tokens.
      const isToken = request.path === '/api/v1/oauth/token' && played?.status === expected?.status
      if (!isToken && JSON.stringify(played) !== JSON.stringify(expected)) wrong.push([at, request, played, expected])
      if (wrong.length > 0) break
    }
    t.same(wrong, [])
    for (const clientId of Object.keys(CLIENTS)) {
      t.ok(
        (await stateOf(stored.app, clientId)) === (await stateOf(memory, clientId)),
        `${clientId} has the same state`,
      )
      t.same(wrongCounts(stored.registry, clientId), [], `${clientId} has the right counts`)
    }
    const describe = async (on: FastifyInstance) =>
      (await call(on, 'GET', '/_sandbox/clients')).body.data.map((one: object) => JSON.stringify(one)).sort()
    t.same(await describe(stored.app), await describe(memory))
  })
}
