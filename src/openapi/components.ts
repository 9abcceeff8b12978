import { STATUS_CODES } from 'node:http'
import type { Named, Parameter, Reference, Response, Schema } from './document.js'
import { mapValues } from './document.js'

/** Where a schema stands. */
export type Place = 'parameter' | 'member' | 'body'

/**
 * Turns the schemas that validate into schemas of the document. A schema with a title becomes a component.
 * @param components receives the components by name
 */
export function createPublisher(components: Named<Schema>) {
  function publish(schema: Schema, place: Place): Schema {
    const { title, 'x-expected': expected, 'x-error-code': _code, ...rest } = schema
    const description = describe(rest, expected)
    const { items, additionalProperties: others, properties } = rest
    const published: Schema = {
      ...rest,
      ...(description !== undefined && { description }),
      ...(items !== undefined && { items: publish(items, 'body') }),
      ...(typeof others === 'object' && { additionalProperties: publish(others, 'body') }),
      ...(properties !== undefined && { properties: mapValues(properties, member => publish(member, 'member')) }),
    }
    return title === undefined ? published : refer(title, published, place)
  }

  function refer(title: string, published: Schema, place: Place): Schema {
    const { description, 'x-fidelity': fidelity, 'x-fidelity-note': note, examples: _, ...shared } = published
    const ofPlace = { description, 'x-fidelity': fidelity, 'x-fidelity-note': note }
    const definition: Schema = place === 'body' ? { ...shared, ...ofPlace } : shared
    const known = components[title]
    if (known !== undefined && textOf(known) !== textOf(definition)) throw new Error(`${title} is two schemas.`)
    components[title] = { ...definition, ...known }
    return { $ref: `#/components/schemas/${title}`, ...(place !== 'body' && ofPlace) }
  }
  return publish
}

/** The text of a component without the members of its places. An example of a body belongs to the body. */
function textOf(schema: Schema): string {
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
function describe({ description, type, pattern, format }: Schema, expected: string | undefined): string | undefined {
  const isHidden = type === 'string' && (pattern !== undefined || format !== undefined)
  const form = expected && isHidden ? `${expected.charAt(0).toUpperCase()}${expected.slice(1)}.` : undefined
  const sentences = [description, form].filter(sentence => sentence !== undefined)
  return sentences.length === 0 ? undefined : sentences.join(' ')
}

/** The name of a shared parameter, and of a response: that of its schema, or the phrase of its error. Undefined: it is not shared. */
export const namesOf = {
  parameters: ({ name }: Parameter) => name.replace(/(?:^|-)./g, first => first.toUpperCase()),
  responses: ({ content }: Response, status: string) =>
    Number(status) < 400
      ? content?.['application/json']?.schema.$ref?.split('/').at(-1)
      : (STATUS_CODES[status] ?? 'Error'),
}

/**
 * Returns a function that refers to a component for a part which several operations have. Another one of the same name gets a
 * number.
 * @param parts all parts, each with its name
 * @param components receives the components
 */
export function createSharer<T>(
  kind: keyof typeof namesOf,
  parts: readonly (readonly [part: T, name: string | undefined])[],
  components: Named<T>,
) {
  const texts = parts.map(([part, name]) => `${name} ${JSON.stringify(part)}`)
  const names = new Map<string, string>()
  return (part: T, given: string | undefined): T | Reference => {
    const text = `${given} ${JSON.stringify(part)}`
    if (given === undefined || texts.indexOf(text) === texts.lastIndexOf(text)) return part
    const word = given.replace(/\W/g, '')
    const count = Object.keys(components).filter(name => name.replace(/\d+$/, '') === word).length
    const name = names.get(text) ?? (count === 0 ? word : `${word}${count + 1}`)
    names.set(text, name)
    components[name] = part
    return { $ref: `#/components/${kind}/${name}` }
  }
}
