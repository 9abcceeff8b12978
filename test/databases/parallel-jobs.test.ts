import { join } from 'node:path'
import type { Test } from 'tap'
import t from 'tap'
import { playRounds } from '../parallel-jobs.js'
import { sharedPostgres } from '../persistence/helper.js'
import { postgresSkip } from '../postgres.js'
import { uncheckedProgram } from '../program.js'
import { Server } from '../server-process.js'

// Persistence: parallel jobs on a server with a database, which is killed in every tenth round.

const IS_LONG = process.env.TEST_LONG === '1'
const ROUNDS = IS_LONG ? 160 : 1
const JOBS = IS_LONG ? 16 : 5

async function play(t: Test, rounds: number, settings?: Readonly<Record<string, string>>) {
  const start = async () => {
    const server = await Server.start(settings ?? {}, uncheckedProgram)
    t.teardown(() => server.kill())
    return { url: server.url, ...(settings !== undefined && { kill: () => server.kill() }) }
  }
  await playRounds(t, rounds, start, JOBS)
}

// test/http/concurrency.test.ts has the short form.
if (IS_LONG) t.test('control plane, Run 16 CI jobs against one container: 320 rounds in memory', t => play(t, 320))

t.test(`persistence, SANDBOX_DATA: ${ROUNDS} rounds of jobs, with kill -9`, async t => {
  await play(t, ROUNDS, { SANDBOX_DATA: join(t.testdir(), 'data') })
})

t.test('persistence, SANDBOX_DATABASE_URL: parallel jobs, with kill -9', { skip: postgresSkip }, async t => {
  const { createDatabase } = await sharedPostgres()
  await play(t, ROUNDS, { SANDBOX_DATABASE_URL: await createDatabase() })
})
