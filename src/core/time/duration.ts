const DURATION = /^P(?=.)(?:(\d+)W|(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?)$/i

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const WEEK = 7 * DAY

// 10,000 years; 400 years of the Gregorian calendar have 146,097 days.
const LONGEST = 25 * 146_097 * DAY

/**
 * Returns the seconds of an ISO 8601 duration, in upper or lower case (decisions §8).
 * It has either weeks, or days, hours, minutes and seconds. Undefined if not such a duration, or above 10,000 years.
 * Years and months are refused, because they have no fixed length.
 */
export function parseDuration(text: string): number | undefined {
  const match = DURATION.exec(text)
  if (match === null) return undefined
  const [, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = match
  const total =
    Number(weeks) * WEEK + Number(days) * DAY + Number(hours) * HOUR + Number(minutes) * MINUTE + Number(seconds)
  return total <= LONGEST ? total : undefined
}
