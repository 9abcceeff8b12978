/** The pages by their addresses. */
import type { ComponentType } from 'preact'
import { toTitle } from '../core/words.js'
import type { Address } from './address.js'
import { pageOf } from './app.js'
import { Coverage } from './pages/coverage.js'
import { ErrorEntry } from './pages/error.js'
import { Failures } from './pages/failures.js'
import { Overview } from './pages/overview.js'
import { Record } from './pages/record.js'
import { NewRecord, Records } from './pages/records.js'
import { Request, Requests } from './pages/requests.js'
import { NotFound, Sandbox } from './pages/sandbox.js'
import type { Kind } from './types.js'

export interface Page {
  readonly title: string
  // biome-ignore lint/suspicious/noExplicitAny: each page has props of its own
  readonly Content: ComponentType<any>
  readonly props: object
}

const page = <P extends object>(title: string, Content: ComponentType<P>, props: P): Page => ({ title, Content, props })

/** Returns the page of an address. */
export function pageFor({ segments, query }: Address, kinds: readonly Kind[]): Page {
  const [entry = '', reference, ...rest] = segments
  const kind = kinds.find(kind => pageOf(kind) === `/${entry}`)
  if (rest.length > 0) return page('Not Found', NotFound, {})
  if (kind !== undefined) {
    if (reference === undefined) return page(kind.title, Records, { kind })
    if (reference === 'new' && kind.isCreated) return page(`New ${kind.noun}`, NewRecord, { kind })
    return page(`${toTitle(kind.noun)} ${reference}`, Record, { kind, reference })
  }
  if (entry === 'requests' && reference !== undefined) return page(`Request ${reference}`, Request, { seq: reference })
  if (entry === 'errors' && reference !== undefined) return page(`Error ${reference}`, ErrorEntry, { code: reference })
  if (reference !== undefined) return page('Not Found', NotFound, {})
  if (entry === '') return page('Overview', Overview, {})
  if (entry === 'requests') return page('Requests', Requests, {})
  if (entry === 'failures') return page('Failures', Failures, {})
  if (entry === 'sandbox' || entry === 'client') return page('Sandbox', Sandbox, {})
  if (entry === 'coverage') return page(query.clients === 'all' ? 'Coverage of all clients' : 'Coverage', Coverage, {})
  return page('Not Found', NotFound, {})
}
