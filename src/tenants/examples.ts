import type { Instant } from '../core/time/time.js'
import type { ExampleValues } from '../openapi/examples.js'
import { resolveDates } from './fixtures.js'

/** What the examples of the OpenAPI documents are made from. */
export interface ExampleFacts {
  /** The time of the tenant. */
  readonly now: Instant
  /** The number of the latest record of the tenant. */
  readonly sequence: number
  /** The real time in milliseconds. */
  readonly realNow: number
}

/**
 * Makes the values of placeholders in examples:
 * - `{{number}}`: the end of a reference that is new; each record raises it
 * - `{{client}}`: the end of a client id that is new
 * - relative dates, as in fixtures
 */
export const exampleValues =
  ({ now, sequence, realNow }: ExampleFacts): ExampleValues =>
  placeholder => {
    if (placeholder === '{{number}}') return String(sequence + 1).padStart(4, '0')
    if (placeholder === '{{client}}') return String(Math.floor(realNow / 1000))
    return resolveDates(placeholder, now)
  }
