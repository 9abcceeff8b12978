import type { ComponentChildren } from 'preact'
import { Fragment } from 'preact'
import { renderToString } from 'preact-render-to-string'
import type { CatalogueEntry } from '../../../core/errors.js'
import { catalogue } from '../../../core/errors.js'
import { ownMember } from '../../../core/own-member.js'
import { toWords } from '../../../core/words.js'
import { PlainPage } from '../../../http/pages/document.js'
import { Card, Facts } from '../../../http/pages/parts.js'
import type { Met, Report } from '../report.js'
import { styles } from './styles.js'

type Row = Report['operations'][number]

/** The addresses that a page of a server links to. */
export interface CoverageLinks {
  /** Returns the address of the description of an operation. */
  operation(name: string): string
  readonly outcomes: string
}

export interface CoverageProps {
  readonly report: Report
  /** Absent in a file, which links to nothing of a server. */
  readonly links?: CoverageLinks
}

const TOTALS: Readonly<Record<keyof Report['summary'], string>> = {
  operations: 'Operations',
  statuses: 'Statuses',
  errorCodes: 'Error codes',
  states: 'States',
  pages: 'Pages',
}
const PAGES = { first: 'first page', following: 'following page', empty: 'empty list' } as const

/** The answers that an app has met, and those that it has missed. */
export function CoverageView({ report: { scope, clients, summary, operations, states }, links }: CoverageProps) {
  const areas = [...new Set(operations.map(({ area }) => area))]
  return (
    <>
      <p class="hint">
        The answers that the app has met since its reset, and those that it has missed. Those of {scope} count.{' '}
        <a href="#help">How to meet the rest</a>
      </p>
      <Card id="totals" title="Totals">
        <div class="totals">
          <Facts
            facts={Object.entries(TOTALS).map(([name, title]) => {
              const { met, of } = summary[name as keyof Report['summary']]
              const text = `${met} of ${of}`
              return [title, <Total key={name} text={text} met={met} of={of} />]
            })}
          />
        </div>
      </Card>
      {areas.map((name, at) => {
        const own = operations.filter(({ area }) => area === name)
        const called = own.filter(({ requests }) => requests > 0).length
        const aside = <span>{`${called} of ${own.length} operations called`}</span>
        return (
          <Card key={name} id={`area-${at}`} title={name} aside={aside}>
            {own.map(row => (
              <Operation key={row.operation} row={row} links={links} />
            ))}
            {states
              .filter(({ area }) => area === name)
              .map(({ kind, ...values }) => (
                <div key={kind} class="operation">
                  <h3>
                    States of {/^[aeiou]/.test(kind) ? 'an' : 'a'} {toWords(kind)}
                  </h3>
                  <Values {...values} />
                </div>
              ))}
          </Card>
        )
      })}
      <Help clientId={clients[0] ?? 'CLIENT'} links={links} />
    </>
  )
}

const Total = ({ text, met, of }: { text: string; met: number; of: number }) => (
  <>
    {text} <progress value={met} max={of} aria-hidden="true" />
  </>
)

function Operation({ row, links }: { row: Row; links: CoverageLinks | undefined }) {
  const { operation, summary, requests, statuses, errorCodes, pages } = row
  const name = <Name operation={operation} />
  return (
    <article class="operation">
      <div>
        <h3>{links === undefined ? name : <a href={links.operation(operation)}>{name}</a>}</h3>
        <p class="hint">
          {summary}
          {'. '}
          {requests === 0 ? (
            <b class="error">Never called</b>
          ) : (
            `${requests} ${requests === 1 ? 'request' : 'requests'}`
          )}
        </p>
      </div>
      <Facts
        facts={[
          ['Statuses', <Values key="statuses" {...statuses} />],
          ['Pages', pages && <Values met={pages.met.map(toTitle)} missed={pages.missed.map(toTitle)} />],
          ['Error codes', <ErrorCodes key="codes" {...errorCodes} />],
        ]}
      />
    </article>
  )
}

const toTitle = (page: keyof typeof PAGES) => PAGES[page]

