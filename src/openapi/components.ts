import type { Named, Reference, Schema } from './document.js'
import { mapValues } from './document.js'

/**
 * Turns the schemas that validate into schemas of the document. A schema with a title becomes a component.
 * @param components receives the components by name
 */
export function createPublisher(components: Named<Schema>) {
  /** The components without the members of their places. */
  const texts = new Map<string, string>()

  /** @param isBody whether the schema is the whole body. A parameter and a member have a description and label of their own. */
  return function publish(schema: Schema, isBody = false): Schema {
    const { title, 'x-expected': expected, 'x-error-code': _code, ...rest } = schema
    const { items, additionalProperties: others, properties } = rest
    const published: Schema = {
      ...rest,
      description: describe(rest, expected),
      ...(items !== undefined && { items: publish(items, true) }),
      ...(typeof others === 'object' && { additionalProperties: publish(others, true) }),
      ...(properties !== undefined && { properties: mapValues(properties, member => publish(member)) }),
    }
    if (title === undefined) return published
    const { description, 'x-fidelity': fidelity, 'x-fidelity-note': note, examples: _, ...shared } = published
    const ofPlace = { description, 'x-fidelity': fidelity, 'x-fidelity-note': note }
    const text = JSON.stringify(shared)
    if ((texts.get(title) ?? text) !== text) throw new Error(`${title} is two schemas.`)
    texts.set(title, text)
    components[title] = { ...shared, ...(isBody && ofPlace), ...components[title] }
    return { $ref: `#/components/schemas/${title}`, ...(!isBody && ofPlace) }
  }
}

/** Joins the meaning of a value with its form, which only people can read from a pattern or format. */
function describe({ description, type, pattern, format }: Schema, expected: string | undefined): string | undefined {
  const isHidden = type === 'string' && (pattern !== undefined || format !== undefined)
  const form = expected && isHidden && `${expected.charAt(0).toUpperCase()}${expected.slice(1)}.`
  return [description, form].filter(Boolean).join(' ') || undefined
}

/** Returns a reference to a component that several operations share. A second one of the same name gets a number. */
export function shareIn<T>(components: Named<T>, kind: string, name: string, part: T): Reference {
  const isTaken = (key: string) =>
    components[key] !== undefined && JSON.stringify(components[key]) !== JSON.stringify(part)
  let key = name
  for (let count = 2; isTaken(key); count++) key = `${name}${count}`
  components[key] = part
  return { $ref: `#/components/${kind}/${key}` }
}
