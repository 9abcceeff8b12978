import { latest } from './memo.js'

/** A moment: milliseconds since 1970-01-01T00:00:00Z, always a whole second. */
export type Instant = number

/** A day of the proleptic Gregorian calendar, `YYYY-MM-DD` (ISO 8601), 0001-01-01 to 9999-12-31. Compares as text. */
export type CalendarDate = string

/** The IANA names of the zones whose wall clocks the payment schemes go by. */
export type Zone = 'Europe/Berlin' | 'Europe/London' | 'America/New_York'

const HOUR = 3_600_000
const DAY = 24 * HOUR

const FIRST_DAY = Date.parse('0001-01-01T00:00:00Z')
const LAST_DAY = Date.parse('9999-12-31T00:00:00Z')

/** 9999-12-31T23:59:59Z: the last moment that RFC 3339 can write. */
export const LAST_INSTANT: Instant = LAST_DAY + DAY - 1000

/** The whole second that a time in milliseconds lies in. */
export const wholeSecond = (milliseconds: number): Instant => Math.floor(milliseconds / 1000) * 1000

/**
 * `YYYY-MM-DDThh:mm:ssZ` (RFC 3339 §5.6). Four digits hold no year but 0001-9999: a moment beyond either end is written
 * as that end, so that what falls due after the end of the clock can still be shown.
 */
export const formatInstant: (at: Instant) => string = latest(
  at => `${new Date(Math.min(Math.max(at, FIRST_DAY), LAST_INSTANT)).toISOString().slice(0, 19)}Z`,
)

const INSTANT = /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/

/**
 * The moment that `text` names, or undefined unless it is exactly `YYYY-MM-DDThh:mm:ssZ` (RFC 3339 §5.6 with upper-case
 * T and Z, no fraction, no offset) of a real date and time. 24:00:00 and the leap second :60 are refused: they would
 * not be written back as they were read.
 */
export const parseInstant: (text: string) => Instant | undefined = latest(text =>
  INSTANT.test(text) && isCalendarDate(text.slice(0, 10)) ? Date.parse(text) : undefined,
)

const DATE = /^\d{4}-\d\d-\d\d$/

/**
 * Whether `text` is `YYYY-MM-DD` and a day that exists: 2026-02-30 is none (decisions §6), nor is any day of year
 * 0000.
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

/** The day `days` calendar days later (earlier when negative). Saturates at 0001-01-01 and 9999-12-31. */
export function addDays(date: CalendarDate, days: number): CalendarDate {
  return dateOf(Date.parse(date) + days * DAY)
}

/**
 * The same day of the month and time of day, `months` calendar months later (earlier when negative), in UTC.
 * Where the month is too short, its last day: 31 January and one month is 28 or 29 February.
 */
export function addMonths(at: Instant, months: number): Instant {
  const from = new Date(at)
  const month = from.getUTCMonth() + months
  const year = from.getUTCFullYear() + Math.floor(month / 12)
  const day = Math.min(from.getUTCDate(), daysInMonth(year, (((month % 12) + 12) % 12) + 1))
  return from.setUTCFullYear(from.getUTCFullYear(), month, day)
}

/** The date on a wall calendar in `zone`. Saturates at 0001-01-01 and 9999-12-31. */
export function localDate(at: Instant, zone: Zone): CalendarDate {
  return dateOf(at + offsetAt(at, zone))
}

/** The time on a wall clock in `zone`, `hh:mm:ss`, 00:00:00 to 23:59:59. */
export function localTime(at: Instant, zone: Zone): string {
  return new Date(at + offsetAt(at, zone)).toISOString().slice(-13, -5)
}

/**
 * The moment when the wall clock in `zone` shows `time` (`hh:mm`) on `date`. When clocks go back, that happens twice:
 * the earlier is meant. When they go forward, an hour is skipped: a time in it counts as if the clock had not yet
 * moved.
 */
export function instantOf(date: CalendarDate, time: string, zone: Zone): Instant {
  const wall = Date.parse(`${date}T${time}:00Z`)
  const { standard } = rules[zone]
  const inSummer = wall - standard - HOUR
  return isSummer(inSummer, zone) ? inSummer : wall - standard
}

function dateOf(at: number): CalendarDate {
  return new Date(Math.min(Math.max(at, FIRST_DAY), LAST_DAY)).toISOString().slice(0, 10)
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

// The rules in force stand for all years: the laws before them (until 1996 and 2006) are knowingly left out.
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
  // setUTCFullYear, because Date.UTC takes the years 0-99 for 1900-1999.
  const date = new Date(0)
  date.setUTCFullYear(year, month, day)
  return date.getTime() + ((7 - date.getUTCDay()) % 7) * DAY + hour * HOUR
}
