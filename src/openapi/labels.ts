import type { ErrorCode } from '../core/errors.js'
import { catalogue } from '../core/errors.js'
import { CONSOLE } from '../http/routing.js'
import type { Document, Labelled, Schema } from './document.js'
import { mapValues } from './document.js'

const COLORS: Readonly<Record<string, string>> = { documented: '#1a7f37', assumed: '#9a6700' }

/** Constraints in the words of a note. */
const WORDS: Readonly<Record<string, string>> = {
  default: 'default',
  enum: 'values',
  exclusiveMinimum: 'minimum',
  format: 'form',
  maxItems: 'size',
  maximum: 'maximum',
  maxLength: 'length',
  minItems: 'size',
  minimum: 'minimum',
  minLength: 'length',
  pattern: 'form',
  required: 'required members',
}

/** A thing with a label. */
export type Noted = Labelled & Pick<Schema, 'x-fidelity-constraints' | 'items'> & { readonly schema?: Schema }

/** Returns what a label does not say: a note, or the assumed constraints. A parameter has them in its schema. */
export function noteOf(labelled: Noted): string | undefined {
  const { 'x-fidelity-note': note, 'x-fidelity-constraints': own, items, schema } = labelled
  const keywords = own ?? (items ?? schema)?.['x-fidelity-constraints']
  if (note !== undefined || keywords === undefined) return note
  const words = new Set(keywords.map(keyword => WORDS[keyword]))
  return `The service does not document its ${[...words].join(' and ')}.`
}

/**
 * Returns a document whose descriptions say the labels: viewers show descriptions, but no `x-fidelity`.
 * A label is in the paragraph of its description, so that it does not seem to belong to the next paragraph. Operations get
 * badges, which Scalar shows, and their error codes. These link to their entries in the console, by an address relative to
 * `/docs`.
 */
export const withVisibleLabels = (document: Document): unknown => transform(document)

function transform(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(transform)
  if (value === null || typeof value !== 'object') return value
  const object: Noted & { 'x-error-codes'?: readonly ErrorCode[] } = mapValues({ ...value }, transform)
  const { 'x-fidelity': label, description, 'x-error-codes': codes } = object
  if (typeof label !== 'string') return object
  const said = [description, `**${label === 'documented' ? 'Documented' : 'Assumed'}.**`, noteOf(object)]
  return {
    ...object,
    description: [said.filter(Boolean).join(' '), ...(codes ? ['', ...codes.map(lineOf)] : [])].join('\n'),
    ...(codes && { 'x-badges': [{ name: label, color: COLORS[label] }] }),
  }
}

const lineOf = (code: ErrorCode) =>
  `- ${catalogue[code].status} [\`${code}\`](${CONSOLE.slice(1)}/errors/${code}): ${catalogue[code].when}`
