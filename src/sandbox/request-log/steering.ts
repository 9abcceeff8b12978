import type { FastifyReply, FastifyRequest } from 'fastify'
import { isRead } from '../../http/url.js'
import { clientOf } from '../../storage/client-lock.js'

/** The calls outside the API that have changed each client since its start or its last reset. */
export type Steering = Map<string, Set<string>>

/** The calls that need not be repeated: a log shows the times of its requests, and they do not depend on the others. */
const HARMLESS = /^\/_sandbox\/(?:(?:clock|requests|credentials|reset|fork|clients|console)\b|tokens$)/

/** Notes a call of the control plane, or of the page of a payout link, that has changed a client. */
export function noteSteering(steering: Steering, request: FastifyRequest, { statusCode }: FastifyReply): void {
  const { method } = request
  const { url = '', config } = request.sandbox.route
  if (isRead(method) || method === 'OPTIONS' || statusCode >= 400 || HARMLESS.test(url)) return
  const clientId = clientOf(request)
  steering.set(clientId, (steering.get(clientId) ?? new Set()).add(config.operation ?? `${method} ${url}`))
}
