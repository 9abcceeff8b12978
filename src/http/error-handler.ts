import type { Socket } from 'node:net'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorEnvelope } from '../core/errors.js'
import { errors, SandboxError } from '../core/errors.js'

const JSON_TYPE = 'application/json; charset=utf-8'

/** What Fastify and its plugins refuse by themselves, in the words of our catalogue. */
const translations: Record<string, (request: FastifyRequest) => SandboxError> = {
  FST_ERR_BAD_URL: () => errors.malformed(null, 'The path has bad percent-encoding.'),
  FST_ERR_CTP_BODY_TOO_LARGE: () => errors.payloadTooLarge(null, '1 MiB'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () => errors.malformed(null, 'The body is not as long as Content-Length says.'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: request => wrongMediaType(request),
}

/** The refusal of a Content-Type that an operation does not take. PATCH tells what it does (RFC 5789 §2.2). */
export function wrongMediaType({ method, routeOptions }: FastifyRequest): SandboxError {
  const right = routeOptions.config.consumes ?? 'application/json'
  return errors.unsupportedMediaType(
    'content-type',
    `Content-Type must be ${right}.`,
    method === 'PATCH' ? { 'accept-patch': right } : {},
  )
}

/** Any error as an entry of the catalogue. What is in none is logged, and told as INTERNAL_ERROR. */
export function errorOf(error: unknown, request: FastifyRequest): SandboxError {
  if (error instanceof SandboxError) return error
  const translate = translations[(error as FastifyError | null)?.code ?? '']
  if (translate !== undefined) return translate(request)
  request.log.error({ err: error }, 'unforeseen failure')
  return errors.internal()
}

/** Sends a refusal; the body is made here, so that it needs no serializer. */
export function sendEnvelope(reply: FastifyReply, error: SandboxError, body: ErrorEnvelope = error.envelope) {
  return reply.code(error.status).headers(error.headers).type(JSON_TYPE).send(JSON.stringify(body))
}

export function installErrorHandler(app: FastifyInstance): void {
  app.setErrorHandler((error, request, reply) => sendEnvelope(reply, errorOf(error, request)))
}

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

/** Answers on the bare socket, and closes it: after a framing error nothing on it can be trusted. */
export function answerOnSocket(socket: Socket, error: SandboxError, requestId: string): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
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

/** For Fastify's `clientErrorHandler`. */
export const clientErrorHandler = (nextRequestId: () => string) => (error: { code?: string }, socket: Socket) => {
  if (error.code === 'ECONNRESET') socket.destroy()
  else answerOnSocket(socket, parserError(error.code), nextRequestId())
}
