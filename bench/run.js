/**
 * Measures the sandbox against a bare Fastify server, Prism, Mockoon and fixed limits, and writes RESULTS.md.
 * `--only library,start,http,pages,lists,large,memory` prints some of the rows, and leaves RESULTS.md as it is.
 * `--short` runs each subject at its smallest size and prints no figures: it only shows that the benchmark works.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import autocannon from 'autocannon'

const BENCH = import.meta.dirname
const ROOT = join(BENCH, '..')
const { bin, exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const NOW = '2026-11-02T09:00:00Z'
const CLIENT = 'bench'
const ENVIRONMENT = {
  ...{ NODE_ENV: 'production', SANDBOX_SEED: 'bench', SANDBOX_CLOCK: NOW, LOG_LEVEL: 'error' },
  // 50,000 collections have mandates beside them.
  SANDBOX_MAX_RECORDS: '100000',
}
const { values: options } = parseArgs({ options: { only: { type: 'string' }, short: { type: 'boolean' } } })
/** The sizes of the subjects. `block` multiplies the requests of a block, and `rounds` repeat what is timed alone. */
const size = options.short
  ? { blocks: 1, block: 0.1, counts: [1000], queries: 1, rounds: 1, libraries: 2, memory: [400, 800] }
  : { blocks: 48, block: 1, counts: [10_000, 50_000], queries: 31, rounds: 5, libraries: 21, memory: [20_000, 180_000] }
const API = '/api/v1/direct-debit'

// Defines the schemas of the four operations, with the constraints of the sandbox.
const text = (minLength, maxLength) => ({ type: 'string', minLength, maxLength })
const oneOf = (...values) => ({ type: 'string', enum: values })
const object = (properties, required = Object.keys(properties)) => ({ type: 'object', properties, required })
const array = items => ({ type: 'array', items })
const reference = { ...text(5, 50), pattern: '^[a-zA-Z0-9\\-]+$' }
const [integer, nullable] = ['integer', ['string', 'null']].map(type => ({ type }))
const bound = { type: 'number', format: 'double', minimum: 0.01 }
const moment = { type: 'string', format: 'date-time' }
const day = { type: 'string', format: 'date', pattern: '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])$' }
const STATUSES = ['SETTLED', 'PENDING', 'RETURNED', 'SUBMITTED', 'PROCESSING', 'FAILED', 'REJECTED', 'CANCELLED']
const members = {
  ...{ collectionReference: reference, scheme: oneOf('SEPA'), mandateReference: reference, status: oneOf(...STATUSES) },
  ...{ amount: { type: 'string', pattern: '^[1-9]\\d{0,8}(\\.\\d{1,2})?$' }, currency: oneOf('EUR') },
  ...{ debtorName: text(1, 140), debtorReference: text(1, 100), collectionDate: day, initiatedAt: moment },
  updatedAt: moment,
}
const required = ['collectionReference', 'mandateReference', 'amount', 'currency', 'collectionDate']
const always = [...required, 'scheme', 'status', 'debtorName', 'initiatedAt', 'updatedAt']
const record = object({ ...members, reasonCode: { type: 'string', pattern: '^[A-Z]{2}[A-Z0-9]{2}$' } }, always)
const data = array(object(members, always))
const page = object({ totalCount: integer, hasMore: { type: 'boolean' }, nextCursor: nullable, data })
const bounds = { initiatedFrom: moment, initiatedTo: moment, amountMin: bound, amountMax: bound }
const { scheme, status, mandateReference, debtorReference } = members
const few = { cursor: text(), limit: { ...integer, minimum: 1, maximum: 500, default: 100 } }
const filters = { ...few, scheme: array(scheme), status: array(status), mandateReference, debtorReference, ...bounds }
const form = object({ client_id: text(1), client_secret: text(1), grant_type: text(1) })
const token = object({ access_token: text(), expires_in: integer, scope: text(), token_type: text() })
const refusal = object({ code: text(), field: nullable, message: text() })
const headers = object({ 'x-region': oneOf('EU') })
const answers = (status, body) => ({ [status]: body, '4xx': refusal, '5xx': refusal })
const schemas = {
  get: { headers, params: object({ collectionReference: reference }), response: answers(200, record) },
  list: { headers, querystring: object(filters, []), response: answers(200, page) },
  create: { headers, body: object(members, required), response: answers(201, record) },
  token: { body: form, response: answers(200, token) },
}

