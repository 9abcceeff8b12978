import fc from 'fast-check'
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

/** Returns whole cents at a decimal, by exact fractions. */
function naiveCents(text: string, isLeast: boolean): number {
  const [, sign = '', units = '', fraction = '', exponent = '0'] = /^(-?)(\d+)\.?(\d*)(?:[eE](.+))?$/.exec(text) ?? []
  const places = fraction.length - Number(exponent) - 2
  const numerator = BigInt(units + fraction) * (sign === '' ? 1n : -1n) * 10n ** BigInt(Math.max(-places, 0))
  const denominator = 10n ** BigInt(Math.max(places, 0))
  const rest = numerator % denominator
  const whole = numerator / denominator + (isLeast && rest > 0n ? 1n : !isLeast && rest < 0n ? -1n : 0n)
  return Math.max(-MAX, Math.min(MAX, Number(whole)))
}

t.test('decisions §5: a bound is the nearest safe number of cents that does not cross it', async () => {
  const digits = (most: number) => fc.string({ unit: fc.constantFrom(...'0012345999'), minLength: 1, maxLength: most })
  const optional = (mark: string, text: fc.Arbitrary<string | number>) =>
    fc.oneof(
      fc.constant(''),
      text.map(one => mark + one),
    )
  const decimal = fc
    .tuple(
      fc.constantFrom('', '', '-'),
      fc.oneof(digits(3), digits(20)),
      optional('.', fc.oneof(digits(3), digits(40))),
      optional('e', fc.oneof(fc.integer({ min: -9, max: 9 }), fc.integer({ min: -999, max: 999 }))),
    )
    .map(parts => parts.join(''))
  // At the ends of the safe integers, and of a length that no double has.
  const ends = [
    '90071992547409.90',
    '90071992547409.901',
    '90071992547409.91',
    '90071992547409.92',
    '1E+2',
    '0.0001e999',
  ]
  const long = ['4.35', '4.34', '0004.35'].flatMap(text => ['0', '9'].map(digit => text + digit.repeat(5000)))
  const examples = [...ends, ...ends.map(text => `-${text}`), ...long, '10.005', '4.35', '-0'].map((text): [string] => [
    text,
  ])
  fc.assert(
    fc.property(decimal, text => {
      const isEqual = centsAtLeast(text) === naiveCents(text, true) && centsAtMost(text) === naiveCents(text, false)
      return isDecimal(text) && isEqual
    }),
    { seed: 1, numRuns: 2000, examples },
  )
})
