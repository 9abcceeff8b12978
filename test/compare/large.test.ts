import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import t from 'tap'
import type { Har } from '../capture.js'
import { captured } from '../capture.js'
import { bill, build, collection, connect, MONDAY, mandate, payoutLink } from '../helper.js'
import { differencesOf } from './run.js'

const IS_LONG = process.env.TEST_LONG === '1'

/** Captures the work of a client: records of all kinds, and each tenth time the pages of a list. */
async function work(t: Test, entries: number): Promise<Har> {
  const clock = { now: Date.parse(MONDAY) }
  const capture = captured(build(t, { requestLog: { entries: 0 }, recordingBytes: 0 }), clock)
  const client = await connect(capture.app)
  const { log } = capture.har()
  for (let n = 1000; log.entries.length < entries; n++) {
    await client.post('/api/v1/mandates', mandate({ mandateReference: `MND-${n}` }))
    await client.control('POST', '/clock/advance', { by: 'PT1S' })
    clock.now += 1000
    for (const reference of [`COL-${n}-1`, `COL-${n}-2`, `COL-${n}-1`])
      await client.post(
        '/api/v1/direct-debit',
        collection({ mandateReference: `MND-${n}`, collectionReference: reference }),
      )
    await client.get(`/api/v1/direct-debit/COL-${n}-2`)
    await client.post('/api/v1/bills', bill({ uniqueReferenceIdentifier: `INV-${n}` }))
    const { body } = await client.post('/api/v1/payout-links', payoutLink())
    await client.patch(`/api/v1/payout-links/${body.payoutLinkId}/cancel`, { cancellationComment: 'x' })
    if (n % 10 === 0)
      for (const query of ['limit=500', 'limit=20&status=PENDING']) await client.get(`/api/v1/direct-debit?${query}`)
  }
  log.entries.splice(entries)
  return { log }
}

/** Compares a capture that differs in nothing. Returns the number of requests that the sandboxes have got. */
async function requestsFor(t: Test, har: Har): Promise<number> {
  let count = 0
  const watch = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyInstance }
    fastify.addHook('onRequest', (_request, _reply, next) => {
      count++
      next()
    })
  }
  subscribe('fastify.initialization', watch)
  try {
    t.same(await differencesOf(t, har), [])
  } finally {
    unsubscribe('fastify.initialization', watch)
  }
  return count
}

t.test('decisions §1: only entries with values of the server are asked at both ends of the time', async t => {
  const har = await work(t, 200)
  const made = har.log.entries.filter(({ request: { method, url } }) => method !== 'GET' && /payout|oauth/.test(url))
  const count = await requestsFor(t, har)
  t.equal(count, har.log.entries.length + made.length)
})

if (IS_LONG) {
  t.test('decisions §1: 20,000 entries in a file of some 60 MiB', { timeout: 600_000 }, async t => {
    const har = await work(t, 20_000)
    t.equal(har.log.entries.length, 20_000)
    t.ok(JSON.stringify(har).length > 55 * 1024 * 1024)
    await requestsFor(t, har)
  })
}
