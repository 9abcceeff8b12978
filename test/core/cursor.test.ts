import t from 'tap'
import { createIds } from '../../src/core/ids.js'
import { createCursors } from '../../src/core/records/cursor.js'

const AT = Date.parse('2026-11-02T09:00:00Z')
const REFUSAL = { code: 'INVALID_CURSOR', field: 'cursor', status: 400 }

const cursorsOf = ({ seed = 'seed', client = 'acme', list = 'mandates.EU' } = {}) =>
  createCursors(createIds(seed, client), list)

t.test('decisions §5: a cursor is a position, and gives it back', async t => {
  const cursors = cursorsOf()
  for (const position of [
    { createdAt: AT, sequence: 1 },
    { createdAt: AT, sequence: 2 },
    { createdAt: 0, sequence: 0 },
    { createdAt: Date.parse('0001-01-01T00:00:00Z'), sequence: 7 },
    { createdAt: Date.parse('9999-12-31T23:59:59Z'), sequence: 123_456_789 },
  ]) {
    t.same(cursors.decode(cursors.encode(position)), position)
  }
})

t.test('decisions §5: a cursor goes into a URL as it is', async t => {
  t.match(cursorsOf().encode({ createdAt: AT, sequence: 4711 }), /^[A-Za-z0-9._~-]+$/)
})

t.test('control plane, SANDBOX_SEED: the same position of the same list has the same cursor', async t => {
  const position = { createdAt: AT, sequence: 3 }
  t.equal(cursorsOf().encode(position), cursorsOf().encode(position))
})

t.test('decisions §2, INVALID_CURSOR: no character of a cursor can be changed, added or left out', async t => {
  const cursors = cursorsOf()
  const cursor = cursors.encode({ createdAt: AT, sequence: 4711 })
  for (let at = 0; at < cursor.length; at++) {
    const [before, after] = [cursor.slice(0, at), cursor.slice(at + 1)]
    for (const other of ['a', 'A', '0', '.', '-', '']) {
      if (other === cursor[at]) continue
      t.throws(() => cursors.decode(before + other + after), REFUSAL, `${other || 'nothing'} at ${at}`)
    }
    t.throws(() => cursors.decode(`${before}a${cursor.slice(at)}`), REFUSAL)
  }
})

t.test('decisions §2, INVALID_CURSOR: what is no cursor at all is refused', async t => {
  const cursors = cursorsOf()
  const cursor = cursors.encode({ createdAt: AT, sequence: 4711 })
  for (const text of [
    '',
    '.',
    '..',
    '...',
    'abc',
    '1.2',
    `${cursor}.`,
    `${cursor} `,
    `.${cursor}`,
    '\u0000',
    '😀.😀.😀',
  ]) {
    t.throws(() => cursors.decode(text), REFUSAL, JSON.stringify(text))
  }
})

t.test('decisions §2, INVALID_CURSOR: a cursor of another list, tenant or seed is refused', async t => {
  const cursor = cursorsOf().encode({ createdAt: AT, sequence: 1 })
  for (const other of [{ list: 'mandates.UK' }, { list: 'bills.EU' }, { client: 'other' }, { seed: 'other' }]) {
    t.throws(() => cursorsOf(other).decode(cursor), REFUSAL, JSON.stringify(other))
  }
})
