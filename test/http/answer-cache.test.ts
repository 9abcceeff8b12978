import { Type } from '@sinclair/typebox'
import fc from 'fast-check'
import t from 'tap'
import { sendPage, sendRecord } from '../../src/http/answer-cache.js'
import { warmUp } from '../../src/http/validation.js'
import { build, collection, connect, mandate } from '../helper.js'

const List = Type.Object({ data: Type.Array(Type.String()) })

/** A world of which nothing is known but how much has happened in it. */
const world = () => {
  let last = 0
  return { events: { last: () => last }, happen: () => void last++ }
}

interface Asked {
  clientId?: string
  url: string
  world: ReturnType<typeof world>
}

/** Asks for a page whose records are found anew; answers whether that was necessary. */
function isRead({ clientId = 'acme', ...request }: Asked): boolean {
  let reads = 0
  const reply = { type: () => reply, send: () => reply }
  sendPage(reply, { ...request, tenant: { clientId } }, List, () => {
    reads++
    return { data: ['a'] }
  })
  return reads === 1
}

const Named = Type.Object({ name: Type.String() })

/** A record that counts how often it is written. */
function counted(name: string) {
  const entry = { writes: 0, latestEvent: 1, record: {} }
  Object.defineProperty(entry.record, 'name', { enumerable: true, get: () => name + '!'.repeat(++entry.writes) })
  return entry
}

/** What a record is answered with. */
function sent(entry: ReturnType<typeof counted>): string {
  let content = ''
  const send = (json: string) => {
    content = json
  }
  const reply = { type: () => reply, send }
  sendRecord(reply, Named, entry)
  return content
}

t.before(warmUp)

t.test('issue 4, guard: a page is found and written once, as long as nothing has happened', async t => {
  const mine = world()
  t.ok(isRead({ url: '/once', world: mine }))
  for (let times = 0; times < 100; times++) t.notOk(isRead({ url: '/once', world: mine }))
  mine.happen()
  t.ok(isRead({ url: '/once', world: mine }), 'something has')
  t.notOk(isRead({ url: '/once', world: mine }))
  t.ok(isRead({ url: '/once?limit=5', world: mine }), 'another page')
  t.ok(isRead({ url: '/once', world: world() }), 'another life of the tenant')
})

t.test('issue 4, guard: tenants that ask for the same do not take it from each other', async t => {
  const [mine, yours] = [world(), world()]
  t.ok(isRead({ clientId: 'mine', url: '/same', world: mine }))
  t.ok(isRead({ clientId: 'yours', url: '/same', world: yours }))
  t.notOk(isRead({ clientId: 'mine', url: '/same', world: mine }))
  t.notOk(isRead({ clientId: 'yours', url: '/same', world: yours }))
})

t.test('issue 4, guard: of many pages, those are kept that were made last', async t => {
  const mine = world()
  for (let page = 0; page < 65; page++) isRead({ url: `/many?page=${page}`, world: mine })
  t.notOk(isRead({ url: '/many?page=64', world: mine }))
  t.notOk(isRead({ url: '/many?page=1', world: mine }))
  t.ok(isRead({ url: '/many?page=0', world: mine }))
})

t.test('issue 4, guard: a record is written once, as long as nothing has happened to it', async t => {
  const [mine, yours] = [counted('mine'), counted('yours')]
  for (let times = 0; times < 100; times++) {
    t.equal(sent(mine), '{"name":"mine!"}')
    t.equal(sent(yours), '{"name":"yours!"}')
  }
  mine.latestEvent = 2
  for (let times = 0; times < 100; times++) t.equal(sent(mine), '{"name":"mine!!"}')
  t.same([mine.writes, yours.writes], [2, 1])
})

t.test('issue 4, guard: of many records, the thousand are kept that were written last', async t => {
  const entries = Array.from({ length: 1001 }, (_, at) => counted(`${at}`))
  for (const entry of entries) sent(entry)
  for (const entry of entries.slice(1)) t.equal(entry.writes, 1)
  for (const entry of entries.slice(1)) sent(entry)
  t.equal(
    entries.reduce((sum, { writes }) => sum + writes, 0),
    1001,
  )
  sent(entries[0] as (typeof entries)[0])
  t.equal(entries[0]?.writes, 2)
})

