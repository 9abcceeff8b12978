import t from 'tap'
import { centsAtLeast, centsAtMost, isDecimal, parseAmount } from '../../src/core/domain/money.js'
import { assertAccepts, assertReturns, spoiled, words } from './texts.js'

const MAX = Number.MAX_SAFE_INTEGER

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

t.test('decisions §5: a bound is a number as JSON writes one, leading zeros tolerated', async t => {
  const right = words('0 -0 7 007 00.50 -4.35 4.350000000000000000000000001 1e2 1E2 1e+2 1.005e1 1e-400 1e999 1e00')
  const wrong = words('- . .5 5. +5 --5 1.2.3 1,5 1_000 e5 1e 1e+ 1e1000 1e1.5 1ee5 0x10 NaN Infinity ４.３５ −1')
  const long = '9'.repeat(100_000)
  const all = [...wrong, '1e5\n', '\udc001', `${long}x`, ...spoiled('1.5')]
  assertAccepts(t, isDecimal, [...right, '-0.0e-000', long], all)
  for (const read of [centsAtLeast, centsAtMost])
    assertAccepts(t, reads(read), [], ['', 'abc', '1e1000', '1\n', '.5', '٤'])
})

/** Compares the cents at least and at most of each bound. */
const assertBounds = (t: Parameters<typeof assertReturns>[0], rows: [text: string, least: number, most: number][]) =>
  t.same(
    rows.map(([text]) => [text.slice(0, 40), centsAtLeast(text), centsAtMost(text)]),
    rows.map(([text, ...bounds]) => [text.slice(0, 40), ...bounds]),
  )

t.test('decisions §5: a bound is the nearest whole number of cents that does not cross it', async t => {
  const zeros = '0'.repeat(100_000)
  assertBounds(t, [
    ['0', 0, 0],
    ['-0', 0, -0],
    ['0.00', 0, 0],
    ['0004.3500', 435, 435],
    ['4.3', 430, 430],
    ['10', 1000, 1000],
    ['10.005', 1001, 1000],
    ['10.000', 1000, 1000],
    ['0.001', 1, 0],
    ['0.009', 1, 0],
    ['8.41', 841, 841],
    ['1.005', 101, 100],
    ['4.350000000000000000000000001', 436, 435],
    ['4.349999999999999999999999999', 435, 434],
    ['999999999.99', 99_999_999_999, 99_999_999_999],
    ['1e2', 10_000, 10_000],
    ['1E+2', 10_000, 10_000],
    ['1.005e1', 1005, 1005],
    ['1.0005e1', 1001, 1000],
    ['435e-2', 435, 435],
    ['4355e-3', 436, 435],
    ['0.00435e3', 435, 435],
    ['5e-3', 1, 0],
    ['1e-2', 1, 1],
    ['1e-400', 1, 0],
    ['0e999', 0, 0],
    ['0e-999', 0, 0],
    ['-4.35', -435, -435],
    ['-4.351', -435, -436],
    ['-0.001', -0, -1],
    ['-1e-400', -0, -1],
    // A bound of any length is exact.
    [`4.35${zeros}`, 435, 435],
    [`4.35${zeros}1`, 436, 435],
    [`4.34${'9'.repeat(100_000)}`, 435, 434],
    [`${zeros}4.35`, 435, 435],
    [`0.${'0'.repeat(997)}435e997`, 44, 43],
  ])
})

t.test('decisions §5: a bound beyond the safe integers is clamped to them', async t => {
  assertBounds(t, [
    ['90071992547409.90', MAX - 1, MAX - 1],
    ['90071992547409.901', MAX, MAX - 1],
    ['90071992547409.91', MAX, MAX],
    ['90071992547409.92', MAX, MAX],
    ['1e15', MAX, MAX],
    ['0.0001e999', MAX, MAX],
    [`${'9'.repeat(100_000)}.5`, MAX, MAX],
    ['-90071992547409.91', -MAX, -MAX],
    ['-90071992547409.911', -MAX, -MAX],
    ['-90071992547409.901', -MAX + 1, -MAX],
    ['-1e999', -MAX, -MAX],
  ])
})