// Makes records, the same in every run.
const DAY = 86_400_000
const END = Date.parse(NOW)
const START = END - 365 * DAY
const instant = time => `${new Date(time).toISOString().slice(0, 19)}Z`
const date = time => instant(time).slice(0, 10)
const times = (length, make) => Array.from({ length }, (_, at) => make(at))
const mandateOf = number => `MND-${1000 + (number % 100)}`
const debtorOf = number => `DEBTOR-${1000 + (number % 70)}`
const creditor = { name: 'Acme GmbH', bankIdentifier: { type: 'CREDITOR_IDENTIFIER', value: 'DE98ZZZ09999999999' } }
const debtor = { name: 'Jane Doe', iban: 'DE89370400440532013000' }
const mandate = number => ({ mandateReference: mandateOf(number), type: 'RECURRING', creditor, debtor })
const newOne = (number, due = END + 14 * DAY) => ({
  ...{ collectionReference: `NEW-${number}`, mandateReference: mandateOf(number), amount: '49.90', currency: 'EUR' },
  ...{ collectionDate: date(due), debtorReference: debtorOf(number) },
})
/** Spreads a year of collections over statuses, mandates, debtors and amounts from 1.00 to 1,000.99. */
const pastOne = (number, count) => {
  const status = STATUSES[((number * 31) % 37) % 8]
  const at = START + Math.floor((number / count) * 365 * 86_400) * 1000
  const isOpen = ['PENDING', 'SUBMITTED', 'PROCESSING'].includes(status)
  const amount = (1 + ((number * 7919) % 100_000) / 100).toFixed(2)
  const own = { collectionReference: `COL-${100_000 + number}`, amount, status }
  return { ...newOne(number, isOpen ? END + 30 * DAY : at + 7 * DAY), ...own, initiatedAt: instant(at) }
}
/** Registers a client, and gives it 100 mandates and `count` collections. Returns the headers of its requests. */
async function seed(port, client, count, make) {
  const { access_token } = await (await send(port, tokenOf(client))).json()
  const add = records => ask(port, 'POST', `/_sandbox/seed?client=${client}`, { records })
  await add({ mandates: times(100, at => ({ ...mandate(at), createdAt: instant(START - DAY) })) })
  for (let first = 0; first < count; first += 2000) {
    await add({ collections: times(Math.min(2000, count - first), at => make(first + at, count)) })
  }
  return fieldsOf(access_token)
}

// Starts servers and sends requests.
const TEMPORARY = mkdtempSync(join(tmpdir(), 'payments-sandbox-bench-'))
const fileOf = name => join(TEMPORARY, `${name}.json`)
const children = []
const stopAll = () => children.splice(0).map(child => child.kill('SIGKILL'))
process.on('exit', () => {
  stopAll()
  rmSync(TEMPORARY, { recursive: true, force: true })
})
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130))
setTimeout(() => assert.fail('The benchmark took more than an hour.'), 3_600_000).unref()
const PRISM = join(BENCH, 'node_modules/@stoplight/prism-cli/dist/index.js')
const MOCKOON = join(BENCH, 'node_modules/@mockoon/cli/bin/run.js')
const programs = {
  sandbox: () => [join(ROOT, typeof bin === 'string' ? bin : Object.values(bin)[0])],
  'bare Fastify': () => [join(BENCH, 'bare.js'), fileOf('bare')],
  Prism: port => [PRISM, 'mock', fileOf('prism'), '-p', port, '--multiprocess', 'false'],
  Mockoon: port => [MOCKOON, 'start', '-d', fileOf('mockoon'), '-p', port, '--disable-log-to-file'],
}
/** Starts a program on a free port. Waits until it issues a token. Only a metered one reports its processor time. */
async function launch(name, isMetered = false, settings = {}) {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const port = String(probe.address().port)
  await once(probe.close(), 'close')
  const env = { ...ENVIRONMENT, HOME: TEMPORARY, PORT: port, ...settings }
  const began = performance.now()
  const meter = isMetered ? ['--import', join(BENCH, 'usage.js')] : []
  const child = spawn(process.execPath, [...meter, ...programs[name](port)], {
    env,
    stdio: ['ignore', 'ignore', 'inherit', ...(isMetered ? ['ipc'] : [])],
  })
  children.push(child)
  while (!(await send(port, tokenOf(CLIENT)).catch(() => undefined))?.ok) {
    assert(child.exitCode === null && performance.now() - began < 60_000, `${name} does not answer`)
    await wait(2)
  }
  return { port, child, took: performance.now() - began }
}

