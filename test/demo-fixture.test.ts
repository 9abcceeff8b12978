import t from 'tap'
import { verbTo } from '../src/areas/bills/lifecycle.js'
import {
  COLLECTION_STATUSES,
  CUT_OFF,
  collectionDateBounds,
  collectionLifecycle,
} from '../src/areas/direct-debit/lifecycle.js'
import { findOutcome } from '../src/areas/direct-debit/outcomes.js'
import { codesOf } from '../src/areas/direct-debit/reason-codes.js'
import { MANDATE_STATUSES, MONTHS_UNTIL_EXPIRY } from '../src/areas/mandates/lifecycle.js'
import { PAYOUT_LINK_STATUSES } from '../src/areas/payout-links/lifecycle.js'
import { PAYOUT_METHODS, payoutMethods, processingAt } from '../src/areas/payout-links/methods.js'
import { checkFixture } from '../src/check-fixture.js'
import { addOpenDays, T2 } from '../src/core/business-days.js'
import { parseDuration } from '../src/core/duration.js'
import { isBic } from '../src/core/identifiers.js'
import { parseAmount } from '../src/core/money.js'
import type { Region } from '../src/core/regions.js'
import { CURRENCY_OF, REGIONS } from '../src/core/regions.js'
import type { CalendarDate, Instant } from '../src/core/time.js'
import { addDays, addMonths, formatInstant, instantOf, localDate, localTime, parseInstant } from '../src/core/time.js'
import { loadFixtures } from '../src/fixtures.js'
import { OWN_FIXTURES } from '../src/package.js'
import type { Sandbox } from '../src/sandbox.js'
import { createSandbox, DEMO_CLIENT } from '../src/sandbox.js'
import type { SeedRecords } from '../src/seed.js'
import type { World } from '../src/world.js'
import { build, call, MONDAY, requestToken } from './helper.js'

const fixtures = loadFixtures(OWN_FIXTURES)
const BERLIN = 'Europe/Berlin'
const DAY = 86_400_000

/** Days on which something about the calendar is odd, and the days around them. */
const days: CalendarDate[] = [
  ...around('2026-12-31', 9, 8), // Christmas on Friday and Saturday, New Year
  ...around('2027-03-28', 4, 4), // Easter Sunday, on which clocks go forward
  ...around('2027-10-31', 2, 2), // clocks go back
  ...around('2028-02-29', 2, 2),
  ...around('2028-03-26', 1, 1), // clocks go forward
  ...around('2028-04-16', 4, 9), // Easter
  ...around('2028-05-01', 3, 2),
  ...around('2028-12-31', 8, 7), // Christmas on Monday and Tuesday
  ...around('2031-01-05', 14, 14), // both holidays in the middle of a week
  ...around('2026-07-15', 6, 0), // a plain week
]
const times = ['00:00', '00:30', '08:59', '09:00', '13:59', '14:00', '15:59', '16:00', '16:01', '23:30', '23:59']
const starts: Instant[] = days.flatMap((date, index) =>
  // Every day at three times, which differ from day to day.
  [0, 4, 8].map(offset => instantOf(date, times[(index + offset) % times.length] as string, BERLIN)),
)

function around(date: CalendarDate, before: number, after: number): CalendarDate[] {
  return Array.from({ length: before + after + 1 }, (_, index) => addDays(date, index - before))
}

function sandboxAt(frozenAt: Instant): Sandbox {
  return createSandbox({
    seed: 'test',
    frozenAt,
    fixtures,
    clients: [],
    openRegistration: true,
    maxTenants: 10,
    tokenLifetime: 3600,
    publicUrl: () => 'http://127.0.0.1:8080',
  })
}

const worldAt = (start: Instant): World => sandboxAt(start).tenant(DEMO_CLIENT.clientId, 0).world
const recordsAt = (start: Instant) => sandboxAt(start).fixtureRecords('demo', start) as Required<SeedRecords>

const at = (moment: string | undefined) => parseInstant(moment as string) as Instant
/** The moment of a time of day in Berlin, `days` open days after a collection date. */
const onOpenDay = (date: CalendarDate, days: number, time: string) =>
  instantOf(addOpenDays(T2, date, days), time, BERLIN)

