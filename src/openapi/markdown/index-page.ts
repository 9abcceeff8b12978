import type { Document } from '../document.js'
import type { PlacedOperation } from './operations.js'
import { operationsOf } from './operations.js'

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

/** Makes one line for each resource: a path up to its last parameter. Operations with the same summary share it. */
function linesOf(document: Document, markOf: (operation: PlacedOperation) => string): string {
  const resources = new Map<string, Map<string, string[]>>()
  for (const operation of operationsOf(document)) {
    const { method, path, operationId, summary } = operation
    const resource = /^.*\}/.exec(path)?.[0] ?? path
    const texts = resources.get(resource) ?? new Map<string, string[]>()
    resources.set(resource, texts)
    // The rest of a longer summary is in the entry.
    const text = `${summary.split(/[:;] /)[0]}${markOf(operation)}`
    const name = [method, path.slice(resource.length)].filter(Boolean).join(' ')
    texts.set(text, [...(texts.get(text) ?? []), `[${name}](docs/${operationId})`])
  }
  const lines = [...resources].map(([resource, texts]) => {
    const operations = [...texts].map(([text, links]) => `${links.join(', ')} ${text}`)
    return `- ${resource}: ${operations.join('; ')}`
  })
  return lines.join('\n')
}
