/** The methods that list, create and steer records. */
import t from 'tap'
import type { CollectionOutcome, NewBill, NewCollection, NewMandate, NewPayoutLink } from '../../src/client/index.js'
import { connectSandbox } from '../../src/client/index.js'
import { bill, collection, MONDAY, mandate, payoutLink } from '../helper.js'
import { create, method, RECORDS, refusal } from './helper.js'

const newMandate = (changes: object = {}) => mandate(changes) as NewMandate
const newCollection = (changes: object = {}) => collection(changes) as NewCollection
const newLink = (changes: object = {}) => payoutLink(changes) as NewPayoutLink
const newBill = (changes: object = {}) => bill(changes) as NewBill

method('mandates and collections are created and listed by the API', async (t, sandbox) => {
  const { mandates, collections } = sandbox
  t.same(await collections.all(), [])
  t.match(await mandates.create(newMandate()), { mandateReference: 'MND-0001', status: 'ACTIVE', createdAt: MONDAY })
  await mandates.create(newMandate({ mandateReference: 'MND-0002', type: 'ONE_OFF' }))
  t.match(await collections.create(newCollection()), { collectionReference: 'COL-0001', status: 'PENDING' })
  await collections.create(newCollection({ collectionReference: 'COL-0002', amount: '20' }))
  await collections.cancel('COL-0002')
  const references = async (filter?: Parameters<typeof collections.all>[0]) =>
    (await collections.all(filter)).map(({ collectionReference }) => collectionReference)
  t.same(await references(), ['COL-0002', 'COL-0001'])
  t.same(await references({ status: ['CANCELLED', 'SETTLED'] }), ['COL-0002'])
  t.same(await references({ mandateReference: 'MND-0002' }), [])
  t.same(await references({ amountMin: '10.51' }), ['COL-0002'])
  t.same(await references({ status: undefined, debtorReference: 'no one' }), [])
  t.match(await mandates.all({ type: 'ONE_OFF' }), [{ mandateReference: 'MND-0002' }])
  t.match(await refusal(collections.create(newCollection())), { code: 'DUPLICATE_REFERENCE', status: 409 })
  t.match(await refusal(mandates.create(newMandate({ type: 'x' }))), { code: 'INVALID_FIELD', field: 'type' })
  t.match(await refusal(collections.all({ status: ['PAID' as 'SETTLED'] })), { code: 'INVALID_QUERY_PARAMETER' })
})

method('all follows all pages, and list returns one as the API does', async (t, sandbox) => {
  const count = 501
  const collections = Array.from({ length: count }, (_, at) => ({
    ...RECORDS.collections[0],
    collectionReference: `COL-${1000 + at}`,
  }))
  await sandbox.seed({ ...RECORDS, collections })
  const listed = await sandbox.collections.all()
  t.equal(new Set(listed.map(({ collectionReference }) => collectionReference)).size, count)
  t.equal((await sandbox.requests.list({ path: '/api/v1/oauth/token' })).length, 1, 'one token for all pages')
  const { data, ...page } = await sandbox.collections.list({ status: ['PENDING'], limit: 2 })
  t.match(page, { totalCount: count, hasMore: true, nextCursor: String })
  const next = await sandbox.collections.list({ status: ['PENDING'], limit: 500, cursor: page.nextCursor as string })
  t.same([...data, ...next.data], listed)
  t.same([next.hasMore, next.nextCursor, next.totalCount], [false, null, count])
  t.match(await sandbox.bills.list({}, { region: 'IN' }), { totalCount: 0, data: [] })
})

method('payout links and bills are created in the region of their currency', async (t, sandbox) => {
  const { payoutLinks, bills } = sandbox
  const link = await payoutLinks.create(newLink({ currency: 'USD', payoutMethod: 'US-ACH' }))
  t.match((await payoutLinks.explain(link.payoutLinkId)).record, { payoutMethod: 'US-ACH', status: 'ACTIVE' })
  t.match(await bills.create(newBill()), { status: 'OPEN', currency: 'EUR' })
  t.match(await bills.create(newBill({ currency: 'INR', totalAmount: '7' })), { currency: 'INR' })
  t.match(await bills.all(), [{ currency: 'EUR' }])
  t.match(await bills.all({ status: ['OPEN'] }, { region: 'IN' }), [{ currency: 'INR', totalAmount: '7' }])
  t.same(await bills.all({ status: ['PAID'] }, { region: 'IN' }), [])
  t.match(await refusal(bills.create(newBill({ currency: 'CHF' }))), { code: 'INVALID_FIELD', field: 'currency' })
})

