import type { ComponentChildren } from 'preact'
import type { ControlPlane } from '../control/route.js'
import { isSame } from '../core/digests.js'
import type { ErrorEnvelope } from '../core/errors.js'
import type { Eventually } from '../http/request-context.js'
import type { Tenant } from '../tenants/tenant.js'
import type { CallFields } from './calls.js'

/** The parts of the server that the console shows and acts on. */
export interface ConsoleContext extends ControlPlane {
  /** The token of the control plane; undefined: it needs none. */
  readonly adminToken: string | undefined
}

/** The parameters of all pages. Each page reads those that it needs. */
export const PARAMETERS = [
  'client',
  // The notice of an action, and its signature.
  'notice',
  'proof',
  // Tables.
  'status',
  'search',
  'region',
  'cursor',
  'method',
  'path',
  'errors',
  'hints',
  // The events of an advance.
  'after',
  'until',
  // The form of a fault.
  'kind',
  // The changes of the page: `requests`, or of all else.
  'of',
] as const
export type Query = { readonly [name in (typeof PARAMETERS)[number]]?: string }

/** A call of a form that was refused. */
export interface Refused {
  readonly fields: CallFields
  readonly error: Omit<ErrorEnvelope, 'code'> & { readonly code: string }
}

/** What a page is made from. */
export interface Page {
  readonly context: ConsoleContext
  readonly tenant: Tenant
  /** The real time of the turn, in milliseconds. */
  readonly realNow: number
  /** The clients to choose from, by their ids. */
  readonly clients: readonly string[]
  /** Below the console, without query: empty, or such as `/collections/COL-0001`. */
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  readonly query: Query
  readonly refused?: Refused | undefined
  /** Whether the browser has a session of the admin token. */
  readonly isSignedIn: boolean
}

/** A row of the table of pages. */
export interface PageRow {
  /** Below the console, in Fastify's form. */
  readonly url: string
  title(page: Page): string
  /** Renders the content. What is not awaited is read in one turn. */
  view(page: Page): Eventually<ComponentChildren>
}

/** Returns the address of a path below `/_sandbox`, relative to a page: a proxy may serve it under a path of its own. */
export const addressOf = ({ path }: Pick<Page, 'path'>, target: string): string =>
  '../'.repeat(path.split('/').length - 1) + target

/** Returns the address of a page of the console for the same client, relative to a page. */
export function href(page: Page, path: string, query: Query = {}): string {
  const given = Object.entries({ client: page.tenant.clientId, ...query }).filter(([, value]) => value !== undefined)
  return `${addressOf(page, `console${path}`)}?${new URLSearchParams(given as [string, string][])}`
}

/** Returns the address of a page itself, with its query but the notice. */
export function ownAddress(page: Page): string {
  const { notice, proof, ...query } = page.query
  return href(page, page.path, query)
}

/** Signs the notice of an action, so that no link can put a text into a page. */
export const proofOf = ({ ids }: Tenant, notice: string): string => ids.sign('consoleNotice', notice)

/** Returns the notice of a page; undefined: it has none. */
export function noticeOf({ tenant, query: { notice, proof = '' } }: Page): string | undefined {
  return notice !== undefined && isSame(proof, proofOf(tenant, notice)) ? notice : undefined
}
