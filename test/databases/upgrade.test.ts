import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { BILL_STATUSES } from '../../src/areas/bills/lifecycle.js'
import { COLLECTION_STATUSES } from '../../src/areas/direct-debit/lifecycle.js'
import type { Area, AreaName } from '../../src/areas/index.js'
import { areas } from '../../src/areas/index.js'
import { MANDATE_STATUSES } from '../../src/areas/mandates/lifecycle.js'
import { PAYOUT_LINK_STATUSES } from '../../src/areas/payout-links/lifecycle.js'
import { bill, collection, connect, mandate, payoutLink } from '../helper.js'
import { MULTIPART, multipart } from '../multipart.js'
import { onDatabase } from '../persistence/helper.js'
import { uncheckedProgram } from '../program.js'
import type { Transport } from '../random-requests.js'
import { createPlayer, injecting, randomRequests } from '../random-requests.js'
import { isTimeless, PUBLIC_URL, Server } from '../server-process.js'

// Persistence: a later release, whose rules differ, answers the same about all that is in the database.

const IS_LONG = process.env.TEST_LONG === '1'

/** Other rules: in a module of the build, a text that is replaced by another. */
const CHANGES: readonly (readonly [module: string, text: string, other: string])[] = [
  ['core/ids', '`id\\0$', '`id of a later release\\0$'],
  ['core/ids', '.slice(0, 16)', '.slice(0, 20)'],
  ['core/records/list', '`cursor\\0$', '`place\\0$'],
  ['core/domain/identifiers', 'BE BG CY CZ DE DK', 'BE BG CY CZ DK'],
  ['core/domain/identifiers', 'mod97(text.slice(7) + text.slice(0, 4)) === 1', 'false'],
  ['core/time/business-days', '-12-26`)', '-12-26`), parseDay("2026-11-09"), parseDay("2026-11-10")'],
  ['areas/bills/documents', '%PDF-', '%PDF-2'],
  ['areas/bills/lifecycle', '{ reopen: "OPEN", payPartially', '{ payPartially'],
  ['areas/direct-debit/timing', '-2), CUT_OFF', '-3), MORNING + 36e5'],
  ['areas/direct-debit/timing', '-1), MORNING', '0), MORNING - 36e5'],
  ['areas/direct-debit/timing', 'addDays(today, 365)', 'addDays(today, 1)'],
  ['areas/mandates/lifecycle', 'MONTHS_UNTIL_EXPIRY = 36', 'MONTHS_UNTIL_EXPIRY = 1'],
  [
    'areas/payout-links/methods',
    '"999999999.99", paidAt: onOpenDay(T2, 1, "14:00")',
    '"1.00", paidAt: onOpenDay(T2, 4, "09:00")',
  ],
  ['areas/payout-links/methods', 'processingAt = afterSeconds(5)', 'processingAt = afterSeconds(86400)'],
  ['areas/payout-links/store', 'most: "P30D", byDefault: "P7D"', 'most: "PT20M", byDefault: "PT20M"'],
  ['sandbox/deprecations/state', 'sunset < deprecatedSince', 'true'],
  ['sandbox/armed/state', 'MOST = 1e3', 'MOST = 0'],
  ['core/domain/schemas', 'DebtorReference = Text(1, 100)', 'DebtorReference = Text(99, 100)'],
  ['tenants/registry', '[A-Za-z0-9._-]{1,64}$/', 'later-[A-Za-z0-9._-]{1,64}$/'],
]

/** Another name of a state: the same, with the number of places. */
const RENAMED: readonly (readonly [module: string, text: string, other: string, places?: number])[] = [
  ['areas/direct-debit/lifecycle', 'SUBMITTED', 'SENT', 3],
  ['areas/direct-debit/reason-codes', 'SUBMITTED', 'SENT'],
  ['areas/direct-debit/outcomes', 'SUBMITTED', 'SENT', 2],
  ['areas/direct-debit/timing', 'SUBMITTED', 'SENT', 2],
  ['areas/direct-debit/store', 'SUBMITTED', 'SENT'],
]

/** Makes a build with other rules. Returns the path of its program. */
function makeBuild(t: Test, name: string, changes: typeof RENAMED): string {
  const folder = join(t.testdirName, name)
  cpSync(resolve('build/src'), folder, { recursive: true, filter: path => !path.endsWith('.map') })
  for (const [module, text, other, places = 1] of changes) {
    const path = join(folder, `${module}.js`)
    const code = readFileSync(path, 'utf8')
    t.equal(code.split(text).length - 1, places, `${module} has ${text}`)
    writeFileSync(
      path,
      code.replaceAll(text, () => other),
    )
  }
  return join(folder, 'cli.js')
}

