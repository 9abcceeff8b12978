// Makes the types of the library from openapi/: src/client/api.ts, with the descriptions of members.
// Usage: npm run typecheck. The file is made again when a document or this script has changed.
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import openapiTS, { astToString } from 'openapi-typescript'

const FILE = 'src/client/api.ts'
const DOCUMENTS = ['openapi/control-plane.json', 'openapi/payments-service.json']

async function makeTypes() {
  const [controlPlane, service] = DOCUMENTS.map(path => JSON.parse(readFileSync(path, 'utf8')))
  const schemas = { ...controlPlane.components.schemas, ...service.components.schemas }
  for (const operation of [controlPlane, service].flatMap(operationsOf)) {
    const name = operation.operationId.replace(/^./, first => first.toUpperCase())
    const query = operation.parameters.filter(parameter => parameter.in === 'query' && parameter.name !== 'client')
    if (query.length > 0)
      schemas[`${name}Query`] = { type: 'object', properties: Object.fromEntries(query.map(member)) }
    const body = operation.requestBody?.content['application/json']?.schema
    if (body?.properties !== undefined) schemas[`${name}Body`] = body
  }
  Object.assign(schemas, transitionsOf(controlPlane))
  // The service may have other reason codes than the sandbox. The library knows which ones the sandbox has.
  const reasonCode = schemas.ReasonCodeTable.properties.data.items.properties.code.enum
  const components = JSON.parse(JSON.stringify({ schemas }), (key, value) => {
    if (key === 'reasonCode' && value.type === 'string') return { ...value, enum: reasonCode }
    // Which members are required together is no type: it would become a union with `unknown`.
    return key === 'anyOf' && value[0]?.required !== undefined ? undefined : value
  })
  const document = { openapi: '3.1.0', info: { title: '', version: '' }, components }
  const options = { rootTypes: true, rootTypesNoSchemaPrefix: true, defaultNonNullable: false }
  return `// Made by scripts/types.js from the OpenAPI documents.\n${astToString(await openapiTS(document, options))}`
}

const operationsOf = ({ paths }) => Object.values(paths).flatMap(Object.values)

/** Returns a schema for each kind of records, whose members are its transitions. */
function transitionsOf({ paths }) {
  const schemas = {}
  for (const [path, { post }] of Object.entries(paths)) {
    const [, transition] = /^\/_sandbox\/[\w-]+\/\{\w+\}\/(\w+)$/.exec(path) ?? []
    if (post === undefined || transition === undefined) continue
    const kind = post['x-command'].replace(/ .*/, '').replace(/(?:^|-)./g, first => first.at(-1).toUpperCase())
    const { properties, required } = schemas[`${kind}Transitions`] ?? { properties: {}, required: [] }
    schemas[`${kind}Transitions`] = {
      type: 'object',
      properties: { ...properties, [transition]: { type: 'string', description: post.description } },
      required: [...required, transition],
    }
  }
  return schemas
}

/** A parameter as a member. A query is text: a number can be given as either. */
const member = ({ name, description, schema }) => [
  name,
  { ...schema, description, ...(schema.format === 'double' && { type: ['string', 'number'] }) },
]

const timeOf = path => (existsSync(path) ? statSync(path).mtimeMs : 0)
const newest = Math.max(...[...DOCUMENTS, import.meta.filename].map(timeOf))
if (timeOf(FILE) <= newest) {
  // Two commands can run this at the same time, and read the file.
  writeFileSync(`${FILE}.${process.pid}`, await makeTypes())
  renameSync(`${FILE}.${process.pid}`, FILE)
}
