import type { AddressInfo } from 'node:net'
import { assemble } from '../assemble.js'
import type { Config, ConfigError } from '../config.js'
import { readConfig } from '../config.js'
import type { Fixtures } from '../fixtures.js'
import { loadFixtures } from '../fixtures.js'
import { OWN_FIXTURES } from '../package.js'
import type { Sandbox as Tenants } from '../sandbox.js'
import type { SandboxOptions } from './types.js'

/** The client that a server is started for. */
export interface Owner {
  readonly clientId: string
  readonly clientSecret: string
}

/** A server in this process. */
export interface Server {
  readonly url: string
  /** Ends it, with all that is in flight. */
  close(): Promise<void>
}

/** Whoever closes a sandbox is done with it: what is in flight is answered at once, or cut off after so long. */
const GRACE_MS = 500

/** Fixed, so that a test that fails once fails again: its ids, tokens and chances are the same on every run. */
const SEED = 'payments-sandbox'

/** Options that are settings of the process, too, by the names of their variables: the same rules hold for both. */
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
 * Starts a server in this process: silent, and leaving signals to whoever runs it.
 * @throws TypeError (an option that is not allowed), or the error of a port that cannot be listened on
 */
export async function startServer(options: SandboxOptions, { clientId, clientSecret }: Owner): Promise<Server> {
  const config = readOptions(options)
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(clientId)) {
    throw wrong('clientId', clientId, 'give 1 to 64 letters, digits, dots, underscores or hyphens.')
  }
  if (clientSecret === '') throw wrong('clientSecret', clientSecret, 'give a text that is not empty.')
  const fixtures = readFixtures(config)
  const { fixture = 'empty' } = options
  if (!fixtures.has(fixture)) throw wrong('fixture', fixture, `known are ${[...fixtures.keys()].join(', ')}.`)

  let url = ''
  const { app, sandbox } = assemble({
    ...config,
    fixtures,
    clients: [{ clientId, clientSecret, fixture }],
    journal: { entries: config.journalEntries, bytes: config.journalBytes },
    publicUrl: () => url,
  })
  await checkFixtures(config, sandbox)

  await app.listen({ host: '127.0.0.1', port: config.port })
  url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  return {
    url,
    async close() {
      const impatience = setTimeout(() => app.server.closeAllConnections(), GRACE_MS)
      await app.close()
      clearTimeout(impatience)
    },
  }
}

const wrong = (option: string, value: unknown, right: string) =>
  new TypeError(`createSandbox: ${option}=${JSON.stringify(value)} is not allowed: ${right}`)

const OPTIONS: ReadonlySet<string> = new Set([
  ...Object.keys(VARIABLES),
  ...['clientId', 'clientSecret', 'fixture', 'settings', 'bounds'],
])

function readOptions({ bounds, ...options }: SandboxOptions): Config {
  const unknown = [...Object.keys(options), ...Object.keys(bounds ?? {})].find(name => !OPTIONS.has(name))
  if (unknown !== undefined) throw new TypeError(`createSandbox: there is no option ${JSON.stringify(unknown)}.`)
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

/** The package's own, read once, and those of the folder. */
function readFixtures({ fixtures: folder }: Config): Fixtures {
  ownFixtures ??= loadFixtures(OWN_FIXTURES)
  if (folder === undefined) return ownFixtures
  try {
    return new Map([...ownFixtures, ...loadFixtures(folder)])
  } catch (error) {
    throw wrong('fixtures', folder, (error as Error).message)
  }
}

/** Tells of a wrong fixture now, rather than when a test first needs it. */
async function checkFixtures({ fixtures: folder, frozenAt }: Config, sandbox: Tenants): Promise<void> {
  if (folder === undefined) return
  const { checkFixture } = await import('../check-fixture.js')
  for (const name of sandbox.fixtures.keys()) {
    try {
      await checkFixture(sandbox, name, frozenAt ?? Date.now())
    } catch (error) {
      const { field } = error as { field?: string | null }
      throw wrong('fixtures', folder, `${name}.json: ${field ? `${field}: ` : ''}${(error as Error).message}`)
    }
  }
}