// --------------------------------------------------------------------------------------------------------- contents

const CLIENTS = { acme: 'hush acme', fork: 'hush acme', copy: 'secret', 'sandbox-client': 'sandbox-secret' }
/** The kinds of records with states. */
const KINDS = Object.entries<Area>(areas).flatMap(([kind, { path, lifecycle }]) =>
  lifecycle === undefined ? [] : [{ kind, path, statuses: lifecycle.states }],
)
/** The paths of the lists of the API. */
const LISTS = Object.values<Area>(areas).flatMap(({ list, path }) => (list === undefined ? [] : [path]))
const names = (...parts: string[]) => parts.join('-')

/** Brings records of every kind and state into being, and all other state, by the whole API. */
async function fill(t: Test, app: FastifyInstance) {
  const player = createPlayer(injecting(app), 'acme')
  await player.authenticate()
  for (const request of randomRequests(22, IS_LONG ? 500 : 150).filter(isTimeless)) await player.play(request)
  await player.control('DELETE', '/faults')
  await player.control('DELETE', '/deprecations')
  await player.control('PATCH', '/clock', { mode: 'frozen', rate: 1 })
  await player.authenticate()
  const { now } = JSON.parse((await player.control('GET', '/clock')).text)
  const date = (days: number) => new Date(Date.parse(now) + days * 86_400_000).toISOString().slice(0, 10)
  const holder = { accountHolderName: 'Jane Doe', accountIdentifier: 'DE89370400440532013000' }
  const records = {
    mandates: MANDATE_STATUSES.map(status => ({ ...mandate({ mandateReference: names('M', status) }), status })),
    collections: COLLECTION_STATUSES.map(status => ({
      ...collection({ mandateReference: 'M-ACTIVE', collectionReference: names('C', status), collectionDate: date(9) }),
      status,
    })),
    bills: BILL_STATUSES.map((status, at) => ({
      ...bill({ uniqueReferenceIdentifier: names('B', status), openAmount: ['1190.00', '5', '0', '1190.00'][at] }),
      status,
    })),
    payoutLinks: PAYOUT_LINK_STATUSES.map(status => ({
      ...payoutLink(),
      status,
      ...(/CLAIMED|P|FAILED/.test(status) && status !== 'EXPIRED' && { claim: holder }),
      ...(status === 'REJECTED' && { decline: { remarks: 'Not mine.' } }),
    })),
    counterparties: [{ region: 'UK', counterpartyReference: 'CPTY-9', accountHolderName: 'Jane Doe' }],
    accounts: [
      {
        accountReference: 'ACC-01',
        accountHolderName: 'Acme GmbH',
        accountIdentifier: holder.accountIdentifier,
        currency: 'EUR',
        balance: '-12.5',
      },
    ],
  } satisfies Partial<Record<AreaName, object[]>>
  const seeded = await player.control('POST', '/seed', { records })
  t.equal(seeded.status, 200, seeded.text)
  const api = (path: string, body: object, region = 'EU') =>
    player.play({ plane: 'api', method: 'POST', path: `/api/v1${path}`, region, body })
  const outcomes = ['SIM-FAILED', 'SIM-RETURNED-AM04', 'SIM-STUCK-SUBMITTED', 'mine']
  for (const [at, debtorReference] of outcomes.entries()) {
    const changes = { mandateReference: 'M-ACTIVE', collectionReference: `PLAN-${at}`, collectionDate: date(8 + at) }
    await api('/direct-debit', collection({ ...changes, debtorReference, amount: '123456789' }))
  }
  for (const method of ['SEPA-CT', 'SEPA-INSTANT']) {
    for (const expiryPeriod of ['PT10M', 'P10D'])
      await api('/payout-links', payoutLink({ payoutMethod: method, expiryPeriod }))
    const { payoutLinkId } = JSON.parse((await api('/payout-links', payoutLink({ payoutMethod: method }))).text)
    await player.control('POST', `/payout-links/${payoutLinkId}/claim`, holder)
  }
  await player.play({
    ...{ plane: 'api', method: 'POST', path: '/api/v1/bills/B-OPEN/document', region: 'EU' },
    ...{ contentType: MULTIPART['content-type'], body: multipart() },
  })
  const steps: [string, string, object?][] = [
    ['POST', '/outcomes', { outcome: 'FAILED', match: { mandateReference: 'M-ACTIVE' }, times: 3 }],
    [
      'POST',
      '/faults',
      { match: { method: 'POST', path: '/api/v1/bills' }, skip: 2, effect: { kind: 'error', status: 503 } },
    ],
    ['PUT', '/settings', { mandateActivation: 'manual', allowedOrigins: ['https://shop.example'] }],
    ['PUT', '/deprecations', { data: [{ operation: 'GET /api/v1/bills', sunset: `${date(99)}T00:00:00Z` }] }],
    ['POST', '/fork', { clientId: 'fork' }],
  ]
  for (const [method, path, body] of steps) {
    const { status, text } = await player.control(method, path, body)
    t.ok(status < 300, text)
  }
  const copy = await connect(app, 'copy')
  const state = JSON.parse((await player.control('GET', '/state')).text)
  t.equal((await copy.control('PUT', '/state', state)).status, 200)
  for (const { kind, statuses } of KINDS.filter(({ kind }) => kind in records)) {
    const found = new Set(state[kind].map(({ record }: { record: { status: string } }) => record.status))
    t.same([...found].sort(), [...statuses].sort(), `${kind} of each state`)
  }
}

