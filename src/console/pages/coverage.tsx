/** The answers that an app has seen, and the answers that it has missed. */
import type { ComponentChildren } from 'preact'
import { Fragment } from 'preact'
import { useAnswer, withClient } from '../api.js'
import { useApp } from '../app.js'
import { toWords } from '../format.js'
import { Card, Facts, Sentence } from '../parts.js'

interface Met<T> {
  readonly met: readonly T[]
  readonly missed: readonly T[]
}

interface OperationRow {
  readonly operation: string
  readonly summary: string
  readonly area: string
  readonly requests: number
  readonly statuses: Met<number>
  readonly errorCodes: Met<string>
  readonly pages?: Met<string>
}

interface Report {
  readonly scope: string
  readonly summary: Readonly<Record<string, { readonly met: number; readonly of: number }>>
  readonly operations: readonly OperationRow[]
  readonly states: readonly (Met<string> & { readonly kind: string; readonly area: string })[]
}

const TOTALS: readonly (readonly [name: string, title: string])[] = [
  ['operations', 'Operations'],
  ['statuses', 'Statuses'],
  ['errorCodes', 'Error codes'],
  ['states', 'States'],
  ['pages', 'Pages'],
]

export function Coverage() {
  const { client, address, href } = useApp()
  const isAll = address.query.clients === 'all'
  const { data } = useAnswer<Report>(
    isAll ? '/_sandbox/coverage?clients=all' : withClient('/_sandbox/coverage', client),
  )
  const { data: errors } = useAnswer<{ data: { code: string; status: number; when: string }[] }>(
    '/_sandbox/errors',
    true,
  )
  if (data === undefined) return null
  const { scope, summary, operations, states } = data
  const entries = new Map(errors?.data.map(entry => [entry.code, entry]))
  const areas = [...new Set(operations.map(({ area }) => area))]
  return (
    <>
      <p class="hint">
        The answers that the app has seen since its reset, and the answers that it has missed, of {scope}.{' '}
        <a href={href('../docs/guide/control-plane#find-what-your-tests-leave-out')}>How to meet the rest</a> ·{' '}
        <a href={href('/coverage', isAll ? {} : { clients: 'all' })}>{isAll ? 'This client' : 'All clients'}</a>
      </p>
      <Card id="totals" title="Totals">
        <Facts
          facts={TOTALS.flatMap(([name, title]): [string, ComponentChildren][] => {
            const total = summary[name]
            if (total === undefined) return []
            const { met, of } = total
            return [
              [
                title,
                <>
                  {met} of {of} <progress value={met} max={of} aria-hidden="true" />
                </>,
              ],
            ]
          })}
        />
      </Card>
      {areas.map((area, at) => {
        const own = operations.filter(operation => operation.area === area)
        const called = own.filter(({ requests }) => requests > 0).length
        return (
          <Card
            key={area}
            id={`area-${at}`}
            title={area}
            aside={<span>{`${called} of ${own.length} operations called`}</span>}
          >
            {own.map(row => (
              <article key={row.operation} class="operation">
                <div>
                  <h3>
                    <Name operation={row.operation} />
                  </h3>
                  <p class="hint">
                    {row.summary}
                    {'. '}
                    {row.requests === 0 ? (
                      <b class="error">Never called</b>
                    ) : (
                      `${row.requests} ${row.requests === 1 ? 'request' : 'requests'}`
                    )}
                  </p>
                </div>
                <Facts
                  facts={[
                    ['Statuses', <Values key="statuses" {...row.statuses} />],
                    ['Pages', row.pages && <Values {...row.pages} />],
                    [
                      'Error codes',
                      <details key="codes">
                        <summary>
                          {row.errorCodes.missed.length > 0 && <b>{row.errorCodes.missed.length} missed, </b>}
                          {row.errorCodes.met.length} met
                        </summary>
                        <ul class="codes">
                          {[...row.errorCodes.missed, ...row.errorCodes.met].map(code => (
                            <li key={code}>
                              <Mark isMet={row.errorCodes.met.includes(code)}>{code}</Mark> {entries.get(code)?.status}
                              <p class="hint">
                                <Sentence text={entries.get(code)?.when ?? ''} />
                              </p>
                            </li>
                          ))}
                        </ul>
                      </details>,
                    ],
                  ]}
                />
              </article>
            ))}
            {states
              .filter(state => state.area === area)
              .map(({ kind, met, missed }) => (
                <div key={kind} class="operation">
                  <h3>
                    States of {/^[aeiou]/.test(kind) ? 'an' : 'a'} {toWords(kind)}
                  </h3>
                  <Values met={met} missed={missed} />
                </div>
              ))}
          </Card>
        )
      })}
    </>
  )
}

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

/** Lists values, the seen ones first. */
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
