import fastJson from 'fast-json-stringify'
import type { FastifySerializerCompiler } from 'fastify/types/schema.js'

type Serialize = (value: unknown) => string

/** The serializers by schema: all servers of a process share them. */
const serializers = new WeakMap<object, Serialize>()

/** Fastify's serializer compiler. It compiles each response schema once for a process. */
export const serializerCompiler: FastifySerializerCompiler<unknown> = ({ schema }) => {
  const serializer = serializers.get(schema as object) ?? fastJson(schema as Parameters<typeof fastJson>[0])
  serializers.set(schema as object, serializer)
  return serializer
}
