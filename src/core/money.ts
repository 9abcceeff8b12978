/** An amount in minor units, a safe integer: EUR, USD, GBP and INR all have two decimals (ISO 4217). */
export type Cents = number

const AMOUNT = /^(?:0|[1-9]\d{0,8})(?:\.\d{1,2})?$/

/**
 * The cents of an amount as the interface writes it, `^(0|[1-9]\d{0,8})(\.\d{1,2})?$`: `4.35` is 435, `4.3` is 430, `7`
 * is 700. Callers have validated the text before: anything else is a programming error and throws RangeError.
 */
export function parseAmount(text: string): Cents {
  if (!AMOUNT.test(text)) throw new RangeError('not an amount')
  // Below 10^11 cents, a binary double is a ten-thousandth of a cent off at most.
  return Math.round(Number(text) * 100)
}

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/

/**
 * Whether `text` is a number as JSON writes one (RFC 8259 §6), leading zeros tolerated, exponents of up to three
 * digits.
 */
export function isDecimal(text: string): boolean {
  return DECIMAL.test(text)
}

/**
 * The smallest whole number of cents that is not below a decimal (`isDecimal`): as a minimum, `10.005` means 1001
 * (decisions §5). Exact at any length, because the digits decide and no binary double. Clamped to
 * ±Number.MAX_SAFE_INTEGER. Throws RangeError where `text` is no decimal.
 */
export function centsAtLeast(text: string): Cents {
  return wholeCents(text, false)
}

/**
 * The largest whole number of cents not above a decimal: as a maximum, `10.005` means 1000. Else like `centsAtLeast`.
 */
export function centsAtMost(text: string): Cents {
  return wholeCents(text, true)
}

function wholeCents(text: string, roundDown: boolean): Cents {
  const match = DECIMAL.exec(text)
  if (match === null) throw new RangeError('not a decimal')
  const [, sign, units = '', fraction = '', exponent = '0'] = match
  const digits = units + fraction
  // Where the decimal point of the number of cents stands in `digits`; it may lie outside of them, on either side.
  const point = units.length + Number(exponent) + 2
  const whole = Number(digits.slice(0, Math.max(point, 0)).padEnd(point, '0'))
  const isWhole = !/[1-9]/.test(digits.slice(Math.max(point, 0)))
  const negative = sign === '-'
  const away = isWhole || negative !== roundDown ? 0 : 1
  // Beyond 2^53 `whole` is inexact, or Infinity, but never below the clamp.
  const size = Math.min(whole + away, Number.MAX_SAFE_INTEGER)
  return negative ? 0 - size : size
}