/** All that is wrong with a demo world that starts at an instant. Empty when nothing is. */
function inconsistencies(start: Instant): string[] {
  const found: string[] = []
  const check = (holds: boolean, reference: string, what: string) => {
    if (!holds) found.push(`${formatInstant(start)} ${reference}: ${what}`)
  }
  const world = worldAt(start)
  const records = recordsAt(start)
  const collections = records.collections.map(
    ({ collectionReference }) => world.collections.entry(collectionReference).record,
  )
  const isPast = (moment: Instant) => moment <= start

  for (const { mandateReference } of records.mandates) {
    const { record: mandate, next } = world.mandates.explain(mandateReference)
    const { status, type, signatureDate, createdAt, updatedAt, lastPresentedAt } = mandate
    const own = collections.filter(collection => collection.mandateReference === mandateReference)
    const holds = (that: boolean, what: string) => check(that, mandateReference, what)

    holds(signatureDate <= localDate(at(createdAt), BERLIN), 'was signed before it was created')
    holds(at(createdAt) <= at(updatedAt) && isPast(at(updatedAt)), 'was created, then updated, before now')
    const expiresAt = addMonths(at(lastPresentedAt ?? createdAt), MONTHS_UNTIL_EXPIRY)
    if (status === 'ACTIVE') holds(start < expiresAt && at(next?.at) === expiresAt, 'is still good')
    if (status === 'EXPIRED') {
      holds(expiresAt <= at(updatedAt) && at(updatedAt) <= expiresAt + 2 * DAY, 'expired after 36 months')
    }
    if (status === 'PENDING' || status === 'FAILED') holds(own.length === 0, 'was never active, so never collected')
    if (status !== 'ACTIVE') {
      holds(!own.some(collection => collection.status === 'PENDING'), 'is not active, so nothing is pending')
    }
    if (type === 'ONE_OFF') {
      holds(own.filter(collection => collection.status !== 'CANCELLED').length <= 1, 'is used no more than once')
    }
    if (own.some(collection => ['SUBMITTED', 'PROCESSING', 'SETTLED', 'RETURNED'].includes(collection.status))) {
      holds(lastPresentedAt !== undefined && isPast(at(lastPresentedAt)), 'has been presented')
    }
    for (const collection of own) {
      holds(at(createdAt) < at(collection.initiatedAt), `is older than ${collection.collectionReference}`)
      if (['SUBMITTED', 'PROCESSING', 'SETTLED'].includes(collection.status)) {
        holds(at(collection.initiatedAt) < at(lastPresentedAt), `was presented with ${collection.collectionReference}`)
        holds(at(lastPresentedAt) <= start, 'was not presented in the future')
      }
    }
  }

  for (const seed of records.collections) {
    const { record: collection, next } = world.collections.explain(seed.collectionReference)
    const { status, collectionDate, initiatedAt, updatedAt, reasonCode = 'none', mandateReference } = collection
    const initiated = at(initiatedAt)
    const updated = at(updatedAt)
    const holds = (that: boolean, what: string) => check(that, seed.collectionReference, `${status} ${what}`)
    const mandate = world.mandates.get(mandateReference)
    /** Whether the last update happened at a moment, or a while after it: relative dates cannot say it exactly. */
    const updatedAbout = (moment: Instant) => moment <= updated && updated <= moment + 9 * DAY

    const { earliest, latest } = collectionDateBounds(
      localDate(initiated, BERLIN),
      localTime(initiated, BERLIN) > CUT_OFF,
    )
    holds(collectionDate === seed.collectionDate, 'is due on an open day')
    holds(earliest <= collectionDate && collectionDate <= latest, 'was initiated in time')
    holds(initiated < start && initiated <= updated && isPast(updated), 'was initiated, then updated, before now')
    holds(
      status === 'PENDING' || status === 'CANCELLED' || initiated < updated,
      'was updated after it had been initiated',
    )
    holds(
      ['REJECTED', 'RETURNED', 'FAILED'].includes(status) === (collection.reasonCode !== undefined),
      'has a reason if need be',
    )

    switch (status) {
      case 'PENDING':
        holds(onOpenDay(collectionDate, -2, '16:00') > start, 'is submitted later')
        holds(at(next?.at) > start && mandate.status === 'ACTIVE', 'will be submitted')
        holds(updated === initiated, 'has not been updated')
        break
      case 'SUBMITTED':
        holds(onOpenDay(collectionDate, -1, '09:00') > start && at(next?.at) > start, 'is processed later')
        break
      case 'PROCESSING':
        holds(onOpenDay(collectionDate, 0, '14:00') > start && at(next?.at) > start, 'is settled later')
        break
      case 'SETTLED':
        holds(updatedAbout(onOpenDay(collectionDate, 0, '14:00')), 'has settled')
        holds(next === null || at(next.at) > start, 'is not overdue to be returned')
        break
      case 'RETURNED': {
        const until = {
          return: onOpenDay(addOpenDays(T2, collectionDate, 5), 0, '23:59'),
          refund: onOpenDay(addDays(collectionDate, 56), 0, '23:59'),
          'unauthorised-refund': addMonths(onOpenDay(collectionDate, 0, '23:59'), 13),
        }
        const phases = (['return', 'refund', 'unauthorised-refund'] as const).filter(phase =>
          codesOf(phase).includes(reasonCode),
        )
        holds(
          phases.some(phase => updated <= until[phase]),
          'came back while it could',
        )
        holds(onOpenDay(collectionDate, 0, '14:00') < updated, 'had settled')
        break
      }
      case 'REJECTED': {
        const inClearing =
          codesOf('clearing').includes(reasonCode) && updatedAbout(onOpenDay(collectionDate, -1, '09:00'))
        const byBank = codesOf('bank').includes(reasonCode) && updatedAbout(onOpenDay(collectionDate, 0, '14:00'))
        holds(inClearing || byBank, 'was rejected in clearing or by the bank')
        break
      }
      case 'FAILED': {
        const submission = onOpenDay(collectionDate, -2, '16:00')
        if (codesOf('settlement').includes(reasonCode)) {
          holds(updatedAbout(onOpenDay(collectionDate, 0, '14:00')), 'failed to settle')
        } else {
          holds(codesOf('submission').includes(reasonCode) && updatedAbout(submission), 'failed at its submission')
          const ended = at(mandate.updatedAt)
          holds(
            mandate.status !== 'ACTIVE' && initiated < ended && ended <= submission,
            'lost its mandate before submission',
          )
        }
        break
      }
      case 'CANCELLED':
        holds(updated < onOpenDay(collectionDate, -2, '16:00'), 'was cancelled before its submission')
        if (mandate.status === 'CANCELLED') holds(updatedAt === mandate.updatedAt, 'went with its mandate')
        break
    }
  }

  for (const { payoutLinkId } of records.payoutLinks) {
    const { record: link, next } = world.payoutLinks.explain(payoutLinkId as string)
    const { status, payoutMethod, createdAt, updatedAt, expiresAt, expiryPeriod, claimedAt, claim } = link
    const holds = (that: boolean, what: string) => check(that, payoutLinkId as string, `${status} ${what}`)
    const updated = at(updatedAt)

    holds(at(expiresAt) === at(createdAt) + (parseDuration(expiryPeriod) as number) * 1000, 'expires after its period')
    holds(at(createdAt) <= updated && isPast(updated), 'was created, then updated, before now')
    holds((status === 'CANCELLED') === (link.cancellationComment !== undefined), 'has a comment if need be')
    holds((status === 'REJECTED') === (link.decline !== undefined), 'has a decline if need be')
    const isClaimed = ['CLAIMED', 'PROCESSING', 'PAID', 'FAILED'].includes(status)
    holds(isClaimed === (claim !== undefined) && isClaimed === (claimedAt !== undefined), 'has a claim if need be')

    const claimed = isClaimed ? at(claimedAt) : 0
    if (isClaimed) holds(at(createdAt) < claimed && claimed < at(expiresAt), 'was claimed in time')
    const due = payoutMethods[payoutMethod].paidAt(claimed)
    if (status === 'ACTIVE') holds(updatedAt === createdAt && at(expiresAt) > start, 'has not expired')
    if (status === 'EXPIRED') holds(updatedAt === expiresAt, 'has expired')
    if (status === 'CANCELLED' || status === 'REJECTED') holds(updated < at(expiresAt), 'had not expired')
    if (status === 'CLAIMED') {
      holds(updated === claimed && processingAt(claimed) > start && at(next?.at) > start, 'goes on later')
    }
    if (status === 'PROCESSING') holds(updated === processingAt(claimed) && due > start, 'is paid later')
    if (status === 'PAID') holds(updated === due, 'was paid when the method says')
    if (status === 'FAILED') holds(processingAt(claimed) < updated && updated < due, 'failed in processing')
  }

  for (const seed of records.bills) {
    const { uniqueReferenceIdentifier, currency } = seed
    const region = REGIONS.find(candidate => CURRENCY_OF[candidate] === currency) as Region
    const bill = world.bills.get(region, uniqueReferenceIdentifier)
    const holds = (that: boolean, what: string) => check(that, uniqueReferenceIdentifier, `${bill.status} ${what}`)
    const open = parseAmount(bill.openAmount)
    const total = parseAmount(bill.totalAmount)
    const issued = bill.issueDate as string

    holds(issued <= localDate(at(bill.createdAt), BERLIN) && issued <= bill.dueDate, 'was issued first')
    holds(at(bill.createdAt) <= at(bill.updatedAt) && isPast(at(bill.updatedAt)), 'was created, then updated')
    if (bill.status === 'OPEN') holds(open === total, 'is wholly open')
    if (bill.status === 'PARTIALLY_PAID') holds(open > 0 && open < total, 'is open in part')
    if (bill.status === 'PAID') holds(open === 0, 'has nothing open')
    if (['PARTIALLY_PAID', 'PAID'].includes(bill.status)) holds(bill.createdAt < bill.updatedAt, 'was paid later')
    for (const { uploadedAt } of bill.documents) {
      holds(at(bill.createdAt) <= at(uploadedAt) && at(uploadedAt) <= at(bill.updatedAt), 'got its document in between')
    }
  }
  return found
}

