import type { FastifyInstance } from 'fastify'
import { createStoredCoverage } from '../../src/turns/stored-coverage.js'
import { call, connect } from '../helper.js'
import { manualTime, until } from '../manual-time.js'
import { onDatabase, onSqliteOnly, timers } from './helper.js'

const MANDATES = '/api/v1/mandates'

const coverage = async (app: FastifyInstance, query: string) =>
  (await call(app, 'GET', `/_sandbox/coverage?${query}`)).body

onDatabase('persistence, State in tables: the coverage survives restarts', async (t, storage) => {
  // Without timers of the test, the coverage waits for more answers.
  let stored = await storage.start()
  const client = await connect(stored.app, 'base')
  await client.get(MANDATES)
  await client.get(`${MANDATES}/MND-9999`)
  await call(stored.app, 'POST', '/_sandbox/fork?client=base', { body: { clientId: 'job' } })
  await (await connect(stored.app, 'job')).get(`${MANDATES}?limit=501`)
  const before = await coverage(stored.app, 'client=base')
  t.match(before.summary, { operations: { met: 3 }, errorCodes: { met: 2 }, pages: { met: 2 } })

  stored = await storage.restart(stored)
  t.same(await coverage(stored.app, 'client=base'), before)
  t.match(await coverage(stored.app, 'clients=all'), { ...before, clients: ['base', 'job'] })
  t.match((await coverage(stored.app, 'client=job')).summary, { operations: { met: 2 } })

  await call(stored.app, 'DELETE', '/_sandbox/clients/job')
  stored = await storage.restart(stored)
  t.same(await coverage(stored.app, 'client=base'), before, 'a fork that is gone counts')
  t.same(await coverage(stored.app, 'clients=all'), before)
  t.match(await call(stored.app, 'GET', '/_sandbox/coverage?client=job'), { status: 404 })

  await call(stored.app, 'POST', '/_sandbox/reset?client=base')
  stored = await storage.restart(stored)
  t.match((await coverage(stored.app, 'client=base')).summary, { operations: { met: 0 } })
})

onDatabase('persistence, State in tables: the coverage in a database is that in memory', async (t, storage) => {
  const stored = await storage.start({ timers })
  const { app } = stored
  const base = await connect(app, 'base')
  for (const clientId of ['one', 'two']) {
    await call(app, 'POST', '/_sandbox/fork?client=base', { body: { clientId } })
    await (await connect(app, clientId)).get(MANDATES)
  }
  await call(app, 'POST', '/_sandbox/fork?client=one', { body: { clientId: 'three' } })
  await (await connect(app, 'three')).get(MANDATES)
  const requests = async (query: string) => {
    const { operations } = await coverage(app, query)
    return operations.find(({ operation }: { operation: string }) => operation === `GET ${MANDATES}`).requests
  }
  const counts = async () => [
    await requests('client=base'),
    await requests('client=base,one,three'),
    await requests('clients=all'),
  ]
  t.same([await requests('client=one'), ...(await counts())], [2, 3, 3, 3])
  await call(app, 'POST', '/_sandbox/reset?client=one')
  t.same([await requests('client=one'), ...(await counts())], [0, 3, 3, 3], 'a fork is reset')
  await call(app, 'DELETE', '/_sandbox/clients/one')
  t.same(await counts().catch(() => []), [], 'one is gone')
  await (await connect(app, 'one', 'EU', 'another')).get(MANDATES)
  t.same([await requests('client=base'), await requests('client=one')], [3, 1], 'a new client of its id is no fork')
  t.same([await requests('client=base'), await requests('client=three')], [3, 1])
  await base.control('POST', '/reset')
  t.same([await requests('client=base'), await requests('client=three')], [0, 1], 'the origin is reset')
  await (await connect(app, 'base')).get('/api/v1/bills')
  t.match((await coverage(app, 'client=base')).summary, { operations: { met: 2 } })
})

