import { Type } from '@sinclair/typebox'
import { assumed, component, like, OneOf, Text } from '../../core/schemas.js'
import { After, any, client, flag, integer, list, members, Now, optional, range, rows, string } from '../schemas.js'

const Method = OneOf('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS')

const Flag = Type.Boolean({ 'x-expected': 'true or false' })
/** A status, or a class of them. */
const Statuses = Type.Unsafe<number | string>({
  type: ['integer', 'string'],
  pattern: '^[1-5](\\d\\d|[xX]{2})$',
  'x-expected': 'a status such as 404, or 4xx',
})
const LAST = 999_999_999_999_999

export const RequestQuery = Type.Object({
  ...client,
  after: optional(After, 'Only requests with a higher `seq`. Default: 0.'),
  method: optional(Method, 'Only requests with this method.'),
  path: optional(Text(1, 500), 'Only requests with this path. `*` matches any text, with slashes.'),
  status: optional(
    Statuses,
    'Only requests with this status of the answer, such as `404`, or of a class, such as `4xx`.',
  ),
  errors: optional(Flag, 'true: only requests with a status of 400 or above, or without an answer.'),
  hints: optional(Flag, 'true: only requests with a hint.'),
  reference: optional(
    Text(1, 128),
    'Only requests that created, read, changed or named a record with this reference or id.',
  ),
  format: optional(OneOf('json', 'har'), 'har: the answer is a HAR 1.2 document. Default: json.'),
  before: optional(range(1, LAST), 'Only requests with a lower `seq`.'),
  limit: optional(range(1, 1000), 'The maximum number of requests: the latest that match. Default: all.'),
  wait: optional(
    range(0, 60),
    'The maximum wait for the next request that matches, in seconds of real time. Default: 0, the answer comes at once.',
  ),
})
export const RequestParams = Type.Object({
  seq: assumed(
    like(Type.String({ pattern: '^[1-9]\\d{0,14}$', 'x-expected': 'a number from 1 to 999999999999999' }), '1'),
    'The number of the request in the log.',
  ),
})

const requestLine = {
  seq: integer('The number of the request in the log, from 1.'),
  method: string('The method of the request.'),
  path: string('The path of the request, as received and without query.'),
  status: assumed(
    Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
    'The status of the answer, or null if a fault suppressed the answer.',
  ),
}
export type Fields = Readonly<Record<string, string>>
/** A fault that fired. `missing`: the path of a patch that the answer lacks. */
export interface FiredFault {
  readonly id: string
  readonly kind: string
  readonly when?: 'before' | 'after'
  readonly status?: number
  readonly missing?: string
}
/** A logged request and its answer, of which the bodies can be any JSON value. */
export const LoggedRequest = component('LoggedRequest', {
  seq: requestLine.seq,
  at: Now,
  receivedAt: string('The real time of the request, in UTC with milliseconds.'),
  method: requestLine.method,
  path: requestLine.path,
  query: any<Readonly<Record<string, string | string[]>>>('The query parameters by name. A repeated one is a list.'),
  headers: any<Fields>('The headers of the request, by name in lower case.'),
  body: any(
    'The body of the request: the value of JSON and of a form, a note on another body, or null if there is none.',
  ),
  text: optional(
    Type.String(),
    'A body that is not JSON. Absent if it may hold a secret, or has more than 10,000 characters, or there is none.',
  ),
  status: requestLine.status,
  responseHeaders: any<Fields>('The headers of the answer, by name in lower case.'),
  responseBody: any('The body of the answer, or null if there is none, or a fault suppressed the answer.'),
  durationMs: assumed(Type.Number(), 'Milliseconds of real time until the answer, including the delays of faults.'),
  faults: assumed(
    Type.Unsafe<readonly FiredFault[]>(Type.Array(Type.Any())),
    'The faults that fired: `id` and the members of the effect without `message`, `headers` and `patch`. One that took the ' +
      'answer away after the request was handled has the `status` of the answer, too. A patch with a path that the answer ' +
      'lacks has the path as `missing`.',
  ),
  hints: list('The sentences of the header `Sandbox-Hint`.', Type.String()),
  records: rows('The records that the request created, read, changed or named, at most 20. A list has none.', {
    kind: string('The kind of the record, as in events, such as `payoutLink`.'),
    reference: string('The reference or id of the record.'),
  }),
})
export const RequestList = component('RequestList', {
  data: list('The requests that match, in order.', LoggedRequest),
  last: integer('The `seq` of the latest request, whether it matches or not.'),
  dropped: integer('The number of requests that the log dropped to make room for later ones.'),
})

