import type { Static, TSchema } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorCode } from '../core/errors.js'
import type { Operation } from '../core/operations.js'
import type { Coverage } from '../features/coverage/coverage.js'
import type { EventWaiters } from '../features/events/waiters.js'
import type { RequestRecorder } from '../features/recording/plugin.js'
import type { Recorder } from '../features/recording/recorder.js'
import type { RequestLog } from '../features/request-log/request-log.js'
import { failures } from '../http/schemas.js'
import type { Documents } from '../openapi/documents.js'
import type { DocumentedRoute } from '../openapi/routes.js'
import type { TenantRegistry } from '../tenants/registry.js'
import { DEMO_CLIENT } from '../tenants/registry.js'
import type { Tenant } from '../tenants/tenant.js'
import type { Step, Turns } from '../turns/turns.js'

/** The parts of the server that the control plane acts on. */
export interface ControlContext {
  readonly registry: TenantRegistry
  readonly requestLog: RequestLog
  readonly coverage: Coverage
  readonly recorder: Recorder
  readonly requests: RequestRecorder
  readonly turns: Turns
  readonly waiters: EventWaiters
  /** The operations of the API, for faults and deprecations. */
  readonly operations: readonly Operation[]
  /** The documented routes, for coverage. */
  readonly documented: readonly DocumentedRoute[]
  /** The OpenAPI documents. */
  readonly documents: Documents
  /** Returns the real time in milliseconds. */
  now(): number
  /** Returns real milliseconds since some moment, to measure a wait. A test can fake `now`. */
  elapsed(): number
  isClosing(): boolean
}

/** The arguments of a handler. */
export interface ControlCall<P, Q, B> extends ControlContext {
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

/** One row of the table of routes. */
export interface ControlRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below `/_sandbox`. */
  readonly url: string
  /** The name of the call in the OpenAPI document: a verb and a noun. The service has no operation of this name. */
  readonly operationId: string
  readonly summary: string
  /** The behaviour that the summary does not show. */
  readonly description?: string
  readonly params?: TSchema
  readonly querystring?: TSchema
  readonly body?: TSchema
  readonly response: TSchema
  /** The status of success; 200 by default. */
  readonly status?: number
  /** Returns the body that is recorded. By default, it is that of the request. */
  recordedBody?(call: { registry: TenantRegistry; tenant: Tenant; body: unknown }): object
  /**
   * Whether the call is recorded, as all that changes a tenant must be. By default all but GET are.
   * A call that creates another tenant object is not: its recording starts again.
   */
  readonly isRecorded?: boolean
  /** Whether the call acts on no tenant. */
  readonly isGlobal?: boolean
  /** Whether the answer is a page for people. */
  readonly isPage?: boolean
  /** Whether the call answers a page, too, to requests that prefer HTML. */
  readonly hasPage?: boolean
  /** Whether the call needs no admin token. */
  readonly isOpen?: boolean
  /** The error codes of the call beside those that follow from its schemas (src/openapi/errors.ts). */
  readonly errors?: readonly ErrorCode[]
  /** Returns another client that the call creates. */
  creates?(body: unknown): string
  /** The largest body in bytes, where it is more than usual. */
  readonly bodyLimit?: number
  handle(call: ControlCall<unknown, unknown, unknown>): unknown
}

type StaticOf<S> = S extends TSchema ? Static<S> : undefined

/** Types the handler of a row by the schemas of the row. */
export function route<
  P extends TSchema | undefined = undefined,
  Q extends TSchema | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(
  row: Omit<ControlRoute, 'params' | 'querystring' | 'body' | 'recordedBody' | 'handle' | 'creates'> & {
    params?: P
    querystring?: Q
    body?: B
    recordedBody?(call: { registry: TenantRegistry; tenant: Tenant; body: StaticOf<B> }): object
    handle(call: ControlCall<StaticOf<P>, StaticOf<Q>, StaticOf<B>>): unknown
    creates?(body: StaticOf<B>): string
  },
): ControlRoute {
  return row as unknown as ControlRoute
}

/** The body of a call that takes none. */
const NO_MEMBERS = Type.Object({})

/** Adds a table of routes. The service documents none of the control plane, so all of it is labelled assumed. */
export function addRoutes(app: FastifyInstance, context: ControlContext, routes: readonly ControlRoute[]): void {
  for (const row of routes) {
    const { method, url, operationId, summary, description, handle, response, params, querystring, bodyLimit } = row
    const { status = 200, isGlobal = false, isOpen = false, isPage = false, hasPage = false, errors = [] } = row
    const { isRecorded = method !== 'GET', body = method === 'POST' ? NO_MEMBERS : undefined } = row
    const { creates, recordedBody } = row
    const { registry, requests, turns, waiters } = context

    const act = (request: FastifyRequest, reply: FastifyReply, realNow: number) => {
      const { params, query, body } = request
      const client = clientOf(request)
      const tenant = () => registry.tenant(client, realNow)
      return handle({ ...context, request, reply, realNow, client, tenant, params, query, body })
    }

    app.route({
      method,
      url,
      // A typo must not act on another tenant, nor leave a test green.
      config: { isStrict: true, act },
      ...(bodyLimit !== undefined && { bodyLimit }),
      schema: {
        operationId,
        hide: isPage,
        summary,
        ...(description !== undefined && { description }),
        tags: [url.split('/')[1] || 'overview'],
        'x-fidelity': 'assumed',
        'x-error-codes': isGlobal ? errors : ['CLIENT_NOT_FOUND', ...errors],
        ...(isOpen && { security: [] }),
        ...(params !== undefined && { params }),
        ...(querystring !== undefined && { querystring }),
        ...(body !== undefined && { body }),
        response: { [status]: hasPage ? withPage(response) : response, ...failures },
      },
      handler: (request, reply) => {
        reply.code(status)
        if (isGlobal) return act(request, reply, context.now())
        const client = clientOf(request)
        const step: Step<unknown> = {
          isRead: method === 'GET',
          record(realNow) {
            if (!isRecorded) return undefined
            const tenant = registry.tenant(client, realNow)
            const recorded = requests.recordControl(request, tenant, realNow)
            return recordedBody
              ? { ...recorded, body: recordedBody({ registry, tenant, body: request.body }) }
              : recorded
          },
          run(realNow, recorded) {
            if (recorded !== undefined) requests.passControl(request, registry.tenant(client, realNow), recorded)
            const result = act(request, reply, realNow)
            if (method !== 'GET') waiters.wake(client)
            return result
          },
        }
        return turns.refreshAndTake(client, step, creates?.(request.body))
      },
    })
  }
}

/** Returns the schemas of an answer by media type: JSON, and a page. */
const withPage = (response: TSchema) => ({
  description: 'Success. A request that prefers HTML gets a page for people.',
  content: { 'application/json': { schema: response }, 'text/html': { schema: Type.String() } },
})

/** Returns the client that a call acts on: that of its path, else that of its query. */
const clientOf = ({ params, query }: FastifyRequest) =>
  (params as { clientId?: string }).clientId ?? (query as { client?: string }).client ?? DEMO_CLIENT.clientId
