import fs, { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import Libsql from 'libsql'
import type { Test } from 'tap'
import t from 'tap'
import { errors } from '../../src/core/errors.js'
import type { RequestLog } from '../../src/features/request-log/request-log.js'
import { createRequestLog } from '../../src/features/request-log/request-log.js'
import type { Database } from '../../src/turns/database.js'
import { DatabaseError, toRecordRow, toTenantRow } from '../../src/turns/database.js'
import { openSqlite } from '../../src/turns/sqlite.js'
import { refused } from '../answers.js'
import { sendFields } from '../console/pages.js'
import { bill, call, connect, requestToken } from '../helper.js'
import { copyOf, onSqlite, stateOf, testRefusals } from './helper.js'

const IS_LONG = process.env.TEST_LONG === '1'
const FILE = 'sandbox.db'

const open = (folder: string, seed?: string) =>
  openSqlite(folder, { seed: seed ?? 'random', isSeedGiven: seed !== undefined })

/** Makes a database file by SQL. Returns its folder. */
function make(t: Test, name: string, sql: string): string {
  const folder = join(t.testdirName, name)
  mkdirSync(folder, { recursive: true })
  const connection = new Libsql(join(folder, FILE))
  connection.exec(sql)
  connection.close()
  return folder
}

/** The database of release 0.1.0. */
const FORMER = `
  PRAGMA application_id = ${0x50617953};
  PRAGMA user_version = 2;
  CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL, checksum TEXT NOT NULL) WITHOUT ROWID, STRICT;
  CREATE TABLE tenant_log (
    client_id TEXT NOT NULL, sequence INTEGER NOT NULL, instant INTEGER NOT NULL, operation TEXT NOT NULL,
    content TEXT NOT NULL, document BLOB, checksum TEXT NOT NULL, PRIMARY KEY (client_id, sequence)
  ) STRICT;
  CREATE TABLE link (payout_link_id TEXT, client_id TEXT, PRIMARY KEY (payout_link_id, client_id)) WITHOUT ROWID, STRICT;
  INSERT INTO setting VALUES ('seed', 'test', 'x');
  INSERT INTO tenant_log VALUES ('acme', 1, 0, 'begin', '{}', NULL, 'x');`

t.test('persistence, SQLite: a file that is no database of this release is refused, and left', async t => {
  t.testdir({ text: { [FILE]: 'text '.repeat(1000) }, empty: { [FILE]: '' }, folder: { [FILE]: {} }, file: 'text' })
  const folders: Record<string, RegExp> = {
    text: /not a database/,
    empty: /not a database of payments-sandbox/,
    folder: /cannot be used/,
    file: /cannot be used/,
    [make(t, 'foreign', 'CREATE TABLE other (n)')]: /not a database of payments-sandbox/,
    [make(t, 'former', FORMER)]: /payments-sandbox 0\.1.*nothing was changed.*0\.1\.0.*curl.*\/state\?.*curl -X PUT/i,
    [make(t, 'former in WAL mode', `PRAGMA journal_mode = WAL; ${FORMER}`)]: /payments-sandbox 0\.1/,
  }
  const own = await onSqlite(t, join(t.testdirName, 'newer'))
  await connect(own.app)
  await own.close()
  const version = new Libsql(join(t.testdirName, 'newer', FILE))
  version.exec('PRAGMA user_version = 199')
  version.close()
  folders.newer = /later release: its version is 199, and this one reads \d+/
  for (const [name, expected] of Object.entries(folders)) {
    const folder = name.startsWith('/') ? name : join(t.testdirName, name)
    const read = () => (['folder', 'file'].includes(name) ? null : readFileSync(join(folder, FILE)))
    const before = read()
    const error = await open(folder).catch((error: Error) => error)
    t.ok(error instanceof DatabaseError, `${name}: ${error}`)
    t.match((error as Error).message, expected, name)
    t.notMatch((error as Error).message, '\n')
    t.same(read(), before, `${name} is as it was`)
    if (before !== null) t.same(readdirSync(folder), [FILE], name)
  }
})

t.test('persistence, SQLite: the log beside a file of the former format is left, too', async t => {
  t.testdir()
  const folder = make(t, 'written', `PRAGMA journal_mode = WAL; ${FORMER}`)
  const writer = new Libsql(join(folder, FILE))
  writer.exec(`INSERT INTO tenant_log VALUES ('acme', 2, 0, 'POST /x', '{}', NULL, 'x')`)
  const crashed = copyOf(t, folder)
  writer.close()
  const sizes = () => readdirSync(crashed).map(name => [name, statSync(join(crashed, name)).size])
  const before = sizes()
  t.ok(before.length === 2)
  await t.rejects(open(crashed), { message: /payments-sandbox 0\.1/ })
  t.same(sizes(), before)
  const reader = new Libsql(join(crashed, FILE))
  t.equal((reader.prepare('SELECT count(*) AS n FROM tenant_log').get() as { n: number }).n, 2)
  reader.close()
})

t.test('persistence, SQLite: the database keeps the seed of its first use, and refuses another', async t => {
  const folder = join(t.testdir(), 'a', 'b')
  await (await open(folder)).close()
  t.same(readdirSync(folder), [FILE], 'no log is left beside it')
  t.equal(statSync(join(folder, FILE)).mode & 0o777, 0o600)
  for (const seed of ['random', undefined]) {
    const next = await open(folder, seed)
    t.equal(next.seed, 'random')
    await next.close()
  }
  await t.rejects(open(folder, 'other'), { message: /^[^\n]*sandbox\.db[^\n]*SANDBOX_SEED[^\n]*$/ })
})

t.test('persistence, SQLite: a second server on the file is refused, and the first goes on', async t => {
  const folder = t.testdir()
  const first = await onSqlite(t, folder)
  const client = await connect(first.app)
  await t.rejects(open(folder), { message: /^"[^\n]*sandbox\.db" is in use by another server\.$/ })
  t.equal((await client.post('/api/v1/bills', bill())).status, 201)
  const state = await stateOf(first.app)
  await first.close()
  t.equal(await stateOf((await onSqlite(t, folder)).app), state)
})

t.test('persistence, SQLite: flipped, overwritten or missing bytes are found, or harmless', async t => {
  const folder = t.testdir()
  const stored = await onSqlite(t, folder)
  const clientIds = Array.from({ length: 12 }, (_, at) => `client-${at}`)
  const states = new Map<string, string>()
  for (const clientId of clientIds) {
    const client = await connect(stored.app, clientId)
    for (let n = 0; n < 5; n++) await client.post('/api/v1/bills', bill({ uniqueReferenceIdentifier: `INV-00${n}` }))
    states.set(clientId, await stateOf(stored.app, clientId))
  }
  await stored.close()
  const whole = readFileSync(join(folder, FILE))
  t.ok(whole.length > 40_000, `${whole.length} bytes`)
  let copies = 0

  /** Returns whether the damage is found. Otherwise, each tenant must be as it was. */
  async function isFound(damaged: Buffer, title: string): Promise<boolean> {
    const copy = join(t.testdirName, `damaged-${++copies}`)
    mkdirSync(copy)
    writeFileSync(join(copy, FILE), damaged)
    const messages: string[] = []
    const server = await onSqlite(t, copy, { messages }).catch((error: Error) => error)
    if (server instanceof Error) {
      t.ok(server instanceof DatabaseError && !server.message.includes('\n'), `${title}: ${server.message}`)
      return true
    }
    let refusals = 0
    for (const [clientId, state] of states) {
      const { statusCode, payload } = await server.app.inject(`/_sandbox/state?client=${clientId}`)
      if (statusCode === 503) refusals++
      else if (statusCode !== 200 || payload !== state)
        t.fail(`${title}: ${clientId} is answered ${statusCode} ${payload}`)
    }
    if (refusals > 0) t.match(messages, [/database/])
    await server.close()
    return refusals > 0
  }
  const flipped = (offset: number, bit: number) => {
    const copy = Buffer.from(whole)
    copy[offset] = (copy[offset] as number) ^ (1 << bit)
    return copy
  }

  const numRuns = IS_LONG ? 1000 : 20
  let found = 0
  for (const [offset, bit] of fc.sample(fc.tuple(fc.nat(whole.length - 1), fc.nat(7)), { seed: 16, numRuns })) {
    if (await isFound(flipped(offset, bit), `bit ${bit} of byte ${offset}`)) found++
    if (!t.passing()) return
  }
  t.ok(found > numRuns / 3, `${found} of ${numRuns} flips are found, the others are in unused bytes`)
  for (const length of fc.sample(fc.integer({ min: 0, max: whole.length - 1 }), { seed: 17, numRuns: 5 })) {
    t.ok(await isFound(whole.subarray(0, length), `cut to ${length}`), `cut to ${length}`)
  }
  // No UTF-8: the library would end the process.
  for (const text of ['"uniqueReferenceIdentifier":"', '"secretDigest":"', 'seedtest', '"kind":"bill"']) {
    const damaged = Buffer.from(whole.toString('latin1').replaceAll(text, `${text.slice(0, -1)}\xff`), 'latin1')
    t.ok(await isFound(damaged, text), text)
  }
})

t.test('persistence, SQLite: a statement or COMMIT that fails is undone, and the next turn is stored', async t => {
  const folder = t.testdir()
  await (await open(folder, 'test')).close()
  const connection = new Libsql(join(folder, FILE))
  connection.exec(`
    CREATE TABLE parent (id INTEGER PRIMARY KEY);
    CREATE TABLE child (id INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
    CREATE TRIGGER failing_statement AFTER INSERT ON sandbox_tenant WHEN CAST(NEW.client_id AS TEXT) = 'statement'
    BEGIN SELECT RAISE(ABORT, 'injected'); END;
    CREATE TRIGGER failing_commit AFTER INSERT ON sandbox_tenant WHEN CAST(NEW.client_id AS TEXT) = 'commit'
    BEGIN INSERT INTO child VALUES (1); END;`)
  connection.close()
  const stored = await onSqlite(t, folder)
  await testRefusals(t, stored)
  const { database } = stored
  const row = { version: 1, life: 1, instant: 0, isRemoved: false, content: '{}' }
  for (const [clientIds, status] of [
    [['other', 'statement'], 'rejected'],
    [['one', 'two'], 'fulfilled'],
  ] as const) {
    const turns = clientIds.map(async clientId => {
      const turn = await database.begin([clientId])
      await turn.write(clientId, toTenantRow(clientId, row), { record: [], event: [] })
      return turn
    })
    const commits = (await Promise.all(turns)).map(turn => turn.commit())
    const outcomes = (await Promise.allSettled(commits)).map(({ status }) => status)
    t.same(outcomes, [status, status], `${clientIds.join(' and ')} share a commit`)
  }
  const clients = await database.clients()
  t.same(clients, ['after-commit', 'after-statement', 'one', 'two'])
  await stored.close()
  t.same(await (await onSqlite(t, folder)).database.clients(), clients)
})

/** A client of a server on a folder, and a check that its writes are refused and its reads go on. */
async function writer(t: Test, folder: string, what: string, messages: string[] = []) {
  const stored = await onSqlite(t, folder, { messages })
  const client = await connect(stored.app)
  const create = (n: number) => client.post('/api/v1/bills', bill({ uniqueReferenceIdentifier: `INV-000${n}` }))
  t.equal((await create(1)).status, 201)
  const state = await stateOf(stored.app)
  async function refuses() {
    refused(t, await create(2), 503, 'SERVICE_UNAVAILABLE', null, what)
    t.equal((await call(stored.app, 'GET', '/_sandbox/health/ready')).status, 503)
    t.equal(await stateOf(stored.app), state, 'reads go on')
  }
  return { ...stored, create, refuses }
}

t.test('persistence, SQLite: a file that is deleted, moved or replaced takes no write', async t => {
  const messages: string[] = []
  for (const what of ['deleted', 'moved']) {
    const folder = join(t.testdir({}), what)
    const { app, close, create, refuses } = await writer(t, folder, what, messages)
    if (what === 'moved') fs.renameSync(folder, `${folder}-2`)
    else fs.rmSync(folder, { recursive: true })
    await refuses()
    const second = await onSqlite(t, folder)
    t.equal((await (await connect(second.app)).post('/api/v1/bills', bill())).status, 201)
    await refuses()
    await second.close()
    if (what === 'deleted') continue
    fs.rmSync(folder, { recursive: true })
    fs.renameSync(`${folder}-2`, folder)
    t.equal((await create(2)).status, 201, 'it is back')
    const after = await stateOf(app)
    await close()
    t.equal(await stateOf((await onSqlite(t, folder)).app), after)
  }
  t.match(messages, [/database/])
})

t.test('persistence, SQLite: a log that is deleted, moved, replaced or shortened takes no write', async t => {
  const damages: Record<string, (log: string) => void> = {
    deleted: log => fs.rmSync(log),
    moved: log => fs.renameSync(log, `${log}-2`),
    replaced(log) {
      copyFileSync(log, `${log}-2`)
      fs.renameSync(`${log}-2`, log)
    },
    emptied: log => fs.truncateSync(log),
    shortened: log => fs.truncateSync(log, statSync(log).size - 1),
  }
  for (const [what, damage] of Object.entries(damages)) {
    const folder = join(t.testdir({}), what)
    const log = join(folder, `${FILE}-wal`)
    const { app, close, create, refuses } = await writer(t, folder, what)
    damage(log)
    for (const _ of [1, 2]) await refuses()
    if (what === 'moved') {
      fs.renameSync(`${log}-2`, log)
      t.equal((await create(2)).status, 201, 'it is back')
    }
    const after = await stateOf(app)
    await close()
    if (['emptied', 'shortened'].includes(what)) continue
    t.equal(await stateOf((await onSqlite(t, folder)).app), after, 'a clean stop loses nothing')
  }
})

t.test('persistence, SQLite: the server goes on with a log that begins again after it was copied', async t => {
  const folder = t.testdir()
  const { app } = await onSqlite(t, folder)
  const client = await connect(app)
  const looks: number[] = []
  for (let at = 0; at < 4; at++) {
    const bills = Array.from({ length: 3000 }, (_, n) => bill({ uniqueReferenceIdentifier: `INV-${at}-${n}` }))
    t.equal((await client.control('POST', '/seed', { records: { bills } })).status, 200)
    looks.push(statSync(join(folder, `${FILE}-wal`)).size)
  }
  t.ok(looks[2] === looks[1], `it began again: ${looks}`)
  t.equal((await client.post('/api/v1/bills', bill())).status, 201)
})

t.test('persistence, SQLite: a commit whose file goes meanwhile is not acknowledged', async t => {
  const folder = join(t.testdir({}), 'data')
  const { database } = await onSqlite(t, folder)
  const turn = await database.begin(['acme'])
  const row = { version: 1, life: 1, instant: 0, isRemoved: false, content: '{}' }
  await turn.write('acme', toTenantRow('acme', row), { record: [], event: [] })
  const patched = fs as { statSync: typeof statSync }
  const { statSync: original } = fs
  t.teardown(() => {
    patched.statSync = original
  })
  let looks = 0
  patched.statSync = ((...given: Parameters<typeof original>) => {
    const found = original(...given)
    if (given[0] === join(folder, `${FILE}-wal`) && ++looks === 1) fs.renameSync(folder, `${folder}-2`)
    return found
  }) as typeof original
  await t.rejects(turn.commit(), { message: /no longer the file/ })
  t.equal(looks, 1)
})

t.test('persistence, SQLite: health/ready is 503 if the disk has less than 1 MiB left', async t => {
  const { statfs } = fs.promises
  t.teardown(() => {
    fs.promises.statfs = statfs
  })
  const folder = t.testdir()
  const messages: string[] = []
  const { app } = await onSqlite(t, folder, { messages })
  for (const [room, status] of [
    [{ blocks: 1000, bavail: 256, bsize: 4096 }, 200],
    [{ blocks: 1000, bavail: 255, bsize: 4096 }, 503],
    [{ blocks: 1000, bavail: 0, bsize: 4096 }, 503],
    // A file system that tells nothing.
    [{ blocks: 0, bavail: 0, bsize: 4096 }, 200],
  ] as const) {
    fs.promises.statfs = (async (path: string) => {
      t.equal(path, folder)
      return room
    }) as unknown as typeof statfs
    t.equal((await call(app, 'GET', '/_sandbox/health/ready')).status, status)
  }
  t.same(messages, Array(2).fill('the database cannot be used'))
})

t.test('persistence, SQLite: a row that is missing, or that is of another time or client, is found', async t => {
  const folder = t.testdir()
  const first = await onSqlite(t, folder)
  for (const clientId of ['acme', 'beta']) {
    const client = await connect(first.app, clientId)
    for (const n of [1, 2]) await client.post('/api/v1/bills', bill({ uniqueReferenceIdentifier: `INV-000${n}` }))
    await client.patch('/api/v1/bills/INV-0001', { status: 'PAID' })
  }
  const beta = await stateOf(first.app, 'beta')
  await first.close()
  const ofAcme = "WHERE client_id = 'acme'"
  const damages = [
    `DELETE FROM sandbox_record ${ofAcme} AND number = 2`,
    `DELETE FROM sandbox_event ${ofAcme} AND number = 3`,
    `DELETE FROM sandbox_event ${ofAcme} AND number = 2`,
    `UPDATE sandbox_record SET version = version + 1 ${ofAcme} AND number = 2`,
    `UPDATE sandbox_record SET content = (SELECT content FROM sandbox_record ${ofAcme} AND number = 3) ${ofAcme} AND number = 2`,
    `UPDATE sandbox_event SET number = 9 ${ofAcme} AND number = 3`,
    `UPDATE sandbox_tenant SET version = version + 1 ${ofAcme}`,
    // A text that is not UTF-8 in a column of numbers.
    `UPDATE sandbox_tenant SET life = CAST(X'ff' AS TEXT) ${ofAcme}`,
    `UPDATE sandbox_record SET number = CAST(X'ff' AS TEXT) ${ofAcme} AND number = 2`,
    `UPDATE sandbox_event SET version = CAST(X'ff' AS TEXT) ${ofAcme} AND number = 1`,
    `UPDATE sandbox_tenant SET (content, checksum) = (SELECT content, checksum FROM sandbox_tenant WHERE client_id = 'beta') ${ofAcme}`,
  ]
  for (const [at, sql] of damages.entries()) {
    const copy = join(t.testdirName, `rows-${at}`)
    mkdirSync(copy)
    copyFileSync(join(folder, FILE), join(copy, FILE))
    const connection = new Libsql(join(copy, FILE))
    t.equal(connection.prepare(sql).run([]).changes, 1, sql)
    connection.close()
    const { app } = await onSqlite(t, copy)
    const answer = await call(app, 'GET', '/_sandbox/state?client=acme')
    t.match([answer.status, answer.body.code], [503, 'SERVICE_UNAVAILABLE'], sql)
    t.equal((await requestToken(app)).status, 503)
    t.equal(await stateOf(app, 'beta'), beta, 'another client is as it was')
  }
})

t.test('persistence, Upgrades: a client with an unknown region concerns no other, and can be reset', async t => {
  const folder = t.testdir()
  const first = await onSqlite(t, folder)
  await (await connect(first.app)).post('/api/v1/bills', bill())
  await first.close()
  const connection = new Libsql(join(folder, FILE))
  const found = connection.prepare("SELECT number, version, content FROM sandbox_record WHERE kind = 'bills'").get([])
  const { number, version, content } = found as { number: number; version: number; content: string }
  const row = toRecordRow('acme', version, { ...JSON.parse(content), region: 'GB' })
  connection
    .prepare('UPDATE sandbox_record SET region = ?1, content = ?2, checksum = ?3 WHERE number = ?4')
    .run([row.region, row.content, row.checksum, number])
  connection.close()
  const { app } = await onSqlite(t, folder)
  refused(t, await call(app, 'GET', '/_sandbox/state?client=acme'), 503, 'SERVICE_UNAVAILABLE', null)
  for (const list of ['', '/clients']) t.equal((await call(app, 'GET', `/_sandbox${list}`)).status, 200)
  t.equal((await call(app, 'POST', '/_sandbox/reset?client=acme')).status, 200)
  t.match(JSON.parse(await stateOf(app)).bills, { length: 0 })
})

/** Returns the statement that changes the row of a client. */
const damageOf = (change: string) => `UPDATE sandbox_tenant SET ${change} WHERE client_id = ?1`

/** Damages a row for each of some clients in a copy of the file. Returns its folder. */
function damagedCopy(
  t: Test,
  folder: string,
  rows: Iterable<readonly [clientId: string, damage: string, ...unknown[]]>,
) {
  const copy = copyOf(t, folder)
  const connection = new Libsql(join(copy, FILE))
  for (const [clientId, damage] of rows) t.equal(connection.prepare(damage).run([clientId]).changes, 1, damage)
  connection.close()
  return copy
}

t.test('persistence, State in tables: the secret that a repaired client takes is stored', async t => {
  const folder = t.testdir()
  const first = await onSqlite(t, folder)
  for (const clientId of ['acme', 'beta']) await connect(first.app, clientId)
  await first.close()
  const damage = damageOf(`content = 'x'`)
  const copy = damagedCopy(t, folder, [
    ['acme', damage],
    ['beta', damage],
  ])
  const second = await onSqlite(t, copy)
  const check = { client_id: 'beta', client_secret: 'other' }
  for (const clientId of ['acme', 'beta']) await call(second.app, 'POST', `/_sandbox/reset?client=${clientId}`)
  const { token } = await connect(second.app, 'acme', 'EU', 'other')
  t.equal((await call(second.app, 'POST', '/_sandbox/credentials/verify', { body: check })).status, 200)
  await second.close()
  const { app } = await onSqlite(t, copy)
  const headers = { authorization: `Bearer ${token}` }
  t.equal((await call(app, 'GET', '/api/v1/bills', { region: 'EU', headers })).status, 200)
  for (const client_id of ['acme', 'beta']) {
    for (const [client_secret, status] of [
      ['secret', 401],
      ['other', 200],
    ] as const) {
      t.equal((await requestToken(app, { client_id, client_secret })).status, status, `${client_id}: ${client_secret}`)
    }
  }
})

t.test('console, Actions: "Send again" is done, whatever happens to the log and to its client after it', async t => {
  const messages: string[] = []
  let reads = 0
  let afterCall = async () => {}
  let areClientsLost = false
  const wrap = (database: Database): Database => ({
    ...database,
    clients: () => (areClientsLost ? Promise.reject(new Error('lost')) : database.clients()),
    createRequestLog(bounds) {
      const log = createRequestLog(bounds)
      const list: RequestLog['list'] = async (...filter) => {
        // The first read is of the request to send.
        if (++reads === 2) await afterCall()
        return log.list(...filter)
      }
      return { ...log, list }
    },
  })
  const { app, registry } = await onSqlite(t, t.testdir(), { wrap, messages, maxTenants: 1 })
  await connect(app, 'beta')
  const { get } = await connect(app)
  await get('/api/v1/mandates')
  const lose = (failure: Error) => () => Promise.reject(failure)
  const useOther = async () => {
    t.equal((await call(app, 'GET', '/_sandbox/state?client=beta')).status, 200)
    t.notOk(registry.has('acme'), 'it has made room for the other')
  }
  const loseClients = async () => {
    areClientsLost = true
  }
  for (const [after, page, logged] of [
    [lose(errors.unavailable('The database is away.')), '/requests', 0],
    [lose(new Error('a fault of ours')), '/requests', 1],
    [useOther, '/requests/5', 1],
    [loseClients, '/requests/6', 1],
  ] as const) {
    reads = 0
    afterCall = after
    const sent = await sendFields(app, '/requests/2?client=acme', { form: 'repeat' })
    t.equal(sent.statusCode, 303)
    t.match(sent.headers.location, `console${page}?client=acme&notice=Sent`)
    t.equal(messages.filter(message => message === 'unforeseen failure').length, logged)
  }
})

t.test('persistence, SQLite: a copy of the files at any moment opens, with all that was acknowledged', async t => {
  const folder = t.testdir()
  const { app } = await onSqlite(t, folder)
  const client = await connect(app)
  const rounds = IS_LONG ? 200 : 8
  let created = 0
  const acknowledged = new Set<string>()
  for (let round = 0; round < rounds; round++) {
    const burst = Array.from({ length: 8 }, async () => {
      const uniqueReferenceIdentifier = `INV-${++created + 10_000}`
      const { status } = await client.post('/api/v1/bills', bill({ uniqueReferenceIdentifier }))
      if (status === 201) acknowledged.add(uniqueReferenceIdentifier)
    })
    for (let turns = 0; turns < round % 8; turns++) await burst[turns]
    const expected = [...acknowledged]
    const copy = copyOf(t, folder)
    await Promise.all(burst)
    const restarted = await onSqlite(t, copy)
    const text = await stateOf(restarted.app)
    await restarted.close()
    const wrong = expected.filter(reference => !text.includes(`"${reference}"`))
    t.same(wrong, [], `${expected.length} acknowledged before copy ${round}`)
  }
  t.equal(acknowledged.size, rounds * 8)
  t.ok(statSync(join(folder, `${FILE}-wal`)).size < 8_000_000, 'the log beside the file stays short')
})
