import type { Slices } from '../core/slices.js'
import { isSlices } from '../core/slices.js'

/** The size of a piece in characters, roughly. */
const PIECE = 64 * 1024

/**
 * Returns the text of `JSON.stringify(document, null, indent)` in pieces. The document can have any iterable for a list.
 * An item of a list is the most that is made at a time. It can be work in slices: then an empty piece follows each slice.
 */
export function* jsonPieces(document: object, indent = 0): Generator<string> {
  let piece = ''
  for (const text of textsOf(document, indent, 0)) {
    piece += text
    if (text === '') yield ''
    if (piece.length < PIECE) continue
    yield piece
    piece = ''
  }
  yield piece
}

/** Returns the text of the same document as a whole, in slices. Undefined: it has more characters than `most`. */
export function* jsonText(document: object, most: number): Slices<string | undefined> {
  let whole = ''
  for (const piece of jsonPieces(document)) {
    whole += piece
    if (whole.length > most) return undefined
    yield
  }
  return whole
}

/** Does some work, with an empty text after each slice. */
function* withPauses<T>(work: Slices<T>): Generator<string, T> {
  let step = work.next()
  for (; !step.done; step = work.next()) yield ''
  return step.value
}

/**
 * Returns a text in pieces. A pair of surrogates is in one of them.
 * @param size the most characters of a piece
 */
export function* textPieces(text: string, size = PIECE): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const isPair = /[\uD800-\uDBFF]/.test(text.charAt(start + size - 1))
    const piece = text.slice(start, start + (isPair ? size - 1 : size))
    yield piece
    start += piece.length
  }
}

function* textsOf(value: unknown, indent: number, level: number): Generator<string> {
  const [outer, inner] = [level, level + 1].map(depth => (indent === 0 ? '' : `\n${' '.repeat(indent * depth)}`))
  let isEmpty = true
  const next = (open: string) => {
    const text = `${isEmpty ? open : ','}${inner}`
    isEmpty = false
    return text
  }
  if (value === null || typeof value !== 'object') {
    yield JSON.stringify(value)
  } else if (Symbol.iterator in value) {
    for (const given of value as Iterable<unknown>) {
      const item = isSlices(given) ? yield* withPauses(given) : given
      // A text in JSON has no line breaks, so all of them are between values.
      yield next('[') + JSON.stringify(item, null, indent).replaceAll('\n', inner as string)
    }
    yield isEmpty ? '[]' : `${outer}]`
  } else {
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue
      yield `${next('{')}${JSON.stringify(name)}:${indent === 0 ? '' : ' '}`
      yield* textsOf(member, indent, level + 1)
    }
    yield isEmpty ? '{}' : `${outer}}`
  }
}
