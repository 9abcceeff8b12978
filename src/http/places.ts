import type { ServerResponse } from 'node:http'
import { errors } from '../core/errors.js'

/** A request that has waited for a place for this time is refused. */
export const PATIENCE_MS = 30_000

/** Refuses a request that gets no place. @param what what is done in the places: `Too many large bodies arrive` */
export const tooMany = (what: string) => () =>
  errors.unavailable(`${what} at the moment. Repeat the request.`, { 'retry-after': '1' })

/** Watches a wait, which can end early with an error. Returns a function that stops it. */
export type Watch = (giveUp: (reason: Error) => void) => () => void

/**
 * Watches the wait of a request. It ends with a refusal when the connection is closed, and when the patience ends.
 * @param patience does some work later. Returns a function that cancels it
 */
export const watchOf =
  (raw: ServerResponse, patience: (work: () => void) => () => void, refusal: () => Error): Watch =>
  giveUp => {
    const refuse = () => giveUp(refusal())
    const cancel = patience(refuse)
    raw.once('close', refuse)
    return () => {
      cancel()
      raw.off('close', refuse)
    }
  }

export type Places = ReturnType<typeof createPlaces>

/**
 * Creates room for work that needs much memory. Work without room waits, first come, first served.
 * @param total the room for all work at a time. Work without others can need more
 */
export function createPlaces(total: number) {
  let used = 0
  const waiting = new Set<{ readonly size: number; begin(): void }>()
  const hasRoom = (size: number) => used === 0 || used + size <= total

  /** Begins the work for which there is room. */
  function admit(): void {
    for (const next of waiting) {
      if (!hasRoom(next.size)) return
      used += next.size
      next.begin()
    }
  }

  return {
    /** Waits for room. Returns a function that leaves it. @param watch is called if the work has to wait */
    async enter(watch: Watch = () => () => {}, size = 1): Promise<() => void> {
      if (waiting.size === 0 && hasRoom(size)) used += size
      else {
        await new Promise<void>((resolve, reject) => {
          const end = (settle: () => void) => {
            waiting.delete(entry)
            stop()
            settle()
          }
          const entry = { size, begin: () => end(resolve) }
          const stop = watch(reason => {
            end(() => reject(reason))
            admit()
          })
          waiting.add(entry)
        })
      }
      return () => {
        used -= size
        admit()
      }
    },
    /** The room that is used, and the number of works that wait, for tests. */
    inUse: (): number => used + waiting.size,
  }
}
