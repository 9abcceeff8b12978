import type { ErrorCode } from '../core/errors.js'
import { catalogue } from '../core/errors.js'
import { CONSOLE } from '../http/routing.js'
import { mapValues } from './components.js'
import { codesAt, OTHERS } from './errors.js'
import type { Json } from './routes.js'

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

/** Returns what a label does not say: a note, or the assumed constraints. A parameter has them in its schema. */
export function noteOf({ 'x-fidelity-note': note, 'x-fidelity-constraints': own, items, schema }: Json): unknown {
  const keywords = own ?? ((items ?? schema) as Json | undefined)?.['x-fidelity-constraints']
  if (note !== undefined || keywords === undefined) return note
  const words = new Set((keywords as string[]).map(keyword => WORDS[keyword]))
  return `The service does not document its ${[...words].join(' and ')}.`
}

/**
 * Returns a document whose descriptions say the labels: viewers show descriptions, but no `x-fidelity`.
 * A label is in the paragraph of its description, so that it does not seem to belong to the next paragraph. Operations get
 * badges, which Scalar shows, and error responses of their own. Their codes link to their entries in the console, by an
 * address relative to `/docs`.
 */
export function withVisibleLabels(document: Json): Json {
  const { responses } = document.components as Record<string, Record<string, Json>>
  const paths = mapValues(document.paths as Record<string, Record<string, Json>>, methods =>
    mapValues(methods, operation => ({
      ...operation,
      responses: Object.fromEntries(
        Object.entries(operation.responses as Record<string, Json>).map(([status, response]) => {
          const codes = codesAt(operation['x-error-codes'] as ErrorCode[], status)
          const shared = responses?.[String(response.$ref).split('/').at(-1) as string] ?? response
          return [status, status === OTHERS || status >= '4' ? withCodes(shared, codes) : response]
        }),
      ),
    })),
  )
  return transform({ ...document, paths }) as Json
}

const withCodes = (response: Json, codes: readonly ErrorCode[]): Json => ({
  ...response,
  description: [
    response.description,
    ...codes.map(code => `- [\`${code}\`](${CONSOLE.slice(1)}/errors/${code}): ${catalogue[code].when}`),
  ].join('\n'),
})

function transform(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(transform)
  if (value === null || typeof value !== 'object') return value
  const object = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, transform(member)])) as Json
  const { 'x-fidelity': label, description, operationId } = object
  if (typeof label !== 'string') return object
  const said = [`**${label === 'documented' ? 'Documented' : 'Assumed'}.**`, noteOf(object)].filter(Boolean).join(' ')
  return {
    ...object,
    description: description === undefined ? said : `${description} ${said}`,
    ...(operationId !== undefined && { 'x-badges': [{ name: label, color: COLORS[label] }] }),
  }
}
