import type { ComponentChildren } from 'preact'
import { formatMoment } from '../moments.js'

/** An instant with date, time and zone. */
export const Time = ({ at }: { at: string }) => <time dateTime={at}>{formatMoment(Date.parse(at))}</time>

const AMOUNT = new Intl.NumberFormat('en-GB', { minimumFractionDigits: 2, maximumFractionDigits: 2 })

/** Formats an amount, such as `1,190.00 EUR`. A text is formatted exactly. */
export const formatMoney = (amount: unknown, currency: unknown): string =>
  `${AMOUNT.format(amount as `${number}`)} ${currency}`

/** The colours of states: those that end well, end badly, end without effect; all others are under way. */
const TONES: Readonly<Record<string, string>> = {
  SETTLED: 'good',
  PAID: 'good',
  ACTIVE: 'good',
  FAILED: 'bad',
  REJECTED: 'bad',
  RETURNED: 'bad',
  CANCELLED: 'idle',
  EXPIRED: 'idle',
  spent: 'idle',
  expired: 'idle',
}
export const toneOf = (status: string): string => TONES[status] ?? 'open'

export const Status = ({ of: status }: { of: string }) => <span class={`status ${toneOf(status)}`}>{status}</span>

/** The status of an answer; null: a fault took the answer away. */
export const HttpStatus = ({ of: status }: { of: number | null }) => (
  <span class={`status ${status === null || status >= 400 ? 'bad' : 'good'}`}>{status ?? 'no answer'}</span>
)

/** A part of a page with a title. */
export function Card({ id, title, aside, children, isWide = false }: CardProps) {
  return (
    <section class={isWide ? 'card wide' : 'card'} aria-labelledby={id}>
      <div class="title">
        <h2 id={id}>{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  )
}
interface CardProps {
  readonly id: string
  readonly title: ComponentChildren
  readonly aside?: ComponentChildren
  readonly isWide?: boolean
  readonly children: ComponentChildren
}

/** A list of facts; those without a value are left out. */
export const Facts = ({ facts }: { facts: readonly (readonly [term: string, value: ComponentChildren])[] }) => (
  <dl class="facts">
    {facts
      .filter(([, value]) => value !== undefined && value !== null)
      .map(([term, value]) => (
        <div key={term}>
          <dt>{term}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
)

/** A part that scrolls, and that the keyboard reaches for it. */
export const Scroll = ({ label, class: name = 'scroll', children }: ScrollProps) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
  // biome-ignore lint/a11y/useSemanticElements: it is no group of fields
  <div class={name} tabIndex={0} role="group" aria-label={label}>
    {children}
  </div>
)
interface ScrollProps {
  readonly label: string
  readonly class?: string
  readonly children: ComponentChildren
}

/** A column of a table. */
export interface Column<R> {
  readonly title: string
  /** Whether narrow screens leave it out. */
  readonly isWide?: boolean
  /** The class of its cells, such as `number`. */
  readonly class?: string
  cell(row: R): ComponentChildren
}

/** A table with headers. The first column names the row. */
export function Table<R>({ caption, columns, rows, keyOf, empty }: TableProps<R>) {
  if (rows.length === 0) return <p class="empty">{empty}</p>
  const classOf = ({ isWide, class: own }: Column<R>) => [isWide && 'wide', own].filter(Boolean).join(' ') || undefined
  return (
    <Scroll label={caption}>
      <table>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map(column => (
              <th key={column.title} scope="col" class={classOf(column)}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(row => (
            <tr key={keyOf(row)} id={keyOf(row)}>
              {columns.map((column, at) =>
                at === 0 ? (
                  <th key={column.title} scope="row">
                    {column.cell(row)}
                  </th>
                ) : (
                  <td key={column.title} class={classOf(column)}>
                    {column.cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}
interface TableProps<R> {
  readonly caption: string
  readonly columns: readonly Column<R>[]
  readonly rows: readonly R[]
  /** Returns the id of a row in the page. */
  keyOf(row: R): string
  /** Says what would be there, and how it comes there. */
  readonly empty: ComponentChildren
}

/** The most characters of a JSON text that a page shows. */
const MOST_CHARACTERS = 20_000

/** A JSON value as formatted text. */
export function Json({ label, value }: { label: string; value: unknown }) {
  const text = JSON.stringify(value, null, 2)
  return (
    <Scroll label={label} class="code">
      <code>{text.slice(0, MOST_CHARACTERS)}</code>
      {text.length > MOST_CHARACTERS && <b>{`\n… and ${text.length - MOST_CHARACTERS} more characters`}</b>}
    </Scroll>
  )
}

/** A text to copy. Without a script, a person selects it. */
export const Copyable = ({ label, text }: { label: string; text: string }) => (
  <div class="copyable">
    <pre class="code">
      <code>{text}</code>
    </pre>
    <button type="button" class="small" data-copy hidden>
      {label}
    </button>
  </div>
)
