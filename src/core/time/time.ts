/** An instant: milliseconds since 1970-01-01T00:00:00Z, always a whole second. */
export type Instant = number

/** A day of the proleptic Gregorian calendar, `YYYY-MM-DD` (ISO 8601), 0001-01-01 to 9999-12-31. Compares as text. */
export type CalendarDate = string

/** A day as a number: its beginning in UTC, as an instant. Days are counted and compared without texts. */
export type Day = number

/** The time zones of the payment schemes. */
export type Zone = 'Europe/Berlin' | 'Europe/London' | 'America/New_York'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
/** A day in milliseconds. */
export const DAY = 24 * HOUR

/** The first and the last day, as times in milliseconds. */
export const FIRST_DAY = Date.parse('0001-01-01T00:00:00Z')
export const LAST_DAY = Date.parse('9999-12-31T00:00:00Z')

/** 9999-12-31T23:59:59Z, the last instant that RFC 3339 can represent. */
export const LAST_INSTANT: Instant = LAST_DAY + DAY - 1000

/** Rounds a time in milliseconds down to the whole second. */
export const wholeSecond = (milliseconds: number): Instant => Math.floor(milliseconds / 1000) * 1000

/**
 * Formats an instant as `YYYY-MM-DDThh:mm:ssZ` (RFC 3339 §5.6). Instants outside of the years 0001 to 9999 become the
 * first or the last one.
 */
export const formatInstant = (at: Instant): string =>
  `${new Date(Math.min(Math.max(at, FIRST_DAY), LAST_INSTANT)).toISOString().slice(0, 19)}Z`

const INSTANT = /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/

/**
 * Parses `YYYY-MM-DDThh:mm:ssZ` (RFC 3339 §5.6) with a real date and time. Returns undefined for any other text.
 * Fractions, offsets, 24:00:00 and leap seconds are refused.
 */
export const parseInstant = (text: string): Instant | undefined =>
  INSTANT.test(text) && isCalendarDate(text.slice(0, 10)) ? Date.parse(text) : undefined

/** Returns the instant of a text that has been checked. @throws RangeError */
export function readInstant(text: string): Instant {
  const instant = parseInstant(text)
  if (instant === undefined) throw new RangeError(`${text} is no instant.`)
  return instant
}

export const isMoment = (value: unknown): value is string =>
  typeof value === 'string' && parseInstant(value) !== undefined

const DATE = /^\d{4}-\d\d-\d\d$/

/**
 * Whether a text is `YYYY-MM-DD` with a real date of the years 0001 to 9999 (decisions §6).
 */
export function isCalendarDate(text: string): boolean {
  if (!DATE.test(text)) return false
  const year = Number(text.slice(0, 4))
  const month = Number(text.slice(5, 7))
  const day = Number(text.slice(8))
  return year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month)
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/** Returns the day of a real date. */
export const parseDay = (date: CalendarDate): Day => Date.parse(date)

/** Formats a day as `YYYY-MM-DD`. */
export const formatDay = (day: Day): CalendarDate => new Date(day).toISOString().slice(0, 10)

/** Limits a day to 0001-01-01 and 9999-12-31. */
const withinYears = (day: Day): Day => Math.min(Math.max(day, FIRST_DAY), LAST_DAY)

/** Adds calendar days, which can be negative. The result is limited to 0001-01-01 and 9999-12-31. */
export const addDays = (day: Day, days: number): Day => withinYears(day + days * DAY)

/**
 * Adds calendar months in UTC, which can be negative. If the month is too short, the result is its last day:
 * 31 January plus one month is 28 or 29 February.
 */
export function addMonths(at: Instant, months: number): Instant {
  const from = new Date(at)
  const month = from.getUTCMonth() + months
  const year = from.getUTCFullYear() + Math.floor(month / 12)
  const day = Math.min(from.getUTCDate(), daysInMonth(year, (((month % 12) + 12) % 12) + 1))
  return from.setUTCFullYear(from.getUTCFullYear(), month, day)
}

/** Returns the local day in a zone, limited to 0001-01-01 and 9999-12-31, and the milliseconds since its beginning. */
export function localTime(at: Instant, zone: Zone): { readonly day: Day; readonly time: number } {
  const local = at + offsetAt(at, zone)
  const day = Math.floor(local / DAY) * DAY
  return { day: withinYears(day), time: local - day }
}

/** Returns the milliseconds of a time of day (`hh:mm`). */
export const timeOfDay = (time: string): number => Number(time.slice(0, 2)) * HOUR + Number(time.slice(3, 5)) * MINUTE

/**
 * Returns the instant of a local time on a day. A time that exists twice, when clocks go back, is the earlier
 * one. A time that is skipped, when clocks go forward, counts in standard time.
 * @param time milliseconds since the beginning of the day
 */
export function instantOf(day: Day, time: number, zone: Zone): Instant {
  const { standard } = rules[zone]
  const inSummer = day + time - standard - HOUR
  return isSummer(inSummer, zone) ? inSummer : inSummer + HOUR
}

/** Summer time begins and ends on the first Sunday on or after a day of a month (0-11), at an hour in UTC. */
interface Change {
  readonly month: number
  readonly day: number
  readonly hour: number
}

/** `standard` is the offset from UTC in winter, in milliseconds; in summer clocks are one hour ahead of it. */
interface Rule {
  readonly standard: number
  readonly begins: Change
  readonly ends: Change
}

// Directive 2000/84/EC art. 2-3 and the Summer Time Order 2002 (SI 2002/262): the last Sundays of March and October, at
// 01:00 UTC. Both months have 31 days, so the last Sunday is the first on or after the 25th.
const european = { begins: { month: 2, day: 25, hour: 1 }, ends: { month: 9, day: 25, hour: 1 } }

// The present rules apply to all years; earlier laws (until 1996 and 2006) are left out.
const rules: Readonly<Record<Zone, Rule>> = {
  'Europe/Berlin': { standard: HOUR, ...european },
  'Europe/London': { standard: 0, ...european },
  // Energy Policy Act of 2005 §110 (15 USC 260a): the second Sunday of March and the first of November, at 02:00 by the
  // clock then in use.
  'America/New_York': {
    standard: -5 * HOUR,
    begins: { month: 2, day: 8, hour: 7 },
    ends: { month: 10, day: 1, hour: 6 },
  },
}

function offsetAt(at: Instant, zone: Zone): number {
  return isSummer(at, zone) ? rules[zone].standard + HOUR : rules[zone].standard
}

function isSummer(at: Instant, zone: Zone): boolean {
  const year = new Date(at).getUTCFullYear()
  const { begins, ends } = rules[zone]
  return at >= instantOfChange(year, begins) && at < instantOfChange(year, ends)
}

function instantOfChange(year: number, { month, day, hour }: Change): Instant {
  // Date.UTC would take the years 0-99 as 1900-1999.
  const date = new Date(0)
  date.setUTCFullYear(year, month, day)
  return date.getTime() + ((7 - date.getUTCDay()) % 7) * DAY + hour * HOUR
}
