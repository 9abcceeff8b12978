import type { Document, PlacedOperation } from './document.js'
import { mapValues, operationsOf } from './document.js'

/**
 * Returns a short index of the operations of both documents as Markdown. Each operation links to its entry, so that a
 * reader with few tokens needs no whole document. The links are relative to `/docs`.
 */
export const toIndex = (service: Document, control: Document): string => `# Payments Sandbox: operations

Each link is the entry of an operation: parameters, body, answers, error codes.
Errors are \`{ code, field, message }\`: [all codes](_sandbox/errors).
Whole documents: [service](openapi.json), [control plane](_sandbox/openapi.json).
By task: [the guide](docs/guide), [the skill](docs/skill).

## Payments service

The service documents these operations, except those marked as assumed. Get a token first. Then send
\`Authorization: Bearer\` and \`x-region\`.

${linesOf(service, ({ 'x-fidelity': label }) => (label === 'documented' ? '' : ` (${label})`))}

## Control plane

Exists only in the sandbox. \`?client=\` names the client, by default \`sandbox-client\`.

${linesOf(control, () => '')}
`

const linesOf = (document: Document, markOf: (operation: PlacedOperation) => string): string =>
  operationsOf(document)
    .map(operation => {
      const { method, path, operationId, summary } = operation
      return `- [${method} ${path}](docs/${operationId}): ${summary}${markOf(operation)}`
    })
    .join('\n')

/** Returns the entry of an operation as Markdown: its part of the document as JSON, with the names of headers and without errors. */
export function toEntry({ components }: Document, operation: PlacedOperation): string {
  const { operationId, method, path, responses, ...described } = operation
  const successes = Object.entries(responses).flatMap(([status, { headers = {}, ...answer }]) =>
    status.startsWith('2') ? [[status, { ...answer, headers: Object.keys(headers) }]] : [],
  )
  return `# ${operationId}

\`${method} ${path}\`

\`\`\`json
${JSON.stringify(inline({ ...described, responses: Object.fromEntries(successes) }), null, 1)}
\`\`\`

Errors are \`{ code, field, message }\`: [all codes](../_sandbox/errors). Other operations: [index](../docs), with
\`Accept: text/markdown\`.
`

  /** Replaces each reference to a schema by the schema. */
  function inline(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(inline)
    if (value === null || typeof value !== 'object') return value
    const { $ref = '', ...own }: { $ref?: string } = value
    return mapValues({ ...components.schemas[$ref.split('/').at(-1) ?? ''], ...own }, inline)
  }
}
