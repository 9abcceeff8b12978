import { addDays, type CalendarDate, DAY, dateOf, FIRST_DAY, LAST_DAY, timeOf, type Zone } from './time.js'

/** The days on which a payment system settles, and its time zone. */
export interface BusinessCalendar {
  readonly name: string
  readonly zone: Zone
  /** Whether the system settles on `date`, a real date. */
  isOpen(date: CalendarDate): boolean
  /** Whether the system settles on the day that begins at a time in UTC. Counting days takes no texts. */
  isOpenAt(time: number): boolean
}

const SUNDAY = 0
const MONDAY = 1
const THURSDAY = 4
const SATURDAY = 6

/**
 * T2, the Eurosystem's settlement system, which SEPA payments follow: closed on Saturdays, Sundays, 1 January, Good
 * Friday, Easter Monday, 1 May, 25 and 26 December (ECB, long-term calendar of 14 December 2000; decisions §6).
 */
export const T2: BusinessCalendar = calendar('T2', 'Europe/Berlin', year => {
  const easter = easterSunday(year)
  return [`${year}-01-01`, addDays(easter, -2), addDays(easter, 1), `${year}-05-01`, `${year}-12-25`, `${year}-12-26`]
})

/**
 * The Federal Reserve Banks, which settle US-ACH: closed on Saturdays, Sundays and the federal holidays (Federal
 * Reserve, K.8). A holiday on a Sunday is observed on the Monday after; one on a Saturday closes no other day.
 */
export const FED: BusinessCalendar = calendar('FED', 'America/New_York', year => [
  sundayToMonday(`${year}-01-01`),
  nth(3, MONDAY, `${year}-01`), // Birthday of Martin Luther King, Jr.
  nth(3, MONDAY, `${year}-02`), // Washington's Birthday
  last(MONDAY, `${year}-05-31`), // Memorial Day
  sundayToMonday(`${year}-06-19`), // Juneteenth National Independence Day
  sundayToMonday(`${year}-07-04`), // Independence Day
  nth(1, MONDAY, `${year}-09`), // Labor Day
  nth(2, MONDAY, `${year}-10`), // Columbus Day
  sundayToMonday(`${year}-11-11`), // Veterans Day
  nth(4, THURSDAY, `${year}-11`), // Thanksgiving Day
  sundayToMonday(`${year}-12-25`),
])

/**
 * Bacs and Faster Payments: closed on Saturdays, Sundays and the bank holidays of England and Wales with their
 * substitute days (gov.uk/bank-holidays; Banking and Financial Dealings Act 1971, sch. 1): New Year, Good Friday,
 * Easter Monday, Early May, Spring, Summer, Christmas and Boxing Day. One-off proclamations (jubilees, coronations) are
 * left out.
 */
export const UK: BusinessCalendar = calendar('UK', 'Europe/London', year => {
  const easter = easterSunday(year)
  const christmas = weekdayOnOrAfter(`${year}-12-25`)
  return [
    weekdayOnOrAfter(`${year}-01-01`),
    addDays(easter, -2),
    addDays(easter, 1),
    nth(1, MONDAY, `${year}-05`),
    last(MONDAY, `${year}-05-31`),
    last(MONDAY, `${year}-08-31`),
    // 25 and 26 December or their substitutes are the first two weekdays from the 25th.
    christmas,
    weekdayOnOrAfter(addDays(christmas, 1)),
  ]
})

/** Returns the date if it is open, else the next open day. */
export function onOrAfter(calendar: BusinessCalendar, date: CalendarDate): CalendarDate {
  return calendar.isOpen(date) ? date : addOpenDays(calendar, date, 1)
}

/**
 * Adds open days, which can be negative; 0 returns the date itself, open or not. The result is limited to 0001-01-01
 * and 9999-12-31.
 */
export function addOpenDays(calendar: BusinessCalendar, date: CalendarDate, days: number): CalendarDate {
  const step = Math.sign(days) * DAY
  let time = timeOf(date)
  for (let left = Math.abs(days); left > 0; ) {
    const next = time + step
    if (next < FIRST_DAY || next > LAST_DAY) break
    time = next
    if (calendar.isOpenAt(time)) left -= 1
  }
  return dateOf(time)
}

/** @param holidays returns the closed days of a year (`YYYY`), with or without those on a weekend */
function calendar(name: string, zone: Zone, holidays: (year: string) => CalendarDate[]): BusinessCalendar {
  const closedDays = new Map<number, ReadonlySet<number>>()

  function closedIn(year: number): ReadonlySet<number> {
    const known = closedDays.get(year)
    if (known !== undefined) return known
    const computed = new Set(holidays(String(year).padStart(4, '0')).map(timeOf))
    closedDays.set(year, computed)
    return computed
  }

  function isOpenAt(time: number): boolean {
    const date = new Date(time)
    const day = date.getUTCDay()
    return day !== SUNDAY && day !== SATURDAY && !closedIn(date.getUTCFullYear()).has(time)
  }

  return { name, zone, isOpen: date => isOpenAt(timeOf(date)), isOpenAt }
}

/** Returns 0 (Sunday) to 6 (Saturday). */
function weekday(date: CalendarDate): number {
  return new Date(timeOf(date)).getUTCDay()
}

function weekdayOnOrAfter(date: CalendarDate): CalendarDate {
  const day = weekday(date)
  if (day === SATURDAY) return addDays(date, 2)
  return day === SUNDAY ? addDays(date, 1) : date
}

function sundayToMonday(date: CalendarDate): CalendarDate {
  return weekday(date) === SUNDAY ? addDays(date, 1) : date
}

/** Returns the n-th given weekday of a month (`YYYY-MM`). */
function nth(n: number, day: number, month: string): CalendarDate {
  const first = `${month}-01`
  return addDays(first, ((day - weekday(first) + 7) % 7) + 7 * (n - 1))
}

/** Returns the last given weekday up to a date. */
function last(day: number, monthEnd: CalendarDate): CalendarDate {
  return addDays(monthEnd, -((weekday(monthEnd) - day + 7) % 7))
}

/** Returns Easter Sunday of the Gregorian calendar, by the anonymous algorithm (Meeus, Astronomical Algorithms, ch. 8). */
function easterSunday(yyyy: string): CalendarDate {
  const year = Number(yyyy)
  const a = year % 19
  const b = Math.floor(year / 100)
  const c = year % 100
  const f = Math.floor((b + 8) / 25)
  const g = Math.floor((b - f + 1) / 3)
  const h = (19 * a + b - Math.floor(b / 4) - g + 15) % 30
  const l = (32 + 2 * (b % 4) + 2 * Math.floor(c / 4) - h - (c % 4)) % 7
  const m = Math.floor((a + 11 * h + 22 * l) / 451)
  // 22 March is the earliest possible date.
  return addDays(`${yyyy}-03-22`, h + l - 7 * m)
}