t.test('issue 4: a record is answered as it is, whatever has happened to it in between', async t => {
  const steps = fc.oneof(
    fc.constantFrom('submit', 'claim', 'process', 'settle', 'fail', 'return', 'cancel').map(verb => ({ verb })),
    fc.constantFrom('P1D', 'PT6H', 'PT10S').map(by => ({ by })),
    fc.constant({ life: 'state' }),
    fc.constant({ life: 'reset' }),
  )
  const step = fc.record({ at: fc.nat(2), step: steps })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 30 }), async steps => {
      let client = await connect(build(t))
      const begin = async () => {
        await client.post('/api/v1/mandates', mandate())
        for (let at = 0; at < 3; at++)
          await client.post('/api/v1/direct-debit', collection({ collectionReference: `COL-${at}` }))
      }
      /** What the control plane shows is written anew each time. */
      const check = async () => {
        for (const path of [
          '/direct-debit/COL-0',
          '/direct-debit/COL-1',
          '/direct-debit/COL-2',
          '/mandates/MND-0001',
        ]) {
          const { record } = (await client.control('GET', path)).body
          delete record.lastPresentedAt
          t.same((await client.get(`/api/v1${path}`)).body, record)
        }
      }
      await begin()
      const { body: state } = await client.control('GET', '/state')
      for (const { at, step } of steps) {
        await check()
        if ('verb' in step) await client.control('POST', `/direct-debit/COL-${at}/${step.verb}`)
        else if ('by' in step) await client.advance({ by: step.by })
        else if (step.life === 'state') await client.control('PUT', '/state', state)
        else {
          await client.control('POST', '/reset')
          client = await connect(client.app)
          await begin()
        }
      }
      await check()
      await client.app.close()
    }),
    { seed: 20_261_121, numRuns: 20 },
  )
})

t.test('issue 4: a record that is answered again is the same answer, also to HEAD', async t => {
  const client = await connect(build(t))
  await client.post('/api/v1/mandates', mandate())
  const first = await client.get('/api/v1/mandates/MND-0001?unknown=1')
  const again = await client.get('/api/v1/mandates/MND-0001?unknown=1')
  t.match(first.headers, {
    'content-type': 'application/json; charset=utf-8',
    'sandbox-hint': 'unknown parameter unknown ignored',
  })
  const head = await client.send('HEAD', '/api/v1/mandates/MND-0001?unknown=1')
  for (const header of ['sandbox-hint', 'content-type', 'content-length']) {
    t.equal(again.headers[header], first.headers[header], header)
    t.equal(head.headers[header], first.headers[header], `${header} of HEAD`)
  }
})

t.test('interface, list: whatever changes a collection is seen by the next list', async t => {
  const client = await connect(build(t))
  const url = '/api/v1/direct-debit?status=PENDING,SUBMITTED,CANCELLED,PROCESSING,SETTLED'
  const list = async () => {
    const [first, again] = [await client.get(url), await client.get(url)]
    t.same(again.body, first.body)
    return first.body.data.map((row: { collectionReference: string; status: string }) => [
      row.collectionReference,
      row.status,
    ])
  }
  t.same(await list(), [])
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/direct-debit', collection())
  t.same(await list(), [['COL-0001', 'PENDING']])

  const { body: state } = await client.control('GET', '/state')
  await client.control('POST', '/direct-debit/COL-0001/submit')
  t.same(await list(), [['COL-0001', 'SUBMITTED']])
  await client.advance({ by: 'P14D' })
  t.same(await list(), [['COL-0001', 'SETTLED']])
  await client.control('POST', '/seed', {
    records: { collections: [collection({ collectionReference: 'COL-0002', status: 'CANCELLED' })] },
  })
  t.same(await list(), [
    ['COL-0002', 'CANCELLED'],
    ['COL-0001', 'SETTLED'],
  ])

  t.equal((await client.control('PUT', '/state', state)).status, 200)
  t.same(await list(), [['COL-0001', 'PENDING']], 'with fewer events than before')
  await client.delete('/api/v1/mandates/MND-0001')
  t.same(await list(), [['COL-0001', 'CANCELLED']])
  await client.control('POST', '/reset')
  const fresh = await connect(client.app)
  t.same((await fresh.get(url)).body.data, [])
})

t.test('interface, list: a page that is answered again is the same answer, hints and all', async t => {
  const client = await connect(build(t))
  const url = '/api/v1/direct-debit?amountMin=5&amountMax=1&unknown=1'
  const first = await client.get(url)
  const again = await client.get(url)
  t.match(first.headers['sandbox-hint'], /unknown parameter unknown ignored.*amountMin is above amountMax/)
  for (const header of ['sandbox-hint', 'content-type', 'content-length'])
    t.equal(again.headers[header], first.headers[header], header)
  const wrong = await client.get('/api/v1/direct-debit?cursor=abc')
  t.same([wrong.status, (await client.get('/api/v1/direct-debit?cursor=abc')).status], [400, 400])
})
