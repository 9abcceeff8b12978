import t, { type Test } from 'tap'
import { addOpenDays, type BusinessCalendar, FED, onOrAfter, T2, UK } from '../../src/core/time/business-days.js'
import { addDays } from '../../src/core/time/time.js'

/** The weekdays of `year` on which `calendar` is closed; fails the test where a weekend day is open. */
function closedWeekdays(t: Test, calendar: BusinessCalendar, year: number): string[] {
  const closed: string[] = []
  for (let date = `${year}-01-01`; date.startsWith(String(year)); date = addDays(date, 1)) {
    const weekend = [0, 6].includes(new Date(date).getUTCDay())
    const open = calendar.isOpen(date)
    if (weekend && open) t.fail(`${calendar.name} is open on the weekend day ${date}`)
    if (!weekend && !open) closed.push(date)
  }
  return closed
}

t.test("T2 closes on the ECB's closing days", async t => {
  // 1 January, Good Friday, Easter Monday, 1 May, 25 and 26 December (https://www.ecb.europa.eu, 14 December 2000).
  // Easter is 5 April 2026, 28 March 2027 and 16 April 2028; whatever falls on a weekend is not in the list.
  t.same(closedWeekdays(t, T2, 2026), ['2026-01-01', '2026-04-03', '2026-04-06', '2026-05-01', '2026-12-25'])
  t.same(closedWeekdays(t, T2, 2027), ['2027-01-01', '2027-03-26', '2027-03-29'])
  t.same(closedWeekdays(t, T2, 2028), ['2028-04-14', '2028-04-17', '2028-05-01', '2028-12-25', '2028-12-26'])
})

t.test('the Federal Reserve Banks close on the days of schedule K.8', async t => {
  // https://www.federalreserve.gov/aboutthefed/k8.htm, Holidays Observed by the Federal Reserve System 2026-2030
  t.same(closedWeekdays(t, FED, 2026), [
    '2026-01-01',
    '2026-01-19',
    '2026-02-16',
    '2026-05-25',
    '2026-06-19',
    '2026-09-07',
    '2026-10-12',
    '2026-11-11',
    '2026-11-26',
    '2026-12-25',
  ])
  t.same(closedWeekdays(t, FED, 2027), [
    '2027-01-01',
    '2027-01-18',
    '2027-02-15',
    '2027-05-31',
    '2027-07-05',
    '2027-09-06',
    '2027-10-11',
    '2027-11-11',
    '2027-11-25',
  ])
  t.same(closedWeekdays(t, FED, 2028), [
    '2028-01-17',
    '2028-02-21',
    '2028-05-29',
    '2028-06-19',
    '2028-07-04',
    '2028-09-04',
    '2028-10-09',
    '2028-11-23',
    '2028-12-25',
  ])
  t.same(closedWeekdays(t, FED, 2029), [
    '2029-01-01',
    '2029-01-15',
    '2029-02-19',
    '2029-05-28',
    '2029-06-19',
    '2029-07-04',
    '2029-09-03',
    '2029-10-08',
    '2029-11-12',
    '2029-11-22',
    '2029-12-25',
  ])
  t.same(closedWeekdays(t, FED, 2030), [
    '2030-01-01',
    '2030-01-21',
    '2030-02-18',
    '2030-05-27',
    '2030-06-19',
    '2030-07-04',
    '2030-09-02',
    '2030-10-14',
    '2030-11-11',
    '2030-11-28',
    '2030-12-25',
  ])
})

t.test('UK systems close on the bank holidays of England and Wales', async t => {
  // By the rules of https://www.gov.uk/bank-holidays; substitutes as announced for 28 December 2026, 27 and 28 December
  // 2027 and 3 January 2028.
  t.same(closedWeekdays(t, UK, 2026), [
    '2026-01-01',
    '2026-04-03',
    '2026-04-06',
    '2026-05-04',
    '2026-05-25',
    '2026-08-31',
    '2026-12-25',
    '2026-12-28',
  ])
  t.same(closedWeekdays(t, UK, 2027), [
    '2027-01-01',
    '2027-03-26',
    '2027-03-29',
    '2027-05-03',
    '2027-05-31',
    '2027-08-30',
    '2027-12-27',
    '2027-12-28',
  ])
  t.same(closedWeekdays(t, UK, 2028), [
    '2028-01-03',
    '2028-04-14',
    '2028-04-17',
    '2028-05-01',
    '2028-05-29',
    '2028-08-28',
    '2028-12-25',
    '2028-12-26',
  ])
})

t.test('T2 moves no closing day off a weekend', async t => {
  t.equal(T2.isOpen('2026-12-28'), true, 'Boxing Day 2026 is a Saturday')
  t.equal(T2.isOpen('2027-05-03'), true, '1 May 2027 is a Saturday')
  t.equal(T2.isOpen('2027-12-27'), true, 'Christmas 2027 is a Saturday')
  t.equal(T2.isOpen('2028-01-03'), true, 'New Year 2028 is a Saturday')
})

t.test('the Fed observes a Sunday holiday on Monday and stays open on the Friday before a Saturday one', async t => {
  t.equal(FED.isOpen('2026-07-03'), true, '4 July 2026 is a Saturday')
  t.equal(FED.isOpen('2027-06-18'), true, '19 June 2027 is a Saturday')
  t.equal(FED.isOpen('2027-07-05'), false, '4 July 2027 is a Sunday')
  t.equal(FED.isOpen('2027-12-24'), true, 'Christmas 2027 is a Saturday')
  t.equal(FED.isOpen('2027-12-31'), true, 'New Year 2028 is a Saturday')
  t.equal(FED.isOpen('2028-01-03'), true, 'and is not moved to Monday either')
  t.equal(FED.isOpen('2023-01-02'), false, 'New Year 2023 was a Sunday')
  t.equal(FED.isOpen('2022-06-20'), false, 'Juneteenth 2022 was a Sunday')
  t.equal(FED.isOpen('2022-12-26'), false, 'Christmas 2022 was a Sunday')
})

