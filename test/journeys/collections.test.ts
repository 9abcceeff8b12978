import t from 'tap'
import { build, call, collection, mandate, requestToken } from '../helper.js'

// decisions §3, §6, §7: the way of a caller who knows nothing but the interface, and moves time.

t.test('token, mandate, collection: one settles, another is returned for insufficient funds', async t => {
  const app = build(t)

  const signIn = async () => {
    const token = await requestToken(app)
    t.equal(token.status, 200)
    t.match(token.body, { access_token: String, expires_in: 3600, token_type: 'Bearer', scope: String })
    return { authorization: `Bearer ${token.body.access_token}` }
  }
  let headers = await signIn()
  const send = (method: string, url: string, body?: unknown) => call(app, method, url, { region: 'EU', headers, body })
  const advance = async (to: string) => {
    const answer = await call(app, 'POST', '/_sandbox/clock/advance?client=acme', { body: { to } })
    t.equal(answer.status, 200)
    headers = await signIn()
    return answer.body.transitions.map(
      (change: { at: string; reference: string; to: string; reasonCode?: string }) =>
        `${change.at} ${change.reference} ${change.to}${change.reasonCode === undefined ? '' : ` ${change.reasonCode}`}`,
    )
  }

  const created = await send('POST', '/api/v1/mandates', mandate())
  t.equal(created.status, 201)
  t.equal(created.body.status, 'ACTIVE')

  const good = await send('POST', '/api/v1/direct-debit', collection())
  t.equal(good.status, 201)
  t.equal(good.body.status, 'PENDING')
  const bad = await send(
    'POST',
    '/api/v1/direct-debit',
    collection({ collectionReference: 'COL-0002', debtorReference: 'SIM-RETURNED-AM04' }),
  )
  t.equal(bad.status, 201)

  t.strictSame(await advance('2026-11-09T13:00:00Z'), [
    '2026-11-05T15:00:00Z COL-0001 SUBMITTED',
    '2026-11-05T15:00:00Z COL-0002 SUBMITTED',
    '2026-11-06T08:00:00Z COL-0001 PROCESSING',
    '2026-11-06T08:00:00Z COL-0002 PROCESSING',
    '2026-11-09T13:00:00Z COL-0001 SETTLED',
    '2026-11-09T13:00:00Z COL-0002 SETTLED',
  ])
  const settled = await send('GET', '/api/v1/direct-debit?status=SETTLED')
  t.equal(settled.body.totalCount, 2, 'both look paid')

  const [returned, ...others] = await advance('2026-11-12T00:00:00Z')
  t.match(returned, /^2026-11-11T\S+ COL-0002 RETURNED AM04$/)
  t.strictSame(others, [])

  t.match((await send('GET', '/api/v1/direct-debit/COL-0001')).body, {
    status: 'SETTLED',
    amount: '10.50',
    initiatedAt: '2026-11-02T09:00:00Z',
    updatedAt: '2026-11-09T13:00:00Z',
  })
  t.match((await send('GET', '/api/v1/direct-debit/COL-0002')).body, { status: 'RETURNED', reasonCode: 'AM04' })
  const list = await send('GET', '/api/v1/direct-debit?status=RETURNED,REJECTED&mandateReference=MND-0001')
  t.equal(list.body.totalCount, 1)
  t.equal(list.body.data[0].collectionReference, 'COL-0002')
})

t.test('a caller who cancels the mandate in time is not collected from', async t => {
  const app = build(t)
  const { access_token } = (await requestToken(app)).body
  const headers = { authorization: `Bearer ${access_token}` }
  const send = (method: string, url: string, body?: unknown) => call(app, method, url, { region: 'EU', headers, body })

  await send('POST', '/api/v1/mandates', mandate())
  await send('POST', '/api/v1/direct-debit', collection())
  const cancelled = await send('DELETE', '/api/v1/mandates/MND-0001')
  t.equal(cancelled.status, 200)
  t.equal(cancelled.body.status, 'CANCELLED')
  t.equal((await send('GET', '/api/v1/direct-debit/COL-0001')).body.status, 'CANCELLED')

  const again = await send('POST', '/api/v1/direct-debit', collection({ collectionReference: 'COL-0002' }))
  t.strictSame([again.status, again.body.code, again.body.field], [409, 'MANDATE_NOT_ACTIVE', 'mandateReference'])
  const later = await call(app, 'POST', '/_sandbox/clock/advance?client=acme', { body: { by: 'P60D' } })
  t.strictSame(later.body.transitions, [], 'and nothing more happens')
})
