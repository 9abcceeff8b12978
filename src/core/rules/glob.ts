/** Returns a test for a pattern in which `*` matches any text, with slashes. All other characters match themselves. */
export function createGlob(pattern: string): (text: string) => boolean {
  if (!pattern.includes('*')) return text => text === pattern
  const parts = pattern.split(/\*+/)
  const first = parts[0] as string
  const last = parts.at(-1) as string
  const between = parts.slice(1, -1)
  return text => {
    if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false
    const end = text.length - last.length
    let at = first.length
    for (const part of between) {
      const found = text.indexOf(part, at)
      if (found < 0 || found + part.length > end) return false
      at = found + part.length
    }
    return true
  }
}

/** The allowed length and characters of a path parameter. */
export interface PathParameter {
  readonly least: number
  readonly most: number
  allows(character: string): boolean
}

/** One required or optional character of a path. */
interface Step {
  readonly isOptional: boolean
  allows(character: string): boolean
}

const literal = (own: string): Step => ({ isOptional: false, allows: character => character === own })

const stepsOf = ({ least, most, allows }: PathParameter): Step[] =>
  Array.from({ length: most }, (_, at) => ({ isOptional: at >= least, allows }))

/**
 * Whether a pattern matches any path of a template, such as `/bills/{uniqueReferenceIdentifier}`.
 * @param parameter the allowed values of the template's parameter, if it has one
 */
export function canMeet(pattern: string, template: string, parameter?: PathParameter): boolean {
  const steps = template
    .split(/(\{[^}]+\})/)
    .flatMap(part => (parameter !== undefined && part.startsWith('{') ? stepsOf(parameter) : [...part].map(literal)))

  // The positions in the template that the pattern, as far as it has been read, can reach.
  let places = withOptional(new Set([0]))
  for (const character of pattern) {
    if (character === '*') {
      const first = Math.min(...places)
      places = new Set(Array.from({ length: steps.length - first + 1 }, (_, at) => first + at))
    } else {
      places = withOptional(new Set([...places].filter(at => steps[at]?.allows(character)).map(at => at + 1)))
    }
    if (places.size === 0) return false
  }
  return places.has(steps.length)

  /** Adds the positions after optional characters. The loop also visits the added ones. */
  function withOptional(reached: Set<number>): Set<number> {
    for (const at of reached) if (steps[at]?.isOptional) reached.add(at + 1)
    return reached
  }
}
