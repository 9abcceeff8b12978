import type { AreaName } from '../areas/index.js'
import type { Region } from '../core/rules/regions.js'
import type { Instant } from '../core/time/time.js'
import type { Entry } from './har.js'
import type { End, Json } from './sandbox.js'

/**
 * How far the capture has shown a record. A made-up one explains an answer. Of a disputed one, a difference was noted, and
 * nothing more of its state is.
 */
export type Standing = 'named' | 'absent' | 'made up' | 'shown' | 'disputed'

/** A record that the capture names. */
export interface Known {
  readonly area: AreaName
  readonly region: Region
  readonly reference: string
  standing: Standing
  /** As it was seen last; undefined: it was never seen whole. */
  record: Json | undefined
  /** The latest entry that has shown or changed it. */
  last: Entry | undefined
  /** The entry that has created it; undefined: it was there before. */
  creation: Entry | undefined
  /** Whether the last answer was a summary. */
  isPartial: boolean
}

/** A client of the capture, and what the sandbox has in its place. */
export interface Group {
  readonly ends: readonly [End, End]
  /** The records by area, region and reference. */
  readonly known: Map<string, Known>
  /** Own tokens by the number of the captured one, with the time at which it ends. */
  readonly tokens: Map<number, { readonly own: readonly string[]; readonly end: number }>
  /** The number of the secret that was accepted. */
  secret?: number
  /** The time at which records without a time of creation were there before, in milliseconds. */
  since?: Instant
  /** Goes down with each record that was there before. */
  lowest: number
  /** The last record of the page that has given a cursor. */
  readonly cursors: Map<string, Known>
}

export const createGroup = (ends: Group['ends']): Group => ({
  ends,
  known: new Map(),
  tokens: new Map(),
  lowest: 0,
  cursors: new Map(),
})

/** Returns the record with a reference. */
export function recordIn({ known: records }: Group, area: AreaName, region: Region, reference: string): Known {
  const key = `${area} ${region} ${reference}`
  const known = records.get(key) ?? {
    ...{ area, region, reference, record: undefined, last: undefined, creation: undefined },
    ...{ standing: 'named' as const, isPartial: false },
  }
  records.set(key, known)
  return known
}

export const isShown = ({ standing }: Known): boolean => standing === 'shown' || standing === 'disputed'
