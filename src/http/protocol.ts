import type { IncomingMessage, RequestListener, Server, ServerOptions } from 'node:http'
import { createServer, METHODS } from 'node:http'
import type { Socket } from 'node:net'
import fp from 'fastify-plugin'
import type { ApiError } from '../core/errors.js'
import { errors } from '../core/errors.js'
import { answerBare, helpOf, JSON_TYPE } from './error-handler.js'

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
}

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
export const clientErrorHandler = (requestIdOf: RequestIds) => (error: { code?: string }, socket: Socket) => {
  // RFC 9112 §9.6: what follows a request that closes the connection is ignored.
  if (error.code === 'HPE_CLOSED_CONNECTION') return
  if (error.code === 'ECONNRESET') socket.destroy()
  else answerOnSocket(socket, parserError(error.code), requestIdOf())
}

/** The id of a caller that is taken over. */
const TAKEN_ID = /^[\x20-\x7e]{1,128}$/

export type RequestIds = ReturnType<typeof createRequestIds>

/**
 * Makes the `x-request-id` of each answer (decisions §1): the caller's if it is at most 128 printable ASCII
 * characters, else the next of a sequence, so that the same requests get the same ids.
 */
export function createRequestIds() {
  let count = 0
  return function requestIdOf(request?: Pick<IncomingMessage, 'headers'>): string {
    const given = request?.headers['x-request-id']
    return typeof given === 'string' && TAKEN_ID.test(given) ? given : `req-${String(++count).padStart(8, '0')}`
  }
}

const KNOWN_METHODS = new Set(METHODS)

/**
 * Makes Fastify's `serverFactory`. Node's parser takes the methods of RTSP, too, behind which no hook of Fastify runs. They
 * are refused in the envelope.
 */
export const createHttpServer =
  (requestIdOf: RequestIds, options: ServerOptions) =>
  (handle: RequestListener): Server =>
    createServer(options, function takeRequest(request, response) {
      if (KNOWN_METHODS.has(request.method as string)) handle(request, response)
      else answerBare(response, errors.malformed(null, 'The method is not one of HTTP.'), requestIdOf())
    })

/** Lets Fastify answer what Node would answer by itself, without the envelope. */
export const protocol = fp<{ requestIdOf: RequestIds }>((app, { requestIdOf }, done) => {
  // An expectation that is not 100-continue may be ignored (RFC 9110 §10.1.1).
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    // An error without a listener would end the process.
    socket.on('error', () => socket.destroy())
    answerOnSocket(socket, errors.malformed(null, 'This is no proxy: CONNECT does not work here.'), requestIdOf())
  })
  // A client that has closed its side still reads (RFC 9112 §9.6). By default, Node would drop its answers.
  Object.assign(app.server, { httpAllowHalfOpen: true })
  done()
})
