import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Region } from '../core/domain/regions.js'
import { errors, quote } from '../core/errors.js'
import { isLocalName, matchesHost, parseHost } from '../core/hosts.js'
import { hintsOf } from './hints.js'
import { locationsOf } from './location.js'
import { pathOf } from './url.js'

/** The path that answers 200 while the server closes: the process is alive. */
const LIVE = '/_sandbox/health/live'

/** The maximum number of headers of a request. Node drops the others in silence, and can drop Transfer-Encoding. */
export const MAX_HEADERS = 200

/** The addresses of a server. */
export interface Addresses {
  /** Host names of the server in addition to local names: names, or `*.` and a name. */
  readonly allowedHosts: readonly string[]
  /** As in `TenantRegistryOptions`. */
  publicUrl(host?: string): string
  /** The path of the public URL, without a slash at its ends. It is known when the server listens. */
  prefix?: string
}

/** A value, at once or after waiting. */
export type Eventually<T> = T | Promise<T>

/** Client credentials, with a hint for the client that they belong to. */
export interface Credentials {
  readonly client_id: string
  readonly client_secret: string
  readonly hint?: string | undefined
}

/** An uploaded file. */
export interface Upload {
  readonly fileName: string
  readonly content: Buffer
}

/**
 * The state of one request that our plugins and handlers share, as `request.sandbox`.
 * `tenants/tenant.ts` adds the tenant to it, and features add theirs.
 */
export class RequestContext {
  /** The route of the request. Fastify would make this object each time that `request.routeOptions` is read. */
  readonly route: FastifyRequest['routeOptions']
  /** The header Host and the name in it, as `parseHost` returns them; empty: there is none. */
  host = ''
  hostName = ''
  /** The value of `x-region`, on routes that take one. */
  region: Region = 'EU'
  /** The client in whose lock the request was handled, or undefined if there was none. */
  clientId: string | undefined = undefined
  /** The sentences of the response header `Sandbox-Hint`. */
  readonly hints: string[] = []
  /** The number of further hints that are not kept. */
  omittedHints = 0
  /**
   * Whether it is no request of the app: the request of a web page was refused, or a browser is sent to the console. Such
   * requests are not in the request log.
   */
  isForeign = false
  /** The headers `Deprecation` and `Sunset` of the answer, or null. */
  announced: Readonly<Record<string, string>> | null = null
  /** The content of the answer before its serialization, of a page of a refusal its envelope, or undefined if there is none. */
  content: unknown = undefined
  /** The text of a JSON body, for the request log. */
  bodyText: string | undefined = undefined
  /** The fields of a form as they were sent, for the request log. */
  form: Readonly<Record<string, string>> | undefined = undefined
  /** The readings of client credentials, the likeliest first. Each has the hint that it was taken. */
  credentials: readonly Credentials[] = []
  /** The uploaded file, on routes that take one. */
  upload: Upload | undefined = undefined
  readonly #addresses: Addresses

  constructor(route: FastifyRequest['routeOptions'], addresses: Addresses) {
    this.route = route
    this.#addresses = addresses
    this.faults = null
  }

  /** Whether the host belongs to the server. A client without a Host is not a browser. */
  get isOwnHost(): boolean {
    const { allowedHosts, publicUrl } = this.#addresses
    const { hostName } = this
    return (
      hostName === '' ||
      isLocalName(hostName) ||
      matchesHost(hostName, [...allowedHosts, new URL(publicUrl()).hostname])
    )
  }

  /**
   * The address of the server for the client of the request, without a trailing slash: SANDBOX_PUBLIC_URL, else `http://`
   * and its Host (decisions §3). Only a Host that is the server's own counts.
   */
  get publicUrl(): string {
    return this.#addresses.publicUrl(this.host !== '' && this.isOwnHost ? this.host : undefined)
  }

  /** The path of the public URL, without a slash at its ends. */
  get pathPrefix(): string {
    this.#addresses.prefix ??= this.#addresses.publicUrl().replace(/^\w+:\/\/[^/]+\/?/, '')
    return this.#addresses.prefix
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    sandbox: RequestContext
  }
}

/** Returns whether a client has used the public URL of the server, and not another of its names. */
export function isPublicHost({ headers, sandbox: { host, publicUrl } }: FastifyRequest): boolean {
  // A refused Host is no name of the server.
  if (host === '') return !headers.host
  const { protocol, origin } = new URL(publicUrl)
  // The default port depends on the scheme.
  return new URL(`${protocol}//${host}`).origin === origin
}

