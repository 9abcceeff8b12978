import { join } from 'node:path'
import type { Test } from 'tap'
import t from 'tap'
import { DEFAULT_BOUNDS } from '../../src/bounds.js'
import { compare, scriptOf, skip, stepsOf } from '../docs/walk.js'
import { install } from './install.js'

/** Runs all commands of a page of the package in one shell, with the installed program. */
async function walk(t: Test, page: string): Promise<void> {
  const { home, sh, start } = install()
  const { url } = await start(t, {
    SANDBOX_CLOCK: 'real',
    SANDBOX_RECORDING_BYTES: String(DEFAULT_BOUNDS.recordingBytes),
  })
  const steps = stepsOf(join(home, page))
  const { code, stdout, stderr } = await sh(await scriptOf(steps, url), { env: { LOG_LEVEL: 'silent' } })
  t.equal(code, 0, stderr)
  compare(t, steps, stdout)
}

t.test('control plane, Before you begin: every command gives the answer that is shown', { skip }, t =>
  walk(t, 'docs/control-plane.md'),
)

t.test('commands, Before you begin: every command gives the answer that is shown', { skip }, t =>
  walk(t, 'docs/commands.md'),
)