/** Reads all answers about the clients, by URL. Lists are read by pages. */
async function readAll(send: Transport): Promise<Map<string, string>> {
  const answers = new Map<string, string>()
  for (const [client, secret] of Object.entries(CLIENTS)) {
    const player = createPlayer(send, client, secret)
    const control = async (path: string) => {
      const [base = '', query] = path.split('?')
      const { status, text } = await send({
        ...{ method: 'GET', url: `/_sandbox${base}?client=${client}${query ? `&${query}` : ''}`, headers: {} },
      })
      return { status, text }
    }
    const token = JSON.parse((await player.authenticate()).text).access_token
    const get = (url: string, region: string) =>
      send({ method: 'GET', url, headers: { authorization: `Bearer ${token}`, 'x-region': region } })
    // A forecast has the rules of its release, beyond the step that is planned.
    const keep = (url: string, { status, text }: { status: number; text: string }) =>
      answers.set(`${client} ${url}`, `${status} ${text.replace(/,"forecast":\[.*?\](?=[,}])/, '')}`)
    const paths = ['/state', '/faults', '/outcomes', '/settings', '/deprecations', '/clock', '/events']
    for (const path of paths) keep(path, await control(path))
    for (const [region, path] of ['EU', 'IN', 'US', 'UK'].flatMap(region =>
      LISTS.map(path => [region, path] as const),
    )) {
      let rows: unknown[] = []
      for (let cursor = ''; ; ) {
        const { status, text } = await get(`/api/v1/${path}?limit=9${cursor}`, region)
        const { data, nextCursor, ...others } = JSON.parse(text)
        rows = [...rows, status, data, others]
        if (!nextCursor) break
        cursor = `&cursor=${encodeURIComponent(nextCursor)}`
      }
      answers.set(`${client} ${region} ${path}`, JSON.stringify(rows))
    }
    const state = JSON.parse((await control('/state')).text)
    // The others are copies of the first.
    for (const { kind, path } of client === 'acme' ? KINDS : []) {
      for (const { region, record } of state[kind]) {
        const {
          mandateReference,
          collectionReference = mandateReference,
          payoutLinkId,
          uniqueReferenceIdentifier,
        } = record
        const reference = payoutLinkId ?? uniqueReferenceIdentifier ?? collectionReference
        const query = kind === 'bills' ? `?region=${region}` : ''
        const { status, text } = await control(`/${path}/${reference}${query}`)
        // What can happen next follows the rules of the release.
        const { legal, forecast, ...explained } = JSON.parse(text)
        keep(`/${path}/${reference}${query}`, { status, text: JSON.stringify(explained) })
        if (kind !== 'payoutLinks') keep(`${region} ${reference}`, await get(`/api/v1/${path}/${reference}`, region))
      }
    }
  }
  return answers
}

/** Advances the clock. Returns the first transition of each record, as it was planned. */
async function happened(send: Transport): Promise<Record<string, unknown>> {
  const headers = { 'content-type': 'application/json' }
  const url = '/_sandbox/clock/advance?client=acme'
  const advanced = await send({ method: 'POST', url, headers, payload: JSON.stringify({ by: 'P20D' }) })
  const first: Record<string, unknown> = {}
  for (const { at, reference, to } of JSON.parse(advanced.text).transitions) first[reference] ??= { at, to }
  return first
}

