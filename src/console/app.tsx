/** What all parts of a page know: the client, the kinds of records, and the ways to other pages. */
import type { ComponentChildren } from 'preact'
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { toWords } from '../core/words.js'
import { addressOf as targetOf } from '../sandbox/request-log/address.js'
import type { Address } from './address.js'
import { addressOf, pathOf } from './address.js'
import { useAnswer, withClient } from './api.js'
import { HttpStatus } from './parts.js'
import type { AnyRecord, Client, Clock, Event, Kind, LoggedRequest } from './types.js'

export interface App {
  readonly address: Address
  readonly client: string
  readonly clients: readonly Client[]
  readonly kinds: readonly Kind[]
  readonly clock: Clock | undefined
  /** The reason codes with their names. */
  readonly reasons: readonly { readonly code: string; readonly name: string }[]
  /** Whether the control plane asks for a token: commands then contain it. */
  readonly isLocked: boolean
  /** Goes to the address of a page. `replaces`: the way back leads past it. */
  go(href: string, replaces?: boolean): void
  /** Shows the notice of an action. */
  say(text: ComponentChildren, isRefused?: boolean): void
}

export const AppContext = createContext<App>(undefined as unknown as App)

/** Returns the app, with the present client as it is listed, and links for it. */
export function useApp() {
  const app = useContext(AppContext)
  const href = (path: string, query?: Readonly<Record<string, string | undefined>>) =>
    addressOf(path, app.client, query)
  const own: Partial<Client> = app.clients.find(({ clientId }) => clientId === app.client) ?? {}
  /** Returns a reason code with its name, such as `AM04 insufficient funds`. */
  const reasonOf = (code: string) =>
    `${code} ${toWords(app.reasons.find(one => one.code === code)?.name ?? '').trim()}`.trim()
  return { ...app, own, href, reasonOf }
}

/** Reads a path of the control plane for the present client, as `useAnswer`. */
export function useOwn<T>(path: string | undefined, isFixed = false) {
  const { client } = useContext(AppContext)
  return useAnswer<T>(path && withClient(path, client), isFixed)
}

/** Returns the path of the pages of a kind, such as `/payout-links`. */
export const pageOf = ({ title }: Kind): string => `/${title.toLowerCase().replaceAll(' ', '-')}`

export const referenceOf = ({ reference }: Kind, record: AnyRecord): string => String(record[reference])

/** Returns the name of a kind in events and in the records of a request. */
export const eventKindOf = ({ lifecycle, noun }: Kind): string => lifecycle?.kind ?? noun

/** Finds a kind by its name in events, or in counts, or undefined if this release has none. */
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

/** A link to a logged request, with the status of its answer. */
export function RequestLink({ request }: { request: LoggedRequest }) {
  const { href } = useApp()
  return (
    <>
      <a href={href(`/requests/${request.seq}`)}>
        {request.method} {targetOf(request)}
      </a>{' '}
      <HttpStatus of={request.status} />
    </>
  )
}

/** Whether an event is of a record. */
export const isOfRecord = (event: Pick<Event, 'kind' | 'reference'>, kind: Kind, reference: string): boolean =>
  event.kind === eventKindOf(kind) && event.reference === reference
