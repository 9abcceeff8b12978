import t from 'tap'
import { build, call, connect, requestToken } from '../helper.js'
import { listen, open, refused, request, stateOf, stock } from './raw.js'

const CHALLENGE = 'Bearer realm="payments-sandbox"'

/** Every operation of the API behind the token (interface, Authentication 3; Endpoints). */
const operations = [
  ['GET', '/api/v1/direct-debit'],
  ['POST', '/api/v1/direct-debit'],
  ['GET', '/api/v1/direct-debit/COL-0001'],
  ['POST', '/api/v1/payout-links'],
  ['PATCH', '/api/v1/payout-links/pl_0000001/cancel'],
  ['GET', '/api/v1/bills'],
  ['POST', '/api/v1/bills'],
  ['GET', '/api/v1/bills/INV-2026-001'],
  ['PATCH', '/api/v1/bills/INV-2026-001'],
  ['POST', '/api/v1/bills/INV-2026-001/document'],
  ['GET', '/api/v1/mandates'],
  ['POST', '/api/v1/mandates'],
  ['GET', '/api/v1/mandates/MND-0001'],
  ['DELETE', '/api/v1/mandates/MND-0001'],
  ['PATCH', '/api/v1/counterparties/CPTY-0001'],
  ['GET', '/api/v1/accounts'],
] as const

t.test('decisions §3, RFC 6750 §3: no credentials are 401 with a challenge that names no error', async t => {
  const app = build(t)
  for (const [method, url] of operations) {
    const answer = await call(app, method, url, { region: 'EU' })
    refused(t, answer, 401, 'MISSING_TOKEN', 'authorization', `${method} ${url}`)
    t.equal(answer.headers['www-authenticate'], CHALLENGE)
  }
})

t.test('decisions §3: an unknown token is 401 with the error invalid_token, and does nothing', async t => {
  const client = await connect(build(t))
  const payoutLinkId = await stock(client)
  const before = await stateOf(client, payoutLinkId)
  for (const [method, url] of operations) {
    const answer = await client.send(method, url, { headers: { authorization: 'Bearer abc' } })
    refused(t, answer, 401, 'INVALID_TOKEN', 'authorization', `${method} ${url}`)
    const challenge = String(answer.headers['www-authenticate'])
    t.ok(challenge.startsWith(`${CHALLENGE}, error="invalid_token"`), challenge)
  }
  t.same(await stateOf(client, payoutLinkId), before)
})

t.test('decisions §3: an expired token is 401 EXPIRED_TOKEN with the error invalid_token', async t => {
  const client = await connect(build(t))
  await client.control('POST', '/clock/advance', { by: 'PT3599S' })
  t.equal((await client.get('/api/v1/mandates')).status, 200)
  await client.control('POST', '/clock/advance', { by: 'PT2S' })
  for (const [method, url] of operations) {
    const answer = await client.send(method, url)
    refused(t, answer, 401, 'EXPIRED_TOKEN', 'authorization', `${method} ${url}`)
    const challenge = String(answer.headers['www-authenticate'])
    t.ok(challenge.startsWith(`${CHALLENGE}, error="invalid_token"`), challenge)
  }
})

t.test('decisions §3: the scheme name is case-insensitive, and any number of spaces may follow it', async t => {
  const client = await connect(build(t))
  for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR', 'Bearer  ', 'bearer     ']) {
    const answer = await client.get('/api/v1/mandates', { headers: { authorization: `${scheme} ${client.token}` } })
    t.equal(answer.status, 200, scheme)
  }
})

t.test('decisions §3: credentials of another scheme, or none, are MISSING_TOKEN', async t => {
  const client = await connect(build(t))
  for (const authorization of [
    '',
    'Bearer',
    'Bearer ',
    'Basic YWNtZTpzZWNyZXQ=',
    `Token ${client.token}`,
    `Bearer${client.token}`,
    `Bearer:${client.token}`,
    client.token,
  ]) {
    const answer = await client.get('/api/v1/mandates', { headers: { authorization } })
    refused(t, answer, 401, 'MISSING_TOKEN', 'authorization', authorization.slice(0, 20))
    t.equal(answer.headers['www-authenticate'], CHALLENGE)
  }
})

