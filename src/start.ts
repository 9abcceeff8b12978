import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import closeWithGrace from 'close-with-grace'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Config } from './config.js'
import { ConfigError } from './config.js'
import { quote } from './core/errors.js'
import type { Log } from './log.js'
import { createLog } from './log.js'
import { NAME, OWN_FIXTURES } from './package.js'
import { buildServer } from './server.js'
import { checkFixtures } from './tenants/check-fixture.js'
import type { Fixtures } from './tenants/fixtures.js'
import { loadFixtures } from './tenants/fixtures.js'
import type { TenantRegistry } from './tenants/registry.js'
import { DEMO_CLIENT } from './tenants/registry.js'
import type { Database } from './turns/database.js'
import { DatabaseError } from './turns/database.js'
import { openPostgres } from './turns/postgres.js'
import { openSqlite } from './turns/sqlite.js'

const SIGNALS = ['SIGTERM', 'SIGINT'] as const
/** Time for open requests to finish. Then their connections are closed. */
const GRACE_MS = 3000
/** Time until the process exits with code 1 although the server is still open. */
const CLOSE_TIMEOUT_MS = 4500

/** A server with its tenants. */
export interface Server {
  readonly app: FastifyInstance
  /** Listens on HOST and PORT. Resolves to the URL of the server. */
  listen(): Promise<string>
  /** Finishes open requests within the grace period and releases all resources. */
  close(): Promise<void>
}

/**
 * Starts a server that closes on SIGTERM and SIGINT.
 * @param prepare changes the tenants before the first request
 * @throws ConfigError, or the error of a port that is not available
 */
export async function serve(config: Config, prepare?: (registry: TenantRegistry) => void): Promise<void> {
  const log = await createLog(config)
  const server = await createServer(config, log.logger, prepare)
  closeOnSignal(server, log)
  await server.listen()
}

/**
 * Creates a server with its tenants, which are in a database if one is configured.
 * @param prepare changes the tenants before the first request
 * @throws ConfigError
 */
export async function createServer(
  config: Config,
  logger: Logger,
  prepare?: (registry: TenantRegistry) => void,
): Promise<Server> {
  const fixtures = readFixtures(config)
  let url: string | undefined
  const publicUrl = () => {
    url ??= config.publicUrl ?? urlOf(config.host, app)
    return url
  }
  const database = await openDatabase(config, logger)
  const { app, registry }: ReturnType<typeof buildServer> = buildServer({
    ...config,
    clients: clientsOf(config),
    database,
    fixtures,
    requestLog: { entries: config.journalEntries, bytes: config.journalBytes },
    logger,
    publicUrl,
    dropped: clientId =>
      logger.warn({ clientId }, 'dropped the tenant to make room for another: see SANDBOX_MAX_TENANTS'),
  })
  try {
    if (config.fixtures !== undefined) assertFixtures(config, registry)
    prepare?.(registry)
  } catch (error) {
    await database?.close()
    throw error
  }

  return {
    app,
    async listen() {
      try {
        await app.listen({ host: config.host, port: config.port })
      } catch (error) {
        await database?.close()
        throw error
      }
      // Reads the address while the server has one. Requests that finish during close still need it.
      publicUrl()
      const ownUrl = urlOf(config.host, app)
      logger.info(
        { url: ownUrl, clientId: DEMO_CLIENT.clientId, seed: registry.seed },
        `${NAME} is ready: open ${ownUrl}/docs`,
      )
      return ownUrl
    },
    async close() {
      const timer = setTimeout(() => app.server.closeAllConnections(), GRACE_MS)
      await app.close()
      clearTimeout(timer)
      await database?.close()
    },
  }
}

/**
 * Closes the server on the first SIGTERM or SIGINT and ignores further signals.
 *
 * close-with-grace handles unexpected errors here. It does not handle the signals, because its second signal
 * exits at once: a terminal and npm both send SIGINT, and open requests must finish.
 */
