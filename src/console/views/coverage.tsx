import { referenceTo } from '../../openapi/docs.js'
import { reportOf } from '../../sandbox/coverage/report.js'
import { CoverageView } from '../../sandbox/coverage/views/coverage.js'
import type { Page } from '../page.js'
import { addressOf, href } from '../page.js'

/** The coverage of the client, or of all clients. */
export async function coverageView(page: Page) {
  const { coverage, documented } = page.context
  const { clientId } = page.tenant
  const isAll = page.query.clients === 'all'
  const clients = isAll ? coverage.clients() : [clientId]
  const report = reportOf(clients, coverage.read(isAll ? 'all' : clients), documented)
  const links = { operation: (name: string) => addressOf(page, referenceOf(name)), outcomes: href(page, '/failures') }
  return (
    <>
      <p class="hint">
        <a href={href(page, '/coverage', isAll ? {} : { clients: 'all' })}>
          {isAll ? `Coverage of ${clientId}` : 'Coverage of all clients'}
        </a>
      </p>
      <CoverageView report={report} links={links} />
    </>
  )
}

/** Returns the address of the description of an operation. The first segment of its path is its tag. */
function referenceOf(operation: string): string {
  const [method = '', path = ''] = operation.split(' ')
  return referenceTo('service', path.split('/')[3] as string, method, path)
}
