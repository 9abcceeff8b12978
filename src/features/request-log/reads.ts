import { setImmediate } from 'node:timers/promises'
import { messageOf } from '../../http/event-stream.js'
import { inSlices } from '../../http/slices.js'
import type { LoggedExchange, RequestFilter, RequestLog, RequestPage } from './request-log.js'
import { whole } from './request-log.js'

/** The maximum number of pages that readers share at a time. */
const MOST_SHARED = 8

export type RequestReads = ReturnType<typeof createRequestReads>

/**
 * Creates the reads of the log for the streams of a server: one reader of a client after another, and other requests in
 * between. Readers that look at the same news share what is read and its text.
 */
export function createRequestReads(requestLog: RequestLog, elapsed: () => number) {
  const pages = new Map<string, Promise<RequestPage>>()
  /** The texts of the exchanges of these pages. */
  const messages = new WeakMap<LoggedExchange, Buffer>()
  /** The ends of the last turns, by client. */
  const ends = new Map<string, Promise<unknown>>()

  return {
    /** There is news: what was read before is not shared any more. */
    expire: () => pages.clear(),
    /** Does the work of a reader when it is its turn among those of a client. */
    inTurn(client: string, work: () => Promise<void>): Promise<void> {
      const done = (ends.get(client) ?? Promise.resolve()).then(work)
      const end = done
        .catch(() => {})
        .then(() => {
          if (ends.get(client) !== end) return setImmediate()
          ends.delete(client)
          pages.clear()
          return undefined
        })
      ends.set(client, end)
      return done
    },
    /** Reads a page of the log. */
    read(client: string, filter: RequestFilter): Promise<RequestPage> {
      const key = JSON.stringify([client, filter])
      const page = pages.get(key) ?? Promise.resolve(requestLog.list(client, filter))
      if (pages.size === MOST_SHARED) pages.clear()
      pages.set(key, page)
      return page
    },
    async messageOf(logged: LoggedExchange): Promise<Buffer> {
      const known = messages.get(logged)
      if (known !== undefined) return known
      const text = JSON.stringify(await inSlices(whole(logged), elapsed))
      const message = Buffer.from(messageOf(logged.seq, 'request', text))
      messages.set(logged, message)
      return message
    },
  }
}
