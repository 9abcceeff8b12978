import t from 'tap'
import { parseAmount } from '../../src/core/domain/money.js'
import { assertAccepts, assertReturns, spoiled, words } from './texts.js'

t.test('interface, Limits: an amount is read as cents, without loss', async t => {
  assertReturns(t, parseAmount, [
    ['0', 0],
    ['0.0', 0],
    ['0.1', 10],
    ['7', 700],
    ['4.3', 430],
    ['1.10', 110],
    ['1000000.00', 100_000_000],
    ['999999999.99', 99_999_999_999],
    // An earlier release may have had other limits.
    ['9999999999999.99', 999_999_999_999_999],
  ])
  const all = Array.from({ length: 10_000 }, (_, cents) => cents)
  const textOf = (cents: number) => `${Math.trunc(cents / 100)}.${Math.trunc(cents / 10) % 10}${cents % 10}`
  t.same(
    all.filter(cents => parseAmount(textOf(cents)) !== cents),
    [],
  )
})

const reads = (read: (text: string) => number) => (text: string) => {
  try {
    return Number.isInteger(read(text))
  } catch (error) {
    return !(error instanceof RangeError)
  }
}

t.test('interface, Limits: a text that is no amount throws', async t => {
  const wrong = words('. .5 5. 00 01 -1 +1 1.234 1,00 1e2 10000000000000 10000000000000.00 ٤.٣٥ ４ NaN')
  assertAccepts(t, reads(parseAmount), ['1', '1.00'], [...wrong, ...spoiled('1.00'), '9'.repeat(100_000)])
})
