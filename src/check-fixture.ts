import { quote } from './core/errors.js'
import type { Instant } from './core/time.js'
import { wholeSecond } from './core/time.js'
import { check, warmUp } from './http/validation.js'
import type { Sandbox } from './sandbox.js'
import { SeedRecords } from './seed.js'
import { createWorld } from './world.js'

/**
 * Holds a fixture against the schemas of seeding, and seeds a throw-away world with it.
 * @throws SandboxError that names the record and what is wrong with it, or the error of a wrong relative date
 */
export async function checkFixture(sandbox: Sandbox, name: string, now: Instant): Promise<void> {
  const start = wholeSecond(now)
  const records = sandbox.fixtureRecords(name, start)
  const unknown = Object.keys(records).find(kind => !(kind in SeedRecords.properties))
  if (unknown !== undefined) {
    throw new Error(
      `there is no kind of record ${quote(unknown)}. Known: ${Object.keys(SeedRecords.properties).join(', ')}.`,
    )
  }
  await warmUp()
  check(SeedRecords, records, 'INVALID_FIELD')
  createWorld({
    seed: sandbox.seed,
    clientId: name,
    clock: { now: start, mode: 'frozen', rate: 1, realNow: start },
    settings: { mandateActivation: 'automatic', deprecationStyle: 'seed', allowedOrigins: [] },
    publicUrl: () => '',
  }).seed(records)
}
