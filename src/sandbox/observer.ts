import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ownerOf } from '../areas/oauth/tokens.js'
import { LONGEST_CLIENT_ID } from '../bounds.js'
import { bearerOf } from '../http/authenticate.js'
import { pathOf } from '../http/url.js'
import type { Storage } from '../storage/storage.js'
import type { TenantListener, TenantRegistry } from '../tenants/registry.js'
import { DEMO_CLIENT } from '../tenants/registry.js'
import type { Coverage } from './coverage/coverage.js'
import { coverAnswer } from './coverage/coverage.js'
import type { EventWaiters } from './events/waiters.js'
import { patchAnswer } from './faults/patch.js'
import { exchangeOf } from './request-log/exchange.js'
import type { RequestLog } from './request-log/state.js'
import type { Steering } from './request-log/steering.js'
import { noteSteering } from './request-log/steering.js'

export interface ObserverOptions {
  readonly registry: TenantRegistry
  readonly requestLog: RequestLog
  readonly coverage: Coverage
  readonly steering: Steering
  /** Returns the real time in milliseconds. */
  now(): number
  /** The calls that wait for requests. */
  readonly requestWaiters: EventWaiters
  readonly storage: Pick<Storage, 'refresh'>
  /** Whether other servers use the database, too. */
  readonly isShared: boolean
}

/**
 * Observes each exchange when its answer is ready, delivered or not: patches the answer for a fault, logs the exchange of a
 * client, and counts it for its coverage. A failure to log is reported and does not change the answer.
 */
export const observer = fp<ObserverOptions>((app, options, done) => {
  const { registry, requestLog, requestWaiters, coverage, steering, now, storage, isShared } = options

  function note(clientId: string, request: FastifyRequest, reply: FastifyReply, payload: unknown) {
    try {
      const realNow = now()
      const at = registry.timeOf(clientId, realNow, request.sandbox.tenant)
      const resets = request.sandbox.tenant?.resets ?? registry.resetsSoFar(clientId)
      requestLog.add(clientId, exchangeOf(request, reply, payload, at, realNow), resets)
      requestWaiters.wake(clientId)
    } catch (error) {
      request.log.error({ err: error }, 'a request cannot be logged')
    }
    coverAnswer(coverage, clientId, request, reply)
  }

  /** Returns the clients that a request may be of, the likeliest first. The last one is the demo client. */
  function namedBy(request: FastifyRequest): string[] {
    const { clientId, tenant } = request.sandbox
    if (tenant !== undefined) return [tenant.clientId]
    const token = bearerOf(request)
    // The metadata of the service name a client by their query.
    const named = [credentialOf(request) ?? clientId, token && ownerOf(token), DEMO_CLIENT.clientId]
    return named.filter(one => one !== undefined)
  }

  /** Whether a client exists, and has not been reset since a request was admitted. `isStale`: memory may not show it. */
  function isOf(clientId: string, { sandbox: { tenant } }: FastifyRequest, isStale: boolean): boolean {
    if (tenant === undefined) return registry.has(clientId)
    const present = registry.peek(clientId)
    return present === undefined
      ? isStale && registry.resetsOf(clientId) === undefined
      : present.resets === tenant.resets
  }

  /**
   * Calls back with the first client that a request is of, if there is one.
   * @param isAway whether the database is away, so that it is not asked again
   */
  function find(
    request: FastifyRequest,
    [clientId, ...others]: readonly string[],
    isAway: boolean,
    done: (clientId?: string) => void,
  ): void {
    if (clientId === undefined) {
      done()
      return
    }
    const look = (isStale: boolean) => {
      if (isOf(clientId, request, isStale)) done(clientId)
      else find(request, isStale ? [] : others, isAway, done)
    }
    // The demo client always exists. Others may be out of memory, or be another client on another server.
    const isDemo = clientId === DEMO_CLIENT.clientId && request.sandbox.tenant === undefined
    if (isAway) look(true)
    else if (!isShared && (isDemo || registry.peek(clientId) !== undefined)) look(false)
    else storage.refresh(clientId, error => look(error !== undefined))
  }

  // In `onSend`, and not in `onResponse`: a client that has its answer finds its request in the log, although the log of a
  // database takes time; the text of the answer is at hand; and an answer that a fault takes away is observed, too.
  app.addHook('onSend', function observe(request, reply, payload, next) {
    const { faults, isForeign, route, tenant } = request.sandbox
    // The control plane and the browsers of recipients are not the app under test.
    if (isForeign || route.schema?.hide || (route.url ?? pathOf(request.url)).startsWith('/_sandbox')) {
      noteSteering(steering, request, reply)
      next()
      return
    }
    const answer = faults?.effect?.kind === 'patch' ? patchAnswer(faults, faults.effect.patch, payload) : payload
    if (tenant !== undefined && registry.peek(tenant.clientId) === tenant) {
      note(tenant.clientId, request, reply, answer)
      next(null, answer)
      return
    }
    // A request that was refused since the database is away does not wait for it twice.
    const isAway = isShared && reply.statusCode === 503 && tenant === undefined
    find(request, namedBy(request), isAway, clientId => {
      if (clientId !== undefined) note(clientId, request, reply, answer)
      next(null, answer)
    })
  })
  done()
})

/** Returns the client id of a token request. */
function credentialOf({ body }: FastifyRequest): string | undefined {
  const { client_id: clientId } = (body ?? {}) as { client_id?: unknown }
  return typeof clientId === 'string' && clientId.length <= LONGEST_CLIENT_ID ? clientId : undefined
}

/** Forgets the exchanges of clients that are reset or removed. A fork counts for the coverage of its origin, too. */
export function forgetExchanges({
  requestLog,
  coverage,
  steering,
}: Pick<ObserverOptions, 'requestLog' | 'coverage' | 'steering'>): TenantListener {
  return {
    onCreated({ clientId }, { reason, origin }) {
      if (reason === 'reset') {
        requestLog.remove(clientId)
        coverage.reset(clientId)
        steering.delete(clientId)
      }
      if (origin !== undefined) coverage.fork(clientId, origin)
    },
    onRemoved(clientId, reason) {
      if (reason === 'released') return
      requestLog.remove(clientId)
      coverage.remove(clientId)
      steering.delete(clientId)
    },
  }
}