method('counterparties are updated, and accounts are listed', async (t, sandbox) => {
  const { counterparties, accounts } = sandbox
  await sandbox.seed('demo')
  const [account] = await accounts.all()
  t.equal(account?.currency, 'EUR')
  t.ok((await accounts.all({}, { region: 'UK' })).every(({ currency }) => currency === 'GBP'))
  await sandbox.bills.create(newBill({ currency: 'GBP', counterpartyReference: 'CPTY-NEW' }))
  const changed = await counterparties.update('CPTY-NEW', { remarks: 'pays late' }, { region: 'UK' })
  t.match(changed, { counterpartyReference: 'CPTY-NEW', remarks: 'pays late' })
  t.match(await refusal(counterparties.update('CPTY-NEW', { remarks: 'x' })), { code: 'COUNTERPARTY_NOT_FOUND' })
})

method('these requests are those of an application: faults apply, and the log has them', async (t, sandbox) => {
  const path = '/api/v1/mandates'
  await sandbox.faults.arm({ match: { path }, effect: { kind: 'error', status: 503 } })
  t.match(await refusal(sandbox.mandates.create(newMandate())), { code: 'SERVICE_UNAVAILABLE', status: 503 })
  await sandbox.mandates.create(newMandate())
  await sandbox.requests.expect({ method: 'POST', path, body: { mandateReference: 'MND-0001' }, times: 2 })
})

method('outcomes: arm, list, remove, clear', async (t, sandbox) => {
  const { outcomes, collections, mandates } = sandbox
  await mandates.create(newMandate())
  const match = { mandateReference: 'MND-0001' } as const
  const armed = await outcomes.arm({ match, outcome: 'RETURNED-AM04' })
  t.match(armed, { id: 'outcome-1', match, outcome: 'RETURNED-AM04', times: 1, armedAt: MONDAY, fired: 0 })
  await outcomes.arm({ outcome: 'FAILED', times: null })
  await collections.create(newCollection({ debtorReference: 'customer 7' }))
  t.match(await outcomes.list(), [
    { id: 'outcome-1', state: 'spent', fired: 1 },
    { id: 'outcome-2', state: 'armed', fired: 0 },
  ])
  t.match((await collections.explain('COL-0001')).record, { outcome: 'RETURNED-AM04' })
  await sandbox.clock.advance({ by: 'P10D' })
  t.match(await sandbox.events.next({ to: 'RETURNED' }), {
    reference: 'COL-0001',
    reasonCode: 'AM04',
    cause: 'outcome',
  })
  t.equal(await outcomes.remove('outcome-1'), undefined)
  t.match(await refusal(outcomes.remove('outcome-1')), { code: 'OUTCOME_NOT_FOUND', status: 404 })
  t.equal(await outcomes.clear(), 1)
  t.same(await outcomes.list(), [])
  const never = { match: { mandateReference: 'MND-0001', payoutMethod: 'SEPA-CT' }, outcome: 'FAILED' } as const
  t.match(await refusal(outcomes.arm(never)), { code: 'INVALID_FIELD', field: 'match' })
})

method('setOutcome steers a collection and a payout link that exist', async (t, sandbox) => {
  const { collections, payoutLinks } = sandbox
  await sandbox.seed(RECORDS)
  const steered = await collections.setOutcome('COL-0001', 'CANCELLED')
  t.match(steered, { record: { status: 'PENDING', outcome: 'CANCELLED' }, next: { to: 'CANCELLED' } })
  await collections.submit('COL-0001')
  const { code, field } = await refusal(collections.setOutcome('COL-0001', 'CANCELLED'))
  t.same({ code, field }, { code: 'ILLEGAL_TRANSITION', field: 'outcome' })
  const unknown = 'LOST' as CollectionOutcome
  t.match(await refusal(collections.setOutcome('COL-0001', unknown)), { code: 'INVALID_FIELD', field: 'outcome' })
  const { payoutLinkId } = await payoutLinks.create(newLink())
  t.match(await payoutLinks.setOutcome(payoutLinkId, 'STUCK-PROCESSING'), { record: { outcome: 'STUCK-PROCESSING' } })
})

t.test('library, In your tests: delete removes a client that has registered itself, and resets any other', async t => {
  const sandbox = await create(t)
  await sandbox.seed(RECORDS)
  t.equal(await sandbox.delete(), false)
  t.same(await sandbox.mandates.all(), [])
  const job = await connectSandbox({ url: sandbox.url, clientId: 'job-1' })
  const fork = await job.fork()
  t.equal(await job.delete(), true)
  t.match(await refusal(job.clock.get()), { code: 'CLIENT_NOT_FOUND' })
  t.match(await refusal(job.delete()), { code: 'CLIENT_NOT_FOUND', field: 'clientId' })
  t.match(await fork.clock.get(), { now: MONDAY }, 'a fork stays')
})
