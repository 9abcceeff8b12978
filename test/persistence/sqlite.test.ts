import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import type { Test } from 'tap'
import t from 'tap'
import { openSqlite } from '../../src/turns/sqlite.js'
import { DatabaseError } from '../../src/turns/tenant-log.js'
import { bill, call, connect } from '../helper.js'
import { copyOf, start, stateOf } from './helper.js'
import { row, testLog } from './log-contract.js'

const FILE = 'sandbox.db'
const open = (folder: string, seed?: string) =>
  openSqlite(folder, { seed: seed ?? 'random', isSeedGiven: seed !== undefined })

/** Resolves to the message of the DatabaseError, which must be one line. */
async function refusal(t: Test, opening: Promise<unknown>, title: string): Promise<string> {
  const error = await opening.then(
    () => undefined,
    (error: Error) => error,
  )
  t.ok(error instanceof DatabaseError, `${title}: ${error?.message}`)
  t.notMatch(error?.message, '\n')
  return error?.message ?? ''
}

t.test('persistence: rows come back as they were appended, after the number that the caller has', async t => {
  const log = await open(t.testdir())
  await testLog(t, log)
  await log.close()
})

t.test('persistence: the database keeps the seed of its first use, and refuses another', async t => {
  const folder = join(t.testdir(), 'a', 'b')
  const first = await open(folder)
  t.equal(first.seed, 'random')
  await first.close()
  t.same(readdirSync(folder), [FILE], 'no log is left beside it')
  t.equal(statSync(join(folder, FILE)).mode & 0o777, 0o600)
  const second = await open(folder, 'random')
  t.equal(second.seed, 'random')
  await second.close()
  t.match(await refusal(t, open(folder, 'other'), 'another seed'), /sandbox\.db.*SANDBOX_SEED/)
  const third = await openSqlite(folder, { seed: 'drawn again', isSeedGiven: false })
  t.equal(third.seed, 'random')
  await third.close()
})

t.test('persistence: a changed byte that makes a text no UTF-8 is detected', async t => {
  const stored = await start(t, t.testdir())
  const client = await connect(stored.app)
  await client.post('/api/v1/bills', bill({ uniqueReferenceIdentifier: 'INV-UTF8' }))
  await stored.close()
  const whole = readFileSync(join(stored.folder, FILE))
  /** Returns a new folder with a copy of the file, in which one byte of a text is changed. */
  const damaged = (text: string, offset: number) => {
    const copy = Buffer.from(whole)
    copy[whole.indexOf(text) + offset] = 0xff
    const folder = join(t.testdirName, `${text}-${offset}`)
    mkdirSync(folder)
    writeFileSync(join(folder, FILE), copy)
    return folder
  }

  const restarted = await start(t, damaged('INV-UTF8', 0))
  const answer = await call(restarted.app, 'GET', '/_sandbox/state?client=acme')
  t.match([answer.status, answer.body.code], [503, 'SERVICE_UNAVAILABLE'])
  t.match(await refusal(t, open(damaged('seedtest', 0)), 'the name of a setting'), /is damaged/)
  t.match(await refusal(t, open(damaged('seedtest', 4)), 'the seed'), /is damaged: its seed is not as it was written/)
})

t.test('persistence: a second server on the file is refused', async t => {
  const folder = t.testdir()
  const log = await open(folder)
  await log.appendSnapshot('acme', row(1))
  t.match(await refusal(t, open(folder), 'while it is open'), /^".*sandbox\.db" is in use by another server\.$/)
  t.equal(await log.append('acme', row(2)), true, 'the first goes on')
  await log.close()
  const next = await open(folder)
  t.equal((await next.after('acme', 0)).length, 2)
  await next.close()
})

t.test('persistence: what is no database of the sandbox is refused, and left as it is', async t => {
  const folder = t.testdir({
    text: { [FILE]: 'text '.repeat(1000) },
    foreign: {},
    file: 'text',
    folder: { [FILE]: {} },
  })
  const { default: Libsql } = await import('libsql')
  const foreign = new Libsql(join(folder, 'foreign', FILE))
  foreign.exec('CREATE TABLE other (n)')
  foreign.close()
  const before = readFileSync(join(folder, 'foreign', FILE))
  for (const name of ['text', 'foreign', 'file', 'folder']) {
    t.match(await refusal(t, open(join(folder, name)), name), name)
  }
  t.equal(readFileSync(join(folder, 'text', FILE), 'utf8').length, 5000)
  t.ok(before.length > 0 && existsSync(join(folder, 'foreign', FILE)))
})