const fieldsOf = token => ({ authorization: `Bearer ${token}`, 'x-region': 'EU' })
const json = { 'content-type': 'application/json' }
const urlOf = port => `http://127.0.0.1:${port}`
const send = (port, { method, path, headers, body }) =>
  fetch(urlOf(port) + path, { method, headers, body, signal: AbortSignal.timeout(30_000) })
const callOf = (method, path, body, fields = {}) => ({
  ...{ method, path, body },
  headers: body === undefined ? fields : { ...fields, ...json },
})
async function ask(port, method, path, body, fields) {
  const answer = await send(port, callOf(method, path, body === null ? undefined : JSON.stringify(body), fields))
  assert(answer.ok, `${method} ${path}: ${answer.status}`)
  return answer.json()
}
const tokenOf = client => ({
  ...{ method: 'POST', path: '/api/v1/oauth/token' },
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: `grant_type=client_credentials&client_id=${client}&client_secret=secret-of-${client}`,
})

// Collects the rows of the table.
const rows = []
const quantile = (values, part) => values.toSorted((a, b) => a - b)[Math.floor(values.length * part)]
const median = values => quantile(values, 0.5)
const collections = count => `${count.toLocaleString('en-US')} collections`
const ms = value => `${value.toFixed(value < 10 ? 2 : 0)} ms`
const row = (...cells) => {
  rows.push([...cells.slice(0, 3), cells[3] ? 'reached' : '**MISSED**'])
  if (!options.short) console.log(rows.at(-1).join(' | '))
}
let created = 0
const nextBody = () => JSON.stringify(newOne(++created))
const setupRequest = built => ({ ...built, body: nextBody() })
// Goals of processor time against the bare server and the other two; `block` requests take some 0.2 seconds.
const operations = {
  get: { title: 'GET one', bare: 0.55, peer: 5, block: 1600, method: 'GET', path: `${API}/COL-100250` },
  list: { title: 'list of 100', bare: 0.6, peer: 1, block: 600, method: 'GET', path: API },
  create: { title: 'POST', bare: 0.45, peer: 3.5, block: 1000, method: 'POST', path: API, setupRequest },
  token: { title: 'token', bare: 0.6, peer: 5, block: 1000, ...tokenOf(CLIENT) },
}

/** The page of a payout link of the demo client. */
const PAGE = {
  ...{ title: 'page of a payout link', bare: 0.15, block: 1000 },
  ...{ method: 'GET', path: '/pay/PL-ACME-EU-0007', headers: { accept: 'text/html' } },
}

/** Starts a sandbox with 500 collections. Writes the files of the other servers, with its answers. */
async function prepare() {
  const sandbox = await launch('sandbox', true)
  const fields = await seed(sandbox.port, CLIENT, 500, pastOne)
  for (const name of ['get', 'list']) operations[name].headers = fields
  Object.assign(operations.create, { headers: { ...fields, ...json }, body: nextBody() })
  const records = (await ask(sandbox.port, 'GET', `${API}?limit=500`, null, fields)).data.reverse()
  const [paths, routes] = [{}, []]
  for (const [name, operation] of Object.entries(operations)) {
    const { method, path, headers } = operation
    const response = await send(sandbox.port, operation)
    operation.answer = await response.text()
    const verb = method.toLowerCase()
    const route = path.replace('COL-100250', '{collectionReference}')
    const { body, response: known } = schemas[name]
    const content = { 'application/json': { schema: known[response.status], example: JSON.parse(operation.answer) } }
    const parameters =
      path === route ? [] : [{ name: 'collectionReference', in: 'path', required: true, schema: reference }]
    const requestBody = body && { required: true, content: { [headers['content-type']]: { schema: body } } }
    const responses = { [response.status]: { description: 'The answer of the sandbox.', content } }
    paths[route] = { ...paths[route], [verb]: { parameters, requestBody, responses } }
    // Makes Mockoon send the bytes of the sandbox, without templating.
    const answer = { body: operation.answer, bodyType: 'INLINE', statusCode: response.status, headers: [] }
    const canned = [{ uuid: randomUUID(), ...answer, disableTemplating: true, default: true }]
    const endpoint = path.slice(1).replace('COL-100250', ':collectionReference')
    routes.push({ uuid: randomUUID(), type: 'http', method: verb, endpoint, responses: canned })
  }
  const html = await (await send(sandbox.port, PAGE)).text()
  const type = [{ key: 'content-type', value: 'application/json; charset=utf-8' }]
  const rootChildren = routes.map(({ uuid }) => ({ type: 'route', uuid }))
  const files = {
    bare: { schemas, records, now: NOW, token: JSON.parse(operations.token.answer), html },
    prism: { openapi: '3.1.0', info: { title: 'Payments', version: '1' }, paths },
    mockoon: { uuid: randomUUID(), lastMigration: 33, name: 'Payments', headers: type, routes, rootChildren },
  }
  for (const [name, content] of Object.entries(files)) writeFileSync(fileOf(name), JSON.stringify(content))
  return sandbox
}

