import type { TSchema } from '@sinclair/typebox'
import { JSON_TYPE } from './error-handler.js'
import { serializerOf } from './validation.js'

/** A reply of a route that answers with a text or bytes of its own. */
interface RawReply {
  type(contentType: string): { send(content: never): unknown }
}

// ------------------------------------------------------------------------------------------------------------ pages

/** A page as it was answered: good as long as its world has not changed. */
interface CachedPage {
  readonly world: WeakRef<object>
  readonly revision: number
  readonly content: string | Buffer
}

/** Whose page it is, and what was asked for. */
interface PageRequest {
  readonly url: string
  readonly tenant: { readonly clientId: string } | null
  readonly world: { readonly events: { last(): number } }
}

/** So many pages at most, of 35 kB by default and 180 kB at the largest. */
const MOST_PAGES = 64

// The latest one comes last.
const pages = new Map<string, CachedPage>()

/**
 * Answers with a page of records whose every change is an event. Who looks again while nothing has happened, as clients
 * do that wait for something, gets the page that is there: to find and write 100 records takes four times as long as all
 * the rest of a request.
 * @param schema of the list
 * @param read finds the page
 */
export function sendPage(reply: RawReply, request: PageRequest, schema: TSchema, read: () => object): void {
  const { url, tenant, world } = request
  const key = `${tenant?.clientId} ${url}`
  const revision = world.events.last()
  let page = pages.get(key)
  if (page?.world.deref() !== world || page.revision !== revision) {
    page = { world: new WeakRef(world), revision, content: contentOf(serializerOf(schema)(read())) }
    pages.delete(key)
    pages.set(key, page)
    if (pages.size > MOST_PAGES) dropOldest(pages)
  }
  reply.type(JSON_TYPE).send(page.content as never)
}

// ---------------------------------------------------------------------------------------------------------- records

/** A record with its latest event, which tells whether it has changed. */
interface Versioned {
  readonly record: object
  readonly latestEvent: number
}

/** A record as it was answered: good up to its next event. */
interface CachedRecord {
  readonly latestEvent: number
  readonly json: string
}

/** So many records at most, of half a kB each. */
const MOST_RECORDS = 1000

const records = new Map<Versioned, CachedRecord>()

/**
 * Answers with a record whose every change is an event. Who asks again how it stands, as clients do that wait for
 * something, gets the text that is there: to write it takes a sixth of what a request takes in process, and the request
 * log keeps one text instead of many.
 * @param schema of the record; an entry is always sent by the same one
 */
export function sendRecord(reply: RawReply, schema: TSchema, entry: Versioned): void {
  const { latestEvent } = entry
  let cached = records.get(entry)
  if (cached?.latestEvent !== latestEvent) {
    cached = { latestEvent, json: serializerOf(schema)(entry.record) }
    records.set(entry, cached)
    if (records.size > MOST_RECORDS) dropOldest(records)
  }
  reply.type(JSON_TYPE).send(cached.json as never)
}

// ------------------------------------------------------------------------------------------------------------- both

function dropOldest<K>(cache: Map<K, unknown>) {
  const [oldest] = cache.keys()
  cache.delete(oldest as K)
}

/** In bytes. A shorter Buffer would lie in a slab of many, all of which it would keep. */
const LARGE = 4096

/** A body that may be sent again: in UTF-8, if it is large, since to encode and count 30 kB takes as long as a request. */
const contentOf = (json: string): string | Buffer => (json.length < LARGE ? json : Buffer.from(json))

/** Whether an answer has a body that is there as a whole: a text, or bytes of one. */
export const isContent = (payload: unknown): payload is string | Buffer =>
  typeof payload === 'string' || Buffer.isBuffer(payload)
