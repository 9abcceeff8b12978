import fc from 'fast-check'
import t, { type Test } from 'tap'
import { addOpenDays, type BusinessCalendar, FED, onOrAfter, T2, UK } from '../../src/core/time/business-days.js'
import { addDays, DAY, formatDay, parseDay } from '../../src/core/time/time.js'
import { assertReturns, words } from './texts.js'

/** Returns the weekdays of a year on which a calendar is closed, as MM-DD. Fails the test if a weekend day is open. */
function closedWeekdays(t: Test, calendar: BusinessCalendar, year: number): string {
  const closed: string[] = []
  for (let day = parseDay(`${year}-01-01`); formatDay(day).startsWith(String(year)); day = addDays(day, 1)) {
    const date = formatDay(day)
    const isWeekend = [0, 6].includes(new Date(date).getUTCDay())
    const isOpen = calendar.isOpen(day)
    if (isWeekend && isOpen) t.fail(`${calendar.name} is open on the weekend day ${date}`)
    if (!isWeekend && !isOpen) closed.push(date.slice(5))
  }
  return closed.join(' ')
}

t.test('decisions §6: T2 closes on the closing days of the ECB', async t => {
  // 1 January, Good Friday, Easter Monday, 1 May, 25 and 26 December (https://www.ecb.europa.eu, 14 December 2000).
  // Easter is 5 April 2026, 28 March 2027 and 16 April 2028; whatever falls on a weekend is not in the list.
  assertReturns(t, (year: number) => closedWeekdays(t, T2, year), [
    [2026, '01-01 04-03 04-06 05-01 12-25'],
    [2027, '01-01 03-26 03-29'],
    [2028, '04-14 04-17 05-01 12-25 12-26'],
  ])
})

t.test('decisions §8: the Federal Reserve Banks close on the days of schedule K.8', async t => {
  // https://www.federalreserve.gov/aboutthefed/k8.htm. A holiday on a Sunday closes the Monday, one on a Saturday nothing.
  assertReturns(t, (year: number) => closedWeekdays(t, FED, year), [
    [2022, '01-17 02-21 05-30 06-20 07-04 09-05 10-10 11-11 11-24 12-26'],
    [2023, '01-02 01-16 02-20 05-29 06-19 07-04 09-04 10-09 11-23 12-25'],
    [2026, '01-01 01-19 02-16 05-25 06-19 09-07 10-12 11-11 11-26 12-25'],
    [2027, '01-01 01-18 02-15 05-31 07-05 09-06 10-11 11-11 11-25'],
    [2028, '01-17 02-21 05-29 06-19 07-04 09-04 10-09 11-23 12-25'],
    [2029, '01-01 01-15 02-19 05-28 06-19 07-04 09-03 10-08 11-12 11-22 12-25'],
    [2030, '01-01 01-21 02-18 05-27 06-19 07-04 09-02 10-14 11-11 11-28 12-25'],
  ])
})

t.test('decisions §8: UK systems close on the bank holidays of England and Wales', async t => {
  // By the rules of https://www.gov.uk/bank-holidays; substitutes as announced for 28 December 2026, 27 and 28 December
  // 2027 and 3 January 2028. Each holiday on a weekend has a substitute.
  assertReturns(t, (year: number) => closedWeekdays(t, UK, year), [
    [2026, '01-01 04-03 04-06 05-04 05-25 08-31 12-25 12-28'],
    [2027, '01-01 03-26 03-29 05-03 05-31 08-30 12-27 12-28'],
    [2028, '01-03 04-14 04-17 05-01 05-29 08-28 12-25 12-26'],
  ])
  const closed = words('2022-01-03 2023-01-02 2022-12-26 2022-12-27 2020-12-28')
  const open = words('2022-01-04 2022-12-28 2027-12-29')
  t.same(
    [...closed, ...open].filter(date => UK.isOpen(parseDay(date))),
    open,
  )
})

t.test('decisions §6: Easter is where the church tables have it, over two centuries and at its extremes', async t => {
  const easters = words(`
    1818-03-22 1886-04-25 1943-04-25 1954-04-18 1981-04-19 2000-04-23 2008-03-23 2011-04-24 2024-03-31 2025-04-20
    2029-04-01 2030-04-21 2031-04-13 2032-03-28 2033-04-17 2034-04-09 2035-03-25 2038-04-25 2049-04-18 2076-04-19
    2285-03-22`)
  // From Maundy Thursday to the Tuesday after.
  const around = (easter: string) => [-3, -2, 1, 2].map(days => T2.isOpen(addDays(parseDay(easter), days)))
  t.same(
    easters.map(easter => [easter, ...around(easter)]),
    easters.map(easter => [easter, true, false, false, true]),
  )
})

t.test('decisions §6: open days are counted after or before a date, and a closed day moves to the next', async t => {
  const calendars = [T2, FED, UK]
  const [first, last] = [parseDay('0001-01-01'), parseDay('9999-12-31')]
  const naive = (calendar: BusinessCalendar, from: number, days: number) => {
    let day = from
    for (let left = Math.abs(days); left > 0 && day !== (days > 0 ? last : first); ) {
      day += Math.sign(days) * DAY
      if (calendar.isOpen(day)) left -= 1
    }
    return day
  }
  const around = (date: string) => fc.integer({ min: -9, max: 999 }).map(days => addDays(parseDay(date), days))
  const day = fc.oneof(around('2026-04-01'), around('0001-01-01'), around('9999-12-25'))
  fc.assert(
    fc.property(fc.constantFrom(...calendars), day, fc.integer({ min: -300, max: 300 }), (calendar, day, days) => {
      const next = calendar.isOpen(day) ? day : naive(calendar, day, 1)
      return addOpenDays(calendar, day, days) === naive(calendar, day, days) && onOrAfter(calendar, day) === next
    }),
    { seed: 1, numRuns: 300 },
  )
  t.same(
    calendars.map(calendar => calendar.isOpen(last)),
    [true, true, true],
  )
  t.equal(addOpenDays(T2, last, 1_000_000), last)
})
