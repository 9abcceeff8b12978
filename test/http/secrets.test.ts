import t from 'tap'
import { call, connect, requestToken } from '../helper.js'
import { buildLogged, exchange, listen, request } from './raw.js'

// decisions §3: secrets are never logged; control plane: /clients tells never a secret.

const SECRET = 'correct-horse-battery-staple'
const WRONG = 'wrong-horse-battery-staple'
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

/** A secret in the spellings in which it could turn up. */
const spellings = (secret: string) => [
  secret,
  encodeURIComponent(secret),
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  Buffer.from(secret).toString('hex'),
  [...Buffer.from(secret)].join(','),
]

t.test('decisions §3: neither secrets nor tokens come into the log or into refusals, at level trace', async t => {
  let isBroken = false
  const { app, log } = buildLogged(t, {
    now() {
      if (isBroken) throw new Error('unforeseen')
      return 0
    },
  })
  app.get('/boom', () => {
    throw new Error('unforeseen')
  })
  const answers: unknown[] = []
  const post = async (body: unknown, headers: Record<string, string> = FORM) => {
    answers.push(await call(app, 'POST', '/api/v1/oauth/token', { body, headers }))
  }

  const { body } = await requestToken(app, { client_id: 'acme', client_secret: SECRET })
  const token = body.access_token as string
  t.type(token, 'string')
  const basic = Buffer.from(`acme:${SECRET}`).toString('base64')
  answers.push(await requestToken(app, { client_id: 'acme', client_secret: WRONG }))
  answers.push(await requestToken(app, { client_id: '!!', client_secret: WRONG }))
  answers.push(await requestToken(app, { client_id: 'acme', client_secret: SECRET, grant_type: 'password' }))
  answers.push(await requestToken(app, { client_id: undefined, client_secret: SECRET }))
  await post(`client_secret=${SECRET}&client_secret=${WRONG}&grant_type=client_credentials`)
  await post(`client_id=acme&client_secret=${SECRET}%zz&grant_type=client_credentials`)
  // What a refusal of this may say is the matter of the next test.
  await requestToken(app, { client_secret: SECRET.repeat(20) })
  await post({ client_id: 'acme', client_secret: SECRET }, { 'content-type': 'application/json' })
  await post(`grant_type=client_credentials`, { ...FORM, authorization: `Basic ${basic}` })
  await post(`client_id=acme&client_secret=${SECRET}`, { ...FORM, 'content-length': '5' })

  const headers = { authorization: `Bearer ${token}`, 'x-region': 'EU' }
  for (const [method, url] of [
    ['GET', '/api/v1/mandates'],
    ['GET', `/api/v1/mandates?access_token=${token}`],
    ['GET', '/api/v1/mandates/!'],
    ['GET', '/nowhere'],
    ['PUT', '/api/v1/mandates'],
    ['POST', '/api/v1/mandates'],
    ['GET', '/api/v1/mandates/%zz'],
    ['GET', '/boom'],
  ] as const) {
    answers.push(await call(app, method, url, { headers }))
  }
  answers.push(
    await call(app, 'GET', '/api/v1/mandates', { headers: { ...headers, authorization: `Bearer ${token}x` } }),
  )
  answers.push(await call(app, 'GET', '/api/v1/mandates', { headers: { ...headers, authorization: `Basic ${basic}` } }))
  isBroken = true
  answers.push(await call(app, 'GET', '/api/v1/mandates', { headers }))
  answers.push(await requestToken(app, { client_id: 'acme', client_secret: SECRET }))
  isBroken = false
  await call(app, 'POST', '/_sandbox/clock/advance?client=acme', { body: { by: 'P1D' } })
  answers.push(await call(app, 'GET', '/api/v1/mandates', { headers }))
  answers.push(await call(app, 'GET', '/_sandbox/clients'))
  answers.push(await call(app, 'GET', '/_sandbox'))

  const port = await listen(app)
  const form = `client_id=acme&client_secret=${SECRET}&grant_type=client_credentials`
  for (const bytes of [
    `GET /api/v1/mandates HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${token}\r\nno colon\r\n\r\n`,
    request('GET /api/v1/mandates', { ...headers, 'x-long': 'x'.repeat(20_000) }),
    `CONNECT a:1 HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${token}\r\n\r\n`,
    `${request('POST /api/v1/oauth/token', { ...FORM, connection: 'close' }, form)}`,
    `${request('POST /api/v1/oauth/token', { ...FORM, 'transfer-encoding': 'chunked' })}zz\r\n${form}`,
  ]) {
    answers.push((await exchange(port, bytes)).filter(({ status }) => status !== 200))
  }

  t.match(log(), '/api/v1/mandates', 'the log is written to')
  const told = JSON.stringify(answers)
  t.match(told, 'INVALID_CLIENT')
  for (const [what, secret] of Object.entries({ SECRET, WRONG, token, basic })) {
    for (const spelling of spellings(secret)) {
      t.notOk(log().includes(spelling), `${what} is not in the log as ${spelling.slice(0, 12)}…`)
      t.notOk(told.includes(spelling), `${what} is not in a refusal as ${spelling.slice(0, 12)}…`)
    }
  }
})

t.test(
  'decisions §3: what a client sends beside its secret is not logged either: bodies stay out of the log',
  async t => {
    const { app, log } = buildLogged(t)
    const client = await connect(app)
    await client.post('/api/v1/mandates', { debtor: { iban: 'DE89370400440532013000' } })
    await client.post('/api/v1/mandates', '{"debtor":{"iban":"DE89370400440532013000"')
    t.match(log(), '/api/v1/mandates', 'the log is written to')
    t.notMatch(log(), 'DE89370400440532013000')
  },
)
