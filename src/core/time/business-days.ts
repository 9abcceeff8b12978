import type { Day, Zone } from './time.js'
import { addDays, DAY, FIRST_DAY, LAST_DAY, parseDay } from './time.js'

/** The days on which a payment system settles, and its time zone. */
export interface BusinessCalendar {
  readonly name: string
  readonly zone: Zone
  /** Returns whether the system settles on a day. */
  isOpen(day: Day): boolean
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
  return [
    parseDay(`${year}-01-01`),
    addDays(easter, -2),
    addDays(easter, 1),
    parseDay(`${year}-05-01`),
    parseDay(`${year}-12-25`),
    parseDay(`${year}-12-26`),
  ]
})

/**
 * The Federal Reserve Banks, which settle US-ACH: closed on Saturdays, Sundays and the federal holidays (Federal
 * Reserve, K.8). A holiday on a Sunday is observed on the Monday after; one on a Saturday closes no other day.
 */
export const FED: BusinessCalendar = calendar('FED', 'America/New_York', year => [
  sundayToMonday(parseDay(`${year}-01-01`)),
  nth(3, MONDAY, `${year}-01`), // Birthday of Martin Luther King, Jr.
  nth(3, MONDAY, `${year}-02`), // Washington's Birthday
  last(MONDAY, parseDay(`${year}-05-31`)), // Memorial Day
  sundayToMonday(parseDay(`${year}-06-19`)), // Juneteenth National Independence Day
  sundayToMonday(parseDay(`${year}-07-04`)), // Independence Day
  nth(1, MONDAY, `${year}-09`), // Labor Day
  nth(2, MONDAY, `${year}-10`), // Columbus Day
  sundayToMonday(parseDay(`${year}-11-11`)), // Veterans Day
  nth(4, THURSDAY, `${year}-11`), // Thanksgiving Day
  sundayToMonday(parseDay(`${year}-12-25`)),
])

/**
 * Bacs and Faster Payments: closed on Saturdays, Sundays and the bank holidays of England and Wales with their
 * substitute days (gov.uk/bank-holidays; Banking and Financial Dealings Act 1971, sch. 1): New Year, Good Friday,
 * Easter Monday, Early May, Spring, Summer, Christmas and Boxing Day. One-off proclamations (jubilees, coronations) are
 * left out.
 */
export const UK: BusinessCalendar = calendar('UK', 'Europe/London', year => {
  const easter = easterSunday(year)
  const christmas = weekdayOnOrAfter(parseDay(`${year}-12-25`))
  return [
    weekdayOnOrAfter(parseDay(`${year}-01-01`)),
    addDays(easter, -2),
    addDays(easter, 1),
    nth(1, MONDAY, `${year}-05`),
    last(MONDAY, parseDay(`${year}-05-31`)),
    last(MONDAY, parseDay(`${year}-08-31`)),
    // 25 and 26 December or their substitutes are the first two weekdays from the 25th.
    christmas,
    weekdayOnOrAfter(addDays(christmas, 1)),
  ]
})

/** Returns the day if it is open, else the next open day. */
export const onOrAfter = (calendar: BusinessCalendar, day: Day): Day =>
  calendar.isOpen(day) ? day : addOpenDays(calendar, day, 1)

/**
 * Adds open days, which can be negative; 0 returns the day itself, open or not. The result is limited to 0001-01-01
 * and 9999-12-31.
 */
export function addOpenDays(calendar: BusinessCalendar, from: Day, days: number): Day {
  const step = Math.sign(days) * DAY
  let day = from
  for (let left = Math.abs(days); left > 0; ) {
    const next = day + step
    if (next < FIRST_DAY || next > LAST_DAY) break
    day = next
    if (calendar.isOpen(day)) left -= 1
  }
  return day
}

/** @param holidays returns the closed days of a year (`YYYY`), with or without those on a weekend */
function calendar(name: string, zone: Zone, holidays: (year: string) => Day[]): BusinessCalendar {
  const closedDays = new Map<number, ReadonlySet<Day>>()

  function closedIn(year: number): ReadonlySet<Day> {
    const closed = new Set(holidays(String(year).padStart(4, '0')))
    closedDays.set(year, closed)
    return closed
  }

  function isOpen(day: Day): boolean {
    const date = new Date(day)
    const weekday = date.getUTCDay()
    if (weekday === SUNDAY || weekday === SATURDAY) return false
    const year = date.getUTCFullYear()
    return !(closedDays.get(year) ?? closedIn(year)).has(day)
  }

  return { name, zone, isOpen }
}

/** Returns 0 (Sunday) to 6 (Saturday). */
const weekdayOf = (day: Day): number => new Date(day).getUTCDay()

function weekdayOnOrAfter(day: Day): Day {
  const weekday = weekdayOf(day)
  if (weekday === SATURDAY) return addDays(day, 2)
  return weekday === SUNDAY ? addDays(day, 1) : day
}

const sundayToMonday = (day: Day): Day => (weekdayOf(day) === SUNDAY ? addDays(day, 1) : day)

/** Returns the n-th given weekday of a month (`YYYY-MM`). */
function nth(n: number, weekday: number, month: string): Day {
  const first = parseDay(`${month}-01`)
  return addDays(first, ((weekday - weekdayOf(first) + 7) % 7) + 7 * (n - 1))
}

/** Returns the last given weekday up to a day. */
const last = (weekday: number, end: Day): Day => addDays(end, -((weekdayOf(end) - weekday + 7) % 7))

/** Returns Easter Sunday of the Gregorian calendar, by the anonymous algorithm (Meeus, Astronomical Algorithms, ch. 8). */
function easterSunday(yyyy: string): Day {
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
  return addDays(parseDay(`${yyyy}-03-22`), h + l - 7 * m)
}
