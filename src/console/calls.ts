import type { TSchema } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import type { ErrorEnvelope } from '../core/errors.js'
import { errors } from '../core/errors.js'
import type { Region } from '../core/rules/regions.js'
import { toCurl } from '../features/request-log/snippets.js'
import { MASK } from '../http/masking.js'
import type { DocumentedRoute } from '../openapi/routes.js'
import type { ConsoleContext, Fields, Page } from './page.js'

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
  /** A text stands for a file. */
  readonly body?: object | string | undefined
}

/** The answer of a call. */
export interface CallAnswer {
  /** Null: a fault has closed the connection without an answer. */
  readonly status: number | null
  readonly body: Readonly<Record<string, unknown>>
}

/** The name of a field of the body begins with it, such as `body.debtor.name`. */
export const BODY = 'body.'

const CALL = /^(GET|POST|PUT|PATCH|DELETE) (\/(?:api\/v1|_sandbox)\/(?!console)[^\s#]*)$/

/** Whether a call is one of the API, which needs an access token of the client. */
export const isApiCall = ({ target }: Call): boolean => target.startsWith('/api/')

/** Makes a call of the control plane for the client of a page, such as `POST /clock/advance`. */
export function control({ tenant }: Page, name: string, body?: Call['body']): Call {
  const [method, path] = name.split(' ') as [string, string]
  const query = path.startsWith('/clients/') ? '' : `?${new URLSearchParams({ client: tenant.clientId })}`
  return { method, target: `/_sandbox${path}${query}`, body: body ?? (method === 'POST' ? {} : undefined) }
}

/** Returns the route of a call; undefined: it is unknown. */
export function routeOf({ documented }: ConsoleContext, { method, target }: Call): DocumentedRoute | undefined {
  const segments = (target.split('?')[0] as string).split('/')
  const isRoute = ({ url }: DocumentedRoute) => {
    const parts = url.split('/')
    return parts.length === segments.length && parts.every((part, at) => part.startsWith(':') || part === segments[at])
  }
  // A path with fewer parameters comes first.
  const found = documented.filter(route => route.method === method && isRoute(route))
  return found.sort((a, b) => a.url.split(':').length - b.url.split(':').length)[0]
}

/** Returns the schema of the body of a call. That of a scenario has its parameters. */
export function bodyOf(context: ConsoleContext, call: Call): TSchema {
  const [, name = ''] = /^\/_sandbox\/scenarios\/([\w-]+)/.exec(call.target) ?? []
  const parameters = context.scenarios.find(name)?.parameters
  if (parameters === undefined) return (routeOf(context, call)?.schema.body ?? {}) as TSchema
  const members = Object.entries(parameters).map(([member, { description, default: value }]) => {
    const schema = typeof value === 'number' ? Type.Integer({ description }) : Type.String({ description })
    return [member, Type.Optional(schema)] as const
  })
  return Type.Object(Object.fromEntries(members))
}

/** Returns the schema of a member by its path. */
export const schemaAt = (schema: TSchema, path: string): TSchema | undefined =>
  path.split('.').reduce<TSchema | undefined>((at, name) => at?.properties?.[name] ?? at?.items, schema)

/**
 * Reads the call of a form. `json` has the body. The fields replace its members, with the types that the schema of the
 * call gives them; an empty field removes its member.
 * @throws INVALID_FIELD
 */
export function readCall(fields: Fields, context: ConsoleContext): Call {
  const [, method, target] = CALL.exec(fields.call ?? '') ?? []
  if (method === undefined || target === undefined) throw errors.invalid('call', 'The form names no call.')
  const given = Object.entries(fields).filter(([name]) => name.startsWith(BODY))
  const call: Call = { method, target, region: (fields.region || undefined) as Region | undefined }
  if (fields.json === undefined && given.length === 0) return call
  const body = parse(fields.json)
  const schema = bodyOf(context, call)
  for (const [name, text] of given) {
    const path = name.slice(BODY.length)
    // A form doubles the characters of a line break (WHATWG HTML §4.10.22.4).
    put(body, path.split('.'), text === '' ? undefined : toTyped(text.replaceAll('\r\n', '\n'), schemaAt(schema, path)))
  }
  return { ...call, body }
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

/** Puts a value into a body. An undefined one is not sent. */
function put(body: Record<string, unknown>, [name, ...rest]: readonly string[], value: unknown): void {
  if (name === undefined || name === '__proto__') return
  if (rest.length === 0) body[name] = value
  else if (value !== undefined || body[name] !== undefined) {
    body[name] ??= {}
    put(body[name] as Record<string, unknown>, rest, value)
  }
}

/** A text that is not of the type stays a text: the call refuses it. */
function toTyped(text: string, schema: TSchema | undefined): unknown {
  const types = [schema?.type ?? 'string'].flat() as string[]
  if (types.includes('null') && text === 'null') return null
  if ((types.includes('integer') || types.includes('number')) && /^-?\d+(\.\d+)?$/.test(text)) return Number(text)
  if (types.includes('array')) return text.split(/\s+/).filter(item => item !== '')
  if (types.includes('boolean') && /^(true|false)$/.test(text)) return text === 'true'
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
    return { status: statusCode, body: payload === '' ? {} : parse(payload) }
  } catch {
    return { status: null, body: {} }
  }
}

/** The error of a call that a fault has left without an answer. */
const NO_ANSWER = {
  code: 'NO_ANSWER',
  field: null,
  message: 'A fault took the answer away. Requests shows whether the call was applied.',
} as unknown as ErrorEnvelope

/** Returns the error of an answer; undefined: it was no refusal. */
export function errorOf({ status, body }: CallAnswer): ErrorEnvelope | undefined {
  if (status === null) return NO_ANSWER
  return status < 400 ? undefined : (body as unknown as ErrorEnvelope)
}

/** Returns a call as a command for a shell. Tokens are variables. */
export function commandOf({ registry, adminToken }: ConsoleContext, call: Call): string {
  const { method, target, region, body = null } = call
  const { pathname: path, searchParams } = new URL(target, 'http://sandbox')
  const headers = {
    ...((isApiCall(call) || adminToken !== undefined) && { authorization: `Bearer ${MASK}` }),
    ...(region !== undefined && { 'x-region': region }),
    ...(body !== null && { 'content-type': 'application/json' }),
  }
  const request = { method, path, query: Object.fromEntries(searchParams), headers, body }
  const command = toCurl(request, registry.publicUrl())
  return isApiCall(call) ? command : command.replace('$TOKEN', '$ADMIN_TOKEN')
}
