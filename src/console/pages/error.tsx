/** The entry of an error code in the catalogue. */
import { useAnswer, useLoaded } from '../api.js'
import { useApp } from '../app.js'
import { documentOf, SameCall } from '../forms.js'
import { Card, Facts, HttpStatus, Sentence } from '../parts.js'
import type { Document } from '../schema.js'

interface Entry {
  readonly code: string
  readonly status: number
  readonly when: string
  readonly fidelity: string
}

export function ErrorEntry({ code }: { code: string }) {
  const { href } = useApp()
  const { data } = useAnswer<{ data: Entry[] }>('/_sandbox/errors', true)
  const { data: operations = [] } = useLoaded(
    code,
    async () => {
      const documents = await Promise.all(['/api/', '/_sandbox/'].map(path => documentOf({ path })))
      return documents.flatMap(document => operationsWith(document, code))
    },
    true,
  )
  if (data === undefined) return null
  const entry = data.data.find(entry => entry.code === code)
  if (entry === undefined) {
    return (
      <Card id="entry" title="There is no such code">
        <p>The catalogue of the sandbox has no such code. A fault can answer with any code.</p>
      </Card>
    )
  }
  return (
    <Card id="entry" title="Its meaning" aside={<a href={href('../docs/guide/errors')}>All codes</a>}>
      <p>
        <Sentence text={entry.when} />
      </p>
      <Facts
        facts={[
          ['Status', <HttpStatus key="status" of={entry.status} />],
          ['Fidelity', `${entry.fidelity}: the service documents that each error has a code, but no list of codes`],
          [
            'Operations',
            <ul key="operations">
              {operations.map(operation => (
                <li key={operation}>
                  <code>{operation}</code>
                </li>
              ))}
            </ul>,
          ],
        ]}
      />
      <SameCall calls={[['The catalogue', { method: 'GET', path: '/_sandbox/errors' }]]} />
    </Card>
  )
}

/** Lists the operations whose answers can have a code. */
const operationsWith = ({ paths }: Document, code: string): readonly string[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation['x-error-codes'].includes(code))
      .map(([method]) => `${method.toUpperCase()} ${path}`),
  )
