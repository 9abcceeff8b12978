import { valuesByName } from './url.js'

/** The text that replaces a secret in the request log and the log. */
export const MASK = '***'

/** Header fields that carry credentials. */
const SECRET_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'proxy-authorization',
  'set-cookie',
  'x-api-key',
])

/** Members of JSON, forms and queries that carry credentials, in lower case. */
const SECRET_MEMBERS: ReadonlySet<string> = new Set([
  'access_token',
  'authorization',
  'assertion',
  'client_assertion',
  'client_secret',
  'password',
  'refresh_token',
  'secret',
  'token',
])

/** The members of a token request that are no secret. All others are masked. */
const TOKEN_REQUEST_MEMBERS: ReadonlySet<string> = new Set(['client_id', 'grant_type', 'scope'])

/** Nesting above this depth is not shown. */
const DEEPEST = 100

/** Masks the header fields that carry credentials. The scheme of Authorization stays visible. */
export function maskHeaders(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  const mask = (name: string, text: string) =>
    SECRET_HEADERS.has(name) || isSecretMember(name)
      ? `${/^(basic|bearer) /i.exec(text)?.[0] ?? ''}${MASK}`
      : maskText(text)
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [maskText(name), mask(name, String(value))]))
}

const isSecretMember = (name: string) => SECRET_MEMBERS.has(decode(name).toLowerCase())

/**
 * Masks the members of a JSON value that carry credentials, and the tokens in its texts and names. An empty secret stays
 * visible. If masking makes two names equal, the last one stays.
 */
export function maskJson(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return maskText(value)
  if (value === null || typeof value !== 'object') return value
  if (depth === DEEPEST) return '(nested too deeply to be shown)'
  if (Array.isArray(value)) return value.map(item => maskJson(item, depth + 1))
  const masked: Record<string, unknown> = {}
  for (const given of Object.keys(value)) {
    const name = maskText(given)
    const member = (value as Record<string, unknown>)[given]
    const isMasked = isSecretMember(name) && member !== '' && member !== null
    const shown = isMasked ? MASK : maskJson(member, depth + 1)
    if (name === '__proto__') Object.defineProperty(masked, name, { value: shown, enumerable: true })
    else masked[name] = shown
  }
  return masked
}

/** Parses the JSON text of a body or answer, and masks its secrets. Undefined if it is not JSON. */
export function parseMasked(text: string): unknown {
  try {
    return maskJson(JSON.parse(text))
  } catch {
    return undefined
  }
}

const SECRET_NAME = new RegExp([...SECRET_MEMBERS, ...SECRET_HEADERS].join('|'), 'i')
/** An escape of JSON, or a character of a text in UTF-16. */
const ESCAPE = /\\u|\0/

/** Masks the tokens of a text that is not JSON. Undefined if it may have a secret, since it names one or has an escape. */
export const maskUnparsed = (text: string): string | undefined =>
  ESCAPE.test(text) || SECRET_NAME.test(decode(text)) ? undefined : maskText(text)

/** Parses a query or form and masks its secrets. A repeated parameter has all its values. */
export function maskQuery(text: string): Record<string, string | string[]> {
  return Object.fromEntries(valuesByName(maskPairs(new URLSearchParams(text))))
}

function* maskPairs(pairs: Iterable<readonly [string, string]>): Generator<[string, string]> {
  for (const [given, value] of pairs) {
    const name = maskText(given)
    yield [name, isSecretMember(name) && value !== '' ? MASK : maskText(value)]
  }
}

/** Masks all fields of a token request, except known ones without secrets. A name may be part of a secret, too. */
export function maskTokenRequest(fields: Readonly<Record<string, string>>): Record<string, string> {
  const mask = (name: string, value: string): [string, string] =>
    TOKEN_REQUEST_MEMBERS.has(name)
      ? [name, maskText(value)]
      : [isSecretMember(name) ? name : MASK, value === '' ? '' : MASK]
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => mask(name, value)))
}

/** A name of a secret, a separator, and the rest of the path. */
const PATH_SECRET = /((?:secret|password|access_token)["'\s]*[=:/]["'\s]*).+/is

/** Masks a secret and all that follows it in the path of a request, and decodes the rest: a name can be encoded. */
export function maskPath(path: string): string {
  const decoded = decode(path)
  const masked = decoded.replace(PATH_SECRET, `$1${MASK}`)
  return maskText(masked === decoded ? path : masked)
}

const PARAMETER = /((?:secret|token|password)=)[^&\s"]+/gi
/**
 * The form of our access tokens (areas/oauth/tokens.ts), with all word characters before it, and all that could be another one
 * behind it. A message can show only the start of a text.
 */
const ACCESS_TOKEN = /(?<![\w-])[\w-]{2,}(?:\.[0-9a-z]{1,11}){3}\.(?:[\w-]{16}(?:[\w-]*\.[\w.-]*)?|[\w-]*…)/g

/**
 * Masks our access tokens, and parameters that carry credentials, in a text such as a path. A text that has them in
 * percent-encoding is decoded.
 */
export function maskText(text: string): string {
  const masked = maskPlain(text)
  const decoded = decode(masked)
  if (decoded === masked) return masked
  const shown = maskPlain(decoded)
  return shown === decoded ? masked : shown
}

function maskPlain(text: string): string {
  const masked = text.includes('=') ? text.replace(PARAMETER, `$1${MASK}`) : text
  return masked.includes('.') ? masked.replace(ACCESS_TOKEN, MASK) : masked
}

const PERCENT = 0x25
/** The values of bytes that are digits of hexadecimal numbers, or NaN for others. */
const DIGITS = Array.from({ length: 256 }, (_, byte) => Number.parseInt(String.fromCharCode(byte), 16))

/** Decodes the percent-encoding of ASCII, also where it is encoded itself, in one pass. */
function decode(text: string): string {
  if (!text.includes('%')) return text
  const bytes = Buffer.from(text)
  let length = 0
  for (const byte of bytes) {
    bytes[length++] = byte
    while (bytes[length - 3] === PERCENT) {
      const code =
        (DIGITS[bytes[length - 2] as number] as number) * 16 + (DIGITS[bytes[length - 1] as number] as number)
      if (!(code < 128)) break
      length -= 2
      bytes[length - 1] = code
    }
  }
  return bytes.toString('utf8', 0, length)
}