onDatabase(
  'persistence, State in tables: a damaged number of answers is left out, and restarts',
  async (t, storage) => {
    const first = await storage.start()
    for (const clientId of ['one', 'two']) {
      const client = await connect(first.app, clientId)
      await client.get(MANDATES)
      await coverage(first.app, `client=${clientId}`)
    }
    const damage = `operation = 'GET ${MANDATES}' AND client_id = 'one'`
    const { app } = await storage.change(
      first,
      `UPDATE sandbox_coverage SET answers = 9223372036854775807 WHERE ${damage}`,
    )
    const requests = async (query: string) => {
      const { operations } = await coverage(app, query)
      return operations.find(({ operation }: { operation: string }) => operation === `GET ${MANDATES}`).requests
    }
    t.same([await requests('client=one'), await requests('client=two'), await requests('clients=all')], [0, 1, 1])
    await (await connect(app, 'one')).get(MANDATES)
    t.same([await requests('client=one'), await requests('clients=all')], [1, 2])
  },
)

onDatabase('persistence, State in tables: a status that is damaged is left out of the coverage', async (t, storage) => {
  const first = await storage.start()
  await (await connect(first.app)).get(MANDATES)
  await coverage(first.app, 'client=acme')
  const damage = (status: string) => `UPDATE sandbox_coverage SET fact = 'status ${status}' WHERE fact LIKE 'status %'`
  let stored = first
  for (const status of ['NaN', '__proto__', '200 ', '-1', '1e9']) {
    stored = await storage.change(stored, damage(status))
    for (const query of ['client=acme', 'clients=all']) {
      t.match((await coverage(stored.app, query)).summary, { operations: { met: 0 } }, status)
    }
  }
})

/** Creates a coverage whose changes of some clients fail, and which waits for `answered` before each answer about them. */
function failingCoverage(...clientIds: string[]) {
  const time = manualTime()
  const failing = new Set(clientIds)
  const of = {
    time,
    failing,
    /** The facts that are written with their answers, by transaction. */
    written: [] as string[][],
    attempts: 0,
    answered: Promise.resolve(),
  }
  const coverage = createStoredCoverage(
    {
      select: async () => [],
      async transact(statements) {
        const at = statements.findIndex(({ values }) => failing.has(values[0] as string))
        if (at >= 0) {
          of.attempts++
          await of.answered
          if (failing.has(statements[at]?.values[0] as string)) return at
        }
        of.written.push(statements.map(({ values: [clientId, , fact, answers] }) => `${clientId}: ${answers} ${fact}`))
        return undefined
      },
    },
    time.timers,
    200,
  )
  const answer = (clientId: string, ...facts: string[]) => coverage.add(clientId, `GET ${MANDATES}`, facts as never)
  const read = (...asked: string[]) => coverage.read(asked) as Promise<unknown>
  return { ...of, of, coverage, answer, read }
}
const UNAVAILABLE = { code: 'SERVICE_UNAVAILABLE' }

onSqliteOnly('persistence, The turn of a request: a client whose coverage fails holds up only its own', async t => {
  const { of, time, failing, coverage, answer, read } = failingCoverage('one')
  const facts = Array.from({ length: 1500 }, (_, at) => `header x-${at}`)
  for (const clientId of ['one', 'two', 'three']) answer(clientId, ...facts)
  await read('two')
  t.same(
    of.written.map(each => each.length),
    [1500, 1500],
    'a transaction ends with a client',
  )
  await t.rejects(read('one'), UNAVAILABLE)
  await coverage.read('all')
  t.equal(of.written.length, 2)
  const { attempts } = of
  for (const clientId of ['one', 'two']) answer(clientId, 'status 200')
  await read('two')
  await coverage.flush()
  t.same([of.attempts, of.written.slice(2)], [attempts, [['two: 1 status 200']]], 'no other client tries it again')
  time.pass(200)
  await until(() => coverage.pending() === 1)
  failing.clear()
  time.pass(1000)
  await until(() => of.written.length === 4)
  t.equal(of.written[3]?.length, 1501, 'it is written later')
  await read('one')

  failing.add('one')
  answer('one', 'status 200')
  for (let at = 0; at < 2; at++) await t.rejects(read('one'), UNAVAILABLE)
})