/** The method and path of an operation. A narrow screen breaks the path before a slash. */
const Name = ({ operation }: { operation: string }) => (
  <code>
    {operation.split(/(?=\/)/).map((part, at) => (
      <Fragment key={at}>
        {at > 0 && <wbr />}
        {part}
      </Fragment>
    ))}
  </code>
)

/** Lists values, those that were met first. */
const Values = ({ met, missed }: Met<string | number>) => (
  <ul class="chips">
    {met.map(value => (
      <li key={value}>
        <Mark isMet>{value}</Mark>
      </li>
    ))}
    {missed.map(value => (
      <li key={value}>
        <Mark isMet={false}>{value}</Mark>
      </li>
    ))}
  </ul>
)

/** A value with a sign for the eye, and a word for screen readers. */
const Mark = ({ isMet, children }: { isMet: boolean; children: ComponentChildren }) => (
  <span class={isMet ? 'status good' : 'status idle'}>
    <span aria-hidden="true">{isMet ? '✓' : '✗'}</span>
    <span class="visually-hidden">{isMet ? 'Met:' : 'Missed:'}</span> {children}
  </span>
)

/** Lists error codes with their conditions, those that were missed first. */
const ErrorCodes = ({ met, missed }: Met<string>) => (
  <details>
    <summary>
      {missed.length > 0 && <b>{missed.length} missed, </b>}
      {met.length} met
    </summary>
    <ul class="codes">
      {[...missed, ...met].map(code => {
        const { status, when = '' } = ownMember<Partial<CatalogueEntry>>(catalogue, code) ?? {}
        return (
          <li key={code}>
            <Mark isMet={met.includes(code)}>{code}</Mark> {status}
            <p class="hint">
              <Sentence text={when} />
            </p>
          </li>
        )
      })}
    </ul>
  </details>
)

/** A sentence whose parts in backticks are code. */
const Sentence = ({ text }: { text: string }) => (
  <>{text.split('`').map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}</>
)

const FAULT =
  '{"match": {"method": "GET", "path": "/api/v1/mandates"}, "effect": {"kind": "error", "status": 401, "code": "INVALID_TOKEN"}}'

function Help({ clientId, links }: { clientId: string; links: CoverageLinks | undefined }) {
  const query = `?${new URLSearchParams({ client: clientId })}`
  return (
    <Card id="help" title="How to meet the rest">
      <ul class="help">
        <li>
          Error codes: each has its condition below it. A fault answers the next request of an operation with any error:{' '}
          <code>POST /_sandbox/faults{query}</code> with <code>{FAULT}</code>. Without <code>match</code>, the token
          request may get it.
        </li>
        <li>
          <code>INVALID_TOKEN</code>: use such a fault. A request with an invalid token has no client, so it counts for{' '}
          <code>sandbox-client</code>.
        </li>
        <li>
          States: select an {links === undefined ? 'outcome' : <a href={links.outcomes}>outcome</a>} of a collection or
          payout link, and advance the clock with <code>POST /_sandbox/clock/advance{query}</code> and{' '}
          <code>{'{"toNextEvent": true}'}</code>. A state is met when the app reads it.
        </li>
        <li>
          Pages: read a list before its first record. Later read it with <code>limit=1</code>, and follow its{' '}
          <code>nextCursor</code>.
        </li>
      </ul>
    </Card>
  )
}

/** Names the clients of a coverage. @param isAll whether they are all of a server */
export function nameOfClients({ clients }: Report, isAll = false): string {
  if (isAll) return 'all clients'
  return clients.length > 3 ? `${clients.length} clients` : clients.join(', ')
}

/** Renders a coverage as a page that is complete in itself. All values are escaped. @param name that of its clients */
export const renderCoverage = (report: Report, name = nameOfClients(report)): string =>
  `<!doctype html>${renderToString(
    <PlainPage title={`Coverage of ${name}`} styles={styles}>
      <h1>Coverage of {name}</h1>
      <CoverageView report={report} />
    </PlainPage>,
  )}`
