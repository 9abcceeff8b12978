import { FORM } from '../../http/form.js'
import type { Content, Document, Parameter, Response, Schema } from '../document.js'
import { resolve } from '../document.js'
import { codesAt } from '../errors.js'
import type { Noted } from '../labels.js'
import { noteOf } from '../labels.js'
import type { PlacedOperation } from './operations.js'

/** Returns the entry of an operation of a document as Markdown. The links are relative to `/docs/{operationId}`. */
export function toEntry({ components }: Document, operation: PlacedOperation): string {
  const { operationId, method, path, summary, description, parameters = [], requestBody } = operation
  const responses = Object.entries(operation.responses).map(
    ([status, response]) => [status, resolve(components.responses, response)] as const,
  )
  const parts = [
    `# ${operationId}`,
    `\`${method} ${path}\`: ${summary} (${labelOf(operation)})`,
    description,
    ...section('Parameters', [parameters.map(one => parameterLine(resolve(components.parameters, one))).join('\n')]),
    ...section('Body', [requestBody?.description ?? '', ...contentOf(requestBody?.content)]),
    ...responses
      .filter(([status]) => status.startsWith('2'))
      .flatMap(([status, response]) => section(status, [describe(response), ...contentOf(response.content)])),
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

  /** Returns a schema with the members of the component that it refers to. */
  function complete({ $ref = '', ...schema }: Schema): Schema {
    return { ...components.schemas[$ref.split('/').at(-1) ?? ''], ...schema }
  }

  function parameterLine({ in: place, name, required, schema, ...described }: Parameter): string {
    return lineOf(name, [place, ...(required ? ['required'] : [])], { ...schema, ...described })
  }

  /** Describes each media type: its members and its example. */
  function contentOf(content: Content = {}): string[] {
    return Object.entries(content).flatMap(([type, { schema, example }]) => [
      type,
      membersOf(schema, ''),
      example === undefined ? '' : `\`\`\`\n${textOf(type, example)}\n\`\`\``,
    ])
  }

  /** Lists the members of an object, or of the objects of an array, each with its own members below it. */
  function membersOf(schema: Schema, margin: string): string {
    const { properties = {}, required = [], items } = complete(schema)
    if (items !== undefined) return membersOf(items, margin)
    const lines = Object.entries(properties).flatMap(([name, reference]) => {
      const facts = required.includes(name) ? ['required'] : []
      return [`${margin}${lineOf(name, facts, complete(reference))}`, membersOf(reference, `${margin}  `)]
    })
    return lines.filter(Boolean).join('\n')
  }
}

const section = (title: string, parts: readonly string[]): string[] =>
  parts.some(Boolean) ? [`## ${title}`, ...parts] : []

const textOf = (type: string, example: unknown): string =>
  type === FORM ? String(new URLSearchParams(Object.entries(Object(example)))) : JSON.stringify(example)

/** Returns the label. A documented operation or member also has the note on its assumed parts. */
const labelOf = (labelled: Noted): string =>
  [labelled['x-fidelity'], noteOnDocumented(labelled)].filter(Boolean).join(': ')

const noteOnDocumented = (labelled: Noted) => labelled['x-fidelity'] === 'documented' && noteOf(labelled)

const describe = ({ headers = {}, ...response }: Response): string =>
  `${response.description} (${labelOf(response)}) Headers: ${Object.keys(headers).join(', ')}.`

const errorLines = ({ 'x-error-codes': codes }: PlacedOperation, statuses: readonly string[]): string[] =>
  statuses.flatMap(status => {
    const ofStatus = codesAt(codes, status)
    return ofStatus.length === 0 ? [] : [`- ${status}: ${ofStatus.join(', ')}`]
  })

/** Describes a parameter or member in one line. */
function lineOf(name: string, facts: readonly string[], schema: Schema): string {
  const { type = 'any', items, description, 'x-fidelity': label } = schema
  const constraints = constraintsOf({ ...items, ...schema })
  const all = [[type].flat().join(' or '), ...facts, ...constraints, label]
  return `- \`${name}\` (${all.join(', ')}): ${[description, noteOnDocumented(schema)].filter(Boolean).join(' ')}`
}

/** Returns the constraints of a schema in words, except its form, which its description has. */
function constraintsOf(schema: Schema): string[] {
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
