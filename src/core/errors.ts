/**
 * The error catalogue: every answer with status 4xx or 5xx is one of these entries.
 * The envelope is documented (service interface, Errors 1); codes and statuses are not, so all are labelled `assumed`.
 * Other files name an error of the catalogue, never a status.
 */

export interface CatalogueEntry {
  /** The HTTP status of the code. */
  readonly status: number
  /** The condition of the error, for the documentation. */
  readonly when: string
  readonly 'x-fidelity': 'documented' | 'assumed'
}

const entry = (status: number, when: string): CatalogueEntry => ({ status, when, 'x-fidelity': 'assumed' })

export const catalogue = {
  MALFORMED_REQUEST: entry(400, 'Not HTTP, not JSON, not a form, bad percent-encoding, or a repeated scalar.'),
  MISSING_FIELD: entry(400, 'A required header, body member or form field is absent or empty.'),
  INVALID_FIELD: entry(400, 'A path, header or body value breaks its type, length, pattern, enum or range.'),
  INVALID_QUERY_PARAMETER: entry(400, 'A query parameter breaks its type, length, pattern, enum or range.'),
  INVALID_CURSOR: entry(400, 'The cursor was not issued by this server for this list.'),
  INVALID_REGION: entry(400, '`x-region` has a value that the endpoint does not serve.'),
  INVALID_BILL_REFERENCE: entry(400, '`uniqueReferenceIdentifier` breaks its pattern.'),
  REGION_CURRENCY_MISMATCH: entry(400, 'The currency does not belong to the region.'),
  PAYOUT_METHOD_MISMATCH: entry(400, 'The payout method does not belong to region and currency.'),
  AMOUNT_LIMIT_EXCEEDED: entry(400, "The amount is above the payout method's limit."),
  COLLECTION_DATE_TOO_EARLY: entry(
    400,
    'The collection date is nearer than two open T2 days (three after 16:00 Berlin).',
  ),
  COLLECTION_DATE_TOO_LATE: entry(400, 'The collection date is more than 365 days ahead.'),
  IMMUTABLE_FIELD: entry(400, '`counterpartyReference` in a counterparty update differs from the path.'),
  INCONSISTENT_BILL_UPDATE: entry(400, 'The status and openAmount of a bill update contradict each other.'),
  UNSUPPORTED_GRANT_TYPE: entry(400, '`grant_type` is not `client_credentials`.'),
  INVALID_CLIENT: entry(401, 'Unknown client, wrong secret, or HTTP Basic where `tokenAuthentication` is `form`.'),
  MISSING_TOKEN: entry(401, 'The request carries no bearer token.'),
  INVALID_TOKEN: entry(401, 'The bearer token was not issued by this sandbox, or its client has been reset.'),
  EXPIRED_TOKEN: entry(
    401,
    "The bearer token has expired on the client's clock, or by `POST /_sandbox/tokens/expire`.",
  ),
  ADMIN_TOKEN_REQUIRED: entry(401, 'Control plane: an admin token is set, and the call does not carry it.'),
  ORIGIN_NOT_ALLOWED: entry(
    403,
    "The origin of an embedded link is not on the client's list of allowed SDK origins, or the list is empty.",
  ),
  FORBIDDEN_ORIGIN: entry(
    403,
    'A web page of another origin sent the request. `SANDBOX_CORS_ORIGINS` opens `/api/v1` to an origin.',
  ),
  FORBIDDEN_HOST: entry(
    403,
    'Control plane, token endpoint, its metadata and pages of payout links: `Host` may be a public name, and `SANDBOX_ALLOWED_HOSTS` does not list it.',
  ),
  INVALID_PAGE_TOKEN: entry(403, 'A claim or decline does not carry the token of the page of its payout link.'),
  ROUTE_NOT_FOUND: entry(404, 'There is no such path. A forward slash in an identifier separates paths, too.'),
  MANDATE_NOT_FOUND: entry(404, 'No such mandate of this client in this region.'),
  COLLECTION_NOT_FOUND: entry(404, 'No such collection of this client in this region.'),
  PAYOUT_LINK_NOT_FOUND: entry(404, 'No such payout link of this client in this region.'),
  BILL_NOT_FOUND: entry(404, 'No such bill of this client in this region.'),
  COUNTERPARTY_NOT_FOUND: entry(404, 'No such counterparty of this client in this region.'),
  CLIENT_NOT_FOUND: entry(404, 'Control plane: no client has this id.'),
  REQUEST_NOT_FOUND: entry(404, "Control plane: the client's request log has no request of this number."),
  SCENARIO_NOT_FOUND: entry(404, 'Control plane: there is no scenario of this name.'),
  FAULT_NOT_FOUND: entry(404, 'Control plane: the client has no fault of this id.'),
  OUTCOME_NOT_FOUND: entry(404, 'Control plane: the client has no armed outcome of this id.'),
  METHOD_NOT_ALLOWED: entry(405, 'The path exists, with other methods: see `Allow`.'),
  REQUEST_TIMEOUT: entry(408, 'The request did not arrive in time.'),
  DUPLICATE_REFERENCE: entry(409, "The caller's reference is taken, whatever the body."),
  MANDATE_NOT_ACTIVE: entry(409, 'The mandate is not ACTIVE.'),
  RECORD_LIMIT_REACHED: entry(409, 'The client has as many records as SANDBOX_MAX_RECORDS allows.'),
  MANDATE_ALREADY_USED: entry(409, 'The ONE_OFF mandate has a collection already.'),
  PAYOUT_LINK_ALREADY_CLAIMED: entry(
    409,
    'The payout link has been claimed, so it can be neither cancelled nor claimed.',
  ),
  UI_MODE_MISMATCH: entry(409, 'Page of a payout link: the SDK shows a link that has the uiMode hosted.'),
  PAYOUT_LINK_NOT_CANCELLABLE: entry(409, 'The payout link is cancelled already.'),
  BILL_CANCELLED: entry(409, 'A cancelled bill takes no update and no document.'),
  ILLEGAL_TRANSITION: entry(409, 'Control plane: not legal from this state. The message names the legal moves.'),
  OPERATION_SUNSET: entry(
    410,
    'The operation is past its sunset, and `PUT /_sandbox/deprecations` has set `goneAfterSunset`.',
  ),
  PAYOUT_LINK_CLOSED: entry(410, 'Page of a payout link: the link is CANCELLED, EXPIRED or REJECTED.'),
  PAYLOAD_TOO_LARGE: entry(
    413,
    'The body is above 1 MiB (a document: above 10 MiB; a state document: above `SANDBOX_STATE_BYTES`; an expectation: above 512 KiB).',
  ),
  UNSUPPORTED_MEDIA_TYPE: entry(
    415,
    'Wrong Content-Type, a Content-Encoding, or a document that is not PDF, JPEG or PNG by its first bytes.',
  ),
  HEADERS_TOO_LARGE: entry(431, 'The request line and headers are above 16 KiB, or there are more than 200 headers.'),
  RATE_LIMITED: entry(429, 'A fault. With `Retry-After`.'),
  INTERNAL_ERROR: entry(500, 'An unexpected failure, or a fault. The message has no internal details.'),
  SERVICE_UNAVAILABLE: entry(
    503,
    'The server is closing, has no room for another client, cannot use its database, or a fault.',
  ),
} satisfies Record<string, CatalogueEntry>

