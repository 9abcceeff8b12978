/** The answers that an app has seen, and the answers that it has missed. */
import type { ComponentChildren } from 'preact'
import { Fragment } from 'preact'
import { toWords } from '../../core/words.js'
import type { Met, Report } from '../../sandbox/coverage/report.js'
import { useAnswer, withClient } from '../api.js'
import { useApp } from '../app.js'
import { counted } from '../format.js'
import { Card, Facts, Sentence } from '../parts.js'

/** The catalogue of errors by code. */
type Entries = ReadonlyMap<string, { readonly code: string; readonly status: number; readonly when: string }>

const TOTALS: readonly (readonly [name: keyof Report['summary'], title: string])[] = [
  ['operations', 'Operations'],
  ['statuses', 'Statuses'],
  ['errorCodes', 'Error codes'],
  ['states', 'States'],
  ['pages', 'Pages'],
]
const PAGES = { first: 'first page', following: 'following page', empty: 'empty list' } as const
const pageTitle = (page: keyof typeof PAGES) => PAGES[page]

export function Coverage() {
  const { client, address, href } = useApp()
  const isAll = address.query.clients === 'all'
  const path = isAll ? '/_sandbox/coverage?clients=all' : withClient('/_sandbox/coverage', client)
  const { data } = useAnswer<Report>(path)
  const { data: errors } = useAnswer<{ data: { code: string; status: number; when: string }[] }>(
    '/_sandbox/errors',
    true,
  )
  if (data === undefined) return null
  const { scope, summary, operations, states } = data
  const entries: Entries = new Map(errors?.data.map(entry => [entry.code, entry]))
  return (
    <>
      <p class="hint">
        The answers that the app has seen since its reset, and the answers that it has missed, of {scope}.{' '}
        <a href={href('../docs/guide/control-plane#find-what-your-tests-leave-out')}>How to meet the rest</a> ·{' '}
        <a href={href('/coverage', isAll ? {} : { clients: 'all' })}>{isAll ? 'This client' : 'All clients'}</a>
      </p>
      <Card id="totals" title="Totals">
        <div class="totals">
          <Facts
            facts={TOTALS.map(([name, title]) => {
              const { met, of } = summary[name]
              return [title, [`${met} of ${of} `, <progress key={name} value={met} max={of} aria-hidden="true" />]]
            })}
          />
        </div>
      </Card>
      {[...Map.groupBy(operations, ({ area }) => area)].map(([area, own], at) => {
        const called = own.filter(({ requests }) => requests > 0).length
        const aside = <span>{`${called} of ${own.length} operations called`}</span>
        return (
          <Card key={area} id={`area-${at}`} title={area} aside={aside}>
            {own.map(row => (
              <Operation key={row.operation} row={row} entries={entries} />
            ))}
            {states
              .filter(state => state.area === area)
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
    </>
  )
}

/** One operation. A narrow screen breaks its path before a slash. */
function Operation({ row, entries }: { row: Report['operations'][number]; entries: Entries }) {
  const { operation, summary, requests, statuses, errorCodes, pages } = row
  return (
    <article class="operation">
      <div>
        <h3>
          <code>
            {operation.split(/(?=\/)/).map((part, at) => (
              <Fragment key={at}>
                {at > 0 && <wbr />}
                {part}
              </Fragment>
            ))}
          </code>
        </h3>
        <p class="hint">
          {summary}
          {'. '}
          {requests === 0 ? <b class="error">Never called</b> : counted(requests, 'request')}
        </p>
      </div>
      <Facts
        facts={[
          ['Statuses', <Values key="statuses" {...statuses} />],
          ['Pages', pages && <Values met={pages.met.map(pageTitle)} missed={pages.missed.map(pageTitle)} />],
          ['Error codes', <ErrorCodes key="codes" {...errorCodes} entries={entries} />],
        ]}
      />
    </article>
  )
}

/** Lists values, the seen ones first. */
const Values = ({ met, missed }: Met<string | number>) => (
  <ul class="chips">
    {[...met, ...missed].map((value, at) => (
      <li key={value}>
        <Mark isMet={at < met.length}>{value}</Mark>
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
const ErrorCodes = ({ met, missed, entries }: Met<string> & { entries: Entries }) => (
  <details>
    <summary>
      {missed.length > 0 && <b>{missed.length} missed, </b>}
      {met.length} met
    </summary>
    <ul class="codes">
      {[...missed, ...met].map((code, at) => (
        <li key={code}>
          <Mark isMet={at >= missed.length}>{code}</Mark> {entries.get(code)?.status}
          <p class="hint">
            <Sentence text={entries.get(code)?.when ?? ''} />
          </p>
        </li>
      ))}
    </ul>
  </details>
)
