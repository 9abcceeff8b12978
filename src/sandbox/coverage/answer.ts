import type { Static } from '@sinclair/typebox'
import { errors } from '../../core/errors.js'
import { pageHeaders } from '../../http/pages/headers.js'
import { prefersHtml } from '../../http/pages/prefers-html.js'
import { DEMO_CLIENT } from '../../tenants/registry.js'
import type { CallContext } from '../route.js'
import type { Report } from './report.js'
import { reportOf } from './report.js'
import type { CoverageQuery } from './schemas.js'
import { MOST_CLIENTS } from './schemas.js'
import { nameOfClients, renderCoverage } from './views/coverage.js'
import { styles } from './views/styles.js'

const PAGE_HEADERS = pageHeaders(styles)

type Call = CallContext<undefined, Static<typeof CoverageQuery>, undefined>

/**
 * Answers a request with the coverage of clients: as a page if the request prefers HTML, else as a report.
 * Rejects with CLIENT_NOT_FOUND, MALFORMED_REQUEST (both parameters), INVALID_QUERY_PARAMETER (too many clients),
 * SERVICE_UNAVAILABLE.
 */
export async function answerCoverage(call: Call): Promise<Report | string> {
  const { request, reply, coverage, documented } = call
  const asked = await askedClients(call)
  const report = reportOf(asked === 'all' ? coverage.clients() : asked, coverage.read(asked), documented)
  reply.header('vary', 'accept')
  if (!prefersHtml(request)) return report
  reply.headers(PAGE_HEADERS).type('text/html; charset=utf-8')
  return renderCoverage(report, nameOfClients(report, asked === 'all'))
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
