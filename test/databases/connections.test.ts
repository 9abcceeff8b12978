import { setTimeout as pause } from 'node:timers/promises'
import type { Test } from 'tap'
import t from 'tap'
import type { Database } from '../../src/turns/database.js'
import { bill, call, connect } from '../helper.js'
import { onPostgres, sharedPostgres } from '../persistence/helper.js'
import { locked, nameOf, postgresSkip, waiting } from '../postgres.js'

// The tests of persistence, Several servers on Postgres: the connections of a server.

const clientIds = (count: number) => Array.from({ length: count }, (_, at) => `held-${at}`)

/** Counts answers, of which the status must be 201. */
function watch(t: Test, requests: readonly Promise<{ status: number }>[]) {
  let answered = 0
  const all = requests.map(async request => {
    t.equal((await request).status, 201)
    answered++
  })
  return { answered: () => answered, all: Promise.all(all) }
}

t.test(
  'persistence, Several servers on Postgres: five locked turns hold up no other',
  { skip: postgresSkip },
  async t => {
    const { createDatabase } = await sharedPostgres()
    const url = await createDatabase()
    const { app } = await onPostgres(t, url)
    const free = await connect(app)
    const held = await Promise.all(clientIds(5).map(clientId => connect(app, clientId)))
    let posts: ReturnType<typeof watch> | undefined
    await locked(url, "SELECT * FROM sandbox_tenant WHERE client_id LIKE 'held-%' FOR UPDATE", async () => {
      posts = watch(
        t,
        held.map(({ post }) => post('/api/v1/bills', bill())),
      )
      await waiting(url, 5)
      t.equal((await free.post('/api/v1/bills', bill())).status, 201)
      t.equal((await free.get('/api/v1/bills')).status, 200)
      t.equal((await call(app, 'GET', '/_sandbox/health/ready')).status, 200)
      t.equal(posts.answered(), 0)
    })
    await posts?.all
  },
)

t.test(
  'persistence, Several servers on Postgres: 16 turns at a time, and reads beside',
  { skip: postgresSkip },
  async t => {
    const { createDatabase, query } = await sharedPostgres()
    const url = await createDatabase()
    let begun = 0
    let isHolding = false
    let letGo = () => {}
    const over = new Promise<void>(resolve => {
      letGo = resolve
    })
    /** Makes turns of some clients last. */
    const wrap = (database: Database): Database => ({
      ...database,
      async begin(ids) {
        const transaction = await database.begin(ids)
        if (!isHolding) return transaction
        begun++
        return {
          ...transaction,
          async commit() {
            await over
            await transaction.commit()
          },
        }
      },
    })
    const { app } = await onPostgres(t, url, { wrap })
    const free = await connect(app)
    const held = []
    for (const clientId of clientIds(18)) held.push(await connect(app, clientId))
    isHolding = true
    const posts = watch(
      t,
      held.map(({ post }) => post('/api/v1/bills', bill())),
    )
    while (begun < 16) await pause(5)
    for (let at = 0; at < 3; at++) t.equal((await free.get('/api/v1/bills')).status, 200)
    t.same([begun, posts.answered()], [16, 0])
    const connections = `SELECT 1 FROM pg_stat_activity
      WHERE datname = '${nameOf(url)}' AND application_name LIKE 'payments-sandbox%'`
    t.equal((await query(url, connections)).rowCount, 18)
    letGo()
    await posts.all
    t.equal(begun, 18)
  },
)
