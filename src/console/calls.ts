import type { TSchema } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import type { ErrorEnvelope } from '../core/errors.js'
import { errors } from '../core/errors.js'
import type { Region } from '../core/rules/regions.js'
import { toCurl as requestToCurl } from '../features/request-log/snippets.js'
import { MASK } from '../http/masking.js'
import type { DocumentedRoute } from '../openapi/routes.js'
import { kinds } from './kinds.js'
import { formatMoment } from './moments.js'

/**
 * A call of the control plane or of the API. Every action of the console is one: it is sent to the server itself, so
 * that its checks, errors, log, recording and turn are those of the same call by a program.
 */
export interface Call {
  readonly method: string
  /** The path and query. */
  readonly target: string
  /** The value of `x-region`, for calls of the API. */
  readonly region?: Region | undefined
  readonly body?: object | undefined
}

/** The fields of a form beside those of the body. */
export type CallFields = Readonly<Record<string, string>>

/** The answer of a call. */
export interface CallAnswer {
  /** Null: a fault has closed the connection without an answer. */
  readonly status: number | null
  readonly body: Readonly<Record<string, unknown>>
}

/** The name of a field of the body begins with it, such as `body.debtor.name`. */
export const BODY = 'body.'

const CALL = /^(GET|POST|PUT|PATCH|DELETE) (\/(?:api\/v1|_sandbox)\/(?!console)[^\s#]*)$/

/** Returns a call as the hidden field `call` has it. */
export const toField = ({ method, target }: Call): string => `${method} ${target}`

/** Whether a call is one of the API, which needs an access token of the client. */
export const isApiCall = ({ target }: Call): boolean => target.startsWith('/api/')

/**
 * Reads the call of a form. `json` has the fixed members of the body. The fields add members, with the types that the
 * schema of the call gives them; an empty field is left out.
 * @param documented the routes, with their schemas
 * @throws INVALID_FIELD
 */
export function readCall(fields: CallFields, documented: readonly DocumentedRoute[]): Call {
  const [, method, target] = CALL.exec(fields.call ?? '') ?? []
  if (method === undefined || target === undefined) throw errors.invalid('call', 'The form names no call.')
  const schema = schemaOf(method, target, documented)
  const given = Object.entries(fields).filter(([name]) => name.startsWith(BODY))
  const body = parse(fields.json)
  for (const [name, text] of given) {
    // A form doubles the characters of a line break (WHATWG HTML §4.10.22.4).
    if (text !== '') put(body, schema, name.slice(BODY.length).split('.'), text.replaceAll('\r\n', '\n'))
  }
  const hasBody = fields.json !== undefined || given.length > 0
  return { method, target, region: (fields.region || undefined) as Region | undefined, ...(hasBody && { body }) }
}

function parse(json = '{}'): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json)
    if (value !== null && typeof value === 'object') return value as Record<string, unknown>
  } catch {
    // It is refused below.
  }
  throw errors.invalid('json', 'The document is not a JSON object.')
}

/** Finds the schema of the body of a call. */
function schemaOf(method: string, target: string, documented: readonly DocumentedRoute[]): TSchema | undefined {
  const segments = (target.split('?')[0] as string).split('/')
  const isRoute = ({ url }: DocumentedRoute) => {
    const parts = url.split('/')
    return parts.length === segments.length && parts.every((part, at) => part.startsWith(':') || part === segments[at])
  }
  // A path with fewer parameters comes first.
  return documented
    .filter(route => route.method === method && isRoute(route))
    .sort((a, b) => a.url.split(':').length - b.url.split(':').length)[0]?.schema.body as TSchema | undefined
}

/** Puts the text of a field into a body, as the type of its schema. */
function put(body: Record<string, unknown>, schema: TSchema | undefined, path: readonly string[], text: string): void {
  const [name, ...rest] = path as [string, ...string[]]
  const member: TSchema | undefined = schema?.properties?.[name] ?? schema?.items
  if (name === '__proto__') return
  if (rest.length === 0) {
    body[name] = toTyped(text, member)
    return
  }
  body[name] ??= {}
  put(body[name] as Record<string, unknown>, member, rest, text)
}

/** A text that is not of the type stays a text: the call refuses it. */
function toTyped(text: string, schema: TSchema | undefined): unknown {
  const types = [schema?.type ?? 'string'].flat() as string[]
  if (types.includes('null') && text === 'null') return null
  if ((types.includes('integer') || types.includes('number')) && /^-?\d+(\.\d+)?$/.test(text)) return Number(text)
  if (types.includes('array')) return text.split(/\s+/).filter(item => item !== '')
  if (types.includes('boolean') && /^(true|false)$/.test(text)) return text === 'true'
  if (schema?.const === true && text === 'true') return true
  // The field of a browser for a moment has no zone, and no seconds where they are 0.
  const [, minutes, seconds = ':00'] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d)(:\d\d)?$/.exec(text) ?? []
  return schema?.format === 'date-time' && minutes !== undefined ? `${minutes}${seconds}Z` : text
}

