import fc from 'fast-check'
import t from 'tap'
import {
  addDays,
  addMonths,
  DAY,
  formatDay,
  formatInstant,
  instantOf,
  isCalendarDate,
  LAST_INSTANT,
  localTime,
  parseDay,
  parseInstant,
  timeOfDay,
  type Zone,
} from '../../src/core/time/time.js'
import { assertAccepts, assertReturns, spoiled, words } from './texts.js'

const at = (text: string) => Date.parse(text)
const zones: Zone[] = ['Europe/Berlin', 'Europe/London', 'America/New_York']

t.test('interface, Resources and their fields: an instant is written to the second in UTC', async t => {
  t.equal(LAST_INSTANT, 253_402_300_799_000)
  assertReturns(t, formatInstant, [
    [0, '1970-01-01T00:00:00Z'],
    [at('2026-02-28T23:59:59Z'), '2026-02-28T23:59:59Z'],
    [-62_135_596_800_000, '0001-01-01T00:00:00Z'],
    [LAST_INSTANT, '9999-12-31T23:59:59Z'],
    // Beyond the four-digit years, the nearest end of them.
    [LAST_INSTANT + 1000, '9999-12-31T23:59:59Z'],
    [at('+012026-01-01T00:00:00Z'), '9999-12-31T23:59:59Z'],
    [at('0000-12-31T23:59:59Z'), '0001-01-01T00:00:00Z'],
  ])
})

t.test(
  'interface, Resources and their fields: an instant of another form, or that does not exist, is refused',
  async t => {
    assertReturns(t, parseInstant, [
      ['1970-01-01T00:00:00Z', 0],
      ['2026-03-29T01:00:00Z', 1_774_746_000_000],
      ['2028-02-29T12:30:45Z', 1_835_440_245_000],
      ['0001-01-01T00:00:00Z', -62_135_596_800_000],
      ['9999-12-31T23:59:59Z', LAST_INSTANT],
    ])
    const forms = words(`
    2026-01-01 2026-01-01T00:00Z 2026-01-01T00:00:00 2026-01-01T00:00:00.000Z 2026-01-01T00:00:00+00:00
    2026-01-01t00:00:00Z 2026-01-01T00:00:00z +002026-01-01T00:00:00Z 10000-01-01T00:00:00Z ٢٠٢٦-01-01T00:00:00Z`)
    const unreal = words(`
    2026-02-29T00:00:00Z 2026-02-30T00:00:00Z 2026-04-31T00:00:00Z 2026-00-01T00:00:00Z 2026-13-01T00:00:00Z
    2026-01-00T00:00:00Z 0000-01-01T00:00:00Z 2026-01-01T24:00:00Z 2026-01-01T23:60:00Z 2016-12-31T23:59:60Z`)
    const wrong = ['2026-01-01 00:00:00Z', ...forms, ...unreal, ...spoiled('2026-01-01T00:00:00Z')]
    assertAccepts(t, text => parseInstant(text) !== undefined, [], wrong)
  },
)

t.test('decisions §6: a calendar date is a day that exists, with four, two and two digits', async t => {
  const ends = words('01-31 02-28 03-31 04-30 05-31 06-30 07-31 08-31 09-30 10-31 11-30 12-31')
  const right = [...words('0001-01-01 2000-02-29 2028-02-29 9999-12-31'), ...ends.map(day => `2026-${day}`)]
  const next = ends.map(day => `2026-${day.slice(0, 3)}${Number(day.slice(3)) + 1}`)
  const unreal = words('0000-12-31 1900-02-29 2100-02-29 2026-02-30 2026-00-10 2026-13-10 2026-10-00')
  const forms = words(`
    2026 2026-1-1 20260101 2026/01/01 2026-W01-1 26-01-01 -2026-01-01 +02026-01-01 10000-01-01 2026-01-01T00:00:00Z`)
  assertAccepts(t, isCalendarDate, right, [...next, ...unreal, ...forms, '２０２６-01-01', ...spoiled('2026-01-01')])
})

