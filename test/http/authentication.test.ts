import t from 'tap'
import { type Case, gist, holds, malformed, missing, table, WRONG_REGION } from '../answers.js'
import { build, connect, newClient } from '../helper.js'
import { exchange, listen, request, sendLine, stateOf, stock } from './raw.js'

const CHALLENGE = 'Bearer realm="payments-sandbox"'

const app = build(t)
const port = await listen(app)
const { token } = await connect(app)

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

t.test('decisions §3: missing, unknown and expired tokens are 401 with a challenge', async t => {
  const client = await newClient()
  await stock(client)
  const before = await stateOf(client)
  const refuses = (headers: Record<string, string>, expected: string) => {
    const send = async (line: string) => {
      const answer = await sendLine(client, { headers })(line)
      return `${gist(answer)}, ${answer.headers['www-authenticate']}`
    }
    return table(t, send, { [`401 ${expected}`]: operations })
  }
  await refuses({ authorization: '' }, `MISSING_TOKEN authorization, ${CHALLENGE}`)
  await refuses({ authorization: 'Bearer abc' }, `INVALID_TOKEN authorization, ${CHALLENGE}, error="invalid_token"`)
  t.same(await stateOf(client), before)
  await client.control('POST', '/clock/advance', { by: 'PT1H' })
  await refuses({}, `EXPIRED_TOKEN authorization, ${CHALLENGE}, error="invalid_token"`)
})

t.test('decisions §1, §4: x-region is required, and one of the values of the endpoint', async t => {
  const client = await newClient()
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
    ['GET /api/v1/direct-debit', '200', 'EU'],
    ['GET /api/v1/mandates', '200', 'EU'],
    ['GET /api/v1/bills', '200', 'EU', 'IN', 'US', 'UK'],
    ['GET /api/v1/accounts', '200', 'EU', 'IN', 'US', 'UK'],
    ['POST /api/v1/payout-links', missing('amount'), 'EU', 'US', 'UK'],
    ['PATCH /api/v1/payout-links/pl_0000001/cancel', missing('cancellationComment'), 'EU', 'US', 'UK'],
    ['PATCH /api/v1/counterparties/CPTY-0001', missing(null), 'EU', 'IN', 'US', 'UK'],
  ] as const) {
    const wanted = regions.map((region): Case => {
      if ((served as readonly string[]).includes(region)) return [region, accepted]
      return [region, region === '' ? missing('x-region') : WRONG_REGION]
    })
    const body = line.startsWith('GET') ? undefined : {}
    await holds(t, wanted, region => sendLine(client, { body, headers: { 'x-region': region } })(line), line)
  }
  t.equal((await client.get('/api/v1/bills', { region: null })).body.code, 'MISSING_FIELD')
  t.match((await client.get('/api/v1/bills', { region: 'GB' })).body.message, /\bUK\b/, 'decisions §2')
})

t.test('decisions §1: header names are case-insensitive; x-region sent twice is refused', async t => {
  const headers = { AUTHORIZATION: `Bearer ${token}`, connection: 'close' }
  const send = async (region: string) =>
    (await exchange(port, request('GET /api/v1/mandates', { ...headers, 'X-REGION': region })))[0]
  await table(t, send, { 200: ['EU'], '400 INVALID_REGION x-region': ['EU\r\nx-region: EU'] })
})

t.test('decisions §1: two headers Authorization are refused, whatever they are', async t => {
  const own = `Bearer ${token}`
  for (const line of ['GET /api/v1/mandates', 'POST /api/v1/oauth/token', 'GET /_sandbox/clients']) {
    const send = async (second: string) => {
      const headers = { authorization: `${own}\r\nAuthorization: ${second}`, 'x-region': 'EU', connection: 'close' }
      return (await exchange(port, request(line, headers)))[0]
    }
    await table(t, send, { [malformed('authorization')]: [own, 'Bearer x', 'Basic YWNtZTpzZWNyZXQ=', ''] })
  }
})