t.test('decisions §3: a token is nowhere read but in the header', async t => {
  const client = await connect(build(t))
  const url = `/api/v1/mandates?access_token=${client.token}`
  refused(t, await call(client.app, 'GET', url, { region: 'EU' }), 401, 'MISSING_TOKEN', 'authorization')
  const posted = await call(client.app, 'POST', '/api/v1/mandates', {
    region: 'EU',
    body: `access_token=${client.token}`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  refused(t, posted, 401, 'MISSING_TOKEN', 'authorization')
})

t.test('decisions §3: a token changed in any character is INVALID_TOKEN', async t => {
  const client = await connect(build(t))
  const { token } = client
  for (let at = 0; at < token.length; at++) {
    const changed = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1)
    const answer = await client.get('/api/v1/mandates', { headers: { authorization: `Bearer ${changed}` } })
    refused(t, answer, 401, 'INVALID_TOKEN', 'authorization', `character ${at}`)
  }
})

t.test('decisions §3: a token cut short, drawn out, or otherwise misshapen is INVALID_TOKEN', async t => {
  const client = await connect(build(t))
  const { token } = client
  for (const wrong of [
    token.slice(0, -1),
    token.slice(1),
    `${token}A`,
    `${token}=`,
    `${token}.`,
    `.${token}`,
    `${token} ${token}`,
    `${token}, Bearer ${token}`,
    token.toUpperCase(),
    token.toLowerCase(),
    '.',
    '...',
    '....',
    'null',
    'undefined',
    '__proto__',
    'constructor.1.1.1',
    '\u00ff\u00fe',
    'x'.repeat(8000),
  ]) {
    const answer = await client.get('/api/v1/mandates', { headers: { authorization: `Bearer ${wrong}` } })
    refused(t, answer, 401, 'INVALID_TOKEN', 'authorization', wrong.slice(0, 30))
  }
})

t.test('decisions §3: a token works for its own tenant alone', async t => {
  const app = build(t)
  const acme = await connect(app, 'acme')
  const other = await connect(app, 'other')
  await stock(acme)
  t.equal((await acme.get('/api/v1/mandates')).body.totalCount, 1)
  t.equal((await other.get('/api/v1/mandates')).body.totalCount, 0)
  refused(t, await other.get('/api/v1/mandates/MND-0001'), 404, 'MANDATE_NOT_FOUND', 'mandateReference')
})

t.test('decisions §3: a token of another server is INVALID_TOKEN, though the client has the same id', async t => {
  const here = await connect(build(t, { seed: 'here' }))
  const there = await connect(build(t, { seed: 'there' }))
  t.not(here.token, there.token)
  const answer = await here.get('/api/v1/mandates', { headers: { authorization: `Bearer ${there.token}` } })
  refused(t, answer, 401, 'INVALID_TOKEN', 'authorization')
  const stranger = await connect(build(t), 'stranger')
  const unknown = await here.get('/api/v1/mandates', { headers: { authorization: `Bearer ${stranger.token}` } })
  refused(t, unknown, 401, 'INVALID_TOKEN', 'authorization')
})

t.test('interface, Authentication 1: several tokens of one client work side by side', async t => {
  const client = await connect(build(t))
  const { access_token } = (await requestToken(client.app)).body
  t.not(access_token, client.token)
  for (const token of [client.token, access_token, client.token]) {
    const answer = await client.get('/api/v1/mandates', { headers: { authorization: `Bearer ${token}` } })
    t.equal(answer.status, 200)
  }
})

t.test(
  'control plane, decisions §1: neither the token endpoint nor the control plane needs token or region',
  async t => {
    const app = build(t)
    t.equal((await requestToken(app)).status, 200)
    t.equal((await call(app, 'GET', '/_sandbox/clients')).status, 200)
    t.equal((await call(app, 'GET', '/_sandbox/clock')).status, 200)
  },
)

t.test('decisions §1: x-region is required, one of the values of the endpoint, and told by its name', async t => {
  const client = await connect(build(t))
  for (const [url, ...regions] of [
    ['/api/v1/direct-debit', 'EU'],
    ['/api/v1/mandates', 'EU'],
    ['/api/v1/bills', 'EU', 'IN', 'US', 'UK'],
    ['/api/v1/accounts', 'EU', 'IN', 'US', 'UK'],
  ] as const) {
    refused(t, await client.get(url, { region: null }), 400, 'MISSING_FIELD', 'x-region', `${url} without`)
    refused(t, await client.get(url, { headers: { 'x-region': '' } }), 400, 'MISSING_FIELD', 'x-region', `${url} empty`)
    for (const region of ['EU', 'IN', 'US', 'UK', 'GB', 'eu', 'XX', 'EU,US', 'EU, EU', 'E U', '*', 'constructor']) {
      const answer = await client.get(url, { region })
      if ((regions as readonly string[]).includes(region)) t.equal(answer.status, 200, `${url} ${region}`)
      else refused(t, answer, 400, 'INVALID_REGION', 'x-region', `${url} ${region}`)
    }
  }
})

t.test('decisions §4: what payout links and counterparties serve', async t => {
  const client = await connect(build(t))
  for (const region of ['EU', 'US', 'UK', 'IN', 'GB', 'XX']) {
    const created = await client.post('/api/v1/payout-links', {}, { region })
    if (['EU', 'US', 'UK'].includes(region)) refused(t, created, 400, 'MISSING_FIELD', 'amount', region)
    else refused(t, created, 400, 'INVALID_REGION', 'x-region', region)
    const cancelled = await client.patch('/api/v1/payout-links/pl_0000001/cancel', {}, { region })
    if (['EU', 'US', 'UK'].includes(region)) refused(t, cancelled, 400, 'MISSING_FIELD', 'cancellationComment', region)
    else refused(t, cancelled, 400, 'INVALID_REGION', 'x-region', region)
    const patched = await client.patch('/api/v1/counterparties/CPTY-0001', { remarks: 'x' }, { region })
    if (['EU', 'US', 'UK', 'IN'].includes(region)) {
      refused(t, patched, 404, 'COUNTERPARTY_NOT_FOUND', 'counterpartyReference', region)
    } else refused(t, patched, 400, 'INVALID_REGION', 'x-region', region)
  }
})

t.test('decisions §2: for GB the message says that UK replaced it', async t => {
  const client = await connect(build(t))
  for (const url of ['/api/v1/bills', '/api/v1/mandates', '/api/v1/accounts']) {
    const answer = await client.get(url, { region: 'GB' })
    refused(t, answer, 400, 'INVALID_REGION', 'x-region')
    t.match(answer.body.message, /\bUK\b/)
  }
})

t.test('decisions §2: a refused region is quoted with at most 80 characters', async t => {
  const client = await connect(build(t))
  const answer = await client.get('/api/v1/bills', { region: 'x'.repeat(4000) })
  refused(t, answer, 400, 'INVALID_REGION', 'x-region')
  t.notMatch(answer.body.message, /x{81}/)
})

t.test('decisions §1: header names are case-insensitive; x-region sent twice is refused', async t => {
  const app = build(t)
  const { token } = await connect(app)
  const connection = await open(await listen(app))
  connection.send(request('GET /api/v1/mandates', { AUTHORIZATION: `Bearer ${token}`, 'X-REGION': 'EU' }))
  t.equal((await connection.read())?.status, 200)
  connection.send(
    request('GET /api/v1/mandates', { Authorization: `Bearer ${token}`, 'X-Region': 'EU\r\nx-region: EU' }),
  )
  refused(t, (await connection.read()) as never, 400, 'INVALID_REGION', 'x-region')
  connection.end()
})