const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)]

t.test('both fixtures pass the check of fixtures whenever they start', async t => {
  t.ok(starts.length >= 60)
  // The check compiles its validator anew each time, so it sees every third start; the stores see them all below.
  const some = starts.filter((_, index) => index % 3 === 0)
  t.ok(some.length >= 60)
  for (const start of some) {
    const sandbox = sandboxAt(start)
    await t.resolves(checkFixture(sandbox, 'empty', start), `empty, ${formatInstant(start)}`)
    await t.resolves(checkFixture(sandbox, 'demo', start), `demo, ${formatInstant(start)}`)
  }
})

t.test('empty has nothing (control plane, Fixtures)', async t => {
  t.same(fixtures.get('empty'), {})
})

t.test('demo has as many records of each kind as the control plane tells (Fixtures)', async t => {
  t.same(worldAt(at(MONDAY)).counts(), {
    mandates: 12,
    collections: 60,
    payoutLinks: 12,
    bills: 20,
    counterparties: 8,
    accounts: 5,
  })
})

t.test('demo shows every state, type, region and branch identifier (Fixtures)', async t => {
  const { mandates, collections, payoutLinks, bills, counterparties, accounts } = recordsAt(at(MONDAY))
  const covers = (values: readonly (string | undefined)[], all: readonly string[], what: string) =>
    t.same(distinct(values).sort(), [...all].sort(), what)

  covers(
    mandates.map(mandate => mandate.status),
    MANDATE_STATUSES,
    'mandate states',
  )
  covers(
    mandates.map(mandate => mandate.type),
    ['RECURRING', 'ONE_OFF'],
    'mandate types',
  )
  covers(
    mandates.flatMap(mandate => mandate.frequency ?? []),
    ['WEEKLY', 'MONTHLY', 'QUARTERLY', 'SEMI_ANNUAL', 'ANNUAL'],
    'frequencies',
  )
  covers(
    collections.map(collection => collection.status),
    COLLECTION_STATUSES,
    'collection states',
  )
  const reasons = collections.flatMap(({ reasonCode }) => reasonCode ?? [])
  for (const phase of ['submission', 'clearing', 'bank', 'settlement', 'return', 'refund', 'unauthorised-refund']) {
    const codes = codesOf(phase as Parameters<typeof codesOf>[0])
    t.ok(
      reasons.some(code => codes.includes(code)),
      `a reason code of phase ${phase}`,
    )
  }
  covers(
    payoutLinks.map(link => link.status),
    PAYOUT_LINK_STATUSES,
    'payout link states',
  )
  covers(
    payoutLinks.map(link => link.payoutMethod),
    PAYOUT_METHODS,
    'payout methods',
  )
  covers(
    payoutLinks.map(link => link.currency),
    ['EUR', 'GBP', 'USD'],
    'payout link regions',
  )
  covers(
    payoutLinks.map(link => link.uiMode),
    ['hosted', 'embedded'],
    'UI modes',
  )
  const currencies = REGIONS.map(region => CURRENCY_OF[region])
  covers(
    bills.map(bill => bill.currency),
    currencies,
    'bill regions',
  )
  covers(
    bills.map(bill => bill.type),
    ['INVOICE', 'CREDIT_NOTE', 'DEBIT_NOTE'],
    'bill types',
  )
  covers(
    bills.map(bill => bill.cashflowType),
    ['INFLOW', 'OUTFLOW'],
    'cashflow types',
  )
  covers(
    bills.map(bill => bill.status),
    Object.keys(verbTo),
    'bill states',
  )
  covers(
    bills.flatMap(bill => bill.documents?.map(document => document.contentType) ?? []),
    ['application/pdf', 'image/jpeg', 'image/png'],
    'document types',
  )
  const branchTypes = ['BIC', 'SORT', 'ROUTING', 'IFSC']
  covers(
    counterparties.map(counterparty => counterparty.branchIdentifier?.type),
    branchTypes,
    'branches of counterparties',
  )
  covers(
    accounts.map(account => account.branchIdentifier?.type),
    branchTypes,
    'branches of accounts',
  )
  covers(
    counterparties.map(counterparty => counterparty.region),
    REGIONS,
    'counterparty regions',
  )
})

