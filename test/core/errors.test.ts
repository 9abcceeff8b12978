import t from 'tap'
import { ApiError, atPath, catalogue, errors, quote } from '../../src/core/errors.js'

/** Decisions §2, without what comes with faults, deprecations and the admin token. */
const statuses = {
  MALFORMED_REQUEST: 400,
  MISSING_FIELD: 400,
  INVALID_FIELD: 400,
  INVALID_QUERY_PARAMETER: 400,
  INVALID_CURSOR: 400,
  INVALID_REGION: 400,
  INVALID_BILL_REFERENCE: 400,
  REGION_CURRENCY_MISMATCH: 400,
  PAYOUT_METHOD_MISMATCH: 400,
  AMOUNT_LIMIT_EXCEEDED: 400,
  COLLECTION_DATE_TOO_EARLY: 400,
  COLLECTION_DATE_TOO_LATE: 400,
  IMMUTABLE_FIELD: 400,
  INCONSISTENT_BILL_UPDATE: 400,
  UNSUPPORTED_GRANT_TYPE: 400,
  INVALID_CLIENT: 401,
  MISSING_TOKEN: 401,
  INVALID_TOKEN: 401,
  EXPIRED_TOKEN: 401,
  ADMIN_TOKEN_REQUIRED: 401,
  ORIGIN_NOT_ALLOWED: 403,
  FORBIDDEN_ORIGIN: 403,
  FORBIDDEN_HOST: 403,
  INVALID_PAGE_TOKEN: 403,
  ROUTE_NOT_FOUND: 404,
  MANDATE_NOT_FOUND: 404,
  COLLECTION_NOT_FOUND: 404,
  PAYOUT_LINK_NOT_FOUND: 404,
  BILL_NOT_FOUND: 404,
  COUNTERPARTY_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  DUPLICATE_REFERENCE: 409,
  MANDATE_NOT_ACTIVE: 409,
  MANDATE_ALREADY_USED: 409,
  PAYOUT_LINK_ALREADY_CLAIMED: 409,
  PAYOUT_LINK_NOT_CANCELLABLE: 409,
  BILL_CANCELLED: 409,
  ILLEGAL_TRANSITION: 409,
  OPERATION_SUNSET: 410,
  PAYOUT_LINK_CLOSED: 410,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  HEADERS_TOO_LARGE: 431,
  RATE_LIMITED: 429,
  INTERNAL_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
}
/** Codes of the control plane that decisions §2 does not list. */
const controlPlane = { CLIENT_NOT_FOUND: 404, FAULT_NOT_FOUND: 404, OUTCOME_NOT_FOUND: 404, ANSWER_TOO_LARGE: 413 }

t.test('decisions §2: every code of the table is in the catalogue, with its status', async t => {
  const entries: Record<string, { status: number } | undefined> = catalogue
  for (const [code, status] of Object.entries({ ...statuses, ...controlPlane })) {
    t.equal(entries[code]?.status, status, code)
  }
})

t.test('decisions §2: the catalogue has no other code', async t => {
  const known = new Set(Object.keys({ ...statuses, ...controlPlane }))
  t.same(
    Object.keys(catalogue).filter(code => !known.has(code)),
    [],
  )
})

t.test('decisions, preamble: every entry says when it is answered, and that it is assumed', async t => {
  for (const [code, entry] of Object.entries(catalogue)) {
    t.equal(entry['x-fidelity'], 'assumed', code)
    t.match(entry.when, /^.{10,}\.$/, code)
  }
})

t.test('interface, Errors 1: an error has the members code, field and message, and its status', async t => {
  const error = new ApiError('INVALID_FIELD', 'amount', 'amount must be a string.', { 'x-extra': '1' })
  t.same(error.envelope, { code: 'INVALID_FIELD', field: 'amount', message: 'amount must be a string.' })
  t.same(Object.keys(error.envelope), ['code', 'field', 'message'])
  t.equal(error.status, 400)
  t.same(error.headers, { 'x-extra': '1' })
  t.same(new ApiError('INTERNAL_ERROR', null, 'x').headers, {})
  t.type(error, Error)
})

