/**
 * Measures the sandbox against a bare Fastify server, Prism, Mockoon and fixed limits, and writes RESULTS.md.
 * `--only http,pages,lists,console,console-load,advance,pings,worst,start,library,memory` prints some of the rows, and leaves RESULTS.md as it is.
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
const ENVIRONMENT = { NODE_ENV: 'production', SANDBOX_SEED: 'bench', SANDBOX_CLOCK: NOW, LOG_LEVEL: 'error' }
const { values: options } = parseArgs({ options: { only: { type: 'string' }, short: { type: 'boolean' } } })
/** The sizes of the subjects. `block` multiplies the requests of a block. */
const size = options.short
  ? {
      blocks: 1,
      block: 0.1,
      lists: [1000],
      queries: 1,
      month: 100,
      starts: 1,
      libraries: 2,
      memory: [400, 800],
      pings: [300],
      worst: 2000,
    }
  : {
      ...{ blocks: 48, block: 1, lists: [10_000, 100_000], queries: 31, month: 10_000, starts: 5, libraries: 21 },
      ...{ memory: [20_000, 180_000], pings: [40_000, 100_000], worst: 1_000_000 },
    }
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
setTimeout(() => assert.fail('The benchmark took more than 15 minutes.'), 900_000).unref()
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
  const meter = isMetered ? ['--expose-gc', '--import', join(BENCH, 'usage.js')] : []
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
async function ask(port, method, path, body, fields) {
  const headers = body === null ? fields : { ...fields, ...json }
  const answer = await send(port, { method, path, headers, body: body && JSON.stringify(body) })
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

/** Asks a metered server for its processor time so far, or for the bytes of its heap. */
function tell({ child }, what) {
  return new Promise(resolve => {
    // A server may send messages of its own.
    child.on('message', function answer(message) {
      if (message[what] === undefined) return
      child.off('message', answer)
      resolve(message[what])
    })
    child.send(what)
  })
}

/** Returns the processor time of a server so far, in microseconds. */
async function usageOf(server) {
  const { user, system } = await tell(server, 'usage')
  return user + system
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
  for (const count of size.lists) {
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
    const what = `slowest of ${medians.length} lists over ${count.toLocaleString('en-US')} collections`
    row(what, `≤ ${limit} ms`, `${ms(value)} (${worst}); no filter ${ms(medians[0][1])}`, value <= limit)
  }
}

async function advance() {
  const { port } = await launch('sandbox')
  await seed(port, 'month', size.month, number => newOne(number, END + (7 + (number % 21)) * DAY))
  const took = []
  for (let round = 0; round < size.starts; round++) {
    await ask(port, 'POST', '/_sandbox/fork?client=month', { clientId: `month-${round}` })
    const began = performance.now()
    const path = `/_sandbox/clock/advance?client=month-${round}`
    const { transitions, omitted = 0 } = await ask(port, 'POST', path, { by: 'P31D' })
    took.push(performance.now() - began)
    assert.equal(transitions.length + omitted, 3 * size.month)
  }
  row('advancing a month over 10,000 collections', '≤ 1 s', ms(median(took)), median(took) <= 1000)
}

/** Does a call. Returns its time, the longest time of a ping beside it, and its text, in milliseconds. */
async function pinged(port, method, path, body, fields = json, isRefused = false) {
  let isDone = false
  const began = performance.now()
  const headers = body === undefined ? {} : fields
  const call = fetch(urlOf(port) + path, { method, headers, body }).then(async response => {
    const text = await response.text()
    assert(
      response.ok || (isRefused && response.status < 500),
      `${method} ${path}: ${response.status} ${text.slice(0, 200)}`,
    )
    return text
  })
  const end = call.finally(() => {
    isDone = true
  })
  end.catch(() => {})
  let longest = 0
  while (!isDone) {
    const sent = performance.now()
    await (await send(port, { method: 'GET', path: '/_sandbox/health/live' })).text()
    longest = Math.max(longest, performance.now() - sent)
    await wait(1)
  }
  return { text: await end, took: performance.now() - began, longest }
}

/** Repeats a text with its number, up to a size. */
function fill(bytes, part, separator) {
  const parts = []
  for (let length = 0; length < bytes; length += parts.at(-1).length + separator.length) parts.push(part(parts.length))
  return parts.join(separator)
}

/** Measures for how long the largest inputs hold up other requests: when they come, and when each reader shows them. */
async function worst() {
  const { port } = await launch('sandbox')
  const most = size.worst
  const measure = async (what, calls) => {
    const done = []
    for (const call of calls) done.push(await pinged(port, ...call))
    const longest = Math.max(...done.map(one => one.longest))
    row(`longest ping beside ${what}`, '≤ 200 ms', `${ms(longest)}, ${calls.length} times`, longest <= 200)
  }
  const name = number => `n${number.toString(36)}`
  const names = fill(most, number => `"${name(number)}":1`, ',')
  const escaped = fill(most, number => `"\\u006e${number.toString(36)}":1`, ',')
  const { access_token } = await (await send(port, tokenOf(CLIENT))).json()
  const own = { ...fieldsOf(access_token), ...json }
  const bodies = [`{${names}}`, `{${escaped}}`, `{"a":${'['.repeat(most / 2)}${']'.repeat(most / 2)}}`]
  const sent = times(4, at => ['POST', '/api/v1/mandates', bodies[at % bodies.length], own, true])
  await measure('bodies of 1 MB with the most names and levels', sent)
  const forms = times(4, () => ['POST', tokenOf(CLIENT).path, fill(most, name, '&'), tokenOf(CLIENT).headers, true])
  await measure('token forms of 1 MB with the most names', forms)
  const state = await (await send(port, { method: 'GET', path: `/_sandbox/state?client=${CLIENT}` })).text()
  const put = document => ['PUT', `/_sandbox/state?client=${CLIENT}`, document, json, true]
  const large = [most * 10, most * 30].map(bytes => fill(bytes, number => `"${name(number)}":1`, ','))
  const items = fill(most * 20, () => '{}', ',')
  const documents = [
    ...large.map(members => state.replace('{', () => `{${members},`)),
    state.replace('"settings": {', text => `${text}${large[0]},`),
    state.replace('"events": [', text => `${text}${items},`),
  ]
  await measure('`PUT /state` of 10 to 30 MB with the most names and items', documents.map(put))
  const targets = [fill(15_000, () => 'a', '&'), fill(15_000, name, '&')]
  const repeated = times(40, at => ['GET', `${API}?${targets[at % 2]}`, undefined, undefined, true])
  await measure('40 requests with the most parameters', repeated)
  const readers = ['', '?format=har', '?limit=1'].map(query => ['GET', `/_sandbox/requests${query}`])
  await measure('the list of them, and as HAR', readers)
  const expectation = `{"body":{${fill(Math.min(most, 500_000), number => `"${name(number)}":2`, ',')}}}`
  await measure('their verification', [['POST', `/_sandbox/requests/verify?client=${CLIENT}`, expectation]])
  const pages = [1, 2, 3].map(seq => `/requests/${seq}?client=${CLIENT}`)
  const shown = ['/requests', `/requests?client=${CLIENT}`, ...pages]
  await measure(
    'their pages of the console',
    shown.map(path => ['GET', `/_sandbox/console${path}`]),
  )
}

/** Measures for how long the calls that do the most work hold up other requests. */
async function pings() {
  for (const count of size.pings) await pingsOf('memory', count)
  await pingsOf('SQLite', size.pings.at(-1))
}

async function pingsOf(storage, count) {
  // A snapshot of 100,000 collections is larger than the default.
  const settings = { SANDBOX_STATE_BYTES: String(128 * 1024 * 1024) }
  if (storage === 'SQLite') settings.SANDBOX_DATA = join(TEMPORARY, 'pings')
  const { port } = await launch('sandbox', false, settings)
  const report = (what, longest, took) =>
    row(`longest ping beside ${what}, ${storage}`, '≤ 200 ms', `${ms(longest)}; ${ms(took)} in all`, longest <= 200)
  /** Does some calls, one after the other. Reports the longest ping beside all of them. Returns the last text. */
  const measure = async (what, calls) => {
    const all = { longest: 0, took: 0 }
    for (const call of calls) {
      const { text, longest, took } = await pinged(port, ...call)
      Object.assign(all, { text, longest: Math.max(all.longest, longest), took: all.took + took })
    }
    report(what, all.longest, all.took)
    return all.text
  }
  const [client, copy, part] = ['pings', 'copy', 5000]
  const many = `${count.toLocaleString('en-US')} collections`
  const [own, copied] = [client, copy].map(id => `client=${id}`)
  await measure('`GET /openapi.yaml`', [['GET', '/openapi.yaml']])
  const headers = await seed(port, client, 0)
  // A hundred business days.
  const make = number => newOne(number, END + (7 + (number % 140)) * DAY)
  const parts = times(Math.ceil(count / part), index => {
    const collections = times(Math.min(part, count - index * part), at => make(index * part + at))
    return ['POST', `/_sandbox/seed?${own}`, JSON.stringify({ records: { collections } })]
  })
  await measure(`seeding ${many}, ${part.toLocaleString('en-US')} a call`, parts)
  await measure(`a fork of ${many}`, [['POST', `/_sandbox/fork?${own}`, JSON.stringify({ clientId: copy })]])
  const state = await measure(`\`GET /state\` of ${many}`, [['GET', `/_sandbox/state?${own}`]])
  await measure(`\`PUT /state\` of ${many}`, [['PUT', `/_sandbox/state?${copied}`, JSON.stringify(JSON.parse(state))]])
  await measure(`saving a snapshot of ${many}`, [['PUT', `/_sandbox/snapshots/seeded?${own}`, '{}']])
  const advanced = ['POST', `/_sandbox/clock/advance?${own}`, JSON.stringify({ by: 'P200D' })]
  const { transitions, omitted = 0 } = JSON.parse(await measure(`advancing ${many} on 100 dates`, [advanced]))
  assert.equal(transitions.length + omitted, 3 * count)
  await measure(`restoring a snapshot of ${many}`, [['POST', `/_sandbox/snapshots/seeded/restore?${own}`, '{}']])
  await fillLog(port, client, headers, 'NEW-250')
  const consoleCalls = paths => paths.map(path => ['GET', `/_sandbox/console${path}?${own}`])
  const full = `${many} and a full request log`
  const shown = ['', '/collections', '/requests', '/failures', '/client']
  await measure(`pages of the console, ${full}`, consoleCalls(shown))
  await measure(`the requests as HAR, ${full}`, consoleCalls(['/requests.har']))
  await measure(`the download of the state by the console, ${full}`, consoleCalls(['/state.json']))
  stopAll()
}

async function start() {
  await prepare()
  const took = { sandbox: [], Prism: [], Mockoon: [] }
  for (let round = 0; round < size.starts; round++)
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

/** The pages of the console, of a client with many collections and a full request log. */
const CONSOLE_PAGES = [
  ...['', '/collections', '/collections?search=99', '/collections?status=FAILED', '/collections/COL-100250'],
  ...['/collections/new', '/mandates', '/mandates/MND-1050', '/payout-links', '/bills', '/counterparties', '/accounts'],
  ...['/requests', '/requests?errors=1', '/requests?path=*/oauth/*', '/requests/50', '/failures', '/client'],
]

async function consolePages() {
  const { port } = await launch('sandbox')
  const [client, count] = ['console', size.lists.at(-1)]
  const headers = await seed(port, client, count, pastOne)
  const { dropped } = await fillLog(port, client, headers)
  const took = Object.fromEntries(CONSOLE_PAGES.map(page => [page, []]))
  for (let k = 0; k < size.queries; k++) {
    for (const page of CONSOLE_PAGES) {
      // Changes the client before each page.
      await ask(port, 'POST', API, newOne(++created), headers)
      // The log drops a request for each new one.
      const at = page === '/requests/50' ? `/requests/${dropped + 500 + k * CONSOLE_PAGES.length}` : page
      const path = `/_sandbox/console${at}${at.includes('?') ? '&' : '?'}client=${client}`
      const began = performance.now()
      const answer = await send(port, { method: 'GET', path, headers: { accept: 'text/html' } })
      const html = await answer.text()
      took[page].push(performance.now() - began)
      assert(answer.ok && html.startsWith('<!doctype html>'), `${page}: ${answer.status}`)
      assert((html.match(/<tr/g) ?? []).length <= 105, `${page} has too many rows`)
    }
  }
  const medians = Object.entries(took).map(([page, values]) => [page || 'the overview', median(values)])
  if (options.only !== undefined && !options.short)
    for (const [page, value] of medians) console.log(`${page}: ${ms(value)}`)
  const [worst, value] = medians.toSorted((a, b) => b[1] - a[1])[0]
  const what = `slowest of ${medians.length} pages of the console, ${count.toLocaleString('en-US')} collections and a full request log`
  row(what, '≤ 100 ms', `${ms(value)} (${worst}); median ${ms(median(medians.map(([, time]) => time)))}`, value <= 100)
}

/** An app sends requests at a rate, while a person types and scrolls on the open page of requests. */
async function consoleLoad() {
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell'
  // An empty variable skips what needs Chromium.
  if (executablePath === '') return
  const { chromium } = await import('playwright-core')
  const server = await launch('sandbox', true)
  const { port } = server
  const headers = await seed(port, CLIENT, 500, pastOne)
  await fillLog(port, CLIENT, headers)
  const browser = await chromium.launch({ executablePath, chromiumSandbox: false, args: ['--no-proxy-server'] })
  const page = await browser.newPage({ viewport: { width: 1280, height: 600 } })
  let renewals = 0
  page.on('request', request => {
    if (request.resourceType() === 'fetch') renewals++
  })
  await page.goto(`${urlOf(port)}/_sandbox/console/requests?client=${CLIENT}`)
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable')
  /** Returns the bytes of the heap of the page, and the number of its nodes. */
  const measure = async () => {
    await session.send('HeapProfiler.collectGarbage')
    const { metrics } = await session.send('Performance.getMetrics')
    const of = name => metrics.find(metric => metric.name === name).value
    return { heap: of('JSHeapUsedSize') / 2 ** 20, nodes: of('Nodes') }
  }
  // Measures from a key or a turn of the wheel to the end of the frame that shows it.
  await page.evaluate(() => {
    globalThis.delays = { keydown: [], wheel: [] }
    for (const [type, all] of Object.entries(globalThis.delays)) {
      const measured = ({ timeStamp }) =>
        requestAnimationFrame(() => setTimeout(() => all.push(performance.now() - timeStamp)))
      addEventListener(type, measured, { passive: true })
    }
  })
  const field = page.getByLabel('Path')
  await field.focus()
  await page.mouse.move(600, 400)
  const seconds = options.short ? 1 : 10
  const before = { ...(await measure()), server: await tell(server, 'heap') }
  const request = { method: 'GET', path: `${API}/COL-100250`, headers }
  renewals = 0
  const began = performance.now()
  const load = autocannon({
    url: urlOf(port),
    connections: 10,
    overallRate: 200,
    duration: seconds,
    requests: [request],
  })
  let typed = 0
  for (; performance.now() - began < seconds * 1000; await wait(40)) {
    await page.keyboard.press('x')
    typed++
    await page.mouse.wheel(0, typed % 20 < 10 ? 60 : -60)
  }
  const result = await load
  const rate = renewals / ((performance.now() - began) / 1000)
  assert.equal(result.non2xx + result.errors, 0, 'The app was refused.')
  assert.equal((await field.inputValue()).length, typed, 'A key was lost.')
  const { keydown, wheel } = await page.evaluate(() => globalThis.delays)
  // The last renewal is over.
  await wait(1000)
  const after = { ...(await measure()), server: await tell(server, 'heap') }
  await browser.close()
  const under = 'of the page of requests under 200 requests a second'
  const [key, turn] = [keydown, wheel].map(all => Math.max(...all))
  const figures = all => `${ms(Math.max(...all))} (median ${ms(median(all))}, ${all.length} times)`
  row(`longest answer to a key ${under}`, '≤ 100 ms', figures(keydown), key <= 100)
  row(`longest answer to the wheel ${under}`, '≤ 100 ms', figures(wheel), turn <= 100)
  row(`renewals ${under}`, '≤ 2 a second', `${rate.toFixed(2)} a second, ${result['2xx']} requests`, rate <= 2.1)
  const heap = `${before.heap.toFixed(1)} to ${after.heap.toFixed(1)} MiB, ${before.nodes} to ${after.nodes} nodes`
  row(`memory ${under}`, '≤ 2 times', heap, after.heap <= 2 * before.heap && after.nodes <= 2 * before.nodes)
  const [first, last] = [before, after].map(({ server }) => server / 2 ** 20)
  row(
    `heap of the server beside it`,
    '≤ 1.1 times',
    `${first.toFixed(1)} to ${last.toFixed(1)} MiB`,
    last <= 1.1 * first,
  )
}

/** Sends requests until the log of a client drops some. */
async function fillLog(port, client, headers, collection = 'COL-100250') {
  const requests = [{ method: 'GET', path: `${API}/${collection}`, headers }]
  await autocannon({ url: urlOf(port), connections: 16, amount: 1500, requests })
  const log = await ask(port, 'GET', `/_sandbox/requests?client=${client}&limit=1`, null, {})
  assert(log.dropped > 0, 'The request log is not full.')
  return log
}

const subjects = {
  ...{ library, start, http, pages, lists, console: consolePages },
  ...{ 'console-load': consoleLoad, advance, pings, worst, memory },
}
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
