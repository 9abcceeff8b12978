import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { refused } from '../answers.js'
import { bill, call, collection, connect, mandate, payoutLink, pluck, requestToken } from '../helper.js'
import { onDatabase, resume, stateOf } from './helper.js'

const REMEDY = /^The state of this client cannot be loaded: .* Reset or remove the client\.$/

const readFile = (name: string) => readFileSync(`test/persistence/release-1.0.0/${name}`, 'utf8')

onDatabase('persistence, Upgrades: a database of release 1.0.0 opens, and reads the same', async (t, storage) => {
  const { token, goneToken, state, answers } = JSON.parse(readFile('expected.json'))
  await storage.make(4, readFile('rows.sql'))
  const options = { seed: 'kept', publicUrl: () => 'http://sandbox.test' }
  let stored = await storage.start(options)
  for (const what of ['after the migration', 'after a restart']) {
    for (const clientId of ['acme', 'copy']) {
      const { release, ...members } = JSON.parse(await stateOf(stored.app, clientId))
      const { release: _, ...expected } = state[clientId]
      t.same(members, expected, `${clientId} ${what}`)
    }
    const { send } = resume(stored.app, token)
    for (const [path, expected] of Object.entries(answers)) {
      t.same((await send('GET', `/api/v1${path}`)).body, expected, `${path} ${what}`)
    }
    t.equal((await resume(stored.app, goneToken).send('GET', '/api/v1/bills')).status, 401, 'a removed client')
    stored = await storage.restart(stored, options)
  }
  const { send, control } = resume(stored.app, token)
  t.equal((await send('POST', '/api/v1/bills', bill({ uniqueReferenceIdentifier: 'INV-NEW' }))).status, 201)
  await control('POST', '/clock/advance', { by: 'P6D' })
  const after = await stateOf(stored.app)
  t.equal(JSON.parse(after).bills.length, state.acme.bills.length + 1)
  t.equal(await stateOf((await storage.restart(stored, options)).app), after)
})

/** Returns the statement that replaces a text in the rows of a client. */
const replace = (table: string, text: string, other: string, clientId = 'acme') =>
  `UPDATE sandbox_${table} SET content = replace(content, '${text}', '${other}') WHERE client_id = '${clientId}';`

/** Changes that make a client unreadable, and the reason that its answers have. */
const DAMAGES: readonly (readonly [statement: string, reason: RegExp])[] = [
  [replace('record', '"kind":"bills"', '"kind":"notes"'), /has no kind of records called "notes"\./],
  [replace('record', '"region":"EU"', '"region":"GB"'), /has no region called "GB"\./],
  [replace('record', '"status":"PENDING"', '"status":"HELD"'), /has no state of a collection called "HELD"\./],
  [
    replace('record', '"transition":"submit"', '"transition":"hold"'),
    /has no transition of a PENDING collection called "hold"\./,
  ],
  [replace('record', '"outcome":"FAILED"', '"outcome":"HELD"'), /has no outcome of a collection called "HELD"\./],
  [replace('record', '{"kind"', '{"kind'), /JSON/],
  [replace('event', '{"seq"', 'x'), /JSON/],
  [`UPDATE sandbox_record SET content = 'null' WHERE client_id = 'acme';`, /null/],
]

/** Gives a client one record of each kind with states. Returns its token. */
async function fill(app: FastifyInstance, clientId = 'acme'): Promise<string> {
  const client = await connect(app, clientId)
  await client.post('/api/v1/bills', bill())
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/direct-debit', collection({ collectionReference: 'COL-1' }))
  await client.control('PUT', '/direct-debit/COL-1/outcome', { outcome: 'FAILED' })
  await client.post('/api/v1/payout-links', payoutLink())
  return client.token
}

const clientIds = async (app: FastifyInstance): Promise<string[]> =>
  pluck((await call(app, 'GET', '/_sandbox/clients')).body.data, 'clientId').sort()

