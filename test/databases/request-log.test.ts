import t from 'tap'
import { createTimers } from '../../src/http/timers.js'
import { follow } from '../event-stream.js'
import { call, connect, mandate } from '../helper.js'
import { listen } from '../http/raw.js'
import { manualTime } from '../manual-time.js'
import { onPostgres, sharedPostgres } from '../persistence/helper.js'
import { postgresSkip } from '../postgres.js'

// Persistence, Several servers on Postgres: the request log that two servers share.

t.test('persistence, Several servers on Postgres: the request log of all of them', { skip: postgresSkip }, async t => {
  const { createDatabase } = await sharedPostgres()
  const url = await createDatabase()
  const options = () => ({ timers: createTimers() })
  const [one, other] = [await onPostgres(t, url, options()), await onPostgres(t, url, options())]
  const client = await connect(one.app)
  const page = async (query: string) =>
    (await call(other.app, 'GET', `/_sandbox/requests?client=acme${query}`)).body as {
      data: { seq: number; status: number }[]
      last: number
      dropped: number
    }

  await t.test('a stream of one server has the requests of the other, and tells of its resets', async t => {
    const port = await listen(other.app)
    const reader = await follow(port, '/_sandbox/requests?client=acme')
    t.match(await reader.next(), [{ id: '1', event: 'request' }])
    await client.post('/api/v1/mandates', mandate())
    t.match(await reader.next(), [{ id: '2', event: 'request' }])
    await client.control('POST', '/reset')
    t.match(await reader.next(), [{ id: '0', event: 'reset' }])
    await connect(one.app)
    t.match(await reader.next(), [{ id: '1', event: 'request' }])
    reader.hangUp()
  })

  await t.test('a list is read from the latest on, in batches', async t => {
    const again = await connect(one.app)
    for (let at = 0; at < 130; at++) await again.get(at === 3 ? '/api/v1/mandates?limit=0' : '/api/v1/mandates')
    // The server that has the requests reads them after they are written.
    const { last } = (await call(one.app, 'GET', '/_sandbox/requests?client=acme&limit=1')).body as { last: number }
    const seqs = async (query: string) => (await page(query)).data.map(({ seq }) => seq)
    t.equal((await page('')).data.length, last)
    t.same(await seqs('&limit=2'), [last - 1, last])
    t.same(await seqs(`&limit=2&before=${last}`), [last - 2, last - 1])
    t.same(await seqs('&after=2&before=5'), [3, 4])
    const [refused] = (await page('&errors=true&limit=1')).data
    t.match(refused, { status: 400 })
    t.ok((refused?.seq ?? last) < last - 100, 'it is older than one batch')
    t.same(await page('&path=/none&limit=5'), { data: [], last, dropped: 0 })
    t.match(await call(other.app, 'GET', `/_sandbox/requests/${last}?client=acme`), {
      status: 200,
      body: { seq: last },
    })
    t.equal((await call(other.app, 'GET', `/_sandbox/requests/${last + 1}?client=acme`)).status, 404)
  })

  await t.test('a page of one server is told of the requests of the other, and of nothing else', async t => {
    const time = manualTime()
    const { app } = await onPostgres(t, url, { now: time.now, timers: time.timers })
    const reader = await follow(await listen(app), '/_sandbox/console/changes?client=acme&of=requests')
    const look = async () => {
      time.pass(500)
      // Reads of the log are one after the other.
      await call(app, 'GET', '/_sandbox/requests?client=acme&limit=1')
    }
    t.match(await reader.next(), [{ event: 'change' }])
    for (let at = 0; at < 5; at++) await look()
    for (const change of [
      async () => (await connect(one.app)).get('/api/v1/mandates'),
      () => call(one.app, 'DELETE', '/_sandbox/requests?client=acme'),
      () => call(one.app, 'POST', '/_sandbox/reset?client=acme'),
    ]) {
      await change()
      // The server that has the request reads it after it is written.
      await call(one.app, 'GET', '/_sandbox/requests?client=acme&limit=1')
      let isTold = false
      void reader.next().then(() => {
        isTold = true
      })
      while (!isTold) await look()
    }
    for (let at = 0; at < 5; at++) await look()
    reader.hangUp()
    await reader.end
    t.equal(reader.text().match(/event: change/g)?.length, 4)
  })
})
