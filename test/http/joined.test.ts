import { Readable } from 'node:stream'
import fc from 'fast-check'
import t from 'tap'
import { joinPieces } from '../../src/http/joined.js'

t.test('control plane, Large bodies: joined pieces have the same bytes, and are few', async t => {
  const sizes = fc.array(fc.oneof(fc.nat({ max: 3 }), fc.integer({ min: 4000, max: 4200 }), fc.nat({ max: 40_000 })))
  await fc.assert(
    fc.asyncProperty(sizes, async sizes => {
      const pieces = sizes.map((size, at) => Buffer.alloc(size, at))
      const joined: Buffer[] = []
      for await (const piece of joinPieces(Readable.from(pieces), () => {})) joined.push(piece)
      const whole = Buffer.concat(pieces)
      return Buffer.concat(joined).equals(whole) && joined.length <= (2 * whole.length) / 4000 + 3
    }),
    { examples: [[[1, 1]]] },
  )
  t.pass()
})
