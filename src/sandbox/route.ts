import type { Static, TSchema } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorCode } from '../core/errors.js'
import { JSON_TYPE } from '../http/error-handler.js'
import type { Operation } from '../http/operations.js'
import type { Timers } from '../http/timers.js'
import type { Documents } from '../openapi/documents.js'
import type { DocumentedRoute } from '../openapi/routes.js'
import type { Storage } from '../storage/storage.js'
import type { TenantRegistry } from '../tenants/registry.js'
import type { Tenant } from '../tenants/tenant.js'
import type { Coverage } from './coverage/coverage.js'
import type { EventWaiters } from './events/waiters.js'
import type { RequestLog } from './request-log/state.js'
import type { Steering } from './request-log/steering.js'
import type { Scenarios } from './scenarios/files.js'

/** The parts of the server that the control plane acts on. */
export interface ControlPlane {
  readonly registry: TenantRegistry
  readonly storage: Storage
  readonly requestLog: RequestLog
  readonly steering: Steering
  readonly coverage: Coverage
  readonly waiters: EventWaiters
  /** The calls that wait for requests. */
  readonly requestWaiters: EventWaiters
  readonly scenarios: Scenarios
  /** The operations of the API, for faults and deprecations. */
  readonly operations: readonly Operation[]
  /** The documented routes, for coverage. */
  readonly documented: readonly DocumentedRoute[]
  /** The OpenAPI documents. */
  readonly documents: Documents
  /** Returns the real time in milliseconds. */
  now(): number
  readonly timers: Timers
  isClosing(): boolean
}

/** The facts of the process. */
export interface About {
  readonly name: string
  readonly version: string
  /** The real time of its start, in milliseconds. */
  readonly startedAt: number
  /** The maximum size of a state document in bytes. */
  readonly stateBytes: number
  /** Whether the control plane requires an admin token. */
  readonly isLocked: boolean
}

/** The parts of the server, with the table of calls. */
export interface ControlContext extends ControlPlane {
  readonly about: About
  readonly routes: readonly ControlRoute[]
}

/** The argument of a handler. */
export interface CallContext<P, Q, B> extends ControlContext {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** The client id of the tenant that the call acts on. */
  readonly client: string
  /** Returns that tenant. Throws CLIENT_NOT_FOUND. */
  tenant(): Tenant
  /** The real time, in milliseconds. */
  readonly realNow: number
  readonly params: P
  readonly query: Q
  readonly body: B
}

/** The argument of a handler whose schemas are not known. */
export type AnyCall = CallContext<unknown, unknown, unknown>

/** A call of the control plane. */
export interface Call {
  readonly summary: string
  /** The behaviour that the summary does not show. */
  readonly description?: string
  /**
   * The command of the call, where it does not follow from the url and the operationId (`commandOf` in register.ts).
   * `FILE` at its end is a file with the body, or for the answer of a call without one; `[FILE]` can be omitted.
   */
  readonly command?: string
  readonly params?: TSchema
  /** By default, it names the tenant. */
  readonly querystring?: TSchema
  /** The parameters in the example of the call, where the examples of its schemas would not do. */
  readonly example?: Readonly<Record<string, string>>
  readonly body?: TSchema
  readonly response: TSchema
  /** The schemas of answers in other media types than JSON. */
  readonly otherTypes?: Readonly<Record<string, TSchema>>
  /** The status of success; 200 by default. */
  readonly status?: number
  /**
   * Whether the call changes its tenant, all or nothing. By default, all but GET do. One that creates another tenant object
   * does not.
   */
  readonly isChange?: boolean
  /** Whether the call acts on no tenant. */
  readonly isGlobal?: boolean
  /** Whether the call replaces or removes the tenant, so that its due work stays undone. */
  readonly isReplacing?: boolean
  /** Whether the call needs no admin token. */
  readonly isOpen?: boolean
  /** The error codes of the call in addition to the codes that follow from its schemas (src/openapi/errors.ts). */
  readonly errors?: readonly ErrorCode[]
  /** Returns another client that the call creates. */
  creates?(body: unknown): string
  /** Returns the maximum size of the body in bytes, where it is more than usual. */
  bodyLimit?(about: About): number
  /** Loads the parts of the call that need time, before its transaction. */
  prepare?(context: ControlContext): Promise<void>
  handle(call: AnyCall): unknown
}

/** A call at its address: a row of the table in index.ts. */
export interface ControlRoute extends Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below `/_sandbox`. */
  readonly url: string
  /** The name of the call in the OpenAPI document: a verb and a noun. The service has no operation of this name. */
  readonly operationId: string
}

type StaticOf<S> = S extends TSchema ? Static<S> : undefined

/** Types the handler of a call by its schemas. */
export function call<
  P extends TSchema | undefined = undefined,
  Q extends TSchema | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(
  definition: Omit<Call, 'params' | 'querystring' | 'body' | 'handle' | 'creates'> & {
    params?: P
    querystring?: Q
    body?: B
    handle(call: CallContext<StaticOf<P>, StaticOf<Q>, StaticOf<B>>): unknown
    creates?(body: StaticOf<B>): string
  },
): Call {
  return definition as unknown as Call
}

/** Returns a function that puts a call at an address. The name of the call is its operationId. */
const on =
  (method: ControlRoute['method']) =>
  (url: string, named: Readonly<Record<string, Call>>): ControlRoute[] =>
    Object.entries(named).map(([operationId, call]) => ({ method, url, operationId, ...call }))

export const GET = on('GET')
export const POST = on('POST')
export const PUT = on('PUT')
export const PATCH = on('PATCH')
export const DELETE = on('DELETE')

/** The indentation of documents. */
const INDENT = 2

/** Returns a document that people read, too; made here, so that its members stay in their order. */
export function toDocument(reply: FastifyReply, value: object, indent = INDENT): string {
  reply.type(JSON_TYPE)
  return JSON.stringify(value, null, indent)
}
