import t from 'tap'
import { gist, type holds, invalid, NO_TEXT, table, tenantsOf } from '../answers.js'
import type { Client } from '../helper.js'
import { build, collection, MONDAY, mandate, newClient } from '../helper.js'
import { lead, WAYS } from './records.js'

const PATH = '/api/v1/direct-debit'
const ONE = `${PATH}/COL-0001`
const NO_MANDATE = '404 MANDATE_NOT_FOUND mandateReference'
const NOT_ACTIVE = '409 MANDATE_NOT_ACTIVE mandateReference'
const USED = '409 MANDATE_ALREADY_USED mandateReference'

const earlyTenant = tenantsOf(build(t, { clock: '2026-03-01T09:00:00Z' }))

/** A new tenant with the mandate MND-0001. */
async function open(changes: object = {}): Promise<Client> {
  const client = await newClient()
  await client.post('/api/v1/mandates', mandate(changes))
  return client
}

let references = 1000
/** Posts a request under a reference of its own. */
const post = (client: Client, changes: object = {}) =>
  client.post(PATH, collection({ collectionReference: `COL-${++references}`, ...changes }))
const seed = (client: Client, ...collections: object[]) => client.control('POST', '/seed', { records: { collections } })

// ------------------------------------------------------------------------------------------------------ the record

t.test('decisions §6: an accepted request is 201 with the PENDING record, and can be read', async t => {
  const client = await open({ debtor: { ...mandate().debtor, reference: 'customer 17' } })
  const { status, body, headers } = await client.post(PATH, collection())
  const record = {
    ...collection(),
    scheme: 'SEPA',
    status: 'PENDING',
    debtorName: 'Jane Doe',
    debtorReference: 'customer 17',
    initiatedAt: MONDAY,
    updatedAt: MONDAY,
  }
  t.same([status, body, headers['sandbox-hint']], [201, record, undefined])
  t.same((await client.get(ONE)).body, record)
  t.same((await client.get(PATH)).body, { totalCount: 1, hasMore: false, nextCursor: null, data: [record] })
  const given = { scheme: 'SEPA', debtorName: 'Zoë Müller', debtorReference: 'order 4711' }
  t.match((await post(client, given)).body, given, 'given values win over those of the mandate')
  t.notOk('debtorReference' in (await post(await open())).body, 'absent where neither side names one')
})

// ---------------------------------------------------------------------------------------------------------- fields

t.test('interface, Collection request summary: members take the documented values, and no others', async t => {
  const client = await open()
  // The tests of core/time and core/money have all other forms.
  const amounts = ['1', '1.0', '1.00', '1.01', '9.9', '4.35', '999999999.99']
  const noAmounts = ['0', '0.99', '0.01', '01.50', '1000000000', '1.001', '1,00', '1e2', '+1', '-1', '1\n', 'ten', 10.5]
  const noDates = ['2026-11-9', '2026-11-32', '2027-02-29', '2026-11-09T00:00:00Z', '2026-11-09\n', 'tomorrow']
  const pattern = ['COL1', 'C'.repeat(51), 'COL_0001', 'COL 0001', 'COL/0001', 'CÖL-0001', 'COL-0001\n', '٠١٢٣٤٥']
  const members: [field: string, right: unknown[], wrong: unknown[]][] = [
    ['collectionReference', ['COL-1', 'C'.repeat(50), 'abcXYZ', '12345', '-----', 'aZ-09'], pattern],
    ['mandateReference', ['MND-0001'], ['MND1', 'M'.repeat(51), 'MND_0001', 'MND 0001', 'MND-0001\n']],
    ['amount', amounts, noAmounts],
    ['currency', ['EUR'], ['USD', 'GBP', 'eur', 'EU', 'EURO']],
    ['scheme', ['SEPA'], ['BACS', 'sepa', 'SEPA ', '']],
    ['debtorReference', ['x', 'ünï çødé/_.', '€'.repeat(100)], ['', '€'.repeat(101)]],
    ['debtorName', ['Zoë'], []],
    ['collectionDate', ['2026-11-09'], noDates],
  ]
  for (const [field, right, wrong] of members) {
    const send = async (value: unknown) => {
      const answer = await post(client, { [field]: value })
      return answer.status === 201 && answer.body[field] !== value ? `stored as ${answer.body[field]}` : answer
    }
    await table(t, send, { 201: right, [invalid(field)]: [...wrong, ...NO_TEXT] })
  }
})

