import { readFileSync } from 'node:fs'
import { GCProfiler, getHeapStatistics } from 'node:v8'
import type { InjectOptions } from 'fastify'
import t from 'tap'
import { createTimers } from '../../src/http/timers.js'
import type { Operation } from '../docs/contract.js'
import { DOCUMENTS, operationsOf } from '../docs/contract.js'
import { build, call, requestToken } from '../helper.js'
import type { WorstInput } from '../worst-inputs.js'
import { names, worstInputs } from '../worst-inputs.js'

// control plane, Long calls: Work is counted here by the bytes that it allocates: all of them, and those of the largest
// step. A list or a text that is copied for each of its items shows as a square.

const MIB = 1024 * 1024
const SIZES = { target: 15_000, body: 32 * 1024 }
/** The most inputs of one operation, evenly drawn. TEST_LONG=1 sends all. */
const MOST_INPUTS = 4
/** The most bytes that are allocated for a byte of an input, and for a byte that a reader of the log reads or answers. */
const [MOST_OF_INPUT, MOST_OF_READER] = [1000, 150]
/** The most bytes that a step allocates. */
const MOST_OF_STEP = 32 * MIB

/** Timers by which each slice is over after some steps, however long they take. A slice takes 20 ms. */
function countedTimers(steps: number) {
  let looks = 0
  return { ...createTimers(), elapsed: () => ++looks * (20 / steps) }
}
const app = build(t, { timers: countedTimers(100), requestLog: { bytes: 8 * MIB } })

interface Measured<T> {
  readonly result: T
  /** The pings that were answered meanwhile. */
  readonly pings: number
  /** The allocated bytes. */
  readonly bytes: number
  /** The bytes that were allocated between two pings, at most: those after a garbage collection, if there was one. */
  readonly most: number
}

const used = () => getHeapStatistics().used_heap_size

/** Does some work with a ping beside it. */
async function measure<T>(work: () => Promise<T>, pinged = app): Promise<Measured<T>> {
  const profiler = new GCProfiler()
  let [pings, most, isOver] = [0, 0, false]
  let from = used()
  let [before, bytes] = [from, 0]
  profiler.start()
  const end = work().finally(() => {
    isOver = true
  })
  do {
    const now = used()
    most = Math.max(most, now - before)
    if ((await pinged.inject('/_sandbox/health/live')).statusCode === 200) pings++
    before = used()
    // An injected request needs no turn of the event loop.
    await new Promise(resolve => setImmediate(resolve))
  } while (!isOver)
  const result = await end
  most = Math.max(most, used() - before)
  for (const { beforeGC, afterGC } of profiler.stop().statistics) {
    bytes += beforeGC.heapStatistics.usedHeapSize - from
    from = afterGC.heapStatistics.usedHeapSize
  }
  return { result, pings, most, bytes: bytes + used() - from }
}

type Request = ReturnType<WorstInput['make']>
const sizeOf = ({ url, headers, body = '' }: Request) => JSON.stringify([url, headers]).length + body.length

async function authorize(): Promise<string> {
  const demo = { client_id: 'sandbox-client', client_secret: 'sandbox-secret' }
  return `Bearer ${(await requestToken(app, demo)).body.access_token}`
}

const toRequest = ({ method, url, headers, body }: Request, more: Record<string, string> = {}): InjectOptions => ({
  ...{ method: method as 'GET', url, headers: { ...more, ...headers } },
  ...(body !== undefined && { payload: body }),
})

function inputsOf(operation: Operation): WorstInput[] {
  const inputs = worstInputs(operation, SIZES)
  const step = process.env.TEST_LONG === '1' ? 1 : Math.ceil(inputs.length / MOST_INPUTS)
  return inputs.filter((_, at) => at % step === 0)
}

/** Sends the worst inputs of operations. Returns their number and size, and those that need more work than allowed. */
async function sendWorst(operations: readonly Operation[], afterEach: () => Promise<unknown> = async () => {}) {
  let [count, size] = [0, 0]
  const wrong: unknown[] = []
  for (const operation of operations) {
    const authorization = await authorize()
    for (const { name, make } of inputsOf(operation)) {
      const request = make()
      const { result, bytes } = await measure(() => app.inject(toRequest(request, { authorization })))
      const { statusCode, payload } = result
      const ratio = bytes / (sizeOf(request) + payload.length)
      if (statusCode >= 500 || ratio > MOST_OF_INPUT) wrong.push([name, statusCode, `${ratio} times its size`])
      count++
      size += sizeOf(request)
    }
    await afterEach()
  }
  return { count, size, wrong }
}

const [api, control] = Object.values(DOCUMENTS).map(file =>
  operationsOf(JSON.parse(readFileSync(`openapi/${file}`, 'utf8'))),
) as [Operation[], Operation[]]

