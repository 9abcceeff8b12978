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

/** Fastify's serializer compiler. It compiles each response schema on its first use, once for a process. */
export const serializerCompiler: FastifySerializerCompiler<unknown> = ({ schema }) => {
  let serializer: Serialize | undefined
  return value => {
    serializer ??= serializerOf(schema as object)
    return serializer(value)
  }
}
