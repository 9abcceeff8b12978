/** Patterns in which `*` stands for any run of characters, slashes included; all else stands for itself. */

/** Whether a text matches. Linear in practice: the text is bounded by the size of a request line. */
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

/** What the value of a parameter in a path template can be: so many of such characters. */
export interface PathParameter {
  readonly least: number
  readonly most: number
  allows(character: string): boolean
}

/** One character that a path of a template has, or may have. */
interface Step {
  readonly isOptional: boolean
  allows(character: string): boolean
}

const literal = (own: string): Step => ({ isOptional: false, allows: character => character === own })

const stepsOf = ({ least, most, allows }: PathParameter): Step[] =>
  Array.from({ length: most }, (_, at) => ({ isOptional: at >= least, allows }))

/**
 * Whether some path is of a template, such as `/bills/{uniqueReferenceIdentifier}`, and matches a pattern, too.
 * @param parameter what stands for the template's parameter, if it has any
 */
export function canMeet(pattern: string, template: string, parameter?: PathParameter): boolean {
  const steps = template
    .split(/(\{[^}]+\})/)
    .flatMap(part => (parameter !== undefined && part.startsWith('{') ? stepsOf(parameter) : [...part].map(literal)))

  // The places in the template that some text can have led to which the pattern, as far as it has been read, matches.
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

  /** With the places behind what may be left out. A set is walked in order, and what is added on the way, too. */
  function withOptional(reached: Set<number>): Set<number> {
    for (const at of reached) if (steps[at]?.isOptional) reached.add(at + 1)
    return reached
  }
}
