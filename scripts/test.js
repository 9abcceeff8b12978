// Runs tests that the build has made (npm pretest): all that need only Node, or the given files and folders.
// Usage: npm test, npm test -- test/areas/mandates.test.ts, npm test -- test/areas test/http.
// --jobs=3 runs three files at a time, --long the long form of random tests (TEST_LONG=1).
import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { parseArgs } from 'node:util'

/** package.json has the others: test:package, test:browser and test:databases. */
const NEED_ONLY_NODE = 'build/test/groups'
/** The complete output of each file. */
const OUTPUT = 'build/output'

const NODE_ARGS = [
  '--enable-source-maps',
  // Tests build many servers. A larger young generation takes 12 % of their processor time away.
  '--max-semi-space-size=64',
  // Each test process checks its answers against the OpenAPI documents.
  '--import=./build/test/check-answers.js',
]

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { jobs: { type: 'string', default: '2' }, long: { type: 'boolean', default: false } },
})
/** The time limit of a file in seconds. */
const limit = values.long ? 3600 : 600
const env = { ...process.env, TAP_TIMEOUT: String(limit), ...(values.long && { TEST_LONG: '1' }) }

/** Returns the transpiled file of a test, or those of a folder: the one that has them all, if it is there. */
function filesOf(argument) {
  const path = argument.replace(/^(\.\/)?(build\/)?/, 'build/').replace(/\/$/, '')
  if (/\.[jt]s$/.test(path)) return [path.replace(/ts$/, 'js')]
  const files = readdirSync(path).filter(file => file.endsWith('.test.js'))
  return (files.includes('index.test.js') ? ['index.test.js'] : files).map(file => join(path, file))
}

// A process that does not end by itself is ended after its limit.
const start = (file, stdio) =>
  spawn(process.execPath, [...NODE_ARGS, file], { env, stdio, timeout: (limit + 30) * 1000 })
const ended = child => new Promise(resolve => child.on('close', code => resolve(code ?? 1)))

/** Returns the lines of failures with their details, and those of tests that were skipped. */
function importantOf(output) {
  let isFailure = false
  return output
    .split('\n')
    .filter(line => {
      if (/^ *(not )?ok /.test(line)) isFailure = /^ *not ok /.test(line) && !line.includes('# SKIP')
      return isFailure || line.includes('# SKIP')
    })
    .join('\n')
}

/** Runs a file, and prints its result once it has ended. Returns its exit code. */
async function run(file) {
  const begun = performance.now()
  const child = start(file, ['ignore', 'pipe', 'inherit'])
  let output = ''
  child.stdout.setEncoding('utf8').on('data', text => (output += text))
  const code = await ended(child)
  const name = file.slice('build/test/'.length).replaceAll(/[/\\]/g, '-')
  const log = join(OUTPUT, `${basename(name, '.test.js')}.tap`)
  mkdirSync(dirname(log), { recursive: true })
  writeFileSync(log, output)
  const seconds = ((performance.now() - begun) / 1000).toFixed(1)
  const important = importantOf(output)
  if (important !== '') console.log(important)
  // A process that breaks off has no failure in its output.
  if (code !== 0 && !important.includes('not ok')) console.log(output.slice(-2000))
  console.log(`${code === 0 ? 'ok' : 'not ok'} - ${file} # time=${seconds}s, ${log}`)
  return code
}

const files = (positionals.length === 0 ? [NEED_ONLY_NODE] : positionals).flatMap(filesOf)
if (files.length === 1) {
  process.exitCode = await ended(start(files[0], 'inherit'))
} else {
  const left = [...files]
  const work = async () => {
    for (let file = left.shift(); file !== undefined; file = left.shift())
      if ((await run(file)) !== 0) process.exitCode = 1
  }
  await Promise.all(Array.from({ length: Number(values.jobs) }, work))
}
