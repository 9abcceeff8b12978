import { memoized } from './memo.js'
import { addDays, type CalendarDate, type Zone } from './time.js'

/** The days on which a payment system settles, and the zone whose midnight separates them. */
export interface BusinessCalendar {
  readonly name: string
  readonly zone: Zone
  /** Whether the system settles on `date`, a real date. */
  isOpen(date: CalendarDate): boolean
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
 * knowingly left out.
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
    // Wherever 25 and 26 December fall, they and their substitutes fill the first two weekdays from the 25th.
    christmas,
    weekdayOnOrAfter(addDays(christmas, 1)),
  ]
})

/** `date` itself if the system is open, else the next day that is. */
export function onOrAfter(calendar: BusinessCalendar, date: CalendarDate): CalendarDate {
  return calendar.isOpen(date) ? date : addOpenDays(calendar, date, 1)
}

/**
 * The `days`-th open day strictly after `date`; for negative `days` the -`days`-th strictly before it; for 0 `date`
 * itself, open or not. Stops at 0001-01-01 and 9999-12-31.
 */
export function addOpenDays(calendar: BusinessCalendar, date: CalendarDate, days: number): CalendarDate {
  const step = Math.sign(days)
  let day = date
  for (let left = Math.abs(days); left > 0; ) {
    const next = addDays(day, step)
    if (next === day) break
    day = next
    if (calendar.isOpen(day)) left -= 1
  }
  return day
}

/** `holidays` lists the closing days of a year (`YYYY`), once a year asked for. Days on a weekend may stand in it. */
function calendar(name: string, zone: Zone, holidays: (year: string) => CalendarDate[]): BusinessCalendar {
  const closedIn = memoized((year: string) => new Set(holidays(year)))
  return {
    name,
    zone,
    isOpen: memoized((date: CalendarDate) => !isWeekend(date) && !closedIn(date.slice(0, 4)).has(date)),
  }
}

/** 0 (Sunday) to 6 (Saturday). */
function weekday(date: CalendarDate): number {
  return new Date(date).getUTCDay()
}

function isWeekend(date: CalendarDate): boolean {
  const day = weekday(date)
  return day === SUNDAY || day === SATURDAY
}

function weekdayOnOrAfter(date: CalendarDate): CalendarDate {
  const day = weekday(date)
  if (day === SATURDAY) return addDays(date, 2)
  return day === SUNDAY ? addDays(date, 1) : date
}

function sundayToMonday(date: CalendarDate): CalendarDate {
  return weekday(date) === SUNDAY ? addDays(date, 1) : date
}

/** The `n`-th `day` of the week in `month` (`YYYY-MM`). */
function nth(n: number, day: number, month: string): CalendarDate {
  const first = `${month}-01`
  return addDays(first, ((day - weekday(first) + 7) % 7) + 7 * (n - 1))
}

/** The last `day` of the week up to `monthEnd`. */
function last(day: number, monthEnd: CalendarDate): CalendarDate {
  return addDays(monthEnd, -((weekday(monthEnd) - day + 7) % 7))
}

/** Easter Sunday of the Gregorian calendar, by the anonymous algorithm (Meeus, Astronomical Algorithms, ch. 8). */
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
  // Counted from 22 March, the earliest Easter there is.
  return addDays(`${yyyy}-03-22`, h + l - 7 * m)
}
