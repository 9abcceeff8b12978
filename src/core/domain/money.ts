/** An amount in minor units, a safe integer: EUR, USD, GBP and INR all have two decimals (ISO 4217). */
export type Cents = number

/** All whose cents are exact. The schemas have the limits, of which a later release can have others than stored amounts. */
const AMOUNT = /^(?:0|[1-9]\d{0,12})(?:\.\d{1,2})?$/

/**
 * Returns the cents of an amount as the interface writes it: `4.35` is 435, `4.3` is 430, `7` is 700.
 * @throws RangeError if the text is not an amount, which callers have to validate before
 */
export function parseAmount(text: string): Cents {
  if (!AMOUNT.test(text)) throw new RangeError('not an amount')
  // Exact after rounding: the error of a double is far below half a cent.
  return Math.round(Number(text) * 100)
}

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/

/**
 * Whether a text is a number in JSON notation (RFC 8259 §6), with leading zeros and exponents of up to three digits.
 */
export function isDecimal(text: string): boolean {
  return DECIMAL.test(text)
}

/**
 * Returns the smallest number of whole cents not below a decimal: `10.005` becomes 1001 (decisions §5).
 * It computes with digits, so that it is exact at any length. Clamped to ±Number.MAX_SAFE_INTEGER.
 * @throws RangeError if the text is not a decimal
 */
export function centsAtLeast(text: string): Cents {
  return wholeCents(text, false)
}

/**
 * Returns the largest number of whole cents not above a decimal: `10.005` becomes 1000. Otherwise like `centsAtLeast`.
 */
export function centsAtMost(text: string): Cents {
  return wholeCents(text, true)
}

function wholeCents(text: string, roundDown: boolean): Cents {
  const match = DECIMAL.exec(text)
  if (match === null) throw new RangeError('not a decimal')
  const [, sign, units = '', fraction = '', exponent = '0'] = match
  const digits = units + fraction
  // The position of the decimal point of the cents in `digits`; it can lie outside of them.
  const point = units.length + Number(exponent) + 2
  const whole = Number(digits.slice(0, Math.max(point, 0)).padEnd(point, '0'))
  const isWhole = !/[1-9]/.test(digits.slice(Math.max(point, 0)))
  const negative = sign === '-'
  const away = isWhole || negative !== roundDown ? 0 : 1
  // Above 2^53 `whole` is inexact, but never below the clamp.
  const size = Math.min(whole + away, Number.MAX_SAFE_INTEGER)
  return negative ? 0 - size : size
}
