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

const control = async (port, method, path, body) => {
  const request = { method, ...(body && { headers: json, body: JSON.stringify(body) }) }
  const response = await fetch(`http://127.0.0.1:${port}/_sandbox${path}`, request)
  assert(response.ok, `${method} ${path}: ${response.status} ${response.ok ? '' : await response.text()}`)
  return response.json()
}

/** Returns the milliseconds of some work, and its result. */
async function timed(work) {
  const began = performance.now()
  const result = await work()
  return [Math.round(performance.now() - began), result]
}

const collection = number => ({
  ...{ collectionReference: `COL-${String(number).padStart(7, '0')}`, mandateReference: 'MND-0001' },
  ...{ amount: '10', currency: 'EUR', scheme: 'SEPA' },
  collectionDate: `2026-12-${String((number % 28) + 1).padStart(2, '0')}`,
})
const mandate = {
  ...{ mandateReference: 'MND-0001', type: 'RECURRING' },
  creditor: { name: 'Acme', bankIdentifier: { type: 'CREDITOR_IDENTIFIER', value: 'DE98ZZZ09999999999' } },
  debtor: { name: 'Jane Doe', iban: 'FR1420041010050500013M02606' },
}

/** Measures clients of different sizes: their first load, one more record on another server, and a long advance. */
async function sizes() {
  const clock = { SANDBOX_CLOCK: '2026-11-02T09:00:00Z', SANDBOX_OPEN_REGISTRATION: 'true' }
  const subjects = {
    memory: [clock],
    SQLite: [{ ...clock, SANDBOX_DATA: folderOf('sizes') }],
    ...(DATABASE_URL && {
      Postgres: Array.from({ length: 2 }, () => ({ ...clock, SANDBOX_DATABASE_URL: DATABASE_URL })),
    }),
  }
  for (const [name, settings] of Object.entries(subjects)) {
    let ports = (await Promise.all(settings.map(launch))).map(({ port }) => port)
    for (const size of [1000, 10_000, 100_000]) {
      const client = `size-${size}`
      await tokenOf(ports[0], client)
      await control(ports[0], 'POST', `/seed?client=${client}`, { records: { mandates: [mandate] } })
      for (let at = 0; at < size; at += 1000) {
        const collections = Array.from({ length: 1000 }, (_, n) => collection(at + n))
        await control(ports[0], 'POST', `/seed?client=${client}`, { records: { collections } })
      }
      const read = port => control(port, 'GET', `/direct-debit/COL-0000001?client=${client}`)
      if (ports[1] !== undefined) {
        await read(ports[1])
        const more = { records: { collections: [collection(size)] } }
        await control(ports[0], 'POST', `/seed?client=${client}`, more)
        console.log(`| one more of ${size} on another server, ${name} | ${(await timed(() => read(ports[1])))[0]} ms |`)
      }
      if (size === 10_000) {
        const advance = () => control(ports[0], 'POST', `/clock/advance?client=${client}`, { by: 'P60D' })
        const [took, { transitions, omitted }] = await timed(advance)
        console.log(`| advance of ${transitions.length + omitted} transitions, ${name} | ${took} ms |`)
      }
      if (name === 'memory') continue
      stopAll()
      await wait(500)
      ports = (await Promise.all(settings.map(launch))).map(({ port }) => port)
      console.log(`| load of ${size}, ${name} | ${(await timed(() => read(ports[0])))[0]} ms |`)
    }
    stopAll()
    await wait(500)
  }
}

if (process.argv[2] !== 'sizes') await rates()
await sizes()
