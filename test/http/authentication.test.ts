import t from 'tap'
import { build, call, connect, requestToken } from '../helper.js'
import { exchange, listen, outcome, type Row, request, rows, sendLine, stateOf, stock, table } from './raw.js'

const CHALLENGE = 'Bearer realm="payments-sandbox"'

/** Every operation of the API that needs a token (interface, Authentication 3; Endpoints). */
const operations = [
  'GET /api/v1/direct-debit',
  'POST /api/v1/direct-debit',
  'GET /api/v1/direct-debit/COL-0001',
  'POST /api/v1/payout-links',
  'PATCH /api/v1/payout-links/pl_0000001/cancel',
  'GET /api/v1/bills',
  'POST /api/v1/bills',
  'GET /api/v1/bills/INV-2026-001',
  'PATCH /api/v1/bills/INV-2026-001',
  'POST /api/v1/bills/INV-2026-001/document',
  'GET /api/v1/mandates',
  'POST /api/v1/mandates',
  'GET /api/v1/mandates/MND-0001',
  'DELETE /api/v1/mandates/MND-0001',
  'PATCH /api/v1/counterparties/CPTY-0001',
  'GET /api/v1/accounts',
]

t.test('decisions §3, RFC 6750 §3: missing, unknown and expired tokens are 401 with a challenge', async t => {
  const client = await connect(build(t))
  const payoutLinkId = await stock(client)
  const before = await stateOf(client, payoutLinkId)
  const refusals = async (headers: Record<string, string>) => {
    const actual: unknown[] = []
    for (const line of operations) {
      const answer = await sendLine(client, { headers })(line)
      actual.push([line, ...outcome(answer), answer.headers['www-authenticate']])
    }
    return actual
  }
  const all = (code: string, challenge: string) => operations.map(line => [line, 401, code, 'authorization', challenge])
  const invalid = `${CHALLENGE}, error="invalid_token"`
  t.same(await refusals({ authorization: '' }), all('MISSING_TOKEN', CHALLENGE))
  t.same(await refusals({ authorization: 'Bearer abc' }), all('INVALID_TOKEN', invalid))
  t.same(await stateOf(client, payoutLinkId), before)
  await client.control('POST', '/clock/advance', { by: 'PT3599S' })
  t.equal((await client.get('/api/v1/mandates')).status, 200)
  await client.control('POST', '/clock/advance', { by: 'PT2S' })
  t.same(await refusals({}), all('EXPIRED_TOKEN', invalid))
})

t.test('decisions §3: spellings of the credentials', async t => {
  const client = await connect(build(t))
  const { token } = client
  const changed = [...token].map(
    (letter, at) => token.slice(0, at) + (letter === 'A' ? 'B' : 'A') + token.slice(at + 1),
  )
  const misshapen = [
    token.slice(0, -1),
    token.slice(1),
    `${token}A`,
    `${token}=`,
    `.${token}`,
    `${token} `,
    `${token} ${token}`,
  ]
  misshapen.push(token.toUpperCase(), '.', '....', 'null', '__proto__', 'constructor.1.1.1', '\u00ff', 'x'.repeat(8000))
  const other = (await connect(build(t, { seed: 'other' }))).token
  const none = ['Bearer', 'Bearer ', 'Basic YWNtZTpzZWNyZXQ=', `Token ${token}`, `Bearer${token}`, token]
  await table(
    t,
    [
      ...rows(
        ['Bearer', 'bearer', 'BEARER', 'bEaReR', 'Bearer   '].map(scheme => `${scheme} ${token}`),
        200,
      ),
      ...rows(none, 401, 'MISSING_TOKEN', 'authorization'),
      ...rows(
        [...changed, ...misshapen, other].map(wrong => `Bearer ${wrong}`),
        401,
        'INVALID_TOKEN',
        'authorization',
      ),
    ],
    authorization => client.get('/api/v1/mandates', { headers: { authorization } }),
  )
  const query = await call(client.app, 'GET', `/api/v1/mandates?access_token=${token}`, { region: 'EU' })
  t.equal(query.body.code, 'MISSING_TOKEN', 'only the header is read')
})

t.test('decisions §3: a token works for its own tenant only; several of one client work side by side', async t => {
  const acme = await connect(build(t), 'acme')
  const other = await connect(acme.app, 'other')
  await stock(acme)
  const second = `Bearer ${(await requestToken(acme.app)).body.access_token}`
  const counts: unknown[] = []
  for (const client of [acme, other]) counts.push((await client.get('/api/v1/mandates')).body.totalCount)
  const { body } = await acme.get('/api/v1/mandates', { headers: { authorization: second } })
  t.same([...counts, body.totalCount], [1, 0, 1])
  t.equal((await other.get('/api/v1/mandates/MND-0001')).body.code, 'MANDATE_NOT_FOUND')
})

t.test('decisions §1, §4: x-region is required, and one of the values of the endpoint', async t => {
  const client = await connect(build(t))
  const regions = [
    'EU',
    'IN',
    'US',
    'UK',
    '',
    'GB',
    'eu',
    'XX',
    'EU,US',
    'EU, EU',
    '*',
    'constructor',
    'x'.repeat(4000),
  ]
  for (const [line, accepted, ...served] of [
    ['GET /api/v1/direct-debit', [200], 'EU'],
    ['GET /api/v1/mandates', [200], 'EU'],
    ['GET /api/v1/bills', [200], 'EU', 'IN', 'US', 'UK'],
    ['GET /api/v1/accounts', [200], 'EU', 'IN', 'US', 'UK'],
    ['POST /api/v1/payout-links', [400, 'MISSING_FIELD', 'amount'], 'EU', 'US', 'UK'],
    ['PATCH /api/v1/payout-links/pl_0000001/cancel', [400, 'MISSING_FIELD', 'cancellationComment'], 'EU', 'US', 'UK'],
    ['PATCH /api/v1/counterparties/CPTY-0001', [400, 'MISSING_FIELD', null], 'EU', 'IN', 'US', 'UK'],
  ] as const) {
    const wanted = regions.map((region): Row => {
      if ((served as readonly string[]).includes(region)) return [region, ...accepted] as unknown as Row
      return region === '' ? [region, 400, 'MISSING_FIELD', 'x-region'] : [region, 400, 'INVALID_REGION', 'x-region']
    })
    const body = line.startsWith('GET') ? undefined : {}
    await table(t, wanted, region => sendLine(client, { body, headers: { 'x-region': region } })(line), line)
  }
  t.equal((await client.get('/api/v1/bills', { region: null })).body.code, 'MISSING_FIELD')
  t.match((await client.get('/api/v1/bills', { region: 'GB' })).body.message, /\bUK\b/, 'decisions §2')
})

t.test('decisions §1: header names are case-insensitive; x-region sent twice is refused', async t => {
  const app = build(t)
  const { token } = await connect(app)
  const port = await listen(app)
  const headers = { AUTHORIZATION: `Bearer ${token}`, connection: 'close' }
  await table(
    t,
    [
      ['EU', 200],
      ['EU\r\nx-region: EU', 400, 'INVALID_REGION', 'x-region'],
    ],
    async region => (await exchange(port, request('GET /api/v1/mandates', { ...headers, 'X-REGION': region })))[0],
  )
})
