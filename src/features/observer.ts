import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { bearerOf } from '../http/authenticate.js'
import type { Eventually } from '../http/request-context.js'
import { pathOf } from '../http/url.js'
import type { TenantListener, TenantRegistry } from '../tenants/registry.js'
import { DEMO_CLIENT } from '../tenants/registry.js'
import type { Coverage } from './coverage/coverage.js'
import { coverAnswer } from './coverage/coverage.js'
import type { EventWaiters } from './events/waiters.js'
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
}

/**
 * Observes each exchange when its answer is ready, delivered or not: records the answer, logs the exchange of a client,
 * and counts it for its coverage. A failure to log is reported and does not change the answer.
 */
export const observer = fp<ObserverOptions>((app, options, done) => {
  const { registry, recorder, requestLog, requestWaiters, coverage, now } = options
  app.addHook('preSerialization', ({ sandbox }, _reply, content, next) => {
    sandbox.content = content
    next(null, content)
  })
  app.addHook('onSend', (request, reply, payload, next) => {
    recordAnswer(recorder, request, reply, payload)
    const clientId = clientOf(request, registry, reply.statusCode)
    if (clientId !== undefined) {
      try {
        requestLog.add(clientId, exchangeOf(request, reply, payload, registry.timeOf(clientId, now())))
        requestWaiters.wake(clientId)
      } catch (error) {
        request.log.error({ err: error }, 'a request cannot be logged')
      }
      coverAnswer(coverage, clientId, request, reply)
    }
    next()
  })
  done()
})

/** Returns the client of a request of the API, also of a refused one. Without a client it is the demo client. */
function clientOf(request: FastifyRequest, registry: TenantRegistry, status: number): string | undefined {
  const { route, tenant, isForeign } = request.sandbox
  // The control plane and the browsers of recipients are not the app under test.
  if (isForeign || route.schema?.hide || (route.url ?? pathOf(request.url)).startsWith('/_sandbox')) return undefined
  // The client may have made room for another since the request began.
  if (tenant !== undefined && registry.isGone(tenant)) return undefined
  const clientId = tenant?.clientId ?? claimedClient(request, registry)
  // While the database is away, a client that is not in memory is not known.
  return clientId ?? (status === 503 ? undefined : DEMO_CLIENT.clientId)
}

/** Returns the client that a refused request names by its credentials or its token. */
function claimedClient(request: FastifyRequest, registry: TenantRegistry): string | undefined {
  const { client_id: clientId } = (request.body ?? {}) as { client_id?: unknown }
  if (typeof clientId === 'string' && registry.has(clientId)) return clientId
  const token = bearerOf(request)
  return token === undefined ? undefined : registry.ownerOf(token)
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