/** Returns the processor time of a metered server so far, in microseconds. */
function usageOf({ child }) {
  return new Promise(resolve => {
    // A server may send messages of its own.
    child.on('message', function answer({ usage }) {
      if (usage === undefined) return
      child.off('message', answer)
      resolve(usage.user + usage.system)
    })
    child.send('usage')
  })
}

/** Sends one block of requests. Returns the microseconds of processor time per request, and the requests a second. */
async function blockOf(server, { method, path, headers, body, setupRequest, block }) {
  const amount = Math.round(block * size.block)
  const requests = [{ method, path, headers, body, ...(setupRequest && { setupRequest }) }]
  const before = await usageOf(server)
  const began = performance.now()
  let ended = began
  const run = autocannon({ url: urlOf(server.port), connections: 32, timeout: 10, amount, sampleInt: 20, requests })
  run.on('response', () => {
    ended = performance.now()
  })
  // To wake a sleeping process costs a server some 20 µs an answer, and only slow servers let this one sleep.
  let isRunning = true
  const stayAwake = () => isRunning && setImmediate(stayAwake)
  stayAwake()
  const result = await run
  isRunning = false
  assert.equal(result['2xx'], amount, `${method} ${path} on port ${server.port} was refused`)
  return { cost: ((await usageOf(server)) - before) / amount, rate: (amount / (ended - began)) * 1000 }
}

/** Sends an operation to each server in alternating blocks. */
async function blocksOf(servers, operation) {
  const blocks = Object.fromEntries(Object.keys(servers).map(name => [name, []]))
  for (let at = 0; at < size.blocks; at++)
    for (const [name, server] of Object.entries(servers)) blocks[name].push(await blockOf(server, operation))
  return blocks
}

/** Compares the processor time of another server with that of the sandbox. The rates are beside it. */
function compare({ title }, name, goal, { sandbox, [name]: other }) {
  const costOf = blocks => blocks.map(({ cost }) => cost)
  const [ours, theirs] = [sandbox, other].map(blocks => quantile(costOf(blocks), 0.1))
  const rate = median(sandbox.map((block, at) => block.rate / other[at].rate))
  const [mine, its] = [sandbox, other].map(blocks => Math.round(median(blocks.map(block => block.rate))))
  const ratio = theirs / ours
  const figure = `${ratio.toFixed(2)} (${theirs.toFixed(0)} µs to ${ours.toFixed(0)} µs)`
  const rates = `${rate.toFixed(2)} (${mine.toLocaleString('en-US')}/s to ${its.toLocaleString('en-US')}/s)`
  row(`${title}, against ${name}`, `≥ ${goal}`, `${figure}; rate ${rates}`, ratio >= goal)
}

async function http() {
  const servers = { sandbox: await prepare() }
  const peers = ['Prism', 'Mockoon']
  for (const name of ['bare Fastify', ...peers]) servers[name] = await launch(name, true)
  for (const operation of [operations.get, operations.create]) {
    const same = await (await send(servers['bare Fastify'].port, operation)).text()
    assert.equal(same, operation.answer, 'The bare server sends another body.')
  }
  const measured = []
  for (const operation of Object.values(operations)) measured.push([operation, await blocksOf(servers, operation)])
  for (const [operation, blocks] of measured) compare(operation, 'bare Fastify', operation.bare, blocks)
  for (const name of peers) for (const [operation, blocks] of measured) compare(operation, name, operation.peer, blocks)
}