export const Har = component('Har', {
  log: members('The document, as the specification of HAR 1.2 defines it.', {
    version: assumed(OneOf('1.2'), 'The version of the format.'),
    creator: any('Name and release of the program.'),
    pages: list('Empty: the log knows no pages.', Type.Any()),
    entries: list(
      'The requests that match, in order. `startedDateTime` is the time of the tenant. A suppressed answer has the ' +
        'status 0. `_seq`, `_faults` and `_hints` are the members of the request log.',
      Type.Any(),
    ),
    _seed: string('The seed of the server.'),
    _complete: flag(
      'Whether these are all requests of the client since its start or its last reset. Several servers of one database ' +
        'do not know it.',
    ),
    _steeredBy: list(
      'The other calls that have changed the client, except the clock, such as `POST /_sandbox/faults`. ' +
        '`payments-sandbox replay` does not repeat them.',
      Type.String(),
    ),
  }),
})

const Anything = Type.Unsafe<unknown>({ 'x-expected': 'any JSON value' })
export const Verification = component(
  'VerificationRequest',
  {
    method: optional(Method, 'The method. Default: any.'),
    path: optional(Text(1, 500), 'The path without query. `*` matches any text, with slashes. Default: any.'),
    query: optional(
      Type.Unsafe<Record<string, string | string[]>>({
        type: 'object',
        maxProperties: 50,
        additionalProperties: {
          type: ['string', 'array'],
          items: { type: 'string', 'x-expected': 'a string' },
          'x-expected': 'a string, or a list of strings where it is repeated',
        },
        'x-expected': 'an object of query parameters and their values',
      }),
      'Query parameters and their values, as text. A repeated one is a list. Others may be present.',
    ),
    headers: optional(
      Type.Unsafe<Record<string, string>>({
        type: 'object',
        maxProperties: 50,
        additionalProperties: { type: 'string', 'x-expected': 'a string' },
        'x-expected': 'an object of header fields and their values',
      }),
      'Headers and their values as the log shows them, such as `Bearer ***`. Names in any case. Others may be present.',
    ),
    body: optional(
      Anything,
      'The body as the log shows it. An object may have further members, at any depth. Lists must be equal.',
    ),
    status: optional(range(100, 599), 'The status of the answer. Default: any.'),
    times: optional(range(0, 1_000_000), 'The exact number of requests, without `atLeast` and `atMost`.'),
    atLeast: optional(range(0, 1_000_000), 'The minimum number of requests. Default: 1, or 0 with `atMost`.'),
    atMost: optional(range(0, 1_000_000), 'The maximum number of requests. Default: no limit.'),
  },
  { method: 'POST', path: '/api/v1/direct-debit', body: { amount: '49.90' }, times: 1 },
)
export const VerificationResult = component('VerificationResult', {
  matched: flag('Whether the number of matching requests is as expected.'),
  count: integer('The number of matching requests.'),
  dropped: integer('The number of requests that the log dropped earlier. They are not compared.'),
  nearestMisses: optional(
    Type.Array(
      Type.Object({
        ...requestLine,
        differences: rows('The first 50 differences from the expectation.', {
          at: string('The place of the difference, such as `body.amount`.'),
          expected: any('The expected value, or the first 10,000 characters of a longer one. Secrets are masked.'),
          actual: optional(
            Type.Any(),
            'The value of the request, shortened in the same way. Absent if the request has no value.',
          ),
        }),
        omitted: optional(Type.Integer(), 'The number of further differences. Absent if there are none.'),
      }),
    ),
    'Up to three other requests with the fewest differences. Another method or path counts ten times. Absent if `matched` is true.',
  ),
})