/** Sends a call to the server itself. */
export async function send(app: FastifyInstance, call: Call, token: string | undefined): Promise<CallAnswer> {
  const { method, target, region, body } = call
  try {
    const { statusCode, payload } = await app.inject({
      method: method as 'GET',
      url: target,
      headers: {
        accept: 'application/json',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(region !== undefined && { 'x-region': region }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { payload: JSON.stringify(body) }),
    })
    return { status: statusCode, body: payload === '' ? {} : toObject(payload) }
  } catch {
    return { status: null, body: {} }
  }
}

/** A fault may cut a body off. */
function toObject(payload: string): CallAnswer['body'] {
  try {
    return JSON.parse(payload)
  } catch {
    return {}
  }
}

/** The error of a call that a fault has left without an answer. */
export const NO_ANSWER = {
  code: 'NO_ANSWER',
  field: null,
  message: 'A fault took the answer away. Requests shows whether the call was applied.',
}

/** Returns the error of an answer; undefined: it was no refusal. */
export function errorOf({ status, body }: CallAnswer): (Omit<ErrorEnvelope, 'code'> & { code: string }) | undefined {
  if (status === null) return NO_ANSWER
  return status < 400 ? undefined : (body as unknown as ErrorEnvelope)
}

/** Returns a call as a command for a shell. Tokens are variables. */
export function toCurl(call: Call, url: string, hasAdminToken: boolean): string {
  const { method, target, region, body = null } = call
  const { pathname: path, searchParams } = new URL(target, 'http://sandbox')
  const hasToken = isApiCall(call) || hasAdminToken
  const headers = {
    ...(hasToken && { authorization: `Bearer ${MASK}` }),
    ...(region !== undefined && { 'x-region': region }),
    ...(body !== null && { 'content-type': 'application/json' }),
  }
  const command = requestToCurl({ method, path, query: Object.fromEntries(searchParams), headers, body }, url)
  return isApiCall(call) ? command : command.replace('$TOKEN', '$ADMIN_TOKEN')
}

/** Describes the answer of a call that was not refused, in one sentence. */
export function describe({ status, body }: CallAnswer): string {
  const { record = body, transitions, now, mode, rate, removed, id, state, clientId, counts } = body as Answer
  const name = kinds.map(({ idField }) => record[idField]).find(value => value !== undefined)
  if (name !== undefined) return record.status === undefined ? `${name} is saved.` : `${name} is ${record.status}.`
  const clock = now === undefined ? '' : `The clock shows ${formatMoment(Date.parse(now))}`
  if (transitions !== undefined) return `${clock}. ${happened(transitions.length)}`
  if (mode !== undefined) return mode === 'frozen' ? `${clock}, and is frozen.` : `${clock}, and runs ${paceOf(rate)}.`
  if (removed !== undefined) return `Removed: ${removed}.`
  if (id !== undefined) return `${id} is ${state}.`
  if (counts !== undefined) return `${clientId ?? 'The client'} has ${sum(counts)} records.${clock && ` ${clock}.`}`
  if (clientId !== undefined) return clock === '' ? `${clientId} exists.` : `All tokens of ${clientId} are expired.`
  return `Done: ${status}.`
}

/** The members of answers that sentences are made of. */
interface Answer {
  readonly record?: Readonly<Record<string, unknown>>
  readonly transitions?: readonly unknown[]
  readonly now?: string
  readonly mode?: string
  readonly rate?: number
  readonly removed?: number
  readonly id?: string
  readonly state?: string
  readonly clientId?: string
  readonly counts?: Readonly<Record<string, number>>
}

const sum = (counts: Readonly<Record<string, number>>) => Object.values(counts).reduce((all, count) => all + count, 0)
const happened = (count: number) =>
  count === 0 ? 'Nothing was due.' : count === 1 ? '1 transition happened.' : `${count} transitions happened.`

/** Describes the pace of a clock, such as `in real time` and `1 hour a second`. */
export function paceOf(rate = 1): string {
  const unit = [
    { seconds: 86_400, name: 'day' },
    { seconds: 3600, name: 'hour' },
    { seconds: 60, name: 'minute' },
  ].find(({ seconds }) => rate >= seconds && rate % seconds === 0)
  if (rate === 1) return 'in real time'
  const count = rate / (unit?.seconds ?? 1)
  const name = unit?.name ?? 'second'
  return `${count} ${name}${count === 1 ? '' : 's'} a second`
}
