// Runs tests that the build has made (npm pretest): all that need only Node, or the given files and folders.
// Usage: npm test, npm test -- test/areas/mandates.test.ts, npm test -- test/areas test/http. Other arguments are options of tap.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { parse } from 'yaml'

/** Returns the path of the transpiled test, or of all tests of a folder. Other arguments stay as they are. */
function toBuilt(argument) {
  const path = argument.replace(/^\.\//, '').replace(/\/$/, '')
  if (!path.startsWith('test/') || !existsSync(path)) return argument
  if (path.endsWith('.ts')) return `build/${path.slice(0, -2)}js`
  const index = `build/${path}/index.test.js`
  return existsSync(index) ? index : `build/${path}/*.test.js`
}

const args = process.argv.slice(2).map(toBuilt)
const options = { stdio: 'inherit' }
let result
if (args.length === 1 && existsSync(args[0])) {
  // tap takes longer to start than most files take to run.
  const { timeout, 'node-arg': nodeArgs } = parse(readFileSync('.taprc', 'utf8'))
  const env = { ...process.env, TAP_TIMEOUT: String(timeout) }
  result = spawnSync(process.execPath, ['--enable-source-maps', ...nodeArgs, args[0]], { ...options, env })
} else {
  result = spawnSync('tap', args, { ...options, shell: process.platform === 'win32' })
}
if (result.error) throw result.error
process.exit(result.status ?? 1)
