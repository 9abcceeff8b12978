/** The members of an object; none for any other value. */
export const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown>) : {}

/** Returns a member as text; undefined: it is no text. */
export function textAt(value: unknown, name: string): string | undefined {
  const member = membersOf(value)[name]
  return typeof member === 'string' ? member : undefined
}

const LONGEST = 40
const DATE_TIME = /^9999-99-99(T[9:.]*(Z|[+-]99:?99)?)?$/
/** A name of a state, a code or a member. Credentials have digits. */
const WORD = /^[A-Za-z]+([_-][A-Za-z]+)*$/

/**
 * Describes a value by its shape: letters become `a` or `A`, digits `9`.
 * @param showsWords shows words of up to 40 letters, such as the name of a state
 */
export function shapeOf(value: unknown, showsWords: boolean): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value !== 'string') return typeof value === 'object' ? 'an object' : `a ${typeof value}`
  if (value === '') return 'an empty text'
  const cut = value.length > LONGEST ? `${value.slice(0, LONGEST)}…` : value
  if (showsWords && WORD.test(cut)) return cut
  const digits = cut.replace(/\p{N}/gu, '9')
  if (DATE_TIME.test(digits)) return digits
  return digits
    .replace(/\p{Lu}/gu, 'A')
    .replace(/\p{L}/gu, character => (character === 'A' ? 'A' : 'a'))
    .replace(/[^\w\-.:/+ ,@…]/gu, '?')
}
