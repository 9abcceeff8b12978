import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Region } from '../core/rules/regions.js'

/**
 * The state of one request that our plugins and handlers share, as `request.sandbox`.
 * `tenants/tenant.ts` adds the tenant to it, `features/faults/state.ts` the faults.
 */
export interface RequestContext {
  /** The route of the request. Fastify would make this object each time that `request.routeOptions` is read. */
  readonly route: FastifyRequest['routeOptions']
  /** The header Host and the name in it, as `parseHost` returns them; empty: there is none. */
  host: string
  hostName: string
  /**
   * The address of the server for the client of the request, without a trailing slash: SANDBOX_PUBLIC_URL, else `http://`
   * and its Host (decisions §3).
   */
  publicUrl: string
  /** The value of `x-region`. Set by the region plugin, on routes that take one. */
  region: Region
  /** The client in whose transaction the request was handled; undefined: in none. */
  clientId: string | undefined
  /** The real time of the transaction of the request, in milliseconds; undefined: it has none. */
  realNow: number | undefined
  /** The sentences of the response header `Sandbox-Hint`. */
  readonly hints: string[]
  /** The number of further hints that are not kept. */
  omittedHints: number
  /**
   * Whether it is no request of the app: the request of a web page was refused, or a browser is sent to the console. Such
   * requests are not in the request log.
   */
  isForeign: boolean
  /** The content of the answer before its serialization, of a page of a refusal its envelope; undefined: there is none. */
  content: unknown
  /** The text of a JSON body, for the request log. */
  bodyText: string | undefined
  /** The fields of a form as they were sent, for the request log. */
  form: Readonly<Record<string, string>> | undefined
  /** The readings of client credentials, the likeliest first. Each has the hint that it was taken. */
  credentials: readonly Credentials[]
  /** The uploaded file, on routes that take one. */
  upload: Upload | undefined
}

/** Client credentials, with a hint for the client that they belong to. */
export interface Credentials {
  readonly client_id: string
  readonly client_secret: string
  readonly hint?: string | undefined
}

/** A value, at once or after waiting. */
export type Eventually<T> = T | Promise<T>

/** An uploaded file. */
export interface Upload {
  readonly fileName: string
  readonly content: Buffer
}

declare module 'fastify' {
  interface FastifyRequest {
    sandbox: RequestContext
  }
}

const newContext = (route: FastifyRequest['routeOptions']): Omit<RequestContext, 'tenant'> => ({
  route,
  host: '',
  hostName: '',
  publicUrl: '',
  region: 'EU',
  clientId: undefined,
  realNow: undefined,
  hints: [],
  omittedHints: 0,
  isForeign: false,
  content: undefined,
  faults: null,
  bodyText: undefined,
  form: undefined,
  credentials: [],
  upload: undefined,
})

/** Gives each request its context. It is the only decoration of requests. */
export const requestContext = fp((app, _options, done) => {
  app.decorateRequest('sandbox')
  app.addHook('onRequest', (request, reply, next) => {
    request.sandbox = newContext(request.routeOptions) as RequestContext
    reply.header('x-request-id', request.id)
    next()
  })
  done()
})
