import { execFileSync, spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import t from 'tap'
import { bill } from '../helper.js'
import { Server } from '../server-process.js'

// Persistence, SQLite: a disk without room. A limit of the size of files has the same effect on one process.

const skip = spawnSync('prlimit', ['--version']).status !== 0 && 'needs prlimit (util-linux)'

/** Sends requests of `sandbox-client`. */
async function connect(server: Server) {
  const form = { grant_type: 'client_credentials', client_id: 'sandbox-client', client_secret: 'sandbox-secret' }
  const { text } = await server.transport({
    ...{ method: 'POST', url: '/api/v1/oauth/token', payload: new URLSearchParams(form).toString() },
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  const headers = { authorization: `Bearer ${JSON.parse(text).access_token}`, 'x-region': 'EU' }
  return {
    get: (url: string) => server.transport({ method: 'GET', url, headers }),
    create: (uniqueReferenceIdentifier: string) =>
      server.transport({
        ...{ method: 'POST', url: '/api/v1/bills', headers: { ...headers, 'content-type': 'application/json' } },
        payload: JSON.stringify(bill({ uniqueReferenceIdentifier })),
      }),
  }
}

async function start(t: Test, settings: Readonly<Record<string, string>>) {
  const server = await Server.start(settings)
  t.teardown(() => server.child.kill('SIGKILL'))
  return server
}

t.test('persistence, SQLite: on a full disk, writes and health/ready are 503, and reads go on', { skip }, async t => {
  const SANDBOX_DATA = join(t.testdir(), 'data')
  const server = await start(t, { SANDBOX_DATA })
  let log = ''
  server.child.stdout?.on('data', text => {
    log += text
  })
  const limit = (bytes: number | 'unlimited') =>
    execFileSync('prlimit', ['--pid', String(server.child.pid), `--fsize=${bytes}:`])
  const { get, create } = await connect(server)
  const ready = async () => (await get('/_sandbox/health/ready')).status
  const state = async () => (await get('/_sandbox/state')).text
  t.equal((await create('INV-0001')).status, 201)
  t.equal(await ready(), 200)
  const before = await state()

  limit(statSync(join(SANDBOX_DATA, 'sandbox.db-wal')).size)
  t.equal(await ready(), 503, 'also before the first write that fails')
  const refused = await create('INV-0002')
  t.match([refused.status, JSON.parse(refused.text).code], [503, 'SERVICE_UNAVAILABLE'])
  t.equal((await get('/api/v1/bills/INV-0001')).status, 200)
  t.equal((await get('/_sandbox/health/live')).status, 200)
  t.equal(await state(), before)
  t.equal(await ready(), 503)

  limit('unlimited')
  t.equal(await ready(), 200)
  t.equal(await state(), before)
  t.equal((await create('INV-0002')).status, 201)
  const after = await state()
  await server.kill()
  const lines = log.split('\n').filter(Boolean)
  t.equal(lines.length, 3)
  for (const line of lines) {
    const { level, time, pid, hostname, clientId, code, reason, ...rest } = JSON.parse(line)
    t.same(rest, { msg: 'the database cannot be used' })
    t.match([code, reason], [/^SQLITE_/, /^[^\n]{5,100}$/])
  }
  t.equal((await (await connect(await start(t, { SANDBOX_DATA }))).get('/_sandbox/state')).text, after)
})
