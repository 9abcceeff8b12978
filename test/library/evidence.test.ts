import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import t from 'tap'
import { collection, MONDAY } from '../helper.js'
import { api, create, RECORDS } from './helper.js'

const EXPECTATION = { method: 'POST', path: '/api/v1/direct-debit', body: { amount: '1' } } as const

/** Sets the variable to a new folder during the test. */
function folderOf(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-evidence-'))
  process.env.SANDBOX_EVIDENCE = join(folder, 'deep', 'er')
  t.teardown(() => {
    delete process.env.SANDBOX_EVIDENCE
    rmSync(folder, { recursive: true })
  })
  return process.env.SANDBOX_EVIDENCE
}

t.test('library, SANDBOX_EVIDENCE: a failed expectation writes a summary, requests, events and records', async t => {
  const folder = folderOf(t)
  const sandbox = await create(t)
  await sandbox.seed(RECORDS)
  await api(sandbox, 'POST', '/direct-debit', collection({ collectionReference: 'COL-0002' }))
  await sandbox.requests.expect({ method: 'POST', path: '/api/v1/direct-debit' })
  const error = await sandbox.requests.expect(EXPECTATION).catch(error => error)
  const [file, ...others] = readdirSync(folder)
  t.same(others, [], 'one file, and none for the expectation that holds')
  t.match(file, /^expect-app-\d+-\d+-\d+\.json$/)
  const path = join(folder, file as string)
  t.equal(error.evidence, path)
  t.ok(error.message.endsWith(`\nEvidence: ${path}`), error.message)
  const text = readFileSync(path, 'utf8')
  const evidence = JSON.parse(text)
  t.match(evidence, {
    clientId: 'app',
    now: MONDAY,
    expectation: EXPECTATION,
    verification: { matched: false, count: 0 },
    message: /^Requests like/,
  })
  t.same(evidence.requests, await sandbox.requests.list())
  t.same(evidence.events, await sandbox.events.list())
  t.equal(Object.keys(evidence)[0], 'summary', 'the summary is the first member')
  t.match(evidence.summary, /^Client app, .*\nRequests\n {2}#1 POST /s)
  const [explained] = evidence.records
  t.match(explained, {
    kind: 'collection',
    reference: 'COL-0002',
    record: { status: 'PENDING' },
    next: { to: 'SUBMITTED' },
  })
  t.notMatch(text, /"secret"/, 'it has no secret')
  await sandbox.requests.expect(EXPECTATION).catch(() => {})
  t.equal(readdirSync(folder).length, 2, 'each failure has a file of its own')
})

t.test('library, SANDBOX_EVIDENCE: the file of evidence() has the name of the test', async t => {
  const folder = folderOf(t)
  const sandbox = await create(t)
  const path = await sandbox.evidence('returns: AM04, "ä"/../b')
  const [file = ''] = readdirSync(folder)
  t.equal(path, join(folder, file))
  t.match(file, /^failure-returns_AM04_ä_.._b-app-\d+-\d+-\d+\.json$/)
  t.match(JSON.parse(readFileSync(join(folder, file), 'utf8')), { test: 'returns: AM04, "ä"/../b' })
  t.match(await sandbox.evidence('x'.repeat(1000)), /failure-x{80}-app-/)
})

t.test('library, SANDBOX_EVIDENCE: evidence that cannot be written does not hide the failure', async t => {
  const folder = folderOf(t)
  writeFileSync(join(folder, '..', '..', 'file'), '')
  process.env.SANDBOX_EVIDENCE = join(folder, '..', '..', 'file')
  const sandbox = await create(t)
  const error = await sandbox.requests.expect(EXPECTATION).catch(error => error)
  t.match(error, { name: 'ExpectationError', verification: { matched: false }, evidence: undefined })
  t.match(error.message, /expected at least 1, found 0[\s\S]*The evidence was not written: /)
})

t.test('library, SANDBOX_EVIDENCE: evidence() and a timeout of events.next write the same', async t => {
  const folder = folderOf(t)
  const sandbox = await create(t)
  await sandbox.seed(RECORDS)
  await api(sandbox, 'POST', '/direct-debit', collection({ collectionReference: 'COL-0002' }))
  const path = await sandbox.evidence()
  const error = await sandbox.events.next({ to: 'SETTLED' }, { timeoutSeconds: 0 }).catch(error => error)
  const [failure = '', next = '', ...others] = readdirSync(folder).sort()
  t.same(others, [])
  t.match([failure, next], [/^failure-app-\d+-\d+-\d+\.json$/, /^next-app-\d+-\d+-\d+\.json$/])
  t.equal(path, join(folder, failure))
  t.match(error, { name: 'SandboxError', code: 'TIMEOUT' })
  t.match(error.message, /^No new event, to SETTLED within 0 s\. The clock is frozen/)
  t.ok(error.message.endsWith(`\nEvidence: ${join(folder, next)}`), error.message)
  const read = (file: string) => JSON.parse(readFileSync(join(folder, file), 'utf8'))
  const { message, ...evidence } = read(next)
  t.same(evidence, read(failure))
  t.ok(error.message.startsWith(message), message)
  t.match(evidence, { clientId: 'app', now: MONDAY, records: [{ reference: 'COL-0002' }] })
  t.same(evidence.requests, await sandbox.requests.list())
})

t.test('library, SANDBOX_EVIDENCE: evidence() rejects where it cannot write, and does nothing without it', async t => {
  const sandbox = await create(t)
  t.equal(await sandbox.evidence(), undefined)
  const folder = folderOf(t)
  process.env.SANDBOX_EVIDENCE = join(folder, '..', '..', 'file')
  writeFileSync(process.env.SANDBOX_EVIDENCE, '')
  await t.rejects(sandbox.evidence(), /EEXIST|ENOTDIR/)
})

t.test('library, SANDBOX_EVIDENCE: without the variable, nothing is written', async t => {
  const sandbox = await create(t)
  const error = await sandbox.requests.expect(EXPECTATION).catch(error => error)
  t.notMatch(error.message, /[Ee]vidence/)
  t.equal(error.evidence, undefined)
})
