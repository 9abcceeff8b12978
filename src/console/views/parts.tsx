import type { ComponentChildren } from 'preact'
import { ownMember } from '../../core/own-member.js'
import type { Event } from '../../core/records/events.js'
import { toTitle, toWords } from '../../core/words.js'
import type { CardProps } from '../../http/pages/parts.js'
import { Card } from '../../http/pages/parts.js'
import { schemaAt } from '../calls.js'
import type { Kind } from '../kinds.js'
import { partsOf } from '../moments.js'

/** Writes the path of a member as a label, such as `Debtor IBAN`, without the place in a list and the effect of a fault. */
export function toLabel(path: string): string {
  const words = toWords((path.split(/\d+\.|^effect\./).at(-1) as string).replaceAll('.', ' '))
  return toTitle(words.replace(/\b(iban|bic|ttl|id|ui)\b/g, name => name.toUpperCase()))
}

/** A time. A narrow screen leaves out the weekday and the seconds. */
export const Time = ({ at }: { at: string }) => (
  <time dateTime={at}>{partsOf(at).map((part, place) => (place === 1 ? part : <span class="wide">{part}</span>))}</time>
)

/** The format of amounts, made on first use. */
let amounts: Intl.NumberFormat | undefined

/** Shows a member of a record by its path: amounts with the currency, moments by the schema of the kind. */
export function Value({ kind, record, path }: { kind: Kind; record: object; path: string }) {
  const value = path
    .split('.')
    .reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], record)
  if (value === undefined || value === null) return null
  // A text is formatted exactly.
  const { currency } = record as { currency?: string }
  if (isAmount(path)) {
    amounts ??= new Intl.NumberFormat('en-GB', { minimumFractionDigits: 2, maximumFractionDigits: 2 })
    return <>{`${amounts.format(value as `${number}`)} ${currency ?? ''}`}</>
  }
  const format = schemaAt(kind.record, path)?.format
  if (format === 'date-time') return <Time at={String(value)} />
  if (format === 'date') return <time dateTime={String(value)}>{partsOf(String(value))[1].split(',')[0]}</time>
  return <>{Array.isArray(value) ? value.length : String(value)}</>
}
export const isAmount = (path: string): boolean => /(^|\.|\w+)(amount|balance)$/i.test(path)

/** The colours of states: those that end well, end badly, end without effect; all others are under way. */
const TONES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['SETTLED', 'PAID', 'ACTIVE'].map(status => [status, 'good'])),
  ...Object.fromEntries(['FAILED', 'REJECTED', 'RETURNED'].map(status => [status, 'bad'])),
  ...Object.fromEntries(['CANCELLED', 'EXPIRED', 'spent', 'expired'].map(status => [status, 'idle'])),
}
export const toneOf = (status: string): string => ownMember(TONES, status) ?? 'open'

export const Status = ({ of: status }: { of: string }) => <span class={`status ${toneOf(status)}`}>{status}</span>

const CAUSES: Readonly<Record<string, string>> = {
  api: 'your app',
  // A call of the control plane, a button of the console, or a fixture.
  control: 'sandbox',
  time: 'time',
  outcome: 'chosen outcome',
}
/** Names the cause of a transition. On the page of a payout link, its recipient claims and declines. */
export const causeOf = ({ cause, kind, to }: Pick<Event, 'cause' | 'kind' | 'to'>): string =>
  cause === 'api' && kind === 'payoutLink' && ['CLAIMED', 'REJECTED'].includes(to)
    ? 'recipient'
    : (ownMember(CAUSES, cause) ?? cause)

/** The status of an answer; null: a fault took the answer away. */
export const HttpStatus = ({ of: status }: { of: number | null }) => (
  <span class={`status ${status === null || status >= 400 ? 'bad' : 'good'}`}>{status ?? 'no answer'}</span>
)

/** A part that scrolls, and that the keyboard reaches for it. */
export const Scroll = ({ label, class: name = 'scroll', children }: Record<string, ComponentChildren>) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
  // biome-ignore lint/a11y/useSemanticElements: it is no group of fields
  <div class={name as string} tabIndex={0} role="group" aria-label={label as string}>
    {children}
  </div>
)

/** A column of a table: its title, its cells, and its classes: `wide` is left out on narrow screens. */
export type Column<R> = readonly [title: string, cell: (row: R) => ComponentChildren, name?: string]

interface TableProps<R> {
  readonly caption: string
  readonly columns: readonly Column<R>[]
  readonly rows: readonly R[]
  /** Returns the id of a row in the page. */
  keyOf(row: R): string
  /** Says what would be there, and how it comes there. */
  readonly empty: ComponentChildren
}

/** A table with headers. The first column names the row. */
export function Table<R>({ caption, columns, rows, keyOf, empty }: TableProps<R>) {
  if (rows.length === 0) return <p class="empty">{empty}</p>
  return (
    <Scroll label={caption}>
      <table>
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map(([title, , name]) => (
              <th key={title} scope="col" class={name}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(row => (
            <tr key={keyOf(row)} id={keyOf(row)}>
              {columns.map(([title, cell, name], at) => {
                const Cell = at === 0 ? 'th' : 'td'
                return (
                  <Cell key={title} class={name} {...(at === 0 && { scope: 'row' })}>
                    {cell(row)}
                  </Cell>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

/** A card with a table of the same title. */
export const TableCard = <R,>({
  id,
  title,
  aside,
  children,
  ...table
}: Omit<CardProps & TableProps<R>, 'caption' | 'children'> & { children?: ComponentChildren }) => (
  <Card id={id} title={title} aside={aside}>
    <Table caption={String(title)} {...table} />
    {children}
  </Card>
)

/** The ways to other pages: their texts with their addresses, if there are such pages. */
export const Pager = ({ links }: { links: Readonly<Record<string, string | false | undefined>> }) => (
  <nav class="pager" aria-label="Pages">
    {Object.entries(links).map(([text, href]) => href && <a href={href}>{text}</a>)}
  </nav>
)

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

/** A text to copy. Without a script, a person selects it. @param as what it is @param of the form that the text follows */
export const Copyable = ({ as, text, of }: { as?: string; text: string; of?: string }) => (
  <div class="copyable">
    <Scroll label={as ? `As ${as}` : 'A command'} class="code">
      <code data-of={of}>{text}</code>
    </Scroll>
    <button type="button" class="small plain" data-copy aria-live="polite">
      Copy{as && <span class="visually-hidden"> as {as}</span>}
    </button>
  </div>
)
