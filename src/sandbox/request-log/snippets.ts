/** Requests as text: the command of a shell, and the line of a test. The library and the console share them. */
import { addressOf, mediaTypeOf } from './address.js'
import type { LoggedExchange } from './exchange.js'

/** The form of a masked secret in the log. */
const MASKED = /\*\*\*/

/** Headers that curl or a browser makes itself, or that say nothing about the request. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  ...['accept-encoding', 'accept-language', 'authorization', 'connection', 'content-length', 'content-type', 'expect'],
  ...['host', 'keep-alive', 'origin', 'referer', 'sandbox-sender', 'transfer-encoding', 'user-agent'],
])
const isOwn = (name: string) => OWN_HEADERS.has(name) || name.startsWith('sec-')

type Sent = Pick<LoggedExchange, 'method' | 'path' | 'query' | 'headers' | 'body' | 'text'>

const FORM = 'application/x-www-form-urlencoded'
const MULTIPART = 'multipart/form-data'

/** Quotes a text for a POSIX shell. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/**
 * Returns a logged request as a curl command. Secrets are variables of the shell: `$TOKEN` is the access token,
 * `$CLIENT_SECRET` the secret of a token request, and `FILE` stands for a body that the log does not have.
 * @param url the URL of the server without a trailing slash
 * @param token the name of the variable with the access token
 */
export function toCurl(request: Sent, url: string, token = 'TOKEN'): string {
  const { method, headers, body, text } = request
  const { authorization = '', accept = '*/*', ...rest } = headers
  const type = mediaTypeOf(headers)
  const hasBody = body !== null
  const lines = [`curl ${methodOption(method, hasBody)}${quoted(addressOf(request, url))}`]
  if (/^bearer /i.test(authorization)) lines.push(`-H "Authorization: Bearer $${token}"`)
  if (/^basic /i.test(authorization)) lines.push('-u "$CLIENT_ID:$CLIENT_SECRET"')
  if (accept !== '*/*') lines.push(`-H ${quoted(`accept: ${accept}`)}`)
  for (const [name, value] of Object.entries(rest)) {
    if (!isOwn(name) && !MASKED.test(value)) lines.push(`-H ${quoted(`${name}: ${value}`)}`)
  }
  if (hasBody) lines.push(...bodyOptions(type, headers['content-type'], { body, text }))
  return lines.join(' \\\n  ')
}

function methodOption(method: string, hasBody: boolean): string {
  if (method === 'HEAD') return '--head '
  return method === (hasBody ? 'POST' : 'GET') ? '' : `-X ${method} `
}

function bodyOptions(type: string, header: string | undefined, { body, text }: Partial<LoggedExchange>): string[] {
  if (type === MULTIPART) return ['-F file=@FILE']
  if (type === FORM && typeof body === 'object') return fieldOptions(body as Record<string, string>)
  const known = text ?? (typeof body === 'string' ? undefined : JSON.stringify(body))
  const data = known === undefined ? '--data-binary @FILE' : `--data-raw ${quoted(known)}`
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
export function toExpectation({ method, path, query, body, status }: Sent & Pick<LoggedExchange, 'status'>): string {
  const parameters = Object.keys(query).length
  const expected = {
    ...(METHODS.includes(method) && { method }),
    path: path.length > LONGEST_PATH ? `${path.slice(0, LONGEST_PATH - 1)}*` : path,
    ...(parameters > 0 && parameters <= MOST_PARAMETERS && { query }),
    // A text is a note on a body that is not JSON.
    ...(body !== null && typeof body !== 'string' && { body }),
    ...(status !== null && { status }),
  }
  // A computed name never sets the prototype.
  const source = JSON.stringify(expected, null, 2).replaceAll('"__proto__":', '["__proto__"]:')
  return `await sandbox.requests.expect(${source})`
}
