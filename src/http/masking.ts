import { type Fields, isMalformed, parseForm } from './forms.js'

/** What stands where a secret stood: in the request log and in recordings. */
export const MASK = '***'

const SECRET_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'x-api-key',
])
const SECRET_FIELDS: ReadonlySet<string> = new Set(['client_secret', 'client_assertion', 'access_token', 'password'])

/** A header as it may be shown. Of credentials, the name of the scheme stays: it is what is got wrong. */
export function maskHeader(name: string, value: string): string {
  if (!SECRET_HEADERS.has(name)) return value
  const scheme = /^(basic|bearer) /i.exec(value)?.[1]
  return scheme === undefined ? MASK : `${scheme} ${MASK}`
}

/** Fields as they may be shown; null: it cannot be told which of them are secret. */
export function maskFields(text: string): Fields | null {
  const fields = parseForm(text)
  if (isMalformed(fields)) return null
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, SECRET_FIELDS.has(name.toLowerCase()) ? MASK : value]),
  )
}

/** A form with its secrets masked, in the order in which they came; empty where that cannot be told. */
export function maskForm(text: string): string {
  const pairs = Object.entries(maskFields(text) ?? {}).flatMap(([name, value]) =>
    [value].flat().map(item => `${encodeURIComponent(name)}=${item === MASK ? MASK : encodeURIComponent(item)}`),
  )
  return pairs.join('&')
}

/** JSON with the tokens in it masked. */
export const maskTokens = (json: string): string => json.replace(/("access_token":")[^"]*/g, `$1${MASK}`)
