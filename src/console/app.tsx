/** What all parts of a page know: the client, the kinds of records, and the ways to other pages. */
import type { ComponentChildren } from 'preact'
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Address } from './address.js'
import { addressOf, pathOf } from './address.js'
import type { AnyRecord, Client, Clock, Event, Kind } from './types.js'

export interface App {
  readonly address: Address
  readonly client: string
  readonly clients: readonly Client[]
  readonly kinds: readonly Kind[]
  readonly clock: Clock | undefined
  /** Whether the control plane asks for a token: commands then contain it. */
  readonly isLocked: boolean
  /** Goes to the address of a page. `replaces`: the way back leads past it. */
  go(href: string, replaces?: boolean): void
  /** Shows the notice of an action. */
  say(text: ComponentChildren, isRefused?: boolean): void
}

export const AppContext = createContext<App>(undefined as unknown as App)

/** Returns the app, with its links for the present client. */
export function useApp() {
  const app = useContext(AppContext)
  const href = (path: string, query?: Readonly<Record<string, string | undefined>>) =>
    addressOf(path, app.client, query)
  return { ...app, href }
}

/** Returns the path of the pages of a kind, such as `/payout-links`. */
export const pageOf = ({ title }: Kind): string => `/${title.toLowerCase().replaceAll(' ', '-')}`

export const referenceOf = ({ reference }: Kind, record: AnyRecord): string => String(record[reference])

/** Returns the name of a kind in events and in the records of a request. */
export const eventKindOf = ({ lifecycle, noun }: Kind): string => lifecycle?.kind ?? noun

/** Finds a kind by its name in events, or in counts; undefined: this release has none. */
export const kindNamed = (kinds: readonly Kind[], name: string): Kind | undefined =>
  kinds.find(kind => kind.name === name || eventKindOf(kind) === name)

/** Finds the kind of a record by its members: it can name records of other kinds, too. */
export function kindOfRecord(kinds: readonly Kind[], record: AnyRecord): Kind | undefined {
  const present = kinds.filter(({ reference }) => typeof record[reference] === 'string')
  return present.find(({ name, names }) =>
    present.every(other => other.name === name || names.some(one => one.name === other.name)),
  )
}

interface RecordLinkProps {
  readonly kind: string
  readonly reference: string
  /** The region, where several can have the reference. */
  readonly region?: string | undefined
}

/** A link to a record. A text that is not valid in a URL, or is of an unknown kind, is no link. */
export function RecordLink({ kind: name, reference, region }: RecordLinkProps) {
  const { kinds, href } = useApp()
  const kind = kindNamed(kinds, name)
  const path = kind && pathOf(pageOf(kind).slice(1), reference)
  if (kind === undefined || path === undefined) return <>{reference}</>
  return <a href={href(path, { region: kind.regions === 'EU' ? undefined : region })}>{reference}</a>
}

/** Whether an event is of a record. */
export const isOfRecord = (event: Pick<Event, 'kind' | 'reference'>, kind: Kind, reference: string): boolean =>
  event.kind === eventKindOf(kind) && event.reference === reference