t.test('decisions §6: days are added as the UTC calendar has them, within four-digit years', async () => {
  const [first, last] = [at('0001-01-01'), at('9999-12-31')]
  const date = fc
    .integer({ min: first / DAY, max: last / DAY })
    .map(day => new Date(day * DAY).toISOString().slice(0, 10))
  const days = fc.oneof(fc.integer({ min: -999, max: 999 }), fc.integer({ min: -5_000_000, max: 5_000_000 }))
  fc.assert(
    fc.property(date, days, (date, days) => {
      const naive = new Date(Math.max(first, Math.min(last, at(date) + days * DAY)))
      return formatDay(addDays(parseDay(date), days)) === naive.toISOString().slice(0, 10)
    }),
    {
      seed: 1,
      numRuns: 500,
      examples: [
        ['2028-02-28', 1],
        ['2100-02-28', 1],
        ['9999-12-31', 1],
        ['0001-01-01', -1],
      ],
    },
  )
})

t.test('decisions §6, §7: months are added, to the last day if the month is too short', async t => {
  assertReturns(t, (from: string, months: number) => formatInstant(addMonths(at(from), months)), [
    ['2026-01-31T23:59:59Z', 1, '2026-02-28T23:59:59Z'],
    ['2026-11-30T12:00:00Z', 1, '2026-12-30T12:00:00Z'],
    ['2026-12-31T12:00:00Z', 2, '2027-02-28T12:00:00Z'],
    ['2026-06-10T12:00:00Z', 13, '2027-07-10T12:00:00Z'],
    ['2024-02-29T12:00:00Z', 36, '2027-02-28T12:00:00Z'],
    ['2096-02-29T12:00:00Z', 48, '2100-02-28T12:00:00Z'],
    ['2026-03-31T12:00:00Z', -1, '2026-02-28T12:00:00Z'],
    ['2026-01-31T12:00:00Z', -14, '2024-11-30T12:00:00Z'],
    ['0050-01-31T12:00:00Z', 1, '0050-02-28T12:00:00Z'],
  ])
  t.equal(addMonths(LAST_INSTANT, 1), at('+010000-01-31T23:59:59Z'), 'past the last instant that can be written')
})

/** Returns the local date and time as text. */
function localOf(instant: number, zone: Zone): string {
  const { day, time } = localTime(instant, zone)
  return `${formatDay(day)} ${new Date(time).toISOString().slice(11, 19)}`
}

t.test('decisions §6, §8: wall clocks agree with the IANA time zone database from 2024 to 2029', async t => {
  const hour = 3_600_000
  for (const zone of zones) {
    // Sweden writes dates and times as ISO 8601 does.
    const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' })
    const wall = (instant: number) => format.format(instant)
    const wrong: string[] = []
    let changed = 0
    const check = (instant: number) => {
      const text = localOf(instant, zone)
      if (text !== wall(instant)) wrong.push(`${formatInstant(instant)} is ${wall(instant)}`)
      const { day, time } = localTime(instant, zone)
      const back = instantOf(day, time, zone)
      // The later of two equal wall-clock times reads back as the earlier.
      if (back !== instant && !(back === instant - hour && wall(back) === wall(instant))) {
        wrong.push(`${text} is ${formatInstant(instant)}`)
      }
    }
    for (let day = at('2024-01-01T00:00:00Z'); day < at('2030-01-01T00:00:00Z'); day += 24 * hour) {
      check(day + 12 * hour)
      const changes = wall(day).slice(11) !== wall(day + 24 * hour).slice(11)
      if (!changes) continue
      changed += 1
      for (let instant = day - 24 * hour; instant <= day + 48 * hour; instant += hour / 2) {
        check(instant)
        check(instant - 1000)
      }
    }
    t.same(wrong, [], zone)
    t.equal(changed, 12, 'two changes a year')
  }
  const skipped = (date: string, zone: Zone) => formatInstant(instantOf(parseDay(date), timeOfDay('02:30'), zone))
  assertReturns(t, skipped, [
    // A time that is skipped counts as if the clock had not yet moved.
    ['2026-03-29', 'Europe/Berlin', '2026-03-29T01:30:00Z'],
    ['2026-03-08', 'America/New_York', '2026-03-08T07:30:00Z'],
  ])
  assertReturns(t, (instant: string, zone: Zone) => localOf(at(instant), zone), [
    // The date stops at the ends of the four-digit years.
    ['9999-12-31T23:59:59Z', 'Europe/Berlin', '9999-12-31 00:59:59'],
    ['0001-01-01T00:00:00Z', 'America/New_York', '0001-01-01 19:00:00'],
    ['0050-07-01T12:00:00Z', 'Europe/Berlin', '0050-07-01 14:00:00'],
  ])
})