onSqliteOnly('persistence, The turn of a request: the answers of a client whose coverage fails add up', async t => {
  const { of, time, failing, coverage, answer, read } = failingCoverage('one')
  let go = () => {}
  answer('one', 'status 200', 'status 404')
  await t.rejects(read('one'), UNAVAILABLE)
  for (let answers = 0; answers < 3; answers++) {
    answer('one', 'status 200')
    time.pass(1000)
    await until(() => coverage.pending() === 1)
  }
  of.answered = new Promise(resolve => {
    go = resolve
  })
  const { attempts } = of
  time.pass(1000)
  await until(() => of.attempts > attempts)
  answer('one', 'status 200', 'status 201')
  answer('two', 'status 200')
  await coverage.flush()
  t.same(of.written, [['two: 1 status 200']], 'no other client waits for an attempt in progress')
  go()
  await until(() => coverage.pending() === 2)
  failing.clear()
  time.pass(1000)
  await until(() => of.written.length === 2)
  t.same(of.written[1]?.sort(), ['one: 1 status 201', 'one: 1 status 404', 'one: 5 status 200'])
})

onSqliteOnly('persistence, The turn of a request: a flush writes what came during a write', async t => {
  const { of, coverage, answer } = failingCoverage('one')
  let go = () => {}
  of.answered = new Promise(resolve => {
    go = resolve
  })
  answer('one', 'status 200')
  const first = coverage.flush()
  await until(() => of.attempts === 1)
  answer('two', 'status 200')
  const second = coverage.flush()
  go()
  await first
  await second
  t.same(of.written, [['two: 1 status 200']])
})

onSqliteOnly('persistence, The turn of a request: the coverage is reset with the turn, or not at all', async t => {
  const { of, failing, coverage, answer, read } = failingCoverage('one')
  answer('one', 'status 200')
  await t.rejects(read('one'), UNAVAILABLE)
  failing.clear()
  const commit = async (outcome?: Error) => {
    const found: string[] = []
    await coverage
      .commit(['one', 'two'], async statements => {
        found.push(...statements.map(({ name, values }) => `${values[0]}: ${name}`))
        if (outcome) throw outcome
      })
      .catch(error => t.equal(error, outcome))
    return found
  }
  answer('one', 'status 200')
  answer('two', 'status 200')
  t.same(await commit(), [], 'other turns leave it')
  const changes = ['hand facts over', 'clear coverage', 'hand forks over', 'clear forks'].map(name => `one: ${name}`)
  for (const _ of ['first', 'second']) {
    coverage.reset('one')
    t.same(await commit(new Error('injected')), ['one: add coverage', ...changes])
    coverage.rollback(['one', 'two'])
    t.same(await commit(), [])
  }
  await t.rejects(read('one'), UNAVAILABLE)
  await read('two')
  t.same(of.written, [['two: 1 status 200']])
  coverage.fork('one', 'two')
  coverage.reset('one')
  t.same(await commit(), ['one: add coverage', 'one: add fork', ...changes])
  t.same(await commit(), [])
  await read('one')
  t.equal(of.written.length, 1, 'its answers are written once')
})

onSqliteOnly(
  'persistence, The turn of a request: a server that closes writes the coverage that failed, too',
  async t => {
    const { of, time, failing, coverage, answer, read } = failingCoverage('one', 'two')
    for (const clientId of ['one', 'two']) answer(clientId, 'status 200')
    await t.rejects(read('one'), UNAVAILABLE)
    time.timers.flush()
    await coverage.flush()
    failing.delete('two')
    await coverage.flushAll()
    t.same(of.written, [['two: 1 status 200']])
    await coverage.flushAll()
    time.pass(0)
    await coverage.flush()
    t.equal(time.pending, 0, 'it plans no more')
  },
)

onSqliteOnly('persistence, The turn of a request: coverage that cannot be written is written later', async t => {
  const time = manualTime()
  let isBroken = true
  const written: unknown[] = []
  const coverage = createStoredCoverage(
    {
      select: async () => [],
      async transact(statements) {
        written.push(...statements.map(({ values }) => values))
        if (isBroken) throw new Error('injected')
      },
    },
    time.timers,
    200,
  )
  const row = ['acme', `GET ${MANDATES}`, 'status 200', 1]
  coverage.add('acme', `GET ${MANDATES}`, ['status 200'])
  for (const milliseconds of [200, 1000]) {
    time.pass(milliseconds)
    await until(() => coverage.pending() === 1)
  }
  t.same(written, [row, row])
  isBroken = false
  time.pass(1000)
  await coverage.flush()
  t.same(written, [row, row, row])
  t.equal(time.pending, 0)

  isBroken = true
  coverage.add('acme', `GET ${MANDATES}`, ['status 200'])
  time.timers.flush()
  await coverage.flush()
  t.equal(time.pending, 0, 'a server that closes plans no more')
})
