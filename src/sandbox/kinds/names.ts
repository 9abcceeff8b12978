import type { Area, AreaName } from '../../areas/index.js'
import { areaNames, areas } from '../../areas/index.js'
import { toNoun } from '../../core/words.js'

/** A row of the table of areas, with its names. */
export interface NamedArea extends Area {
  readonly name: AreaName
  /** The kind of its records, as in events, such as `payoutLink`. Those without states have one of the same form. */
  readonly kind: string
}

/** The areas with their names and kinds. */
export const kinds: readonly NamedArea[] = areaNames().map(name => {
  const area: Area = areas[name]
  return { ...area, name, kind: area.lifecycle?.kind ?? toNoun(name) }
})
