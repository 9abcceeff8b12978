import t from 'tap'
import { gist, invalid, NO_TEXT, table } from '../answers.js'
import type { Client } from '../helper.js'
import { collection, MONDAY, mandate, newClient } from '../helper.js'
import { explain, lead, move } from './records.js'

const PATH = '/api/v1/mandates'
const COLLECTIONS = '/api/v1/direct-debit'
const ONE = `${PATH}/MND-0001`
const NOT_ACTIVE = '409 MANDATE_NOT_ACTIVE mandateReference'

const read = async (client: Client, reference = 'MND-0001') => (await client.get(`${PATH}/${reference}`)).body
const nextOf = async (client: Client, reference = 'MND-0001') => (await explain(client, 'mandates', reference)).next
const hold = (client: Client) => client.control('PUT', '/settings', { mandateActivation: 'manual' })

const withIdentifier = (changes: object) => {
  const { name, bankIdentifier } = mandate().creditor
  return mandate({ creditor: { name, bankIdentifier: { ...bankIdentifier, ...changes } } })
}
const withDebtor = (changes: object) => mandate({ debtor: { ...mandate().debtor, ...changes } })

let references = 1000
/** Posts a request under a reference of its own. */
const post = (client: Client, request: object) =>
  client.post(PATH, { ...request, mandateReference: `MND-${++references}` })

// ------------------------------------------------------------------------------------------------------ the record

t.test('decisions §7: a request is answered 201 with the ACTIVE record and defaults, and can be read', async t => {
  const client = await newClient()
  const created = await client.post(PATH, mandate())
  const record = {
    ...mandate(),
    mode: 'CORE',
    scheme: 'SEPA',
    currency: 'EUR',
    signatureDate: '2026-11-02',
    status: 'ACTIVE',
    createdAt: MONDAY,
    updatedAt: MONDAY,
  }
  t.same([created.status, created.body, created.headers['sandbox-hint']], [201, record, undefined])
  t.same(await read(client), record)
  t.same((await client.get(PATH)).body, { totalCount: 1, hasMore: false, nextCursor: null, data: [record] })
  await client.post(COLLECTIONS, collection())
  await client.control('POST', '/direct-debit/COL-0001/submit')
  t.same(await read(client), record, 'a collection adds no member')
})

// ---------------------------------------------------------------------------------------------------------- fields

t.test('decisions §7: mandateReference is 5-50 letters, digits and hyphens, with a hint above 35', async t => {
  const client = await newClient()
  const right = ['MND-1', 'M'.repeat(50), 'M'.repeat(35), '12345', '-----', 'aZ-09']
  const wrong = ['MND1', 'M'.repeat(51), 'MND_0001', 'MND 0001', 'MND/0001', 'MND-0001\n', 'MÜD-0001', ...NO_TEXT]
  const hints = new Map<string, unknown>()
  await table(
    t,
    async mandateReference => {
      const answer = await client.post(PATH, mandate({ mandateReference }))
      hints.set(mandateReference, answer.headers['sandbox-hint'])
      return answer
    },
    { 201: right, [invalid('mandateReference')]: wrong },
  )
  t.match(hints.get('M'.repeat(50)), /mandateReference.*35/)
  t.equal(hints.get('M'.repeat(35)), undefined)
})

t.test('interface, Mandate; decisions §7: members take their own values, and no others', async t => {
  const client = await newClient()
  const frequencies = ['WEEKLY', 'MONTHLY', 'QUARTERLY', 'SEMI_ANNUAL', 'ANNUAL']
  const members: [field: string, right: unknown[], wrong: unknown[]][] = [
    ['type', ['RECURRING', 'ONE_OFF'], ['recurring', 'ONCE', ...NO_TEXT]],
    ['mode', ['CORE'], ['B2B', 'COR1', 'core', '', ...NO_TEXT]],
    ['currency', ['EUR'], ['USD', 'eur', '', ...NO_TEXT]],
    ['scheme', ['SEPA'], ['BACS', 'sepa', '', ...NO_TEXT]],
    ['frequency', frequencies, ['DAILY', 'monthly', '', ...NO_TEXT]],
    [
      'signatureDate',
      ['2026-11-02', '2020-01-31', '2024-02-29'],
      ['2026-02-30', '2025-02-29', '2026-13-01', '2026-1-1', '20261102', MONDAY, '', ...NO_TEXT],
    ],
  ]
  for (const [field, right, wrong] of members) {
    await table(t, value => post(client, mandate({ [field]: value })), { 201: right, [invalid(field)]: wrong })
  }
  const [last] = (await client.get(`${PATH}?limit=1`)).body.data
  t.equal(last.signatureDate, '2024-02-29', 'as given')
  await table(t, frequency => post(client, mandate({ type: 'ONE_OFF', frequency })), {
    [invalid('frequency')]: frequencies,
  })
  const { message } = (await post(client, mandate({ type: 'ONE_OFF', frequency: 'ANNUAL' }))).body
  t.match(message, 'RECURRING', 'the message says what would be right')
})

