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
