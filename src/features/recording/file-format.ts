import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { sha256 } from '../../core/digests.js'
import { assumed, labelled, Moment } from '../../http/schemas.js'
import { StateDocument } from '../../tenants/snapshot.js'

/** The file of `GET /_sandbox/recording`. The service documents none of it: all of it is assumed. */

export const RECORDING_FORMAT = 'payments-sandbox/recording'
export const RECORDING_VERSION = 1

const TextMap = Type.Unsafe<Record<string, string>>({ type: 'object', additionalProperties: { type: 'string' } })
const Anything = Type.Unsafe<unknown>({})

/** An answer. A long body is kept as its digest. */
export const RecordedAnswer = Type.Object({
  status: Type.Integer(),
  body: Type.Optional(Type.String()),
  sha256: Type.Optional(Type.String()),
})
export type RecordedAnswer = Static<typeof RecordedAnswer>

/** A request as its handler gets it: parsed, and without members that no schema names. */
export const RecordedRequest = Type.Object({
  /** The tenant's time. */
  at: Moment,
  /** The real time, RFC 3339 with milliseconds. */
  receivedAt: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' }),
  /** The method and the path of the route, such as `GET /api/v1/direct-debit/{collectionReference}`. */
  operation: Type.String({ pattern: '^(GET|HEAD|POST|PUT|PATCH|DELETE) /' }),
  region: Type.Optional(Type.String()),
  params: TextMap,
  query: Type.Unsafe<Record<string, unknown>>({ type: 'object' }),
  body: Type.Optional(Anything),
  file: Type.Optional(Type.Object({ fileName: Type.String(), contentBase64: Type.String() })),
  /** The address of payout links from here on, where it has changed. */
  publicUrl: Type.Optional(Type.String()),
})
export type RecordedRequest = Static<typeof RecordedRequest>

const NullableAnswer = Type.Unsafe<RecordedAnswer | null>({ ...RecordedAnswer, type: ['object', 'null'] })

/** The members that identify a recording of this version. They are checked first. */
export const RecordingHead = labelled(assumed, {
  format: Type.Literal(RECORDING_FORMAT, { 'x-expected': RECORDING_FORMAT }),
  version: Type.Literal(RECORDING_VERSION, { 'x-expected': String(RECORDING_VERSION) }),
})

export const Recording = labelled(assumed, {
  ...RecordingHead.properties,
  /** The release that recorded it. */
  recordedBy: Type.String(),
  clientId: Type.String({ minLength: 1 }),
  seed: Type.String(),
  publicUrl: Type.String(),
  /** In seconds. */
  tokenLifetime: Type.Integer({ minimum: 1 }),
  identity: Type.Object({
    resets: Type.Integer({ minimum: 0 }),
    fixture: Type.String(),
    scope: Type.String(),
    allowedOrigins: Type.Unsafe<readonly string[]>(Type.Array(Type.String())),
    senderName: Type.Optional(Type.String()),
  }),
  /** False: the recording stopped at its bound, and later requests are missing. */
  complete: Type.Boolean(),
  /** The state before the first request. */
  start: StateDocument,
  requests: Type.Array(
    Type.Object({ n: Type.Integer({ minimum: 1 }), ...RecordedRequest.properties, answer: NullableAnswer }),
  ),
})
export type Recording = Static<typeof Recording>

/** The longest body of an answer that is kept as text, in bytes. */
const LONGEST_BODY = 16 * 1024

/** Returns an answer as a recording keeps it. */
export const toAnswer = (status: number, body: string): RecordedAnswer =>
  Buffer.byteLength(body) <= LONGEST_BODY ? { status, body } : { status, sha256: sha256(body) }