/** An expectation that no request meets: each of its members differs. */
const EXPECTATION = JSON.parse(`{"body":{${names(8 * 1024, 2)}}}`)
const VERIFY = { method: 'POST' as const, url: '/_sandbox/requests/verify' }
/** The readers of the whole log. */
const READERS: InjectOptions[] = [
  { url: '/_sandbox/requests' },
  { url: '/_sandbox/requests?format=har' },
  { ...VERIFY, payload: EXPECTATION },
]
/** The pings that are answered at least while the whole log is read. */
const LEAST_PINGS = 10

t.test(
  'control plane, Long calls: the worst inputs of the API need little work, and so do those who read them',
  async t => {
    const { count, size, wrong } = await sendWorst(api)
    t.comment(`${count} inputs`)
    t.same(wrong, [])

    const ofRecords = control.filter(({ method, path }) => method === 'GET' && !path.includes('{'))
    const readers: InjectOptions[] = [
      ...ofRecords.map(({ path }) => ({ url: path })),
      { url: '/_sandbox/coverage', headers: { accept: 'text/html' } },
      ...['', '/requests', '/failures', '/client'].map(page => ({ url: `/_sandbox/console${page}` })),
      { ...VERIFY, payload: { path: '*a*a*a', times: 0 } },
      ...READERS,
    ]
    const { last } = (await call(app, 'GET', '/_sandbox/requests?limit=1')).body
    for (let seq = last; seq > last - count; seq -= 12) readers.push({ url: `/_sandbox/console/requests/${seq}` })
    for (const reader of readers) {
      const { result, bytes, most, pings } = await measure(() => app.inject(reader))
      const { url, payload: body = '' } = reader
      const ratio = bytes / (size + String(body).length + result.payload.length)
      t.ok(result.statusCode < 400, `${url}: ${result.statusCode}`)
      if (READERS.includes(reader)) t.ok(pings >= LEAST_PINGS, `${url}: ${pings} pings`)
      t.ok(ratio <= MOST_OF_READER, `${url}: ${ratio} times the size`)
      t.ok(most <= MOST_OF_STEP, `${url}: ${most} bytes in one of ${pings} steps`)
    }
  },
)

t.test('control plane, Long calls: the worst inputs of the control plane need little work', async t => {
  const { count, wrong } = await sendWorst(control, () => call(app, 'POST', '/_sandbox/reset'))
  t.comment(`${count} inputs`)
  t.same(wrong, [])
})

t.test('decisions §1: bodies of 1 MiB, and those who read them in the log, need small steps', async t => {
  const app = build(t, { timers: countedTimers(1000) })
  const operation = api.find(({ id }) => id === 'createMandate') as Operation
  const inputs = worstInputs(operation, { target: 1000, body: MIB - 1000 }).filter(({ name }) => / at x$/.test(name))
  const demo = { client_id: 'sandbox-client', client_secret: 'sandbox-secret' }
  const authorization = `Bearer ${(await requestToken(app, demo)).body.access_token}`
  // The first page of a process compiles its parts.
  await app.inject('/_sandbox/console/requests/1')
  for (const { name, make } of inputs) {
    await call(app, 'DELETE', '/_sandbox/requests')
    const sent = toRequest(make(), { authorization })
    const logged = async () => (await call(app, 'GET', '/_sandbox/requests?limit=1')).body.last
    const seq = (await logged()) + 1
    const ofOne = [`/_sandbox/requests/${seq}`, `/_sandbox/console/requests/${seq}`].map(url => ({ url }))
    for (const request of [sent, ...READERS, ...ofOne]) {
      const { result, most } = await measure(() => app.inject(request), app)
      t.ok(result.statusCode < 500, `${request.url}: ${result.statusCode}`)
      t.ok(most <= 4 * MIB, `${name}, ${request.url}: ${most} bytes in one step`)
    }
  }
  t.comment(`${inputs.length} inputs`)
})

t.test('control plane, PUT /state: the largest parts of a document are read in small steps', async t => {
  // A step can be one of a million values.
  const app = build(t, { timers: countedTimers(1000) })
  const operation = control.find(({ id }) => id === 'restoreState') as Operation
  const state = JSON.parse((await app.inject('/_sandbox/state')).payload)
  operation.operation.requestBody.content['application/json'].example = state
  const isLargePart = /at (x|settings|mandates.0.record|events)?$/
  const inputs = worstInputs(operation, { target: 1000, body: MIB }).filter(({ name }) => isLargePart.test(name))
  for (const { name, make } of inputs) {
    const request = toRequest(make())
    const { result, most, pings } = await measure(() => app.inject(request), app)
    t.ok(result.statusCode < 500, `${name}: ${result.statusCode}`)
    t.ok(most <= MOST_OF_STEP, `${name}: ${most} bytes in one of ${pings} steps`)
  }
  t.comment(`${inputs.length} inputs`)
})