t.test('some bills are overdue and some are due later, whenever demo starts', async t => {
  for (const start of starts.slice(0, 12)) {
    const today = localDate(start, BERLIN)
    const open = recordsAt(start).bills.filter(({ status }) => status === 'OPEN' || status === 'PARTIALLY_PAID')
    t.ok(open.filter(bill => bill.dueDate < today).length >= 3, 'overdue')
    t.ok(open.filter(bill => bill.dueDate > today).length >= 5, 'upcoming')
  }
})

t.test('all that demo tells fits together, whenever it starts (decisions §5 to §10)', async t => {
  t.same(starts.flatMap(inconsistencies), [])
})

t.test('nothing of demo is overdue: at the start itself no state changes (control plane, Time)', async t => {
  const changed = starts.flatMap(start => {
    const { clock, events } = worldAt(start)
    const seeded = events.last()
    t.ok((clock.nextDue() as Instant) > start, formatInstant(start))
    clock.advanceTo(clock.now())
    return events.after(seeded)
  })
  t.same(changed, [])
})

t.test('within eleven days collections settle, fail and come back, a mandate and links expire', async t => {
  for (const start of starts.filter((_, index) => index % 10 === 0)) {
    const { clock, events } = worldAt(start)
    const seeded = events.last()
    clock.advanceTo(start + 11 * DAY)
    const changes = new Set(events.after(seeded).map(({ kind, from, to }) => `${kind} ${from} ${to}`))
    const expected = [
      'collection PENDING SUBMITTED',
      'collection SUBMITTED PROCESSING',
      'collection SUBMITTED REJECTED',
      'collection PROCESSING SETTLED',
      'collection PROCESSING REJECTED',
      'collection PROCESSING FAILED',
      'collection SETTLED RETURNED',
      'mandate ACTIVE EXPIRED',
      'payoutLink CLAIMED PROCESSING',
      'payoutLink PROCESSING PAID',
      'payoutLink ACTIVE EXPIRED',
    ]
    t.same(
      expected.filter(change => !changes.has(change)),
      [],
      formatInstant(start),
    )
  }
})

