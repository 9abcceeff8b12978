import { STATUS_CODES } from 'node:http'
import type { Json } from './routes.js'

/** The members of a shared schema that belong to a place. The others belong to the component. */
const OF_THE_PLACE = ['description', 'x-fidelity', 'x-fidelity-note'] as const

/** Where a schema stands: it decides the wording of its note. */
export type Place = 'parameter' | 'member' | 'body'

/**
 * Turns the schemas that validate into schemas of the document. A schema with a title becomes a component.
 * @param components receives the components by name
 */
export function createPublisher(components: Record<string, Json>) {
  function publish(schema: Json, place: Place): Json {
    const { title, 'x-expected': expected, 'x-error-code': _code, ...rest } = schema
    const published: Json = { ...rest, ...noteOf(rest, place) }
    const description = describe(rest, expected as string | undefined)
    if (description !== undefined) published.description = description
    for (const name of ['items', 'additionalProperties']) {
      if (isSchema(rest[name])) published[name] = publish(rest[name], 'body')
    }
    if (isSchema(rest.properties)) {
      published.properties = mapValues(rest.properties as Record<string, Json>, member => publish(member, 'member'))
    }
    return typeof title === 'string' ? refer(title, published, place) : published
  }

  function refer(title: string, published: Json, place: Place): Json {
    const definition: Json = { title, ...published }
    if (place !== 'body') for (const name of OF_THE_PLACE) delete definition[name]
    const known = components[title]
    if (known !== undefined && textOf(known) !== textOf(definition)) throw new Error(`${title} is two schemas.`)
    components[title] = { ...definition, ...known }
    const ofPlace = Object.fromEntries(
      OF_THE_PLACE.filter(name => place !== 'body' && published[name] !== undefined).map(name => [
        name,
        published[name],
      ]),
    )
    return { $ref: `#/components/schemas/${title}`, ...ofPlace }
  }
  return publish
}

const isSchema = (value: unknown): value is Json => value !== null && typeof value === 'object'

/** The text of a component without the members of its places. An example of a body belongs to the body. */
function textOf(schema: Json): string {
  const {
    description: _description,
    'x-fidelity': _label,
    'x-fidelity-note': _note,
    examples: _examples,
    ...rest
  } = schema
  return JSON.stringify(rest)
}

/** Joins the meaning of a value with its form, which only people can read from a pattern or format. */
function describe({ description, type, pattern, format }: Json, expected: string | undefined): string | undefined {
  const isHidden = type === 'string' && (pattern !== undefined || format !== undefined)
  const form = expected && isHidden ? `${expected.charAt(0).toUpperCase()}${expected.slice(1)}.` : undefined
  const sentences = [description, form].filter(sentence => sentence !== undefined)
  return sentences.length === 0 ? undefined : sentences.join(' ')
}

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

/** Returns one line that names the assumption. */
function noteOf(schema: Json, place: Place): Json {
  if (schema['x-fidelity-note'] !== undefined || schema['x-fidelity'] === undefined) return {}
  if (schema['x-fidelity'] === 'assumed') return { 'x-fidelity-note': `The service documents no such ${place}.` }
  const ofItems = isSchema(schema.items) ? schema.items['x-fidelity-constraints'] : undefined
  const keywords = Object.keys(schema['x-fidelity-constraints'] ?? ofItems ?? {})
  const constraints = [...new Set(keywords.map(keyword => WORDS[keyword]))]
  if (constraints.length === 0) return {}
  return { 'x-fidelity-note': `The service documents the ${place}, but not its ${constraints.join(' and ')}.` }
}

export const mapValues = <V, W>(object: Record<string, V>, change: (value: V) => W): Record<string, W> =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]))

/** Moves error responses that several operations have into components, named by their status and, if there are more, a number. */
export function shareResponses(operations: readonly Json[], components: Record<string, Json>): void {
  const uses = new Map<string, { readonly status: string; readonly all: Json[] }>()
  for (const { responses } of operations) {
    for (const [status, response] of Object.entries(responses as Record<string, Json>)) {
      if (Number(status) < 400) continue
      const text = `${status} ${JSON.stringify(response)}`
      const { all } = uses.get(text) ?? { all: [] }
      uses.set(text, { status, all: [...all, responses as Json] })
    }
  }
  for (const { status, all } of uses.values()) {
    if (all.length < 2) continue
    const word = (STATUS_CODES[status] ?? 'Error').replace(/\W/g, '')
    const count = Object.keys(components).filter(name => name.replace(/\d+$/, '') === word).length
    const name = count === 0 ? word : `${word}${count + 1}`
    components[name] = all[0]?.[status] as Json
    for (const responses of all) responses[status] = { $ref: `#/components/responses/${name}` }
  }
}
