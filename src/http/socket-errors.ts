import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { errors, type SandboxError } from '../core/errors.js'
import { JSON_TYPE } from './error-handler.js'

/** What Node's parser refuses before there is a request. */
function parserError(code: string | undefined): SandboxError {
  if (code === 'HPE_HEADER_OVERFLOW') return errors.headersTooLarge()
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return errors.requestTimeout()
  return errors.malformed(null, 'The request is not valid HTTP/1.1.')
}

const REASONS: Record<number, string> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
}

/** A client that does not close its half in so many milliseconds is not waited for. */
const LINGER_MS = 2000

/** Answers on the bare socket, and closes it: after a framing error nothing on it can be trusted. */
export function answerOnSocket(socket: Socket, error: SandboxError, requestId: string): void {
  // Nobody else listens any more, and an error that nobody hears would end the process.
  socket.on('error', () => socket.destroy())
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
      'connection: close',
      '',
      body,
    ].join('\r\n'),
  )
}

/** A request on a connection, and its answer. */
export interface Turn {
  readonly response: ServerResponse
  /** Whether it is decided what the answer is. */
  isThrough: boolean
  /** Whether it had to wait for the one before. */
  isLate: boolean
  /** What waits for that. */
  next: (() => void) | undefined
}

const latest = new WeakMap<Socket, Turn>()

/** What came last on a connection, so far. */
export const latestTurn = (socket: Socket): Turn | undefined => latest.get(socket)

/** Remembers what is being answered on a connection. */
export function rememberTurn({ socket }: IncomingMessage, response: ServerResponse): Turn {
  const turn = { response, isThrough: false, isLate: false, next: undefined }
  latest.set(socket, turn)
  return turn
}

/**
 * For Fastify's `clientErrorHandler`. What came before on the connection, whole, is answered first
 * (RFC 9112 §9.3.2): a client must learn what became of a request that was applied.
 */
export const clientErrorHandler = (nextRequestId: () => string) => (error: { code?: string }, socket: Socket) => {
  const refuse = () => answerOnSocket(socket, parserError(error.code), nextRequestId())
  const before = latest.get(socket)?.response
  const isAnswered = before !== undefined && !before.req.complete && before.headersSent
  // To a request that has been answered before it was whole, a second answer would be taken for the next one's.
  if (error.code === 'ECONNRESET' || isAnswered) socket.destroy()
  else if (before?.req.complete && !before.writableFinished) before.once('close', refuse)
  else refuse()
}
