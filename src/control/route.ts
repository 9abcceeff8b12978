import type { Static, TSchema } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { failures } from '../http/schemas.js'
import type { Sandbox, Tenant } from '../sandbox.js'

/** What a call of the control plane has to work with. */
export interface Call<P, Q, B> {
  readonly sandbox: Sandbox
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
  /** Takes nothing and always answers the same: served from the first moment on. */
  readonly isPlain?: boolean
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
  isPlain?: boolean
  handle(call: Call<StaticOf<P>, StaticOf<Q>, StaticOf<B>>): unknown
}): ControlRoute {
  return row as unknown as ControlRoute
}

export interface ControlOptions {
  readonly sandbox: Sandbox
  readonly routes: readonly ControlRoute[]
  /** The tenant of calls that name none. */
  readonly defaultClient: string
  now(): number
}

/** The body of a call that takes none: what it holds all the same is hinted at, like any other unknown member. */
const NO_MEMBERS = Type.Object({})

/** Serves a table of routes. All of the control plane is our invention, so all of it is labelled assumed. */
export function serveRoutes(app: FastifyInstance, { sandbox, routes, defaultClient, now }: ControlOptions): void {
  for (const { method, url, summary, handle, response, isPlain = false, ...schemas } of routes) {
    const body = schemas.body ?? (method === 'POST' ? NO_MEMBERS : undefined)
    app.route({
      method,
      url,
      config: { isPlain },
      ...(isPlain && { serializerCompiler: () => JSON.stringify }),
      schema: {
        operationId: operationId(method, url),
        summary,
        tags: ['control plane'],
        'x-fidelity': 'assumed',
        ...schemas,
        ...(body !== undefined && { body }),
        response: { 200: response, ...failures },
      },
      handler: (request: FastifyRequest) => {
        const realNow = now()
        const { client = defaultClient } = request.query as { client?: string }
        return handle({
          sandbox,
          realNow,
          client,
          tenant: () => sandbox.tenant(client, realNow),
          params: request.params,
          query: request.query,
          body: request.body,
        })
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
