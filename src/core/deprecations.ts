import type { Engine } from './engine.js'
import { errors, quote } from './errors.js'
import type { Operation } from './operations.js'
import { formatInstant, parseInstant } from './time.js'

/** Whether the headers look as the service documents them, or as the standards have them (decisions §11). */
export type DeprecationStyle = 'seed' | 'rfc'

/** That an operation is deprecated, as the control plane sets it. Moments are YYYY-MM-DDThh:mm:ssZ. */
export interface Deprecation {
  /** Such as `GET /api/v1/direct-debit`. */
  readonly operation: string
  readonly deprecatedSince: string
  readonly sunset?: string
  /** Whether the operation answers 410 from its sunset on. */
  readonly goneAfterSunset: boolean
}

export type DeprecationRequest = Pick<Deprecation, 'operation'> & Partial<Deprecation>

/** The deprecated operations of one tenant. */
export interface Deprecations {
  list(): readonly Deprecation[]
  /** Whether there are any. */
  readonly areAny: boolean
  /** Puts these in place of all. @throws INVALID_FIELD, MISSING_FIELD */
  replace(requests: readonly DeprecationRequest[], operations: readonly Operation[]): void
  /** The headers `Deprecation` and `Sunset` of an answer of an operation; null: it is not deprecated. */
  headersOf(operation: string, style: DeprecationStyle): Record<string, string> | null
  /** @throws OPERATION_SUNSET */
  refuseGone(operation: string): void
}

/** @param earlier the deprecations of an earlier life */
export function createDeprecations(
  { clock }: Pick<Engine, 'clock'>,
  earlier: readonly Deprecation[] = [],
): Deprecations {
  let byOperation = new Map(earlier.map(deprecation => [deprecation.operation, deprecation]))

  const isPast = (moment: string) => clock.now() >= instantOf(moment)

  return {
    list: () => [...byOperation.values()],
    get areAny() {
      return byOperation.size > 0
    },
    replace(requests, operations) {
      const replaced = new Map<string, Deprecation>()
      for (const [at, request] of requests.entries()) {
        const { operation, deprecatedSince = formatInstant(clock.now()), sunset, goneAfterSunset = false } = request
        const path = `data.${at}`
        if (!operations.some(known => known.operation === operation)) {
          const known = operations.map(known => known.operation).join(', ')
          throw errors.invalid(`${path}.operation`, `There is no operation ${quote(operation)}. Known: ${known}.`)
        }
        if (replaced.has(operation)) throw errors.invalid(`${path}.operation`, `${operation} is given twice.`)
        if (sunset === undefined && goneAfterSunset) {
          throw errors.missing(`${path}.sunset`, 'sunset is required with goneAfterSunset.')
        }
        // RFC 9745 §4.
        if (sunset !== undefined && sunset < deprecatedSince) {
          throw errors.invalid(
            `${path}.sunset`,
            `sunset must not be before deprecatedSince, which is ${deprecatedSince}.`,
          )
        }
        replaced.set(operation, {
          operation,
          deprecatedSince,
          ...(sunset !== undefined && { sunset }),
          goneAfterSunset,
        })
      }
      byOperation = replaced
    },
    headersOf(operation, style) {
      const deprecation = byOperation.get(operation)
      if (deprecation === undefined) return null
      const { deprecatedSince, sunset } = deprecation
      if (style === 'rfc') {
        return {
          deprecation: `@${instantOf(deprecatedSince) / 1000}`,
          ...(sunset !== undefined && { sunset: new Date(instantOf(sunset)).toUTCString() }),
        }
      }
      return {
        ...(isPast(deprecatedSince) && { deprecation: 'true' }),
        ...(sunset !== undefined && { sunset }),
      }
    },
    refuseGone(operation) {
      const { sunset, goneAfterSunset = false } = byOperation.get(operation) ?? {}
      if (goneAfterSunset && isPast(sunset as string)) throw errors.operationSunset(operation, sunset as string)
    },
  }
}

const instantOf = (moment: string) => parseInstant(moment) as number