async function pages() {
  const servers = { sandbox: await prepare(), 'bare Fastify': await launch('bare Fastify', true) }
  const [page, same] = await Promise.all(
    Object.values(servers).map(async ({ port }) => (await send(port, PAGE)).text()),
  )
  assert(page.startsWith('<!doctype html>') && page === same, 'The bare server sends another page.')
  compare(PAGE, 'bare Fastify', PAGE.bare, await blocksOf(servers, PAGE))
}

/** Makes a query from the number `k` of the call, so that few lists are asked for twice. */
const queries = {
  'no filter': () => ({}),
  status: k => ({ status: STATUSES[k % 3] }),
  mandateReference: k => ({ mandateReference: mandateOf(k) }),
  debtorReference: k => ({ debtorReference: debtorOf(k) }),
  amountMin: k => ({ amountMin: 800 + k / 10 }),
  amountMax: k => ({ amountMax: 200 - k / 10 }),
  initiatedFrom: k => ({ initiatedFrom: instant(END - (60 + k) * DAY) }),
  initiatedTo: k => ({ initiatedTo: instant(START + (60 + k) * DAY) }),
  'status, amounts': k => ({ status: 'SETTLED', amountMin: 100 + k, amountMax: 900 }),
  'deep page': (_, cursor) => ({ cursor }),
}

async function lists() {
  const { port } = await launch('sandbox')
  for (const count of size.counts) {
    const limit = count > 10_000 ? 20 : 5
    const fields = await seed(port, `lists-${count}`, count, pastOne)
    const took = Object.fromEntries(Object.keys(queries).map(name => [name, []]))
    for (let k = 0; k < size.queries; k++) {
      const deep = `${API}?limit=1&initiatedTo=${instant(START + (90 + k) * DAY)}`
      const { nextCursor } = await ask(port, 'GET', deep, null, fields)
      for (const [name, query] of Object.entries(queries)) {
        // Creates a record before each list, so that the sandbox sends no kept answer.
        await ask(port, 'POST', API, newOne(++created), fields)
        const path = `${API}?${new URLSearchParams(query(k, nextCursor))}`
        const began = performance.now()
        const { data } = await ask(port, 'GET', path, null, fields)
        took[name].push(performance.now() - began)
        assert(data.length > 0, `${name} finds nothing`)
      }
    }
    const medians = Object.entries(took).map(([name, values]) => [name, median(values)])
    const [worst, value] = medians.toSorted((a, b) => b[1] - a[1])[0]
    const what = `slowest of ${medians.length} lists over ${collections(count)}`
    row(what, `≤ ${limit} ms`, `${ms(value)} (${worst}); no filter ${ms(medians[0][1])}`, value <= limit)
  }
}

/** Measures the operations that read or change all records of a client. */
async function large() {
  const { port } = await launch('sandbox')
  for (const count of size.counts) {
    const client = `large-${count}`
    // Each collection makes three transitions within three weeks.
    await seed(port, client, count, number => newOne(number, END + (7 + (number % 21)) * DAY))
    const took = { 'fork of': [], '`GET /state` of': [], '`PUT /state` of': [], 'advancing a month over': [] }
    const timed = async (name, ...call) => {
      const began = performance.now()
      const answer = await send(port, callOf(...call))
      const text = await answer.text()
      took[name].push(performance.now() - began)
      assert(answer.ok, `${name}: ${answer.status} ${text.slice(0, 200)}`)
      return text
    }
    for (let round = 0; round < size.rounds; round++) {
      const copy = `${client}-${round}`
      await timed('fork of', 'POST', `/_sandbox/fork?client=${client}`, JSON.stringify({ clientId: copy }))
      const state = await timed('`GET /state` of', 'GET', `/_sandbox/state?client=${copy}`)
      await timed('`PUT /state` of', 'PUT', `/_sandbox/state?client=${copy}`, state)
      const month = JSON.stringify({ by: 'P31D' })
      const path = `/_sandbox/clock/advance?client=${copy}`
      const { transitions, omitted = 0 } = JSON.parse(await timed('advancing a month over', 'POST', path, month))
      assert.equal(transitions.length + omitted, 3 * count)
      await ask(port, 'DELETE', `/_sandbox/clients/${copy}`, null, {})
    }
    const limit = count > 10_000 ? 1500 : 300
    for (const [name, values] of Object.entries(took)) {
      const longest = name.startsWith('advancing') ? Math.max(limit, 1000) : limit
      row(`${name} ${collections(count)}`, `≤ ${longest} ms`, ms(median(values)), median(values) <= longest)
    }
  }
}

