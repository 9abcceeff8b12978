import { isObject } from '../http/json-body.js'
import { MASK } from '../http/masking.js'
import type { Json } from './contract.js'

/** A member that differs. Undefined if it is absent. */
export interface Difference {
  readonly path: readonly string[]
  readonly service: unknown
  readonly sandbox: unknown
}

/** A record as the service and the sandbox have shown it last. */
export interface Shown {
  readonly theirs?: Json
  readonly ours?: Json
}

/** The members that a server makes: they are paired when they first appear. */
const MADE = /^(?:access_token|refresh_token|documentId|nextCursor|payoutLinkId|sha256|url)$/
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/
/** The clocks of the service and the sandbox can differ by this time, in milliseconds. */
export const HOUR = 3_600_000

export type Pairs = ReturnType<typeof createPairs>

/** Creates the pairs of values that the service and the sandbox have made for the same thing. */
export function createPairs() {
  const [ours, theirs] = [new Map<string, string>(), new Map<string, string>()]
  return {
    /** Returns the value of the sandbox for one of the service, which can be the same. */
    ours: (value: string): string => ours.get(value) ?? value,
    theirs: (value: string): string => theirs.get(value) ?? value,
    has: (value: string): boolean => ours.has(value),
    /** Pairs two values. Returns whether neither is paired with another one. */
    pair(service: string, sandbox: string): boolean {
      if (ours.get(service) === sandbox) return true
      if (ours.has(service) || theirs.has(sandbox)) return false
      ours.set(service, sandbox)
      theirs.set(sandbox, service)
      return true
    },
  }
}

/** Lists the members that differ. @param last the record as both have shown it last */
export function differencesOf(
  theirs: Json,
  ours: Json,
  pairs: Pairs,
  last: Shown = {},
  path: readonly string[] = [],
): Difference[] {
  if (theirs === ours || theirs === MASK) return []
  if (isObject(theirs) && isObject(ours)) {
    const names = Object.keys({ ...theirs, ...ours }).filter(name => theirs[name] !== ours[name])
    return names.flatMap(name => {
      const inner = { theirs: last.theirs?.[name], ours: last.ours?.[name] }
      return differencesOf(theirs[name], ours[name], pairs, inner, [...path, name])
    })
  }
  if (typeof theirs === 'string' && typeof ours === 'string') {
    if (MADE.test(path.at(-1) ?? '') && pairs.pair(theirs, ours)) return []
    const isInstant = INSTANT.test(theirs) && INSTANT.test(ours)
    // An instant that has been shown stays.
    const isSame = last.ours === ours ? last.theirs === theirs : Math.abs(Date.parse(theirs) - Date.parse(ours)) <= HOUR
    if (isInstant && isSame) return []
  }
  return [{ path, service: theirs, sandbox: ours }]
}

/** Returns the form of a value: differences of one form have one cause. */
export const formOf = (value: unknown): string =>
  typeof value !== 'string' || /^[A-Z_]+$/.test(value)
    ? String(JSON.stringify(value))
    : value
        .replace(/\p{Lu}+/gu, 'A')
        .replace(/\p{Ll}+/gu, 'a')
        .replace(/\d+/g, '9')
