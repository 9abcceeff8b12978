import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { gist, refused } from '../answers.js'
import { build, call, connect, requestToken } from '../helper.js'
import { buildLogged, sendLine, stateOf, stock } from './raw.js'

// decisions §2: INTERNAL_ERROR 500: an unexpected failure. The message has no internal details.

const INSIDE = 'the vault is at /etc/inside'

/** Unexpected failures of code. */
const failures: Record<string, () => unknown> = {
  error: () => new Error(INSIDE),
  'type-error': () => new TypeError(INSIDE),
  'error-with-a-status': () => Object.assign(new Error(INSIDE), { statusCode: 418, status: 418 }),
  'error-with-headers': () => Object.assign(new Error(INSIDE), { headers: { 'x-inside': INSIDE } }),
  'error-with-a-code': () => Object.assign(new Error(INSIDE), { code: 'EINSIDE', field: INSIDE }),
  text: () => INSIDE,
  null: () => null,
  number: () => 42,
  object: () => ({ code: INSIDE, field: INSIDE, message: INSIDE, statusCode: 200 }),
}

function addFailures(app: FastifyInstance) {
  for (const [name, make] of Object.entries(failures)) {
    app.get(`/throw/${name}`, () => {
      throw make()
    })
    app.get(`/reject/${name}`, async () => {
      throw make()
    })
  }
}