t.test('decisions §7: the creditor identifier has correct check digits', async t => {
  const client = await newClient()
  // The tests of core/identifiers have all other forms.
  await table(t, value => post(client, withIdentifier({ value })), {
    201: ['DE98ZZZ09999999999', 'FR72ZZZ123456', 'DE98ABC09999999999'],
    [invalid('creditor.bankIdentifier.value')]: ['DE97ZZZ09999999999', 'de98zzz09999999999', 'DE98ZZZ', ...NO_TEXT],
  })
  await table(t, type => post(client, withIdentifier({ type })), {
    [invalid('creditor.bankIdentifier.type')]: ['BIC', 'creditor_identifier', ...NO_TEXT],
  })
})

t.test(
  'decisions §7, §10: the debtor has a SEPA IBAN, a BIC of 8 or 11, a reference and an e-mail address',
  async t => {
    const client = await newClient()
    // The tests of core/identifiers have all other forms.
    const sepa = ['DE89370400440532013000', 'NO9386011117947', 'CH9300762011623852957', 'GB29NWBK60161331926819']
    const wrong = ['DE89370400440532013001', 'DE89 3704 0044 0532 0130 00', 'de89370400440532013000']
    /** Valid, but of Turkey, Saudi Arabia and Brazil. */
    const notSepa = ['TR330006100519786457841326', 'SA0380000000608010167519', 'BR1800360305000010009795493C1']
    const members: [field: string, right: string[], wrong: unknown[]][] = [
      ['iban', sepa, [...wrong, ...notSepa]],
      ['bic', ['COBADEFF', 'COBADEFFXXX'], ['COBADEF', 'COBADEFFX', 'COBADEFFXXXX', 'cobadeff', 'COBA1EFF', '']],
      ['reference', ['x', '€'.repeat(100)], ['', '€'.repeat(101)]],
      ['emailAddress', ['jane.doe+sepa@mail.example.com'], ['jane', 'jane@', '@example.com', 'j d@example.com', '']],
      ['name', ['Zoë'], []],
    ]
    for (const [field, right, wrong] of members) {
      await table(t, value => post(client, withDebtor({ [field]: value })), {
        201: right,
        [invalid(`debtor.${field}`)]: [...wrong, ...NO_TEXT],
      })
    }
  },
)

// ---------------------------------------------------------------------------------------------------------- DELETE

t.test('interface, Mandate: DELETE of an active mandate answers 200 with the record, CANCELLED', async t => {
  const client = await newClient()
  const { body } = await client.post(PATH, mandate())
  await client.advance({ by: 'PT1H' })
  const deleted = await client.delete(ONE)
  t.same([deleted.status, deleted.body], [200, { ...body, status: 'CANCELLED', updatedAt: '2026-11-02T10:00:00Z' }])
  t.same((await client.get(PATH)).body.data, [deleted.body], 'it stays on the list')
})

t.test(
  'decisions §7: DELETE of a mandate that is not active is 409 MANDATE_NOT_ACTIVE, and names the state',
  async t => {
    const client = await newClient()
    await hold(client)
    const states = ['PENDING', 'FAILED', 'EXPIRED', 'CANCELLED']
    const remove = async (status: string) => {
      await lead(client, 'mandates', status, `MND-${status}`)
      const before = await read(client, `MND-${status}`)
      const answer = await client.delete(`${PATH}/MND-${status}`)
      t.same(await read(client, `MND-${status}`), before, 'nothing changed')
      return answer.body.message.includes(status) ? answer : 'a message without the state'
    }
    await table(t, remove, { [NOT_ACTIVE]: states })
    await lead(client, 'mandates', 'ACTIVE', 'MND-0001')
    const twice = await Promise.all([client.delete(ONE), client.delete(ONE)])
    t.same(twice.map(gist), ['200', NOT_ACTIVE], 'two at once')
  },
)

t.test('decisions §7: 36 months without a presented collection make a mandate EXPIRED, to the second', async t => {
  const client = await newClient()
  await client.post(PATH, mandate())
  const at = '2029-11-02T09:00:00Z'
  t.same(await nextOf(client), { at, to: 'EXPIRED' })
  t.same((await client.advance({ to: '2029-11-02T08:59:59Z' })).body.transitions, [])
  t.same((await client.advance({ to: at })).body.transitions, [
    { at, kind: 'mandate', reference: 'MND-0001', from: 'ACTIVE', to: 'EXPIRED' },
  ])
  t.match(await read(client), { status: 'EXPIRED', updatedAt: at, createdAt: MONDAY })
  t.equal(gist(await client.post(COLLECTIONS, collection({ collectionDate: '2029-11-12' }))), NOT_ACTIVE)
  t.equal(await nextOf(client), null)
})

