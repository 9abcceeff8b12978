import type { FastifyReply, FastifyRequest } from 'fastify'
import { pageHeaders } from '../../http/pages/headers.js'
import type { ControlContext } from '../control-route.js'
import { areasOf, coverageOf } from './report.js'
import { renderCoverage } from './views/page.js'
import { styles } from './views/styles.js'

const PAGE_HEADERS = pageHeaders(styles)

type Context = Pick<ControlContext, 'coverage' | 'documented'>

/**
 * Answers a request with the coverage of a client: as a page if the request prefers HTML, else as a report.
 * @param clientId a client that exists
 */
export function answerCoverage(clientId: string, request: FastifyRequest, reply: FastifyReply, context: Context) {
  const { coverage, documented } = context
  const report = coverageOf(coverage, clientId, documented)
  reply.header('vary', 'accept')
  // The first type also answers a request that prefers none of them.
  if (request.type(['application/json', 'text/html']) !== 'text/html') return report
  reply.headers(PAGE_HEADERS).type('text/html; charset=utf-8')
  const clients = [...new Set([clientId, ...coverage.clients()])].sort()
  return renderCoverage({ report, areas: areasOf(report, documented), clients })
}
