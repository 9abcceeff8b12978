import type { Static } from '@sinclair/typebox'
import { errors } from '../../core/errors.js'
import { DEMO_CLIENT } from '../../tenants/registry.js'
import type { CallContext } from '../route.js'
import type { Report } from './report.js'
import { reportOf } from './report.js'
import type { CoverageQuery } from './schemas.js'
import { MOST_CLIENTS } from './schemas.js'

type Call = CallContext<undefined, Static<typeof CoverageQuery>, undefined>

/**
 * Reports the coverage of clients.
 * Rejects with CLIENT_NOT_FOUND, MALFORMED_REQUEST (both parameters), INVALID_QUERY_PARAMETER (too many clients),
 * SERVICE_UNAVAILABLE.
 */
export async function answerCoverage(call: Call): Promise<Report> {
  const { coverage, documented } = call
  const asked = await askedClients(call)
  return reportOf(asked === 'all' ? coverage.clients() : asked, coverage.read(asked), documented)
}

/** Returns the clients that a request names. */
async function askedClients({ query, registry, storage }: Call): Promise<string[] | 'all'> {
  const { client = DEMO_CLIENT.clientId, clients } = query
  if (clients !== undefined) {
    if (query.client !== undefined) throw errors.malformed('clients', 'Give one of client and clients.')
    return clients
  }
  // A listed client can have any id.
  const names = registry.has(client) ? [client] : [...new Set(client.split(','))]
  if (names.length > MOST_CLIENTS) {
    throw errors.invalidQuery('client', `client must name at most ${MOST_CLIENTS} clients.`)
  }
  for (const name of names) {
    await new Promise<void>((resolve, reject) => {
      storage.refresh(name, error => (error === undefined ? resolve() : reject(error)))
    })
    if (!registry.has(name)) throw errors.clientNotFound(name)
  }
  return names
}
