import { quote } from './core/errors.js'
import type { Instant } from './core/time.js'
import { warmUp } from './http/validation.js'
import type { Sandbox } from './sandbox.js'
import { SeedRecords } from './seed.js'
import { createWorld } from './world.js'

/**
 * Holds a fixture against the schemas of seeding, and seeds a throw-away world with it.
 * @throws Error that names the record and what is wrong with it
 */
export async function checkFixture(sandbox: Sandbox, name: string, now: Instant): Promise<void> {
  const start = Math.floor(now / 1000) * 1000
  const records = sandbox.fixtureRecords(name, start)
  const isValid = (await warmUp()).compileValidator(SeedRecords)
  if (!isValid(records)) {
    const [failure] = isValid.errors ?? []
    const path = failure?.instancePath.slice(1).replaceAll('/', '.')
    throw new Error(`${path} ${failure?.parentSchema?.['x-expected'] ?? failure?.message}, not ${quote(failure?.data)}`)
  }
  createWorld({
    seed: sandbox.seed,
    clientId: name,
    clock: { now: start, mode: 'frozen', rate: 1, realNow: start },
    settings: { mandateActivation: 'automatic', allowedOrigins: [] },
    publicUrl: () => '',
  }).seed(records)
}
