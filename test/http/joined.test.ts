import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { finished } from 'node:stream/promises'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import t from 'tap'
import { joinPieces } from '../../src/http/joined.js'

t.test('control plane, Large bodies: joined pieces have the same bytes, and are few', async t => {
  const sizes = fc.array(fc.oneof(fc.nat({ max: 3 }), fc.integer({ min: 4000, max: 4200 }), fc.nat({ max: 40_000 })))
  await fc.assert(
    fc.asyncProperty(sizes, async sizes => {
      const pieces = sizes.map((size, at) => Buffer.alloc(size, at))
      const body = joinPieces(Readable.from(pieces), () => {})
      const joined: Buffer[] = []
      body.on('data', piece => joined.push(piece))
      await finished(body)
      const whole = Buffer.concat(pieces)
      return Buffer.concat(joined).equals(whole) && joined.length <= (2 * whole.length) / 4000 + 3
    }),
    { examples: [[[1, 1]], [Array(100).fill(1)]] },
  )
  t.pass()
})

t.test(
  'control plane, Large bodies: what nobody reads is not received, and an error of a body is passed on',
  async t => {
    const pieces = Array.from({ length: 64 }, () => Buffer.alloc(16 * 1024))
    const raw = Readable.from(pieces)
    const unread = joinPieces(raw, () => {})
    for (let round = 0; round < 100; round++) await setImmediate()
    t.ok(unread.readableLength <= 80 * 1024, `${unread.readableLength} bytes`)
    t.equal((await buffer(unread)).length, 1024 * 1024)

    const broken = new Readable({ read() {} })
    const body = joinPieces(broken, () => {})
    broken.destroy(new Error('aborted'))
    await t.rejects(buffer(body), { message: 'aborted' })
  },
)

t.test('control plane, Long calls: a body ends when its turn comes', async t => {
  const ends: (() => void)[] = []
  const body = joinPieces(
    Readable.from([Buffer.from('a')]),
    () => {},
    end => void ends.push(end),
  )
  let isEnded = false
  const whole = buffer(body).then(bytes => {
    isEnded = true
    return bytes.toString()
  })
  while (ends.length === 0) await setImmediate()
  for (let round = 0; round < 10; round++) await setImmediate()
  t.notOk(isEnded)
  for (const end of ends) end()
  t.equal(await whole, 'a')
})
