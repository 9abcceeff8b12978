import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { get } from 'node:http'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { BENCH, pinned, ROOT, SERVER_CORE } from './machine.js'

/** Where the tenants' clocks stand: a Monday, 10:00 in Berlin, far from any closed day. */
export const NOW = '2026-11-02T09:00:00Z'

/** A folder that goes with this process. */
export const TEMPORARY = mkdtempSync(join(tmpdir(), 'payments-sandbox-bench-'))

/** @type {Set<{ child: import('node:child_process').ChildProcess }>} */
const running = new Set()
process.on('exit', () => {
  for (const { child } of running) child.kill('SIGKILL')
  rmSync(TEMPORARY, { recursive: true, force: true })
})

/**
 * @typedef {object} Server
 * @property {number} port
 * @property {number} pid
 * @property {import('node:child_process').ChildProcess} child
 * @property {() => Promise<void>} stop
 */

export function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.on('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (probe.address())
      probe.close(() => resolve(port))
    })
  })
}

/**
 * Spawns a Node program. Nothing of this environment reaches it but what a shell has anyway.
 * @param {string[]} args
 * @param {{ port: number, env?: Record<string, string>, core?: number | null, cwd?: string }} options `core` null: any
 * @returns {Server}
 */
export function launch(args, { port, env = {}, core = SERVER_CORE, cwd = TEMPORARY }) {
  const { command, args: all } = pinned(core, process.execPath, args)
  const child = spawn(command, all, {
    cwd,
    env: { PATH: process.env.PATH, HOME: TEMPORARY, NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = new Promise(resolve => child.once('exit', resolve))
  const server = {
    port,
    pid: /** @type {number} */ (child.pid),
    child,
    async stop() {
      child.kill('SIGTERM')
      const impatience = setTimeout(() => child.kill('SIGKILL'), 3000)
      await ended
      clearTimeout(impatience)
      running.delete(server)
    },
  }
  running.add(server)
  return server
}

/** Whether a server answers a path; refused, closed and no 2xx are all no. */
function answers(port, path) {
  return new Promise(resolve => {
    const request = get({ port, path, host: '127.0.0.1', agent: false }, response => {
      response.resume()
      response.on('end', () => resolve(response.statusCode === 200))
    })
    request.on('error', () => resolve(false))
  })
}

/** Whether a server takes connections. Nothing is asked of it. */
function accepts(port) {
  return new Promise(resolve => {
    const socket = connect({ port, host: '127.0.0.1' }, () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}

async function until(server, isSo, seconds, everyMs) {
  const deadline = performance.now() + seconds * 1000
  while (!(await isSo())) {
    if (server.child.exitCode !== null) throw new Error(`${server.child.spawnargs.join(' ')} ended by itself`)
    if (performance.now() > deadline) throw new Error(`${server.child.spawnargs.join(' ')} does not answer`)
    await wait(everyMs)
  }
  return server
}

/** Waits for the first 200. @returns the same server */
export const answering = (server, path, { seconds = 60, everyMs = 5 } = {}) =>
  until(server, () => answers(server.port, path), seconds, everyMs)

/** Waits until it listens, and asks nothing. @returns the same server */
export const listening = (server, { seconds = 60, everyMs = 5 } = {}) =>
  until(server, () => accepts(server.port), seconds, everyMs)

export const READY = '/_sandbox/health/ready'

/** What `npm start` gives to Node, the program last. */
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const START = scripts.start.split(' ').slice(1)

/**
 * The sandbox as a user has it: as `npm start` starts it, with its defaults (log level info, request log, recording,
 * validation, hints). Only seed and clock are set, so that each run is the same.
 * @param {{ env?: Record<string, string>, core?: number }} [options]
 */
export async function launchSandbox({ env = {}, ...options } = {}) {
  const port = await freePort()
  return launch([...START.slice(0, -1), join(ROOT, START.at(-1))], {
    port,
    env: { PORT: String(port), SANDBOX_SEED: 'bench', SANDBOX_CLOCK: NOW, ...env },
    ...options,
  })
}

/** A program of `children/`, which takes its port as the first argument. */
export async function launchChild(file, args = [], options = {}) {
  const port = await freePort()
  return launch([join(BENCH, 'children', file), String(port), ...args], { port, ...options })
}

/** @param {(port: number) => string[]} command of a package in bench/node_modules */
export async function launchPeer(command) {
  const port = await freePort()
  return launch(command(port), { port })
}

/** No measurement takes longer. */
const MOST_MS = 10 * 60 * 1000

/**
 * What a program of `children/` that is no server prints.
 * @param {string} file
 * @param {string[]} args
 * @param {{ core?: number | null, nodeArgs?: string[] }} [options]
 * @returns {Promise<string>}
 */
export async function outputOf(file, args, { core = null, nodeArgs = [] } = {}) {
  const all = [...nodeArgs, join(BENCH, 'children', file), ...args]
  const { command, args: allPinned } = pinned(core, process.execPath, all)
  const options = { maxBuffer: 2 ** 26, timeout: MOST_MS, killSignal: 'SIGKILL' }
  const pending = promisify(execFile)(command, allPinned, options)
  const { child } = pending
  child.stderr?.pipe(process.stderr)
  const started = { child }
  running.add(started)
  try {
    return (await pending).stdout
  } finally {
    running.delete(started)
  }
}
