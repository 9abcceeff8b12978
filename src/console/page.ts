import type { ComponentChildren } from 'preact'
import type { ControlPlane } from '../control/route.js'
import type { ErrorEnvelope } from '../core/errors.js'
import type { Scenario } from '../features/scenarios/files.js'
import type { Eventually } from '../http/request-context.js'
import type { Tenant } from '../tenants/tenant.js'

/** The parts of the server that the console shows and acts on. */
export interface ConsoleContext extends ControlPlane {
  /** The token of the control plane; undefined: it needs none. */
  readonly adminToken: string | undefined
}

/** The parameters of all pages. Each page reads those that it needs. */
export const PARAMETERS = [
  // The notice of an action with its signature, and the events of an advance.
  ...['client', 'notice', 'proof', 'after', 'until'],
  // Tables, and the form of a fault.
  ...['status', 'search', 'region', 'cursor', 'method', 'path', 'errors', 'hints', 'kind'],
  // The changes of the page: `requests`, or of all else.
  'of',
] as const
export type Query = Readonly<Record<string, string | undefined>>

/** The fields of a form by their names. */
export type Fields = Readonly<Record<string, string>>

/** What a page is made from. */
export interface Page {
  readonly context: ConsoleContext
  readonly tenant: Tenant
  /** The real time of the turn, in milliseconds. */
  readonly realNow: number
  /** The clients to choose from, by their ids. */
  readonly clients: readonly string[]
  readonly scenarios: readonly Scenario[]
  /** Below the console, without query: empty, or such as `/collections/COL-0001`. */
  readonly path: string
  readonly params: Fields
  readonly query: Query
  /** The form that was refused. */
  readonly refused?: { readonly fields: Fields; readonly error: ErrorEnvelope } | undefined
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
