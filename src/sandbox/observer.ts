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

  /** Returns the clients that may have sent a request: the client of its tenant, else the clients that it names and the demo client. */
  function claimsOf(request: FastifyRequest, isUnavailable: boolean): Claim[] {
    const { tenant } = request.sandbox
    const credential = credentialOf(request)
    if (tenant !== undefined) {
      const { clientId, resets } = tenant
      const isProven = (isRead: boolean) => {
        const present = registry.peek(clientId)
        if (present !== undefined || isRead) return present?.resets === resets
        // A token is of a stored client, but credentials may be of a registration that is not stored.
        return (credential === undefined || !isUnavailable) && registry.resetsOf(clientId) === undefined
      }
      return [{ clientId, isCurrent: false, isProven }]
    }
    const token = bearerOf(request)
    const owner = token && ownerOf(token)
    return [
      ...(credential !== undefined ? [{ clientId: credential, isProven: () => registry.has(credential) }] : []),
      ...(token && owner ? [{ clientId: owner, isProven: () => registry.ownerOf(token) === owner }] : []),
      { clientId: DEMO_CLIENT.clientId, isCurrent: !isShared, isProven: () => true },
    ]
  }

  /**
   * Calls back with the first client that is proven. The request of a client that cannot be read has no client.
   * @param isAway whether the request was refused since the database is away: it does not wait twice
   */
  function find([claim, ...others]: readonly Claim[], isAway: boolean, done: (clientId?: string) => void) {
    if (claim === undefined) {
      done()
      return
    }
    const { clientId, isProven } = claim
    const { isCurrent = !isShared && registry.peek(clientId) !== undefined && isProven(true) } = claim
    const look = (isRead: boolean) => {
      if (isProven(isRead)) done(clientId)
      else find(isRead ? others : [], isAway, done)
    }
    // The client may be out of memory, in a transaction that is not stored, or another one on another server.
    if (isCurrent || isAway) look(!isAway)
    else storage.refresh(clientId, error => look(error === undefined))
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
    const isUnavailable = reply.statusCode === 503
    const isAway = isShared && isUnavailable && tenant === undefined
    find(claimsOf(request, isUnavailable), isAway, clientId => {
      if (clientId !== undefined) note(clientId, request, reply, answer)
      next(null, answer)
    })
  })
  done()
})

/** A client that a request may be of. */
interface Claim {
  readonly clientId: string
  /** Whether the client need not be looked up. By default: if it is in memory, proven, and on no other server. */
  readonly isCurrent?: boolean
  /**
   * Whether the request is of the client.
   * @param isRead whether the client is up to date in memory
   */
  isProven(isRead: boolean): boolean
}

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