t.test('the UK gives a substitute day for every bank holiday on a weekend', async t => {
  t.equal(UK.isOpen('2022-01-03'), false, 'New Year 2022 was a Saturday')
  t.equal(UK.isOpen('2022-01-04'), true)
  t.equal(UK.isOpen('2023-01-02'), false, 'New Year 2023 was a Sunday')
  t.equal(UK.isOpen('2022-12-26'), false, 'Boxing Day 2022 was a Monday')
  t.equal(UK.isOpen('2022-12-27'), false, 'for Christmas Day 2022, a Sunday')
  t.equal(UK.isOpen('2022-12-28'), true)
  t.equal(UK.isOpen('2020-12-28'), false, 'for Boxing Day 2020, a Saturday')
  t.equal(UK.isOpen('2027-12-29'), true)
})

t.test('Easter is where the church tables have it, over two centuries and at its extremes', async t => {
  const easters = [
    '1818-03-22',
    '1886-04-25',
    '1943-04-25',
    '1954-04-18',
    '1981-04-19',
    '2000-04-23',
    '2008-03-23',
    '2011-04-24',
    '2024-03-31',
    '2025-04-20',
    '2029-04-01',
    '2030-04-21',
    '2031-04-13',
    '2032-03-28',
    '2033-04-17',
    '2034-04-09',
    '2035-03-25',
    '2038-04-25',
    '2049-04-18',
    '2076-04-19',
    '2285-03-22',
  ]
  for (const easter of easters) {
    t.equal(T2.isOpen(addDays(easter, -3)), true, `Maundy Thursday before ${easter}`)
    t.equal(T2.isOpen(addDays(easter, -2)), false, `Good Friday before ${easter}`)
    t.equal(T2.isOpen(addDays(easter, 1)), false, `Easter Monday after ${easter}`)
    t.equal(T2.isOpen(addDays(easter, 2)), true, `Tuesday after ${easter}`)
  }
})

t.test('a calendar carries its name and the zone of its midnights', async t => {
  t.same(
    [T2, FED, UK].map(({ name, zone }) => [name, zone]),
    [
      ['T2', 'Europe/Berlin'],
      ['FED', 'America/New_York'],
      ['UK', 'Europe/London'],
    ],
  )
})

t.test('an open day stays, a closed one moves to the next open day', async t => {
  t.equal(onOrAfter(T2, '2026-04-02'), '2026-04-02')
  t.equal(onOrAfter(T2, '2026-04-03'), '2026-04-07', 'Good Friday to the Tuesday after Easter')
  t.equal(onOrAfter(T2, '2026-04-05'), '2026-04-07')
  t.equal(onOrAfter(T2, '2026-12-25'), '2026-12-28')
  t.equal(onOrAfter(T2, '2026-12-31'), '2026-12-31')
  t.equal(onOrAfter(T2, '2027-01-01'), '2027-01-04')
  t.equal(onOrAfter(UK, '2027-12-25'), '2027-12-29')
  t.equal(onOrAfter(FED, '2026-07-03'), '2026-07-03')
})

t.test('open days are counted strictly after the date', async t => {
  t.equal(addOpenDays(T2, '2026-04-01', 1), '2026-04-02')
  t.equal(addOpenDays(T2, '2026-04-01', 2), '2026-04-07')
  t.equal(addOpenDays(T2, '2026-04-04', 1), '2026-04-07', 'from a closed day')
  t.equal(addOpenDays(T2, '2026-12-23', 5), '2026-12-31')
  t.equal(addOpenDays(UK, '2027-12-24', 2), '2027-12-30')
  t.equal(addOpenDays(FED, '2026-07-02', 1), '2026-07-03')
  t.equal(addOpenDays(T2, '2026-01-01', 256), '2026-12-31', '2026 has 256 open days')
})

t.test('open days are counted strictly before the date', async t => {
  t.equal(addOpenDays(T2, '2026-04-07', -1), '2026-04-02')
  t.equal(addOpenDays(T2, '2026-04-07', -2), '2026-04-01')
  t.equal(addOpenDays(T2, '2026-04-05', -1), '2026-04-02', 'from a closed day')
  t.equal(addOpenDays(UK, '2028-01-04', -1), '2027-12-31')
})

t.test('no days leave the date as it is, open or not', async t => {
  t.equal(addOpenDays(T2, '2026-04-02', 0), '2026-04-02')
  t.equal(addOpenDays(T2, '2026-04-03', 0), '2026-04-03')
})

t.test('counting stops at the ends of the four-digit years', async t => {
  t.equal(addOpenDays(T2, '9999-12-30', 5), '9999-12-31')
  t.equal(addOpenDays(T2, '9999-12-31', 1_000_000), '9999-12-31')
  t.equal(addOpenDays(T2, '0001-01-03', -5), '0001-01-01')
  t.equal(onOrAfter(T2, '9999-12-31'), '9999-12-31')
  for (const calendar of [T2, FED, UK]) t.equal(calendar.isOpen('9999-12-31'), true, calendar.name)
})
