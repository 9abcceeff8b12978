import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { kinds } from '../../src/console/kinds.js'
import { causeOf } from '../../src/console/views/parts.js'
import { EFFECT_KINDS } from '../../src/features/faults/state.js'
import { createScenarios } from '../../src/features/scenarios/files.js'
import { follow as followStream } from '../event-stream.js'
import type { Client } from '../helper.js'
import {
  bill,
  build,
  call,
  changedOften,
  collection,
  connect,
  MONDAY,
  mandate,
  newClient,
  payoutLink,
} from '../helper.js'
import { buildLogged } from '../http/raw.js'
import { manualTime } from '../manual-time.js'
import { field, MULTIPART, multipart } from '../multipart.js'
import { HAR_TO_STATE } from './har.js'
import { CONSOLE, fieldsOf, follow, formsIn, formsOf, noticeOf, open, sendFields, submit, toText } from './pages.js'

const LINK = 'PL-TEST-0001'

/** Gives a client one record of each kind. */
async function stock(client: Client): Promise<void> {
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/direct-debit', collection())
  await client.post('/api/v1/bills', bill())
  await client.control('POST', '/seed', {
    records: {
      payoutLinks: [{ ...payoutLink({ expiryPeriod: 'P30D' }), payoutLinkId: LINK }],
      accounts: [
        {
          accountReference: 'ACC-0001',
          accountHolderName: 'Acme GmbH',
          currency: 'EUR',
          accountIdentifier: 'DE89370400440532013000',
          balance: '10.00',
        },
      ],
    },
  })
}

const PATHS = [
  '',
  '/collections',
  '/collections/COL-0001',
  '/collections/new',
  '/mandates',
  '/mandates/MND-0001',
  '/mandates/new',
  '/payout-links',
  `/payout-links/${LINK}`,
  '/payout-links/new',
  '/bills',
  '/bills/INV-2026-001',
  '/bills/new',
  '/counterparties',
  '/counterparties/CPTY-0001',
  '/accounts',
  '/accounts/ACC-0001',
  '/requests',
  '/requests/1',
  '/failures',
  '/client',
  '/client/reset',
  '/client/restart',
  '/client/remove',
  '/client/load',
  '/errors/DUPLICATE_REFERENCE',
] as const

/** Returns the buttons of a page in the colour of the main action. */
const mainButtonsOf = (html: string) =>
  [
    ...html.matchAll(
      /<(?:button|a)(?! [^>]*class="[^"]*(?:plain|danger))(?=[^>]*class="(?:button|primary)|[^>]*type="submit")[^>]*>(.*?)<\//gs,
    ),
  ].map(([, text]) => text)

