/** The small parts of pages. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { formatAmount, formatDate, isAmount, memberAt, partsOf, toneOf } from './format.js'
import type { AnyRecord, Refusal } from './types.js'

export { Facts } from '../areas/payout-links/pay/views/facts.js'

interface CardProps {
  readonly id: string
  readonly title: ComponentChildren
  readonly aside?: ComponentChildren
  readonly children?: ComponentChildren
}

/** A part of a page with a title. */
export const Card = ({ id, title, aside, children }: CardProps) => (
  <section class="card" aria-labelledby={id}>
    <div class="title">
      <h2 id={id}>{title}</h2>
      {aside}
    </div>
    {children}
  </section>
)

export const Status = ({ of: status }: { of: string }) => <span class={`status ${toneOf(status)}`}>{status}</span>

/** The status of an answer, or null if a fault took the answer away. */
export const HttpStatus = ({ of: status }: { of: number | null }) => (
  <span class={`status ${status === null || status >= 400 ? 'bad' : 'good'}`}>{status ?? 'no answer'}</span>
)

/** A time. A narrow screen leaves out the weekday and the seconds. */
export function Time({ at }: { at: string }) {
  const [day, middle, end] = partsOf(at)
  return (
    <time dateTime={at}>
      <span class="wide">{day}</span>
      {middle}
      <span class="wide">{end}</span>
    </time>
  )
}

/** A sentence whose parts in backticks are code. */
export const Sentence = ({ text }: { text: string }) => (
  <>{text.split('`').map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}</>
)

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
const DATE = /^\d{4}-\d\d-\d\d$/

/** A member of a record by its path. */
export function Value({ record, path }: { record: AnyRecord; path: string }) {
  const value = memberAt(record, path)
  if (value === undefined || value === null) return null
  if (isAmount(path)) return <>{formatAmount(value, record.currency)}</>
  if (typeof value === 'string' && /At$|Date$|Since$/.test(path)) {
    if (MOMENT.test(value)) return <Time at={value} />
    if (DATE.test(value)) return <time dateTime={value}>{formatDate(value)}</time>
  }
  return <>{Array.isArray(value) ? value.length : String(value)}</>
}

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
            <tr key={keyOf(row)}>
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

/** The ways to other pages: their texts with their addresses, if there are such pages. */
export const Pager = ({ links }: { links: Readonly<Record<string, string | false | undefined>> }) => (
  <nav class="pager" aria-label="Pages">
    {Object.entries(links).map(([text, href]) => href && <a href={href}>{text}</a>)}
  </nav>
)

/** The most characters of a JSON text that a page shows. */
const MOST_CHARACTERS = 20_000

/** A JSON value as formatted text, to copy. */
export function Json({ label, value }: { label: string; value: unknown }) {
  const text = JSON.stringify(value, null, 2) ?? ''
  const more = text.length - MOST_CHARACTERS
  return (
    <>
      <Copyable as={label} text={more > 0 ? text.slice(0, MOST_CHARACTERS) : text} whole={text} />
      {more > 0 && <p class="hint">{`And ${more} more characters: "Copy" has all of them.`}</p>}
    </>
  )
}

/** The time for which a button says that it has copied. */
const COPIED_MS = 2000

/** A text to copy. @param as names it @param whole the text that is copied, where it is longer than the shown one */
export function Copyable({ as, text, whole = text }: { as: string; text: string; whole?: string }) {
  const [isCopied, setCopied] = useState(false)
  const copy = async ({ currentTarget }: { currentTarget: HTMLElement }) => {
    try {
      await navigator.clipboard.writeText(whole)
      setCopied(true)
      setTimeout(() => setCopied(false), COPIED_MS)
    } catch {
      // Browsers refuse it to pages of other machines without HTTPS. The text is selected instead.
      const code = currentTarget.parentElement?.querySelector('code')
      if (code) getSelection()?.selectAllChildren(code)
    }
  }
  return (
    <div class="copyable">
      <Scroll label={as} class="code">
        <code>{text}</code>
      </Scroll>
      <button type="button" class="small plain" onClick={copy} aria-live="polite">
        {isCopied ? 'Copied' : 'Copy'}
        <span class="visually-hidden"> {as}</span>
      </button>
    </div>
  )
}

/** A value of a list with its text, and the title of its group. */
export type Option = readonly [value: string, text: string, group?: string]

interface SelectProps {
  readonly id: string
  readonly options: readonly Option[]
  readonly value: string
  onChange(value: string): void
  /** Further attributes. */
  readonly rest?: object
}

export const Select = ({ id, options, value, onChange, rest }: SelectProps) => (
  <select {...rest} id={id} value={value} onChange={event => onChange(event.currentTarget.value)}>
    {[...Map.groupBy(options, ([, , group]) => group)].map(([group, own]) => {
      const listed = own.map(([one, text]) => (
        <option key={one} value={one} selected={one === value}>
          {text}
        </option>
      ))
      return group ? <optgroup label={group}>{listed}</optgroup> : listed
    })}
  </select>
)

/** A list of values with its label, and a hint below. */
export const Choice = ({ label, hint, ...rest }: SelectProps & { label: string; hint?: ComponentChildren }) => (
  <div class="field">
    <label for={rest.id}>{label}</label>
    <Select {...rest} />
    {hint && <p class="hint">{hint}</p>}
  </div>
)

/** The code and the message of a refusal. */
export const Refused = ({ id, error: { code, message } }: { id?: string; error: Refusal }) => (
  <p class="error" id={id} role="alert" tabIndex={-1}>
    <code>{code}</code> {message}
  </p>
)
