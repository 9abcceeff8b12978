import type { Response, Schema } from './document.js'
import type { DocumentedRoute } from './routes.js'
import { isApi } from './routes.js'

const parametersOf = (schema: Schema = {}): string[] => Object.keys(schema.properties ?? {})

/**
 * Returns the links of the answer to a creation: to the operations on the created record, and to the lists that show it.
 * Both follow from the routes: the former are below the path of the creation, and their parameter is a member of the record.
 */
export function linksOf(creation: DocumentedRoute, status: string, routes: readonly DocumentedRoute[]): Response {
  if (status !== '201' || !isApi(creation)) return {}
  const below = routes.filter(({ url }) => url.startsWith(`${creation.url}/:`))
  const references = new Set(below.flatMap(({ schema }) => parametersOf(schema.params)))
  const isList = ({ method, url, schema }: DocumentedRoute) =>
    method === 'GET' &&
    (url === creation.url || parametersOf(schema.querystring).some(parameter => references.has(parameter)))
  const linked = [...below, ...routes.filter(isList)]
  return linked.length === 0
    ? {}
    : { links: Object.fromEntries(linked.map(route => [route.schema.operationId, linkTo(route, references)])) }
}

const linkTo = ({ schema }: DocumentedRoute, references: ReadonlySet<string>) => ({
  operationId: schema.operationId,
  description: `${schema.summary}.`,
  parameters: {
    'x-region': '$request.header.x-region',
    ...Object.fromEntries(
      [...parametersOf(schema.params), ...parametersOf(schema.querystring)]
        .filter(name => references.has(name))
        .map(name => [name, `$response.body#/${name}`]),
    ),
  },
  'x-fidelity': 'assumed',
})
