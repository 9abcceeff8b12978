import type { ChildProcess, SpawnOptions } from 'node:child_process'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { freePort } from './free-port.js'

/** A Postgres server of a test, in a temporary folder on a free port. */
export interface Postgres {
  /** Creates an empty database, or a copy of one that is not in use. Returns its URL. */
  createDatabase(copied?: string): Promise<string>
  /** Runs a statement on a connection of its own. */
  query(url: string, statement: string): Promise<pg.QueryResult>
  /** Stops the server at once: open transactions are lost, committed ones are not. */
  stop(): Promise<void>
  start(): Promise<void>
  /** Sends a signal to all processes of the server, such as SIGSTOP. */
  signal(name: NodeJS.Signals): void
  /** Stops the server, and deletes its files. */
  remove(): Promise<void>
}

const DEBIAN = '/usr/lib/postgresql'

/** Returns the folder with the programs of Postgres; undefined: it is not installed. */
function findPrograms(): string | undefined {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : []
  return versions.map(version => join(DEBIAN, version, 'bin')).find(folder => existsSync(join(folder, 'initdb')))
}

const programs = findPrograms()

/** Whether Postgres is installed. Without it, tests are left out with this reason. */
export const postgresSkip = programs === undefined ? 'Postgres is not installed (apt-get install postgresql)' : false

/** Postgres refuses to run as root. */
const user = (): SpawnOptions => {
  if (process.getuid?.() !== 0) return {}
  const idOf = (option: string) => Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }))
  return { uid: idOf('-u'), gid: idOf('-g') }
}

/**
 * A script that runs a program. If descriptor 3 closes before a line comes, the process of the test is gone: then the
 * script kills the program and removes its folder.
 */
const WATCHED = '(read -r _ <&3 || { kill -QUIT $$; sleep 2; rm -rf "$0"; }) & exec "$@" 3<&-'

/** Starts a server. Remove it at the end. If the process is killed before, the server ends too. */
export async function startPostgres(): Promise<Postgres> {
  const folder = mkdtempSync(join(tmpdir(), 'payments-sandbox-postgres-'))
  const owner = user()
  if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid as number)
  chmodSync(folder, 0o700)
  const data = join(folder, 'data')
  const options = { ...owner, cwd: folder, stdio: 'ignore' } as const
  const setup = ['-D', data, '-U', 'sandbox', '-A', 'trust', '--no-sync', '-E', 'UTF8', '--locale=C']
  const initialized = spawn(join(programs as string, 'initdb'), setup, options)
  const [code] = await once(initialized, 'exit')
  if (code !== 0) throw new Error(`initdb has ended with code ${code}`)
  const port = await freePort()
  const urlOf = (database: string) => `postgres://sandbox@127.0.0.1:${port}/${database}`
  let child: ChildProcess | undefined
  let databases = 0

  async function query(url: string, statement: string) {
    const client = new pg.Client(url)
    await client.connect()
    try {
      return await client.query(statement)
    } finally {
      await client.end()
    }
  }

  async function start() {
    const command = [
      join(programs as string, 'postgres'),
      '-D',
      data,
      '-p',
      String(port),
      '-k',
      folder,
      '-h',
      '127.0.0.1',
      // No test lets the machine fail: what the processes have written stays.
      ...['-c', 'fsync=off', '-c', 'full_page_writes=off'],
    ]
    child = spawn('sh', ['-c', WATCHED, folder, ...command], {
      ...options,
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    })
    for (;;) {
      const client = new pg.Client(urlOf('postgres'))
      client.on('error', () => {})
      try {
        await client.connect()
        await client.end()
        return
      } catch (error) {
        if (child.exitCode !== null) throw error
        await pause(20)
      }
    }
  }

  async function stop() {
    if (child === undefined) return
    if (child.exitCode === null) {
      const exited = once(child, 'exit')
      child.kill('SIGQUIT')
      await exited
    }
    // Ends the watch.
    ;(child.stdio[3] as Writable).end('\n')
    child = undefined
  }

  await start()
  return {
    start,
    stop,
    signal(name) {
      const { pid } = child as { pid: number }
      const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
      for (const each of [pid, ...children.map(Number)]) process.kill(each, name)
    },
    async createDatabase(copied = '/template1') {
      const name = `test_${++databases}`
      await query(urlOf('postgres'), `CREATE DATABASE ${name} TEMPLATE ${copied.slice(copied.lastIndexOf('/') + 1)}`)
      return urlOf(name)
    },
    query,
    async remove() {
      await stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export const nameOf = (url: string) => new URL(url).pathname.slice(1)

/** Holds a lock in a database while something is done. */
export async function locked(url: string, statement: string, work: () => Promise<unknown>): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  await client.query('BEGIN')
  await client.query(statement)
  await work()
  await client.end()
}

/** Waits until a number of connections of a database fit a condition. */
async function until(url: string, condition: string, count: number): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  const text = `SELECT 1 FROM pg_stat_activity WHERE datname = '${nameOf(url)}' AND ${condition}`
  while ((await client.query(text)).rowCount !== count) await pause(5)
  await client.end()
}

/** Waits until some statements in a database wait for a lock. */
export const waiting = (url: string, count: number) => until(url, "wait_event_type = 'Lock'", count)

/** Waits until all connections of a database have ended. */
export const ended = (url: string) => until(url, 'pid <> pg_backend_pid()', 0)
