/**
 * Measures SQLite and Postgres against memory, and prints the rows of docs/persistence.md.
 * `BENCH_DATABASE_URL` is an empty Postgres database. Without it, only SQLite is measured.
 * The argument is the checkout to measure, by default this one.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

const ROOT = resolve(process.argv[2] ?? join(import.meta.dirname, '..'))
const DATABASE_URL = process.env.BENCH_DATABASE_URL
const [CONNECTIONS, REQUESTS, SIZE, CLIENTS] = [20, 400, 10_000, 10_000]
const API = '/api/v1/bills'
const TEMPORARY = mkdtempSync(join(tmpdir(), 'payments-sandbox-bench-'))
const folderOf = name => join(TEMPORARY, name)
const json = { 'content-type': 'application/json' }

const children = []
/** Kills the servers. Fulfils when they have ended. */
const stopAll = () =>
  Promise.all(
    children.splice(0).map(child => {
      child.kill('SIGKILL')
      return once(child, 'exit')
    }),
  )
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL')
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
  const child = spawn(process.execPath, [join(ROOT, 'dist/bin/cli.js')], {
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

const median = values => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]

let created = 0
/** Prints the median of one request among some that are sent at once, each for a client of its own. */
async function latencies(name, port) {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  /** Sends a request. Returns the milliseconds until its answer is read. */
  const send = async (method, path, token, body) => {
    const headers = { authorization: `Bearer ${token}`, 'x-region': 'EU', ...(body && json) }
    const began = performance.now()
    const sent = request({ port, agent, method, path, headers }).end(body)
    const [response] = await once(sent, 'response')
    for await (const _ of response);
    assert(response.statusCode < 300, `${method} ${path}: ${response.statusCode}`)
    return performance.now() - began
  }
  const clients = Array.from({ length: CONNECTIONS }, (_, at) => `parallel-${at}`)
  const tokens = await Promise.all(clients.map(client => tokenOf(port, client)))
  await Promise.all(tokens.map(token => send('POST', API, token, JSON.stringify(bill('0001')))))
  for (const method of ['POST', 'GET']) {
    const one = token =>
      method === 'GET'
        ? send('GET', `${API}/INV-0001`, token)
        : send('POST', API, token, JSON.stringify(bill(100_000 + ++created)))
    const times = []
    await Promise.all(
      tokens.map(async token => {
        for (let at = 0; at < REQUESTS; at++) times.push(await one(token))
      }),
    )
    // The first half is not counted: the server compiles its code.
    print(`${method} (median, ${CONNECTIONS} in parallel)`, name, median(times.slice(times.length / 2)))
  }
  agent.destroy()
}

const control = async (port, method, path, body) => {
  const request = { method, ...(body && { headers: json, body: JSON.stringify(body) }) }
  const response = await fetch(`http://127.0.0.1:${port}/_sandbox${path}`, request)
  assert(response.ok, `${method} ${path}: ${response.status} ${response.ok ? '' : await response.text()}`)
  return response.json()
}

const print = (what, name, took) => console.log(`| ${what} | ${name} | ${took.toFixed(took < 10 ? 1 : 0)} ms |`)

/** Returns the milliseconds of some work, and its result. */
async function timed(work) {
  const began = performance.now()
  const result = await work()
  return [performance.now() - began, result]
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

/** Measures the work on a client with many collections. */
async function work(name, port) {
  const client = 'large'
  await tokenOf(port, client)
  await control(port, 'POST', `/seed?client=${client}`, { records: { mandates: [mandate] } })
  for (let at = 0; at < SIZE; at += 1000) {
    const collections = Array.from({ length: 1000 }, (_, n) => collection(at + n))
    await control(port, 'POST', `/seed?client=${client}`, { records: { collections } })
  }
  const [fork] = await timed(() => control(port, 'POST', `/fork?client=${client}`, { clientId: 'copy' }))
  print(`fork of ${SIZE} collections`, name, fork)
  const advance = () => control(port, 'POST', `/clock/advance?client=${client}`, { by: 'P60D' })
  const [took, { transitions, omitted }] = await timed(advance)
  print(`advance of ${transitions.length + omitted} transitions`, name, took)
}

/** Measures a start with many clients. */
async function start(name, port, settings) {
  for (let at = 0; at < CLIENTS; at += CONNECTIONS) {
    await Promise.all(Array.from({ length: CONNECTIONS }, (_, n) => tokenOf(port, `client-${at + n}`)))
  }
  await stopAll()
  const { took } = await launch(settings)
  print(`start with ${CLIENTS} clients`, name, took)
}

const settings = { SANDBOX_CLOCK: '2026-11-02T09:00:00Z', SANDBOX_OPEN_REGISTRATION: 'true' }
const subjects = {
  memory: settings,
  SQLite: { ...settings, SANDBOX_DATA: folderOf('sqlite') },
  ...(DATABASE_URL && { Postgres: { ...settings, SANDBOX_DATABASE_URL: DATABASE_URL } }),
}
for (const [name, own] of Object.entries(subjects)) {
  const { port, took } = await launch(own)
  print('start', name, took)
  await latencies(name, port)
  await work(name, port)
  if (name !== 'memory') await start(name, port, own)
  await stopAll()
}
