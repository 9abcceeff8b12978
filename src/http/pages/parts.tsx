import type { ComponentChildren } from 'preact'

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

export interface CardProps {
  readonly id: string
  readonly title: ComponentChildren
  readonly aside?: ComponentChildren
  readonly children: ComponentChildren
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

/** A value of a list, with its text where that is another. */
export type Option = string | readonly [value: string | number, text: string]

interface ChoiceProps {
  readonly id: string
  readonly name?: string
  readonly label: string
  readonly options: readonly Option[]
  /** The value that is chosen. */
  readonly value: string | undefined
  /** Further attributes of the list. */
  readonly rest?: object
}

/** A list of values with its label. */
export const Choice = ({ id, name = id, label, options, value, rest }: ChoiceProps) => (
  <>
    <label for={id}>{label}</label>
    <select {...rest} id={id} name={name}>
      {options
        .map(option => (typeof option === 'string' ? ([option, option] as const) : option))
        .map(([one, text]) => (
          <option key={one} value={one} selected={String(one) === value}>
            {text}
          </option>
        ))}
    </select>
  </>
)
