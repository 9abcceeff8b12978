import { resolve } from 'node:path'
import closeWithGrace from 'close-with-grace'
import { type Logger, pino } from 'pino'
import type { Server } from './boot.js'
import { boot } from './boot.js'
import type { Config } from './config.js'
import { ConfigError } from './config.js'
import { openPostgres } from './storage/postgres.js'
import { openSqlite } from './storage/sqlite.js'
import type { Database } from './storage/storage.js'
import { DatabaseError } from './storage/storage.js'
import { DEMO_CLIENT } from './tenants/registry.js'

const SIGNALS = ['SIGTERM', 'SIGINT'] as const
/** Time for open requests to finish. Then their connections are closed. */
const GRACE_MS = 3000
/** Time until the process exits with code 1 although the server is still open. */
const CLOSE_TIMEOUT_MS = 4500

/**
 * Starts a server that closes on SIGTERM and SIGINT.
 * @throws ConfigError, or the error of a port that is not available
 */
export async function serve(config: Config): Promise<void> {
  const logger = await createLogger(config)
  const server = await createServer(config, logger)
  closeOnSignal(server, logger)
  await server.listen()
}

/** Creates the log of the process: JSON lines on standard output, formatted text on a terminal. */
async function createLogger({ logLevel: level }: Config): Promise<Logger> {
  // The server goes on without a log that cannot be written, for example on a full disk.
  process.stdout.on('error', () => {})
  if (!process.stdout.isTTY) return pino({ level }, process.stdout)
  const { default: pretty } = await import('pino-pretty')
  return pino({ level }, pretty({ ignore: 'pid,hostname', translateTime: 'HH:MM:ss', sync: true }))
}

/**
 * Creates a server with its tenants, which are in a database if one is configured.
 * @throws ConfigError
 */
export const createServer = (config: Config, logger: Logger): Promise<Server> =>
  boot(config, {
    client: DEMO_CLIENT,
    graceMs: GRACE_MS,
    logger,
    openDatabase: () => openDatabase(config),
  })

/**
 * Closes the server on the first SIGTERM or SIGINT and ignores further signals.
 *
 * close-with-grace handles unexpected errors here. It does not handle the signals, because its second signal
 * exits at once: a terminal and npm both send SIGINT, and open requests must finish.
 */
function closeOnSignal(server: Server, logger: Logger): void {
  const options = { delay: CLOSE_TIMEOUT_MS, logger, skip: ['beforeExit' as const, ...SIGNALS] }
  let reason: string | undefined
  const { close } = closeWithGrace(options, async ({ err }) => {
    reason ??= 'error'
    if (err !== undefined) logger.fatal({ err }, 'unexpected error: closing')
    else logger.info({ signal: reason }, 'closing')
    await server.close()
  })
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      if (reason !== undefined) return
      reason = signal
      close()
    })
  }
}

/** Opens the database of the tenants. Returns undefined if none is configured. Throws ConfigError. */
async function openDatabase(config: Config): Promise<Database | undefined> {
  const { data, databaseUrl, seed, isSeedGiven, sqliteSynchronous: synchronous } = config
  try {
    if (databaseUrl !== undefined) return await openPostgres(databaseUrl, { seed })
    return data === undefined ? undefined : await openSqlite(data, { seed, isSeedGiven, synchronous })
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error
    const setting = data === undefined ? 'SANDBOX_DATABASE_URL' : `SANDBOX_DATA=${JSON.stringify(data)}`
    const advice = data === undefined ? '' : adviceOn(error, data)
    throw new ConfigError(`${setting}: ${error.message}${advice}`)
  }
}

/** Returns advice on a folder of another owner, such as a mounted folder in a container. */
function adviceOn(error: unknown, path: string): string {
  const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException
  const ids = `${process.getuid?.()}:${process.getgid?.()}`
  const isForbidden = code === 'EACCES' || code === 'EPERM'
  return isForbidden ? `. The server runs as user ${ids}. Run as root: chown -R ${ids} ${resolve(path)}` : ''
}
