/**
 * Measures SQLite and Postgres against tenants in memory, and prints the rows of docs/persistence.md.
 * `BENCH_DATABASE_URL` is an empty Postgres database; without it, only SQLite is measured.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import autocannon from 'autocannon'

const ROOT = join(import.meta.dirname, '..')
const DATABASE_URL = process.env.BENCH_DATABASE_URL
const [ROUNDS, SECONDS, CONNECTIONS, TENANTS] = [3, 5, 30, 30]
const API = '/api/v1/bills'
const TEMPORARY = mkdtempSync(join(tmpdir(), 'payments-sandbox-bench-'))
const folderOf = name => join(TEMPORARY, name)
const json = { 'content-type': 'application/json' }

const children = []
const stopAll = () => children.splice(0).map(child => child.kill('SIGKILL'))
process.on('exit', () => {
  stopAll()
  rmSync(TEMPORARY, { recursive: true, force: true })
})
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130))

const bill = number => ({
  ...{ uniqueReferenceIdentifier: `INV-${number}`, type: 'INVOICE', cashflowType: 'INFLOW', currency: 'EUR' },
  ...{ counterpartyReference: 'CPTY-0001', totalAmount: '100', dueDate: '2027-02-01' },
})

/** Starts a server. Returns its port, and the milliseconds until it is ready. */
async function launch(settings) {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const port = String(probe.address().port)
  await once(probe.close(), 'close')
  const environment = { NODE_ENV: 'production', SANDBOX_SEED: 'bench', LOG_LEVEL: 'error', HOME: TEMPORARY, PORT: port }
  const began = performance.now()
  const child = spawn(process.execPath, [join(ROOT, 'dist/cli.js')], {
    env: { ...environment, ...settings },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  children.push(child)
  while (!(await fetch(`http://127.0.0.1:${port}/_sandbox/health/ready`).catch(() => undefined))?.ok) {
    assert(child.exitCode === null, 'The server has ended.')
    await wait(2)
  }
  return { port, took: performance.now() - began }
}

async function tokenOf(port, client) {
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: client, client_secret: 'secret' })
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/oauth/token`, { method: 'POST', body })
  return (await response.json()).access_token
}

let created = 0
/** Returns the requests a second that some servers answer together. */
async function rateOf(ports, tokens, method, duration) {
  const results = await Promise.all(
    ports.map((port, at) => {
      const own = tokens.filter((_, n) => n % ports.length === at)
      const requests = own.map(token => ({
        method,
        path: method === 'GET' ? `${API}/INV-0001` : API,
        headers: { authorization: `Bearer ${token}`, 'x-region': 'EU', ...(method === 'POST' && json) },
        ...(method === 'POST' && {
          setupRequest: built => ({ ...built, body: JSON.stringify(bill(100_000 + ++created)) }),
        }),
      }))
      const connections = CONNECTIONS / ports.length
      return autocannon({ url: `http://127.0.0.1:${port}`, connections, timeout: 20, duration, requests })
    }),
  )
  for (const result of results) assert.equal(result.non2xx + result.errors, 0, `${method} was refused`)
  return results.reduce((sum, result) => sum + result['2xx'], 0) / duration
}

const median = values => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]

async function rates() {
  const postgres = { SANDBOX_DATABASE_URL: DATABASE_URL }
  const subjects = {
    memory: [{}],
    SQLite: [{ SANDBOX_DATA: folderOf('rates') }],
    ...(DATABASE_URL && {
      'Postgres, one server': [postgres],
      'Postgres, three servers': [postgres, postgres, postgres],
    }),
  }
  const rates = {}
  for (const [name, settings] of Object.entries(subjects)) {
    const ports = (await Promise.all(settings.map(launch))).map(({ port }) => port)
    const tokens = []
    for (let at = 0; at < TENANTS; at++) {
      const token = await tokenOf(ports[0], `${name.replace(/\W+/g, '-')}-${at}`)
      const headers = { authorization: `Bearer ${token}`, 'x-region': 'EU', ...json }
      const first = { method: 'POST', headers, body: JSON.stringify(bill('0001')) }
      assert.equal((await fetch(`http://127.0.0.1:${ports[0]}${API}`, first)).status, 201)
      tokens.push(token)
    }
    for (const method of ['GET', 'POST']) {
      const values = []
      // The first round is not counted: the servers compile their code.
      for (let round = 0; round <= ROUNDS; round++) values.push(await rateOf(ports, tokens, method, SECONDS))
      rates[`${method} ${name}`] = median(values.slice(1))
      const ratio = rates[`${method} ${name}`] / rates[`${method} memory`]
      console.log(`| ${method}, ${name} | ${Math.round(rates[`${method} ${name}`])}/s | ${ratio.toFixed(2)} |`)
    }
    stopAll()
  }
}

/** Copies one tenant many times, and compares the starts. */
async function starts() {
  const { openSqlite } = await import('../dist/turns/sqlite.js')
  const { openPostgres } = await import('../dist/turns/postgres.js')
  const seed = { seed: 'bench', isSeedGiven: true, logger: { info() {}, error: console.error } }
  const subjects = {
    SQLite: [{ SANDBOX_DATA: folderOf('starts') }, () => openSqlite(folderOf('starts'), seed)],
    ...(DATABASE_URL && { Postgres: [{ SANDBOX_DATABASE_URL: DATABASE_URL }, () => openPostgres(DATABASE_URL, seed)] }),
  }
  for (const [name, [settings, open]] of Object.entries(subjects)) {
    const timesOf = async () => {
      const took = []
      for (let round = 0; round < 7; round++) {
        took.push((await launch(settings)).took)
        stopAll()
        await wait(200)
      }
      return Math.round(median(took))
    }
    const { port } = await launch(settings)
    await tokenOf(port, 'one')
    stopAll()
    await wait(200)
    const few = await timesOf()
    const log = await open()
    const [row] = await log.after('one', 0)
    for (let at = 0; at < 10_000; at += 100) {
      const copies = Array.from({ length: 100 }, (_, n) => `copy-${at + n}`)
      await Promise.all(
        copies.map(id => log.appendSnapshot(id, { ...row, content: row.content.replaceAll('"one"', `"${id}"`) })),
      )
    }
    await log.close()
    console.log(`| start with 10,000 tenants, ${name} | ${await timesOf()} ms | ${few} ms with one |`)
  }
}

await rates()
await starts()
