import type { Static } from '@sinclair/typebox'
import { errors } from '../../core/errors.js'
import { DEMO_CLIENT } from '../../tenants/registry.js'
import type { CallContext } from '../route.js'
import { call } from '../route.js'
import { reportOf } from './report.js'
import { CoverageQuery, CoverageReport, MOST_CLIENTS } from './schemas.js'

export const getCoverage = call({
  isGlobal: true,
  errors: ['CLIENT_NOT_FOUND'],
  summary: 'The operations, statuses, error codes, states and pages that the app has seen since its reset, or missed',
  description:
    'Only requests of the API count, and only those with an answer. Only errors that an app has to handle can ' +
    'be missed. A fork counts for its origin too, also after it is gone, until the origin is reset. The coverage is ' +
    'kept in memory, of one server: each server of a database counts its own answers, and a start begins again.',
  querystring: CoverageQuery,
  response: CoverageReport,
  async handle(call) {
    const { coverage, documented } = call
    const asked = await askedClients(call)
    return reportOf(asked ?? coverage.clients(), coverage.read(asked), documented)
  },
})

/**
 * Returns the clients that a request names, or undefined for all clients.
 * Rejects with CLIENT_NOT_FOUND, MALFORMED_REQUEST (both parameters), INVALID_QUERY_PARAMETER (too many clients),
 * SERVICE_UNAVAILABLE.
 */
async function askedClients({
  query,
  registry,
  storage,
}: CallContext<undefined, Static<typeof CoverageQuery>, undefined>): Promise<string[] | undefined> {
  const { client = DEMO_CLIENT.clientId, clients } = query
  if (clients !== undefined) {
    if (query.client !== undefined) throw errors.malformed('clients', 'Give one of client and clients.')
    return undefined
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
