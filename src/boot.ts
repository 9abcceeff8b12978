import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Config } from './config.js'
import { ConfigError } from './config.js'
import { quote } from './core/errors.js'
import { CONSOLE } from './http/routing.js'
import { realTimers } from './http/timers.js'
import { NAME, OWN_FIXTURES, VERSION } from './package.js'
import type { Scenarios } from './sandbox/scenarios/files.js'
import { createScenarios, hasScenarios } from './sandbox/scenarios/files.js'
import { buildServer } from './server.js'
import type { Database } from './storage/storage.js'
import { checkFixtures } from './tenants/check-fixture.js'
import type { Fixtures } from './tenants/fixtures.js'
import { loadFixtures, withOriginsOf } from './tenants/fixtures.js'
import type { ClientEntry, TenantRegistry } from './tenants/registry.js'

/** The addresses that only this machine reaches. */
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|::1)$/

export interface BootOptions {
  /** The client that has the fixture `SANDBOX_FIXTURE`. An entry of `SANDBOX_CLIENTS` replaces it. */
  readonly client: { readonly clientId: string; readonly clientSecret: string }
  /** Time for open requests to finish during close, in milliseconds. Then their connections are closed. */
  readonly graceMs: number
  readonly logger?: Logger
  /** Opens the database of the tenants. By default, they are in memory. */
  openDatabase?(): Promise<Database | undefined>
}

/** A server with its tenants. */
export interface Server {
  readonly app: FastifyInstance
  /** Listens on HOST and PORT. Resolves to the URL of the server. */
  listen(): Promise<string>
  /** Finishes open requests within the grace period and releases all resources. */
  close(): Promise<void>
}

/**
 * Creates a server with its tenants, for the command line and for the library.
 * @throws ConfigError
 */
export async function boot(config: Config, options: BootOptions): Promise<Server> {
  const { client, graceMs, logger } = options
  const fixtures = fixturesOf(config)
  assertFixturesExist(config, fixtures)
  const scenarios = await scenariosOf(config)
  let url = config.publicUrl
  const publicUrl = (host?: string) => {
    if (config.publicUrl === undefined && host !== undefined) return `http://${host}`
    url ??= urlOf(config.host, app)
    return url
  }
  const database = await options.openDatabase?.()
  const { app, registry }: ReturnType<typeof buildServer> = buildServer({
    ...config,
    clients: [{ ...client, fixture: config.fixture }, ...config.clients],
    database,
    fixtures,
    scenarios,
    requestLog: { entries: config.requestLogEntries, bytes: config.requestLogBytes },
    logger,
    publicUrl,
    dropped: clientId =>
      logger?.warn({ clientId }, 'dropped the tenant to make room for another: see SANDBOX_MAX_TENANTS'),
  })
  try {
    const now = config.frozenAt ?? Date.now()
    if (config.fixtures !== undefined) assertFixtures(config.fixtures, now, registry)
    for (const client of config.clients) assertEmbeddable(client, now, registry)
  } catch (error) {
    await database?.close()
    throw error
  }

  return {
    app,
    async listen() {
      logStart(config, logger)
      try {
        await app.listen({ host: config.host, port: config.port })
      } catch (error) {
        await database?.close()
        const { code = '' } = error as NodeJS.ErrnoException
        const isOfHost = ['ENOTFOUND', 'EADDRNOTAVAIL', 'EAI_AGAIN', 'EINVAL'].includes(code)
        throw isOfHost ? new ConfigError(`HOST=${quote(config.host)} is no address of this machine: ${code}.`) : error
      }
      // Reads the address while the server listens. Requests that finish during close still need it.
      publicUrl()
      const ownUrl = urlOf(config.host, app)
      const page = app.hasRoute({ method: 'GET', url: CONSOLE }) ? CONSOLE : '/docs'
      logger?.info(
        { url: ownUrl, clientId: client.clientId, seed: registry.seed },
        `${NAME} is ready: open ${ownUrl}${page}`,
      )
      return ownUrl
    },
    async close() {
      const timer = realTimers.setTimeout(() => app.server.closeAllConnections(), graceMs)
      await app.close()
      realTimers.clearTimeout(timer)
      await database?.close()
    },
  }
}