t.test('what demo does to itself is legal, and outcomes on demand are known (decisions §6)', async t => {
  const { collections } = recordsAt(at(MONDAY))
  const steered = collections.flatMap(({ debtorReference }) => debtorReference ?? [])
  t.ok(steered.length >= 4)
  for (const debtorReference of steered) t.ok(findOutcome(debtorReference), debtorReference)
  for (const { status = 'PENDING' } of collections.filter(({ debtorReference }) => debtorReference !== undefined)) {
    t.not(Object.keys(collectionLifecycle[status]).length, 0, `${status} still has a way to go`)
  }
})

t.test('references are unique and readable (control plane, Fixtures)', async t => {
  const { mandates, collections, payoutLinks, bills, counterparties, accounts } = recordsAt(at(MONDAY))
  const readable: [RegExp, (string | undefined)[]][] = [
    [/^MND-ACME-\d{4}$/, mandates.map(({ mandateReference }) => mandateReference)],
    [/^COL-ACME-\d{4}$/, collections.map(({ collectionReference }) => collectionReference)],
    [/^PL-ACME-(EU|UK|US)-\d{4}$/, payoutLinks.map(({ payoutLinkId }) => payoutLinkId)],
    [
      /^((INV|CN|DN)-ACME|(BILL|CN|DN)-(EU|IN|UK|US))-\d{4}$/,
      bills.map(({ uniqueReferenceIdentifier }) => uniqueReferenceIdentifier),
    ],
    [/^CP-ACME-(EU|IN|UK|US)-\d{2}$/, counterparties.map(({ counterpartyReference }) => counterpartyReference)],
    [/^ACC-ACME-(EUR|GBP|INR|USD)-\d{2}$/, accounts.map(({ accountReference }) => accountReference)],
  ]
  for (const [pattern, references] of readable) {
    t.equal(distinct(references).length, references.length, `${pattern} unique`)
    t.same(
      references.filter(reference => !pattern.test(reference as string)),
      [],
      `${pattern} readable`,
    )
  }
  const initiated = collections.map(({ initiatedAt }) => at(initiatedAt))
  t.same(
    initiated,
    [...initiated].sort((a, b) => a - b),
    'collections are numbered in the order of their initiation',
  )
})

