import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { Test } from 'tap'
import t from 'tap'
import { skip, walk } from '../docs/walk.js'
import { install } from './install.js'

/** Runs all commands of a page of the package with the installed program. */
async function walkInstalled(t: Test, page: string): Promise<void> {
  const { home, sh, start } = install()
  const { url } = await start(t, {
    SANDBOX_CLOCK: 'real',
  })
  await walk(t, join(home, page), url, script => sh(script, { env: { LOG_LEVEL: 'silent' } }))
}

t.test('commands, Before you begin: every command gives the answer that is shown', { skip }, t =>
  walkInstalled(t, 'docs/commands.md'),
)

const hasCaddy = spawnSync('caddy', ['version'], { stdio: 'ignore' }).error === undefined
const skipDemo = skip || (!hasCaddy && 'needs caddy (apt-get install caddy)')

t.test('demo, Start it: every command gives the answer that is shown', { skip: skipDemo }, t =>
  walkInstalled(t, 'docs/demo.md'),
)
