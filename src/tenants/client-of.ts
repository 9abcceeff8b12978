import type { FastifyRequest } from 'fastify'
import { DEMO_CLIENT } from './registry.js'

/** Returns the client of a page or of a call of the control plane: that of its path, else that of its query. */
export function clientOf({ params, query }: Pick<FastifyRequest, 'params' | 'query'>): string {
  const { clientId } = (params ?? {}) as { clientId?: string }
  return clientId ?? (query as { client?: string }).client ?? DEMO_CLIENT.clientId
}
