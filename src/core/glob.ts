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

/** One step of a pattern: a character, any one but a slash, or a run of any characters, or of any but slashes. */
type Step = string | symbol
const ANY = Symbol('any run of characters')
const SEGMENT = Symbol('any run of characters but slashes')
const ONE = Symbol('any character but a slash')

const isRun = (step: Step | undefined) => step === ANY || step === SEGMENT
/** Whether a character, or one that is free, can be part of a run or stand where another step is. */
const fits = (place: Step, single: Step) =>
  place === ANY ||
  (typeof place === 'string' && typeof single === 'string' ? place === single : place !== '/' && single !== '/')

/**
 * Whether some path is of a template, such as `/bills/{uniqueReferenceIdentifier}`, and matches a pattern, too.
 * A parameter of the template stands for one character or more that are no slashes.
 */
export function canMeet(pattern: string, template: string): boolean {
  const left = [...pattern].map<Step>(character => (character === '*' ? ANY : character))
  const right = template.split(/(\{[^}]+\})/).flatMap<Step>(part => (part.startsWith('{') ? [ONE, SEGMENT] : [...part]))
  const dead = new Set<number>()

  /** Whether the rest of the pattern and the rest of the template have a text in common. */
  function meet(i: number, j: number): boolean {
    const a = left[i]
    const b = right[j]
    if (a === undefined && b === undefined) return true
    const key = i * (right.length + 1) + j
    if (dead.has(key)) return false
    const areBoth = a !== undefined && b !== undefined && fits(isRun(b) ? b : a, isRun(b) ? a : b)
    const found =
      (isRun(a) && meet(i + 1, j)) ||
      (isRun(b) && meet(i, j + 1)) ||
      (areBoth && !(isRun(a) && isRun(b)) && meet(isRun(a) ? i : i + 1, isRun(b) ? j : j + 1))
    if (!found) dead.add(key)
    return found
  }
  return meet(0, 0)
}
