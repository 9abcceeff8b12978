import t from 'tap'
import { parseDuration } from '../../src/core/time/duration.js'
import { assertAccepts, assertReturns, spoiled, words } from './texts.js'

const LONGEST = 315_569_520_000

t.test('decisions §8: weeks, days, hours, minutes and seconds are read, in either case', async t => {
  assertReturns(t, parseDuration, [
    ['P1W', 604_800],
    ['P7D', 604_800],
    ['p2w', 1_209_600],
    ['P30D', 2_592_000],
    ['PT10M', 600],
    ['pt10m', 600],
    ['PT12H', 43_200],
    ['PT1S', 1],
    ['PT90M', 5400],
    ['PT1H30M', 5400],
    ['PT1H1S', 3601],
    ['PT36H', 129_600],
    ['PT23H59M59S', 86_399],
    ['P1dT2h3M4s', 93_784],
    ['P1DT1S', 86_401],
    ['PT0S', 0],
    ['P0D', 0],
    ['P0W', 0],
    ['PT0010M', 600],
    [`PT${'0'.repeat(100_000)}7S`, 7],
  ])
})

t.test('decisions §8: a text that is no duration of weeks, days and time is refused', async t => {
  const parts = words('P PT P1DT P1WT 7D P7 PD PT10 PTM P1W1D P1WT1H P1D1W P1H PT1D PT1W PT1M1H PT1S1M PT1H1H')
  const others = words('P1Y P1M P1Y2M3D PT1.5H PT1,5H P0.5D -PT1H +PT1H PT-1H PT+1H P1e3D P0x1D P2026-01-01T00:00:00')
  const odd = ['P 7D', 'P\n', 'PT1ſ', 'PT1Ｓ', 'P٧D', 'P７D', '\udc00P7D', `P${'1'.repeat(100_000)}`]
  const wrong = [...parts, ...others, ...odd, `P${'1'.repeat(100_000)}D`, ...spoiled('P7D'), ...spoiled('P7DT1H')]
  assertAccepts(t, text => parseDuration(text) !== undefined, [], wrong)
})

t.test('decisions §8: no duration is longer than 10,000 years', async t => {
  assertReturns(t, parseDuration, [
    ['P3652425D', LONGEST],
    ['PT315569520000S', LONGEST],
    ['P3652424DT24H', LONGEST],
    ['P521775W', LONGEST],
    ['P3652425DT1S', undefined],
    ['PT315569520001S', undefined],
    ['P521776W', undefined],
    ['PT9007199254740992S', undefined],
    ['PT99999999999999999999S', undefined],
    [`PT${'9'.repeat(400)}S`, undefined],
  ])
})
