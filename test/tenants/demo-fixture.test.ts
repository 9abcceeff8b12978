import { readFileSync } from 'node:fs'
import t from 'tap'
import type { Area } from '../../src/areas/index.js'
import { areas } from '../../src/areas/index.js'
import { addOpenDays, T2 } from '../../src/core/time/business-days.js'
import { instantOf, parseDay, timeOfDay } from '../../src/core/time/time.js'
import { resolveFixture } from '../../src/tenants/fixtures.js'
import { REGIONS, tenantsOf } from '../answers.js'
import type { Client } from '../helper.js'
import { build, call, connect, MONDAY, mandate, requestToken } from '../helper.js'

/** The fixture as it is written: references and states, with dates that are relative. */
const DEMO: Record<string, Record<string, string>[]> = JSON.parse(readFileSync('fixtures/demo.json', 'utf8'))
const DAY = 86_400_000
const open = tenantsOf(build(t, { clock: '2026-07-01T09:00:00Z' }))

/** Moments at which something about the calendar is odd: closed days, changed clocks, ends of days, months and years. */
const STARTS = [
  ...['2026-10-24T22:30:00Z', '2026-12-23T15:00:01Z', '2026-12-31T22:59:59Z', '2027-03-28T01:30:00Z'],
  ...['2028-02-29T13:00:00Z', '2031-01-01T08:00:00Z'],
]

// biome-ignore lint/suspicious/noExplicitAny: records of every kind
type Record_ = Record<string, any>

/** A new tenant that starts from demo at a moment. */
async function openAt(at: string): Promise<Client> {
  const client = await open()
  await client.advance({ to: at })
  const { status, body } = await client.control('POST', '/seed', { fixture: 'demo' })
  if (status !== 200) throw new Error(`${at}: ${body.message}`)
  return client
}

const list = async (client: Client, path: string, region = 'EU'): Promise<Record_[]> =>
  (await client.get(`/api/v1/${path}?limit=500`, { region })).body.data
const listAll = async (client: Client, path: string) =>
  (await Promise.all(REGIONS.map(region => list(client, path, region)))).flat()
const explain = async (client: Client, path: string, reference: unknown): Promise<Record_> =>
  (await client.control('GET', `/${path}/${reference}`)).body
const linksOf = (client: Client) =>
  Promise.all((DEMO.payoutLinks ?? []).map(({ payoutLinkId }) => explain(client, 'payout-links', payoutLinkId)))

