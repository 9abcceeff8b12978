import type { TSchema } from '@sinclair/typebox'
import { JSON_TYPE } from './error-handler.js'
import { serializerOf } from './validation.js'

/** A page as it was answered: good as long as its world has not changed. */
interface CachedPage {
  readonly world: WeakRef<object>
  readonly revision: number
  /** In UTF-8: of 30 kB, to encode them anew and to count them takes as long as all the rest of a request. */
  readonly bytes: Buffer
}

/** Whose page it is, and what was asked for. */
interface PageRequest {
  readonly url: string
  readonly tenant: { readonly clientId: string } | null
  readonly world: { readonly events: { last(): number } }
}

/** A reply of a route whose answer is a list. */
interface ListReply {
  type(contentType: string): { send(page: never): unknown }
}

/** So many pages at most, of 35 kB by default and 180 kB at the largest. */
const MOST = 64

// The latest one comes last.
const pages = new Map<string, CachedPage>()

/**
 * Answers with a page of records whose every change is an event. Who looks again while nothing has happened, as clients
 * do that wait for something, gets the page that is there: to find and write 100 records takes four times as long as all
 * the rest of a request.
 * @param schema of the list
 * @param read finds the page
 */
export function sendPage(reply: ListReply, request: PageRequest, schema: TSchema, read: () => object): void {
  const { url, tenant, world } = request
  const key = `${tenant?.clientId} ${url}`
  const revision = world.events.last()
  let page = pages.get(key)
  if (page?.world.deref() !== world || page.revision !== revision) {
    page = { world: new WeakRef(world), revision, bytes: Buffer.from(serializerOf(schema)(read())) }
    pages.delete(key)
    pages.set(key, page)
    if (pages.size > MOST) pages.delete(pages.keys().next().value as string)
  }
  reply.type(JSON_TYPE).send(page.bytes as never)
}

/** Whether an answer has a body that is there as a whole: a text, or a page as it was kept. */
export const isContent = (payload: unknown): payload is string | Buffer =>
  typeof payload === 'string' || Buffer.isBuffer(payload)
