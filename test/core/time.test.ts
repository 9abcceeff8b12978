import t from 'tap'
import {
  addDays,
  addMonths,
  formatInstant,
  instantOf,
  isCalendarDate,
  LAST_INSTANT,
  localDate,
  localTime,
  parseInstant,
  type Zone,
} from '../../src/core/time/time.js'

const at = (text: string) => Date.parse(text)
const zones: Zone[] = ['Europe/Berlin', 'Europe/London', 'America/New_York']

t.test('an instant is written to the second in UTC', async t => {
  t.equal(formatInstant(0), '1970-01-01T00:00:00Z')
  t.equal(formatInstant(at('2026-02-28T23:59:59Z')), '2026-02-28T23:59:59Z')
  t.equal(formatInstant(-62_135_596_800_000), '0001-01-01T00:00:00Z')
  t.equal(LAST_INSTANT, 253_402_300_799_000)
  t.equal(formatInstant(LAST_INSTANT), '9999-12-31T23:59:59Z')
})

t.test('an instant beyond the four-digit years is written as the nearest end of them', async t => {
  t.equal(formatInstant(LAST_INSTANT + 1000), '9999-12-31T23:59:59Z')
  t.equal(formatInstant(at('+012026-01-01T00:00:00Z')), '9999-12-31T23:59:59Z')
  t.equal(formatInstant(at('0000-12-31T23:59:59Z')), '0001-01-01T00:00:00Z')
})

t.test('an instant is read back as it is written', async t => {
  t.equal(parseInstant('1970-01-01T00:00:00Z'), 0)
  t.equal(parseInstant('2026-03-29T01:00:00Z'), 1_774_746_000_000)
  t.equal(parseInstant('2028-02-29T12:30:45Z'), 1_835_440_245_000)
  t.equal(parseInstant('0001-01-01T00:00:00Z'), -62_135_596_800_000)
  t.equal(parseInstant('9999-12-31T23:59:59Z'), LAST_INSTANT)
})

t.test('text in any other form is no instant', async t => {
  for (const text of [
    '',
    '2026-01-01',
    '2026-01-01T00:00Z',
    '2026-01-01T00:00:00',
    '2026-01-01T00:00:00.000Z',
    '2026-01-01T00:00:00+00:00',
    '2026-01-01 00:00:00Z',
    '2026-01-01t00:00:00Z',
    '2026-01-01T00:00:00z',
    '2026-01-01T00:00:00Z\n',
    ' 2026-01-01T00:00:00Z',
    '+002026-01-01T00:00:00Z',
    '10000-01-01T00:00:00Z',
    '٢٠٢٦-01-01T00:00:00Z',
    '2026-01-01T00:00:0\ud800Z',
    `2026-01-01T00:00:00Z${'0'.repeat(100_000)}`,
  ]) {
    t.equal(parseInstant(text), undefined, JSON.stringify(text.slice(0, 40)))
  }
})

t.test('a date or time that does not exist is no instant', async t => {
  for (const text of [
    '2026-02-29T00:00:00Z',
    '2026-02-30T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '0000-01-01T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T23:60:00Z',
    '2016-12-31T23:59:60Z',
  ]) {
    t.equal(parseInstant(text), undefined, text)
  }
})

t.test('a calendar date is a day that exists', async t => {
  for (const text of [
    '0001-01-01',
    '2000-02-29',
    '2026-01-31',
    '2026-02-28',
    '2026-03-31',
    '2026-04-30',
    '2026-05-31',
    '2026-06-30',
    '2026-07-31',
    '2026-08-31',
    '2026-09-30',
    '2026-10-31',
    '2026-11-30',
    '2028-02-29',
    '9999-12-31',
  ]) {
    t.equal(isCalendarDate(text), true, text)
  }
  for (const text of [
    '0000-12-31',
    '1900-02-29',
    '2100-02-29',
    '2026-01-32',
    '2026-02-29',
    '2026-02-30',
    '2026-04-31',
    '2026-06-31',
    '2026-09-31',
    '2026-11-31',
    '2026-12-32',
    '2026-00-10',
    '2026-13-10',
    '2026-10-00',
  ]) {
    t.equal(isCalendarDate(text), false, text)
  }
})

t.test('a calendar date has four, two and two digits and nothing else', async t => {
  for (const text of [
    '',
    '2026',
    '2026-1-1',
    '20260101',
    '2026/01/01',
    '2026-W01-1',
    '26-01-01',
    '-2026-01-01',
    '+02026-01-01',
    '10000-01-01',
    '2026-01-01\n',
    ' 2026-01-01',
    '2026-01-01T00:00:00Z',
    '２０２６-01-01',
    '2026-01-0\udc00',
    `2026-01-01${'1'.repeat(100_000)}`,
  ]) {
    t.equal(isCalendarDate(text), false, JSON.stringify(text.slice(0, 40)))
  }
})