/** All that is wrong with a demo world that starts at a moment. Empty when nothing is. */
async function inconsistencies(start: string): Promise<string[]> {
  const found: string[] = []
  const client = await openAt(start)
  const check = (holds: boolean, { status, ...record }: Record_, what: string) => {
    const reference = Object.entries(record).find(([name]) => /^(payoutLinkId|\w+Reference\w*)$/.test(name))?.[1]
    if (!holds) found.push(`${start} ${reference} ${status}: ${what}`)
  }
  const isOneOf = (status: string, names: string) => names.split(' ').includes(status)
  const mandates = await list(client, 'mandates')
  const collections = await list(client, 'direct-debit')
  for (const mandate of mandates) {
    const { mandateReference, status, type, signatureDate, createdAt, updatedAt } = mandate
    const own = collections.filter(collection => collection.mandateReference === mandateReference)
    check(createdAt <= updatedAt && updatedAt <= start, mandate, 'was created, then updated, before now')
    check(Date.parse(signatureDate) <= Date.parse(createdAt) + DAY, mandate, 'was signed before it was created')
    check(own.length === 0 || !isOneOf(status, 'PENDING FAILED'), mandate, 'was never active, so never collected')
    check(status === 'ACTIVE' || own.every(one => one.status !== 'PENDING'), mandate, 'has nothing pending')
    const used = own.filter(one => one.status !== 'CANCELLED').length
    check(type === 'RECURRING' || used <= 1, mandate, 'is used no more than once')
    check(
      own.every(one => createdAt < one.initiatedAt),
      mandate,
      'is older than its collections',
    )
  }
  for (const summary of collections) {
    const { record, next } = await explain(client, 'direct-debit', summary.collectionReference)
    const { status, collectionDate, initiatedAt, updatedAt, reasonCode } = record
    check(initiatedAt <= updatedAt && updatedAt <= start, record, 'was initiated, then updated, before now')
    check(initiatedAt.slice(0, 10) < collectionDate, record, 'was initiated in time')
    check(![0, 6].includes(new Date(collectionDate).getUTCDay()), record, 'is due on an open day')
    check(isOneOf(status, 'REJECTED RETURNED FAILED') === (reasonCode !== undefined), record, 'has a reason if need be')
    const isOnItsWay = isOneOf(status, 'PENDING SUBMITTED PROCESSING')
    const isStuck = record.debtorReference?.startsWith('SIM-STUCK-') === true
    check(next === null ? !isOnItsWay || isStuck : next.at > start, record, 'goes on later, or is stuck')
    check((status === 'PENDING') === (initiatedAt === updatedAt), record, 'has been updated if need be')
    const settledAt = `${collectionDate}T12:00:00Z`
    if (isOneOf(status, 'SETTLED RETURNED')) check(settledAt <= updatedAt, record, 'has settled')
    if (isOnItsWay && !isStuck) check(start < `${collectionDate}T13:00:00Z`, record, 'is not late')
    if (status === 'CANCELLED') check(updatedAt.slice(0, 10) < collectionDate, record, 'was cancelled in time')
  }
  for (const { record, next } of await linksOf(client)) {
    const { status, createdAt, updatedAt, expiresAt, claim, claimedAt } = record
    check(createdAt <= updatedAt && updatedAt <= start, record, 'was created, then updated, before now')
    check((status === 'CANCELLED') === (record.cancellationComment !== undefined), record, 'has a comment if need be')
    check((status === 'REJECTED') === (record.decline !== undefined), record, 'has a decline if need be')
    const isClaimed = isOneOf(status, 'CLAIMED PROCESSING PAID FAILED')
    check(isClaimed === (claim !== undefined && claimedAt !== undefined), record, 'has a claim if need be')
    if (isClaimed) check(createdAt < claimedAt && claimedAt < expiresAt, record, 'was claimed in time')
    if (status === 'EXPIRED') check(updatedAt === expiresAt && expiresAt <= start, record, 'has expired')
    const isOnItsWay = isOneOf(status, 'ACTIVE CLAIMED PROCESSING')
    check(isOnItsWay ? next?.at > start : next === null, record, 'goes on later')
  }
  const bills = await listAll(client, 'bills')
  for (const bill of bills) {
    const { status, totalAmount, openAmount, issueDate, dueDate, createdAt, updatedAt, documents } = bill
    const [total, left] = [Number(totalAmount), Number(openAmount)]
    const follows = left === total ? 'OPEN' : left === 0 ? 'PAID' : 'PARTIALLY_PAID'
    check(isOneOf(status, `CANCELLED ${follows}`), bill, 'has the status of its open amount')
    check(createdAt <= updatedAt && updatedAt <= start, bill, 'was created, then updated, before now')
    check(issueDate <= dueDate && Date.parse(issueDate) <= Date.parse(createdAt) + DAY, bill, 'was issued first')
    const times = documents.map(({ uploadedAt }: { uploadedAt: string }) => uploadedAt)
    check(
      [createdAt, ...times, updatedAt].every((at, index, all) => index === 0 || all[0] <= at),
      bill,
      'came first',
    )
  }
  const unpaid = bills.filter(({ status }) => isOneOf(status, 'OPEN PARTIALLY_PAID'))
  const today = start.slice(0, 10)
  if (unpaid.filter(({ dueDate }) => dueDate < today).length < 3) found.push(`${start}: too few bills are overdue`)
  if (unpaid.filter(({ dueDate }) => dueDate > today).length < 5) found.push(`${start}: too few bills are upcoming`)
  const { transitions } = (await client.advance({ by: 'P11D' })).body
  if (transitions.some(({ at }: { at: string }) => at <= start)) found.push(`${start}: something was overdue`)
  const changes = new Set(transitions.map(({ kind, from, to }: Record_) => `${kind} ${from} ${to}`))
  const expected = [
    ...['collection PENDING SUBMITTED', 'collection SUBMITTED PROCESSING', 'collection SUBMITTED REJECTED'],
    ...['collection PROCESSING SETTLED', 'collection PROCESSING REJECTED', 'collection PROCESSING FAILED'],
    ...['collection SETTLED RETURNED', 'mandate ACTIVE EXPIRED', 'payoutLink CLAIMED PROCESSING'],
    ...['payoutLink PROCESSING PAID', 'payoutLink ACTIVE EXPIRED'],
  ]
  for (const change of expected) if (!changes.has(change)) found.push(`${start}: within eleven days no ${change}`)
  return found
}

