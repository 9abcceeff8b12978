import t from 'tap'
import type { Region } from '../../src/core/domain/regions.js'
import { createIds } from '../../src/core/ids.js'
import { createCursors } from '../../src/core/records/list.js'

const AT = Date.parse('2026-11-02T09:00:00Z')
const REFUSAL = { code: 'INVALID_CURSOR', field: 'cursor', status: 400 }

const cursorsOf = ({ seed = 'seed', client = 'acme', path = 'mandates', region = 'EU' as Region } = {}) =>
  createCursors(createIds(seed, client), { path, region })

t.test('decisions §5: a cursor is a position, the same for the same seed', async t => {
  const cursors = cursorsOf()
  for (const position of [
    { createdAt: AT, sequence: 1 },
    { createdAt: AT, sequence: 2 },
    { createdAt: 0, sequence: 0 },
    { createdAt: Date.parse('0001-01-01T00:00:00Z'), sequence: 7 },
    { createdAt: Date.parse('9999-12-31T23:59:59Z'), sequence: 123_456_789 },
  ]) {
    const cursor = cursors.encode(position)
    t.match(cursor, /^[A-Za-z0-9._~-]+$/, 'it goes into a URL as it is')
    t.same([cursors.decode(cursor), cursorsOf().encode(position)], [position, cursor])
  }
})

t.test('decisions §2: a cursor of another list, tenant or seed is refused', async t => {
  const cursor = cursorsOf().encode({ createdAt: AT, sequence: 1 })
  for (const other of [{ region: 'UK' as const }, { path: 'bills' }, { client: 'other' }, { seed: 'other' }]) {
    t.throws(() => cursorsOf(other).decode(cursor), REFUSAL, JSON.stringify(other))
  }
  t.throws(() => cursorsOf({ path: 'bills', region: 'UK' }).decode(cursor), {
    message: /nextCursor of a page of GET \/api\/v1\/bills in region UK/,
  })
})
