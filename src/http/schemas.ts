import { Type } from '@sinclair/typebox'
import type { ErrorCode } from '../core/errors.js'
import type { Fidelity } from '../core/schemas.js'
import { documented, NullableText } from '../core/schemas.js'

/** The error envelope: interface, Errors 1. */
export const ErrorBody = Type.Object(
  {
    code: documented(
      Type.String(),
      'What was wrong, for programs.',
      'Each error has a documented code, but no list of codes is known: all of them are assumed.',
    ),
    field: documented(
      NullableText,
      'The name of the parameter that caused the error, as in the request, or null if there is none.',
      'The service documents the member, and not its values: null is assumed.',
    ),
    message: documented(Type.String(), 'The fault and its remedy, for people.'),
  },
  { title: 'ErrorEnvelope' },
)

/** The answers that every operation may give in addition to its own. The OpenAPI document lists their statuses and codes. */
export const failures = { '4xx': ErrorBody, '5xx': ErrorBody }

/** The properties of a schema that describe an operation as a whole. */
declare module 'fastify' {
  interface FastifySchema {
    operationId?: string
    /** Whether the route is no part of an interface, and so of no OpenAPI document. */
    hide?: boolean
    summary?: string
    tags?: readonly string[]
    'x-fidelity'?: Fidelity
    'x-fidelity-note'?: string
    /** The error codes of the operation in addition to the codes that follow from its schemas (src/openapi/errors.ts). */
    'x-error-codes'?: readonly ErrorCode[]
    description?: string
    security?: readonly Readonly<Record<string, readonly string[]>>[]
  }
}
