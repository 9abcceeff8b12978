import type { Timers } from './timers.js'

/** Somebody who waits for what happens to a tenant. */
export interface Follower {
  /** Looks whether something has happened. Answers when to look again at the latest, in milliseconds; null: it is over. */
  look(): number | null
}

/** A wait that goes on until it is over or called off. */
export interface Following {
  /** Has the follower look now. */
  look(): void
  /** Calls it off. */
  leave(): void
}

/** Those who wait, by tenant. They look whenever a request has come to their tenant, and when they have said. */
export interface Waiting {
  /** Has a follower look at once, and from then on. */
  follow(clientId: string, follower: Follower): Following
  /** Something may have happened to a tenant. */
  wake(clientId: string): void
}

/** Longer than that no timer is set: a clock may be changed in the meantime. */
const LONGEST_MS = 60_000

export function createWaiting(timers: Timers): Waiting {
  const waiting = new Map<string, Set<Following>>()

  return {
    follow(clientId, follower) {
      const all = waiting.get(clientId) ?? new Set()
      waiting.set(clientId, all)
      let isOver = false
      let cancel = () => {}

      const following: Following = {
        look() {
          if (isOver) return
          cancel()
          const again = follower.look()
          if (again === null) following.leave()
          else cancel = timers.later(Math.min(again, LONGEST_MS), following.look)
        },
        leave() {
          isOver = true
          cancel()
          all.delete(following)
          if (all.size === 0 && waiting.get(clientId) === all) waiting.delete(clientId)
        },
      }
      all.add(following)
      following.look()
      return following
    },
    wake(clientId) {
      const all = waiting.get(clientId)
      // They may leave while they look.
      if (all !== undefined) for (const following of [...all]) following.look()
    },
  }
}