// ------------------------------------------------------------------------------------------------------------ test

onDatabase('persistence, Upgrades: later releases answer the same about all that exists', async (t, storage) => {
  const { app, close } = await storage.start({ publicUrl: () => PUBLIC_URL })
  await fill(t, app)
  const before = await readAll(injecting(app))
  t.ok(before.size > 120, `${before.size} answers`)
  const planned: Record<string, object> = {}
  for (const [request, text] of before) {
    const [, reference] = /^acme \/[a-z-]+\/([^?]*)/.exec(request) ?? []
    if (reference !== undefined) planned[reference] = JSON.parse(text.slice(4)).next
  }
  await close()

  async function testBuild(changes: typeof CHANGES, at: number) {
    const name = changes.join('; ')
    const main = makeBuild(t, `build-${at}`, changes)
    const server = await Server.start(await storage.copy(), { ...uncheckedProgram, main })
    t.teardown(() => server.kill())
    const after = await readAll(server.transport)
    const others = [...before].filter(([request, answer]) => after.get(request) !== answer)
    t.same(others.map(([request, answer]) => [request, answer, after.get(request)]).slice(0, 3), [], name)
    t.equal(after.size, before.size)
    const first = await happened(server.transport)
    const found = Object.keys(planned).map(reference => [reference, first[reference] ?? planned[reference]])
    t.same(Object.fromEntries(found), planned, `${name}: what was planned has happened at its time`)
    t.ok(Object.keys(first).length > 12)
    await server.kill()
  }
  // A build takes a second, so one has all changes. The long form has each alone.
  const builds = IS_LONG ? CHANGES.map(change => [change]) : [CHANGES]
  for (const [at, changes] of builds.entries()) await testBuild(changes, at)
})

onDatabase('persistence, Upgrades: a build without a state refuses the clients that have it', async (t, storage) => {
  const { app, close } = await storage.start({ publicUrl: () => PUBLIC_URL })
  const [has, other] = [await connect(app, 'has'), await connect(app, 'other')]
  for (const { post } of [has, other]) {
    t.equal((await post('/api/v1/mandates', mandate())).status, 201)
    t.equal((await post('/api/v1/direct-debit', collection())).status, 201)
  }
  t.equal((await has.control('POST', '/direct-debit/COL-0001/submit')).status, 200)
  const state = async (send: Transport, client: string) =>
    send({ method: 'GET', url: `/_sandbox/state?client=${client}`, headers: {} })
  const before = [await state(injecting(app), 'has'), await state(injecting(app), 'other')]
  await close()

  const settings = await storage.copy()
  const start = async (of: typeof uncheckedProgram) => {
    const server = await Server.start(settings, of)
    t.teardown(() => server.kill())
    return server
  }
  const renamed = { ...uncheckedProgram, main: makeBuild(t, 'renamed', RENAMED) }
  const lacking = await start(renamed)
  const { status, text } = await state(lacking.transport, 'has')
  const { code, message } = JSON.parse(text)
  t.same([status, code], [503, 'SERVICE_UNAVAILABLE'])
  t.match(message, /^The state of this client cannot be loaded: [^\n]*SUBMITTED[^\n]* Reset or remove the client\.$/)
  t.equal((await createPlayer(lacking.transport, 'has', 'secret').authenticate()).status, 503)
  t.same(await state(lacking.transport, 'other'), before[1])
  t.equal((await createPlayer(lacking.transport, 'other', 'secret').authenticate()).status, 200)
  for (const path of ['', '/clients', '/health/ready'])
    t.equal((await lacking.transport({ method: 'GET', url: `/_sandbox${path}`, headers: {} })).status, 200, path)
  await lacking.kill()

  const former = await start(uncheckedProgram)
  t.same([await state(former.transport, 'has'), await state(former.transport, 'other')], before, 'its rows stay')
  await former.kill()

  const again = await start(renamed)
  t.equal((await again.transport({ method: 'POST', url: '/_sandbox/reset?client=has', headers: {} })).status, 200)
  t.same(JSON.parse((await state(again.transport, 'has')).text).collections, [])
  t.equal((await createPlayer(again.transport, 'has', 'secret').authenticate()).status, 200)
})