function closeOnSignal(server: Server, { logger, flush }: Log): void {
  const options = { delay: CLOSE_TIMEOUT_MS, logger, skip: ['beforeExit' as const, ...SIGNALS] }
  let reason: string | undefined
  const { close } = closeWithGrace(options, async ({ err }) => {
    reason ??= 'error'
    if (err !== undefined) logger.fatal({ err }, 'unexpected error: closing')
    else logger.info({ signal: reason }, 'closing')
    await server.close()
    await flush(message => process.stderr.write(`${NAME}: ${message}\n`))
  })
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      if (reason !== undefined) return
      reason = signal
      close()
    })
  }
}

/** Opens the database of the tenants; undefined: none is configured. Throws ConfigError. */
async function openDatabase(config: Config, logger: Logger): Promise<Database | undefined> {
  const { data, databaseUrl, seed, isSeedGiven } = config
  try {
    if (databaseUrl !== undefined) return await openPostgres(databaseUrl, { seed, logger })
    return data === undefined ? undefined : await openSqlite(data, { seed, isSeedGiven })
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error
    const setting = data === undefined ? 'SANDBOX_DATABASE_URL' : `SANDBOX_DATA=${JSON.stringify(data)}`
    const advice = data === undefined ? '' : adviceOn(error, data)
    throw new ConfigError(`${setting} is not allowed: ${error.message}${advice}`)
  }
}

/** Returns advice on a folder of another owner, such as a mounted folder in a container. */
function adviceOn(error: unknown, path: string): string {
  const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException
  const ids = `${process.getuid?.()}:${process.getgid?.()}`
  const isForbidden = code === 'EACCES' || code === 'EPERM'
  return isForbidden ? `. The server runs as user ${ids}. Run as root: chown -R ${ids} ${resolve(path)}` : ''
}

/** Returns the URL of a listening server. A wildcard address becomes `localhost`. */
function urlOf(host: string, app: FastifyInstance): string {
  const { port } = app.server.address() as AddressInfo
  if (host === '0.0.0.0' || host === '::') return `http://localhost:${port}`
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Loads the fixtures of the package and of SANDBOX_FIXTURES. @throws ConfigError */
function readFixtures({ fixture: first, fixtures: folder, clients }: Config): Fixtures {
  const fixtures = loadAllFixtures(folder)
  if (!fixtures.has(first)) {
    const names = [...fixtures.keys()].join(', ')
    throw new ConfigError(`SANDBOX_FIXTURE=${quote(first)} is not allowed: give one of ${names}.`)
  }
  for (const { clientId, fixture = 'empty' } of clients) {
    if (fixtures.has(fixture)) continue
    const names = [...fixtures.keys()].join(', ')
    throw new ConfigError(
      `SANDBOX_CLIENTS: client ${JSON.stringify(clientId)} has an unknown fixture ${JSON.stringify(fixture)}. Known: ${names}.`,
    )
  }
  return fixtures
}

/** Returns the listed clients. An entry for the demo client replaces its fixture. */
const clientsOf = ({ fixture, clients }: Config) => [{ ...DEMO_CLIENT, fixture }, ...clients]

function loadAllFixtures(folder: string | undefined): Fixtures {
  if (folder === undefined) return loadFixtures(OWN_FIXTURES)
  try {
    return loadFixtures(OWN_FIXTURES, folder)
  } catch (error) {
    throw fixtureError(folder, (error as Error).message)
  }
}

/** Checks all fixtures at the start. @throws ConfigError */
function assertFixtures({ fixtures: folder = '', frozenAt }: Config, registry: TenantRegistry): void {
  try {
    checkFixtures(registry, frozenAt ?? Date.now())
  } catch (error) {
    throw fixtureError(folder, (error as Error).message)
  }
}

const fixtureError = (folder: string, reason: string) =>
  new ConfigError(`SANDBOX_FIXTURES=${JSON.stringify(folder)} is not allowed: ${reason.replace(/\s+/g, ' ')}`)