// --------------------------------------------------------------------------------------------------- what refuses

t.test('decisions §6: the mandate must exist and be ACTIVE, and its state is named', async t => {
  const client = await newClient()
  await client.control('PUT', '/settings', { mandateActivation: 'manual' })
  const collect = async (status: string) => {
    const mandateReference = await lead(client, 'mandates', status, `MND-${status}`)
    const answer = await post(client, { mandateReference })
    return answer.body.message.includes(status) ? answer : 'a message without the state'
  }
  await table(t, collect, { [NOT_ACTIVE]: ['PENDING', 'FAILED', 'CANCELLED', 'EXPIRED'] })
  t.equal(gist(await post(client, { mandateReference: 'MND-NONE' })), NO_MANDATE)
})

t.test('decisions §6: a ONE_OFF mandate serves once, and only a CANCELLED collection frees it', async t => {
  const again = async (status: string) => {
    const client = await open({ type: 'ONE_OFF' })
    await lead(client, 'direct-debit', status, 'COL-0001')
    t.equal((await client.get(ONE)).body.status, status)
    return post(client)
  }
  await table(t, again, {
    201: ['CANCELLED'],
    [USED]: Object.keys(WAYS['direct-debit']).filter(status => status !== 'CANCELLED'),
  })
  const client = await open({ type: 'ONE_OFF' })
  t.same((await Promise.all([post(client), post(client)])).map(gist), ['201', USED], 'two at once')
})

// ---------------------------------------------------------------------------------------------------------- dates

const EARLY = '400 COLLECTION_DATE_TOO_EARLY collectionDate'
const LATE = '400 COLLECTION_DATE_TOO_LATE collectionDate'

/** Asks for collection dates at given moments: `2026-11-02T09:00:00Z 2026-11-07`. The answer is the date stored. */
const becomes = (t: Parameters<typeof holds>[0], rows: Record<string, string[]>) =>
  table(
    t,
    async input => {
      const [at, collectionDate] = input.split(' ')
      const client = await earlyTenant()
      await client.advance({ to: at })
      await client.post('/api/v1/mandates', mandate())
      const answer = await client.post(PATH, collection({ collectionDate }))
      if (answer.status !== 201) return answer
      const becomes = answer.body.collectionDate
      const isHinted = String(answer.headers['sandbox-hint'] ?? '').includes(becomes)
      return isHinted === (becomes !== collectionDate) ? becomes : `${becomes}, hinted at: ${isHinted}`
    },
    rows,
  )

t.test('decisions §6: the earliest date is today + 2 open days, + 3 after 16:00 Berlin, on any day', t =>
  becomes(t, {
    [EARLY]: [
      '2026-11-02T09:00:00Z 2020-01-06',
      '2026-11-02T14:59:59Z 2026-11-03',
      '2026-11-02T15:00:01Z 2026-11-04',
      '2026-11-02T23:00:00Z 2026-11-04',
      // In summer time, on Friday and Saturday, before Easter.
      '2026-07-06T14:00:01Z 2026-07-08',
      '2026-11-06T15:00:01Z 2026-11-10',
      '2026-11-07T09:00:00Z 2026-11-09',
      '2026-04-01T08:00:00Z 2026-04-02',
    ],
    '2026-11-04': ['2026-11-02T14:59:59Z 2026-11-04', '2026-11-02T15:00:00Z 2026-11-04'],
    '2026-11-05': ['2026-11-02T15:00:01Z 2026-11-05', '2026-11-02T23:00:00Z 2026-11-05'],
    '2026-07-08': ['2026-07-06T14:00:00Z 2026-07-08'],
    '2026-11-10': ['2026-11-06T09:00:00Z 2026-11-10', '2026-11-07T09:00:00Z 2026-11-10'],
    '2026-11-11': ['2026-11-06T15:00:01Z 2026-11-11', '2026-11-07T15:00:01Z 2026-11-11'],
    '2026-04-07': ['2026-04-01T08:00:00Z 2026-04-07'],
  }),
)

