/** Requests as text: the command of a shell, and the line of a test. Secrets are variables of the shell. */
import type { LoggedRequest } from './types.js'

type Sent = Pick<LoggedRequest, 'method' | 'path' | 'query' | 'headers' | 'body' | 'text'>

/** The form of a masked secret in the log. */
const MASKED = /\*\*\*/

/** Headers that curl makes itself, or that say nothing about the request. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  ...['accept-encoding', 'accept-language', 'authorization', 'connection', 'content-length', 'content-type', 'expect'],
  ...['host', 'keep-alive', 'origin', 'referer', 'sandbox-sender', 'transfer-encoding', 'user-agent'],
])
const isOwn = (name: string) => OWN_HEADERS.has(name) || name.startsWith('sec-')

const FORM = 'application/x-www-form-urlencoded'

/** Quotes a text for a POSIX shell. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** A URL cannot hold these in its path (RFC 3986 §3.3). */
const NOT_IN_PATH = /%(?![0-9a-f]{2})|[^\w\-.~!$&'()*+,;=:@%/]/gi

/** Returns the parameters of a query. A repeated one comes once for each of its values. */
export const parametersOf = (query: LoggedRequest['query']): [name: string, value: string][] =>
  Object.entries(query).flatMap(([name, values]) => [values].flat().map((value): [string, string] => [name, value]))

/** Returns the address of a request with its query. */
export function addressOf({ path, query }: Pick<LoggedRequest, 'path' | 'query'>, url = ''): string {
  const text = new URLSearchParams(parametersOf(query)).toString()
  return `${url}${path.replace(NOT_IN_PATH, encodeURIComponent)}${text === '' ? '' : `?${text}`}`
}

/** Returns the media type of a request in lower case, without parameters; empty: it has none. */
export const mediaTypeOf = ({ 'content-type': type = '' }: LoggedRequest['headers']): string =>
  (type.split(';')[0] as string).trim().toLowerCase()

/**
 * Returns a request as a curl command. `$TOKEN` is the access token, `$CLIENT_SECRET` the secret of a token request, and
 * `FILE` stands for a body that the log does not have.
 * @param url the URL of the server without a trailing slash
 * @param token the name of the variable with the token
 */
export function toCurl(request: Sent, url: string, token = 'TOKEN'): string {
  const { method, headers, body, text } = request
  const { authorization = '', accept = '*/*', ...rest } = headers
  const hasBody = body !== null && body !== undefined
  const option = method === 'HEAD' ? '--head ' : method === (hasBody ? 'POST' : 'GET') ? '' : `-X ${method} `
  const lines = [`curl ${option}${quoted(addressOf(request, url))}`]
  if (/^bearer /i.test(authorization)) lines.push(`-H "Authorization: Bearer $${token}"`)
  if (/^basic /i.test(authorization)) lines.push('-u "$CLIENT_ID:$CLIENT_SECRET"')
  if (accept !== '*/*') lines.push(`-H ${quoted(`accept: ${accept}`)}`)
  for (const [name, value] of Object.entries(rest)) {
    if (!isOwn(name) && !MASKED.test(value)) lines.push(`-H ${quoted(`${name}: ${value}`)}`)
  }
  if (hasBody) lines.push(...bodyOptions(headers, { body, text }))
  return lines.join(' \\\n  ')
}

function bodyOptions(headers: Sent['headers'], { body, text }: Pick<Sent, 'body' | 'text'>): string[] {
  const type = mediaTypeOf(headers)
  if (type === 'multipart/form-data') return ['-F file=@FILE']
  if (type === FORM && typeof body === 'object') return fieldOptions(body as Record<string, string>)
  const known = text ?? (typeof body === 'string' ? undefined : JSON.stringify(body))
  const data = known === undefined ? '--data-binary @FILE' : `--data-raw ${quoted(known)}`
  const header = headers['content-type']
  return [`-H ${quoted(header === undefined ? 'content-type:' : `content-type: ${header}`)}`, data]
}

/** Returns the fields of a form. The log also masks names that it does not know. */
const fieldOptions = (fields: Record<string, string>) =>
  Object.entries(fields)
    .filter(([name]) => !MASKED.test(name))
    .map(([name, value]) =>
      MASKED.test(value) && /^\w+$/.test(name)
        ? `--data-urlencode "${name}=$${name.toUpperCase()}"`
        : `--data-urlencode ${quoted(`${name}=${value}`)}`,
    )

/** The methods, the longest path and the most parameters of an expectation (`POST /_sandbox/requests/verify`). */
const METHODS: readonly string[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const LONGEST_PATH = 500
const MOST_PARAMETERS = 50

/** Returns a logged request as the line of a test with the library: `await sandbox.requests.expect({ … })`. */
export function toExpectation({ method, path, query, body, status }: Sent & Pick<LoggedRequest, 'status'>): string {
  const parameters = Object.keys(query).length
  const expected = {
    ...(METHODS.includes(method) && { method }),
    path: path.length > LONGEST_PATH ? `${path.slice(0, LONGEST_PATH - 1)}*` : path,
    ...(parameters > 0 && parameters <= MOST_PARAMETERS && { query }),
    // A text is a note on a body that is not JSON.
    ...(body !== null && typeof body !== 'string' && { body }),
    ...(status !== null && { status }),
  }
  return `await sandbox.requests.expect(${sourceOf(expected, '')})`
}

/** The longest object or list on one line. */
const LINE = 80

/** Writes a JSON value as a literal of JavaScript. */
function sourceOf(value: unknown, indent: string): string {
  if (typeof value === 'string') {
    return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
  }
  if (value === null || typeof value !== 'object') return String(value)
  const isList = Array.isArray(value)
  const inner = `${indent}  `
  const parts = isList
    ? value.map(item => sourceOf(item, inner))
    : Object.entries(value).map(([name, member]) => `${nameOf(name)}: ${sourceOf(member, inner)}`)
  const [open, close] = isList ? ['[', ']'] : ['{', '}']
  if (parts.length === 0) return `${open}${close}`
  const space = isList ? '' : ' '
  const line = `${open}${space}${parts.join(', ')}${space}${close}`
  if (indent.length + line.length <= LINE && !line.includes('\n')) return line
  return `${open}\n${parts.map(part => `${inner}${part},\n`).join('')}${indent}${close}`
}

/** A computed name never sets the prototype. */
function nameOf(name: string): string {
  if (name === '__proto__') return "['__proto__']"
  return /^[a-z_$][\w$]*$/i.test(name) ? name : sourceOf(name, '')
}
