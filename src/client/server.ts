import { boot } from '../boot.js'
import type { Config } from '../config.js'
import { ConfigError, readConfig } from '../config.js'
import { assertOptions } from './options.js'
import type { SandboxOptions } from './types.js'

/** The client of the app. */
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
  fixture: 'SANDBOX_FIXTURE',
  fixtures: 'SANDBOX_FIXTURES',
  tokenLifetime: 'SANDBOX_TOKEN_TTL',
  port: 'PORT',
  adminToken: 'SANDBOX_ADMIN_TOKEN',
  requestLogEntries: 'SANDBOX_REQUEST_LOG_ENTRIES',
  requestLogBytes: 'SANDBOX_REQUEST_LOG_BYTES',
  journalEntries: 'SANDBOX_JOURNAL_ENTRIES',
  journalBytes: 'SANDBOX_JOURNAL_BYTES',
  maxTenants: 'SANDBOX_MAX_TENANTS',
  maxRecords: 'SANDBOX_MAX_RECORDS',
} as const

/**
 * Starts a server in this process without log output and signal handlers.
 * @throws TypeError for an invalid option, or the error of a port that is not available
 */
export async function startServer(options: SandboxOptions, owner: Owner): Promise<Server> {
  const { app, listen, close } = await createServer(options, owner).catch(error => {
    throw error instanceof ConfigError ? toTypeError(error) : error
  })
  // A forgotten `close()` must not keep the process alive. A client that waits for an answer does.
  app.server.on('connection', socket => socket.unref())
  const url = await listen()
  app.server.unref()
  return { url, close }
}

async function createServer(options: SandboxOptions, client: Owner) {
  const config = readOptions(options)
  const { clientId, clientSecret } = client
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(clientId)) {
    throw optionError('clientId', clientId, 'give 1 to 64 letters, digits, dots, underscores or hyphens.')
  }
  if (clientSecret === '') throw optionError('clientSecret', clientSecret, 'give a string that is not empty.')
  return boot({ ...config, fixture: options.fixture ?? 'empty' }, { client, graceMs: GRACE_MS })
}

const optionError = (option: string, value: unknown, allowed: string) =>
  new TypeError(`createSandbox: ${option}=${JSON.stringify(value)} is not allowed: ${allowed}`)

/** Names the option instead of its variable. */
function toTypeError({ message }: ConfigError): TypeError {
  const [variable] = /^[A-Z_]+/.exec(message) as RegExpExecArray
  const option = Object.entries(VARIABLES).find(entry => entry[1] === variable)?.[0]
  return new TypeError(`createSandbox: ${option}${message.slice(variable.length)}`)
}

const OPTIONS = { ...VARIABLES, clientId: true, clientSecret: true, settings: true, bounds: true }

/** @throws TypeError (unknown option), ConfigError */
function readOptions(sandboxOptions: SandboxOptions): Config {
  assertOptions('createSandbox', sandboxOptions, OPTIONS)
  const { bounds, ...options } = sandboxOptions
  assertOptions('createSandbox', bounds, VARIABLES)
  const given: Record<string, unknown> = { ...options, ...bounds, seed: options.seed || SEED, port: options.port ?? 0 }
  const environment = Object.entries(VARIABLES).map(([option, variable]) => [variable, given[option]?.toString()])
  return readConfig(Object.fromEntries(environment))
}