/** Logs the paths of the console and the guide, and the storage of the clients. Warns if others can use the control plane. */
function logStart({ host, adminToken, data, databaseUrl }: Config, logger: Logger | undefined): void {
  let storage = 'memory'
  if (data !== undefined) storage = `SQLite: ${resolve(data)}`
  if (databaseUrl !== undefined) {
    const { host: server, pathname } = new URL(databaseUrl)
    storage = `Postgres: ${server}${pathname}`
  }
  const text = `${NAME} ${VERSION}: console ${CONSOLE}, guide /docs/guide. It keeps its clients in ${storage}`
  if (adminToken !== undefined || LOOPBACK.test(host)) logger?.info({ storage }, text)
  else logger?.warn({ storage }, `${text}. All that reach ${host} can control it: set SANDBOX_ADMIN_TOKEN`)
}

/** Returns the URL of a listening server. A wildcard address becomes `localhost`. */
function urlOf(host: string, app: FastifyInstance): string {
  const { port } = app.server.address() as AddressInfo
  if (host === '0.0.0.0' || host === '::') return `http://localhost:${port}`
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

let ownFixtures: Fixtures | undefined

/** Returns the fixtures of the package, which are read once, and of SANDBOX_FIXTURES. @throws ConfigError */
function fixturesOf({ fixtures: folder }: Pick<Config, 'fixtures'>): Fixtures {
  ownFixtures ??= loadFixtures(OWN_FIXTURES)
  if (folder === undefined) return ownFixtures
  try {
    return new Map([...ownFixtures, ...loadFixtures(folder)])
  } catch (error) {
    throw fixtureError(folder, error)
  }
}

/** Returns the scenarios of the package and of SANDBOX_FIXTURES, which are checked at once. @throws ConfigError */
async function scenariosOf({ fixtures: folder }: Pick<Config, 'fixtures'>): Promise<Scenarios> {
  if (folder === undefined || !hasScenarios(folder)) return createScenarios(OWN_FIXTURES)
  const scenarios = createScenarios(OWN_FIXTURES, folder)
  try {
    await scenarios.load()
  } catch (error) {
    throw fixtureError(folder, error)
  }
  return scenarios
}

/** Refuses a fixture that does not exist. @throws ConfigError */
function assertFixturesExist({ fixture: first, clients }: Config, fixtures: Fixtures): void {
  const names = [...fixtures.keys()].join(', ')
  if (!fixtures.has(first)) {
    throw new ConfigError(`SANDBOX_FIXTURE=${quote(first)} is not allowed: give one of ${names}.`)
  }
  for (const { clientId, fixture = 'empty' } of clients) {
    if (fixtures.has(fixture)) continue
    throw new ConfigError(
      `SANDBOX_CLIENTS: client ${JSON.stringify(clientId)} has an unknown fixture ${JSON.stringify(fixture)}. Known: ${names}.`,
    )
  }
}

/** Checks all fixtures. @throws ConfigError */
function assertFixtures(folder: string, now: number, registry: TenantRegistry): void {
  try {
    checkFixtures(registry, now)
  } catch (error) {
    throw fixtureError(folder, error)
  }
}

/** Refuses a client whose empty list of origins refuses an embedded link of its fixture. @throws ConfigError */
function assertEmbeddable(
  { clientId, fixture = 'empty', allowedOrigins }: ClientEntry,
  now: number,
  { fixtureRecords }: TenantRegistry,
): void {
  if (allowedOrigins?.length !== 0) return
  const records = fixtureRecords(fixture, now)
  const hasEmbedded = records.payoutLinks?.some(({ uiMode }) => uiMode === 'embedded')
  if (!hasEmbedded || withOriginsOf(records, []).length > 0) return
  throw new ConfigError(
    `SANDBOX_CLIENTS: client ${JSON.stringify(clientId)} has an embedded payout link in its fixture ` +
      `${JSON.stringify(fixture)}, but no allowedOrigins: give an origin, or leave the member out.`,
  )
}

const fixtureError = (folder: string, error: unknown) =>
  new ConfigError(
    `SANDBOX_FIXTURES=${JSON.stringify(folder)} is not allowed: ${(error as Error).message.replace(/\s+/g, ' ')}`,
  )
