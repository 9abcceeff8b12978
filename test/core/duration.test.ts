import t from 'tap'
import { parseDuration } from '../../src/core/time/duration.js'

t.test('weeks, days, hours, minutes and seconds are read', async t => {
  const cases: [string, number][] = [
    ['P1W', 604_800],
    ['P7D', 604_800],
    ['P30D', 2_592_000],
    ['PT10M', 600],
    ['PT12H', 43_200],
    ['PT1S', 1],
    ['PT90M', 5400],
    ['PT1H30M', 5400],
    ['PT1H1S', 3601],
    ['PT36H', 129_600],
    ['P1DT1H1M1S', 90_061],
    ['P1DT1S', 86_401],
    ['PT0S', 0],
    ['P0D', 0],
    ['P0W', 0],
    ['PT0010M', 600],
    [`PT${'0'.repeat(100_000)}7S`, 7],
  ]
  for (const [text, seconds] of cases) t.equal(parseDuration(text), seconds, text.slice(0, 40))
})

t.test('letters may be of either case', async t => {
  t.equal(parseDuration('p7d'), 604_800)
  t.equal(parseDuration('p2w'), 1_209_600)
  t.equal(parseDuration('pt10m'), 600)
  t.equal(parseDuration('P1dT2h3M4s'), 93_784)
})

t.test('what is no duration of weeks, days and time is refused', async t => {
  for (const text of [
    '',
    'P',
    'PT',
    'P1DT',
    'P1WT',
    '7D',
    'P7',
    'PD',
    'PT10',
    'PTM',
    'P1W1D',
    'P1WT1H',
    'P1D1W',
    'P1H',
    'PT1D',
    'PT1W',
    'PT1M1H',
    'PT1S1M',
    'PT1H1H',
    'P1Y',
    'P1M',
    'P1Y2M3D',
    'PT1.5H',
    'PT1,5H',
    'P0.5D',
    '-PT1H',
    '+PT1H',
    'PT-1H',
    'PT+1H',
    'P 7D',
    ' P7D',
    'P7D ',
    'P7D\n',
    'P\n',
    'P7DT1H\n',
    'PT1ſ',
    'PT1Ｓ',
    'P٧D',
    'P７D',
    'P7\ud800',
    '\udc00P7D',
    'P1e3D',
    'P0x1D',
    'P2026-01-01T00:00:00',
    `P${'1'.repeat(100_000)}`,
    `P${'1'.repeat(100_000)}D`,
  ]) {
    t.equal(parseDuration(text), undefined, JSON.stringify(text.slice(0, 40)))
  }
})

t.test('nothing longer than 10 000 years is read', async t => {
  t.equal(parseDuration('P3652425D'), 315_569_520_000)
  t.equal(parseDuration('PT315569520000S'), 315_569_520_000)
  t.equal(parseDuration('P3652424DT24H'), 315_569_520_000)
  t.equal(parseDuration('P3652425DT1S'), undefined)
  t.equal(parseDuration('PT315569520001S'), undefined)
  t.equal(parseDuration('P521775W'), 315_569_520_000)
  t.equal(parseDuration('P521776W'), undefined)
  t.equal(parseDuration('PT9007199254740992S'), undefined)
  t.equal(parseDuration('PT99999999999999999999S'), undefined)
  t.equal(parseDuration(`PT${'9'.repeat(400)}S`), undefined, 'more than a double holds')
})

t.test('canonical durations are so many seconds', async t => {
  const cases: [number, string][] = [
    [0, 'PT0S'],
    [1, 'PT1S'],
    [59, 'PT59S'],
    [60, 'PT1M'],
    [61, 'PT1M1S'],
    [600, 'PT10M'],
    [3600, 'PT1H'],
    [3601, 'PT1H1S'],
    [5400, 'PT1H30M'],
    [43_200, 'PT12H'],
    [86_399, 'PT23H59M59S'],
    [86_400, 'P1D'],
    [86_401, 'P1DT1S'],
    [90_061, 'P1DT1H1M1S'],
    [604_800, 'P7D'],
    [2_592_000, 'P30D'],
    [315_569_520_000, 'P3652425D'],
  ]
  for (const [seconds, text] of cases) t.equal(parseDuration(text), seconds, text)
})
