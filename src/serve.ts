import type { AddressInfo } from 'node:net'
import closeWithGrace from 'close-with-grace'
import type { FastifyInstance } from 'fastify'
import pino from 'pino'
import { assemble } from './assemble.js'
import type { Config } from './config.js'
import { ConfigError } from './config.js'
import { SandboxError } from './core/errors.js'
import type { Fixtures } from './fixtures.js'
import { loadFixtures } from './fixtures.js'
import { warmUp } from './http/validation.js'
import { OWN_FIXTURES } from './package.js'
import type { Sandbox } from './sandbox.js'
import { DEMO_CLIENT } from './sandbox.js'

/** Each finishes what is in flight, and ends the process with 0 within 5 s (control plane, Settings). */
const SIGNALS = ['SIGTERM', 'SIGINT'] as const
/** What is in flight may take so long to finish. */
const GRACE_MS = 3000
/** After so long the process ends as failed, whatever is left to do. */
const LONGEST_MS = 4500

/**
 * Serves until SIGTERM or SIGINT.
 * @param prepare what is done to the tenants before the first request
 * @throws ConfigError, or the error of a port that cannot be listened on
 */
export async function serve(config: Config, prepare?: (sandbox: Sandbox) => void): Promise<void> {
  const logger = await createLogger(config)
  const fixtures = readFixtures(config)
  let url: string | undefined
  // Once closing, the server has no address any more.
  const publicUrl = () => {
    url ??= config.publicUrl ?? urlOf(config.host, app)
    return url
  }
  const storage = config.data === undefined ? undefined : await openStorage(config, config.data, logger, publicUrl)
  const { journalEntries, journalBytes } = config
  const { app, sandbox }: ReturnType<typeof assemble> = assemble({
    ...config,
    ...(storage !== undefined && { seed: storage.seed, ledger: storage, watchers: [storage] }),
    fixtures,
    journal: { entries: journalEntries, bytes: journalBytes },
    logger,
    publicUrl,
    dropped: clientId =>
      logger.warn({ clientId }, 'dropped the tenant idle longest to make room: see SANDBOX_MAX_TENANTS'),
  })
  try {
    if (config.fixtures !== undefined) await validateFixtures(config, sandbox)
    await storage?.restore(sandbox, fixtures)
    prepare?.(sandbox)

    closeOnSignal(app, logger, () => storage?.close())
    // While whoever asks for readiness gets ready to send more; before that, they would only hold up the first answer.
    app.server.once('request', () => setImmediate(warmUp))
    await app.listen({ host: config.host, port: config.port })
  } catch (error) {
    storage?.close()
    throw error
  }
  logger.info(
    { url: urlOf(config.host, app), clientId: DEMO_CLIENT.clientId, seed: sandbox.seed },
    'payments-sandbox is ready',
  )
  publicUrl()
}

/** Loaded for those alone who keep their tenants. @throws ConfigError, also when restoring */
async function openStorage({ seed, isSeedGiven }: Config, path: string, logger: pino.Logger, publicUrl: () => string) {
  const [{ openDataFolder }, { createStorage }] = await Promise.all([
    import('./data-folder.js'),
    import('./storage.js'),
  ])
  async function orConfigError<T>(step: () => T | Promise<T>): Promise<T> {
    try {
      return await step()
    } catch (error) {
      throw new ConfigError(`SANDBOX_DATA=${JSON.stringify(path)} is not allowed: ${(error as Error).message}`)
    }
  }

  const warn = (message: string) => logger.error(message)
  const folder = await orConfigError(() => openDataFolder(path, { seed, isSeedGiven, warn }))
  const storage = createStorage({ folder, logger, publicUrl, now: Date.now })
  return {
    ...storage,
    seed: folder.seed,
    restore: (...all: Parameters<typeof storage.restore>) => orConfigError(() => storage.restore(...all)),
  }
}

/** Where the server is reached. People see 0.0.0.0 in no address bar. */
function urlOf(host: string, app: FastifyInstance): string {
  const { port } = app.server.address() as AddressInfo
  if (host === '0.0.0.0' || host === '::') return `http://localhost:${port}`
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

async function createLogger({ logLevel }: Config) {
  if (!process.stdout.isTTY) return pino({ level: logLevel }, standardOutput())
  const { default: pretty } = await import('pino-pretty')
  return pino({ level: logLevel }, pretty({ ignore: 'pid,hostname', translateTime: 'HH:MM:ss', sync: true }))
}

/** A log that cannot be written, be it that the disk is full, must not take the server with it. */
function standardOutput() {
  const output = pino.destination({ fd: 1, sync: true })
  output.removeAllListeners('error')
  output.on('error', () => {
    const silence = () => true
    Object.assign(output, { write: silence, flushSync: silence, end: silence, destroy: silence })
  })
  return output
}

function readFixtures({ fixtures: folder, clients }: Config): Fixtures {
  const fixtures = loadBoth(folder)
  for (const { clientId, fixture = 'empty' } of clients) {
    if (fixtures.has(fixture)) continue
    const known = [...fixtures.keys()].join(', ')
    throw new ConfigError(
      `SANDBOX_CLIENTS gives ${JSON.stringify(clientId)} the fixture ${JSON.stringify(fixture)}: known are ${known}.`,
    )
  }
  return fixtures
}

function loadBoth(folder: string | undefined): Fixtures {
  if (folder === undefined) return loadFixtures(OWN_FIXTURES)
  try {
    return loadFixtures(OWN_FIXTURES, folder)
  } catch (error) {
    throw wrongFixtures(folder, (error as Error).message)
  }
}

/** Tells of a wrong fixture at the start, rather than when a test first needs it. The package's own are tested. */
async function validateFixtures({ fixtures: folder = '', frozenAt }: Config, sandbox: Sandbox) {
  const { checkFixture } = await import('./check-fixture.js')
  for (const name of sandbox.fixtures.keys()) {
    try {
      await checkFixture(sandbox, name, frozenAt ?? Date.now())
    } catch (error) {
      const at = error instanceof SandboxError ? `${error.field}: ` : ''
      throw wrongFixtures(folder, `${name}.json: ${at}${(error as Error).message}`)
    }
  }
}

const wrongFixtures = (folder: string, reason: string) =>
  new ConfigError(`SANDBOX_FIXTURES=${JSON.stringify(folder)} is not allowed: ${reason.replace(/\s+/g, ' ')}`)

/**
 * The two signals have listeners of our own, which stay: with the last listener of a signal Node gives up the signal
 * itself, so that it kills until there is another, as it does while close-with-grace puts one in place of another. And
 * the second signal, as a terminal and npm send it, must not end what is in flight; the grace period bounds it anyway.
 */
function closeOnSignal(app: FastifyInstance, logger: pino.Logger, release: () => void) {
  let isClosing = false
  let received: string | undefined
  const options = { delay: LONGEST_MS, logger, skip: ['beforeExit' as const, ...SIGNALS] }
  const { close } = closeWithGrace(options, async ({ err, signal }) => {
    isClosing = true
    if (err !== undefined) logger.fatal({ err }, 'unforeseen failure: closing')
    else logger.info({ signal: signal ?? received }, 'closing')
    // A request that never ends must not keep the process.
    const impatience = setTimeout(() => app.server.closeAllConnections(), GRACE_MS)
    await app.close()
    clearTimeout(impatience)
    release()
  })
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      if (isClosing) return
      received = signal
      close()
    })
  }
}
