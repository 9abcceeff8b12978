import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { run } from '../../src/commands.js'

import { readHar } from '../../src/replay/har.js'
import type { Finding } from '../../src/replay/replay.js'
import { replay } from '../../src/replay/replay.js'
import { clientsOf } from '../../src/replay/session.js'
import { createMemoryTarget } from '../../src/replay/target.js'
import { MONDAY } from '../helper.js'
import { createPlayer, injecting, randomRequests } from '../random-requests.js'
import type { Har } from './capture.js'
import { captured } from './capture.js'

export const write = (t: Test, har: unknown): string => {
  const file = join(t.testdir(), 'traffic.har')
  writeFileSync(file, typeof har === 'string' ? har : JSON.stringify(har))
  return file
}

/** Holds a capture against a sandbox in memory, as the command does it. */
export async function findingsOf(t: Test, har: Har): Promise<readonly Finding[]> {
  const { entries } = readHar(write(t, har), undefined)
  const { target, close } = createMemoryTarget(clientsOf(entries), entries[0]?.at ?? 0, 3600)
  try {
    return (await replay(entries, target)).findings
  } finally {
    await close()
  }
}

/** Runs the command with a file. */
export async function command(args: readonly string[], environment = {}) {
  const texts = { stdout: '', stderr: '' }
  const output = (name: keyof typeof texts) => ({
    write(text: string) {
      texts[name] += text
    },
  })
  const code = await run(['replay', ...args], environment, { stdout: output('stdout'), stderr: output('stderr') })
  return { code, ...texts }
}

/** Plays 200 random requests of the client `acme` that use only the API and the clock. Returns their capture. */
export async function playRun(app: FastifyInstance, seed: number) {
  const clock = { now: Date.parse(MONDAY) }
  const capture = captured(app, clock)
  const player = createPlayer(injecting(capture.app), 'acme')
  await player.authenticate()
  for (const request of randomRequests(seed, 200)) {
    if (request.plane === 'control' && !request.path.startsWith('/_sandbox/clock/advance')) continue
    await player.play(request)
    if (request.plane === 'control')
      clock.now = Math.max(clock.now, Date.parse(JSON.parse((await player.control('GET', '/clock')).text).now))
  }
  return capture
}
