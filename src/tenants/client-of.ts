import type { FastifyRequest } from 'fastify'
import { DEMO_CLIENT } from './registry.js'

/**
 * Returns the client of a page or of a call of the control plane: that of its path, else that of its query.
 * @param byDefault the client of a request that names none
 */
export function clientOf(
  { params, query }: Pick<FastifyRequest, 'params' | 'query'>,
  byDefault = DEMO_CLIENT.clientId,
): string {
  const { clientId } = (params ?? {}) as { clientId?: string }
  return clientId ?? (query as { client?: string }).client ?? byDefault
}