t.test('decisions §7: each presented collection restarts the 36 months, a cancelled one does not', async t => {
  const client = await newClient()
  const expiry: Record<string, string> = {}
  const note = async (when: string) => {
    expiry[when] = (await nextOf(client)).at
  }
  await client.post(PATH, mandate())
  await client.post(COLLECTIONS, collection())
  await note('PENDING')
  await client.control('POST', '/direct-debit/COL-0001/cancel')
  await client.advance({ by: 'PT1H' })
  await note('CANCELLED')
  await client.post(COLLECTIONS, collection({ collectionReference: 'COL-0002' }))
  await client.control('POST', '/direct-debit/COL-0002/submit')
  await note('submitted by hand')
  await client.post(COLLECTIONS, collection({ collectionReference: 'COL-0003', debtorReference: 'SIM-REJECTED-AC01' }))
  await client.advance({ to: '2026-11-05T15:00:00Z' })
  await note('submitted in time')
  t.equal((await read(client)).updatedAt, MONDAY, 'a presentation is no change of the mandate')
  await client.advance({ to: '2029-11-05T14:59:59Z' })
  await note('REJECTED')
  t.same(expiry, {
    PENDING: '2029-11-02T09:00:00Z',
    CANCELLED: '2029-11-02T09:00:00Z',
    'submitted by hand': '2029-11-02T10:00:00Z',
    'submitted in time': '2029-11-05T15:00:00Z',
    REJECTED: '2029-11-05T15:00:00Z',
  })
  await client.advance({ by: 'PT1S' })
  t.match(await read(client), { status: 'EXPIRED', updatedAt: '2029-11-05T15:00:00Z' })
})

// ------------------------------------------------------------------------------------------------ the control plane

t.test('control plane, PUT /settings: mandateActivation manual holds new mandates PENDING', async t => {
  const [client, other] = [await newClient(), await newClient()]
  await client.post(PATH, mandate({ mandateReference: 'MND-BEFORE' }))
  await hold(client)
  t.equal((await client.post(PATH, mandate())).body.status, 'PENDING')
  t.equal((await read(client, 'MND-BEFORE')).status, 'ACTIVE', 'older ones stay as they are')
  t.equal((await other.post(PATH, mandate())).body.status, 'ACTIVE', 'settings are of one tenant')
  t.same((await client.advance({ by: 'P30D' })).body.transitions, [], 'time does not activate it')
  const due = collection({ collectionDate: '2026-12-14' })
  t.equal(gist(await client.post(COLLECTIONS, due)), NOT_ACTIVE)
  await move(client, 'mandates', 'MND-0001', 'activate')
  t.match(await read(client), { status: 'ACTIVE', createdAt: MONDAY, updatedAt: '2026-12-02T09:00:00Z' })
  t.equal(gist(await client.post(COLLECTIONS, due)), '201')
  await client.control('PUT', '/settings', { mandateActivation: 'automatic' })
  t.equal((await client.post(PATH, mandate({ mandateReference: 'MND-AFTER' }))).body.status, 'ACTIVE')
})

t.test('control plane, Explain the state of a record: a mandate, its past, next step and moves', async t => {
  const client = await newClient()
  const { body } = await client.post(PATH, mandate())
  const same = { kind: 'mandate', reference: 'MND-0001' }
  const first = { seq: 1, at: MONDAY, ...same, from: null, to: 'ACTIVE', cause: 'api' }
  const at = '2029-11-02T09:00:00Z'
  t.same(await explain(client, 'mandates', 'MND-0001'), {
    record: body,
    timeline: [first],
    next: { at, to: 'EXPIRED' },
    forecast: [{ at, to: 'EXPIRED', cause: 'time' }],
    legal: [
      { transition: 'cancel', to: 'CANCELLED' },
      { transition: 'expire', to: 'EXPIRED' },
    ],
  })
  await client.advance({ to: at })
  const last = { seq: 2, at, ...same, from: 'ACTIVE', to: 'EXPIRED', cause: 'time' }
  t.same((await explain(client, 'mandates', 'MND-0001')).timeline, [first, last])
})

// ---------------------------------------------------------------------------------------------------------- seeding

t.test('control plane, POST /seed: mandates of any past are added', async t => {
  const client = await newClient()
  const mandates = [
    mandate({ mandateReference: 'MND-0002', createdAt: '2026-03-01T00:00:00Z' }),
    mandate({ createdAt: '2026-01-01T00:00:00Z', lastPresentedAt: '2026-06-01T00:00:00Z' }),
  ]
  t.equal((await client.control('POST', '/seed', { records: { mandates } })).status, 200)
  t.match(await read(client, 'MND-0002'), { status: 'ACTIVE', updatedAt: '2026-03-01T00:00:00Z' })
  const expiry = [await nextOf(client, 'MND-0002'), await nextOf(client)].map(({ at }) => at)
  t.same(expiry, ['2029-03-01T00:00:00Z', '2029-06-01T00:00:00Z'])
})
