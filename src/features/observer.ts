import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ownerOf } from '../areas/oauth/tokens.js'
import { LONGEST_CLIENT_ID } from '../bounds.js'
import { bearerOf } from '../http/authenticate.js'
import type { Eventually } from '../http/request-context.js'
import { pathOf } from '../http/url.js'
import type { TenantListener, TenantRegistry } from '../tenants/registry.js'
import { DEMO_CLIENT } from '../tenants/registry.js'
import type { Coverage } from './coverage/coverage.js'
import { coverAnswer } from './coverage/coverage.js'
import type { EventWaiters, Refresh } from './events/waiters.js'
import { recordAnswer } from './recording/record.js'
import type { Recorder } from './recording/recorder.js'
import type { RequestLog } from './request-log/request-log.js'
import { exchangeOf } from './request-log/request-log.js'

export interface ObserverOptions {
  readonly registry: TenantRegistry
  readonly recorder: Recorder
  readonly requestLog: RequestLog
  readonly coverage: Coverage
  /** Returns the real time in milliseconds. */
  now(): number
  /** The calls that wait for requests. */
  readonly requestWaiters: EventWaiters
  /** Brings a client into memory that is only in the database. */
  readonly refresh: Refresh
}

/**
 * Observes each exchange when its answer is ready, delivered or not: records the answer, logs the exchange of a client,
 * and counts it for its coverage. A failure to log is reported and does not change the answer.
 */
export const observer = fp<ObserverOptions>((app, options, done) => {
  const { registry, recorder, requestLog, requestWaiters, coverage, now, refresh } = options

  function observe(request: FastifyRequest, reply: FastifyReply, payload: unknown) {
    const clientId = clientOf(request, registry)
    if (clientId === undefined) return
    try {
      requestLog.add(clientId, exchangeOf(request, reply, payload, registry.timeOf(clientId, now())))
      requestWaiters.wake(clientId)
    } catch (error) {
      request.log.error({ err: error }, 'a request cannot be logged')
    }
    coverAnswer(coverage, clientId, request, reply)
  }

  app.addHook('preSerialization', ({ sandbox }, _reply, content, next) => {
    sandbox.content = content
    next(null, content)
  })
  app.addHook('onSend', (request, reply, payload, next) => {
    recordAnswer(recorder, request, reply, payload)
    if (!isOfApp(request)) {
      next()
      return
    }
    const claimed = request.sandbox.tenant === undefined ? claimOf(request) : undefined
    if (claimed === undefined || registry.has(claimed)) {
      observe(request, reply, payload)
      next()
      return
    }
    // The client may only be out of memory. One that is not found while the database is away has no log.
    refresh(claimed, error => {
      if (error === undefined) observe(request, reply, payload)
      next()
    })
  })
  done()
})

/** Whether a request may be one of the app under test: the control plane and the browsers of recipients are not. */
function isOfApp({ url, sandbox: { route, isForeign } }: FastifyRequest): boolean {
  return !isForeign && !route.schema?.hide && !(route.url ?? pathOf(url)).startsWith('/_sandbox')
}

/** Returns the client of a request of the API, also of a refused one. Without a client it is the demo client. */
function clientOf(request: FastifyRequest, registry: TenantRegistry): string | undefined {
  const { tenant } = request.sandbox
  // The client may have made room for another since the request began.
  if (tenant !== undefined && registry.isGone(tenant)) return undefined
  return tenant?.clientId ?? claimedClient(request, registry) ?? DEMO_CLIENT.clientId
}

/** Returns the client that a refused request names by its credentials or its token. */
function claimedClient(request: FastifyRequest, registry: TenantRegistry): string | undefined {
  const clientId = credentialOf(request)
  if (clientId !== undefined && registry.has(clientId)) return clientId
  const token = bearerOf(request)
  return token === undefined ? undefined : registry.ownerOf(token)
}

/** Returns the id of a client that a request names, which may not exist. */
function claimOf(request: FastifyRequest): string | undefined {
  const token = bearerOf(request)
  return credentialOf(request) ?? (token === undefined ? undefined : ownerOf(token))
}

/** Returns the client id of a token request. */
function credentialOf({ body }: FastifyRequest): string | undefined {
  const { client_id: clientId } = (body ?? {}) as { client_id?: unknown }
  return typeof clientId === 'string' && clientId.length <= LONGEST_CLIENT_ID ? clientId : undefined
}

export interface ForgetOptions extends Pick<ObserverOptions, 'requestLog' | 'requestWaiters' | 'coverage'> {
  readonly waiters: EventWaiters
  /** Does some work once the changes of the turn in progress are stored. */
  afterwards(work: () => Eventually<void>): void
}

/** Forgets the exchanges of clients that are reset or removed. */
export function forgetExchanges(options: ForgetOptions): TenantListener {
  const { requestLog, requestWaiters, coverage, waiters, afterwards } = options
  const forget = (clientId: string, isReset: boolean) =>
    afterwards(async () => {
      requestLog.remove(clientId)
      if (isReset) coverage.reset(clientId)
      else coverage.remove(clientId)
      waiters.wake(clientId)
      requestWaiters.wake(clientId)
      // Later requests must not be removed with the earlier ones.
      await requestLog.flush()
      await coverage.flush()
    })
  return {
    onCreated({ clientId }, { reason, origin }) {
      if (reason === 'reset') forget(clientId, true)
      if (origin !== undefined) {
        afterwards(() => {
          coverage.fork(clientId, origin)
          return coverage.flush()
        })
      }
    },
    onRemoved(clientId, reason) {
      if (reason === 'removed') forget(clientId, false)
    },
  }
}
