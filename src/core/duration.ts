const DURATION = /^P(?=.)(?:(\d+)W|(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?)$/i

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const WEEK = 7 * DAY

// 10 000 years of the Gregorian calendar, in which 400 years are 146 097 days: no due date lies further ahead.
const LONGEST = 25 * 146_097 * DAY

/**
 * The whole seconds of an ISO 8601 duration, in upper or lower case (decisions §8): `PnW` alone, or any of days, hours,
 * minutes and seconds in this order. Undefined for all else: no component at all, a `T` with none behind it, years and
 * months (which have no fixed length), fractions, signs, and anything above 10 000 years.
 */
export function parseDuration(text: string): number | undefined {
  const match = DURATION.exec(text)
  if (match === null) return undefined
  const [, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = match
  const total =
    Number(weeks) * WEEK + Number(days) * DAY + Number(hours) * HOUR + Number(minutes) * MINUTE + Number(seconds)
  return total <= LONGEST ? total : undefined
}
