import type { AddressInfo } from 'node:net'
import type { Config, ConfigError } from '../config.js'
import { readConfig } from '../config.js'
import { realTimers } from '../http/timers.js'
import { OWN_FIXTURES } from '../package.js'
import { buildServer } from '../server.js'
import { checkFixtures } from '../tenants/check-fixture.js'
import type { Fixtures } from '../tenants/fixtures.js'
import { loadFixtures } from '../tenants/fixtures.js'
import type { SandboxOptions } from './types.js'

/** The client of the application. */
export interface Owner {
  readonly clientId: string
  readonly clientSecret: string
}

/** A server in this process. */
export interface Server {
  readonly url: string
  /** Closes the server and its open requests. */
  close(): Promise<void>
}

/** Time for open requests to finish. Then their connections are closed. */
const GRACE_MS = 500

/** The default seed. It is constant, so a failed test fails again. */
const SEED = 'payments-sandbox'

/** The environment variables with the same rules as the options. */
const VARIABLES = {
  seed: 'SANDBOX_SEED',
  clock: 'SANDBOX_CLOCK',
  fixtures: 'SANDBOX_FIXTURES',
  tokenLifetime: 'SANDBOX_TOKEN_TTL',
  port: 'PORT',
  adminToken: 'SANDBOX_ADMIN_TOKEN',
  journalEntries: 'SANDBOX_JOURNAL_ENTRIES',
  journalBytes: 'SANDBOX_JOURNAL_BYTES',
  recordingBytes: 'SANDBOX_RECORDING_BYTES',
  maxTenants: 'SANDBOX_MAX_TENANTS',
} as const

/**
 * Starts a server in this process without log output and signal handlers.
 * @throws TypeError for an invalid option, or the error of a port that is not available
 */
export async function startServer(options: SandboxOptions, { clientId, clientSecret }: Owner): Promise<Server> {
  const config = readOptions(options)
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(clientId)) {
    throw optionError('clientId', clientId, 'give 1 to 64 letters, digits, dots, underscores or hyphens.')
  }
  if (clientSecret === '') throw optionError('clientSecret', clientSecret, 'give a string that is not empty.')
  const fixtures = readFixtures(config)
  const { fixture = 'empty' } = options
  if (!fixtures.has(fixture)) throw optionError('fixture', fixture, `known are ${[...fixtures.keys()].join(', ')}.`)

  let url = ''
  const { app, registry } = buildServer({
    ...config,
    fixtures,
    clients: [{ clientId, clientSecret, fixture }],
    requestLog: { entries: config.journalEntries, bytes: config.journalBytes },
    publicUrl: () => url,
  })
  if (config.fixtures !== undefined) {
    try {
      checkFixtures(registry, config.frozenAt ?? Date.now())
    } catch (error) {
      throw optionError('fixtures', config.fixtures, (error as Error).message)
    }
  }

  // A forgotten `close()` must not keep the process alive. A client that waits for an answer does.
  app.server.on('connection', socket => socket.unref())
  await app.listen({ host: '127.0.0.1', port: config.port })
  app.server.unref()
  url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  return {
    url,
    async close() {
      const timer = realTimers.setTimeout(() => app.server.closeAllConnections(), GRACE_MS)
      await app.close()
      realTimers.clearTimeout(timer)
    },
  }
}

const optionError = (option: string, value: unknown, allowed: string) =>
  new TypeError(`createSandbox: ${option}=${JSON.stringify(value)} is not allowed: ${allowed}`)

const OPTIONS: ReadonlySet<string> = new Set([
  ...Object.keys(VARIABLES),
  ...['clientId', 'clientSecret', 'fixture', 'settings', 'bounds'],
])

function readOptions({ bounds, ...options }: SandboxOptions): Config {
  const unknown = [...Object.keys(options), ...Object.keys(bounds ?? {})].find(name => !OPTIONS.has(name))
  if (unknown !== undefined) throw new TypeError(`createSandbox: unknown option ${JSON.stringify(unknown)}.`)
  const given: Record<string, unknown> = { ...options, ...bounds, seed: options.seed || SEED, port: options.port ?? 0 }
  const environment = Object.entries(VARIABLES).map(([option, variable]) => [variable, given[option]?.toString()])
  try {
    return readConfig(Object.fromEntries(environment))
  } catch (error) {
    const { message } = error as ConfigError
    const [variable] = /^[A-Z_]+/.exec(message) as RegExpExecArray
    const option = Object.entries(VARIABLES).find(entry => entry[1] === variable)?.[0]
    throw new TypeError(`createSandbox: ${option}${message.slice(variable?.length)}`)
  }
}

let ownFixtures: Fixtures | undefined

/** Returns the fixtures of the package, which are read once, and of a folder. */
function readFixtures({ fixtures: folder }: Config): Fixtures {
  ownFixtures ??= loadFixtures(OWN_FIXTURES)
  if (folder === undefined) return ownFixtures
  try {
    return new Map([...ownFixtures, ...loadFixtures(folder)])
  } catch (error) {
    throw optionError('fixtures', folder, (error as Error).message)
  }
}
