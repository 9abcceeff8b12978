import { isUtf8 } from 'node:buffer'
import type { Fields } from './forms.js'
import { isMalformed, parseForm } from './forms.js'

/** What stands where a secret stood: in the request log and in recordings. */
export const MASK = '***'

/** Names of headers, parameters and members whose values are nobody's business, however they are spelt. */
const SECRET_NAME = /secret|passw|token(?!.?type)|credential|assertion|api.?key|cookie|auth(?!enticate|ors?$|ority)/i

/** Of what is sent to where tokens are issued, no more is shown than what surely is no secret. */
const HARMLESS: ReadonlySet<string> = new Set(['client_id', 'grant_type', 'scope'])

/** What is nested deeper could not be written as JSON again. */
const DEEPEST = 100

const isSecret = (name: string) => SECRET_NAME.test(name)

/** That a secret was empty is worth knowing. */
const masked = (value: unknown) => (value === '' || value === null ? value : MASK)

/** A header as it may be shown. Of credentials, the name of the scheme stays: it is what is got wrong. */
export function maskHeader(name: string, value: string): string {
  if (!isSecret(name)) return maskText(value)
  const scheme = /^(basic|bearer) /i.exec(value)?.[1]
  return scheme === undefined ? MASK : `${scheme} ${MASK}`
}

// ---------------------------------------------------------------------------------------------------------- forms

/** The parameters of a query, or the fields of a form, as they may be shown; null: they cannot be told apart. */
export function maskFields(text: string): Fields | null {
  return showFields(text, (name, value) => [
    maskText(name),
    isSecret(name) ? (masked(value) as string) : maskText(value),
  ])
}

/**
 * The fields of a form with credentials as they may be shown; null: they cannot be told apart. What stands where a name
 * should may be the rest of a secret that was not encoded, or a body of another kind.
 */
export function maskCredentials(text: string): Fields | null {
  return showFields(text, (name, value) => {
    if (HARMLESS.has(name)) return [name, maskText(value)]
    const isName = name === 'client_secret' || (value !== '' && /^[a-z][\w-]{0,39}$/i.test(name))
    return [isName ? maskText(name) : MASK, masked(value) as string]
  })
}

function showFields(text: string, show: (name: string, value: string) => [string, string]): Fields | null {
  const fields = parseForm(text)
  if (isMalformed(fields)) return null
  const shown = Object.entries(fields).map(([name, given]) => {
    const pairs = [given].flat().map(value => show(name, value))
    const values = pairs.map(([, value]) => value)
    return [pairs[0]?.[0], typeof given === 'string' ? values[0] : values]
  })
  return Object.fromEntries(shown)
}

// ----------------------------------------------------------------------------------------------------------- JSON

/** A value of JSON as it may be shown. */
export function maskJson(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return maskText(value)
  if (value === null || typeof value !== 'object') return value
  if (depth === DEEPEST) return '(nested too deeply to be shown)'
  if (Array.isArray(value)) return value.map(item => maskJson(item, depth + 1))
  return mapMembers(value, (name, member) => (isSecret(name) ? masked(member) : maskJson(member, depth + 1)))
}

/** A value of JSON with credentials as it may be shown. */
export function maskJsonCredentials(value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return MASK
  return mapMembers(value, (name, member) => (HARMLESS.has(name) ? maskJson(member) : masked(member)))
}

/** Undefined: it is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const mapMembers = (value: object, show: (name: string, member: unknown) => unknown) =>
  Object.fromEntries(Object.entries(value).map(([name, member]) => [maskText(name), show(name, member)]))

// ----------------------------------------------------------------------------------------------------------- text

/** Whether a text that is neither JSON nor a form may hold a secret: what it is called can be encoded. */
export const isSuspicious = (text: string): boolean => isSecret(text) || /%|\\u/i.test(text)

/** RFC 7617 §2. */
const BASIC = /\b(basic)(?:\s+|%20|\+)([\w+/-]{4,}={0,2})/gi
const PARAMETER = /((?:secret|token|password)=)[^&\s"]+/gi
/** What has the form of our own tokens, which the area oauth makes. */
const TOKEN = /(?<![\w-])([\w-]{2,400})\.[0-9a-z]{1,11}\.[0-9a-z]{6,9}\.[\w-]{16}(?![\w-])/g

/** What all that is recognised has somewhere: to look for it takes a tenth of the time, and mostly there is none. */
const CREDENTIAL = /basic[\s%+]|=|\.[0-9a-z]{6,9}\.[\w-]{16}/i

/** A text with what is recognised as a credential masked. */
export const maskText = (text: string): string => (CREDENTIAL.test(text) ? maskCredentialsIn(text) : text)

const maskCredentialsIn = (text: string): string =>
  text
    .replace(BASIC, (found, scheme: string, credentials: string) =>
      decoded(credentials)?.includes(':') ? `${scheme} ${MASK}` : found,
    )
    .replace(PARAMETER, `$1${MASK}`)
    // A host name is no token: its first part is no text in base64.
    .replace(TOKEN, (found, clientId: string) => (decoded(clientId) === undefined ? found : MASK))

/** The text that base64 stands for; undefined: it is no text. */
function decoded(base64: string): string | undefined {
  const bytes = Buffer.from(base64, 'base64url')
  return isUtf8(bytes) && !/\p{Cc}/u.test(bytes.toString()) ? bytes.toString() : undefined
}

// ------------------------------------------------------------------------------------------------------ recordings

/** JSON with the tokens in it masked. */
export const maskTokens = (json: string): string =>
  maskText(json.includes('"access_token"') ? json.replace(/("access_token":")[^"]*/, `$1${MASK}`) : json)

/** Path and query with what looks like a secret masked. The operation reads none of it. */
export function maskTarget(target: string): string {
  const start = target.indexOf('?') + 1
  if (start === 0) return target
  const pairs = target.slice(start).split('&')
  return target.slice(0, start) + pairs.map(maskPair).join('&')
}

function maskPair(pair: string): string {
  const [name = ''] = Object.keys(parseForm(pair))
  return isSecret(name) ? `${encodeURIComponent(name)}=${MASK}` : maskText(pair)
}

/** The fields of a form with credentials, as a form again, its secrets masked: they make no difference to a replay. */
export const maskForm = (fields: Readonly<Record<string, string>>): string =>
  Object.entries(fields)
    .map(([name, value]) => `${name}=${HARMLESS.has(name) ? encodeURIComponent(maskText(value)) : MASK}`)
    .join('&')

/** Masks the parts that are called like a secret (RFC 7578 §4). */
export function maskMultipart(body: Buffer, contentType = ''): Buffer {
  const delimiter = `--${/boundary="?([^";]+)/i.exec(contentType)?.[1]}`
  const parts = body.toString('latin1').split(delimiter)
  const shown = parts.map(part => {
    const end = part.indexOf('\r\n\r\n') + 4
    const name = /;\s*name="?([^";\r\n]*)/i.exec(part.slice(0, end))?.[1] ?? ''
    return isSecret(name) ? `${part.slice(0, end)}${MASK}\r\n` : part
  })
  return Buffer.from(shown.join(delimiter), 'latin1')
}
