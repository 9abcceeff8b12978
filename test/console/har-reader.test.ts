import { pathToFileURL } from 'node:url'
import type { Test } from 'tap'
import t from 'tap'
import type { HarReaderOptions } from '../../src/console/har-reader.js'
import { gist } from '../answers.js'
import { withHeld } from '../held.js'
import { connect, mandate } from '../helper.js'
import { buildLogged, listen, open, request, stillServes } from '../http/raw.js'
import { manualTime, until } from '../manual-time.js'
import { closesEarly } from '../nothing-left.js'
import { HAR_TO_STATE, loadForm } from './har.js'

// console, Actions: "Load a state" reads a HAR file in a process of its own, one at a time, within bounds of memory and time.

const moduleOf = (t: Test, code: string) => new URL(`${pathToFileURL(t.testdir({ 'module.js': code }))}/module.js`)

/** A process that is at work for ever. */
const endless = (t: Test) => ({ module: moduleOf(t, 'for (;;);') })

const har = (...entries: unknown[]) => JSON.stringify({ log: { entries } })

/** A server that listens, with its client. */
async function start(t: Test, harReader: HarReaderOptions) {
  const time = manualTime()
  const { built, held } = withHeld(() => buildLogged(t, { level: 'error', timers: time.timers, harReader }))
  const { app, log } = built
  const client = await connect(app)
  const port = await listen(app)
  const load = async (content: string) => {
    const { url, headers, body } = loadForm(content)
    const connection = await open(port)
    t.teardown(() => connection.destroy())
    connection.send(request(`POST ${url}`, headers, body))
    return connection
  }
  const isHeld = (count: number) => until(() => held().harFiles === count)
  return { app, client, port, time, log, load, isHeld }
}

t.test('console, Actions: while a HAR file is read, other requests are answered', async t => {
  const { client, port, load, isHeld } = await start(t, endless(t))
  const connection = await load(har())
  await isHeld(1)
  await stillServes(t, port)
  t.equal((await client.post('/api/v1/mandates', mandate())).status, 201)
  connection.destroy()
  await isHeld(0)
})

t.test('console, Actions: the work ends when its client closes the connection or its side, or breaks it', async t => {
  const { port, load, isHeld } = await start(t, endless(t))
  for (const close of ['destroy', 'reset', 'end'] as const) {
    const connection = await load(har())
    await isHeld(1)
    connection[close]()
    await isHeld(0)
    if (close === 'end') t.equal(gist(await connection.read()), '503 SERVICE_UNAVAILABLE null')
  }
  await stillServes(t, port)
})

t.test('console, Actions: one file is read at a time, up to 60 s, and the others wait up to 30 s', async t => {
  const { time, load, isHeld } = await start(t, endless(t))
  const first = await load(har())
  await until(() => time.pending === 1)
  time.pass(20_000)
  const second = await load(har())
  await until(() => time.pending === 2)
  const gone = await load(har())
  await isHeld(3)
  gone.destroy()
  await isHeld(2)
  time.pass(30_000)
  const refusal = await second.read()
  t.equal(gist(refusal), '503 SERVICE_UNAVAILABLE null')
  t.equal(refusal?.headers['retry-after'], '1')
  const third = await load(har())
  await until(() => time.pending === 2)
  time.pass(9_999)
  t.equal(time.pending, 2)
  time.pass(1)
  const late = await first.read()
  t.equal(gist(late), '413 PAYLOAD_TOO_LARGE file')
  t.match(late?.text, 'It takes more than 60 s to read it.')
  // It was its turn.
  await isHeld(1)
  third.destroy()
  await isHeld(0)
})

t.test('console, Actions: a file that takes too much memory is refused, and the next one is read', async t => {
  const module = moduleOf(t, 'for (const kept = []; ; ) kept.push(Array.from({ length: 10_000 }, () => ({})))')
  const { port, load } = await start(t, { module, megabytes: 16 })
  for (const _ of ['first', 'next']) {
    const refusal = await (await load(har())).read()
    t.equal(gist(refusal), '413 PAYLOAD_TOO_LARGE file')
    t.match(refusal?.text, 'It takes more than 16 MB of memory to read it.')
    await stillServes(t, port)
  }
})

t.test('console, Actions: a failure of the reader is logged without a text of the file', async t => {
  const failure = 'throw new SyntaxError("hidden")'
  for (const [code, logged] of [
    [failure, 'The reader of a HAR file has failed with the exit code 1.'],
    [`URL.canParse = () => { ${failure} }; await import('${HAR_TO_STATE}')`, 'at readEntry'],
  ] as const) {
    const { log, load } = await start(t, { module: moduleOf(t, code) })
    t.equal(gist(await (await load(har('hidden\n    at hidden'))).read()), '500 INTERNAL_ERROR null')
    t.match(log(), logged)
    t.notMatch(log(), 'hidden')
  }
})

t.test('console, Actions: a state document begins no process, nor does a file for an unknown client', async t => {
  const { app } = await start(t, { module: new URL('file:///none.js') })
  for (const [content, client, status] of [
    ['{}', 'acme', 400],
    [har(), 'acme', 500],
    [har(), 'unknown', 404],
    [har(), 'a%00b', 404],
  ] as const) {
    const { body: payload, ...form } = loadForm(content, client)
    t.equal((await app.inject({ method: 'POST', ...form, payload })).statusCode, status, client)
  }
})

t.test('console, Actions: where no process can be started, a HAR file is refused', async t => {
  const { load } = await start(t, { module: HAR_TO_STATE })
  const { execPath } = process
  process.execPath = '/none'
  t.teardown(() => Object.assign(process, { execPath }))
  const answer = await (await load(har())).read()
  t.equal(gist(answer), '503 SERVICE_UNAVAILABLE null')
  t.equal(answer?.headers['retry-after'], '1')
})

t.test('settings, Settings: a server that closes ends the reading of a HAR file', async t => {
  const { app, time, load } = await start(t, endless(t))
  const [first, second] = [await load(har()), await load(har())]
  await until(() => time.pending === 2)
  closesEarly(app)
  const closing = app.close()
  for (const connection of [first, second]) {
    const answer = await connection.read()
    t.equal(gist(answer), '503 SERVICE_UNAVAILABLE null')
    t.match(answer?.text, 'The server is closing.')
  }
  await closing
})
