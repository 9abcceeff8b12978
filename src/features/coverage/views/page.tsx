import type { ComponentChildren } from 'preact'
import { Fragment } from 'preact'
import { renderToString } from 'preact-render-to-string'
import type { CatalogueEntry } from '../../../core/errors.js'
import { catalogue } from '../../../core/errors.js'
import { ownMember } from '../../../core/own-member.js'
import { toWords } from '../../../core/words.js'
import { PlainPage } from '../../../http/pages/document.js'
import { Choice, Facts } from '../../../http/pages/parts.js'
import { referenceTo } from '../../../openapi/docs.js'
import type { Met, Report } from '../merge.js'
import { styles } from './styles.js'

export interface CoveragePageProps {
  readonly report: Report
  /** The clients to choose from, by their ids. */
  readonly choice?: readonly string[]
  /** Whether the report is of all clients of a server. */
  readonly isAll?: boolean
  /** Whether the page is a file: it links to nothing of a server. */
  readonly isFile?: boolean
}

type Row = Report['operations'][number]

/** Names the clients of a report. */
function titleOf({ report: { clients }, isAll = false }: CoveragePageProps): string {
  if (isAll) return 'all clients'
  return clients.length > 3 ? `${clients.length} clients` : clients.join(', ')
}

const TOTALS: Readonly<Record<keyof Report['summary'], string>> = {
  operations: 'Operations',
  statuses: 'Statuses',
  errorCodes: 'Error codes',
  states: 'States',
  pages: 'Pages',
}
const PAGES = { first: 'first page', following: 'following page', empty: 'empty list' } as const

/** The coverage of an app, for people (GET /_sandbox/coverage). */
function CoveragePage(props: CoveragePageProps) {
  const { report, choice = [], isFile = false } = props
  const { clients, summary, operations, states } = report
  const title = titleOf(props)
  return (
    <PlainPage title={`Coverage of ${title}`} styles={styles}>
      <div class="intro">
        <div>
          <h1>Coverage of {title}</h1>
          <p>The answers that the app has met since its reset, and those that it has missed.</p>
        </div>
        {choice.length > 1 && <ClientChoice chosen={clients} choice={choice} />}
      </div>
      <h2 class="hidden">Totals</h2>
      <dl class="totals">
        {Object.entries(TOTALS).map(([name, title]) => (
          <Total key={name} title={title} {...summary[name as keyof Report['summary']]} />
        ))}
      </dl>
      <div class="legend">
        <ul>
          <Value isMet>met</Value>
          <Value isMet={false}>missed</Value>
        </ul>
        <a href="#help">How to meet the rest</a>
      </div>
      {[...new Set(operations.map(({ area }) => area))].map(name => (
        <Area
          key={name}
          name={name}
          operations={operations.filter(({ area }) => area === name)}
          states={states.filter(({ area }) => area === name)}
          isFile={isFile}
        />
      ))}
      <Help clientId={clients[0] ?? ''} isFile={isFile} />
    </PlainPage>
  )
}

function ClientChoice({ chosen, choice }: { chosen: readonly string[]; choice: readonly string[] }) {
  return (
    <form method="get">
      <div>
        <Choice id="client" label="Client" options={choice} value={chosen.length === 1 ? chosen[0] : undefined} />
      </div>
      <button type="submit">Show</button>
      <a href="?clients=all">All clients</a>
    </form>
  )
}

function Total({ title, met, of }: { title: string; met: number; of: number }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>
        <strong>{met}</strong> of {of}
        <svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
          <rect width={of === 0 ? 0 : (100 * met) / of} height="1" />
        </svg>
      </dd>
    </div>
  )
}

type AreaProps = Pick<Report, 'operations' | 'states'> & { readonly name: string; readonly isFile: boolean }

/** The coverage of the operations of one area, and of the states of its records. */
function Area({ name, operations, states, isFile }: AreaProps) {
  const called = operations.filter(({ requests }) => requests > 0).length
  return (
    <section class="area">
      <h2>
        {name}{' '}
        <span>
          {called} of {operations.length} operations called
        </span>
      </h2>
      <div class="sheet">
        {operations.map(operation => (
          <Operation key={operation.operation} {...operation} isFile={isFile} />
        ))}
        {states.map(({ kind, met, missed }) => (
          <div key={kind} class="states">
            <div>
              <h3>
                States of {/^[aeiou]/.test(kind) ? 'an' : 'a'} {toWords(kind)}
              </h3>
              <p class="purpose">In the answers that the app has got</p>
            </div>
            <Values met={met} missed={missed} />
          </div>
        ))}
      </div>
    </section>
  )
}

function Operation({ operation, summary, requests, isFile, ...coverage }: Row & { readonly isFile: boolean }) {
  const isCalled = requests > 0
  const name = <Name operation={operation} />
  return (
    <article class={isCalled ? 'operation' : 'operation uncalled'}>
      <div>
        <h3>{isFile ? name : <a href={referenceOf(operation)}>{name}</a>}</h3>
        <p class="purpose">{summary}</p>
      </div>
      <div>
        {isCalled ? (
          <>
            <p class="calls">
              {requests} {requests === 1 ? 'request' : 'requests'}
            </p>
            <OperationFacts {...coverage} />
          </>
        ) : (
          <details>
            <summary>
              <Mark isMet={false} />
              <b>Never called</b>
            </summary>
            <OperationFacts {...coverage} isOpen />
          </details>
        )}
      </div>
    </article>
  )
}

