import t from 'tap'
import { createIds } from '../../src/core/ids.js'

const FORM = /^[A-Za-z0-9_-]{22}$/

t.test('decisions §3: identifiers differ by seed, by tenant, by purpose and by turn, and repeat', async t => {
  const take = () =>
    ['seed', 'seed2', 'see', '', 'ä'].flatMap(seed =>
      ['acme', 'dacme', 'd2acme'].flatMap(scope => {
        const ids = createIds(seed, scope)
        return ['payoutLink', 'document'].flatMap(purpose => [ids.next(purpose), ids.next(purpose), ids.next(purpose)])
      }),
    )
  const all = take()
  t.same(take(), all)
  t.equal(new Set(all).size, 5 * 3 * 2 * 3)
  t.same(
    all.filter(id => !FORM.test(id)),
    [],
    '128 bits in base64url',
  )
})

t.test('control plane, GET /state: numbers count from 1 for each purpose, and are the whole state', async t => {
  const ids = createIds('seed', 'acme')
  t.same(ids.counters(), {})
  t.same([ids.count('token'), ids.count('token'), ids.count('other')], [1, 2, 1])
  ids.next('other')
  t.same(ids.counters(), { token: 2, other: 2 }, 'an identifier takes a number, too')
})

t.test('decisions §3: a signature is of one tenant of one seed, for one purpose and text', async t => {
  const ids = createIds('seed', 'acme')
  const signature = ids.sign('token', 'text')
  t.match(signature, /^[A-Za-z0-9_-]{16}$/)
  t.equal(createIds('seed', 'acme').sign('token', 'text'), signature)
  t.not(createIds('seed2', 'acme').sign('token', 'text'), signature)
  t.not(createIds('seed', 'acme2').sign('token', 'text'), signature)
  t.not(ids.sign('cursor', 'text'), signature)
  t.not(ids.sign('token', 'text2'), signature)
  t.same(ids.counters(), {}, 'and changes nothing')
})

t.test(
  'control plane, Delay, overload or break answers: seeded numbers are spread evenly from 0 up to 1, and repeat',
  async t => {
    const draw = (count: number, seed = 'seed', scope = 'acme', purpose = 'fault') => {
      const ids = createIds(seed, scope)
      return Array.from({ length: count }, () => ids.fraction(purpose))
    }
    const drawn = draw(10_000)
    t.ok(drawn.every(number => number >= 0 && number < 1))
    t.equal(new Set(drawn).size, 10_000)
    for (let tenth = 0; tenth < 10; tenth++) {
      const count = drawn.filter(number => Math.floor(number * 10) === tenth).length
      t.ok(count > 850 && count < 1150, `${count} in tenth ${tenth}`)
    }
    t.same(draw(100), drawn.slice(0, 100), 'the same seed and tenant')
    t.not(draw(1, 'other')[0], drawn[0])
    t.not(draw(1, 'seed', 'other')[0], drawn[0])
    t.not(draw(1, 'seed', 'acme', 'other')[0], drawn[0])
  },
)

t.test('control plane, PUT /state: with its counters, a sequence goes on where it was', async t => {
  const ids = createIds('seed', 'acme')
  ids.next('payoutLink')
  ids.fraction('fault')
  const counters = JSON.parse(JSON.stringify(ids.counters()))
  const take = (one: typeof ids) => [one.next('payoutLink'), one.fraction('fault'), one.count('token')]
  t.same(take(createIds('seed', 'acme', counters)), take(ids))
  t.same(counters, { payoutLink: 1, fault: 1 }, 'what it began with is its own')
})

t.test('control plane, POST /seed: numbers can be taken back', async t => {
  const ids = createIds('seed', 'acme')
  ids.next('payoutLink')
  const counters = { ...ids.counters() }
  const given = [ids.next('payoutLink'), ids.count('token')]
  ids.rewind(counters)
  t.same(ids.counters(), { payoutLink: 1 })
  t.same([ids.next('payoutLink'), ids.count('token')], given)
  t.same(counters, { payoutLink: 1 })
})