onDatabase('persistence, Upgrades: what cannot be loaded concerns one client only', async (t, storage) => {
  const first = await storage.start()
  const tokens: string[] = []
  const ids = DAMAGES.map((_, at) => `damaged-${at}`)
  for (const id of ids) tokens.push(await fill(first.app, id))
  await (await connect(first.app, 'other')).post('/api/v1/bills', bill())
  const other = await stateOf(first.app, 'other')
  const messages: string[] = []
  const statements = DAMAGES.map(([statement], at) => statement.replace("'acme'", `'damaged-${at}'`))
  let stored = await storage.change(first, statements.join('\n'), { messages })
  const rows = await storage.rows()
  for (const [at, [, reason]] of DAMAGES.entries()) {
    const id = `damaged-${at}`
    const { send, control } = resume(stored.app, tokens[at] as string, id)
    for (const answer of [
      await send('GET', '/api/v1/mandates'),
      await send('POST', '/api/v1/bills', bill()),
      await requestToken(stored.app, { client_id: id }),
      await control('GET', '/state'),
      await control('POST', '/clock/advance', { by: 'P1D' }),
      await control('PUT', '/state', JSON.parse(other)),
    ]) {
      refused(t, answer, 503, 'SERVICE_UNAVAILABLE', null, `${reason}`)
      t.match(answer.body.message, REMEDY)
      t.match(answer.body.message, reason)
    }
    t.equal((await control('POST', '/reset', { unknown: 1 })).status, 400)
  }
  t.ok(messages.includes('the state of a client cannot be loaded'))
  t.same(await clientIds(stored.app), ['other', 'sandbox-client'], 'lists leave them out')
  t.equal((await call(stored.app, 'GET', '/_sandbox')).status, 200)
  t.equal((await call(stored.app, 'GET', '/_sandbox/health/ready')).status, 200)
  t.equal(await stateOf(stored.app, 'other'), other, 'another client is as it was')
  t.same(await storage.rows(), rows, 'nothing is written')

  const states: string[] = []
  for (const [at, id] of ids.entries()) {
    const { send, control } = resume(stored.app, tokens[at] as string, id)
    t.match(await control('POST', '/reset'), { status: 200, body: { counts: { bills: 0 } } })
    t.equal((await send('GET', '/api/v1/mandates')).status, 401, 'a token from before the reset')
    t.equal((await (await connect(stored.app, id)).post('/api/v1/bills', bill())).status, 201)
    states.push(await stateOf(stored.app, id))
  }
  stored = await storage.restart(stored)
  for (const [at, id] of ids.entries()) t.equal(await stateOf(stored.app, id), states[at])
  t.same(await clientIds(stored.app), [...ids, 'other', 'sandbox-client'])
})

onDatabase('persistence, Upgrades: the removal of a client that cannot be loaded repairs it', async (t, storage) => {
  const first = await storage.start()
  const token = await fill(first.app)
  let stored = await storage.change(first, replace('record', '"region":"EU"', '"region":"GB"'))
  t.match(await call(stored.app, 'DELETE', '/_sandbox/clients/acme'), { status: 200, body: { removed: 1 } })
  t.same(
    (await storage.rows()).filter(row => row.includes('GB')),
    [],
    'its records are gone',
  )
  stored = await storage.restart(stored)
  t.equal((await resume(stored.app, token).send('GET', '/api/v1/bills')).status, 401)
  refused(t, await call(stored.app, 'GET', '/_sandbox/state?client=acme'), 404, 'CLIENT_NOT_FOUND', 'client')
  const client = await connect(stored.app, 'acme', 'EU', 'another')
  t.equal((await client.post('/api/v1/bills', bill())).status, 201)
})

onDatabase(
  'persistence, Upgrades: a client whose own row cannot be loaded is removed, and registers again',
  async (t, storage) => {
    const clients = [{ clientId: 'listed', clientSecret: 'secret' }]
    const first = await storage.start({ clients })
    const tokens = new Map<string, string>()
    for (const clientId of ['acme', 'beta', 'listed']) {
      const client = await connect(first.app, clientId)
      await client.post('/api/v1/bills', bill())
      tokens.set(clientId, client.token)
    }
    await connect(first.app, 'other')
    const damage = `UPDATE sandbox_tenant SET content = 'x' WHERE client_id IN ('acme', 'listed');
      ${replace('tenant', '"clock"', '"clocks"', 'beta')}`
    let stored = await storage.change(first, damage, { clients })
    for (const [clientId, token] of tokens) {
      const { send, control } = resume(stored.app, token, clientId)
      for (const answer of [await send('GET', '/api/v1/bills'), await control('GET', '/state')]) {
        refused(t, answer, 503, 'SERVICE_UNAVAILABLE', null, clientId)
        t.match(answer.body.message, REMEDY)
      }
    }
    t.same(await clientIds(stored.app), ['other', 'sandbox-client'])
    t.equal((await call(stored.app, 'POST', '/_sandbox/reset?client=acme')).status, 404, 'it is no client any more')
    t.equal((await call(stored.app, 'DELETE', '/_sandbox/clients/beta')).status, 404)
    t.equal((await call(stored.app, 'POST', '/_sandbox/reset?client=listed')).status, 200)
    for (const what of ['at once', 'after a restart']) {
      t.same(await clientIds(stored.app), ['listed', 'other', 'sandbox-client'], what)
      for (const [clientId, token] of tokens) {
        const { status } = await resume(stored.app, token).send('GET', '/api/v1/bills')
        t.equal(status, 401, `${clientId}: a token from before, ${what}`)
      }
      stored = await storage.restart(stored, { clients })
    }
    for (const [clientId, secret] of [
      ['acme', 'another'],
      ['beta', 'another'],
      ['listed', 'secret'],
    ] as const) {
      const client = await connect(stored.app, clientId, 'EU', secret)
      t.equal((await client.get('/api/v1/bills')).body.totalCount, 0, clientId)
      t.equal((await client.post('/api/v1/bills', bill())).status, 201, clientId)
    }
    stored = await storage.restart(stored, { clients })
    for (const clientId of tokens.keys()) t.equal(JSON.parse(await stateOf(stored.app, clientId)).bills.length, 1)
    t.equal((await requestToken(stored.app, { client_secret: 'secret' })).status, 401, 'the secret of before is gone')
  },
)
