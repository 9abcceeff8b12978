// Starts the server: npm start. Builds dist/ first where it is missing or older than its sources.
// The server runs in this process: it gets the signals of npm, and npm its exit code (exec.cmd).
import { spawnSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const SOURCES = ['src', 'scripts', 'docs', 'skills', 'README.md', 'package.json', 'package-lock.json', 'tsconfig.json']

const changedAt = path => statSync(path, { throwIfNoEntry: false })?.mtimeMs
// The time of a folder shows that a file was removed.
const pathsIn = source =>
  statSync(source).isDirectory() ? readdirSync(source, { recursive: true }).map(path => join(source, path)) : []

// The build writes this file last.
const built = changedAt('dist/bin/cli.js')
const isOld = SOURCES.flatMap(source => [source, ...pathsIn(source)]).some(path => changedAt(path) > built)
if (built === undefined || isOld) {
  const reason = isOld ? 'dist/ is older than its sources.' : 'There is no dist/ yet.'
  console.error(`${reason} Building it, which takes some seconds.`)
  const { status } = spawnSync(process.execPath, ['scripts/build.js'], { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
await import('../dist/bin/cli.js')
