import fc from 'fast-check'
import { codePoint } from '../code-point.js'
import type { Json } from './contract.js'
import { resolve } from './contract.js'

/** A value inside a schema that may have references. */
export interface Place {
  /** The members and elements that lead to it; empty: the whole value. */
  readonly path: readonly (string | number)[]
  readonly schema: Json
}

/** Lists all places of a value: itself, its members, and the first element of its arrays. */
export function placesOf(document: Json, reference: Json, path: Place['path'] = []): Place[] {
  const schema = resolve(document, reference)
  const parts = [...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
  return [
    { path, schema },
    ...Object.entries<Json>(schema.properties ?? {}).flatMap(([name, member]) =>
      placesOf(document, member, [...path, name]),
    ),
    ...(schema.items ? placesOf(document, schema.items, [...path, 0]) : []),
    ...parts.flatMap((part: Json) => placesOf(document, part, path)),
  ]
}

/** Returns a copy of a value with another value at a place; undefined removes the member. */
export function replaceAt(whole: Json, [name, ...rest]: Place['path'], value: unknown): Json {
  if (name === undefined) return value
  const isObject = typeof whole === 'object' && whole !== null
  const copy = typeof name === 'number' ? (Array.isArray(whole) ? [...whole] : []) : isObject ? { ...whole } : {}
  copy[name] = replaceAt(copy[name], rest, value)
  return copy
}

/** Values of other types than a schema has, and values that parsers treat in a special way. */
const ODD: readonly unknown[] = [
  undefined,
  null,
  '',
  'x',
  0,
  -1,
  1.5,
  1e21,
  true,
  [],
  {},
  [null],
  { x: 1 },
  '\u0000',
  '😀',
]

/** Lists values on and beside each bound of a schema. */
export function boundaryValues({ schema }: Place): unknown[] {
  const { const: only, enum: listed = only === undefined ? [] : [only], examples = [] } = schema
  const { minLength = 1, maxLength, minimum, maximum, exclusiveMinimum, minItems = 0, maxItems, maxProperties } = schema
  return [
    ...ODD,
    ...examples,
    ...listed,
    ...listed.flatMap((value: unknown) =>
      typeof value === 'string' ? [value.toLowerCase(), `${value} `, `${value}X`] : [String(value)],
    ),
    ...(maxLength === undefined ? [] : [minLength - 1, minLength, maxLength, maxLength + 1].flatMap(textsOf)),
    ...[minimum, maximum, exclusiveMinimum].filter(bound => bound !== undefined).flatMap(aroundOf),
    ...(maxItems === undefined ? [] : [minItems - 1, minItems, maxItems, maxItems + 1].flatMap(listOf(examples))),
    ...(maxProperties === undefined ? [] : [maxProperties, maxProperties + 1].map(objectOf)),
  ]
}

const textsOf = (length: number) => (length < 0 ? [] : ['A', '1', ' ', 'é'].map(letter => letter.repeat(length)))
const aroundOf = (bound: number) => [bound - 1, bound, bound + 1, bound + 0.5, String(bound)]
const listOf =
  ([example = []]: unknown[]) =>
  (length: number) =>
    length < 0 ? [] : [Array.from({ length }, () => (Array.isArray(example) ? example[0] : example))]
const objectOf = (size: number) => Object.fromEntries(Array.from({ length: size }, (_, at) => [`x${at}`, 'x']))

/** fast-check takes a millisecond to prepare texts, so all places share these. */
const anything = fc.jsonValue({ maxDepth: 1 })
const anyText = fc.string()

/** Draws values of a schema, mostly of its type and often within its bounds. */
export function valuesOf({ schema }: Place): fc.Arbitrary<unknown> {
  const { type, pattern, enum: listed, minimum = -10, maximum = 1000, maxLength = 100 } = schema
  if (listed !== undefined) return fc.oneof(fc.constantFrom(...listed), anything)
  if (type === 'integer' || type === 'number') {
    return fc.oneof(fc.integer({ min: Math.ceil(minimum), max: Math.floor(maximum) }), fc.double(), anything)
  }
  // fast-check cannot draw texts of a pattern with a lookahead.
  if (pattern !== undefined && !pattern.includes('(?')) {
    return fc.oneof({ weight: 3, arbitrary: fc.stringMatching(new RegExp(pattern)) }, anyText, anything)
  }
  if (type === 'string') return fc.oneof(fc.string({ unit: codePoint, maxLength: maxLength + 1 }), anyText, anything)
  return anything
}
