import type { QueryConfig } from 'pg'
import t from 'tap'
import { createPostgresRequestLog } from '../../src/turns/postgres-request-log.js'

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
  const exchange = { bytes: 10 } as Parameters<typeof log.add>[1]
  for (const clientId of ['zero', 'two', 'one']) log.add(clientId, exchange)
  await log.flush()
  isFailing = false
  await log.flush()
  t.same(written.sort(), ['one', 'two', 'zero'])
})
