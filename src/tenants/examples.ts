import type { TSchema } from '@sinclair/typebox'
import type { Instant } from '../core/time/time.js'
import { MASK } from '../http/masking.js'
import type { ExampleValues } from '../openapi/examples.js'
import { withExamples } from '../openapi/examples.js'
import { resolveDates } from './fixtures.js'
import type { Tenant } from './tenant.js'

/** What the examples of the OpenAPI documents are made from. */
export interface ExampleFacts {
  /** The time of the tenant. */
  readonly now: Instant
  /** The number of the latest record of the tenant. */
  readonly sequence: number
  /** The real time in milliseconds. */
  readonly realNow: number
  /** The secret of the demo client, if it is the known one. */
  readonly secret?: string | undefined
}

/**
 * Makes the values of placeholders in examples:
 * - `{{number}}`: the end of a reference that is new; each record raises it
 * - `{{client}}`: the end of a client id that is new
 * - `{{secret}}`: the secret of the demo client, if it is the known one
 * - relative dates, as in fixtures
 */
export const exampleValues =
  ({ now, sequence, realNow, secret = MASK }: ExampleFacts): ExampleValues =>
  placeholder => {
    if (placeholder === '{{number}}') return String(sequence + 1).padStart(4, '0')
    if (placeholder === '{{client}}') return String(Math.floor(realNow / 1000))
    if (placeholder === '{{secret}}') return secret
    return resolveDates(placeholder, now)
  }

/**
 * Returns the first example of a schema for a tenant, with its placeholders replaced; without one, an empty object.
 * @param realNow the real time in milliseconds
 * @param skipped raises the number of a new reference
 */
export function exampleOf({ clock, meta }: Tenant, realNow: number, schema: TSchema, skipped = 0): object {
  const [example]: readonly object[] = schema.examples ?? [{}]
  const values = exampleValues({ now: clock.now(), sequence: meta().sequence + skipped, realNow })
  return JSON.parse(withExamples(JSON.stringify(example), values))
}
