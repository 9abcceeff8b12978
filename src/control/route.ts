import type { Static, TSchema } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Operation } from '../core/operations.js'
import type { Gate } from '../gate.js'
import type { Journal } from '../http/journal.js'
import { failures } from '../http/schemas.js'
import type { Waiting } from '../http/waiting.js'
import type { Recordings } from '../recording.js'
import type { Sandbox, Tenant } from '../sandbox.js'

/** What the control plane controls. */
export interface Plane {
  readonly sandbox: Sandbox
  readonly journal: Journal
  readonly recordings: Recordings
  readonly waiting: Waiting
  /** The operations of the API, which faults and deprecations are for. */
  readonly operations: readonly Operation[]
  /** The real time in milliseconds. */
  now(): number
  isClosing(): boolean
}

/** What a call of the control plane has to work with. */
export interface Call<P, Q, B> extends Plane {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** The client id of the tenant that it acts on. */
  readonly client: string
  /** That tenant. @throws CLIENT_NOT_FOUND */
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
  readonly summary: string
  readonly params?: TSchema
  readonly querystring?: TSchema
  readonly body?: TSchema
  readonly response: TSchema
  /** The status of success; 200 where it is left out. */
  readonly status?: number
  /** Takes nothing and always answers the same: served from the first moment on. */
  readonly isPlain?: boolean
  /**
   * Whether it goes into the recording, as what changes a tenant must: all but GET does, where nothing is said. What
   * begins another life of the tenant does not: its recording begins anew.
   */
  readonly isRecorded?: boolean
  /** Whether a member that is not known is refused: where a typo would leave a test green for the wrong reason. */
  readonly isStrict?: boolean
  /** The largest body in bytes, where it is more than usual. */
  readonly bodyLimit?: number
  handle(call: Call<unknown, unknown, unknown>): unknown
}

type StaticOf<S> = S extends TSchema ? Static<S> : undefined

/** States a row with the types of its schemas. */
export function route<
  P extends TSchema | undefined = undefined,
  Q extends TSchema | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(row: {
  method: ControlRoute['method']
  url: string
  summary: string
  params?: P
  querystring?: Q
  body?: B
  response: TSchema
  status?: number
  isPlain?: boolean
  isRecorded?: boolean
  isStrict?: boolean
  bodyLimit?: number
  handle(call: Call<StaticOf<P>, StaticOf<Q>, StaticOf<B>>): unknown
}): ControlRoute {
  return row as unknown as ControlRoute
}

export interface ControlOptions {
  readonly plane: Plane
  readonly gate: Gate
  readonly routes: readonly ControlRoute[]
  /** The tenant of calls that name none. */
  readonly defaultClient: string
}

/** The body of a call that takes none: what it holds all the same is hinted at, like any other unknown member. */
const NO_MEMBERS = Type.Object({})

/** Serves a table of routes. All of the control plane is our invention, so all of it is labelled assumed. */
export function serveRoutes(app: FastifyInstance, { plane, gate, routes, defaultClient }: ControlOptions): void {
  for (const row of routes) {
    const {
      method,
      url,
      summary,
      handle,
      response,
      status = 200,
      isPlain = false,
      bodyLimit,
      params,
      querystring,
    } = row
    const { isRecorded = method !== 'GET', body = method === 'POST' ? NO_MEMBERS : undefined, isStrict = false } = row
    app.route({
      method,
      url,
      config: { isPlain, isStrict },
      ...(isPlain && { serializerCompiler: () => JSON.stringify }),
      ...(bodyLimit !== undefined && { bodyLimit }),
      schema: {
        operationId: operationId(method, url),
        summary,
        tags: ['control plane'],
        'x-fidelity': 'assumed',
        ...(params !== undefined && { params }),
        ...(querystring !== undefined && { querystring }),
        ...(body !== undefined && { body }),
        response: { [status]: response, ...failures },
      },
      handler: (request: FastifyRequest, reply: FastifyReply) => {
        const realNow = plane.now()
        const { client = defaultClient } = request.query as { client?: string }
        const tenant = () => plane.sandbox.tenant(client, realNow)
        if (isRecorded) gate.passControl(request, tenant(), realNow)
        reply.code(status)
        const { params, query, body } = request
        return handle({ ...plane, request, reply, realNow, client, tenant, params, query, body })
      },
    })
  }
}

/** `POST /clock/advance` is `postClockAdvance`. */
const operationId = (method: string, url: string) =>
  `${method.toLowerCase()}${url
    .split(/[^A-Za-z]+/)
    .map(word => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')}`
