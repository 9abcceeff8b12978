import { Connection, tokenOf } from '../lib/client.js'
import { residentOf } from '../lib/machine.js'
import { groupsOf, pathOf, queriesOf } from '../lib/queries.js'
import { collections, mandates, seed } from '../lib/records.js'
import { atMost, bytes, count, duration } from '../lib/rows.js'
import { answering, launchSandbox, READY } from '../lib/servers.js'
import { compare, median } from '../lib/stats.js'

export const title = 'Lists over HTTP, at 1,000,000 collections against 1,000'

const CLIENT = 'bench'
const PER_PAGE = 100

/** @param {{ quick: boolean, say: (text: string) => void }} options */
export async function run({ quick, say }) {
  const rounds = quick ? 2 : 7
  const large = await world(quick ? 100_000 : 1_000_000, 5000, say)
  const small = await world(1000, 5, say)

  const rows = []
  for (const [at, query] of large.queries.entries()) {
    say(query.name)
    rows.push(await compareOn(query, large, small, small.queries[at], rounds))
  }
  for (const { connection, server } of [large, small]) {
    connection.close()
    await server.stop()
  }
  return {
    rows,
    notes: [
      `Time of one call after the other on one connection, with the way there and back; before each, something else happens, so that no page is answered again as it is. The large world has 2,000 mandates, the small one 8, and each query matches more than a page of ${PER_PAGE} in both, but for the combinations. Of the server, ${bytes(large.each)} of resident memory came with each collection that was seeded.`,
    ],
  }
}

async function world(size, farPage, say) {
  say(`seeding ${size} collections`)
  const server = await answering(await launchSandbox(), READY)
  const connection = new Connection(server.port)
  const token = await tokenOf(connection, CLIENT)
  const headers = { authorization: `Bearer ${token}`, 'x-region': 'EU' }
  const groups = groupsOf(size)
  await seed(connection, CLIENT, 'mandates', mandates(groups))
  const before = residentOf(server.pid)
  const began = performance.now()
  await seed(connection, CLIENT, 'collections', collections(size, groups))
  say(`seeded in ${duration(performance.now() - began)}`)
  const each = (residentOf(server.pid) - before) / size
  const far = await cursorsTo(connection, headers, Math.min(farPage, size / PER_PAGE / 2))
  return { server, connection, headers, each, queries: queriesOf(size, far) }
}

/** Walks in large steps to shortly before a page, then page by page. */
async function cursorsTo(connection, headers, number) {
  const STEP = 5
  const cursors = []
  let cursor = null
  const next = async pages => {
    const path = pathOf({ limit: String(pages * PER_PAGE), ...(cursor && { cursor }) })
    cursor = (await connection.json('GET', path, headers)).nextCursor
  }
  let page = 1
  for (; page + 2 * STEP < number; page += STEP) await next(STEP)
  for (; page < number; page++) {
    await next(1)
    cursors.push(cursor)
  }
  return { number, cursors }
}

/** How long one variant after the other takes, in milliseconds: so many calls as go into the time, or at least some. */
const CALLS = 60
const MOST_MS = 400
const LEAST_CALLS = 5

/** Something happens before each call, or the sandbox would answer the page that it has. */
const LINK = { amount: '25', currency: 'EUR', payoutMethod: 'SEPA-CT' }

async function compareOn({ name, variants, kind }, large, small, { variants: smallVariants }, rounds) {
  const call = async ({ connection, headers }, query) => {
    const path = pathOf(query)
    await connection.json('POST', '/api/v1/payout-links', headers, LINK)
    const began = performance.now()
    const { status } = await connection.send('GET', path, headers)
    const ms = performance.now() - began
    if (status !== 200) throw new Error(`${path}: ${status}`)
    return ms
  }
  const took = { large: [], small: [] }
  for (let round = -1; round < rounds; round++) {
    const inLarge = []
    const inSmall = []
    const deadline = performance.now() + MOST_MS
    for (let at = 0; at < CALLS && (at < LEAST_CALLS || performance.now() < deadline); at++) {
      inLarge.push(await call(large, variants[at % variants.length]))
      inSmall.push(await call(small, smallVariants[at % smallVariants.length]))
    }
    if (round < 0) continue
    took.large.push(median(inLarge))
    took.small.push(median(inSmall))
  }
  const { ours, theirs, ratio, spread } = compare(took.large, took.small)
  return {
    operation: name,
    peer: `itself with ${count(1000)}`,
    ours: duration(ours),
    theirs: duration(theirs),
    ratio,
    spread,
    // What the combinations are held against is SQLite's time, in the store.
    ...(kind !== 'combination' && { goal: atMost('scale', 1.3, ratio) }),
  }
}
