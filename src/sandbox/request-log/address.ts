import type { LoggedExchange } from './exchange.js'

/** What a URL cannot hold in its path (RFC 3986 §3.3). */
const NOT_IN_PATH = /%(?![0-9a-f]{2})|[^\w\-.~!$&'()*+,;=:@%/]/gi

/**
 * Returns the address of a logged request, with its query. Secrets are masked.
 * @param url the URL of the server without a trailing slash
 */
export function addressOf({ path, query }: Pick<LoggedExchange, 'path' | 'query'>, url = ''): string {
  const text = new URLSearchParams(parametersOf(query)).toString()
  return `${url}${path.replace(NOT_IN_PATH, encodeURIComponent)}${text === '' ? '' : `?${text}`}`
}

/** Returns the parameters of a query. A repeated one comes once for each of its values. */
export const parametersOf = (query: LoggedExchange['query']): [name: string, value: string][] =>
  Object.entries(query).flatMap(([name, values]) => [values].flat().map((value): [string, string] => [name, value]))

/** Returns the media type of a header in lower case, without parameters. Without a header, it is empty. */
export const mediaTypeOf = ({ 'content-type': type = '' }: Readonly<Record<string, string>>): string =>
  type.replace(/;.*/s, '').trim().toLowerCase()
