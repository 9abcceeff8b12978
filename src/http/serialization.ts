import fastJson from 'fast-json-stringify'
import type { FastifySerializerCompiler } from 'fastify/types/schema.js'

type Serialize = (value: unknown) => string

/** The serializers by schema: all servers of a process share them. */
const serializers = new WeakMap<object, Serialize>()

function serializerOf(schema: object): Serialize {
  const serializer = serializers.get(schema) ?? fastJson(schema)
  serializers.set(schema, serializer)
  return serializer
}

/** Returns a schema that takes any further members, at any depth. */
function open(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(open)
  if (schema === null || typeof schema !== 'object') return schema
  const opened = Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, open(part)]))
  return 'properties' in schema ? { ...opened, additionalProperties: true } : opened
}

/** Makes a serializer compiler. It compiles each response schema on its first use, once for a process. */
const compilerOf =
  (toSchema: (schema: object) => object): FastifySerializerCompiler<unknown> =>
  ({ schema }) => {
    let serializer: Serialize | undefined
    return value => {
      serializer ??= serializerOf(toSchema(schema as object))
      return serializer(value)
    }
  }

/** Fastify's serializer compiler. */
export const serializerCompiler = compilerOf(schema => schema)

/** The open schemas by schema. */
const openSchemas = new WeakMap<object, object>()

/** The same compiler for answers that can have members that their schema lacks: these come last. */
export const openSerializerCompiler = compilerOf(schema => {
  const opened = openSchemas.get(schema) ?? (open(schema) as object)
  openSchemas.set(schema, opened)
  return opened
})