t.test('what demo refers to exists, and its numbers are good ones (decisions §10)', async t => {
  const { mandates, payoutLinks, bills, counterparties } = recordsAt(at(MONDAY))
  const known = new Set(
    counterparties.map(({ region, counterpartyReference }) => `${CURRENCY_OF[region]} ${counterpartyReference}`),
  )
  for (const { currency, counterpartyReference } of [...bills, ...payoutLinks]) {
    if (counterpartyReference !== undefined) t.ok(known.has(`${currency} ${counterpartyReference}`))
  }
  const debtors = mandates.map(({ debtor }) => debtor)
  t.equal(distinct(debtors.map(({ iban }) => iban)).length, mandates.length, 'no two debtors share an account')
  for (const { bic, iban } of debtors) {
    if (bic !== undefined)
      t.ok(isBic(bic) && bic.slice(4, 6) === iban.slice(0, 2), `${bic} is of the country of ${iban}`)
  }
})

t.test('the demo client finds its world over HTTP (decisions §3)', async t => {
  const app = build(t)
  const token = await requestToken(app, { client_id: 'sandbox-client', client_secret: 'sandbox-secret' })
  t.equal(token.status, 200)
  const headers = { authorization: `Bearer ${token.body.access_token}` }
  const list = async (path: string, region: string) => {
    const answer = await call(app, 'GET', `/api/v1/${path}`, { region, headers })
    t.equal(answer.status, 200, `${path} ${region}`)
    t.equal(answer.body.data.length, answer.body.totalCount)
    return answer.body
  }

  t.equal((await list('mandates', 'EU')).totalCount, 12)
  t.equal((await list('direct-debit', 'EU')).totalCount, 60)
  t.equal((await list('direct-debit?status=RETURNED,REJECTED,FAILED', 'EU')).totalCount, 10)
  t.equal((await list('direct-debit?mandateReference=MND-ACME-0008', 'EU')).totalCount, 3)
  const collection = await call(app, 'GET', '/api/v1/direct-debit/COL-ACME-0005', { region: 'EU', headers })
  t.match(collection.body, { status: 'RETURNED', reasonCode: 'MD01', debtorName: 'Jonas Verbeke' })

  const billed: Record<string, number> = {}
  const banked: Record<string, number> = {}
  for (const region of REGIONS) {
    billed[region] = (await list('bills', region)).totalCount
    banked[region] = (await list('accounts', region)).totalCount
  }
  t.same(billed, { EU: 7, IN: 4, US: 4, UK: 5 })
  t.same(banked, { EU: 2, IN: 1, US: 1, UK: 1 })

  const link = await call(app, 'GET', '/_sandbox/payout-links/PL-ACME-EU-0011')
  t.match(link.body, { record: { status: 'CLAIMED' }, next: { to: 'PROCESSING' } })
  const cancelled = await call(app, 'PATCH', '/api/v1/payout-links/PL-ACME-EU-0007/cancel', {
    region: 'EU',
    headers,
    body: { cancellationComment: 'The parcel has turned up.' },
  })
  t.equal(cancelled.status, 204)
})
