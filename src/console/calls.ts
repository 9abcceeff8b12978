import type { TSchema } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest, InjectOptions, LightMyRequestResponse } from 'fastify'
import inject from 'light-my-request'
import type { ErrorEnvelope } from '../core/errors.js'
import { errors } from '../core/errors.js'
import { ownMember } from '../core/own-member.js'
import { HEADER_LIMIT } from '../http/app.js'
import { check } from '../http/compilers.js'
import type { SentForm } from '../http/form.js'
import { FORM } from '../http/form.js'
import { isObject, parseObject } from '../http/json-body.js'
import { MASK } from '../http/masking.js'
import { regionsOf } from '../http/operations.js'
import { refuseUnknown } from '../http/validation.js'
import type { DocumentedRoute } from '../openapi/routes.js'
import { addressOf, mediaTypeOf } from '../sandbox/request-log/address.js'
import { toCurl } from '../sandbox/request-log/snippets.js'
import type { LoggedExchange } from '../sandbox/request-log/state.js'
import type { Call, ConsoleContext, Fields } from './page.js'

/** A request that the server sends to itself: that of a call, or one of the log. */
export type SentRequest = Pick<LoggedExchange, 'method' | 'path' | 'query' | 'headers' | 'body'>

/** The answer of a call. */
export interface CallAnswer {
  /** Null: a fault has closed the connection without an answer. */
  readonly status: number | null
  readonly body: Readonly<Record<string, unknown>>
  /** The `x-request-id`. */
  readonly id?: unknown
  /** The `retry-after`. */
  readonly retryAfter?: unknown
}

/** The names of fields begin with it: `body.debtor.name` is a member of the body, `params.id` a parameter of the path. */
export const BODY = 'body.'
export const PARAMS = 'params.'

/** The fields of each form. */
const OWN_FIELDS = ['form', 'call', 'json'] as const

/** Makes a call of the control plane, such as `POST /clock/advance`. */
export function control(name: string, body?: object, params: Fields = {}): Call {
  const [method, path] = name.split(' ') as [string, string]
  return { route: `${method} /_sandbox${path}`, params, body: body ?? (method === 'POST' ? {} : undefined) }
}

/** Whether a request is one of the API, which needs an access token of the client. */
export const isOfApi = ({ path }: SentRequest): boolean => path.startsWith('/api/')

/** Returns the route of a call. @throws INVALID_FIELD */
export function routeOf({ documented }: ConsoleContext, name: string | undefined): DocumentedRoute {
  const found = documented.find(({ method, url }) => `${method} ${url}` === name)
  if (found === undefined) throw errors.invalid('call', 'The form names no call.')
  return found
}

/** Returns the schema of the body of a call. That of a scenario has its parameters. */
export function bodyOf(context: ConsoleContext, { route, params = {} }: Call): TSchema {
  const { schema } = routeOf(context, route)
  const isScenario = schema.operationId === 'runScenario'
  const parameters = isScenario ? context.scenarios.find(params.name as string)?.parameters : undefined
  if (parameters === undefined) return (schema.body ?? {}) as TSchema
  const members = Object.entries(parameters).map(([member, { description, default: value }]) => {
    const schema = typeof value === 'number' ? Type.Integer({ description }) : Type.String({ description })
    return [member, Type.Optional(schema)] as const
  })
  return Type.Object(Object.fromEntries(members))
}

/** Returns the schema of a member by its path; undefined: there is none. The name of an item is its number. */
export const schemaAt = (schema: TSchema, path: string): TSchema | undefined =>
  path
    .split('.')
    .reduce<TSchema | undefined>((at, name) => ownMember<TSchema>(at?.properties ?? {}, name) ?? at?.items, schema)

/** Whether a form has fields for the members of a value, and none for the value itself. */
export const hasMembers = ({ type, properties }: TSchema): boolean => type === 'object' && properties !== undefined

/**
 * Reads the call of a form by the schemas of its route. `json` has the body. The fields replace its members, with the
 * types of the schema; an empty field removes its member. A PUT keeps what it leaves out, so an emptied list or text that can
 * be null is sent as it is.
 * @throws INVALID_FIELD (an unknown field, or no route of a change), the errors of the parameters and of a JSON body
 */