t.test('decisions §2: the errors that name a field', async t => {
  const cases: [ApiError, string, string | null][] = [
    [errors.malformed('limit', 'x'), 'MALFORMED_REQUEST', 'limit'],
    [errors.missing('amount'), 'MISSING_FIELD', 'amount'],
    [errors.invalid('amount', 'x'), 'INVALID_FIELD', 'amount'],
    [errors.invalidCursor(), 'INVALID_CURSOR', 'cursor'],
    [errors.invalidRegion('XX', ['EU']), 'INVALID_REGION', 'x-region'],
    [errors.regionCurrencyMismatch('EU', 'USD', 'EUR'), 'REGION_CURRENCY_MISMATCH', 'currency'],
    [errors.payoutMethodMismatch('US-ACH', 'EU', ['SEPA-CT']), 'PAYOUT_METHOD_MISMATCH', 'payoutMethod'],
    [errors.amountLimitExceeded('UK-FAST', '1000000.00 GBP'), 'AMOUNT_LIMIT_EXCEEDED', 'amount'],
    [errors.collectionDateTooEarly('2026-11-02', '2026-11-04'), 'COLLECTION_DATE_TOO_EARLY', 'collectionDate'],
    [errors.collectionDateTooLate('2028-11-02', '2027-11-02'), 'COLLECTION_DATE_TOO_LATE', 'collectionDate'],
    [errors.immutableCounterpartyReference(), 'IMMUTABLE_FIELD', 'counterpartyReference'],
    [errors.inconsistentBillUpdate('status', 'x'), 'INCONSISTENT_BILL_UPDATE', 'status'],
    [errors.invalidClient(), 'INVALID_CLIENT', 'client_id'],
    [errors.originNotAllowed('https://x.example'), 'ORIGIN_NOT_ALLOWED', 'origin'],
    [errors.forbiddenOrigin('https://x.example', true), 'FORBIDDEN_ORIGIN', 'origin'],
    [errors.forbiddenOrigin(undefined, false), 'FORBIDDEN_ORIGIN', 'sec-fetch-site'],
    [errors.forbiddenHost('x.example'), 'FORBIDDEN_HOST', 'host'],
    [errors.routeNotFound(), 'ROUTE_NOT_FOUND', null],
    [errors.mandateNotFound('MND-0001'), 'MANDATE_NOT_FOUND', 'mandateReference'],
    [errors.collectionNotFound('COL-0001'), 'COLLECTION_NOT_FOUND', 'collectionReference'],
    [errors.payoutLinkNotFound('pl_00001'), 'PAYOUT_LINK_NOT_FOUND', 'payoutLinkId'],
    [errors.billNotFound('INV-1'), 'BILL_NOT_FOUND', 'uniqueReferenceIdentifier'],
    [errors.counterpartyNotFound('CPTY-1'), 'COUNTERPARTY_NOT_FOUND', 'counterpartyReference'],
    [errors.clientNotFound('acme'), 'CLIENT_NOT_FOUND', 'client'],
    [errors.outcomeNotFound('outcome-9'), 'OUTCOME_NOT_FOUND', 'id'],
    [errors.unknownFixture('x', ['empty']), 'INVALID_FIELD', 'fixture'],
    [errors.methodNotAllowed('PUT', 'GET'), 'METHOD_NOT_ALLOWED', null],
    [errors.requestTimeout(), 'REQUEST_TIMEOUT', null],
    [errors.duplicateReference('mandateReference', 'MND-0001'), 'DUPLICATE_REFERENCE', 'mandateReference'],
    [errors.mandateNotActive('MND-0001', 'CANCELLED'), 'MANDATE_NOT_ACTIVE', 'mandateReference'],
    [errors.mandateAlreadyUsed('MND-0001'), 'MANDATE_ALREADY_USED', 'mandateReference'],
    [errors.payoutLinkAlreadyClaimed('PAID'), 'PAYOUT_LINK_ALREADY_CLAIMED', 'payoutLinkId'],
    [errors.payoutLinkNotCancellable('EXPIRED'), 'PAYOUT_LINK_NOT_CANCELLABLE', 'payoutLinkId'],
    [errors.billCancelled(), 'BILL_CANCELLED', 'uniqueReferenceIdentifier'],
    [errors.illegalTransition(null, 'x'), 'ILLEGAL_TRANSITION', null],
    [errors.payloadTooLarge(null, '1 MiB'), 'PAYLOAD_TOO_LARGE', null],
    [errors.unsupportedMediaType('content-type', 'x'), 'UNSUPPORTED_MEDIA_TYPE', 'content-type'],
    [errors.headersTooLarge(), 'HEADERS_TOO_LARGE', null],
    [errors.internal(), 'INTERNAL_ERROR', null],
    [errors.unavailable('x'), 'SERVICE_UNAVAILABLE', null],
  ]
  for (const [error, code, field] of cases) {
    t.equal(error.code, code)
    t.equal(error.field, field, code)
  }
})