export type ErrorCode = keyof typeof catalogue
/** All codes, in the order of the catalogue. */
export const CODES = Object.keys(catalogue) as ErrorCode[]

/** The documented error envelope (service interface, Errors 1). `field` is null if no field caused the error. */
export interface ErrorEnvelope {
  readonly code: ErrorCode
  readonly field: string | null
  readonly message: string
}

/** An error of the catalogue. `headers` are sent with the answer. */
export class ApiError extends Error {
  readonly field: string | null

  constructor(
    readonly code: ErrorCode,
    field: string | null,
    message: string,
    readonly headers: Readonly<Record<string, string | string[]>> = {},
    readonly status: number = catalogue[code].status,
  ) {
    super(message)
    // Clients choose the names of unknown fields, so they can be long.
    this.field = field === null ? null : shorten(field)
  }

  get envelope(): ErrorEnvelope {
    return { code: this.code, field: this.field, message: this.message }
  }
}

/**
 * Runs a check on one of several records. The path of the record precedes the field of an error.
 */
export function atPath<T>(path: string, check: () => T): T {
  try {
    return check()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw new ApiError(error.code, error.field === null ? path : `${path}.${error.field}`, error.message, error.headers)
  }
}

const QUOTED = 80

/** Quotes a value of the client in a message: at most 80 characters, control characters escaped. */
export function quote(value: unknown): string {
  if (typeof value !== 'string') return Array.isArray(value) ? 'an array' : describe(value)
  return JSON.stringify(shorten(value))
}

