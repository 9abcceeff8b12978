import type { AreaName } from '../areas/index.js'
import type { Region } from '../core/rules/regions.js'
import type { Instant } from '../core/time/time.js'
import type { Entry } from './har.js'
import type { End, Json } from './sandbox.js'

/** A record of the capture. */
export interface Known {
  readonly area: AreaName
  readonly region: Region
  readonly reference: string
  /** As it was seen last; undefined: it was never seen whole. */
  record: Json | undefined
  /** The latest entry that has shown or changed it. */
  last: Entry
  /** The entry that has created it; undefined: it was there before. */
  readonly creation: Entry | undefined
  /** Whether it was made up, since the capture has not shown it. */
  isMadeUp: boolean
  /** Whether a difference was noted: nothing more of its state is. */
  isDisputed: boolean
  /** Whether the last answer was a summary. */
  isPartial: boolean
}

/** A client of the capture, and what the sandbox has in its place. */
export interface Group {
  readonly ends: readonly [End, End]
  readonly known: Map<string, Known>
  /** Own tokens by the number of the captured one, with the time at which it ends. */
  readonly tokens: Map<number, { readonly own: readonly string[]; readonly end: number }>
  /** The numbers of secrets that were accepted. */
  readonly secrets: Set<number>
  /** The latest changes. */
  readonly writes: Entry[]
  /** The time at which records without a time of creation were there before, in milliseconds. */
  since?: Instant
  /** Goes down with each record that was there before. */
  lowest: number
  /** The keys of records that the service has not found. */
  readonly absent: Set<string>
  /** The last record of the page that has given a cursor. */
  readonly cursors: Map<string, string>
  /** The latest total of a list above the number of records that were seen, which may show themselves later. */
  readonly surplus: Map<string, { readonly entry: Entry; readonly lowest: number }>
}

export const keyOf = (area: AreaName, region: Region, reference: string) => `${area} ${region} ${reference}`
