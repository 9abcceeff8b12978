import type { Area, AreaName } from '../../areas/index.js'
import { areas, byUse } from '../../areas/index.js'
import { toNoun } from '../../core/words.js'

/** A row of the table of areas, with its names. */
export interface Kind extends Area {
  readonly name: AreaName
  /** The name of one record, such as `payout link`. */
  readonly noun: string
  /** The kind of its records, as in events, such as `payoutLink`. Those without states have one of the same form. */
  readonly kind: string
}

/** The kinds of records, the most used ones first. */
export const kinds: readonly Kind[] = byUse().map(name => {
  const area: Area = areas[name]
  const noun = toNoun(name)
  return { ...area, name, noun, kind: area.lifecycle?.kind ?? noun }
})