t.test('decisions §2: any thrown value becomes INTERNAL_ERROR without internal details', async t => {
  const app = build(t)
  addFailures(app)
  app.get('/circular', () => {
    const circle: { self?: object } = {}
    circle.self = circle
    return circle
  })
  // An answer that cannot be written down.
  app.get('/bigint', () => ({ value: 1n }))
  const paths = Object.keys(failures).flatMap(name => [`/throw/${name}`, `/reject/${name}`])
  for (const path of [...paths, '/circular', '/bigint']) {
    const answer = await call(app, 'GET', path)
    refused(t, answer, 500, 'INTERNAL_ERROR', null, path)
    t.notMatch(JSON.stringify([answer.body, answer.headers]), /inside\b(?! the sandbox)|at \w+ \(|node_modules|\.ts/)
  }
})

t.test('decisions §2: an answer whose hooks fail is INTERNAL_ERROR in the envelope, too', async t => {
  const app = build(t)
  let isFailing = false
  app.addHook('onSend', async () => {
    if (isFailing) throw new Error(INSIDE)
  })
  const { token } = await connect(app, 'unlucky')
  isFailing = true
  const headers = { authorization: `Bearer ${token}`, 'x-region': 'EU' }
  for (const line of [
    'GET /api/v1/mandates',
    'DELETE /api/v1/mandates',
    'OPTIONS /api/v1/mandates',
    'POST /api/v1/oauth/token',
    'GET /_sandbox/clients',
    'GET /_sandbox/console',
    'GET /pay/none',
    'GET /docs/guide/nothing',
    'GET /nothing',
  ]) {
    const [method = '', path = ''] = line.split(' ')
    const answer = await call(app, method, path, { headers })
    refused(t, answer, 500, 'INTERNAL_ERROR', null, line)
    t.notMatch(answer.body, { message: INSIDE })
  }
})

t.test(
  'settings, Settings: lines of the log name the request, those of Fastify too, and other requests log nothing',
  async t => {
    for (const level of ['info', 'error', 'trace']) {
      const { app, log } = buildLogged(t, { level })
      addFailures(app)
      app.get('/answers-twice', (_, reply) => {
        reply.send({})
        reply.send({})
      })
      await app.ready()
      for (const id of ['one', 'two']) {
        const headers = { 'x-request-id': id }
        await call(app, 'GET', '/throw/error', { headers })
        await call(app, 'GET', '/answers-twice', { headers })
        await call(app, 'GET', '/api/v1/mandates', { headers })
      }
      const lines = log()
        .split('\n')
        .filter(Boolean)
        .map(line => JSON.parse(line))
      const shown = lines.map(({ level, reqId, err, msg }) => [level, reqId, err?.code ?? msg])
      const failed = (id: string) => [50, id, 'unforeseen failure']
      const warned = (id: string) => [40, id, 'FST_ERR_REP_ALREADY_SENT']
      t.same(
        shown.filter(([level]) => level > 30),
        level === 'error'
          ? [failed('one'), failed('two')]
          : [failed('one'), warned('one'), failed('two'), warned('two')],
        level,
      )
      const completed = lines.filter(({ msg }) => msg === 'request completed')
      t.equal(completed.length, level === 'trace' ? 6 : 0)
      t.ok(completed.every(({ reqId }) => reqId === 'one' || reqId === 'two'))
    }
  },
)

t.test('settings, LOG_LEVEL: `debug` names the client and the error code of each request', async t => {
  const { app, log } = buildLogged(t, { level: 'debug' })
  const client = await connect(app)
  const html = { headers: { accept: 'text/html' } }
  await client.get('/api/v1/mandates/MND-0001')
  await client.post('/api/v1/mandates', {})
  await call(app, 'GET', '/api/v1/mandates')
  await client.control('GET', '/clock')
  await call(app, 'POST', '/_sandbox/reset')
  await call(app, 'GET', '/pay/pl_unknown?client=acme', html)
  await call(app, 'GET', '/_sandbox/coverage?client=unknown', html)
  await requestToken(app, { client_secret: 'wrong' })
  const lines = log()
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  const shown = lines
    .filter(({ msg }) => msg === 'request completed')
    .map(({ method, path, status, code, clientId }) => `${method} ${path} ${status} ${code} ${clientId}`)
  t.same(shown, [
    'POST /api/v1/oauth/token 200 undefined acme',
    'GET /api/v1/mandates/MND-0001 404 MANDATE_NOT_FOUND acme',
    'POST /api/v1/mandates 400 MISSING_FIELD acme',
    'GET /api/v1/mandates 401 MISSING_TOKEN undefined',
    'GET /_sandbox/clock 200 undefined acme',
    'POST /_sandbox/reset 200 undefined sandbox-client',
    'GET /pay/pl_unknown 404 PAYOUT_LINK_NOT_FOUND acme',
    // A coverage report can be of several clients, so it names none.
    'GET /_sandbox/coverage 404 CLIENT_NOT_FOUND undefined',
    'POST /api/v1/oauth/token 401 INVALID_CLIENT acme',
  ])
})

t.test('decisions §2: a failure of any operation is INTERNAL_ERROR, and the server goes on after it', async t => {
  let isBroken = false
  const now = () => {
    if (isBroken) throw new Error(INSIDE)
    return 0
  }
  const app = build(t, { now })
  const client = await connect(app)
  const payoutLinkId = await stock(client)
  const before = await stateOf(client)
  isBroken = true
  // interface, Errors 1: server errors on bills carry a code in this envelope too, not an empty body.
  for (const [line, body] of [
    ['GET /api/v1/mandates'],
    ['POST /api/v1/mandates', {}],
    ['GET /api/v1/mandates/MND-0001'],
    ['DELETE /api/v1/mandates/MND-0001'],
    ['GET /api/v1/direct-debit'],
    [`PATCH /api/v1/payout-links/${payoutLinkId}/cancel`, { cancellationComment: 'x' }],
    ['GET /api/v1/bills'],
    ['POST /api/v1/bills', {}],
    ['PATCH /api/v1/bills/INV-2026-001', { status: 'PAID' }],
    ['POST /api/v1/bills/INV-2026-001/document'],
    ['PATCH /api/v1/counterparties/CPTY-0001', { remarks: 'x' }],
    ['GET /api/v1/accounts'],
    ['GET /_sandbox/clients'],
    ['GET /_sandbox/clock'],
  ] as [string, object?][]) {
    const answer = await sendLine(client, { body })(line)
    refused(t, answer, 500, 'INTERNAL_ERROR', null, line)
    t.notMatch(JSON.stringify(answer), INSIDE)
  }
  const token = await requestToken(app)
  t.equal(gist(token), '500 INTERNAL_ERROR null')
  t.equal(token.body.error, 'server_error', 'decisions §3: of the token endpoint')
  isBroken = false
  t.same(await stateOf(client), before)
})
