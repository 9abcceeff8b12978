import { setImmediate } from 'node:timers/promises'
import { messageOf } from '../../http/event-stream.js'
import { inSlices } from '../../http/slices.js'
import type { LoggedExchange, RequestFilter, RequestLog, RequestPage } from './request-log.js'
import { whole } from './request-log.js'

/** The maximum number of pages that readers share at a time. */
const MOST_SHARED = 8

export type RequestReads = ReturnType<typeof createRequestReads>

/**
 * Creates the reads of the log for the streams of a server: one reader after another, and other requests in between.
 * Readers that look at the same news share what is read and its text.
 */
export function createRequestReads(requestLog: RequestLog, elapsed: () => number) {
  const pages = new Map<string, Promise<RequestPage>>()
  /** The texts of the exchanges of these pages. */
  const messages = new WeakMap<LoggedExchange, Buffer>()
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0

  return {
    /** There is news: what was read before is not shared any more. */
    expire: () => pages.clear(),
    /** Reads the log when it is the reader's turn, which lasts until the reader has taken the page. */
    read(client: string, filter: RequestFilter, take: (page: RequestPage) => Promise<void>): Promise<void> {
      const key = JSON.stringify([client, filter])
      const taken = last.then(async () => {
        const page = pages.get(key) ?? Promise.resolve(requestLog.list(client, filter))
        if (pages.size === MOST_SHARED) pages.clear()
        pages.set(key, page)
        await take(await page)
      })
      waiting++
      last = taken
        .catch(() => {})
        .then(() => {
          if (--waiting === 0) pages.clear()
          return setImmediate()
        })
      return taken
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
