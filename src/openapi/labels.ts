import { CONSOLE } from '../http/routing.js'
import type { Json } from './routes.js'

const COLORS: Readonly<Record<string, string>> = { documented: '#1a7f37', assumed: '#9a6700' }

/**
 * Returns a document whose descriptions say the labels: viewers show descriptions, but no `x-fidelity`.
 * A label is in the paragraph of its description, so that it does not seem to belong to the next one. Operations get
 * badges, which Scalar shows. Each error code links to its entry in the console, by an address relative to `/docs`.
 */
export function withVisibleLabels(value: Json): Json {
  return transform(value) as Json
}

function transform(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(transform)
  if (value === null || typeof value !== 'object') return value
  const object = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, transform(member)])) as Json
  const { 'x-fidelity': label, 'x-fidelity-note': note, operationId } = object
  const description = withLinks(object)
  if (typeof label !== 'string') return object
  const heading = `**${label === 'documented' ? 'Documented' : 'Assumed'}.**`
  const said = [heading, note].filter(part => part !== undefined).join(' ')
  return {
    ...object,
    description: description === undefined ? said : `${description} ${said}`,
    ...(operationId !== undefined && { 'x-badges': [{ name: label, color: COLORS[label] }] }),
  }
}

/** Returns the description of a thing. That of an error lists its codes. */
const withLinks = ({ description, 'x-error-codes': codes }: Json) =>
  codes === undefined
    ? description
    : (description as string).replace(/^- `(\w+)`/gm, `- [\`$1\`](${CONSOLE.slice(1)}/errors/$1)`)
