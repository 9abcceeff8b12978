import type { ServerResponse } from 'node:http'
import { createQueue } from './slices.js'

/** The maximum size of all that readers have not taken, in bytes. */
const MOST_UNSENT = 32 * 1024 * 1024

/** Returns the text of a server-sent event (WHATWG HTML §9.2). @param data JSON */
export const messageOf = (id: number, event: string, data: string): string =>
  `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`

export type Backlog = ReturnType<typeof createBacklog>

/** Creates the backlog of the streams and pages of a server: what their readers have not taken. */
export function createBacklog(elapsed?: () => number) {
  /** The sizes in bytes. The answer that has waited longest comes first. */
  const sizes = new Map<ServerResponse, number>()
  let total = 0

  function remove(raw: ServerResponse): void {
    total -= sizes.get(raw) ?? 0
    sizes.delete(raw)
  }

  return {
    remove,
    /** Lets a stream go on whose reader has taken all. Other requests come in between, however fast the readers are. */
    goOn: createQueue(elapsed),
    /** The number of answers whose readers have not taken all, for tests. */
    size: (): number => sizes.size,
    /**
     * Counts what a reader has not taken. Closes the answers that have waited longest, if there is too much.
     * @param waits whether it waits for its reader
     */
    add(raw: ServerResponse, waits = raw.writableNeedDrain): void {
      remove(raw)
      if (!waits) return
      sizes.set(raw, raw.writableLength)
      total += raw.writableLength
      for (const oldest of sizes.keys()) {
        if (total <= MOST_UNSENT) return
        remove(oldest)
        oldest.destroy()
      }
    },
  }
}
