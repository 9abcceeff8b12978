import { STATUS_CODES } from 'node:http'
import type { Json } from './routes.js'

/** The members of a shared schema that belong to a place. The others belong to the component. */
const OF_THE_PLACE = ['description', 'x-fidelity', 'x-fidelity-note'] as const

/** Where a schema stands. */
export type Place = 'parameter' | 'member' | 'body'

/**
 * Turns the schemas that validate into schemas of the document. A schema with a title becomes a component.
 * @param components receives the components by name
 */
export function createPublisher(components: Record<string, Json>) {
  function publish(schema: Json, place: Place): Json {
    const { title, 'x-expected': expected, 'x-error-code': _code, ...rest } = schema
    const published: Json = { ...rest }
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
    const { examples: _examples, ...shared } = published
    const definition: Json = shared
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

export const mapValues = <V, W>(object: Record<string, V>, change: (value: V) => W): Record<string, W> =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]))

/** Returns the component of a content. */
const componentOf = (content: Json = {}) => {
  const { schema } = (content['application/json'] ?? {}) as { schema?: { $ref?: string } }
  return schema?.$ref?.split('/').at(-1)
}

const NAMES = {
  responses: (status: string, { content }: Json) =>
    Number(status) < 400 ? componentOf(content as Json | undefined) : (STATUS_CODES[status] ?? 'Error'),
  parameters: (_place: string, { name }: Json) => `${name}`.replace(/(?:^|-)./g, first => first.toUpperCase()),
}

/**
 * Moves parts that several operations have into components. A parameter has its name there, a response that of its schema
 * or the phrase of its error; another one of the same name gets a number.
 */
export function shareParts(
  kind: keyof typeof NAMES,
  operations: readonly Json[],
  components: Record<string, Json>,
): void {
  const uses = new Map<string, { readonly word: string; readonly part: Json; readonly places: [Json, string][] }>()
  for (const operation of operations) {
    const parts = (operation[kind] ?? {}) as Record<string, Json>
    for (const [place, part] of Object.entries(parts)) {
      const word = NAMES[kind](place, part)?.replace(/\W/g, '')
      if (word === undefined) continue
      const text = `${word} ${JSON.stringify(part)}`
      const { places } = uses.get(text) ?? { places: [] }
      uses.set(text, { word, part, places: [...places, [parts, place]] })
    }
  }
  for (const { word, part, places } of uses.values()) {
    if (places.length < 2) continue
    const count = Object.keys(components).filter(name => name.replace(/\d+$/, '') === word).length
    const name = count === 0 ? word : `${word}${count + 1}`
    components[name] = part
    for (const [parts, place] of places) parts[place] = { $ref: `#/components/${kind}/${name}` }
  }
}
