import t from 'tap'
import { centsAtLeast, centsAtMost, isDecimal, parseAmount } from '../../src/core/rules/money.js'

const MAX = Number.MAX_SAFE_INTEGER

t.test('an amount is read as cents', async t => {
  const cases: [string, number][] = [
    ['0', 0],
    ['0.0', 0],
    ['0.00', 0],
    ['0.01', 1],
    ['0.1', 10],
    ['7', 700],
    ['4.3', 430],
    ['4.35', 435],
    ['1.10', 110],
    ['8.41', 841],
    ['1000000.00', 100_000_000],
    ['999999999.99', 99_999_999_999],
  ]
  for (const [text, cents] of cases) t.equal(parseAmount(text), cents, text)
})

t.test('every amount of cents below 100.00 is read without loss', async t => {
  const wrong: number[] = []
  for (let cents = 0; cents < 10_000; cents++) {
    const text = `${Math.trunc(cents / 100)}.${Math.trunc(cents / 10) % 10}${cents % 10}`
    if (parseAmount(text) !== cents) wrong.push(cents)
  }
  t.same(wrong, [])
})

t.test('text that is no amount throws', async t => {
  for (const text of [
    '',
    '.',
    '.5',
    '5.',
    '00',
    '01',
    '-1',
    '+1',
    '1.234',
    '1,00',
    '1e2',
    '1000000000',
    '1000000000.00',
    ' 1',
    '1 ',
    '1\n',
    '1.00\n',
    '٤.٣٥',
    '４',
    '1\ud800',
    'NaN',
    '9'.repeat(100_000),
  ]) {
    t.throws(() => parseAmount(text), RangeError, JSON.stringify(text.slice(0, 40)))
  }
})

t.test('a decimal is a number as JSON writes one, leading zeros tolerated', async t => {
  for (const text of [
    '0',
    '-0',
    '7',
    '007',
    '00.50',
    '-4.35',
    '4.350000000000000000000000001',
    '1e2',
    '1E2',
    '1e+2',
    '1.005e1',
    '1e-400',
    '1e999',
    '1e00',
    '-0.0e-000',
    '9'.repeat(100_000),
  ]) {
    t.equal(isDecimal(text), true, text.slice(0, 40))
  }
  for (const text of [
    '',
    '-',
    '.',
    '.5',
    '5.',
    '+5',
    '--5',
    '1.2.3',
    '1,5',
    '1_000',
    'e5',
    '1e',
    '1e+',
    '1e1000',
    '1e1.5',
    '1ee5',
    '0x10',
    'NaN',
    'Infinity',
    ' 1',
    '1 ',
    '1\n',
    '1e5\n',
    '٤',
    '４.３５',
    '−1',
    '1\ud800',
    '\udc001',
    `${'9'.repeat(100_000)}x`,
  ]) {
    t.equal(isDecimal(text), false, JSON.stringify(text.slice(0, 40)))
  }
})

t.test('a bound is the nearest whole number of cents that does not cross it', async t => {
  const cases: [string, number, number][] = [
    // text, at least, at most
    ['0', 0, 0],
    ['-0', 0, 0],
    ['0.00', 0, 0],
    ['4.35', 435, 435],
    ['4.350', 435, 435],
    ['0004.3500', 435, 435],
    ['4.3', 430, 430],
    ['10', 1000, 1000],
    ['10.005', 1001, 1000],
    ['10.000', 1000, 1000],
    ['0.001', 1, 0],
    ['0.009', 1, 0],
    ['1.10', 110, 110],
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
    ['1e-3', 1, 0],
    ['1e-400', 1, 0],
    ['0e999', 0, 0],
    ['0e-999', 0, 0],
    ['-4.35', -435, -435],
    ['-4.351', -435, -436],
    ['-0.001', 0, -1],
    ['-1e-400', 0, -1],
  ]
  for (const [text, least, most] of cases) {
    t.equal(centsAtLeast(text), least, `at least ${text}`)
    t.equal(centsAtMost(text), most, `at most ${text}`)
  }
})

t.test('a bound beyond the safe integers is clamped to them', async t => {
  const cases: [string, number, number][] = [
    ['90071992547409.90', MAX - 1, MAX - 1],
    ['90071992547409.901', MAX, MAX - 1],
    ['90071992547409.91', MAX, MAX],
    ['90071992547409.911', MAX, MAX],
    ['90071992547409.92', MAX, MAX],
    ['90071992547409.93', MAX, MAX],
    ['1e15', MAX, MAX],
    ['1e999', MAX, MAX],
    ['0.0001e999', MAX, MAX],
    ['-90071992547409.91', -MAX, -MAX],
    ['-90071992547409.911', -MAX, -MAX],
    ['-90071992547409.901', -MAX + 1, -MAX],
    ['-1e999', -MAX, -MAX],
  ]
  for (const [text, least, most] of cases) {
    t.equal(centsAtLeast(text), least, `at least ${text}`)
    t.equal(centsAtMost(text), most, `at most ${text}`)
  }
})

t.test('a bound of any length is exact', async t => {
  const zeros = '0'.repeat(100_000)
  t.equal(centsAtLeast(`4.35${zeros}`), 435)
  t.equal(centsAtLeast(`4.35${zeros}1`), 436)
  t.equal(centsAtMost(`4.35${zeros}1`), 435)
  t.equal(centsAtMost(`4.34${'9'.repeat(100_000)}`), 434)
  t.equal(centsAtLeast(`${zeros}4.35`), 435)
  t.equal(centsAtLeast(`${'9'.repeat(100_000)}.5`), MAX)
  t.equal(centsAtLeast(`0.${'0'.repeat(997)}435e997`), 44, '0.435, the exponent moves the point')
})

t.test('text that is no decimal throws', async t => {
  for (const text of ['', 'abc', '1e1000', '1\n', '.5', '٤']) {
    t.throws(() => centsAtLeast(text), RangeError, JSON.stringify(text))
    t.throws(() => centsAtMost(text), RangeError, JSON.stringify(text))
  }
})
