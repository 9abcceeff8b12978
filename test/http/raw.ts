import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect } from 'node:net'
import { Writable } from 'node:stream'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import pino from 'pino'
import type { Test } from 'tap'
import type { AreaName } from '../../src/areas/index.js'
import { buildServer } from '../../src/server.js'
import type { Given } from '../answers.js'
import type { Answer, CallOptions, Client } from '../helper.js'
import { bill, call, collection, mandate, payoutLink, serverOptions } from '../helper.js'

/** The headers of a JSON request of a client, for a raw connection. */
export const headersOf = ({ token }: Pick<Client, 'token'>) => ({
  authorization: `Bearer ${token}`,
  'x-region': 'EU',
  'content-type': 'application/json',
})

/** Sends `METHOD target` as a client. */
export const sendLine =
  (client: Client, options?: CallOptions) =>
  (line: string): Promise<Answer> => {
    const [method = '', target = ''] = line.split(/ (.*)/s)
    return client.send(method, target, options)
  }

/** The requests that create records. A bill creates its counterparty, too. */
const creations: Partial<Record<AreaName, readonly [url: string, body: object]>> = {
  mandates: ['/api/v1/mandates', mandate()],
  collections: ['/api/v1/direct-debit', collection()],
  bills: ['/api/v1/bills', bill()],
  payoutLinks: ['/api/v1/payout-links', payoutLink()],
}

/** Creates one record of every kind that the API creates, in region EU. Returns the id of the payout link. */
export async function stock(client: Client): Promise<string> {
  const answers: Partial<Record<string, Answer>> = {}
  for (const [name, [url, body]] of Object.entries(creations)) answers[name] = await client.post(url, body)
  return answers.payoutLinks?.body.payoutLinkId
}

/** Returns the state of a client in the API and the control plane, which a refused request must not change. */
export async function stateOf(client: Client): Promise<unknown[]> {
  const answers = [await call(client.app, 'GET', '/_sandbox/clients'), await client.control('GET', '/state')]
  return answers.map(({ status, body }) => ({ status, body }))
}

/** A server whose log lines are kept, by default at level trace. */
export function buildLogged(
  t: Test,
  { level = 'trace', ...options }: Parameters<typeof serverOptions>[0] & { level?: string } = {},
) {
  let log = ''
  const stream = new Writable({
    write(chunk, _encoding, done) {
      log += chunk
      done()
    },
  })
  const logger = pino({ level }, stream) as FastifyBaseLogger
  const { app } = buildServer({
    ...serverOptions(options),
    logger,
    fixtures: new Map([
      ['empty', {}],
      ['demo', {}],
    ]),
  })
  t.teardown(() => app.close())
  return { app, log: () => log }
}

// ------------------------------------------------------------------------------------------------------------ sockets

/** Resolves at the end of a connection. `once` would throw on an error before it. */
export const closed = (socket: Socket): Promise<void> =>
  new Promise(resolve => {
    socket.on('error', () => {})
    socket.on('close', () => resolve())
  })

/** Listens on a free port of this machine. */
export async function listen(app: FastifyInstance): Promise<number> {
  await app.listen({ host: '127.0.0.1', port: 0 })
  return (app.server.address() as { port: number }).port
}

export interface RawAnswer extends Given {
  readonly headers: Record<string, string>
  readonly text: string
}

export interface Connection {
  send(bytes: string | Buffer): void
  /** The next whole answer; undefined: the server closed instead. `HEAD` answers have no body. */
  read(method?: string): Promise<RawAnswer | undefined>
  /** Stops taking bytes, and takes them again. */
  pause(): void
  resume(): void
  /** Closes this side's half. */
  end(): void
  destroy(): void
  /** Breaks the connection off: RST instead of FIN. */
  reset(): void
}

/** A bare connection, for bytes that no HTTP client would send. */
export async function open(port: number): Promise<Connection> {
  let received = Buffer.alloc(0)
  let isClosed = false
  let wake = () => {}
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    wake()
  })
  socket.on('close', () => {
    isClosed = true
    wake()
  })
  // 'close' follows.
  socket.on('error', () => {})
  return {
    send: bytes => void socket.write(bytes),
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    end: () => void socket.end(),
    destroy: () => void socket.destroy(),
    reset: () => void socket.resetAndDestroy(),
    async read(method = 'GET') {
      for (;;) {
        const taken = take(received, method)
        if (taken !== undefined) {
          received = received.subarray(taken.length)
          return taken.answer
        }
        if (isClosed) return undefined
        await new Promise<void>(resolve => {
          wake = resolve
        })
      }
    },
  }
}

/** Returns the first answer among the bytes and its length. Undefined: it is not complete. */
function take(bytes: Buffer, method: string): { answer: RawAnswer; length: number } | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [statusLine = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1])
  const headers = Object.fromEntries(
    lines.map(line => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  const hasBody = method !== 'HEAD' && status >= 200 && status !== 204
  const length = end + 4 + (hasBody ? Number(headers['content-length']) : 0)
  if (bytes.length < length) return undefined
  const text = bytes.subarray(end + 4, length).toString()
  return { answer: { status, headers, text, body: text === '' ? null : JSON.parse(text) }, length }
}

/**
 * Sends bytes on a new connection. Returns the answers until the server closes it.
 * @param isEnded whether this side closes its half right behind the bytes
 */
export async function exchange(port: number, bytes: string | Buffer, isEnded = false): Promise<RawAnswer[]> {
  const connection = await open(port)
  connection.send(bytes)
  if (isEnded) connection.end()
  const answers: RawAnswer[] = []
  for (let next = await connection.read(); next !== undefined; next = await connection.read()) answers.push(next)
  return answers
}

/** Returns the text of a request. A body gets its Content-Length. */
export function request(line: string, headers: Record<string, string> = {}, body?: string | Buffer): string {
  const all: Record<string, string> = {
    host: 'sandbox',
    ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
    ...headers,
  }
  const fields = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${line} HTTP/1.1\r\n${fields.join('')}\r\n${body ?? ''}`
}

export const LIVE = '/_sandbox/health/live'

/** Asserts that the server still answers. */
export async function stillServes(t: Test, port: number) {
  const answers = await exchange(port, request(`GET ${LIVE}`, { connection: 'close' }))
  t.same(
    answers.map(({ status, body }) => ({ status, body })),
    [{ status: 200, body: { status: 'ok' } }],
    'the server still serves',
  )
}
