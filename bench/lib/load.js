import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { BENCH, cpuOf, hasWrk, LOAD_CORE, pinned } from './machine.js'
import { TEMPORARY } from './servers.js'

const run = promisify(execFile)

/** Enough to keep a server of one core busy, also one that waits a millisecond by itself in each request. */
export const CONNECTIONS = 32

/**
 * What is sent over and over. In `path` and `body`, `{n}` stands for a number that no other request of the round has;
 * with `tokens`, each request bears the next of them.
 * @typedef {object} Load
 * @property {string} method
 * @property {string} path
 * @property {Record<string, string>} headers
 * @property {string} [body]
 * @property {readonly string[]} [tokens]
 * @property {number} [first] the first `{n}`
 */

/**
 * @typedef {object} Measured
 * @property {number} rate answers a second
 * @property {number | undefined} cpu processor time of the server per answer, in seconds
 * @property {number | undefined} busy part of the time in which the server was at work
 * @property {number} refused answers other than 2xx
 */

/**
 * Loads a server for some seconds.
 * @param {import('./servers.js').Server} server
 * @param {Load} load
 * @param {number} seconds a whole number
 * @returns {Promise<Measured>}
 */
export async function measure(server, load, seconds = 1) {
  const before = cpuOf(server.pid)
  const began = performance.now()
  const { answered, took, refused } = await (hasWrk ? byWrk : byAutocannon)(server, load, seconds)
  const elapsed = (performance.now() - began) / 1000
  const cpu = before === undefined ? undefined : cpuOf(server.pid) - before
  if (answered === 0) throw new Error(`${load.method} ${load.path}: no answer`)
  return {
    rate: answered / took,
    cpu: cpu === undefined ? undefined : cpu / answered,
    busy: cpu === undefined ? undefined : Math.min(1, cpu / Math.min(took, elapsed)),
    refused,
  }
}

const SCALE = { us: 1e-6, ms: 1e-3, s: 1, m: 60 }

async function byWrk(server, load, seconds) {
  const script = join(TEMPORARY, 'load.lua')
  writeFileSync(script, luaOf(load))
  const url = `http://127.0.0.1:${server.port}${load.path.replaceAll('{n}', '0')}`
  const { command, args } = pinned(LOAD_CORE, 'wrk', [
    '-t1',
    `-c${CONNECTIONS}`,
    `-d${seconds}s`,
    '--timeout=10s',
    '-s',
    script,
    url,
  ])
  const { stdout, stderr } = await run(command, args)
  if (stderr !== '') throw new Error(`wrk said: ${stderr}`)
  const [, answered, took, unit] = /(\d+) requests in ([\d.]+)(us|ms|s|m)/.exec(stdout) ?? []
  if (answered === undefined) throw new Error(`wrk said: ${stdout}`)
  const [, refused = '0'] = /Non-2xx or 3xx responses: (\d+)/.exec(stdout) ?? []
  return { answered: Number(answered), took: Number(took) * SCALE[unit], refused: Number(refused) }
}

const lua = text => `[==[${text}]==]`

/** wrk sends what stands fixed by itself; what differs from request to request takes a function. */
function luaOf({ method, path, headers, body, tokens, first = 1 }) {
  const lines = [`wrk.method = ${lua(method)}`]
  for (const [name, value] of Object.entries(headers)) lines.push(`wrk.headers[ ${lua(name)} ] = ${lua(value)}`)
  if (body !== undefined) lines.push(`wrk.body = ${lua(body)}`)
  if (tokens !== undefined) {
    // All requests are made before the first goes out.
    lines.push(
      `local tokens = {${tokens.map(lua).join(',')}}`,
      'local requests, n = {}, 0',
      'init = function()',
      '  for at, token in ipairs(tokens) do',
      '    wrk.headers["authorization"] = "Bearer " .. token',
      `    requests[at] = wrk.format(nil, ${lua(path)})`,
      '  end',
      'end',
      'request = function() n = n % #requests + 1; return requests[n] end',
    )
  } else if (path.includes('{n}') || body?.includes('{n}')) {
    const joined = text => (text === undefined ? 'nil' : text.split('{n}').map(lua).join('..n..'))
    lines.push(
      `local n = ${first - 1}`,
      'request = function()',
      '  n = n + 1',
      `  return wrk.format(nil, ${joined(path)}, nil, ${joined(body)})`,
      'end',
    )
  }
  return lines.join('\n')
}

async function byAutocannon(server, load, seconds) {
  const job = join(TEMPORARY, 'load.json')
  writeFileSync(job, JSON.stringify({ ...load, port: server.port, seconds, connections: CONNECTIONS }))
  const { command, args } = pinned(LOAD_CORE, process.execPath, [join(BENCH, 'children/autocannon.js'), job])
  const { stdout } = await run(command, args)
  return JSON.parse(stdout)
}
