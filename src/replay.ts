import { fixturesOf, scenariosOf } from './boot.js'
import type { Config } from './config.js'
import { ConfigError } from './config.js'
import { ReplayError, replayFile } from './features/recording/replay-file.js'
import { buildServer } from './server.js'
import { serve } from './start.js'

/**
 * Replays a recording (`payments-sandbox replay FILE [--until N]`). Returns the exit code, 1 if an answer differs.
 * With `until`, serves the tenant as it was before that request. The first token request sets its secret.
 * Throws ConfigError.
 */
export async function replay(
  config: Config,
  file: string,
  until: string | undefined,
  print: (line: string) => void,
): Promise<number> {
  const fixtures = fixturesOf(config)
  const scenarios = await scenariosOf(config)
  const result = await replayFile({ file, until, fixtures, scenarios, buildServer, print }).catch(error => {
    throw error instanceof ReplayError ? new ConfigError(error.message) : error
  })
  if (typeof result === 'string') return result === 'differs' ? 1 : 0

  const { recording, identity, snapshot, publicUrl } = result
  const { seed, tokenLifetime } = recording
  const served: Config = {
    ...config,
    seed,
    tokenLifetime,
    publicUrl: config.publicUrl ?? publicUrl,
    // The replayed tenant is not kept.
    data: undefined,
    databaseUrl: undefined,
    maxTenants: Math.max(config.maxTenants, config.clients.length + 2),
  }
  await serve(served, registry => void registry.adopt(identity, snapshot, Date.now()))
  return 0
}