t.test('fixtures, Fixtures; decisions §5 to §10: demo fits together and goes on, whenever it starts', async t => {
  const found: string[] = []
  for (const start of STARTS) found.push(...(await inconsistencies(start)))
  t.same(found, [])
})

/** The hours at which something moves, of some days: usual ones, changes of the clock, one at Easter, and Christmas. */
const HOURS = [
  [Date.UTC(2026, 8, 6, 22), 2],
  [Date.UTC(2026, 9, 23, 22), 4],
  [Date.UTC(2027, 2, 24, 23), 6],
  [Date.UTC(2026, 11, 22, 23), 6],
]
  .flatMap(([first = 0, days = 0]) => Array.from({ length: days * 24 }, (_, hour) => first + hour * 3600_000))
  .filter(now => ![1, 2, 3, 4, 5, 17, 18, 19, 20].includes(new Date(now).getUTCHours()))

/** Reason codes by the moment of the transition (decisions §6). */
const CLEARING = ['FF01', 'AC01', 'RC01', 'AG02', 'BE05', 'AM05', 'MD02', 'CNOR', 'DNOR']

/** Returns when a collection came into its state at the earliest and latest, and when it leaves it (decisions §6). */
function timesOf({ status, reasonCode, collectionDate, debtorReference = '', initiatedAt }: Record_) {
  const on = (days: number, time: string) =>
    instantOf(addOpenDays(T2, parseDay(collectionDate), days), timeOfDay(time), T2.zone)
  const [initiated, submitted, processed, settled] = [
    ...[Date.parse(initiatedAt), on(-2, '16:00'), on(-1, '09:00'), on(0, '14:00')],
  ] as [number, number, number, number]
  const isFinal = debtorReference === `SIM-STUCK-${status}`
  const exactly = (at: number, end: number) => [at, at, isFinal ? Number.POSITIVE_INFINITY : end]
  const returnedAt = ['MD01', 'MD06'].includes(reasonCode)
    ? [settled + 1, settled + (reasonCode === 'MD06' ? 56 : 390) * DAY]
    : [on(2, '14:00'), on(2, '14:00')]
  const times: Record<string, readonly number[]> = {
    PENDING: exactly(initiated, submitted),
    SUBMITTED: exactly(submitted, processed),
    PROCESSING: exactly(processed, settled),
    SETTLED: exactly(settled, Number.POSITIVE_INFINITY),
    FAILED: exactly(reasonCode === 'MD01' ? submitted : settled, Number.POSITIVE_INFINITY),
    REJECTED: exactly(CLEARING.includes(reasonCode) ? processed : settled, Number.POSITIVE_INFINITY),
    RETURNED: [...returnedAt, Number.POSITIVE_INFINITY],
    CANCELLED: [initiated, submitted - 1, Number.POSITIVE_INFINITY],
  }
  return times[status] as readonly [number, number, number]
}

