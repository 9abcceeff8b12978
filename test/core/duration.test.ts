import fc from 'fast-check'
import t from 'tap'
import { parseDuration } from '../../src/core/time/duration.js'
import { assertAccepts, spoiled, words } from './texts.js'

const SECONDS = { W: 604_800, D: 86_400, H: 3600, M: 60, S: 1 }
type Parts = { [Unit in keyof typeof SECONDS]?: number | undefined }
const LONGEST = 315_569_520_000

t.test('decisions §8: weeks, days, hours, minutes and seconds are read, up to 10,000 years', async t => {
  const count = fc.oneof(fc.nat({ max: 99 }), fc.nat({ max: 4_000_000 }), fc.nat({ max: LONGEST }))
  const part = fc.option(count, { nil: undefined })
  const parts: fc.Arbitrary<Parts> = fc.oneof(
    fc.record({ W: count }),
    fc.record({ D: part, H: part, M: part, S: count }),
    fc.record({ D: count, H: part, M: part }),
  )
  const longest = [{ D: 3_652_425 }, { D: 3_652_424, H: 24 }, { W: 521_775 }, { S: LONGEST }]
  const longer = [{ D: 3_652_425, S: 1 }, { W: 521_776 }, { S: LONGEST + 1 }, { S: 9_007_199_254_740_992 }]
  const others = [{ S: 0 }, { D: 0 }, { W: 0 }, { M: 10 }, { H: 23, M: 59, S: 59 }]
  const spellings = [(text: string) => text, (text: string) => text.toLowerCase()]
  fc.assert(
    fc.property(parts, parts => {
      const given = Object.entries(parts).filter(([, count]) => count !== undefined)
      const join = (units: string) =>
        given
          .filter(([unit]) => units.includes(unit))
          .map(([unit, count]) => `0${count}${unit}`)
          .join('')
      const time = join('HMS')
      const text = `P${join('WD')}${time && 'T'}${time}`
      const sum = given.reduce((sum, [unit, count]) => sum + SECONDS[unit as 'W'] * count, 0)
      return spellings.every(spell => parseDuration(spell(text)) === (sum > LONGEST ? undefined : sum))
    }),
    { seed: 1, numRuns: 500, examples: [...longest, ...longer, ...others].map((one: Parts): [Parts] => [one]) },
  )
  t.same([`PT${'0'.repeat(100_000)}7S`, `PT${'9'.repeat(400)}S`, 'p1dT2h3M4s'].map(parseDuration), [
    7,
    undefined,
    93_784,
  ])
})

t.test('decisions §8: a text that is no duration of weeks, days and time is refused', async t => {
  const parts = words('P PT P1DT P1WT 7D P7 PD PT10 PTM P1W1D P1WT1H P1D1W P1H PT1D PT1W PT1M1H PT1S1M PT1H1H')
  const others = words('P1Y P1M P1Y2M3D PT1.5H PT1,5H P0.5D -PT1H +PT1H PT-1H PT+1H P1e3D P0x1D P2026-01-01T00:00:00')
  const odd = ['P 7D', 'P\n', 'PT1ſ', 'PT1Ｓ', 'P٧D', 'P７D', '\udc00P7D', `P${'1'.repeat(100_000)}`]
  const wrong = [...parts, ...others, ...odd, `P${'1'.repeat(100_000)}D`, ...spoiled('P7D'), ...spoiled('P7DT1H')]
  assertAccepts(t, text => parseDuration(text) !== undefined, [], wrong)
})