/** Shortens a name for a message. */
export const shorten = (name: string): string => (name.length > QUOTED ? `${name.slice(0, QUOTED - 1)}…` : name)

const describe = (value: unknown): string =>
  value === null
    ? 'null'
    : typeof value === 'object'
      ? 'an object'
      : `the ${typeof value} ${String(value).slice(0, QUOTED)}`

const refusal = (code: ErrorCode) => (field: string | null, message: string) => new ApiError(code, field, message)

/** Creates the errors of the catalogue, one function per case. The caller throws the result. */
export const errors = {
  malformed: refusal('MALFORMED_REQUEST'),
  missing: (field: string | null, message = `${field} is required.`) => new ApiError('MISSING_FIELD', field, message),
  invalid: refusal('INVALID_FIELD'),
  invalidQuery: refusal('INVALID_QUERY_PARAMETER'),
  invalidCursor: (path: string, region: string | undefined) =>
    new ApiError(
      'INVALID_CURSOR',
      'cursor',
      `The cursor is not one of this list. Pass nextCursor of a page of GET ${
        region === undefined ? path : `/api/v1/${path} in region ${region}`
      }, or leave it out.`,
    ),
  invalidRegion: (region: string, served: readonly string[]) =>
    new ApiError(
      'INVALID_REGION',
      'x-region',
      region === 'GB'
        ? `The region code GB was replaced by UK. This endpoint serves ${served.join(', ')}.`
        : `x-region must be one of ${served.join(', ')}, not ${quote(region)}.`,
    ),
  regionCurrencyMismatch: (region: string, currency: string, right: string) =>
    new ApiError(
      'REGION_CURRENCY_MISMATCH',
      'currency',
      `The currency of region ${region} is ${right}, not ${currency}.`,
    ),
  payoutMethodMismatch: (method: string, region: string, legal: readonly string[]) =>
    new ApiError(
      'PAYOUT_METHOD_MISMATCH',
      'payoutMethod',
      `${method} does not pay out in region ${region}. Methods there: ${legal.join(', ')}.`,
    ),
  amountLimitExceeded: (method: string, limit: string) =>
    new ApiError('AMOUNT_LIMIT_EXCEEDED', 'amount', `${method} carries at most ${limit}.`),
  collectionDateTooEarly: (date: string, earliest: string) =>
    new ApiError(
      'COLLECTION_DATE_TOO_EARLY',
      'collectionDate',
      `${date} is too early: the earliest date is ${earliest}.`,
    ),
  collectionDateTooLate: (date: string, latest: string) =>
    new ApiError('COLLECTION_DATE_TOO_LATE', 'collectionDate', `${date} is too late: the latest date is ${latest}.`),
  immutableCounterpartyReference: () =>
    new ApiError(
      'IMMUTABLE_FIELD',
      'counterpartyReference',
      'counterpartyReference cannot change: leave it out, or repeat the one in the path.',
    ),
  inconsistentBillUpdate: (field: string, message: string) => new ApiError('INCONSISTENT_BILL_UPDATE', field, message),
  invalidClient: (message = 'Unknown client_id, or client_secret does not belong to it.') =>
    new ApiError('INVALID_CLIENT', 'client_id', message),
  basicRefused: () =>
    new ApiError(
      'INVALID_CLIENT',
      'authorization',
      'This client takes its credentials in the form only: its setting tokenAuthentication is form. Leave HTTP Basic out.',
    ),
  missingToken: () =>
    new ApiError('MISSING_TOKEN', 'authorization', 'Send the header Authorization: Bearer <access_token>.', {
      'www-authenticate': 'Bearer realm="payments-sandbox"',
    }),
  invalidToken: () =>
    new ApiError('INVALID_TOKEN', 'authorization', 'The access token is not known here. Request a new one.', {
      'www-authenticate': 'Bearer realm="payments-sandbox", error="invalid_token"',
    }),
  expiredToken: () =>
    new ApiError('EXPIRED_TOKEN', 'authorization', 'The access token has expired. Request a new one.', {
      'www-authenticate': 'Bearer realm="payments-sandbox", error="invalid_token"',
    }),
  adminTokenRequired: () =>
    new ApiError(
      'ADMIN_TOKEN_REQUIRED',
      'authorization',
      'Send the header Authorization: Bearer <SANDBOX_ADMIN_TOKEN>, or the token as the password of HTTP Basic.',
      // A header for each: browsers read one challenge of a header.
      { 'www-authenticate': ['Basic', 'Bearer'].map(scheme => `${scheme} realm="payments-sandbox control plane"`) },
    ),
  forbiddenOrigin: (origin: string | undefined, isApi: boolean) =>
    new ApiError(
      'FORBIDDEN_ORIGIN',
      origin === undefined ? 'sec-fetch-site' : 'origin',
      `Web pages of ${origin === undefined ? 'another site' : `the origin ${quote(origin)}`} cannot send this request. ${
        isApi
          ? 'To open /api/v1 to an origin, add it to SANDBOX_CORS_ORIGINS.'
          : 'Behind a proxy, set SANDBOX_PUBLIC_URL to the URL that browsers use.'
      }`,
    ),
  forbiddenHost: (host: string) =>
    new ApiError(
      'FORBIDDEN_HOST',
      'host',
      `${quote(host)} may be a public name of another site. If it is a name of this server, add it to SANDBOX_ALLOWED_HOSTS.`,
    ),
  embedderNotAllowed: (origin: string) =>
    new ApiError(
      'ORIGIN_NOT_ALLOWED',
      'embedder',
      `${quote(origin)} cannot show this link: it is not on the client's list of allowed SDK origins, or the link has another origin.`,
    ),
  uiModeMismatch: () =>
    new ApiError(
      'UI_MODE_MISMATCH',
      'embedder',
      'The link has uiMode hosted, so that no page can embed it. Create it with uiMode embedded.',
    ),
  originNotAllowed: (origin: string | undefined) =>
    new ApiError(
      'ORIGIN_NOT_ALLOWED',
      'origin',
      origin === undefined
        ? "The client's list of allowed SDK origins is empty: no link can be embedded."
        : `${quote(origin)} is not on the client's list of allowed SDK origins.`,
    ),
  nothingAtRoot: () =>
    new ApiError(
      'ROUTE_NOT_FOUND',
      null,
      'There is nothing at /. The console is at /_sandbox/console, the reference of the interface at /docs, and the ' +
        'list of the calls of the control plane at /_sandbox.',
    ),
  routeNotFound: (near?: string, isOfApi = false) => {
    const list = isOfApi ? 'The page /docs has all paths.' : 'GET /_sandbox lists the paths of the control plane.'
    const message = near === undefined || isOfApi ? list : ''
    const question = near === undefined ? '' : `Did you mean ${near}? `
    return new ApiError('ROUTE_NOT_FOUND', null, `There is no such path. ${question}${message}`.trim())
  },
  /** The row of the kind in areas/index.ts has the code and the field. */
  recordNotFound: (code: ErrorCode, field: string, noun: string, reference: string) =>
    new ApiError(code, field, `There is no ${noun} ${quote(reference)} of this client in this region.`),
  clientNotFound: (clientId: string, field = 'client') =>
    new ApiError(
      'CLIENT_NOT_FOUND',
      field,
      `There is no client ${quote(clientId)}. Its first token request registers it.`,
    ),
  requestNotFound: (seq: string) =>
    new ApiError('REQUEST_NOT_FOUND', 'seq', `There is no request ${quote(seq)} in the request log of this client.`),
  scenarioNotFound: (name: string) =>
    new ApiError(
      'SCENARIO_NOT_FOUND',
      'name',
      `There is no scenario ${quote(name)}. GET /_sandbox/scenarios lists them.`,
    ),
  faultNotFound: (id: string) =>
    new ApiError('FAULT_NOT_FOUND', 'id', `There is no fault ${quote(id)} of this client.`),
  outcomeNotFound: (id: string) =>
    new ApiError('OUTCOME_NOT_FOUND', 'id', `There is no armed outcome ${quote(id)} of this client.`),
  operationSunset: (operation: string, sunset: string) =>
    new ApiError('OPERATION_SUNSET', null, `${operation} is gone since its sunset, ${sunset}.`),
  unknownFixture: (fixture: string, known: readonly string[]) =>
    new ApiError('INVALID_FIELD', 'fixture', `There is no fixture ${quote(fixture)}. Known: ${known.join(', ')}.`),
  methodNotAllowed: (method: string, allow: string) =>
    new ApiError('METHOD_NOT_ALLOWED', null, `${method} does not work on this path. These do: ${allow}.`, {
      allow,
    }),
  requestTimeout: () => new ApiError('REQUEST_TIMEOUT', null, 'The request did not arrive in time.'),
  duplicateReference: (field: string, reference: string) =>
    new ApiError('DUPLICATE_REFERENCE', field, `${quote(reference)} is taken already.`),
  mandateNotActive: (reference: string, status: string) =>
    new ApiError('MANDATE_NOT_ACTIVE', 'mandateReference', `The mandate ${quote(reference)} is ${status}, not ACTIVE.`),
  mandateAlreadyUsed: (reference: string) =>
    new ApiError(
      'MANDATE_ALREADY_USED',
      'mandateReference',
      `The ONE_OFF mandate ${quote(reference)} has been used already.`,
    ),
  payoutLinkAlreadyClaimed: (status: string) =>
    new ApiError('PAYOUT_LINK_ALREADY_CLAIMED', 'payoutLinkId', `The link has been claimed: it is ${status}.`),
  payoutLinkClosed: (status: string) =>
    new ApiError('PAYOUT_LINK_CLOSED', 'payoutLinkId', `The link can no longer be claimed: it is ${status}.`),
  invalidPageToken: () =>
    new ApiError('INVALID_PAGE_TOKEN', 'token', 'token must come from the page of this payout link.'),
  payoutLinkNotCancellable: (status: string) =>
    new ApiError('PAYOUT_LINK_NOT_CANCELLABLE', 'payoutLinkId', `The link is ${status} already.`),
  billCancelled: () =>
    new ApiError(
      'BILL_CANCELLED',
      'uniqueReferenceIdentifier',
      'The bill is CANCELLED: it takes no update and no document.',
    ),
  illegalTransition: refusal('ILLEGAL_TRANSITION'),
  recordLimitReached: (most: number) =>
    new ApiError(
      'RECORD_LIMIT_REACHED',
      null,
      `The client has ${most} records, which is the most (SANDBOX_MAX_RECORDS).`,
    ),
  tooManyRecords: (most: number) =>
    new ApiError('PAYLOAD_TOO_LARGE', null, `A client can have ${most} records (SANDBOX_MAX_RECORDS).`),
  payloadTooLarge: (field: string | null, limit: string) =>
    new ApiError('PAYLOAD_TOO_LARGE', field, `The body must not be larger than ${limit}.`),
  tooManyObjects: () =>
    new ApiError(
      'PAYLOAD_TOO_LARGE',
      null,
      'A body above 1 MiB must not have more than one object or array for each 16 bytes.',
    ),
  unsupportedMediaType: (field: string | null, message: string, headers?: Record<string, string>) =>
    new ApiError('UNSUPPORTED_MEDIA_TYPE', field, message, headers),
  headersTooLarge: () =>
    new ApiError(
      'HEADERS_TOO_LARGE',
      null,
      'The request line and headers must not be larger than 16 KiB together, with at most 200 headers.',
    ),
  internal: () => new ApiError('INTERNAL_ERROR', null, 'Something went wrong inside the sandbox. Its log says more.'),
  databaseUnavailable: () =>
    new ApiError('SERVICE_UNAVAILABLE', null, 'The database cannot be used at the moment. Repeat the request.', {
      'retry-after': '1',
    }),
  unavailable: (message: string, headers?: Record<string, string>) =>
    new ApiError('SERVICE_UNAVAILABLE', null, message, headers),
}