t.test(
  'fixtures, Fixtures; decisions §6, §7: at any hour, the states and times of demo are those of the schedule',
  async t => {
    const wrong: string[] = []
    const states = new Map<string, Set<string>>()
    for (const now of HOURS) {
      const { collections = [], mandates = [] } = resolveFixture(DEMO, now)
      for (const collection of collections) {
        const { collectionReference, status = 'PENDING', initiatedAt, updatedAt = initiatedAt } = collection
        const [first, last, end] = timesOf({ ...collection, status })
        const since = Date.parse(updatedAt as string)
        if (since < first || since > last || since > now || now >= end) {
          wrong.push(`${new Date(now).toISOString()} ${collectionReference} ${status} since ${updatedAt}`)
        }
        states.set(collectionReference, (states.get(collectionReference) ?? new Set()).add(status))
      }
      for (const { mandateReference, status, updatedAt, lastPresentedAt } of mandates) {
        if (status !== 'EXPIRED') continue
        const since = new Date(updatedAt as string)
        since.setUTCMonth(since.getUTCMonth() - 36)
        if (since.toISOString().slice(0, 13) !== lastPresentedAt?.slice(0, 13))
          wrong.push(`${mandateReference} ${updatedAt}`)
      }
    }
    t.same(wrong, [])
    // These four move within a day.
    t.same([...(states.get('COL-ACME-0045') ?? [])].sort(), ['PENDING', 'SUBMITTED'])
    t.same([...(states.get('COL-ACME-0042') ?? [])].sort(), ['PROCESSING', 'SUBMITTED'])
    t.same([...(states.get('COL-ACME-0062') ?? [])], ['SUBMITTED'], 'one for the examples of the documents')
    t.same([...(states.get('COL-ACME-0063') ?? [])], ['PROCESSING'])
  },
)

t.test('fixtures, Fixtures: a collection that is created and waits is as demo has it', async t => {
  for (const start of ['2026-09-18T14:00:00Z', '2026-10-25T10:00:00Z', '2026-12-29T08:00:00Z']) {
    const { collections = [] } = resolveFixture(DEMO, Date.parse(start))
    const scheduled = collections
      .filter((_, at) => DEMO.collections?.[at]?.status === '{{schedule}}')
      .sort((one, other) => ((one.initiatedAt as string) < (other.initiatedAt as string) ? -1 : 1))
    t.ok(scheduled.length > 50)
    const client = await open()
    for (const mandateReference of new Set(scheduled.map(one => one.mandateReference))) {
      await client.post('/api/v1/mandates', mandate({ mandateReference }))
    }
    for (const { status, initiatedAt, updatedAt, ...request } of scheduled) {
      await client.advance({ to: initiatedAt as string })
      await client.post('/api/v1/direct-debit', request)
    }
    await client.advance({ to: start })
    const pick = ({ collectionReference, status, initiatedAt, updatedAt }: Record_) =>
      [collectionReference, status, initiatedAt, updatedAt].join()
    t.same((await list(client, 'direct-debit')).map(pick).sort(), scheduled.map(pick).sort(), start)
  }
})

t.test('fixtures, Fixtures: demo shows every state, type, region and branch identifier', async t => {
  const client = await openAt(MONDAY)
  const values = (records: readonly Record_[], pick: (record: Record_) => unknown) =>
    [...new Set(records.flatMap(record => pick(record) ?? []))].sort().join(' ')
  const mandates = await list(client, 'mandates')
  const links = (await linksOf(client)).map(({ record }) => record)
  const bills = await listAll(client, 'bills')
  const branches = (records: readonly Record_[]) => values(records, record => record.branchIdentifier?.type)
  const shown = [
    values(mandates, ({ type }) => type),
    values(mandates, ({ frequency }) => frequency),
    values(links, ({ payoutMethod }) => payoutMethod),
    values(links, ({ uiMode }) => uiMode),
    values(bills, ({ type }) => type),
    values(bills, ({ cashflowType }) => cashflowType),
    values(bills, ({ currency }) => currency),
    values(bills, ({ documents }) => documents.map(({ contentType }: Record_) => contentType)),
    branches(await listAll(client, 'accounts')),
    branches(DEMO.counterparties ?? []),
    values(DEMO.counterparties ?? [], ({ region }) => region),
  ]
  t.same(shown, [
    'ONE_OFF RECURRING',
    'ANNUAL MONTHLY QUARTERLY SEMI_ANNUAL WEEKLY',
    'SEPA-CT SEPA-INSTANT UK-BACS UK-FAST US-ACH',
    'embedded hosted',
    'CREDIT_NOTE DEBIT_NOTE INVOICE',
    'INFLOW OUTFLOW',
    'EUR GBP INR USD',
    'application/pdf image/jpeg image/png',
    'BIC IFSC ROUTING SORT',
    'BIC IFSC ROUTING SORT',
    'EU IN UK US',
  ])
  const state = (await client.control('GET', '/state')).body as Record<string, { record: Record_ }[]>
  for (const [name, { lifecycle }] of Object.entries<Area>(areas)) {
    const found = new Set(state[name]?.map(({ record }) => record.status))
    const missing = lifecycle?.states.filter(one => !found.has(one)) ?? []
    t.same(missing, [], `fixtures/demo.json has ${name} in each state`)
  }
  const steered = (DEMO.collections ?? []).filter(({ debtorReference = '' }) => debtorReference.startsWith('SIM-'))
  t.ok(steered.length >= 4, 'outcomes on demand, too')
})

