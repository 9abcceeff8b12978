import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorEnvelope } from '../core/errors.js'
import { errors, SandboxError } from '../core/errors.js'

export const JSON_TYPE = 'application/json; charset=utf-8'

/** What Fastify and its plugins refuse by themselves, in the words of our catalogue. */
const translations = new Map<unknown, (request: FastifyRequest) => SandboxError>([
  [
    'FST_ERR_CTP_BODY_TOO_LARGE',
    ({ routeOptions }) => errors.payloadTooLarge(null, `${routeOptions.bodyLimit / 1024 / 1024} MiB`),
  ],
  [
    'FST_ERR_CTP_INVALID_CONTENT_LENGTH',
    () => errors.malformed(null, 'The body is not as long as Content-Length says.'),
  ],
  ['FST_ERR_CTP_INVALID_MEDIA_TYPE', wrongMediaType],
  ['FST_REQ_FILE_TOO_LARGE', () => errors.payloadTooLarge('file', '10 MiB')],
  // Told to nobody: the client has hung up.
  ['ECONNRESET', () => errors.malformed(null, 'The connection ended in the middle of the body.')],
])

/** The refusal of a Content-Type that an operation does not take. PATCH tells what it does (RFC 5789 §2.2). */
export function wrongMediaType({ method, route }: FastifyRequest): SandboxError {
  const right = route.config.consumes ?? 'application/json'
  return errors.unsupportedMediaType(
    'content-type',
    `Content-Type must be ${right}.`,
    method === 'PATCH' ? { 'accept-patch': right } : {},
  )
}

/** Any error as an entry of the catalogue. What is in none is logged, and told as INTERNAL_ERROR. */
export function errorOf(error: unknown, request: FastifyRequest): SandboxError {
  if (error instanceof SandboxError) return error
  const translate = translations.get((error as FastifyError | null)?.code)
  if (translate !== undefined) return translate(request)
  request.server.reportFailure(request, error, 'unforeseen failure')
  return errors.internal()
}

/** Sends a refusal; the body is made here, so that it needs no serializer. */
export function sendEnvelope(reply: FastifyReply, error: SandboxError, body: ErrorEnvelope = error.envelope) {
  return reply.code(error.status).headers(error.headers).type(JSON_TYPE).send(JSON.stringify(body))
}

export function installErrorHandler(app: FastifyInstance): void {
  app.setErrorHandler((error, request, reply) => sendEnvelope(reply, errorOf(error, request)))
}
