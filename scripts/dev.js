// Serves, and builds and restarts after each change: npm run dev. The arguments are those of the server.
import { spawn, spawnSync } from 'node:child_process'

const { status } = spawnSync(process.execPath, ['scripts/build.js'], { stdio: 'inherit' })
if (status !== 0) process.exit(status ?? 1)

const children = [
  ['scripts/build.js', '--watch'],
  ['--watch', 'dist/bin/cli.js', ...process.argv.slice(2)],
].map(args => spawn(process.execPath, args, { stdio: 'inherit' }))
const end = () => {
  for (const child of children) child.kill()
}
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, end)
for (const child of children) child.on('exit', end)