t.test('decisions §6: the latest date is 365 days ahead of today in Berlin', t =>
  becomes(t, {
    [LATE]: [
      ...['2026-11-02T09:00:00Z 2027-11-03', '2026-11-02T09:00:00Z 9999-12-31', '2026-11-02T22:59:59Z 2027-11-03'],
      '2027-11-02T09:00:00Z 2028-11-02',
    ],
    '2027-11-02': ['2026-11-02T09:00:00Z 2027-11-02'],
    '2027-11-03': ['2026-11-02T23:00:00Z 2027-11-03'],
    // A Saturday: the date of the request counts.
    '2027-11-08': ['2026-11-06T09:00:00Z 2027-11-06'],
    // With a leap day in between.
    '2028-11-01': ['2027-11-02T09:00:00Z 2028-11-01'],
  }),
)

// The tests of core/business-days have the closed days.
t.test('decisions §6: a closed day moves to the next open T2 day, with a hint', t =>
  becomes(t, {
    // On Thursday, the Saturday before the earliest date moves to it.
    '2026-11-09': ['2026-11-02T09:00:00Z 2026-11-07', '2026-11-05T09:00:00Z 2026-11-07'],
    '2026-04-07': ['2026-03-23T09:00:00Z 2026-04-03'],
    '2026-12-28': ['2026-12-07T09:00:00Z 2026-12-25'],
    // Closed in Germany, open in T2.
    '2026-05-14': ['2026-05-04T09:00:00Z 2026-05-14'],
  }),
)

t.test('decisions §6: a refusal names the date that would be right', async t => {
  const client = await open()
  t.match((await post(client, { collectionDate: '2026-11-03' })).body.message, '2026-11-04')
  t.match((await post(client, { collectionDate: '2027-11-03' })).body.message, '2027-11-02')
})

// ---------------------------------------------------------------------------------------------------------- seeding

t.test('control plane, POST /seed: collections of any date are added, with their mandate', async t => {
  const client = await newClient()
  const past = { collectionDate: '2026-10-05', initiatedAt: '2026-09-28T08:00:00Z', updatedAt: '2026-10-07T12:00:00Z' }
  const returned = { status: 'RETURNED', reasonCode: 'AM04', ...past }
  const closedDay = collection({ collectionReference: 'COL-0003', collectionDate: '2026-11-07' })
  const records = { mandates: [mandate()], collections: [collection(returned), closedDay] }
  t.equal((await client.control('POST', '/seed', { records })).status, 200)
  t.match((await client.get(ONE)).body, { ...returned, debtorName: 'Jane Doe' })
  const moved = { status: 'PENDING', collectionDate: '2026-11-09', initiatedAt: MONDAY, updatedAt: MONDAY }
  t.match((await client.get(`${PATH}/COL-0003`)).body, moved)
})

t.test('decisions §6: a seeded collection has a reasonCode only where it is REJECTED, RETURNED or FAILED', async t => {
  const client = await open()
  const give = (status: string) =>
    seed(client, collection({ collectionReference: `COL-${status}`, status, reasonCode: 'AM04' }))
  await table(t, give, {
    200: ['REJECTED', 'RETURNED'],
    [invalid('records.collections.0.reasonCode')]: ['PENDING', 'SUBMITTED', 'PROCESSING', 'SETTLED', 'CANCELLED'],
  })
})