export function readCall({ fields, file }: SentForm, context: ConsoleContext): Call {
  const { method, url, schema } = routeOf(context, fields.call)
  if (method === 'GET') throw errors.invalid('call', 'A form sends no call that only reads.')
  const { params, headers } = schema as { params?: TSchema; headers?: TSchema }
  const known = new Set<string>(OWN_FIELDS)
  const take = (name: string) => {
    known.add(name)
    return fields[name]
  }
  const names = Object.keys(params?.properties ?? {})
  const call = {
    route: `${method} ${url}`,
    params: Object.fromEntries(names.map(name => [name, take(PARAMS + name)])) as Fields,
    region: headers && take('region'),
  }
  const ofBody = bodyOf(context, call)
  const json = fields.json === undefined ? undefined : parseObject(fields.json)
  if (json !== undefined) assertSendable(json)
  const body = hasMembers(ofBody)
    ? withFields(ofBody, json, BODY.slice(0, -1), { names: Object.keys(fields), take, keepsOmitted: method === 'PUT' })
    : json
  for (const name of Object.keys(fields)) if (!known.has(name)) refuseUnknown(name, [...known])
  if (params !== undefined) check(params, call.params, 'INVALID_FIELD')
  if (headers !== undefined) check(headers, { 'x-region': call.region }, 'INVALID_FIELD')
  return { ...call, body: file ?? (body as object | undefined) }
}

/** Refuses a body that `JSON.parse` takes and `JSON.stringify` does not: one that is nested too deeply. @throws MALFORMED_REQUEST */
function assertSendable(body: object): void {
  try {
    JSON.stringify(body)
  } catch {
    throw errors.malformed('json', 'The body is nested too deeply.')
  }
}

/**
 * Returns a value with the fields of a form in it. The schema leads: a name is looked up, and never taken apart. A list of
 * objects can have one more.
 * @param name the name of the field of the value
 * @param form the names of its fields; `take` returns the text of one, or undefined if the form does not have it
 */
function withFields(
  schema: TSchema,
  value: unknown,
  name: string,
  form: { readonly names: readonly string[]; readonly keepsOmitted: boolean; take(name: string): string | undefined },
): unknown {
  if (hasMembers(schema)) {
    const given = isObject(value) ? value : {}
    const changed = Object.entries<TSchema>(schema.properties).flatMap(([member, one]) => {
      const before = ownMember(given, member)
      const after = withFields(one, before, `${name}.${member}`, form)
      return after === before ? [] : [[member, after] as const]
    })
    if (changed.length === 0) return value
    const after = { ...given, ...Object.fromEntries(changed) }
    // An empty text is refused at its field, an empty body at none.
    const isEmpty = schema.anyOf !== undefined && Object.values(after).every(member => member === undefined)
    return isEmpty ? Object.fromEntries(changed.map(([member]) => [member, ''])) : after
  }
  if (schema.type === 'array' && hasMembers(schema.items)) {
    const list: readonly unknown[] = Array.isArray(value) ? value : []
    // A list can have many items, and few of them fields.
    const prefix = `${name}.`
    const own = form.names.filter(field => field.startsWith(prefix))
    const places = new Set(own.map(field => field.slice(prefix.length).split('.', 1)[0]))
    const items = [...list, undefined].map((item, at) =>
      places.has(String(at)) ? withFields(schema.items, item, prefix + at, form) : item,
    )
    const given = items.filter(item => item !== undefined)
    return given.length === list.length && given.every((item, at) => item === list[at]) ? value : given
  }
  const text = form.take(name)
  // The field of a null is empty, too.
  if (text === undefined || (text === '' && value === null)) return value
  if (text === '') return form.keepsOmitted && value !== undefined ? emptyOf(schema) : undefined
  // A form doubles the characters of a line break (WHATWG HTML §4.10.22.4).
  return toTyped(text.replaceAll('\r\n', '\n'), schema)
}

/** Returns the empty value of a schema; undefined: it has none. */
const emptyOf = ({ type }: TSchema) => ([type].flat().includes('null') ? null : type === 'array' ? [] : undefined)

/** A text that is not of the type stays a text: the call refuses it. */
function toTyped(text: string, schema: TSchema): unknown {
  const types = [schema.type ?? 'string'].flat() as string[]
  if (types.includes('null') && text === 'null') return null
  if ((types.includes('integer') || types.includes('number')) && /^-?\d{1,15}(\.\d{1,15})?$/.test(text)) {
    return Number(text)
  }
  if (types.includes('array')) return text.split(/\s+/).filter(item => item !== '')
  if (types.includes('boolean') && /^(true|false)$/.test(text)) return text === 'true'
  // The field of a browser for a moment has no zone, and no seconds where they are 0.
  const [, minutes, seconds = ':00'] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d)(:\d\d)?$/.exec(text) ?? []
  return schema.format === 'date-time' && minutes !== undefined ? `${minutes}${seconds}Z` : text
}

