import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism, cpus, platform, totalmem } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
export const BENCH = fileURLToPath(new URL('..', import.meta.url))

const has = (command, ...args) => spawnSync(command, args, { stdio: 'ignore' }).error === undefined

/** wrk loads a server from one core in a way that no generator in JavaScript can; without it, autocannon has to do. */
export const hasWrk = has('wrk', '-v')

/** Whether server and load can be kept on different cores. */
export const canPin = platform() === 'linux' && availableParallelism() > 1 && has('taskset', '-V')
const cores = canPin ? coresAllowed() : []
export const LOAD_CORE = cores[0]
export const SERVER_CORE = cores.at(-1)

function coresAllowed() {
  const [, list = '0'] = /^Cpus_allowed_list:\s*(\S+)/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  return list.split(',').flatMap(part => {
    const [first, last = first] = part.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, at) => first + at)
  })
}

/** Puts this process, which asks and measures, on the core of the load. */
export function pinSelf() {
  if (canPin) execFileSync('taskset', ['-a', '-c', '-p', String(LOAD_CORE), String(process.pid)], { stdio: 'ignore' })
}

/**
 * A command on a core, or for null on any: without more, it would be kept where this process is. taskset turns into the
 * command, so the pid is its own.
 * @param {number | null | undefined} core
 * @returns {{ command: string, args: string[] }}
 */
export function pinned(core, command, args) {
  return canPin
    ? { command: 'taskset', args: ['-c', core === null ? cores.join(',') : String(core), command, ...args] }
    : { command, args }
}

const TICKS_PER_SECOND = 100

/** Processor time of a process with all its threads, in seconds; undefined where the system does not tell. */
export function cpuOf(pid) {
  if (platform() !== 'linux') return undefined
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

/** Resident memory of a process in bytes. */
export function residentOf(pid) {
  if (platform() !== 'linux') {
    return 1024 * Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }))
  }
  const [, kibibytes] = /^VmRSS:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return 1024 * Number(kibibytes)
}

function git(...args) {
  const { status, stdout } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}

/** What the product is made of. */
const PRODUCT = ['src', 'scripts', 'fixtures', 'package-lock.json']

/** What a result belongs to. The commit is the last that changed the product. */
export function describe() {
  const commit = git('log', '-1', '--format=%h', '--abbrev=12', '--', ...PRODUCT)
  const isChanged = (git('status', '--porcelain', '--', ...PRODUCT) ?? '') !== ''
  return {
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memory: `${Math.round(totalmem() / 1024 ** 3)} GiB`,
    system: `${platform()} ${process.arch}`,
    node: process.version,
    commit: !commit ? 'no repository' : `${commit}${isChanged ? ', with changes' : ''}`,
    load: hasWrk ? 'wrk' : 'autocannon',
    pinning: canPin ? `server on core ${SERVER_CORE}, load on core ${LOAD_CORE}` : 'none',
  }
}

/** Which part of the processor is in use, by whomever, over a second in which nothing is measured. */
export async function usedByOthers() {
  const read = () =>
    cpus().reduce(
      (sum, { times: { idle, ...used } }) => ({
        idle: sum.idle + idle,
        used: sum.used + Object.values(used).reduce((all, time) => all + time, 0),
      }),
      { idle: 0, used: 0 },
    )
  const before = read()
  await wait(1000)
  const after = read()
  const used = after.used - before.used
  return used / (used + after.idle - before.idle)
}
