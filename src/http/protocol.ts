import type { IncomingMessage, RequestListener, Server, ServerOptions } from 'node:http'
import { createServer, METHODS } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { ApiError } from '../core/errors.js'
import { errors, quote } from '../core/errors.js'
import { parseHost } from '../core/rules/hosts.js'
import { answerBare, helpOf, JSON_TYPE } from './error-handler.js'

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
}

/** The maximum number of headers of a request. Node drops the others in silence, and can drop Transfer-Encoding. */
export const MOST_HEADERS = 200

/** Milliseconds until a client that keeps its half of the connection open is cut off. */
const LINGER_MS = 2000

/** Answers on the bare socket and closes it: after a framing error nothing on the connection is reliable. */
function answerOnSocket(socket: Socket, error: ApiError, requestId: string): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  socket.setTimeout(LINGER_MS, () => socket.destroy())
  const body = JSON.stringify(error.envelope)
  socket.end(
    [
      `HTTP/1.1 ${error.status} ${REASONS[error.status]}`,
      `content-type: ${JSON_TYPE}`,
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${requestId}`,
      ...Object.entries(helpOf(error)).map(([name, value]) => `${name}: ${value}`),
      'connection: close',
      '',
      body,
    ].join('\r\n'),
  )
}

/** Translates an error of Node's HTTP parser. */
function parserError(code: string | undefined): ApiError {
  if (code === 'HPE_HEADER_OVERFLOW') return errors.headersTooLarge()
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return errors.requestTimeout()
  return errors.malformed(null, 'The request is not valid HTTP/1.1.')
}

/** Makes Fastify's `clientErrorHandler`: requests that Node's parser refuses are answered in the envelope. */
export const clientErrorHandler = (nextRequestId: () => string) => (error: { code?: string }, socket: Socket) => {
  // RFC 9112 §9.6: what follows a request that closes the connection is ignored.
  if (error.code === 'HPE_CLOSED_CONNECTION') return
  if (error.code === 'ECONNRESET') socket.destroy()
  else answerOnSocket(socket, parserError(error.code), nextRequestId())
}

const KNOWN_METHODS = new Set(METHODS)

/**
 * Makes Fastify's `serverFactory`. Node's parser takes the methods of RTSP, too, behind which no hook of Fastify runs. They
 * are refused in the envelope.
 */
export const createHttpServer =
  (nextRequestId: () => string, options: ServerOptions) =>
  (handle: RequestListener): Server =>
    createServer(options, (request, response) => {
      if (KNOWN_METHODS.has(request.method as string)) handle(request, response)
      else answerBare(response, errors.malformed(null, 'The method is not one of HTTP.'), nextRequestId())
    })

/** Refuses a second header Host or Authorization. Node keeps only the first of each. */
function assertGivenOnce(rawHeaders: readonly string[]): void {
  let [hosts, authorizations] = [0, 0]
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase()
    if (name === 'host') hosts++
    else if (name === 'authorization') authorizations++
  }
  if (hosts > 1) throw errors.malformed('host', 'The header Host must be given once.')
  if (authorizations > 1) throw errors.malformed('authorization', 'The header Authorization must be given once.')
}

/** Refuses requests that Node would answer by itself, without the envelope. */
export const protocol = fp<{ nextRequestId: () => string }>((app: FastifyInstance, { nextRequestId }, done) => {
  // An expectation that is not 100-continue may be ignored (RFC 9110 §10.1.1).
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    // An error without a listener would end the process.
    socket.on('error', () => socket.destroy())
    answerOnSocket(socket, errors.malformed(null, 'This is no proxy: CONNECT does not work here.'), nextRequestId())
  })
  // A client that has closed its side still reads (RFC 9112 §9.6). By default, Node would drop its answers.
  Object.assign(app.server, { httpAllowHalfOpen: true })

  // Most requests have the same Host. Parsing it takes longer than all other checks here.
  let last = { given: '', host: '', name: '' }
  app.addHook('onRequest', ({ raw, sandbox, originalUrl }, reply, next) => {
    if (raw.rawHeaders.length > 2 * MOST_HEADERS) {
      reply.header('connection', 'close')
      throw errors.headersTooLarge()
    }
    const { 'transfer-encoding': encoding, host } = raw.headers
    if (raw.httpVersion !== '1.1' && raw.httpVersion !== '1.0') {
      throw errors.malformed(null, 'The request is not HTTP/1.1.')
    }
    if (encoding !== undefined && encoding.toLowerCase() !== 'chunked') {
      throw errors.malformed('transfer-encoding', 'Transfer-Encoding must be chunked, if anything.')
    }
    if (originalUrl.includes('#')) throw errors.malformed(null, 'The request target has a fragment (#).')
    // RFC 9112 §3.2.
    if (raw.httpVersion === '1.1' && host === undefined) throw errors.malformed('host', 'The header Host is required.')
    assertGivenOnce(raw.rawHeaders)
    // An empty Host is one: that of a target without an authority.
    if (host && host !== last.given) {
      const parsed = parseHost(host)
      if (parsed === undefined) throw errors.malformed('host', `${quote(host)} is not a host.`)
      last = { given: host, ...parsed }
    }
    if (host) {
      sandbox.host = last.host
      sandbox.hostName = last.name
    }
    next()
  })
  done()
})
