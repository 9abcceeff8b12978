import { Type } from '@sinclair/typebox'
import { Name } from '../core/domain/schemas.js'
import { quote } from '../core/errors.js'
import { DEFAULT_ALLOWED_ORIGINS } from '../core/origins.js'
import type { Instant } from '../core/time/time.js'
import { wholeSecond } from '../core/time/time.js'
import { check } from '../http/compilers.js'
import { SeedRecords } from '../sandbox/state/schemas.js'
import { withOriginsOf } from './fixtures.js'
import type { TenantRegistry } from './registry.js'
import { createTenant } from './tenant.js'

/** The member of a fixture that is no list of records. */
const Sender = Type.Object({ senderName: Type.Optional(Name) })

/** Validates all fixtures. Throws an Error whose message names the file, the record and the fault. */
export function checkFixtures(registry: TenantRegistry, now: Instant): void {
  for (const name of registry.fixtures.keys()) {
    try {
      checkFixture(registry, name, now)
    } catch (error) {
      const { field, message } = error as { field?: string | null; message: string }
      throw new Error(`${name}.json: ${field ? `${field}: ` : ''}${message}`)
    }
  }
}

/**
 * Validates a fixture by the schemas of seeding, and seeds a temporary tenant with it.
 * Throws ApiError that names the record and its fault, or the error of a wrong relative date.
 */
function checkFixture(registry: TenantRegistry, name: string, now: Instant): void {
  const start = wholeSecond(now)
  const records = registry.fixtureRecords(name, start)
  const unknown = Object.keys(records).find(kind => !Object.hasOwn(SeedRecords.properties, kind))
  if (unknown !== undefined) {
    const known = Object.keys(SeedRecords.properties).join(', ')
    throw new Error(`there is no kind of record ${quote(unknown)}. Known: ${known}.`)
  }
  check(SeedRecords, records, 'INVALID_FIELD')
  check(Sender, { ...registry.fixtures.get(name) }, 'INVALID_FIELD')
  createTenant({
    seed: registry.seed,
    client: {
      clientId: name,
      resets: 0,
      fixture: name,
      scope: '',
      tokenLifetime: 1,
      tokenClient: { secretDigest: '', resets: 0, tokenGenerationOffset: 0 },
    },
    clock: { now: start, mode: 'frozen', rate: 1, realNow: start },
    maxRecords: registry.maxRecords,
    settings: { allowedOrigins: withOriginsOf(records, DEFAULT_ALLOWED_ORIGINS) },
  }).seed(records)
}