t.test('fixtures, Fixtures: references are unique and readable, and those that are named exist', async t => {
  const patterns: Record<string, [member: string, pattern: RegExp]> = {
    mandates: ['mandateReference', /^MND-ACME-\d{4}$/],
    collections: ['collectionReference', /^COL-ACME-\d{4}$/],
    payoutLinks: ['payoutLinkId', /^PL-ACME-(EU|UK|US)-\d{4}$/],
    bills: ['uniqueReferenceIdentifier', /^((INV|CN|DN)-ACME|(BILL|CN|DN)-(EU|IN|UK|US))-\d{4}$/],
    counterparties: ['counterpartyReference', /^CP-ACME-(EU|IN|UK|US)-\d{2}$/],
    accounts: ['accountReference', /^ACC-ACME-(EUR|GBP|INR|USD)-\d{2}$/],
  }
  for (const [kind, [member, pattern]] of Object.entries(patterns)) {
    const references = (DEMO[kind] ?? []).map(record => record[member] as string)
    t.same(
      [...new Set(references)].filter(reference => pattern.test(reference)),
      references,
      kind,
    )
  }
  const known = (DEMO.counterparties ?? []).map(({ counterpartyReference }) => counterpartyReference)
  const named = [...(DEMO.bills ?? []), ...(DEMO.payoutLinks ?? [])].flatMap(one => one.counterpartyReference ?? [])
  t.same(
    named.filter(reference => !known.includes(reference)),
    [],
  )
})

t.test('decisions §3: the demo client finds its world over HTTP', async t => {
  const app = build(t)
  const token = await requestToken(app, { client_id: 'sandbox-client', client_secret: 'sandbox-secret' })
  const headers = { authorization: `Bearer ${token.body.access_token}` }
  const { data } = (await call(app, 'GET', '/_sandbox/clients')).body
  const counts = { mandates: 17, collections: 68, payoutLinks: 20, bills: 20, counterparties: 8, accounts: 5 }
  t.same(data[0].counts, counts)
  const count = async (path: string, region: string = 'EU') =>
    (await call(app, 'GET', `/api/v1/${path}`, { region, headers })).body.totalCount
  t.same(await Promise.all(REGIONS.map(region => count('bills', region))), [7, 4, 4, 5])
  t.same(await Promise.all(REGIONS.map(region => count('accounts', region))), [2, 1, 1, 1])
  t.equal(await count('direct-debit?status=RETURNED,REJECTED,FAILED'), 10)
  const { body } = await call(app, 'GET', '/api/v1/direct-debit/COL-ACME-0005', { region: 'EU', headers })
  t.match(body, { status: 'RETURNED', reasonCode: 'MD01', debtorName: 'Jonas Verbeke' })
  const embedded = { amount: '1', currency: 'EUR', payoutMethod: 'SEPA-CT', uiMode: 'embedded' }
  const created = await call(app, 'POST', '/api/v1/payout-links', { region: 'EU', headers, body: embedded })
  t.equal(created.status, 201, 'decisions §8: its list of origins is not empty')
  t.same((await (await connect(app, 'acme')).get('/api/v1/bills')).body.totalCount, 0, 'others start from empty')
})
