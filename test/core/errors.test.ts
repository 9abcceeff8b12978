import t from 'tap'
import { errors, quote } from '../../src/core/errors.js'

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

t.test('decisions §2: what a message quotes stays on one line and is told by its type', async t => {
  t.equal(quote('a"b\n\u0000'), '"a\\"b\\n\\u0000"')
  t.equal(quote([1, 2]), 'an array')
  t.equal(quote({ a: 1 }), 'an object')
  t.match(quote(5), /number.*5/)
  t.match(quote(true), /boolean.*true/)
  t.match(quote(null), 'null')
})
