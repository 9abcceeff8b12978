import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import type { Test } from 'tap'
import { buildServer } from '../../src/server.js'
import type { TenantRegistry } from '../../src/tenants/registry.js'
import { openSqlite } from '../../src/turns/sqlite.js'
import type { LogRow, TenantLog } from '../../src/turns/tenant-log.js'
import { END } from '../../src/turns/tenant-log.js'
import type { BuildOptions } from '../helper.js'
import { call, serverOptions } from '../helper.js'

/** Ends the waiting that a fault requests at once. */
export const timers = {
  later(_: number, work: () => void) {
    work()
    return () => {}
  },
  flush() {},
  elapsed: () => 0,
}

export interface StoredOptions extends BuildOptions {
  /** Changes the log, for example to make it fail. */
  readonly wrap?: (log: TenantLog) => TenantLog
  /** Collects the messages of the server's log. */
  readonly messages?: string[]
  readonly url?: string
}

export interface Stored {
  readonly app: FastifyInstance
  readonly log: TenantLog
  readonly registry: TenantRegistry
  /** The folder of the database. */
  readonly folder: string
  /** Closes the server and the database. */
  close(): Promise<void>
}

/** Builds a server with a log. The server closes with the test, and the log with it. */
export function serveLog(t: Test, log: TenantLog, options: StoredOptions = {}): Omit<Stored, 'folder'> {
  const { url = 'http://127.0.0.1:8080', wrap = same => same, messages = [], ...others } = options
  const logger = pino({ level: 'info' }, { write: line => void messages.push(JSON.parse(line).msg) })
  const { app, registry } = buildServer({
    ...serverOptions({ publicUrl: () => url, timers, seed: log.seed, ...others }),
    tenantLog: wrap(log),
    logger,
  })
  let isClosed = false
  async function close() {
    if (isClosed) return
    isClosed = true
    await app.close()
    // The folder of a test may be removed already.
    await log.close().catch(() => {})
  }
  t.teardown(close)
  return { app, registry, log, close }
}

/** Builds a server with the SQLite database of a folder. */
export async function start(t: Test, folder: string, options: StoredOptions = {}): Promise<Stored> {
  const log = await openSqlite(folder, { seed: options.seed ?? 'test', isSeedGiven: options.seed !== undefined })
  return { folder, ...serveLog(t, log, options) }
}

/** A log in memory, with the promises of a database. Several servers can share it. */
export function createMemoryLog(seed = 'test'): TenantLog {
  const logs = new Map<string, LogRow[]>()
  const links = new Map<string, Set<string>>()
  const add = (clientId: string, row: LogRow) => {
    const rows = logs.get(clientId) ?? []
    if ((rows.at(-1)?.sequence ?? 0) !== row.sequence - 1) return false
    logs.set(clientId, [...rows, row])
    return true
  }
  return {
    seed,
    tenants: async () => [...logs].filter(([, rows]) => rows.at(-1)?.operation !== END).map(([clientId]) => clientId),
    after: async (clientId, sequence) => (logs.get(clientId) ?? []).filter(row => row.sequence > sequence),
    append: async (clientId, row) => add(clientId, row),
    async appendSnapshot(clientId, row) {
      const isFirst = add(clientId, row)
      if (isFirst) logs.set(clientId, [row])
      return isFirst
    },
    async addLinks(clientId, ids) {
      for (const id of ids) links.set(id, new Set([...(links.get(id) ?? []), clientId]))
    },
    clientsOfLink: async id => [...(links.get(id) ?? [])],
    check: async () => {},
    close: async () => {},
  }
}

let copies = 0

/** Copies the database as it is on the disk at this moment, as a loss of power would leave it. Returns the new folder. */
export function copyOf(t: Test, { folder }: Pick<Stored, 'folder'>): string {
  const copy = join(t.testdirName, `copy-${++copies}`)
  mkdirSync(copy, { recursive: true })
  for (const name of ['sandbox.db', 'sandbox.db-wal']) {
    if (existsSync(join(folder, name))) copyFileSync(join(folder, name), join(copy, name))
  }
  return copy
}

/** Starts a server on a copy of the files of another, as if that had crashed. The other closes. */
export async function restart(t: Test, stored: Stored, options: StoredOptions = {}): Promise<Stored> {
  const folder = copyOf(t, stored)
  await stored.close()
  return start(t, folder, options)
}

export const stateOf = async (app: FastifyInstance, clientId = 'acme') =>
  (await app.inject(`/_sandbox/state?client=${clientId}`)).payload

/** Returns the operations in the log of a client. */
export const operationsOf = async ({ log }: Pick<Stored, 'log'>, clientId = 'acme') =>
  (await log.after(clientId, 0)).map(({ operation }) => operation)

/** Sends requests with a token of an earlier process. */
export function resume(app: FastifyInstance, token: string, clientId = 'acme') {
  const headers = { authorization: `Bearer ${token}` }
  return {
    send: (method: string, url: string, body?: object) => call(app, method, url, { region: 'EU', headers, body }),
    control: (method: string, url: string, body?: object) =>
      call(app, method, `/_sandbox${url}?client=${clientId}`, { body }),
  }
}
