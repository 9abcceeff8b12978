import type { QueryConfig } from 'pg'
import t from 'tap'
import type { Exchange } from '../../src/features/request-log/request-log.js'
import { createPostgresRequestLog } from '../../src/turns/postgres-request-log.js'

/** A request with a secret in each place. */
const exchange: Exchange = {
  at: Date.parse('2026-11-02T09:00:00Z'),
  method: 'POST',
  target: '/api/v1/oauth/token?client_secret=hush&x=1',
  headers: { authorization: 'Basic hush', cookie: 'hush', accept: '*/*' },
  form: undefined,
  bodyText: '{"client_secret":"hush","deep":[{"token":"hush","amount":"1"}]}',
  bodyNote: undefined,
  isToken: true,
  status: 200,
  responseHeaders: { 'set-cookie': 'hush', 'sandbox-hint': 'unknown member hush ignored' },
  responseText: '{"access_token":"hush","expires_in":3600}',
  milliseconds: 1.25,
  faults: [],
  hints: ['unknown member hush ignored'],
  bytes: 600,
}

t.test('persistence: a request that was written is not written again after a failure of another', async t => {
  const written: string[] = []
  let isFailing = true
  const query = async ({ name, values }: QueryConfig) => {
    const clientId = (values as string[])[0] as string
    if (isFailing && clientId === 'two') throw new Error('the connection is lost')
    if (name === 'add requests') written.push(clientId)
    return { rows: [], rowCount: 0 }
  }
  const log = createPostgresRequestLog(query, { entries: 10, bytes: 1000 })
  for (const clientId of ['zero', 'two', 'one']) log.add(clientId, exchange)
  await log.flush()
  isFailing = false
  await log.flush()
  t.same(written.sort(), ['one', 'two', 'zero'])
})

t.test('decisions §3: secrets and tokens are masked before a request is stored, and read like that', async t => {
  const stored: (string | null)[] = []
  const query = async ({ name, values }: QueryConfig) => {
    if (name === 'add requests') stored.push(...(values as [string, string[]])[1])
    const rows = stored.map((content, at) => ({ last: stored.length, cleared: 0, seq: at + 1, content }))
    return { rows, rowCount: rows.length }
  }
  const log = createPostgresRequestLog(query, { entries: 10, bytes: 10_000 })
  log.add('acme', exchange)
  log.add('acme', {
    ...exchange,
    bodyText: undefined,
    form: { client_id: 'acme', client_secret: 'hush', hush: 'hush' },
  })
  const { data, last } = await log.list('acme')
  t.notMatch(JSON.stringify(stored), 'hush')
  const shown = {
    at: '2026-11-02T09:00:00Z',
    method: 'POST',
    path: '/api/v1/oauth/token',
    query: { client_secret: '***', x: '1' },
    headers: { authorization: 'Basic ***', cookie: '***', accept: '*/*' },
    status: 200,
    responseHeaders: { 'set-cookie': '***', 'sandbox-hint': 'unknown member *** ignored' },
    responseBody: { access_token: '***', expires_in: 3600 },
    durationMs: 1.3,
    faults: [],
    hints: ['unknown member *** ignored'],
  }
  t.same(data, [
    { seq: 1, ...shown, body: { client_secret: '***', deep: [{ token: '***', amount: '1' }] } },
    { seq: 2, ...shown, body: { client_id: 'acme', client_secret: '***', '***': '***' } },
  ])
  t.equal(last, 2)
})