t.test('decisions §2: a message says what was wrong and what would be right', async t => {
  t.match(errors.missing('amount').message, 'amount')
  t.match(errors.invalidRegion('XX', ['EU', 'US']).message, /EU, US.*"XX"/)
  t.match(errors.invalidRegion('GB', ['EU', 'UK']).message, /GB.*replaced by UK/)
  t.match(errors.regionCurrencyMismatch('EU', 'USD', 'EUR').message, /EUR.*USD/)
  t.match(errors.payoutMethodMismatch('US-ACH', 'UK', ['UK-BACS', 'UK-FAST']).message, /US-ACH.*UK-BACS, UK-FAST/)
  t.match(errors.amountLimitExceeded('UK-FAST', '1000000.00 GBP').message, /UK-FAST.*1000000\.00 GBP/)
  t.match(errors.collectionDateTooEarly('2026-11-02', '2026-11-04').message, /2026-11-02.*2026-11-04/)
  t.match(errors.collectionDateTooLate('2028-11-02', '2027-11-02').message, /2028-11-02.*2027-11-02/)
  t.match(errors.clientNotFound('acme').message, '"acme"')
  t.match(errors.unknownFixture('x', ['demo', 'empty']).message, /"x".*demo, empty/)
  t.match(errors.methodNotAllowed('PUT', 'GET, OPTIONS').message, /PUT.*GET, OPTIONS/)
  t.match(errors.mandateNotActive('MND-0001', 'CANCELLED').message, /"MND-0001".*CANCELLED.*ACTIVE/)
  t.match(errors.payoutLinkAlreadyClaimed('PAID').message, 'PAID')
  t.match(errors.payoutLinkNotCancellable('EXPIRED').message, 'EXPIRED')
  t.match(errors.payloadTooLarge(null, '1 MiB').message, '1 MiB')
})

t.test('decisions §3 and §1: the headers that errors bring along', async t => {
  t.same(errors.invalidClient().headers, {}, 'the token endpoint adds the challenge where Basic was used')
  t.same(errors.missingToken().headers, { 'www-authenticate': 'Bearer realm="payments-sandbox"' })
  for (const error of [errors.invalidToken(), errors.expiredToken()]) {
    t.match(
      error.headers['www-authenticate'],
      /^Bearer realm="payments-sandbox", error="invalid_token"(, error_description="[^"]+")?$/,
      error.code,
    )
  }
  t.same(errors.methodNotAllowed('PUT', 'GET, OPTIONS').headers, { allow: 'GET, OPTIONS' })
  t.same(errors.unavailable('x', { connection: 'close' }).headers, { connection: 'close' })
  t.same(errors.unsupportedMediaType(null, 'x', { 'accept-patch': 'application/json' }).headers, {
    'accept-patch': 'application/json',
  })
})

t.test('decisions §2: a message quotes no more than 80 characters of the input', async t => {
  t.equal(quote('x'.repeat(80)), `"${'x'.repeat(80)}"`)
  for (const text of ['x'.repeat(81), 'x'.repeat(100_000), 'é'.repeat(200)]) {
    const quoted = JSON.parse(quote(text)) as string
    t.ok(quoted.length <= 80, `${quoted.length} characters`)
    t.equal(quoted.slice(0, 79), text.slice(0, 79))
  }
  t.ok(quote(10n ** 100n).length <= 100)
  t.notMatch(errors.mandateNotFound('x'.repeat(100)).message, 'x'.repeat(81))
  t.notMatch(errors.invalidRegion('x'.repeat(100), ['EU']).message, 'x'.repeat(81))
  t.notMatch(errors.clientNotFound('x'.repeat(100)).message, 'x'.repeat(81))
  t.notMatch(errors.unknownFixture('x'.repeat(100), []).message, 'x'.repeat(81))
  t.notMatch(errors.originNotAllowed(`https://${'x'.repeat(100)}`).message, 'x'.repeat(81))
})

t.test('decisions §2: what a message quotes stays on one line and is told by its type', async t => {
  t.equal(quote('a"b\n\u0000'), '"a\\"b\\n\\u0000"')
  t.equal(quote([1, 2]), 'an array')
  t.equal(quote({ a: 1 }), 'an object')
  t.match(quote(5), /number.*5/)
  t.match(quote(true), /boolean.*true/)
  t.match(quote(null), 'null')
})

t.test('control plane, POST /seed: a refusal of one of several records names its path', async t => {
  const refuse = (error: unknown) => () => {
    throw error
  }
  t.throws(() => atPath('records.bills.3', refuse(errors.invalid('dueDate', 'wrong'))), {
    code: 'INVALID_FIELD',
    status: 400,
    field: 'records.bills.3.dueDate',
    message: 'wrong',
  })
  t.throws(() => atPath('records.bills.3', refuse(errors.illegalTransition(null, 'wrong'))), {
    code: 'ILLEGAL_TRANSITION',
    field: 'records.bills.3',
  })
  t.throws(
    () => atPath('a', refuse(errors.unavailable('x', { connection: 'close' }))),
    new ApiError('SERVICE_UNAVAILABLE', 'a', 'x', { connection: 'close' }),
  )
  const bug = new TypeError('bug')
  t.throws(() => atPath('records.bills.3', refuse(bug)), bug, 'what is no refusal goes through as it is')
  t.equal(
    atPath('records.bills.3', () => 42),
    42,
  )
})