/** Returns the path prefix by which the client of a request reaches the server: the prefix of the public URL, if the client uses this URL. */
export function prefixOf(request: FastifyRequest): string {
  const path = request.sandbox.pathPrefix
  return path !== '' && isPublicHost(request) ? `/${path}` : ''
}

type Tenant = NonNullable<RequestContext['tenant']>

declare module 'fastify' {
  interface FastifyInstance {
    withClient<T>(request: FastifyRequest, work: (tenant: Tenant) => T): Eventually<T>
  }
}

/**
 * Does the work of a request in the lock of its client, all or nothing. Its tenant is up to date, and nothing else reads or
 * changes it meanwhile. What the work has changed is stored before its result is answered. `storage/client-lock.ts` says how
 * a scope finds the client.
 */
export const withClient: FastifyInstance['withClient'] = (request, work) => request.server.withClient(request, work)

/**
 * Gives each request its context, and each answer the headers that are the same for all. Refuses requests that Node would
 * answer by itself, without the envelope.
 */
export const requestContext = fp<Addresses>((app, { allowedHosts, publicUrl }, done) => {
  const addresses: Addresses = { allowedHosts, publicUrl }
  /** Parsing a Host takes longer than all other checks here, and most requests have the same one. */
  let last = { given: '', host: '', name: '' }

  function read(given: string) {
    const parsed = parseHost(given)
    if (parsed === undefined) throw errors.malformed('host', `${quote(given)} is not a host.`)
    last = { given, ...parsed }
    return last
  }

  app.decorateRequest('sandbox')
  app.addHook('onRequest', function beginRequest(request, reply, next) {
    request.sandbox = new RequestContext(request.routeOptions, addresses)
    reply.header('x-request-id', request.id)
    if (app.shutdown.hasBegun && pathOf(request.url) !== LIVE) throw errors.unavailable('The server is closing.')
    assertHttp(request, reply)
    // An empty Host is valid, for a target without an authority.
    const given = request.headers.host
    if (given) {
      const { host, name } = given === last.given ? last : read(given)
      request.sandbox.host = host
      request.sandbox.hostName = name
    }
    next()
  })

  app.addHook('preSerialization', function keepContent({ sandbox }, _reply, content, next) {
    sandbox.content = content
    next(null, content)
  })

  const locations = locationsOf(app)
  app.addHook('onSend', function addHeaders(request, reply, payload, next) {
    const { hints, route, content, announced } = request.sandbox
    if (announced !== null) reply.headers(announced)
    if (hints.length > 0) reply.header('sandbox-hint', hintsOf(request).join('; '))
    const parameter = reply.statusCode === 201 ? locations.get(route.url as string) : undefined
    if (parameter !== undefined) {
      const reference = (content as Readonly<Record<string, string>>)[parameter]
      reply.header('location', `${prefixOf(request)}${route.url}/${reference}`)
    }
    // Fastify does this for GET.
    if (request.method === 'HEAD' && payload === undefined) reply.header('content-length', '0')
    if (app.shutdown.hasBegun) reply.header('connection', 'close')
    next()
  })
  done()
})

/** Refuses requests that are not HTTP/1.1 as we take it. @throws HEADERS_TOO_LARGE, MALFORMED_REQUEST */
function assertHttp({ raw, originalUrl }: FastifyRequest, reply: FastifyReply): void {
  const { headers, rawHeaders, httpVersion } = raw
  if (rawHeaders.length > 2 * MAX_HEADERS) {
    reply.header('connection', 'close')
    throw errors.headersTooLarge()
  }
  if (httpVersion !== '1.1' && httpVersion !== '1.0') throw errors.malformed(null, 'The request is not HTTP/1.1.')
  const encoding = headers['transfer-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'chunked') {
    throw errors.malformed('transfer-encoding', 'Transfer-Encoding must be chunked, if anything.')
  }
  if (originalUrl.includes('#')) throw errors.malformed(null, 'The request target has a fragment (#).')
  // RFC 9112 §3.2.
  if (httpVersion === '1.1' && headers.host === undefined) {
    throw errors.malformed('host', 'The header Host is required.')
  }
  if (rawHeaders.length <= 2 * Object.keys(headers).length) return
  // Node keeps only the first of each.
  for (const name of ['host', 'authorization']) {
    if (isRepeated(name, rawHeaders)) {
      throw errors.malformed(name, `The header ${name === 'host' ? 'Host' : 'Authorization'} must be given once.`)
    }
  }
}

const isRepeated = (name: string, rawHeaders: readonly string[]): boolean =>
  rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === name).length > 1
