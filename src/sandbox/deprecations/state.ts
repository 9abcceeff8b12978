import type { Static } from '@sinclair/typebox'
import { errors, quote } from '../../core/errors.js'
import type { TenantContext } from '../../core/tenant-context.js'
import { formatInstant, parseInstant } from '../../core/time/time.js'
import type { Operation } from '../../http/operations.js'
import type * as schemas from './schemas.js'

/** The deprecation of an operation, set by the control plane. */
export type Deprecation = Static<typeof schemas.Deprecation>

export type Deprecations = ReturnType<typeof createDeprecations>

/**
 * Creates the deprecated operations of one tenant.
 * @param earlier the deprecations of a restored state
 * @throws INVALID_FIELD, MISSING_FIELD (an invalid deprecation among them)
 */
export function createDeprecations({ clock }: Pick<TenantContext, 'clock'>, earlier: readonly Deprecation[] = []) {
  let byOperation = collect(earlier, 'deprecations')

  const isReached = (moment: string) => clock.now() >= instantOf(moment)

  return {
    list: (): readonly Deprecation[] => [...byOperation.values()],
    /** Replaces all deprecations by those that `list` returned earlier, without checks. */
    restore(deprecations: readonly Deprecation[]): void {
      byOperation = new Map(deprecations.map(deprecation => [deprecation.operation, deprecation]))
    },
    /** Whether there are none. */
    isEmpty: (): boolean => byOperation.size === 0,
    /** Replaces all deprecations. @throws INVALID_FIELD, MISSING_FIELD */
    replace(requests: readonly Static<typeof schemas.DeprecationRequest>[], operations: readonly Operation[]): void {
      const now = formatInstant(clock.now())
      const complete = requests.map(({ operation, deprecatedSince = now, sunset, goneAfterSunset = false }, at) => {
        if (!operations.some(known => known.operation === operation)) {
          const known = operations.map(known => known.operation).join(', ')
          throw errors.invalid(`data.${at}.operation`, `There is no operation ${quote(operation)}. Known: ${known}.`)
        }
        return { operation, deprecatedSince, ...(sunset !== undefined && { sunset }), goneAfterSunset }
      })
      byOperation = collect(complete, 'data')
    },
    /** Returns the headers `Deprecation` and `Sunset` of an operation, or null if it is not deprecated. */
    headersOf(operation: string | undefined, style: 'seed' | 'rfc'): Record<string, string> | null {
      const deprecation = byOperation.get(operation ?? '')
      if (deprecation === undefined) return null
      const { deprecatedSince, sunset } = deprecation
      if (style === 'rfc') {
        return {
          deprecation: `@${instantOf(deprecatedSince) / 1000}`,
          ...(sunset !== undefined && { sunset: new Date(instantOf(sunset)).toUTCString() }),
        }
      }
      return {
        ...(isReached(deprecatedSince) && { deprecation: 'true' }),
        ...(sunset !== undefined && { sunset }),
      }
    },
    /** Refuses an operation that is gone. @throws OPERATION_SUNSET */
    assertNotSunset(name: string | undefined): void {
      const { operation = '', sunset, goneAfterSunset = false } = byOperation.get(name ?? '') ?? {}
      if (sunset !== undefined && goneAfterSunset && isReached(sunset)) throw errors.operationSunset(operation, sunset)
    },
  }
}

/** Checks deprecations and indexes them by operation. @throws INVALID_FIELD, MISSING_FIELD */
function collect(deprecations: readonly Deprecation[], path: string): Map<string, Deprecation> {
  const byOperation = new Map<string, Deprecation>()
  for (const [at, deprecation] of deprecations.entries()) {
    const { operation, deprecatedSince, sunset, goneAfterSunset } = deprecation
    const field = `${path}.${at}`
    if (byOperation.has(operation)) throw errors.invalid(`${field}.operation`, `${quote(operation)} is given twice.`)
    if (sunset === undefined && goneAfterSunset) {
      throw errors.missing(`${field}.sunset`, 'sunset is required with goneAfterSunset.')
    }
    // RFC 9745 §4. Instants compare as text.
    if (sunset !== undefined && sunset < deprecatedSince) {
      throw errors.invalid(`${field}.sunset`, `sunset must not be before deprecatedSince, which is ${deprecatedSince}.`)
    }
    byOperation.set(operation, deprecation)
  }
  return byOperation
}

const instantOf = (moment: string) => parseInstant(moment) ?? Number.NaN
