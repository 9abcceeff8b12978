import cors from '@fastify/cors'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { errors } from '../core/errors.js'
import { isAllowedOrigin, isOrigin } from '../core/origins.js'
import { isRead, pathOf } from './url.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether pages of other origins may open and call the route. For pages that are made for browsers. */
    isPublic?: boolean
    /** Whether web pages could call the route by DNS rebinding, since it needs no access token. */
    isGuarded?: boolean
    /** Whether the answers of the route are pages for people. Links of other sites may open it. */
    isPage?: boolean
  }
}

export interface WebAccessOptions {
  /** The origins whose pages may call the API, as `isOriginPattern` defines them. */
  readonly corsOrigins: readonly string[]
  /** As in `TenantRegistryOptions`. */
  publicUrl(): string
}

const API = '/api/v1/'
/** The routes that are guarded. */
const GUARDED_HOSTS = ['/_sandbox', '/api/v1/oauth/token', '/.well-known/', '/pay/']

/** A probe names no client and tells only that the server works. It may use any host name, such as the name of a pod. */
const PROBES = '/_sandbox/health/'

const isGuarded = (url: string) => !url.startsWith(PROBES) && GUARDED_HOSTS.some(path => url.startsWith(path))

/** Response headers that pages may read. */
const EXPOSED_HEADERS = [
  'deprecation',
  'link',
  'location',
  'retry-after',
  'sandbox-hint',
  'sunset',
  'www-authenticate',
  'x-request-id',
] as const

/**
 * Refuses requests of web pages (decisions §1): requests of other origins with FORBIDDEN_ORIGIN, and requests by DNS
 * rebinding with FORBIDDEN_HOST. Register it before plugins that answer requests.
 */
export const webAccess = fp<WebAccessOptions>((app, { corsOrigins, publicUrl }, done) => {
  app.addHook('onRoute', route => {
    route.config = { ...route.config, isGuarded: isGuarded(route.url) }
  })

  app.addHook('onRequest', function guardOrigin(request, _reply, next) {
    const { headers, sandbox } = request
    const { origin, 'sec-fetch-site': site } = headers
    // Other clients than browsers send neither.
    const isOfPage = origin !== undefined || site !== undefined
    if (isOfPage && isForeign(request)) {
      sandbox.isForeign = true
      throw errors.forbiddenOrigin(origin, isApi(request))
    }
    if (sandbox.route.config.isGuarded && !sandbox.isOwnHost) {
      sandbox.isForeign = true
      throw errors.forbiddenHost(sandbox.host)
    }
    next()
  })

  if (corsOrigins.length > 0) {
    app.register(cors, {
      delegator: (request: FastifyRequest, callback) => {
        const isPreflight = request.headers['access-control-request-method'] !== undefined
        callback(null, {
          origin: isOpenedTo(request),
          methods: ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'],
          exposedHeaders: [...EXPOSED_HEADERS],
          // Other OPTIONS requests get `Allow`.
          preflight: isPreflight,
        })
      },
    })
  }
  done()

  /** Returns whether the request is one of the API by a page of SANDBOX_CORS_ORIGINS. */
  function isOpenedTo(request: FastifyRequest): boolean {
    const { origin } = request.headers
    return origin !== undefined && isApi(request) && isOrigin(origin) && isAllowedOrigin(origin, corsOrigins)
  }

  /** Returns whether a page of another origin has sent the request, which is refused. */
  function isForeign(request: FastifyRequest): boolean {
    const { headers, sandbox } = request
    if (sandbox.route.config.isPublic || isOpenedTo(request) || isLink(request)) return false
    return headers.origin === undefined ? isSentByForeignPage(request) : !isOwnOrigin(headers.origin, sandbox.host)
  }

  function isOwnOrigin(origin: string, host: string): boolean {
    if (!isOrigin(origin)) return false
    const given = new URL(origin)
    // The browser may have the scheme of a proxy.
    const own = [`${given.protocol}//${host}`, publicUrl()]
    return own.some(url => URL.canParse(url) && new URL(url).origin === given.origin)
  }
})

/**
 * Returns whether browsers say that a request without an Origin comes from a page of another origin (Fetch Metadata).
 * Links from other servers of the same host stay possible.
 */
function isSentByForeignPage({ headers }: FastifyRequest): boolean {
  const { 'sec-fetch-site': site, 'sec-fetch-mode': mode } = headers
  return site === 'cross-site' || (site === 'same-site' && mode === 'no-cors')
}

/** Whether a link of another site opens a page. No page can read what another tab shows. */
const isLink = ({ method, headers, url, sandbox: { route } }: FastifyRequest) =>
  isRead(method) &&
  headers.origin === undefined &&
  headers['sec-fetch-mode'] === 'navigate' &&
  headers['sec-fetch-dest'] === 'document' &&
  (route.config.isPage || pathOf(url) === '/')

const isApi = (request: FastifyRequest) => pathOf(request.url).startsWith(API)
