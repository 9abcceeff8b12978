import type { Timers } from './timers.js'

/** Somebody who waits for what happens to a tenant. */
export interface Follower {
  /** Looks whether something has happened. Answers when to look again at the latest, in milliseconds; null: it is over. */
  look(): number | null
}

/** Those who wait, by tenant. They look whenever a request has come to their tenant, and when they have said. */
export interface Waiting {
  /** Looks at once, and from then on until it is over or called off. */
  follow(clientId: string, follower: Follower): () => void
  /** Something may have happened to a tenant. */
  wake(clientId: string): void
}

/** Longer than that no timer is set: a clock may be changed in the meantime. */
const LONGEST_MS = 60_000

export function createWaiting(timers: Timers): Waiting {
  const waiting = new Map<string, Set<() => void>>()

  return {
    follow(clientId, follower) {
      const looks = waiting.get(clientId) ?? new Set()
      waiting.set(clientId, looks)
      let cancel = () => {}

      function leave() {
        cancel()
        looks.delete(look)
        if (looks.size === 0 && waiting.get(clientId) === looks) waiting.delete(clientId)
      }

      function look() {
        cancel()
        const again = follower.look()
        if (again === null) leave()
        else cancel = timers.later(Math.min(again, LONGEST_MS), look)
      }

      looks.add(look)
      look()
      return leave
    },
    wake(clientId) {
      for (const look of [...(waiting.get(clientId) ?? [])]) look()
    },
  }
}
