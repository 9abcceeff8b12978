import type { ServerResponse } from 'node:http'
import { errors } from '../core/errors.js'

/** A request that has waited for a place for this time is refused. */
export const PATIENCE_MS = 30_000

/** Refuses a request that gets no place. @param what what is done in the places: `Too many large bodies arrive` */
export const tooMany = (what: string) => () =>
  errors.unavailable(`${what} at the moment. Repeat the request.`, { 'retry-after': '1' })

/** Watches a wait, which can end early with an error. Returns a function that stops it. */
type Watch = (giveUp: (reason: Error) => void) => () => void

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

/** The place of some work. */
export interface Place {
  /** Leaves it: the work is done. */
  leave(): void
  /** Gives it to others while the work waits for something else than the server, as far as that is possible. */
  pause(): void
  /** Takes it again after a pause. Returns undefined, or waits if there is no room. */
  goOn(): Promise<void> | undefined
}

export interface PlacesOptions {
  /** The most works of one owner that have a place or are paused. Default: any number. */
  readonly mostOfOwner?: number
  /** The most works that are paused: each keeps its memory. Default: none. */
  readonly mostPaused?: number
}

/** Some work that waits. */
interface Entry {
  readonly size: number
  /** Takes the room, and begins. */
  begin(): void
}

interface Owner {
  /** The works that have a place or are paused. */
  held: number
  /** First come, first served. */
  readonly waiting: Set<Entry>
  /** The paused works that wait to go on, before the others. */
  readonly returning: Set<Entry>
}

/**
 * Creates room for work that needs much time or memory. Work without room waits. Owners take turns, so that the works of one
 * do not hold up those of the others.
 * @param total the room for all work at a time. Work without others can need more
 */
export function createPlaces(total: number, { mostOfOwner = Infinity, mostPaused = 0 }: PlacesOptions = {}) {
  /** The owners that have room or wait for it, by name. The one that was served last is the last. */
  const owners = new Map<string, Owner>()
  let used = 0
  let paused = 0
  const hasRoom = (size: number) => used === 0 || used + size <= total

  /** Begins the work for which there is room. */
  function admit(): void {
    // An owner that is served comes again, behind the others.
    for (const [name, owner] of owners) {
      const { held, waiting, returning } = owner
      const [next] = returning.size > 0 || held >= mostOfOwner ? returning : waiting
      if (next === undefined) continue
      if (!hasRoom(next.size)) return
      owners.delete(name)
      owners.set(name, owner)
      returning.delete(next)
      waiting.delete(next)
      next.begin()
    }
  }

  function forget(name: string, { held, waiting }: Owner) {
    if (held === 0 && waiting.size === 0) owners.delete(name)
    admit()
  }

  /** Waits among the entries of an owner. Rejects when the watch gives up. @param take takes the room */
  function wait(name: string, owner: Owner, entries: Set<Entry>, size: number, watch: Watch, take: () => void) {
    return new Promise<void>((resolve, reject) => {
      let stop = () => {}
      const entry: Entry = {
        size,
        begin() {
          stop()
          take()
          resolve()
        },
      }
      entries.add(entry)
      admit()
      if (!entries.has(entry)) return
      stop = watch(reason => {
        entries.delete(entry)
        stop()
        reject(reason)
        forget(name, owner)
      })
    })
  }

  function placeOf(name: string, owner: Owner, size: number, watch: Watch): Place {
    let [isPaused, isLeft] = [false, false]
    const setPaused = (value: boolean) => {
      // A request whose connection is closed leaves, and can still wait for its client.
      if (isPaused === value || isLeft) return
      isPaused = value
      paused += value ? 1 : -1
      used += value ? -size : size
    }
    const goOn = () => setPaused(false)
    return {
      leave() {
        goOn()
        isLeft = true
        used -= size
        owner.held--
        forget(name, owner)
      },
      pause() {
        if (paused === mostPaused) return
        setPaused(true)
        admit()
      },
      goOn() {
        if (isPaused && !isLeft && !hasRoom(size)) return wait(name, owner, owner.returning, size, watch, goOn)
        goOn()
        return undefined
      },
    }
  }

  return {
    /**
     * Waits for room.
     * @param name the owner of the work, such as a client
     * @param watch is called if the work has to wait
     */
    async enter(name: string, watch: Watch = () => () => {}, size = 1): Promise<Place> {
      const owner = owners.get(name) ?? { held: 0, waiting: new Set(), returning: new Set() }
      owners.set(name, owner)
      await wait(name, owner, owner.waiting, size, watch, () => {
        owner.held++
        used += size
      })
      return placeOf(name, owner, size, watch)
    },
    /** The number of works of an owner that have a place, are paused or wait. */
    countOf(name: string): number {
      const owner = owners.get(name)
      return owner === undefined ? 0 : owner.held + owner.waiting.size
    },
    /** The room that is used, and the number of works that are paused or wait, for tests. */
    inUse: (): number => [...owners.values()].reduce((sum, { waiting }) => sum + waiting.size, used + paused),
  }
}
