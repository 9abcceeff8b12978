import type { ServerResponse } from 'node:http'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorEnvelope } from '../core/errors.js'
import { ApiError, catalogue, errors, quote } from '../core/errors.js'
import { maskText } from './masking.js'
import { prefixOf } from './request-context.js'

export const JSON_TYPE = 'application/json; charset=utf-8'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The media type of the body, where it is not JSON. */
    consumes?: string
    /** The body, for the OpenAPI document, where a plugin takes it apart and no schema validates it. */
    form?: object
  }
}

const MIB = 1024 * 1024

/** The errors of Fastify and its plugins, as entries of our catalogue. */
const translations = new Map<unknown, (request: FastifyRequest) => ApiError>([
  [
    'FST_ERR_CTP_BODY_TOO_LARGE',
    ({ routeOptions: { bodyLimit } }) =>
      errors.payloadTooLarge(null, bodyLimit % MIB === 0 ? `${bodyLimit / MIB} MiB` : `${bodyLimit} bytes`),
  ],
  [
    'FST_ERR_CTP_INVALID_CONTENT_LENGTH',
    () => errors.malformed(null, 'The body is not as long as Content-Length says.'),
  ],
  ['FST_ERR_CTP_INVALID_MEDIA_TYPE', wrongMediaType],
  ['FST_ERR_BAD_URL', () => errors.malformed(null, 'The request target is not valid.')],
  ['ECONNRESET', () => errors.malformed(null, 'The connection ended in the middle of the body.')],
  // The reader of a download of the console is gone.
  ['LIGHT_ECONNRESET', () => errors.unavailable('The connection is closed.')],
])

/**
 * Refuses a body that an operation does not take. PATCH names the type that it takes (RFC 5789 §2.2).
 * @param coding the Content-Encoding, if that is the fault
 */
export function wrongMediaType({ method, routeOptions }: FastifyRequest, coding?: string): ApiError {
  const expected = routeOptions.config.consumes ?? 'application/json'
  const headers: Record<string, string> = method === 'PATCH' ? { 'accept-patch': expected } : {}
  if (coding === undefined) {
    return errors.unsupportedMediaType('content-type', `Content-Type must be ${expected}.`, headers)
  }
  const message = `Send the body without Content-Encoding: ${quote(coding)} is not decoded here.`
  // RFC 9110 §12.5.3.
  return errors.unsupportedMediaType('content-encoding', message, { ...headers, 'accept-encoding': 'identity' })
}

/** Returns any error as an entry of the catalogue. An unforeseen one is logged and becomes INTERNAL_ERROR. */
export function toApiError(error: unknown, request: FastifyRequest): ApiError {
  if (error instanceof ApiError) return error
  const translate = translations.get((error as FastifyError | null)?.code)
  if (translate !== undefined) return translate(request)
  request.log.error({ err: error }, 'unforeseen failure')
  return errors.internal()
}

/**
 * Returns the header `Link` of an error: its code on the page of the guide (decisions §1). A fault can have a code that is not there.
 * @param prefix the path prefix of the server
 */
export const helpOf = ({ code }: ApiError, prefix = '') =>
  Object.hasOwn(catalogue, code) && { link: `<${prefix}/docs/guide/errors#${code}>; rel="help"` }

/** Sends an error in the envelope `{ code, field, message }` (interface, Errors 1). */
export function sendError(reply: FastifyReply, error: ApiError, body: ErrorEnvelope = error.envelope) {
  return (
    reply
      .code(error.status)
      .headers({ ...helpOf(error, prefixOf(reply.request)), ...error.headers })
      .type(JSON_TYPE)
      // A message quotes the input, which may hold a token.
      .serializer((payload: unknown) =>
        JSON.stringify(payload, (_, value) => (typeof value === 'string' ? maskText(value) : value)),
      )
      .send(body)
  )
}

/** Answers in the envelope without Fastify: no hook has to work for it. */
export function answerBare(response: ServerResponse, error: ApiError, requestId: string): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const body = JSON.stringify(error.envelope)
  response.writeHead(error.status, {
    'content-type': JSON_TYPE,
    'content-length': Buffer.byteLength(body),
    'x-request-id': requestId,
    ...helpOf(error),
    connection: 'close',
  })
  response.end(body)
}

/** Answers an error before the hooks of a request, for Fastify's `frameworkErrors`, or after one of them has failed. */
export function answerLast(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  reply.hijack()
  answerBare(reply.raw, toApiError(error, request), request.id)
}

/**
 * Answers every error in the envelope. Fastify gives an error of a handler to the next handler outside, and its own is the
 * last. So the handler of the server is `answerLast`, and each route and the unknown paths have `answer` before it.
 */
export function handleErrors(app: FastifyInstance): void {
  const answer = (error: unknown, request: FastifyRequest, reply: FastifyReply) =>
    sendError(reply, toApiError(error, request))
  app.setErrorHandler(answerLast)
  const last = app.errorHandler
  app.addHook('onRoute', function addHandler(route) {
    if (this.errorHandler === last) route.errorHandler ??= answer
  })
  // Its types lack this option.
  app.setNotFoundHandler({ errorHandler: answer } as object, () => Promise.reject(errors.routeNotFound(undefined)))
}