async function start() {
  await prepare()
  const took = { sandbox: [], Prism: [], Mockoon: [] }
  for (let round = 0; round < size.rounds; round++)
    for (const name of Object.keys(took)) {
      stopAll()
      took[name].push((await launch(name)).took)
    }
  const [ours, prism, mockoon] = Object.values(took).map(median)
  const figure = `${ms(ours)}; Prism ${ms(prism)}, Mockoon ${ms(mockoon)}`
  row('start to the first token', 'sooner than Prism and Mockoon', figure, ours < Math.min(prism, mockoon))
}

async function library() {
  const { createSandbox } = await import(join(ROOT, exports['.'].import.default))
  const took = []
  for (let at = 0; at < size.libraries; at++) {
    const began = performance.now()
    const sandbox = await createSandbox()
    took.push(performance.now() - began)
    await sandbox.close()
  }
  const [first, ...later] = took
  const figure = `${ms(median(later))} (first ${ms(first)})`
  row('second and later `createSandbox()`, median', '≤ 20 ms', figure, median(later) <= 20)
}

/** Lists the requests of one client. They begin with a reset, so that its records stay few. */
function suiteOf(client) {
  const login = { ...tokenOf(client), onResponse: (_, body, context) => Object.assign(context, JSON.parse(body)) }
  const setupRequest = (built, context) => ({ ...built, headers: { ...json, ...fieldsOf(context.access_token) } })
  const call = (method, path, body) => ({ method, path, body: body && JSON.stringify(body), setupRequest })
  const mixed = at => [
    call('POST', API, newOne(at)),
    call('GET', `${API}/NEW-${at}`),
    call('GET', `${API}?status=PENDING&amountMin=20&limit=${10 + at}`),
    call('GET', `${API}/MISSING-${at}`),
  ]
  const begin = [login, call('POST', `/_sandbox/reset?client=${client}`, {}), login]
  const mandates = times(60, at => call('POST', '/api/v1/mandates', mandate(at)))
  const advance = call('POST', `/_sandbox/clock/advance?client=${client}`, { by: 'P30D' })
  return [...begin, ...mandates, ...times(60, mixed).flat(), advance]
}

async function memory() {
  const { port, child } = await launch('sandbox')
  const residentAfter = async amount => {
    let client = 0
    const setupClient = connection => connection.setRequests(suiteOf(`job-${client++}`))
    const result = await autocannon({ url: urlOf(port), connections: 16, timeout: 10, amount, setupClient })
    assert(result['5xx'] + result.errors === 0 && result['2xx'] > amount / 2, 'The mixed requests are refused.')
    return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(child.pid)])) / 1024
  }
  const early = await residentAfter(size.memory[0])
  const late = await residentAfter(size.memory[1])
  const figure = `${(late / early).toFixed(2)} (${late.toFixed(0)} MiB to ${early.toFixed(0)} MiB)`
  row('resident memory after 200,000 mixed requests, against after 20,000', '≤ 1.2', figure, late / early <= 1.2)
}

const subjects = { library, start, http, pages, lists, large, memory }
for (const name of options.only?.split(',') ?? Object.keys(subjects)) {
  await subjects[name]()
  stopAll()
  if (options.short) console.log(`${name} works`)
}
if (options.only === undefined && !options.short) {
  const machine = `Node ${process.version}, ${cpus().length} cores (${cpus()[0].model}), ${date(Date.now())}`
  const head = `# Results\n\nWritten by \`npm run bench\`: ${machine}. [README.md](README.md) explains the rows.\n`
  const table = [['', 'goal', 'figure', ''], Array(4).fill('---'), ...rows].map(cells => `| ${cells.join(' | ')} |`)
  writeFileSync(join(BENCH, 'RESULTS.md'), [head, ...table, ''].join('\n'))
}