/** Returns the address of the description of an operation. The first segment of its path is its tag. */
function referenceOf(operation: string): string {
  const [method = '', path = ''] = operation.split(' ')
  return referenceTo('service', path.split('/')[3] as string, method, path)
}

/** The method and path of an operation. A narrow screen breaks the path before a slash. */
function Name({ operation }: { operation: string }) {
  const [method, path = ''] = operation.split(' ')
  return (
    <code>
      {method}{' '}
      {path.split(/(?=\/)/).map((segment, at) => (
        <Fragment key={at}>
          {at > 0 && <wbr />}
          {segment}
        </Fragment>
      ))}
    </code>
  )
}

type FactsProps = Pick<Row, 'statuses' | 'errorCodes' | 'pages'> & {
  /** Whether the error codes are shown at once. */
  readonly isOpen?: boolean
}

const OperationFacts = ({ statuses, errorCodes, pages, isOpen = false }: FactsProps) => (
  <Facts
    facts={[
      ['Statuses', <Values key="statuses" {...statuses} />],
      [
        'Pages',
        pages && <Values met={pages.met.map(page => PAGES[page])} missed={pages.missed.map(page => PAGES[page])} />,
      ],
      ['Error codes', <ErrorCodes key="codes" {...errorCodes} isOpen={isOpen} />],
    ]}
  />
)

/** Lists values, those that were met first. */
function Values({ met, missed }: Met<string | number>) {
  return (
    <ul class="chips">
      {met.map(value => (
        <Value key={value} isMet>
          {value}
        </Value>
      ))}
      {missed.map(value => (
        <Value key={value} isMet={false}>
          {value}
        </Value>
      ))}
    </ul>
  )
}

function Value({ isMet, children }: { isMet: boolean; children: ComponentChildren }) {
  return (
    <li class={isMet ? 'met' : 'missed'}>
      <Mark isMet={isMet} />
      {children}
    </li>
  )
}

/** A sign on the screen, and a word for screen readers. */
function Mark({ isMet }: { isMet: boolean }) {
  return (
    <>
      <span class="mark" aria-hidden="true">
        {isMet ? '✓' : '✗'}
      </span>
      <span class="hidden">{isMet ? 'Met: ' : 'Missed: '}</span>
    </>
  )
}

/** Lists error codes with their conditions, those that were missed first. */
function ErrorCodes({ met, missed, isOpen }: Met<string> & { isOpen: boolean }) {
  const codes = (
    <ul class="codes">
      {missed.map(code => (
        <Code key={code} code={code} isMet={false} />
      ))}
      {met.map(code => (
        <Code key={code} code={code} isMet />
      ))}
    </ul>
  )
  if (isOpen) return codes
  return (
    <details>
      <summary>
        {missed.length > 0 && (
          <>
            <b>{missed.length} missed</b>,{' '}
          </>
        )}
        {met.length} met
      </summary>
      {codes}
    </details>
  )
}

function Code({ code, isMet }: { code: string; isMet: boolean }) {
  // A database can have counted codes of another release.
  const { status, when = '' } = ownMember<Partial<CatalogueEntry>>(catalogue, code) ?? {}
  return (
    <li class={isMet ? 'met' : 'missed'}>
      <p>
        <Mark isMet={isMet} />
        <code>{code}</code> <span>{status}</span>
      </p>
      <p class="when">
        <Sentence text={when} />
      </p>
    </li>
  )
}

/** A sentence whose parts in backticks are code. */
function Sentence({ text }: { text: string }) {
  return <>{text.split('`').map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}</>
}

const FAULT =
  '{"match": {"method": "GET", "path": "/api/v1/mandates"}, "effect": {"kind": "error", "status": 401, "code": "INVALID_TOKEN"}}'

function Help({ clientId, isFile }: { clientId: string; isFile: boolean }) {
  const query = `?${new URLSearchParams({ client: clientId })}`
  return (
    <section class="help" id="help">
      <h2>How to meet the rest</h2>
      <ul>
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
          States: select an {isFile ? 'outcome' : <a href={`outcomes${query}`}>outcome</a>} of a collection or payout
          link, and advance the clock with <code>POST /_sandbox/clock/advance{query}</code> and{' '}
          <code>{'{"toNextEvent": true}'}</code>. A state is met when the app reads it.
        </li>
        <li>
          Pages: read a list before its first record. Later read it with <code>limit=1</code>, and follow its{' '}
          <code>nextCursor</code>.
        </li>
        {!isFile && (
          <li>
            The same as JSON: request this address with <code>Accept: application/json</code>.
          </li>
        )}
      </ul>
    </section>
  )
}

/** Renders the page. All values are escaped. */
export const renderCoverage = (props: CoveragePageProps): string =>
  `<!doctype html>${renderToString(<CoveragePage {...props} />)}`