/** Returns the request of a call for a client, with its token masked. */
export function requestOf(context: ConsoleContext, call: Call, client: string): SentRequest {
  const { params = {}, region, body = null } = call
  const route = routeOf(context, call.route)
  const { properties = {} } = (route.schema.querystring ?? {}) as TSchema
  const needsToken = regionsOf(route.schema) !== undefined || context.adminToken !== undefined
  return {
    method: route.method,
    path: route.url.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] as string)),
    query: { ...(Object.hasOwn(properties, 'client') && { client }) },
    headers: {
      ...(needsToken && { authorization: `Bearer ${MASK}` }),
      ...(region !== undefined && { 'x-region': region }),
      ...(body !== null && { 'content-type': 'application/json' }),
    },
    body,
  }
}

/** Returns the path of a request as it is sent. */
export const sentPath = ({ path }: SentRequest) => addressOf({ path, query: {} }, '')

/** Whether a URL keeps the path of a request: it resolves the segments `.` and `..` (WHATWG URL §4.4). */
function isKept(request: SentRequest): boolean {
  const target = sentPath(request)
  return new URL(target, 'http://sandbox').pathname === target
}

/** Returns why a request of the log cannot be sent again; undefined: it can. The log masks secrets, and keeps no files. */
export function obstacleOf(request: SentRequest): string | undefined {
  const { path, headers, body } = request
  if (mediaTypeOf(headers) === FORM) return 'It cannot be sent again: the log masks the secrets of its form.'
  if (!path.startsWith('/api/v1/')) return 'It cannot be sent again: its path does not belong to the API.'
  if (!isKept(request)) return 'It cannot be sent again: a URL resolves the segments . and .. of its path.'
  if (typeof body !== 'object') return 'It cannot be sent again: the log has no JSON body of it.'
  return undefined
}

/** Sends a request to the server itself. Rejects if a fault closes the connection without an answer. */
export type SendToSelf = (request: InjectOptions) => Promise<LightMyRequestResponse>

/**
 * Returns the way in which the answer to a request sends others to the server itself. They share its Host, and the fate of
 * its reader.
 */
export const senderFor =
  (app: FastifyInstance, { headers: { host }, raw: { socket } }: FastifyRequest, { raw }: FastifyReply): SendToSelf =>
  request =>
    inject(
      (inner, answer) => {
        const end = () => inner.socket.emit('end')
        const close = () => {
          socket.off('end', end)
          if (!raw.writableFinished) answer.destroy()
        }
        if (raw.destroyed) return close()
        Object.assign(inner.socket, { readableEnded: socket.readableEnded })
        socket.once('end', end)
        raw.once('close', close)
        app.routing(inner, answer)
      },
      { ...(host && { authority: host }), ...request },
    )

/**
 * Sends the request of a form to the server itself.
 * @throws HEADERS_TOO_LARGE, ROUTE_NOT_FOUND: `inject` has no bound of a target, and resolves `..`
 */
export async function send(toSelf: SendToSelf, request: SentRequest, token: string | undefined): Promise<CallAnswer> {
  const { method, headers, body } = request
  const url = addressOf(request, '')
  if (url.length > HEADER_LIMIT) throw errors.headersTooLarge()
  if (!isKept(request)) throw errors.routeNotFound()
  const payload = body === null || Buffer.isBuffer(body) ? body : JSON.stringify(body)
  try {
    const answer = await toSelf({
      method: method as 'GET',
      url,
      headers: {
        accept: 'application/json',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(headers['x-region'] !== undefined && { 'x-region': headers['x-region'] }),
        ...(payload !== null && { 'content-type': 'application/json' }),
      },
      ...(payload !== null && { payload }),
    })
    const body = answer.payload === '' ? {} : answer.json()
    const { 'x-request-id': id, 'retry-after': retryAfter } = answer.headers
    return { status: answer.statusCode, body, id, retryAfter }
  } catch {
    return { status: null, body: {} }
  }
}

/** The error of a call that a fault has left without an answer. */
export const NO_ANSWER = {
  code: 'NO_ANSWER',
  field: null,
  message: 'A fault took the answer away. The page of the request shows whether it was applied.',
} as unknown as ErrorEnvelope

/** Returns the error of an answer; undefined: it was no refusal. */
export function errorOf({ status, body }: CallAnswer): ErrorEnvelope | undefined {
  if (status === null) return NO_ANSWER
  return status < 400 ? undefined : (body as unknown as ErrorEnvelope)
}

/** Returns a call for a client as a command for a shell. Tokens are variables. */
export function commandOf(context: ConsoleContext, call: Call, client: string, publicUrl: string): string {
  const request = requestOf(context, call, client)
  const body = Buffer.isBuffer(request.body) ? 'a file' : request.body
  return toCurl({ ...request, body }, publicUrl, isOfApi(request) ? 'TOKEN' : 'ADMIN_TOKEN')
}
