import type { TSchema } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import type { ComponentChildren } from 'preact'
import type { Region } from '../core/domain/regions.js'
import { REGIONS } from '../core/domain/regions.js'
import type { ErrorEnvelope } from '../core/errors.js'
import { OneOf } from '../core/schemas.js'
import type { Eventually } from '../http/request-context.js'
import type { ControlPlane } from '../sandbox/route.js'
import type { Scenario } from '../sandbox/scenarios/files.js'
import type { Tenant } from '../tenants/tenant.js'
import type { AnyRecord } from './kinds.js'

/** The parts of the server that the console shows and acts on. */
export interface ConsoleContext extends ControlPlane {
  /** The token of the control plane; undefined: it needs none. */
  readonly adminToken: string | undefined
}

/** The longest text of a parameter, in characters. */
export const LONGEST_TEXT = 1000
const text = Type.String({ maxLength: LONGEST_TEXT, 'x-expected': `a text of at most ${LONGEST_TEXT} characters` })
/** A number of at most some digits. */
export const digits = (most: number) =>
  Type.String({ pattern: `^\\d{1,${most}}$`, 'x-expected': `a number of at most ${most} digits` })
/** A status of answers, or a class of them. */
export const HttpStatuses = Type.String({
  pattern: '^[1-5](\\d\\d|[xX]{2})$',
  'x-expected': 'a status such as 404, or 4xx',
})

/** The parameters of all pages. Each page reads those that it needs. */
export const PARAMETERS = {
  client: text,
  // The notice of an action with its signature, and the events of an advance.
  notice: text,
  proof: text,
  after: digits(15),
  until: digits(15),
  // Tables, and the form of a fault.
  status: text,
  search: text,
  region: OneOf(...REGIONS),
  cursor: text,
  method: text,
  path: text,
  errors: text,
  hints: text,
  kind: Type.String({ maxLength: 50, 'x-expected': 'the kind of a fault' }),
} as const
export type Query = Readonly<Record<string, string | undefined>>

/** Texts by their names: the fields of a form, or the parameters of a path. */
export type Fields = Readonly<Record<string, string>>

/**
 * A call of the control plane or of the API. Every action of the console is one: it is sent to the server itself, so
 * that its checks, errors, log and transaction are those of the same call by a program.
 */
export interface Call {
  /** The method and the URL of its route in the table, such as `DELETE /_sandbox/faults/:id`. */
  readonly route: string
  /** The parameters of the path. */
  readonly params?: Fields
  /** The value of `x-region`, for calls of the API. */
  readonly region?: string | undefined
  /** A buffer is a file. */
  readonly body?: object | undefined
}

/** What a page is made from. */
export interface Page {
  readonly context: ConsoleContext
  readonly tenant: Tenant
  /** The address of the server for the reader, without a trailing slash. */
  readonly publicUrl: string
  /** The real time of the transaction, in milliseconds. */
  readonly realNow: number
  /** The clients to choose from, by their ids. */
  readonly clients: readonly string[]
  readonly scenarios: readonly Scenario[]
  /** Below the console, without query: empty, or such as `/collections/COL-0001`. */
  readonly path: string
  readonly params: Fields
  readonly query: Query & { readonly region?: Region }
  /** The form that was refused. Without a call, it is that of the filters. */
  readonly refused?: { readonly fields: Fields; readonly call?: Call; readonly error: ErrorEnvelope } | undefined
}

/** A row of the table of pages. */
export interface PageRow {
  /** Below the console, in Fastify's form. */
  readonly url: string
  /** Its parameters, where they have other schemas than `PARAMETERS`, and those of its path. */
  readonly query?: Readonly<Record<string, TSchema>>
  readonly params?: TSchema
  /** The parameters that have fields on the page. */
  readonly filters?: readonly string[]
  /** Returns the page that follows an action, by its answer. Without it, the same page follows. */
  next?(answer: AnyRecord): string
  title(page: Page): string
  /** Renders the content. What is not awaited is read in one transaction. */
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
