import type { ErrorCode } from '../../core/errors.js'
import { FORM } from '../../http/form.js'
import { codesAt } from '../errors.js'
import { noteOf } from '../labels.js'
import type { Json } from '../routes.js'
import type { Operation } from './operations.js'

type Objects = Record<string, Json>

/** Returns the entry of an operation of a document as Markdown. The links are relative to `/docs/{operationId}`. */
export function toEntry(document: Json, operation: Operation): string {
  const { operationId, method, path, summary, description, parameters = [], requestBody } = operation
  const body = requestBody as Json | undefined
  const responses = Object.entries(operation.responses as Objects).map(
    ([status, response]) => [status, resolve(response)] as const,
  )
  const parts = [
    `# ${operationId}`,
    `\`${method} ${path}\`: ${summary} (${labelOf(operation)})`,
    description,
    ...section('Parameters', [(parameters as Json[]).map(resolve).map(parameterLine).join('\n')]),
    ...section('Body', body === undefined ? [] : [body.description as string, ...contentOf(body)]),
    ...responses
      .filter(([status]) => status.startsWith('2'))
      .flatMap(([status, response]) => section(status, [describe(response), ...contentOf(response)])),
    ...section('Errors', [
      errorLines(
        operation,
        responses.map(([status]) => status),
      ).join('\n'),
    ]),
    'The codes are assumed. Their meaning: [all codes](../_sandbox/errors). Other operations: [index](../docs), with ' +
      '`Accept: text/markdown`.',
  ]
  return `${parts.filter(Boolean).join('\n\n')}\n`

  /** Returns the component that a reference names, with the members beside the reference; another value as it is. */
  function resolve({ $ref, ...own }: Json): Json {
    if ($ref === undefined) return own
    const [kind, name] = ($ref as string).split('/').slice(-2) as [string, string]
    return { ...(document.components as Record<string, Objects>)[kind]?.[name], ...own }
  }

  function parameterLine({ in: place, name, required, schema, ...described }: Json): string {
    return lineOf(name as string, [`${place}`, ...(required ? ['required'] : [])], {
      ...(schema as Json),
      ...described,
    })
  }

  /** Describes each media type: its members and its example. */
  function contentOf({ content = {} }: Json): string[] {
    return Object.entries(content as Objects).flatMap(([type, { schema, example }]) => [
      type,
      membersOf(schema as Json, ''),
      example === undefined ? '' : `\`\`\`\n${textOf(type, example)}\n\`\`\``,
    ])
  }

  /** Lists the members of an object, or of the objects of an array, each with its own members below it. */
  function membersOf(schema: Json, margin: string): string {
    const { properties = {}, required = [], items } = resolve(schema)
    if (items !== undefined) return membersOf(items as Json, margin)
    const lines = Object.entries(properties as Objects).flatMap(([name, reference]) => {
      const facts = (required as string[]).includes(name) ? ['required'] : []
      return [`${margin}${lineOf(name, facts, resolve(reference))}`, membersOf(reference, `${margin}  `)]
    })
    return lines.filter(Boolean).join('\n')
  }
}

const section = (title: string, parts: readonly string[]): string[] =>
  parts.some(Boolean) ? [`## ${title}`, ...parts] : []

const textOf = (type: string, example: unknown): string =>
  type === FORM ? String(new URLSearchParams(example as Record<string, string>)) : JSON.stringify(example)

/** Returns the label. A documented operation or member also has the note on its assumed parts. */
const labelOf = (labelled: Json): string =>
  [labelled['x-fidelity'], noteOnDocumented(labelled)].filter(Boolean).join(': ')

const noteOnDocumented = (labelled: Json) => labelled['x-fidelity'] === 'documented' && noteOf(labelled)

const describe = (response: Json): string =>
  `${response.description} (${labelOf(response)}) Headers: ${Object.keys(response.headers as Json).join(', ')}.`

const errorLines = ({ 'x-error-codes': codes }: Json, statuses: readonly string[]): string[] =>
  statuses.flatMap(status => {
    const ofStatus = codesAt(codes as ErrorCode[], status)
    return ofStatus.length === 0 ? [] : [`- ${status}: ${ofStatus.join(', ')}`]
  })

/** Describes a parameter or member in one line. */
function lineOf(name: string, facts: readonly string[], schema: Json): string {
  const { type = 'any', items, description, 'x-fidelity': label } = schema
  const constraints = constraintsOf({ ...(items as Json | undefined), ...schema })
  const all = [[type].flat().join(' or '), ...facts, ...constraints, label]
  return `- \`${name}\` (${all.join(', ')}): ${[description, noteOnDocumented(schema)].filter(Boolean).join(' ')}`
}

/** Returns the constraints of a schema in words, except its form, which its description has. */
function constraintsOf(schema: Json): string[] {
  const { enum: values, minimum, exclusiveMinimum, maximum, minLength, maxLength, pattern, default: byDefault } = schema
  const bounds = (low: unknown, high: unknown, unit = '') => {
    if (low !== undefined && high !== undefined) return `${low} to ${high}${unit}`
    if (low !== undefined) return `at least ${low}${unit}`
    return high !== undefined && `at most ${high}${unit}`
  }
  return [
    Array.isArray(values) && `one of ${values.join(', ')}`,
    exclusiveMinimum !== undefined && `above ${exclusiveMinimum}`,
    bounds(minimum, maximum),
    pattern === undefined && bounds(minLength, maxLength, ' characters'),
    byDefault !== undefined && `by default ${byDefault}`,
  ].filter(word => typeof word === 'string')
}
