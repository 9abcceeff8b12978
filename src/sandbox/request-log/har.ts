import { STATUS_CODES } from 'node:http'
import { FORM } from '../../http/form.js'
import { NAME, VERSION } from '../../package.js'
import { addressOf, mediaTypeOf, parametersOf } from './address.js'
import type { LoggedExchange } from './exchange.js'

/** The media type of a HAR document. */
export const HAR_TYPE = 'application/har+json'

const pairs = (entries: Iterable<readonly [string, string]>) => [...entries].map(([name, value]) => ({ name, value }))
const textOf = (body: unknown) => (typeof body === 'string' ? '' : JSON.stringify(body))

/** A body that the log only describes has its description as a comment. */
const commentOf = (body: unknown) => typeof body === 'string' && { comment: body }

function postDataOf({ headers, body, text = textOf(body) }: LoggedExchange) {
  const mimeType = headers['content-type'] ?? ''
  if (mediaTypeOf(headers) !== FORM || typeof body === 'string') {
    return { mimeType, text, ...commentOf(body) }
  }
  // HAR 1.2: a body has a text or parameters.
  return { mimeType, params: pairs(Object.entries(body as Record<string, string>)) }
}

function contentOf({ responseHeaders, responseBody }: LoggedExchange) {
  const text = responseBody === null ? '' : textOf(responseBody)
  return {
    size: Buffer.byteLength(text),
    mimeType: responseHeaders['content-type'] ?? 'x-unknown',
    text,
    ...(responseBody !== null && commentOf(responseBody)),
  }
}

function entryOf(exchange: LoggedExchange, url: string): object {
  // Each member is made once.
  const logged = { ...exchange }
  const { seq, at, method, query, headers, body, status, responseHeaders, durationMs, faults, hints } = logged
  return {
    startedDateTime: at,
    time: durationMs,
    request: {
      method,
      url: addressOf(logged, url),
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: pairs(Object.entries(headers)),
      queryString: pairs(parametersOf(query)),
      ...(body !== null && { postData: postDataOf(logged) }),
      headersSize: -1,
      bodySize: -1,
    },
    response: {
      // Browsers write 0, too, where no answer came.
      status: status ?? 0,
      statusText: STATUS_CODES[status ?? 0] ?? '',
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: pairs(Object.entries(responseHeaders)),
      content: contentOf(logged),
      redirectURL: responseHeaders.location ?? '',
      headersSize: -1,
      bodySize: -1,
    },
    cache: {},
    timings: { send: 0, wait: durationMs, receive: 0 },
    _seq: seq,
    _faults: faults,
    _hints: hints,
  }
}

/** The run of which a HAR document is the log. */
export interface Run {
  readonly seed: string
  /** Whether the document has all requests of the client since its start or its reset. */
  readonly isComplete: boolean
  /** The other calls that have changed the client, such as `POST /_sandbox/faults`. */
  readonly steeredBy: readonly string[]
}

/**
 * Returns logged requests as a HAR 1.2 document (http://www.softwareishard.com/blog/har-12-spec/). Its times are the times of
 * the tenant.
 * @param url the URL of the server without a trailing slash
 */
export const toHar = (exchanges: readonly LoggedExchange[], url: string, { seed, isComplete, steeredBy }: Run) => ({
  log: {
    version: '1.2',
    creator: { name: NAME, version: VERSION },
    pages: [],
    entries: exchanges.map(logged => entryOf(logged, url)),
    _seed: seed,
    _complete: isComplete,
    _steeredBy: steeredBy,
  },
})