t.test('console, Pages: each page has its title, its client and a strict policy, and no script of its own', async t => {
  const app = build(t)
  await stock(await connect(app))
  for (const path of PATHS) {
    const { statusCode, headers, payload } = await open(app, path)
    t.equal(statusCode, 200, path)
    t.match(headers, {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'content-security-policy': /^default-src 'none'; script-src 'self'; style-src 'self';.*frame-ancestors 'none'$/,
    })
    t.match(/<title>(.*?)<\/title>/.exec(payload)?.[1], / · acme · Payments Sandbox$/)
    t.match(payload, 'This page is part of the sandbox, not of the service.')
    t.notMatch(payload, /<script(?! type="module" src="[./a-z]+"><\/script>)|<style| style=| on[a-z]+=/)
    t.equal(payload.match(/<h1/g)?.length, 1)
    t.ok(mainButtonsOf(payload).length <= 1, `${path}: at most one main button`)
    const ids = [...payload.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
    t.same(
      ids.filter((id, at) => ids.indexOf(id) < at),
      [],
      `${path}: each id once`,
    )
  }
})

t.test('console, Pages: the API, the coverage and the documents know nothing of them', async t => {
  const app = build(t)
  const client = await connect(app)
  await stock(client)
  const before = (await client.control('GET', '/requests')).body.last
  const coverage = (await client.control('GET', '/coverage')).body
  for (const path of PATHS) await open(app, path)
  t.equal((await client.control('GET', '/requests')).body.last, before)
  t.same((await client.control('GET', '/coverage')).body, coverage)
  const { body } = await call(app, 'GET', '/_sandbox/openapi.json')
  t.notOk(Object.keys(body.paths).some(path => path.includes('console')))
})

t.test('console, Pages: what does not exist, and what is not well-formed, is a page with the error', async t => {
  const app = build(t)
  await connect(app)
  const rows: [path: string, query: Record<string, string>, status: number, code: string][] = [
    ['/mandates/MND-0404', {}, 404, 'MANDATE_NOT_FOUND'],
    ['/payout-links/pl-404-404', {}, 404, 'PAYOUT_LINK_NOT_FOUND'],
    ['/bills/404', {}, 404, 'BILL_NOT_FOUND'],
    ['/counterparties/CP-404', {}, 404, 'COUNTERPARTY_NOT_FOUND'],
    ['/requests/7', {}, 404, 'REQUEST_NOT_FOUND'],
    ['/errors/NO_SUCH_CODE', {}, 404, 'ROUTE_NOT_FOUND'],
    ['/errors/toString', {}, 404, 'ROUTE_NOT_FOUND'],
    ['/nowhere', {}, 404, 'ROUTE_NOT_FOUND'],
    ['', { client: 'nobody' }, 404, 'CLIENT_NOT_FOUND'],
    ['/collections', { cursor: 'x' }, 400, 'INVALID_CURSOR'],
  ]
  for (const [path, query, status, code] of rows) {
    const { statusCode, payload, headers } = await open(app, path, { query })
    t.same([statusCode, payload.includes(`<code>${code}</code>`)], [status, true], `${path} ${code}`)
    t.match(headers['content-security-policy'], /^default-src 'none'/)
    t.match(payload, '<nav aria-label="Console">', 'it has the navigation')
    t.match(payload, /<a href="[^"]*console\?client=[\w-]+">Overview<\/a><\/p>/, 'it leads home')
    t.equal(code === 'ROUTE_NOT_FOUND', payload.includes('<p>There is no page at this address.</p>'), path)
    t.match(payload, `<option value="${query.client === undefined ? 'acme' : 'sandbox-client'}" selected>`)
  }
  for (const path of ['', '/nowhere']) {
    const { statusCode, payload } = await open(app, path, { headers: { host: 'evil.example' } })
    t.same([statusCode, payload.includes('<nav')], [403, false], 'another site sees no client')
  }
  const repeated = await app.inject({ url: `${CONSOLE}?client=acme&client=acme`, headers: { accept: 'text/html' } })
  t.equal(repeated.statusCode, 400)
  t.match(repeated.payload, '<nav aria-label="Console">')
  t.match(await call(app, 'GET', `${CONSOLE}/nowhere`), { status: 404, body: { code: 'ROUTE_NOT_FOUND' } })
  const json = await call(app, 'GET', `${CONSOLE}/mandates/MND-0404?client=acme`)
  t.match(json, { status: 404, body: { code: 'MANDATE_NOT_FOUND', field: 'mandateReference' } })
})

t.test(
  'console, Pages: a table has 50 rows, newest first, and the way to all others; a search finds a part',
  async t => {
    const app = build(t)
    const client = await connect(app)
    const mandates = Array.from({ length: 120 }, (_, at) => mandate({ mandateReference: `MND-${1000 + at}` }))
    await client.control('POST', '/seed', { records: { mandates } })
    for (let sent = 1; sent < 120; sent++) await client.get('/api/v1/accounts')
    const tables = {
      '/mandates': [/<tr[^>]* id="mandates-EU-(MND-\d+)"/g, mandates.map(({ mandateReference }) => mandateReference)],
      '/requests': [/<tr[^>]* id="request-(\d+)"/g, Array.from({ length: 120 }, (_, at) => String(at + 1))],
    } as const
    for (const [path, [row, all]] of Object.entries(tables)) {
      const seen: (string | undefined)[] = []
      let query = {}
      for (let pages = 0; pages < 3; pages++) {
        const { payload } = await open(app, path, { query })
        const rows = [...payload.matchAll(row)].map(([, name]) => name)
        t.ok(rows.length <= 50)
        seen.push(...rows)
        const older = /<a href="([^"]+)">Older<\/a>/.exec(payload)?.[1]
        query = Object.fromEntries(new URL(toText(older ?? ''), 'http://sandbox').searchParams)
        t.equal(older !== undefined, pages < 2, path)
      }
      t.same(seen, all.toReversed(), path)
    }
    const { payload } = await open(app, '/mandates', { query: { search: 'nd-111', status: 'ACTIVE' } })
    t.equal(payload.match(/<tr[^>]* id="mandates-/g)?.length, 10)
    t.match((await open(app, '/mandates', { query: { status: 'FAILED' } })).payload, 'No mandate fits this filter.')
  },
)

interface Action {
  readonly path: string
  readonly form: string
  readonly changes?: Record<string, string>
  /** The call that shows the effect, and what it then answers. */
  readonly read: string
  readonly expected: object
  readonly notice: string | RegExp
  /** The page that follows, where it is another. */
  readonly next?: string
}

const reads = {
  collection: '/direct-debit/COL-0001',
  mandate: '/mandates/MND-0001',
  link: `/payout-links/${LINK}`,
  bill: '/bills/INV-2026-001',
}
const status = (value: string) => ({ record: { status: value } })
const IN_AN_HOUR = 'Mon, 2 Nov 2026, 10:00:00 UTC'

const ACTIONS: readonly Action[] = [
  {
    path: '',
    form: 'advance-PT1H',
    read: '/clock',
    expected: { now: '2026-11-02T10:00:00Z' },
    notice: `The clock shows ${IN_AN_HOUR}. Nothing was due.`,
  },
  {
    path: '',
    form: 'advance-P1D',
    read: '/clock',
    expected: { now: '2026-11-03T09:00:00Z' },
    notice: 'The clock shows Tue, 3 Nov 2026, 09:00:00 UTC. Nothing was due.',
  },
  {
    path: '',
    form: 'next-event',
    read: reads.collection,
    expected: status('SUBMITTED'),
    notice: 'The clock shows Thu, 5 Nov 2026, 15:00:00 UTC. 1 transition happened.',
  },
  {
    path: '',
    form: 'advance-to',
    changes: { 'body.to': '2026-11-02T10:00' },
    read: '/clock',
    expected: { now: '2026-11-02T10:00:00Z' },
    notice: `The clock shows ${IN_AN_HOUR}. Nothing was due.`,
  },
  {
    path: '',
    form: 'run',
    changes: { 'body.rate': '3600' },
    read: '/clock',
    expected: { mode: 'running', rate: 3600 },
    notice: 'The clock shows Mon, 2 Nov 2026, 09:00:00 UTC, and runs 1 hour a second.',
  },
  {
    path: '/collections/COL-0001',
    form: 'move-submit',
    read: reads.collection,
    expected: status('SUBMITTED'),
    notice: 'COL-0001 became SUBMITTED.',
  },
  {
    path: '/collections/COL-0001',
    form: 'move-fail',
    changes: { 'body.reasonCode': 'MD01' },
    read: reads.collection,
    expected: { record: { status: 'FAILED', reasonCode: 'MD01' } },
    notice: 'COL-0001 became FAILED.',
  },
  {
    path: '/collections/COL-0001',
    form: 'choose',
    changes: { 'body.outcome': 'RETURNED-AM04' },
    read: reads.collection,
    expected: { record: { outcome: 'RETURNED-AM04' } },
    notice: 'COL-0001 has the outcome RETURNED-AM04.',
  },
  {
    path: '/mandates/MND-0001',
    form: 'move-cancel',
    read: reads.collection,
    expected: status('CANCELLED'),
    notice: 'MND-0001 became CANCELLED.',
  },
  {
    path: `/payout-links/${LINK}`,
    form: 'move-claim',
    read: reads.link,
    expected: status('CLAIMED'),
    notice: `${LINK} became CLAIMED.`,
  },
  {
    path: `/payout-links/${LINK}`,
    form: 'move-decline',
    changes: { 'body.remarks': 'No, thanks' },
    read: reads.link,
    expected: { record: { status: 'REJECTED', decline: { remarks: 'No, thanks' } } },
    notice: `${LINK} became REJECTED.`,
  },
  {
    path: `/payout-links/${LINK}`,
    form: 'move-cancel',
    read: reads.link,
    expected: status('CANCELLED'),
    notice: `${LINK} became CANCELLED.`,
  },
  {
    path: '/bills/INV-2026-001',
    form: 'move-pay',
    read: reads.bill,
    expected: { record: { status: 'PAID', openAmount: '0' } },
    notice: 'INV-2026-001 became PAID.',
  },
  {
    path: '/bills/INV-2026-001',
    form: 'move-payPartially',
    read: reads.bill,
    expected: { record: { status: 'PARTIALLY_PAID', openAmount: '595.00' } },
    notice: 'INV-2026-001 became PARTIALLY_PAID.',
  },
  {
    path: '/mandates/new',
    form: 'create',
    changes: { 'body.mandateReference': 'MND-0002', 'body.debtor.reference': 'CUST-9' },
    read: '/mandates/MND-0002',
    expected: { record: { status: 'ACTIVE', debtor: { reference: 'CUST-9' } } },
    notice: 'MND-0002 became ACTIVE.',
    next: '/mandates/MND-0002',
  },
  {
    path: '/collections/new',
    form: 'create',
    changes: { 'body.collectionReference': 'COL-0002' },
    read: '/direct-debit/COL-0002',
    expected: status('PENDING'),
    notice: 'COL-0002 became PENDING.',
    next: '/collections/COL-0002',
  },
  {
    path: '/bills/new',
    form: 'create',
    changes: { region: 'UK', 'body.currency': 'GBP', 'body.uniqueReferenceIdentifier': 'INV-0002' },
    read: '/bills/INV-0002',
    expected: { record: { status: 'OPEN', currency: 'GBP' } },
    notice: 'INV-0002 became OPEN.',
    next: '/bills/INV-0002',
  },
  {
    path: '/failures',
    form: 'preset-lost-answer',
    read: '/faults',
    expected: { data: [{ effect: { kind: 'drop', when: 'after' } }] },
    notice: 'fault-1 is armed: drop.',
  },
  {
    path: '/failures',
    form: 'arm',
    changes: { 'body.times': 'null', 'body.effect.status': '429' },
    read: '/faults',
    expected: { data: [{ times: null, effect: { kind: 'error', status: 429 } }] },
    notice: 'fault-1 is armed: error.',
  },
  {
    path: '/failures',
    form: 'arm-outcome',
    changes: { 'body.match.amount': '49.90' },
    read: '/outcomes',
    expected: { armed: [{ outcome: 'RETURNED-AM04', match: { amount: '49.90' } }] },
    notice: 'outcome-1 is armed: RETURNED-AM04.',
  },
  {
    path: '/failures',
    form: 'deprecate',
    changes: {
      'body.data.0.operation': 'GET /api/v1/mandates',
      'body.data.0.sunset': '2030-06-30T00:00:00',
      'body.data.0.goneAfterSunset': 'true',
    },
    read: '/deprecations',
    expected: { data: [{ operation: 'GET /api/v1/mandates', sunset: '2030-06-30T00:00:00Z', goneAfterSunset: true }] },
    notice: 'The list of deprecations is saved.',
  },
  {
    path: '/client',
    form: 'update-settings',
    changes: { 'body.mandateActivation': 'manual' },
    read: '/settings',
    expected: { mandateActivation: 'manual', allowedOrigins: ['http://localhost:*', 'http://127.0.0.1:*'] },
    notice: 'The settings are saved.',
  },
  {
    path: '/client',
    form: 'fork-client',
    changes: { 'body.clientId': 'copy' },
    read: '/../_sandbox/clients',
    expected: { data: [{}, { clientId: 'acme' }, { clientId: 'copy' }] },
    notice: 'copy exists.',
  },
  {
    path: '/client',
    form: 'seed',
    changes: { 'body.fixture': 'demo' },
    read: '/mandates/MND-ACME-0001',
    expected: status('ACTIVE'),
    notice: 'The client has',
  },
  { path: '/client', form: 'expire', read: '/clock', expected: {}, notice: 'All tokens of acme are expired.' },
  {
    path: '/client/remove',
    form: 'remove',
    read: '/../_sandbox/clients',
    expected: { data: { length: 1 } },
    notice: 'Removed: 1 client.',
    next: '',
  },
  ...['reset', 'restart'].map(form => ({
    ...{ path: `/client/${form}`, form, read: '/clock', expected: {}, notice: 'acme has 0 records.', next: '' },
  })),
  {
    path: '/client',
    form: 'scenario-collection-returned',
    changes: { 'body.amount': '20', 'body.reasonCode': 'MD06' },
    read: '/direct-debit?status=RETURNED',
    expected: { data: [{ record: { amount: '20', reasonCode: 'MD06' } }] },
    notice: /^MND-SCN-\d+ became ACTIVE\. COL-SCN-\d+ became RETURNED\.$/,
  },
  {
    path: '/client',
    form: 'scenario-rate-limited',
    changes: { 'body.times': '4' },
    read: '/faults',
    expected: { data: [{ times: 4, effect: { status: 429 } }] },
    notice: 'fault-1 is armed: error.',
  },
  { path: '/requests', form: 'clear', read: '/requests', expected: { data: [] }, notice: 'Removed: 4 requests.' },
]

t.test('console, Actions: each form changes what its call changes, and answers with a notice', async t => {
  const app = build(t)
  for (const { path, form, changes, read, expected, notice, next = path } of ACTIONS) {
    // Each action begins with a new client, and without a fork of an earlier one.
    for (const { clientId } of (await call(app, 'GET', '/_sandbox/clients')).body.data) {
      if (clientId !== 'sandbox-client') await call(app, 'DELETE', `/_sandbox/clients/${clientId}`)
    }
    const client = await connect(app)
    await stock(client)
    const answer = await submit(app, path, form, changes)
    t.equal(answer.statusCode, 303, `${path} ${form}: ${answer.payload.match(/role="alert">.*?<\/p>/)?.[0]}`)
    const after = await follow(app, path, answer)
    t.match(after.notice, notice, `${path} ${form}`)
    t.equal(after.path, next)
    t.equal(after.payload.includes('What happened'), /transition/.test(after.notice))
    const effect = read.startsWith('/..') ? await call(app, 'GET', read.slice(3)) : await client.control('GET', read)
    t.match(effect.body, expected, `${path} ${form}`)
  }
})

t.test('console, Actions: every form is sent as it is filled in, from a record of every state', async t => {
  const app = build(t)
  const client = 'sandbox-client'
  const control = (method: string, path: string) => call(app, method, `/_sandbox${path}?client=${client}`)
  await control('PUT', '/snapshots/demo')
  const { body: state } = await control('GET', '/state')
  const ofStates = kinds.flatMap(({ name, path, reference }) => {
    const records: { record: Record<string, string> }[] = state[name]
    const byState = new Map(records.map(({ record }) => [record.status, `${path}/${record[reference]}`]))
    return [...byState.values()]
  })
  const kindsOfFaults = EFFECT_KINDS.map(kind => ({ path: '/failures', query: { kind } }))
  const pages = [
    ...PATHS.filter(path => /^(|\/\w+[\w-]*\/(new|reset|restart|remove)|\/client)$/.test(path)),
    ...ofStates,
  ]
  for (const { path, query } of [...pages.map(path => ({ path, query: {} })), ...kindsOfFaults]) {
    const options = { client, query }
    const { payload } = await open(app, path, options)
    for (const id of formsOf(payload)) {
      const { statusCode, payload: page } = await submit(app, path, id, {}, options)
      t.equal(statusCode, 303, `${path} ${id}: ${/role="alert">.*?<\/p>/.exec(page)?.[0] ?? page.slice(-300)}`)
      await control('POST', '/snapshots/demo/restore')
    }
  }
})

t.test('console, Actions: a bill is paid in part with half of its total left, in whole cents', async t => {
  const app = build(t)
  const client = await connect(app)
  const rows: [totalAmount: string, openAmount: string, half: string][] = [
    ['1190.01', '1190.01', '595.01'],
    ['1190.01', '0', '595.01'],
    ['999999999.99', '999999999.99', '500000000.00'],
    ['0.02', '0.02', '0.01'],
  ]
  for (const [at, [totalAmount, openAmount, half]] of rows.entries()) {
    const path = `/bills/INV-${at}`
    await client.post('/api/v1/bills', bill({ uniqueReferenceIdentifier: `INV-${at}`, totalAmount, openAmount }))
    const { statusCode } = await submit(app, path, 'move-payPartially')
    const { record } = (await client.control('GET', path)).body
    t.same(
      [statusCode, record.status, record.openAmount],
      [303, 'PARTIALLY_PAID', half],
      `${openAmount} of ${totalAmount}`,
    )
  }
})

t.test('console, Actions: all moves of a lifecycle are forms, and those that are not legal are none', async t => {
  const app = build(t)
  await stock(await connect(app))
  const movesOf = async (path: string) =>
    [...(await open(app, path)).payload.matchAll(/<form id="move-(\w+)"/g)].map(([, verb]) => verb)
  t.same(await movesOf('/collections/COL-0001'), ['submit', 'fail', 'cancel'])
  for (const verb of ['submit', 'process', 'settle']) await submit(app, '/collections/COL-0001', `move-${verb}`)
  t.same(await movesOf('/collections/COL-0001'), ['return'], 'one form, though its codes have three time limits')
  const limits =
    /<form id="move-return".*?<\/form>/s.exec((await open(app, '/collections/COL-0001')).payload)?.[0] ?? ''
  const days = [...limits.matchAll(/, until ([^<]+) UTC<\/option>/g)].map(([, day]) => day)
  t.equal(new Set(days).size, 3)
  t.match(limits, /<option value="AM04".*<option value="MD06".*<option value="MD01"/s)
  await submit(app, '/collections/COL-0001', 'move-return', { 'body.reasonCode': 'MD06' })
  t.same(await movesOf('/collections/COL-0001'), [])
  const { payload } = await open(app, '/collections/COL-0001')
  t.match(payload, 'Nothing: the state is final.')
  t.match(payload, /aria-label="The state is RETURNED\. The way so far: PENDING on Mon, 2 Nov 2026.*SETTLED on/)
})

t.test('console, Actions: a refusal is shown at its field or its form, and keeps what was typed', async t => {
  const app = build(t)
  const client = await connect(app)
  await stock(client)
  const before = (await client.control('GET', '/state')).body
  const wrongIban = await submit(app, '/mandates/new', 'create', {
    'body.debtor.iban': 'DE00',
    'body.debtor.name': '<b>Jo',
  })
  t.equal(wrongIban.statusCode, 400)
  const field = /<input[^>]* id="create-debtor\.iban"[^>]*>/.exec(wrongIban.payload)?.[0] ?? ''
  t.match(field, /aria-invalid="true"/)
  t.equal(wrongIban.payload.match(/ autofocus/g)?.length, 1)
  t.match(field, ' autofocus', 'it gets the focus')
  t.match(wrongIban.payload, '<p id="notice" class="notice refused"')
  t.match(field, /value="DE00"/)
  t.match(wrongIban.payload, /<p class="error" id="create-debtor\.iban-error" role="alert"><code>INVALID_FIELD<\/code>/)
  t.match(wrongIban.payload, 'value="&lt;b>Jo"')

  const duplicate = await submit(app, '/mandates/new', 'create', { 'body.mandateReference': 'MND-0001' })
  t.equal(duplicate.statusCode, 409)
  t.match(duplicate.payload, /id="create-mandateReference-error" role="alert"><code>DUPLICATE_REFERENCE/)

  // The state has changed since the page was loaded.
  const settle = 'POST /_sandbox/direct-debit/:collectionReference/settle'
  const stale = await submit(app, '/collections/COL-0001', 'move-cancel', { call: settle })
  t.equal(stale.statusCode, 409)
  t.match(stale.payload, /<form id="move-cancel".*?role="alert"><code>ILLEGAL_TRANSITION<\/code> Cannot settle/s)
  const gone = await submit(app, '/collections/COL-0001', 'move-cancel', { form: 'move-settle', call: settle })
  t.equal(noticeOf(gone.payload).split(':')[0], 'ILLEGAL_TRANSITION', 'the form is no more, and its refusal is said')
  const backwards = await submit(app, '', 'advance-to', { 'body.to': '2020-01-01T00:00' })
  t.match(
    backwards.payload,
    /id="advance-to-to-error" role="alert"><code>INVALID_FIELD|<form id="advance-to".*?role="alert"><code>INVALID_FIELD/s,
  )
  const empty = await submit(app, '', 'advance-to', { 'body.to': '' })
  t.match(
    empty.payload,
    /id="advance-to-to-error" role="alert"><code>INVALID_FIELD/,
    'an empty field is refused at its place',
  )
  t.same((await client.control('GET', '/state')).body, before, 'nothing was changed')
})

t.test('console, Actions: a new record is a request of the app, which faults apply to', async t => {
  const app = build(t)
  const client = await connect(app)
  await submit(app, '/mandates/new', 'create')
  const { body } = await client.control('GET', '/requests?path=/api/v1/mandates')
  t.match(body.data, [{ method: 'POST', status: 201, headers: { authorization: 'Bearer ***', 'x-region': 'EU' } }])
  await client.control('POST', '/faults', { match: { method: 'POST' }, effect: { kind: 'drop', when: 'after' } })
  const lost = await submit(app, '/mandates/new', 'create', { 'body.mandateReference': 'MND-LOST' })
  t.equal(lost.statusCode, 502)
  t.match(lost.payload, /role="alert"><code>NO_ANSWER<\/code>/)
  t.match(lost.payload, /<p id="notice"[^>]*>NO_ANSWER: [^<]*<a href="[^"]*\/requests\?client=acme"> Requests<\/a>/)
  t.match((await client.control('GET', '/mandates/MND-LOST')).body, status('ACTIVE'), 'it was applied')
})

t.test('console, Actions: a request is sent again, and shown as curl and as a test', async t => {
  const app = build(t)
  const client = await connect(app)
  await client.post('/api/v1/mandates', mandate())
  await client.get('/api/v1/mandates?limit=5')
  const { payload } = await open(app, '/requests/2')
  t.match(toText(payload), `-H "Authorization: Bearer $TOKEN"`)
  t.match(toText(payload), 'await sandbox.requests.expect({')
  const again = await follow(app, '/requests/2', await submit(app, '/requests/2', 'repeat'))
  const taken = 'Sent again with a new token. The answer was 409: "MND-0001" is taken already.'
  t.match(again, { path: '/requests/4', notice: taken, payload: '409' })
  const read = await follow(app, '/requests/3', await submit(app, '/requests/3', 'repeat'))
  t.match(read, { path: '/requests/5', notice: 'Sent again with a new token. The answer was 200.' })
  const { data } = (await client.control('GET', '/requests')).body
  t.match(data.slice(3), [
    { method: 'POST', path: '/api/v1/mandates', status: 409 },
    { method: 'GET', query: { limit: '5' }, status: 200 },
  ])
  await client.get('/nowhere')
  await app.inject({
    method: 'POST',
    url: '/api/v1/mandates',
    headers: { authorization: `Bearer ${client.token}`, 'x-region': 'EU', 'content-type': 'text/plain' },
    payload: 'text',
  })
  const last = (await client.control('GET', '/requests?limit=1')).body.last
  for (const [seq, reason] of [
    [1, 'the log masks the secrets of its form.'],
    [last - 1, 'its path is none of the API.'],
    [last, 'the log has no JSON body of it.'],
  ] as const) {
    t.match((await open(app, `/requests/${seq}`)).payload, `It cannot be sent again: ${reason}`)
  }
})

t.test('console, Pages: a request has its query, its hints, and the cause of a refusal or of no answer', async t => {
  const app = build(t)
  const client = await connect(app)
  const cut = async (effect: object) => {
    await client.control('POST', '/faults', { effect })
    await client.post('/api/v1/mandates?page=1&page=2', mandate()).catch(() => {})
    const { last } = (await client.control('GET', '/requests?limit=1')).body
    return (await open(app, `/requests/${last}`)).payload
  }
  const dropped = await cut({ kind: 'drop', when: 'before' })
  t.match(dropped, 'fault-1 (drop). The request was not applied.')
  t.match(dropped, /id="answer".*No answer was sent: the fault <a href="[^"]*failures[^"]*">fault-1<\/a> closed the/)
  t.match(await cut({ kind: 'drop', when: 'after' }), 'fault-2 (drop). The request was applied.')
  const lost = await cut({ kind: 'garbage' })
  t.match(lost, 'A fault took the answer away: fault-3 (garbage). The request was applied.')
  t.match(lost, /id="answer".*fault-3<\/a> sent bytes that are not HTTP/)
  t.match(lost, /<\/p><ul class="hints"><li>/)
  t.match(toText(lost), 'POST /api/v1/mandates?page=1&page=2</code>')
  t.match(await cut({ kind: 'truncate' }), 'A fault cut the answer: fault-4 (truncate).')
  await client.control('DELETE', '/faults')
  const { payload } = await open(app, '/requests')
  t.match(toText(payload), '<b>POST</b> /api/v1/mandates?page=1&page=2</a>')
  t.match(payload, /<p class="cause">A fault took the answer away: fault-3 \(garbage\)\.<\/p>/)
  await client.post('/api/v1/mandates', mandate({ type: 'NONE' }))
  await app.inject({
    method: 'POST',
    url: '/api/v1/mandates',
    headers: { authorization: `Bearer ${client.token}`, 'x-region': 'EU', 'content-type': 'text/plain' },
    payload: 'text',
  })
  const causes = [...(await open(app, '/requests')).payload.matchAll(/<p class="cause">(.*?)<\/p>/g)].map(
    ([, text]) => text,
  )
  t.match(causes.slice(0, 2), [/^Content-Type must be/, /^type must be|<code>type<\/code>: /])
})

t.test('console, Pages: the status of the filter is one or a class of them, in any case', async t => {
  const { app, clientId } = await newClient()
  const of = async (status: string) => open(app, '/requests', { client: clientId, query: { status } })
  const { payload } = await of('5XX')
  t.match(payload, 'No request fits this filter.')
  t.match(payload, /<input[^>]* id="filter-status"[^>]* placeholder="Such as 404 or 4xx"/)
  for (const status of ['404', '4xx', '4XX', '4xX']) t.equal((await of(status)).statusCode, 200, status)
  t.notMatch((await of('2XX')).payload, 'No request fits this filter.')
})

t.test('console, Pages: the path of the filter is a part of it, or the whole with an asterisk', async t => {
  const client = await newClient()
  await client.get('/api/v1/mandates')
  for (const [path, found] of [
    ['mandates', true],
    ['/API', false],
    ['/api/v1/mandates', true],
    ['*mandates', true],
    ['mandates*', false],
  ] as const) {
    const { payload } = await open(client.app, '/requests', { client: client.clientId, query: { path } })
    t.equal(payload.includes('<b>GET</b> /api/v1/mandates'), found, path)
  }
})

t.test('console, Pages: a refused filter is shown at its field, which keeps the value', async t => {
  const { app, clientId } = await newClient()
  for (const [path, name, value] of [
    ['/requests', 'status', '404 '],
    ['/requests', 'status', 'no answer'],
    ['/requests', 'path', 'x'.repeat(1001)],
    ['/collections', 'search', 'x'.repeat(1001)],
  ] as const) {
    const { statusCode, payload } = await open(app, path, { client: clientId, query: { [name]: value } })
    t.equal(statusCode, 400)
    t.equal(formsIn(payload).find(({ shown }) => shown.includes(name))?.fields[name], value)
    t.match(
      payload,
      new RegExp(
        `<input(?=[^>]* id="filter-${name}")(?=[^>]* aria-invalid="true")[^>]* aria-describedby="filter-${name}-error"`,
      ),
    )
    t.match(payload, `id="filter-${name}-error" role="alert"><code>INVALID_QUERY_PARAMETER</code>`)
  }
})

t.test('console, Pages: a refused page leads back to the one before it', async t => {
  const { app, clientId } = await newClient()
  for (const [referer, isBack] of [
    ['http://127.0.0.1:8080/_sandbox/console/collections?client=acme', true],
    ['https://evil.example/_sandbox/console', false],
  ] as const) {
    const headers = { referer }
    const { payload } = await open(app, '/mandates/NONE', { client: clientId, headers })
    t.equal(payload.includes(`<a href="${referer}">Back</a>`), isBack, referer)
  }
})

t.test('console, Pages: a client without records says what to do first', async t => {
  const app = build(t)
  const client = await connect(app)
  const { payload } = await open(app, '')
  t.match(payload, /Connect your app<\/h2>.*<dd>acme<\/dd>.*\/api\/v1\/oauth\/token/s)
  t.same(mainButtonsOf(payload), [], 'nothing is due')
  const form = async () => (await open(app, '/collections/new')).payload
  t.match(
    await form(),
    /<a href="[^"]*\/mandates\/new\?client=acme">It needs an active mandate: create one first\.<\/a>/,
  )
  t.notMatch(await form(), 'The example is accepted as it is.')
  await client.post('/api/v1/mandates', mandate())
  t.match(await form(), 'The example is accepted as it is.')
  t.notMatch((await open(app, '')).payload, 'Connect your app')
  await client.post('/api/v1/direct-debit', collection())
  t.same(mainButtonsOf((await open(app, '')).payload), ['Next: COL-0001 SUBMITTED, 5 Nov 2026, 15:00'])
})

t.test('console, Actions: a form comes back with the kind of its fault, and the region of its record', async t => {
  const app = build(t)
  const client = await connect(app)
  const after = async (path: string, form: string, query: Record<string, string>) =>
    new URL(String((await submit(app, path, form, {}, { query })).headers.location), 'http://h').searchParams
  for (const currency of ['EUR', 'GBP']) {
    const bills = [bill({ uniqueReferenceIdentifier: 'B-1', currency })]
    t.equal((await client.control('POST', '/seed', { records: { bills } })).status, 200)
  }
  t.equal((await after('/bills/B-1', 'move-pay', { region: 'UK' })).get('region'), 'UK')
  t.equal((await after('/failures', 'arm', { kind: 'drop' })).get('kind'), 'drop')
  t.notOk((await after('/failures', 'arm', {})).has('kind'))
  t.match((await open(app, '/failures')).payload, '<td>drop after</td>')
  t.equal((await submit(app, '/failures', 'preset-rate-limited')).statusCode, 303)
  t.match((await open(app, '/failures')).payload, /<td>error 429 .*\(Retry-After \d+\)<\/td>/)
})

t.test('console, Actions: an operation is deprecated as the form is filled in, and then the next one', async t => {
  const app = build(t)
  const client = await connect(app)
  for (const count of [1, 2]) {
    await submit(app, '/failures', 'deprecate')
    const { data } = (await client.control('GET', '/deprecations')).body
    t.equal(new Set(data.map(({ operation }: { operation: string }) => operation)).size, count)
  }
})

t.test('console, Actions: fields that can be left out say so, with an example', async t => {
  const { app, clientId } = await newClient()
  const { payload } = await open(app, '/payout-links/new', { client: clientId })
  const labels = [...payload.matchAll(/<label for="create-[^>]*>(.*?)<\/label>/g)].map(([, label]) => label)
  for (const label of ['Amount', 'UI mode (optional)', 'Expiry period (optional)']) t.ok(labels.includes(label), label)
  t.match(payload, /<input[^>]* name="body\.expiryPeriod"[^>]* placeholder="Such as P7D"/)
  t.match(payload, /name="body\.uiMode"><option value selected>– \(hosted\)<\/option>/)
  t.notMatch((await open(app, '/client', { client: clientId })).payload, '(optional)</label><input id="update-settings')
})

t.test('console, Actions: the demo client is reset, and not removed', async t => {
  const app = build(t)
  const client = { client: 'sandbox-client' }
  const { notice } = await follow(app, '/client/remove', await submit(app, '/client/remove', 'remove', {}, client))
  t.equal(notice, 'The client is reset.')
})

t.test('console, Actions: an error of a request leads to its entry in the catalogue, and to its record', async t => {
  const app = build(t)
  const client = await connect(app)
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/mandates', mandate())
  const { payload } = await open(app, '/requests/3')
  const [, link = ''] = /<a href="([^"]+)">DUPLICATE_REFERENCE<\/a>/.exec(payload) ?? []
  const { pathname, search } = new URL(toText(link), `http://sandbox/prefix${CONSOLE}/requests/3`)
  t.equal(pathname, `/prefix${CONSOLE}/errors/DUPLICATE_REFERENCE`)
  const entry = await app.inject({ url: pathname.slice('/prefix'.length) + search, headers: { accept: 'text/html' } })
  t.match(entry.payload, /<h1[^>]*>Error DUPLICATE_REFERENCE<\/h1>.*reference is taken.*409.*POST \/api\/v1\/mandates/s)
  t.notMatch(entry.payload, /<li>\w+ \/_sandbox.*<li>\w+ \/api/s, 'operations of the API come first')
  t.match(payload, /<dt>Record<\/dt><dd><a href="[^"]+">MND-0001<\/a>/)
})

t.test('console, Pages: the page of a request leads to its record, and not to another that this names', async t => {
  const app = build(t)
  const client = await connect(app)
  const recordOf = async () => {
    const { last } = (await client.control('GET', '/requests?limit=1')).body
    const { payload } = await open(app, `/requests/${last}`)
    return /<dt>Record<\/dt><dd><a [^>]+>(.*?)</.exec(payload)?.[1]
  }
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/direct-debit', collection())
  t.equal(await recordOf(), 'COL-0001')
  await client.post('/api/v1/bills', bill())
  t.equal(await recordOf(), 'INV-2026-001')
  await client.post('/api/v1/bills', bill({ uniqueReferenceIdentifier: 'x'.repeat(65) }))
  t.equal(await recordOf(), undefined)
  await client.control('POST', '/mandates/MND-0001/cancel')
  t.equal((await client.post('/api/v1/direct-debit', collection({ collectionReference: 'COL-0002' }))).status, 409)
  t.equal(await recordOf(), undefined)
})

t.test('console, Pages: no line of a drawing crosses a box, and no two end in one place', async t => {
  const app = build(t)
  await stock(await connect(app))
  for (const path of [
    '/bills/INV-2026-001',
    '/mandates/MND-0001',
    '/collections/COL-0001',
    '/payout-links/PL-TEST-0001',
  ]) {
    const { payload } = await open(app, path)
    const boxes = [...payload.matchAll(/translate\((\d+) (\d+)\)"><rect width="(\d+)" height="(\d+)"/g)].map(box =>
      box.slice(1).map(Number),
    )
    const lines = [...payload.matchAll(/<path class="edge[^"]*" d="([^"]*)"/g)].map(([, line = '']) => pointsOf(line))
    t.ok(boxes.length > 3 && lines.length > boxes.length / 2, path)
    for (const [x = 0, y = 0, width = 0, height = 0] of boxes) {
      const isIn = ([px, py]: Point) => px > x && px < x + width && py > y && py < y + height
      t.notOk(lines.flat().some(isIn), `${path}: the box at ${x} ${y}`)
    }
    const ends = lines.map(points => points.at(-1) as Point)
    const isNear = ([x, y]: Point) => ends.filter(([ox, oy]) => Math.hypot(x - ox, y - oy) < 8).length > 1
    t.same(ends.filter(isNear), [], `${path}: heads of arrows are apart`)
  }
})

type Point = readonly [x: number, y: number]

/** Returns points of a line of a drawing, which has the commands M, V, H and C. */
function pointsOf(line: string): readonly Point[] {
  const points: Point[] = []
  for (const [, command, text = ''] of line.matchAll(/([MVHC])([^MVHC]+)/g)) {
    const numbers = text.split(' ').map(Number)
    const [x, y] = points.at(-1) ?? [0, 0]
    const from: Point = [x, y]
    const [a = 0, b = 0, c = a, d = b, toX = c, toY = d] =
      command === 'V' ? [x, numbers[0]] : command === 'H' ? [numbers[0], y] : numbers
    if (command === 'M') points.push([a, b])
    else
      for (let at = 0.05; at <= 1.001; at += 0.05)
        points.push(curveAt(at, from, command === 'C' ? [a, b] : from, [c, d], [toX, toY]))
  }
  return points
}

/** Returns a point of a cubic curve. */
function curveAt(at: number, ...[from, one, other, to]: readonly [Point, Point, Point, Point]): Point {
  const [a, b, c, d] = [(1 - at) ** 3, 3 * (1 - at) ** 2 * at, 3 * (1 - at) * at ** 2, at ** 3]
  return [a * from[0] + b * one[0] + c * other[0] + d * to[0], a * from[1] + b * one[1] + c * other[1] + d * to[1]]
}

t.test('console, Actions: every form has its command, which is the call that the form sends', async t => {
  const app = build(t)
  const client = await connect(app)
  await stock(client)
  await client.control('POST', '/faults', { effect: { kind: 'garbage' } })
  await client.control('POST', '/outcomes', { outcome: 'FAILED' })
  for (const path of PATHS) {
    const { payload } = await open(app, path)
    const commands = [...payload.matchAll(/<code[^>]*>(curl .*?)<\/code>/gs)].map(([, text]) => toText(text as string))
    for (const id of formsOf(payload).filter(id => id !== 'repeat' && id !== 'load')) {
      const { fields } = fieldsOf(payload, id)
      const answer = await sendFields(app, '/command', fields)
      t.ok(commands.includes(answer.payload), `${path} ${id}: ${answer.payload}`)
    }
  }
  const load = (await open(app, '/client/load')).payload
  t.match(toText(load), /curl -X PUT .*_sandbox\/state.*--data-binary @FILE/s)
})

t.test('console, Actions: the command of a refused form has the values of its fields', async t => {
  const app = build(t)
  await connect(app)
  const { payload } = await submit(app, '/mandates/new', 'create', { 'body.debtor.iban': 'DE00', 'body.frequency': '' })
  t.match(toText(payload), '"debtor":{"name":"Jane Doe","iban":"DE00"')
  t.notMatch(/<code data-of.*?<\/code>/s.exec(payload)?.[0] ?? 'frequency', 'frequency')
  const { fields } = fieldsOf(payload, 'create')
  const ask = (changes: Record<string, string>) => sendFields(app, '/command', { ...fields, ...changes })
  const { statusCode, headers, payload: command } = await ask({ 'body.debtor.name': "O'Neil" })
  t.same([statusCode, headers['content-type']], [200, 'text/plain; charset=utf-8'])
  t.match(command, `"name":"O'\\''Neil","iban":"DE00"`)
  t.equal((await ask({ call: 'POST /nowhere' })).statusCode, 400)
})

t.test('console, Actions: a notice links the records that it names', async t => {
  const app = build(t)
  await connect(app)
  const answer = await submit(app, '/client', 'scenario-collection-returned')
  const { payload } = await follow(app, '/client', answer)
  const notice = /<p id="notice".*?<\/p>/s.exec(payload)?.[0] ?? ''
  for (const [, link] of notice.matchAll(/<a href="([^"]+)">/g)) {
    const { pathname, search } = new URL(toText(link as string), `http://sandbox${CONSOLE}/client`)
    t.equal((await app.inject({ url: pathname + search, headers: { accept: 'text/html' } })).statusCode, 200, pathname)
  }
  t.equal(notice.match(/<a /g)?.length, 2)
  const forked = await follow(app, '/client', await submit(app, '/client', 'fork-client', { 'body.clientId': 'copy' }))
  t.match(forked.payload, /<a href="[^"]*console\/client\?client=copy">copy<\/a> exists\./)
})

t.test('console, Actions: files go out and in', async t => {
  const app = build(t, { harReader: { module: HAR_TO_STATE }, stateBytes: 100_000 })
  const client = await connect(app)
  await stock(client)
  const download = async (path: string) => open(app, path)
  const state = await download('/state.json')
  t.match(state.headers, {
    'content-disposition': 'attachment; filename="acme-state.json"',
    'cache-control': 'no-store',
  })
  t.same(JSON.parse(state.payload), (await client.control('GET', '/state')).body)
  t.match(JSON.parse((await download('/recording.json')).payload), { clientId: 'acme' })
  const har = JSON.stringify(JSON.parse((await download('/requests.har')).payload))
  t.match(har, /^\{"log":\{"version":"1.2"/)
  const one = await download('/requests/1/request.json')
  t.match(one.headers, { 'content-disposition': 'attachment; filename="acme-requests-1-request.json"' })
  t.match(JSON.parse(one.payload), { seq: 1, method: 'POST', path: '/api/v1/oauth/token' })
  t.same(
    [(await download('/requests/x/request.json')).statusCode, (await download('/requests/99/request.json')).statusCode],
    [400, 404],
  )

  await client.control('POST', '/reset')
  const { fields, action } = fieldsOf((await open(app, '/client/load')).payload, 'load')
  const { pathname, search } = new URL(action, `http://sandbox${CONSOLE}/client/load`)
  const load = async (file: string) => {
    const { file: _, ...others } = fields
    const payload = multipart(...Object.entries(others).map(([name, value]) => field(name, value)), {
      fileName: 'state.json',
      type: 'application/json',
      content: file,
    })
    return app.inject({
      method: 'POST',
      url: pathname + search,
      headers: { accept: 'text/html', ...MULTIPART },
      payload,
    })
  }
  const refused = (status: number, code: string) => ({
    statusCode: status,
    payload: new RegExp(`<form id="load".*<input id="file".*role="alert"><code>${code}</code>`, 's'),
  })
  t.match(await load('not JSON'), refused(400, 'MALFORMED_REQUEST'))
  t.match(await load('{}'), refused(400, 'MISSING_FIELD'))
  t.match(await load(''), refused(400, 'MISSING_FIELD'), 'the form stays, also without a file')
  t.match(await load(' '.repeat(100_001)), refused(413, 'PAYLOAD_TOO_LARGE'))
  t.equal((await client.control('GET', '/clients')).body.data[1].counts.mandates, 0)
  t.equal((await load(state.payload)).statusCode, 303)
  t.equal((await client.control('GET', '/clients')).body.data[1].counts.mandates, 1)

  // Captured traffic has the records that the API has shown.
  await client.control('POST', '/reset')
  // Each file takes a process, so test/compare has the other refusals.
  t.match(await load('{"log":{"__proto__":{}}}'), refused(400, 'MALFORMED_REQUEST'), 'the form stays')
  t.match((await load('{"log":{"entries":[]}}')).payload, /the file shows no record of the interface\./i)
  const page = await follow(app, '/client/load', await load(`\uFEFF${har}`))
  t.match(noticeOf(page.payload), /^acme has 4 records\./)
  const { mandates, collections, bills, accounts } = (await client.control('GET', '/clients')).body.data[1].counts
  t.same({ mandates, collections, bills, accounts }, { mandates: 1, collections: 1, bills: 1, accounts: 0 })
})

t.test('console, The story: each step is a button, from the first to the page of the recipient', async t => {
  const app = build(t)
  const client = { client: 'sandbox-client' }
  await call(app, 'POST', '/_sandbox/reset')
  const story = async () => (await open(app, '', client)).payload
  const calls = [
    'POST /api/v1/mandates',
    'POST /api/v1/direct-debit',
    'POST /_sandbox/clock/advance',
    'POST /api/v1/direct-debit',
    'POST /_sandbox/clock/advance',
    'POST /api/v1/payout-links',
  ]
  for (const [at, sent] of calls.entries()) {
    const id = `story-${at + 1}`
    t.equal(fieldsOf(await story(), id).fields.call, sent, id)
    const answer = await submit(app, '', id, {}, client)
    t.equal(answer.statusCode, 303, `${id} ${answer.payload.match(/role="alert">.*?<\/p>/)?.[0]}`)
  }
  const page = await story()
  t.equal(page.match(/<li class="done"/g)?.length, 6)
  t.match(page, 'AM04, insufficient funds')
  const ofApi = calls.filter(sent => sent.includes('/api/')).map((sent, at) => ({ sent, seq: at + 1 }))
  const { data } = (await call(app, 'GET', '/_sandbox/requests')).body
  t.same(
    data.map(({ seq, method, path }: Record<string, unknown>) => ({ sent: `${method} ${path}`, seq })),
    ofApi,
    'its calls of the API are requests',
  )
  for (const { sent, seq } of ofApi) {
    t.match(page, new RegExp(`Request and answer: ${sent}, 201.*?<a href="[^"]*/requests/${seq}\\?`, 's'))
  }
  t.same(
    [...page.matchAll(/<svg.*?aria-label="The state is (\w+)/gs)].map(([, state]) => state),
    ['ACTIVE', 'SETTLED', 'RETURNED', 'ACTIVE'],
    'the lifecycle of each record is drawn once',
  )
  await call(app, 'DELETE', '/_sandbox/requests')
  const without = await story()
  t.notMatch(without, 'Request and answer')
  t.match(without, 'The same by a call', 'a step that is not in the log has its command')
  const link = toText(/<a class="button" href="([^"]+)"[^>]*>Open the page<\/a>/.exec(page)?.[1] ?? '')
  const { pathname, search } = new URL(link)
  const recipient = await app.inject({ url: pathname + search, headers: { accept: 'text/html' } })
  const token = /name="token" value="([\w-]+)"/.exec(recipient.payload)?.[1] as string
  const claim = { action: 'claim', token, accountHolderName: 'Jane Doe', accountIdentifier: 'DE89370400440532013000' }
  await app.inject({
    method: 'POST',
    url: pathname + search,
    headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams(claim).toString(),
  })
  const end = toText(await story())
  t.same(mainButtonsOf(end), [])
  const advanced = await follow(app, '', await submit(app, '', 'advance-PT1H', {}, client))
  t.ok(advanced.payload.indexOf('What happened') < advanced.payload.indexOf('The story'), 'beside its button')
  t.match(end, 'That is the whole story.')
  for (const text of [
    '/api/v1</dd>',
    '<dd>sandbox-client</dd>',
    '<dd>sandbox-secret</dd>',
    'client_secret=sandbox-secret',
  ]) {
    t.match(end, text)
  }
  for (const [name, path] of [
    ['Open Failures', '/_sandbox/console/failures'],
    ['Open the interface', '/docs'],
    ['Start over', '/_sandbox/console/client/restart'],
  ]) {
    const target = new RegExp(`<a (?:class="button plain" )?href="([^"]+)">${name}</a>`).exec(end)?.[1] ?? ''
    t.equal(new URL(target, `http://sandbox${CONSOLE}`).pathname, path)
  }
  const { payload } = await open(app, '/client/restart', client)
  t.match(payload, '<a href="../../console?client=sandbox-client">Keep it as it is</a>', 'it leads back to the story')
  t.match((await open(app, '')).statusCode, 404, 'a client that does not exist has none')
})

/** A story of one step with two calls, and of one with a call that only a whole run can fill in. */
const OWN_STORY = `
summary: A bill, and a mandate.
parameters: { step: { description: A step., default: all } }
steps:
  - { call: expireTokens, when: { step: [1] }, keep: { clientId: clientId } }
  - call: createBill
    when: { step: [1] }
    body: { uniqueReferenceIdentifier: OWN-1, type: INVOICE, cashflowType: INFLOW, counterpartyReference: OWN-CPTY,
      currency: EUR, totalAmount: '1', dueDate: '{{today}}' }
  - { call: updateBill, when: { step: [2] }, params: { uniqueReferenceIdentifier: '{{clientId}}' }, body: { status: PAID } }
story:
  - { title: A bill, button: Go, before: A., after: B., kind: bills, record: { uniqueReferenceIdentifier: OWN-1 } }
  - { title: Paid, button: Go, before: A., after: B., kind: bills, record: { uniqueReferenceIdentifier: OWN-1 }, until: [OPEN] }
`

t.test('console, The story: a step of your own with several calls runs the scenario', async t => {
  const folder = t.testdir({ scenarios: { 'story.yaml': OWN_STORY } })
  const app = build(t, { scenarios: createScenarios('fixtures', folder) })
  const client = { client: 'sandbox-client' }
  await call(app, 'POST', '/_sandbox/reset')
  const { statusCode } = await submit(app, '', 'story-1', {}, client)
  t.equal(statusCode, 303)
  const { payload } = await open(app, '', client)
  t.match(payload, /<li class="done"/)
  t.match(fieldsOf(payload, 'story-2').fields, { call: 'POST /_sandbox/scenarios/:name', 'params.name': 'story' })
})

t.test('console, Actions: the cause of a transition is the one who made it', async t => {
  for (const [cause, kind, to, text] of [
    ['api', 'collection', 'CANCELLED', 'your app'],
    ['api', 'payoutLink', 'CANCELLED', 'your app'],
    ['api', 'payoutLink', 'CLAIMED', 'recipient'],
    ['api', 'payoutLink', 'REJECTED', 'recipient'],
    ['control', 'payoutLink', 'CLAIMED', 'sandbox'],
    ['outcome', 'collection', 'RETURNED', 'chosen outcome'],
  ] as const) {
    t.equal(causeOf({ cause, kind, to }), text, `${cause} ${kind} ${to}`)
  }
})

t.test('console, The story: its last sentence follows the end of the payout link', async t => {
  const app = build(t)
  const client = { client: 'sandbox-client' }
  const control = (path: string, body: object = {}) =>
    call(app, 'POST', `/_sandbox${path}?client=sandbox-client`, { body })
  const claim = { accountHolderName: 'Ida Lindholm', accountIdentifier: 'DE89370400440532013000' }
  const rows: [verb: string, sentence: string, input?: object][] = [
    ['decline', 'The recipient has declined.'],
    ['expire', 'Nobody claimed the money in time'],
    ['cancel', 'Acme has cancelled the link.'],
    ['claim', 'within seconds of the clock', claim],
  ]
  for (const [verb, sentence, input] of rows) {
    await control('/reset')
    const { body } = await control('/scenarios/story')
    const { status } = await control(`/payout-links/${body.values.payoutLinkId}/${verb}`, input)
    t.equal(status, 200, verb)
    const { payload } = await open(app, '', client)
    for (const [, other] of rows) t.equal(payload.includes(other), other === sentence, `${verb}: ${other}`)
  }
})

t.test('console, Safety: texts of the app are shown as text on every page', async t => {
  const app = build(t)
  const client = await connect(app)
  const hostile = '"><script>alert(1)</script><img src=x onerror=alert(2)>\'&lt;'
  const name = hostile.slice(0, 100)
  await client.post('/api/v1/mandates', mandate({ debtor: { name, iban: 'DE89370400440532013000', reference: name } }))
  await client.post('/api/v1/direct-debit', collection({ debtorReference: name, debtorName: name }))
  await client.post('/api/v1/bills', bill({ description: name }))
  await client.control('POST', '/seed', {
    records: { payoutLinks: [{ ...payoutLink(), payoutLinkId: LINK, accountHolderName: name, remarks: name }] },
  })
  await client.get(`/api/v1/mandates?debtorReference=${encodeURIComponent(hostile)}`, {
    headers: { 'x-hostile': hostile },
  })
  await client.post('/api/v1/mandates', { [hostile]: hostile })
  await client.control('POST', '/faults', { effect: { kind: 'error', status: 400, message: hostile } })
  const last = (await client.control('GET', '/requests')).body.last
  const paths = [
    ...PATHS.filter(path => !path.startsWith('/accounts/')),
    ...Array.from({ length: last }, (_, at) => `/requests/${at + 1}`),
  ]
  for (const path of paths) {
    const { payload, statusCode } = await open(app, path)
    t.equal(statusCode, 200, path)
    t.notMatch(payload, /<script>|<img/, path)
  }
  const { payload } = await open(app, '/collections', { query: { search: hostile } })
  t.notMatch(payload, /<script>|<img/)
  t.match(payload, 'value="&quot;>&lt;script>')
})

t.test('console, Safety: a text like a time is shown as text, and a time as a moment', async t => {
  for (const text of ['2030-99-99T99:99:99Z', '2030-01-02T03:04:05Z']) {
    const app = build(t)
    const client = await connect(app)
    const debtor = { name: text, iban: 'DE89370400440532013000', reference: text }
    await client.post('/api/v1/mandates', mandate({ debtor }))
    await client.post('/api/v1/direct-debit', collection({ debtorReference: text, debtorName: text }))
    await client.post('/api/v1/bills', bill({ description: text }))
    const account = { accountReference: 'ACC-0001', currency: 'EUR', accountIdentifier: 'DE89370400440532013000' }
    const link = { ...payoutLink(), payoutLinkId: LINK, accountHolderName: text, remarks: text }
    const records = {
      payoutLinks: [link],
      accounts: [{ ...account, accountHolderName: text, balance: '10.00' }],
    }
    t.equal((await client.control('POST', '/seed', { records })).status, 200)
    for (const path of PATHS) {
      const { payload, statusCode } = await open(app, path)
      t.equal(statusCode, 200, path)
      t.notMatch(payload, `datetime="${text}"`, path)
      t.notMatch(payload, '2 Jan 2030, 03:04', path)
    }
    for (const path of ['/collections', '/mandates/MND-0001', `/payout-links/${LINK}`, '/accounts/ACC-0001']) {
      t.match((await open(app, path)).payload, text, path)
    }
    const { payload } = await open(app, '/mandates')
    const moment = new RegExp(`<time datetime="${MONDAY}">(.*?)</time>`).exec(payload)?.[1]
    t.equal(moment?.replaceAll(/<[^>]*>/g, ''), 'Mon, 2 Nov 2026, 09:00:00 UTC')
    t.equal(moment?.replaceAll(/<span class="wide">.*?<\/span>/g, ''), '2 Nov 2026, 09:00', 'a narrow screen has less')
  }
})

t.test('console, Actions: a long notice is cut at a word, so that a success ends on its page', async t => {
  const creditor = mandate().creditor
  const steps = Array.from({ length: 20 }, (_, at) => ({
    call: 'createMandate',
    body: { ...mandate(), creditor, mandateReference: `MND-${String(at).padStart(34, '0')}` },
  }))
  const folder = t.testdir({ scenarios: { 'many.yaml': JSON.stringify({ summary: 'Many.', steps }) } })
  const app = build(t, { scenarios: createScenarios(folder) })
  await connect(app)
  const answer = await submit(app, '/client', 'scenario-many')
  t.equal(answer.statusCode, 303)
  const { notice } = await follow(app, '/client', answer)
  t.match(notice, /^(MND-\d+ became ACTIVE\. )+(MND-\d+ (became )?)?…$/)
})

t.test('console, Safety: the notice of a client is none of its fork', async t => {
  const app = build(t)
  const { control } = await connect(app)
  const { headers } = await submit(app, '', 'advance-PT1H')
  await control('POST', '/fork', { clientId: 'fork' })
  const query = Object.fromEntries(new URL(String(headers.location), 'http://sandbox').searchParams)
  t.match(noticeOf((await open(app, '', { query })).payload), 'The clock shows')
  t.equal(noticeOf((await open(app, '', { query: { ...query, client: 'fork' } })).payload), '')
})

t.test('console, Safety: only an action puts a notice into a page', async t => {
  const app = build(t)
  await connect(app)
  const forged = await open(app, '', { query: { notice: 'Your account is locked', proof: 'x'.repeat(16) } })
  t.equal(noticeOf(forged.payload), '')
  const answer = await submit(app, '', 'advance-PT1H')
  const { searchParams } = new URL(String(answer.headers.location), 'http://sandbox')
  const query = Object.fromEntries(searchParams)
  t.match(noticeOf((await open(app, '', { query })).payload), 'The clock shows')
  t.equal(noticeOf((await open(app, '', { query: { ...query, notice: 'Another' } })).payload), '')
})

/** Asks for a token, as the page of the reference does. */
const tokenOf = (app: FastifyInstance, headers: Record<string, string> = {}, client = 'acme') =>
  app.inject({ method: 'POST', url: `${CONSOLE}/token?client=${client}`, headers })

t.test('console, Safety: a token for the reference is in no log, and meets no fault', async t => {
  const { app, log } = buildLogged(t)
  const client = await connect(app)
  await client.control('POST', '/faults', { effect: { kind: 'error', status: 429 } })
  const before = (await client.control('GET', '/requests')).body
  const answer = await tokenOf(app)
  const { access_token: token } = answer.json()
  t.equal(answer.headers['cache-control'], 'no-store')
  t.same((await client.control('GET', '/requests')).body, before)
  t.match((await client.control('GET', '/faults')).body.data, [{ seen: 0 }])
  const headers = { authorization: `Bearer ${token}` }
  t.equal((await call(app, 'GET', '/api/v1/mandates', { region: 'EU', headers })).status, 429, 'the fault is left')
  t.equal((await call(app, 'GET', '/api/v1/mandates', { region: 'EU', headers })).status, 200)
  t.notMatch(log(), token)
  t.match((await tokenOf(app, {}, 'nobody')).json(), { code: 'CLIENT_NOT_FOUND', field: 'client', message: /./ })
})

t.test('console, Safety: a foreign form does nothing, and a link of another site opens the page', async t => {
  const app = build(t)
  const client = await connect(app)
  await stock(client)
  const before = (await client.control('GET', '/state')).body
  const rows: [headers: Record<string, string>, status: number][] = [
    [{ origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }, 403],
    [{ origin: 'http://localhost:3000', 'sec-fetch-site': 'same-site' }, 403],
    [{ origin: 'null' }, 403],
    [{ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }, 403],
    [{ host: 'evil.example' }, 403],
  ]
  for (const [headers, status] of rows) {
    const { fields, action } = fieldsOf((await open(app, '/client/reset')).payload, 'reset')
    const answer = await app.inject({
      method: 'POST',
      url: new URL(action, `http://sandbox${CONSOLE}/client/reset`).pathname,
      headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded', ...headers },
      payload: new URLSearchParams(fields).toString(),
    })
    t.equal(answer.statusCode, status, JSON.stringify(headers))
    t.equal((await tokenOf(app, headers)).statusCode, status, `a token: ${JSON.stringify(headers)}`)
  }
  t.same((await client.control('GET', '/state')).body, before)
  const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
  t.equal((await open(app, '', { headers: link })).statusCode, 200)
  t.equal(
    (await open(app, '', { headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' } })).statusCode,
    403,
  )
})

t.test('console, Pages: a page of a request shows the first part of a long body and links to the whole', async t => {
  const app = build(t)
  const client = await connect(app)
  const body = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`m${at}`, 1]))
  await client.post('/api/v1/mandates', body)
  const { payload } = await open(app, '/requests/2')
  t.ok(payload.length < 50_000, `${payload.length} characters`)
  t.match(payload, '&quot;m0&quot;:1')
  const [, link = ''] = /<a href="([^"]*request\.json[^"]*)"/.exec(payload) ?? []
  const { pathname, search } = new URL(toText(link), `http://sandbox${CONSOLE}/requests/2`)
  t.same(JSON.parse((await app.inject(pathname + search)).payload).body, body)
  await client.get(`/api/v1/mandates/${'x'.repeat(10_000)}`)
  t.ok((await open(app, '/requests')).payload.length < 20_000, 'a long path is shortened')
})

t.test('console, Large clients: the timeline of a record has at most 50 rows, and pages to older ones', async t => {
  const app = build(t)
  const client = await connect(app)
  const rowsOf = (page: string) => [...page.matchAll(/<tr id="event-(\d+)"/g)].map(([, seq]) => Number(seq))
  const linkOf = (page: string, text: string) => {
    const [, target] = new RegExp(`<a href="([^"]*)">${text}</a>`).exec(page) ?? []
    return target === undefined ? undefined : new URL(toText(target), `http://h${CONSOLE}/bills/B-1`)
  }
  const get = async (url: URL) => (await app.inject(url.pathname + url.search)).payload

  await changedOften(client, 50)
  const whole = (await open(app, '/bills/B-1')).payload
  t.same([rowsOf(whole).length, linkOf(whole, 'Older'), linkOf(whole, 'Newest')], [50, undefined, undefined])

  await client.control('POST', '/reset')
  await changedOften(client, 120)
  // Another region has the reference, so that each page needs the region.
  const other = { ...bill({ uniqueReferenceIdentifier: 'B-1', currency: 'GBP' }) }
  t.match(await client.control('POST', '/seed', { records: { bills: [other] } }), { status: 200 })
  const newest = (await open(app, '/bills/B-1', { query: { region: 'EU' } })).payload
  const older = await get(linkOf(newest, 'Older') as URL)
  const oldest = await get(linkOf(older, 'Older') as URL)
  const ranges = [newest, older, oldest].map(page => [rowsOf(page)[0], rowsOf(page).at(-1), rowsOf(page).length])
  t.same(ranges, [
    [71, 120, 50],
    [21, 70, 50],
    [1, 20, 20],
  ])
  t.equal(linkOf(oldest, 'Older'), undefined)
  t.same(rowsOf(await get(linkOf(oldest, 'Newest') as URL)), rowsOf(newest))
  const [, drawing] = /aria-label="The state is ([^"]*)"/.exec(oldest) ?? []
  t.match(drawing, /^OPEN\. The way so far: OPEN on [^.]*, PAID on [^.]*\. Nothing happens by itself\.$/)
  t.equal((await open(app, '/bills/B-1', { query: { region: 'EU', cursor: 'x' } })).statusCode, 400)
})

t.test('console, Large clients: a page of a record has the same size, however often it has changed', async t => {
  const sizes = []
  for (const count of [1000, 10_000]) {
    const client = await connect(build(t))
    t.match(await changedOften(client, count), { status: 200 })
    // Numbers can be longer.
    sizes.push((await open(client.app, '/bills/B-1')).payload.length)
  }
  const [few, many] = sizes as [number, number]
  t.ok(Math.abs(few - many) < 2000, `${few} and ${many} characters`)
})

t.test('console, Actions: events that an explanation omits are no transitions of the action', async t => {
  const steps = [{ call: 'explainBill', params: { uniqueReferenceIdentifier: 'B-1' } }]
  const folder = t.testdir({ scenarios: { 'look.yaml': JSON.stringify({ summary: 'Look.', steps }) } })
  const app = build(t, { scenarios: createScenarios(folder) })
  await changedOften(await connect(app), 101)
  const answer = await submit(app, '/client', 'scenario-look')
  t.equal(answer.statusCode, 303)
  t.notMatch(answer.headers.location, 'until=')
})

t.test('console, Safety: with an admin token, every page and action needs the session', async t => {
  const ADMIN = 'adm1n'
  const app: FastifyInstance = build(t, { adminToken: ADMIN })
  await connect(app)
  for (const path of ['', '/requests', '/changes', '/state.json', '/assets/console.css', '/nowhere']) {
    t.equal((await open(app, path)).statusCode, 401, path)
  }
  t.match((await tokenOf(app)).json(), { code: 'ADMIN_TOKEN_REQUIRED' })
  const signIn = await app.inject({
    method: 'POST',
    url: '/_sandbox/sign-in',
    headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams({ token: ADMIN }).toString(),
  })
  const headers = { cookie: String(signIn.headers['set-cookie']).split(';')[0] as string }
  t.match((await open(app, '', { headers })).payload, /<form[^>]* action="sign-out"/)
  t.equal((await submit(app, '', 'advance-PT1H', {}, { headers })).statusCode, 303)
  t.equal((await submit(app, '/mandates/new', 'create', {}, { headers })).statusCode, 303)
  t.equal((await open(app, '/state.json', { headers })).statusCode, 200)
  t.notMatch((await open(app, '/failures', { headers })).payload, ADMIN)
  t.equal((await tokenOf(app, headers)).statusCode, 200)
  t.equal((await app.inject({ url: '/_sandbox/clock', headers })).statusCode, 401)
})

t.test('console, Live pages: a change of the client is an event, whatever made it; several are one', async t => {
  const app = build(t)
  const client = await connect(app)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const reader = await followStream(port, `${CONSOLE}/changes?client=acme`)
  t.match(await reader.next(), [{ event: 'change' }], 'the page may have been loaded before a change')
  await client.post('/api/v1/mandates', mandate())
  t.match(await reader.next(), [{ event: 'change' }])
  await client.control('PUT', '/settings', { mandateActivation: 'manual' })
  await client.control('POST', '/faults', { effect: { kind: 'garbage' } })
  t.match(await reader.next(), [{ event: 'change' }])
  // Pages and reads are no change.
  await open(app, '')
  await client.control('GET', '/clock')
  const requests = await followStream(port, `${CONSOLE}/changes?client=acme&of=requests`)
  t.match(await requests.next(), [{ event: 'change' }])
  await client.control('DELETE', '/faults')
  await client.get('/api/v1/mandates')
  t.match(await requests.next(), [{ event: 'change' }])
  t.match(await reader.next(), [{ event: 'change' }])
  const events = reader.text().match(/event: change/g)?.length
  t.equal(events, 4)
  reader.hangUp()
  requests.hangUp()
  await Promise.all([reader.end, requests.end])
  t.equal((await open(app, '/changes', { client: 'nobody' })).statusCode, 404)
})

t.test('console, Live pages: a page renews itself at most twice a second', async t => {
  const time = manualTime()
  const app = build(t, { now: time.now, timers: time.timers })
  const client = await connect(app)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const reader = await followStream(port, `${CONSOLE}/changes?client=acme`)
  await reader.next()
  for (const milliseconds of [0, 499]) {
    time.pass(milliseconds)
    await client.control('PUT', '/settings', { mandateActivation: 'manual' })
  }
  time.pass(1)
  await call(app, 'DELETE', '/_sandbox/clients/acme')
  time.pass(0)
  await reader.end
  t.equal(reader.text().match(/event: change/g)?.length, 2)
})

t.test('console, Live pages: a page without a change gets no event; due work is one', async t => {
  const time = manualTime()
  const app = build(t, { now: time.now, timers: time.timers })
  const client = await connect(app)
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/direct-debit', collection())
  await client.control('PATCH', '/clock', { mode: 'running', rate: 3600 })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const streams = await Promise.all(
    ['', '&of=requests'].map(of => followStream(port, `${CONSOLE}/changes?client=acme${of}`)),
  )
  const [records, requests] = streams as [(typeof streams)[0], (typeof streams)[0]]
  for (const stream of streams) t.match(await stream.next(), [{ event: 'change' }])
  const { at } = (await client.control('GET', '/upcoming')).body.data[0]
  const due = (Date.parse(at) - Date.parse(MONDAY)) / 3600
  // A comment keeps each stream alive meanwhile.
  for (let passed = 0; passed + 15_000 < due; passed += 15_000) time.pass(15_000)
  await Promise.all(streams.map(stream => stream.sees('still here')))
  for (const stream of streams) t.equal(stream.text().match(/event: change/g)?.length, 1)
  time.pass(15_000)
  t.match(await records.next(), [{ event: 'change' }])
  await client.get('/api/v1/mandates')
  t.match(await requests.next(), [{ event: 'change' }])
  for (const stream of streams) {
    stream.hangUp()
    await stream.end
    t.equal(stream.text().match(/event: change/g)?.length, 2)
  }
})

t.test('console, Pages: a browser gets the script, its imports and the style sheet', async t => {
  const app = build(t)
  for (const [path, type] of [
    ['console.css', /^text\/css/],
    ['console/browser/console.js', /^text\/javascript/],
    ['console/moments.js', /^text\/javascript/],
    ['idiomorph.js', /^text\/javascript/],
  ] as const) {
    const { statusCode, headers, payload } = await app.inject({ url: `${CONSOLE}/assets/${path}` })
    t.equal(statusCode, 200, path)
    t.match(headers['content-type'], type)
    t.notMatch(payload, /\beval\(|new Function/)
    for (const [, from] of payload.matchAll(/from ["'](.+?)["']/g)) {
      const imported = new URL(from as string, `http://sandbox${CONSOLE}/assets/${path}`).pathname
      t.equal((await app.inject({ url: imported })).statusCode, 200, imported)
    }
  }
})
