// Runs compiled tests. The tests of a folder run in one process, and each file of test/databases in its own.
// Usage: npm test [-- NAME…]. A name is a folder of test/, a file such as `areas/mandates`, or `all`.
// Without names, it runs the folders that need only Node. TEST_JOBS is the number of processes at a time.
// Prints one line of each process that passes, its skipped tests, and the whole output of one that fails.
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { basename } from 'node:path'
import { text } from 'node:stream/consumers'

/** These folders need more than Node. */
const OTHERS = ['browser', 'databases', 'package']
/** The time limit of a process. */
const TIME_LIMIT_S = process.env.TEST_LONG === '1' ? 3600 : 600

const folders = readdirSync('build/test', { withFileTypes: true })
  .filter(entry => entry.isDirectory())
  .map(({ name }) => name)
const filesOf = folder => readdirSync(`build/test/${folder}`).filter(file => file.endsWith('.test.js'))

/** Returns the names of the test files for a name of the command line. */
function namesOf(name) {
  if (name === 'all') return folders.flatMap(namesOf)
  if (name === 'databases') return filesOf(name).map(file => `${name}/${basename(file, '.test.js')}`)
  return [folders.includes(name) ? `${name}/index` : name]
}

/** Runs one process. Returns whether it passes. */
async function run(name) {
  const began = performance.now()
  const args = [
    // Tests build many servers. A larger young generation takes 12 % of their processor time away.
    '--max-semi-space-size=64',
    // Each test process checks its answers against the OpenAPI documents.
    '--import=./build/test/check-answers.js',
    // Each server of a test must hold nothing as it closes.
    '--import=./build/test/nothing-left.js',
    `build/test/${name}.test.js`,
  ]
  const child = spawn(process.execPath, args, {
    env: { TAP_TIMEOUT: TIME_LIMIT_S, ...process.env },
    stdio: ['ignore', 'pipe', 'inherit'],
    // tap ends tests that wait too long. This ends a loop without end.
    timeout: TIME_LIMIT_S * 1100,
    killSignal: 'SIGKILL',
  })
  const ended = new Promise(resolve => child.on('close', (code, signal) => resolve(code ?? signal)))
  const output = await text(child.stdout)
  const code = await ended
  const passes = code === 0
  // The line of a test around others has a time.
  const assertions = output.match(/^ *ok \d+ (?!.*# (time=|SKIP))/gm)?.length ?? 0
  const skipped = output.match(/^ *ok \d+ .*# SKIP.*\n/gm)?.join('') ?? ''
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  process.stdout.write(passes ? skipped : output)
  console.log(
    passes ? `ok: ${name}, ${assertions} assertions, ${seconds} s` : `not ok: ${name} (${code}), ${seconds} s`,
  )
  return { name, passes, assertions }
}

const given = process.argv.slice(2)
const names = (given.length > 0 ? given : folders.filter(name => !OTHERS.includes(name))).flatMap(namesOf)
const results = []
const left = names.values()
const jobs = Array.from({ length: Number(process.env.TEST_JOBS ?? 2) }, async () => {
  for (const name of left) results.push(await run(name))
})
await Promise.all(jobs)

const failed = results.filter(({ passes }) => !passes).map(({ name }) => name)
const assertions = results.reduce((sum, result) => sum + result.assertions, 0)
console.log(failed.length === 0 ? `All pass: ${assertions} assertions` : `Failed: ${failed.join(', ')}`)
if (failed.length > 0) process.exitCode = 1