t.test('days are added across months, years, leap days and changes of the clock', async t => {
  t.equal(addDays('2026-03-28', 0), '2026-03-28')
  t.equal(addDays('2026-03-28', 2), '2026-03-30')
  t.equal(addDays('2026-12-31', 1), '2027-01-01')
  t.equal(addDays('2027-01-01', -1), '2026-12-31')
  t.equal(addDays('2028-02-28', 1), '2028-02-29')
  t.equal(addDays('2100-02-28', 1), '2100-03-01')
  t.equal(addDays('2400-02-28', 1), '2400-02-29')
  t.equal(addDays('2026-01-01', 365), '2027-01-01')
  t.equal(addDays('2000-01-01', 146_097), '2400-01-01')
  t.equal(addDays('0099-12-31', 1), '0100-01-01')
})

t.test('days stop at the ends of the four-digit years', async t => {
  t.equal(addDays('9999-12-30', 1), '9999-12-31')
  t.equal(addDays('9999-12-31', 1), '9999-12-31')
  t.equal(addDays('9999-01-01', 100_000), '9999-12-31')
  t.equal(addDays('0001-01-02', -1), '0001-01-01')
  t.equal(addDays('0001-01-01', -1), '0001-01-01')
})

t.test('months are added on the calendar, to the last day where the month is too short', async t => {
  const cases: [string, number, string][] = [
    ['2026-01-15T10:20:30Z', 0, '2026-01-15T10:20:30Z'],
    ['2026-01-15T10:20:30Z', 1, '2026-02-15T10:20:30Z'],
    ['2026-01-31T23:59:59Z', 1, '2026-02-28T23:59:59Z'],
    ['2028-01-31T00:00:00Z', 1, '2028-02-29T00:00:00Z'],
    ['2026-03-31T00:00:00Z', 1, '2026-04-30T00:00:00Z'],
    ['2026-11-30T12:00:00Z', 1, '2026-12-30T12:00:00Z'],
    ['2026-12-31T12:00:00Z', 1, '2027-01-31T12:00:00Z'],
    ['2026-12-31T12:00:00Z', 2, '2027-02-28T12:00:00Z'],
    ['2026-06-10T12:00:00Z', 13, '2027-07-10T12:00:00Z'],
    ['2024-02-29T12:00:00Z', 36, '2027-02-28T12:00:00Z'],
    ['2024-02-29T12:00:00Z', 48, '2028-02-29T12:00:00Z'],
    ['2096-02-29T12:00:00Z', 48, '2100-02-28T12:00:00Z'],
    ['2026-03-31T12:00:00Z', -1, '2026-02-28T12:00:00Z'],
    ['2026-01-31T12:00:00Z', -1, '2025-12-31T12:00:00Z'],
    ['2026-01-31T12:00:00Z', -14, '2024-11-30T12:00:00Z'],
    ['0050-01-31T12:00:00Z', 1, '0050-02-28T12:00:00Z'],
  ]
  for (const [from, months, to] of cases) {
    t.equal(formatInstant(addMonths(at(from), months)), to, `${from} + ${months}`)
  }
  t.equal(addMonths(LAST_INSTANT, 1), at('+010000-01-31T23:59:59Z'), 'past the last instant that can be written')
})

t.test('wall clocks change on the published dates', async t => {
  const cases: [Zone, string, string, string][] = [
    ['Europe/Berlin', '2026-03-29T00:59:59Z', '2026-03-29', '01:59:59'],
    ['Europe/Berlin', '2026-03-29T01:00:00Z', '2026-03-29', '03:00:00'],
    ['Europe/Berlin', '2026-10-25T00:59:59Z', '2026-10-25', '02:59:59'],
    ['Europe/Berlin', '2026-10-25T01:00:00Z', '2026-10-25', '02:00:00'],
    ['Europe/London', '2026-03-29T00:59:59Z', '2026-03-29', '00:59:59'],
    ['Europe/London', '2026-03-29T01:00:00Z', '2026-03-29', '02:00:00'],
    ['Europe/London', '2026-10-25T00:59:59Z', '2026-10-25', '01:59:59'],
    ['Europe/London', '2026-10-25T01:00:00Z', '2026-10-25', '01:00:00'],
    ['America/New_York', '2026-03-08T06:59:59Z', '2026-03-08', '01:59:59'],
    ['America/New_York', '2026-03-08T07:00:00Z', '2026-03-08', '03:00:00'],
    ['America/New_York', '2026-11-01T05:59:59Z', '2026-11-01', '01:59:59'],
    ['America/New_York', '2026-11-01T06:00:00Z', '2026-11-01', '01:00:00'],
  ]
  for (const [zone, instant, date, time] of cases) {
    t.equal(localDate(at(instant), zone), date, `${zone} ${instant}`)
    t.equal(localTime(at(instant), zone), time, `${zone} ${instant}`)
  }
})