t.test('persistence: flipped or missing bytes are detected at the start or at the read, never silent', async t => {
  const stored = await start(t, t.testdir())
  const clientIds = Array.from({ length: 12 }, (_, at) => `client-${at}`)
  for (const clientId of clientIds) {
    const client = await connect(stored.app, clientId)
    for (let n = 0; n < 5; n++) await client.post('/api/v1/bills', bill({ uniqueReferenceIdentifier: `INV-00${n}` }))
  }
  const states = new Map<string, string>()
  for (const clientId of clientIds) states.set(clientId, await stateOf(stored.app, clientId))
  await stored.close()
  const whole = readFileSync(join(stored.folder, FILE))
  t.ok(whole.length > 40_000, `${whole.length} bytes`)

  let detected = 0
  let harmless = 0
  let at = 0
  async function attempt(damaged: Buffer, title: string) {
    const folder = join(t.testdirName, `damaged-${++at}`)
    mkdirSync(folder)
    writeFileSync(join(folder, FILE), damaged)
    const messages: string[] = []
    const server = await start(t, folder, { messages }).catch((error: Error) => error)
    if (server instanceof Error) {
      t.ok(server instanceof DatabaseError && !server.message.includes('\n'), `${title}: ${server.message}`)
      detected++
      return
    }
    let isDetected = false
    for (const [clientId, state] of states) {
      const answer = await call(server.app, 'GET', `/_sandbox/state?client=${clientId}`)
      if (answer.status === 503) isDetected = true
      else t.ok(answer.status === 200 && (await stateOf(server.app, clientId)) === state, `${title}: ${clientId}`)
    }
    if (isDetected) t.match(messages, [/database/])
    if (isDetected) detected++
    else harmless++
    await server.close()
  }
  const numRuns = process.env.TEST_LONG === '1' ? 1000 : 40
  for (const [offset, bit] of fc.sample(fc.tuple(fc.nat(whole.length - 1), fc.nat(7)), { seed: 16, numRuns })) {
    const damaged = Buffer.from(whole)
    damaged[offset] = (damaged[offset] as number) ^ (1 << bit)
    await attempt(damaged, `bit ${bit} of byte ${offset}`)
    if (!t.passing()) return
  }
  const flips = { detected, harmless }
  t.ok(
    flips.detected > numRuns / 3,
    `of ${numRuns} flips ${flips.detected} detected, ${flips.harmless} in unused bytes`,
  )
  for (const length of fc.sample(fc.integer({ min: 0, max: whole.length - 1 }), { seed: 17, numRuns: 20 })) {
    await attempt(whole.subarray(0, length), `cut to ${length}`)
  }
  t.equal(detected - flips.detected, 20, 'every cut is detected')
})

t.test('persistence: a copy of the files at any moment opens, with all that was acknowledged', async t => {
  const stored = await start(t, t.testdir())
  const client = await connect(stored.app)
  const rounds = process.env.TEST_LONG === '1' ? 200 : 15
  let created = 0
  const acknowledged = new Set<string>()
  for (let round = 0; round < rounds; round++) {
    const burst = Array.from({ length: 8 }, async () => {
      const uniqueReferenceIdentifier = `INV-${++created + 10_000}`
      const { status } = await client.post('/api/v1/bills', bill({ uniqueReferenceIdentifier }))
      if (status === 201) acknowledged.add(uniqueReferenceIdentifier)
    })
    for (let turns = 0; turns < round % 8; turns++) await burst[turns]
    const expected = new Set(acknowledged)
    const copy = copyOf(t, stored)
    await Promise.all(burst)
    const restarted = await start(t, copy)
    const { bills } = JSON.parse(await stateOf(restarted.app, 'acme'))
    const kept = new Set(
      bills.map(({ record }: { record: Record<string, unknown> }) => record.uniqueReferenceIdentifier),
    )
    await restarted.close()
    const lost = [...expected].filter(reference => !kept.has(reference))
    t.same(lost, [], `${expected.size} acknowledged before copy ${round}`)
  }
  t.equal(acknowledged.size, rounds * 8)
})

t.test('persistence: the log beside the file stays short', async t => {
  const folder = t.testdir()
  const log = await open(folder)
  for (let at = 0; at < 400; at++)
    await log.append('acme', { ...row(at + 1), content: JSON.stringify('x'.repeat(60_000)) })
  const size = statSync(join(folder, `${FILE}-wal`)).size
  t.ok(size < 8_000_000, `${size} bytes after 24 MB`)
  await log.close()
})
