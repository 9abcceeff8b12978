import type { Timers } from '../../http/timers.js'
import type { Storage } from '../../storage/storage.js'

/**
 * Looks for news of a tenant. Returns the maximum number of milliseconds until the next look, or null after the last one.
 * @param isNews whether the tenant has changed; otherwise, the wait has begun or time has passed
 */
export type Look = (isNews: boolean) => number | null

/** Brings a tenant up to date, then calls back. */
type Refresh = Storage['refresh']

/** A wait that goes on until it is over or cancelled. */
export interface Wait {
  look(isNews: boolean): void
  /** Brings the tenant up to date, then looks. */
  lookAgain(): void
  cancel(): void
}

export type EventWaiters = ReturnType<typeof createEventWaiters>

/** The longest timer: a clock may be changed meanwhile. */
const LONGEST_MS = 60_000

/** The time after which a wait tries again, while the database cannot be used. */
const RETRY_MS = 1000

/** Creates the calls that wait for events, by tenant. They look after each request of it, and when a timer ends. */
export function createEventWaiters(timers: Timers) {
  const waits = new Map<string, Set<Wait>>()

  return {
    /**
     * Looks at once, and from then on until the wait is over.
     * @param refresh brings the tenant up to date before a timer lets the wait look
     * @param isLast whether a failure of `refresh` ends the wait. By default, it is tried again
     */
    wait(clientId: string, look: Look, refresh: Refresh, isLast = (_failure: Error) => false): Wait {
      const all = waits.get(clientId) ?? new Set()
      waits.set(clientId, all)
      let isOver = false
      let cancelTimer = () => {}

      const wait: Wait = {
        look(isNews) {
          if (isOver) return
          cancelTimer()
          const milliseconds = look(isNews)
          if (milliseconds === null) wait.cancel()
          else cancelTimer = timers.later(Math.min(milliseconds, LONGEST_MS), wait.lookAgain)
        },
        lookAgain() {
          refresh(clientId, error => {
            if (error === undefined) return wait.look(false)
            cancelTimer()
            if (isOver) return
            if (isLast(error)) wait.cancel()
            else cancelTimer = timers.later(RETRY_MS, wait.lookAgain)
          })
        },
        cancel() {
          isOver = true
          cancelTimer()
          all.delete(wait)
          if (all.size === 0 && waits.get(clientId) === all) waits.delete(clientId)
        },
      }
      all.add(wait)
      wait.look(false)
      return wait
    },
    /** Whether there are waits of a tenant. */
    has: (clientId: string): boolean => waits.has(clientId),
    /** Brings the tenants of all waits up to date, then lets them look. */
    lookAgain(): void {
      for (const of of [...waits.values()]) for (const wait of [...of]) wait.lookAgain()
    },
    /** Lets all waits of a tenant look. */
    wake(clientId: string): void {
      // Waits may end while they look.
      for (const wait of [...(waits.get(clientId) ?? [])]) wait.look(true)
    },
  }
}