t.test('the date turns at local midnight', async t => {
  t.equal(localDate(at('2026-06-30T21:59:59Z'), 'Europe/Berlin'), '2026-06-30')
  t.equal(localDate(at('2026-06-30T22:00:00Z'), 'Europe/Berlin'), '2026-07-01')
  t.equal(localDate(at('2026-12-31T23:00:00Z'), 'Europe/Berlin'), '2027-01-01')
  t.equal(localDate(at('2026-12-31T23:00:00Z'), 'Europe/London'), '2026-12-31')
  t.equal(localDate(at('2027-01-01T04:59:59Z'), 'America/New_York'), '2026-12-31')
  t.equal(localTime(at('2027-01-01T05:00:00Z'), 'America/New_York'), '00:00:00')
})

t.test('the local date stops at the ends of the four-digit years', async t => {
  t.equal(localDate(LAST_INSTANT, 'Europe/Berlin'), '9999-12-31')
  t.equal(localTime(LAST_INSTANT, 'Europe/Berlin'), '00:59:59')
  t.equal(localDate(at('0001-01-01T00:00:00Z'), 'America/New_York'), '0001-01-01')
  t.equal(localTime(at('0001-01-01T00:00:00Z'), 'America/New_York'), '19:00:00')
  t.equal(localTime(at('0050-07-01T12:00:00Z'), 'Europe/Berlin'), '14:00:00')
})

t.test('a wall-clock time names its instant', async t => {
  const cases: [string, string, Zone, string][] = [
    ['2026-01-15', '14:00', 'Europe/Berlin', '2026-01-15T13:00:00Z'],
    ['2026-07-15', '16:00', 'Europe/Berlin', '2026-07-15T14:00:00Z'],
    ['2026-01-01', '00:00', 'Europe/Berlin', '2025-12-31T23:00:00Z'],
    ['2026-03-29', '01:59', 'Europe/Berlin', '2026-03-29T00:59:00Z'],
    ['2026-03-29', '03:00', 'Europe/Berlin', '2026-03-29T01:00:00Z'],
    ['2026-10-25', '01:59', 'Europe/Berlin', '2026-10-24T23:59:00Z'],
    ['2026-10-25', '03:00', 'Europe/Berlin', '2026-10-25T02:00:00Z'],
    ['2026-07-15', '09:30', 'Europe/London', '2026-07-15T08:30:00Z'],
    ['2026-12-15', '09:30', 'Europe/London', '2026-12-15T09:30:00Z'],
    ['2026-07-15', '06:00', 'America/New_York', '2026-07-15T10:00:00Z'],
    ['2026-12-31', '23:59', 'America/New_York', '2027-01-01T04:59:00Z'],
  ]
  for (const [date, time, zone, instant] of cases) {
    t.equal(formatInstant(instantOf(date, time, zone)), instant, `${date} ${time} ${zone}`)
  }
})

t.test('a wall-clock time that occurs twice is the earlier one', async t => {
  t.equal(formatInstant(instantOf('2026-10-25', '02:00', 'Europe/Berlin')), '2026-10-25T00:00:00Z')
  t.equal(formatInstant(instantOf('2026-10-25', '02:59', 'Europe/Berlin')), '2026-10-25T00:59:00Z')
  t.equal(formatInstant(instantOf('2026-10-25', '01:30', 'Europe/London')), '2026-10-25T00:30:00Z')
  t.equal(formatInstant(instantOf('2026-11-01', '01:30', 'America/New_York')), '2026-11-01T05:30:00Z')
})

t.test('a wall-clock time that is skipped counts as if the clock had not yet moved', async t => {
  t.equal(formatInstant(instantOf('2026-03-29', '02:30', 'Europe/Berlin')), '2026-03-29T01:30:00Z')
  t.equal(formatInstant(instantOf('2026-03-08', '02:30', 'America/New_York')), '2026-03-08T07:30:00Z')
})

t.test('wall clocks agree with the IANA time zone database from 2024 to 2035', async t => {
  const hour = 3_600_000
  for (const zone of zones) {
    const format = new Intl.DateTimeFormat('en-CA', {
      timeZone: zone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      hourCycle: 'h23',
    })
    const wall = (instant: number) => {
      const parts = Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, value]))
      return `${parts.year}-${parts.month}-${parts.day} ${parts.hour}:${parts.minute}:${parts.second}`
    }
    const wrong: string[] = []
    let checked = 0
    let changed = 0
    const check = (instant: number) => {
      checked += 1
      const date = localDate(instant, zone)
      const time = localTime(instant, zone)
      if (`${date} ${time}` !== wall(instant)) wrong.push(`${formatInstant(instant)} is ${wall(instant)}`)
      const back = instantOf(date, time.slice(0, 5), zone)
      // The later of two equal wall-clock times reads back as the earlier.
      if (time.endsWith(':00') && back !== instant && !(back === instant - hour && wall(back) === wall(instant))) {
        wrong.push(`${date} ${time} is ${formatInstant(instant)}`)
      }
    }
    for (let day = at('2024-01-01T00:00:00Z'); day < at('2036-01-01T00:00:00Z'); day += 24 * hour) {
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
    t.equal(changed, 24, 'two changes a year')
    t.equal(checked, 4383 + 24 * 2 * 145, 'every day, and every half hour around a change and the second before it')
  }
})
