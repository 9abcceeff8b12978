import { once } from 'node:events'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { kinds } from '../../src/console/kinds.js'
import { sentenceOf } from '../../src/console/notices.js'
import { causeOf } from '../../src/console/views/parts.js'
import { EFFECT_KINDS } from '../../src/sandbox/faults/schemas.js'
import { createScenarios } from '../../src/sandbox/scenarios/files.js'
import type { Tenant } from '../../src/tenants/tenant.js'
import type { Client } from '../helper.js'
import { bill, build, call, changedOften, collection, connect, MONDAY, mandate, payoutLink } from '../helper.js'
import { buildLogged } from '../http/raw.js'
import { manualTime, until } from '../manual-time.js'
import { field, MULTIPART, multipart } from '../multipart.js'
import {
  CONSOLE,
  fieldsOf,
  follow,
  formsIn,
  formsOf,
  newConsole,
  noticeOf,
  open,
  pagesOf,
  sendFields,
  submit,
  toText,
} from './pages.js'

const LINK = 'PL-TEST-0001'
const DEMO = 'sandbox-client'

/** Gives a client one record of each kind, with a text in each place of its own. */
async function stock({ post, control }: Client, text = 'Jane Doe'): Promise<void> {
  const iban = 'DE89370400440532013000'
  await post('/api/v1/mandates', mandate({ debtor: { name: text, iban, reference: text } }))
  await post('/api/v1/direct-debit', collection({ debtorName: text, debtorReference: text }))
  await post('/api/v1/bills', bill({ description: text }))
  const link = payoutLink({ expiryPeriod: 'P30D', accountHolderName: text, remarks: text })
  const account = { accountReference: 'ACC-0001', accountHolderName: text, currency: 'EUR', accountIdentifier: iban }
  const records = { payoutLinks: [{ ...link, payoutLinkId: LINK }], accounts: [{ ...account, balance: '10.00' }] }
  const { status, body } = await control('POST', '/seed', { records })
  if (status !== 200) throw new Error(JSON.stringify(body))
}

async function stocked() {
  const client = await newConsole()
  await stock(client)
  return client
}

/** Returns the pages of the demo client, which has its first records again, and its calls of the control plane. */
async function newDemo() {
  const { app } = await newConsole()
  const control = (method: string, path: string, body?: object) =>
    call(app, method, `/_sandbox${path}?client=${DEMO}`, { body })
  await control('POST', '/reset')
  return { app, control, ...pagesOf(app, DEMO) }
}

/** Returns the target of a link below the console, as a browser resolves it on a page. */
const resolve = (link: string, page = '') => new URL(toText(link), `http://sandbox${CONSOLE}${page}`)
/** Returns the page behind a link. */
const visit = async (app: FastifyInstance, { pathname, search }: URL) =>
  app.inject({ url: pathname + search, headers: { accept: 'text/html' } })

const alertOf = (html: string) => /role="alert">.*?<\/p>/.exec(html)?.[0]
/** Returns the first group of each match in a page. */
const all = (html: string, pattern: RegExp) => [...html.matchAll(pattern)].map(([, text = '']) => text)

const PATHS = [
  '',
  ...['/collections', '/collections/COL-0001', '/collections/new', '/mandates', '/mandates/MND-0001', '/mandates/new'],
  ...['/payout-links', `/payout-links/${LINK}`, '/payout-links/new', '/bills', '/bills/INV-2026-001', '/bills/new'],
  ...['/counterparties', '/counterparties/CPTY-0001', '/accounts', '/accounts/ACC-0001', '/requests', '/requests/1'],
  ...['/failures', '/client', '/client/reset', '/client/restart', '/client/remove', '/client/load'],
  '/errors/DUPLICATE_REFERENCE',
]

/** Returns the buttons of a page in the colour of the main action. */
const mainButtonsOf = (html: string) =>
  all(
    html,
    /<(?:button|a)(?! [^>]*class="[^"]*(?:plain|danger))(?=[^>]*class="(?:button|primary)|[^>]*type="submit")[^>]*>(.*?)<\//gs,
  )

t.test('console, Pages: each page has its title, client and strict policy; the API knows nothing of it', async t => {
  const { app, clientId, control, open } = await stocked()
  const before = (await control('GET', '/requests')).body.last
  const coverage = (await control('GET', '/coverage')).body
  for (const path of PATHS) {
    const { statusCode, headers, payload } = await open(path)
    t.equal(statusCode, 200, path)
    t.match(headers, {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'content-security-policy': /^default-src 'none'; script-src 'self'; style-src 'self';.*frame-ancestors 'none'$/,
    })
    t.match(/<title>(.*?)<\/title>/.exec(payload)?.[1], new RegExp(` · ${clientId} · Payments Sandbox$`))
    t.match(payload, 'This page is part of the sandbox, not of the service.')
    t.notMatch(payload, /<script(?! type="module" src="[./a-z]+"><\/script>)|<style| style=| on[a-z]+=/)
    t.equal(payload.match(/<h1/g)?.length, 1)
    t.ok(mainButtonsOf(payload).length <= 1, `${path}: at most one main button`)
  }
  t.equal((await control('GET', '/requests')).body.last, before)
  t.same((await control('GET', '/coverage')).body, coverage)
  const { body } = await call(app, 'GET', '/_sandbox/openapi.json')
  t.notOk(Object.keys(body.paths).some(path => path.includes('console')))
})

t.test('console, Pages: what does not exist, and what is not well-formed, is a page with the error', async t => {
  const { app, clientId, open } = await newConsole()
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
    const { statusCode, payload, headers } = await open(path, { query })
    t.same([statusCode, payload.includes(`<code>${code}</code>`)], [status, true], `${path} ${code}`)
    t.match(headers['content-security-policy'], /^default-src 'none'/)
    t.match(payload, '<nav aria-label="Console">', 'it has the navigation')
    t.match(payload, /<a href="[^"]*console\?client=[\w-]+">Overview<\/a><\/p>/, 'it leads home')
    t.equal(code === 'ROUTE_NOT_FOUND', payload.includes('<p>There is no page at this address.</p>'), path)
    t.match(payload, `<option value="${query.client === undefined ? clientId : DEMO}" selected>`)
  }
  for (const path of ['', '/nowhere']) {
    const { statusCode, payload } = await open(path, { headers: { host: 'evil.example' } })
    t.same([statusCode, payload.includes('<nav')], [403, false], 'another site sees no client')
  }
  const repeated = await app.inject({ url: `${CONSOLE}?client=a&client=a`, headers: { accept: 'text/html' } })
  t.match(repeated, { statusCode: 400, payload: '<nav aria-label="Console">' })
  for (const [referer, isBack] of [
    ['http://127.0.0.1:8080/_sandbox/console/collections?client=acme', true],
    ['https://evil.example/_sandbox/console', false],
    [`http://127.0.0.1:8080${CONSOLE}/mandates/NONE?client=${clientId}`, false],
  ] as const) {
    const { payload } = await open('/mandates/NONE', { headers: { referer } })
    t.equal(payload.includes(`<a href="${referer}">Back</a>`), isBack, referer)
  }
  t.match(await call(app, 'GET', `${CONSOLE}/nowhere`), { status: 404, body: { code: 'ROUTE_NOT_FOUND' } })
  const json = await call(app, 'GET', `${CONSOLE}/mandates/MND-0404?client=${clientId}`)
  t.match(json, { status: 404, body: { code: 'MANDATE_NOT_FOUND', field: 'mandateReference' } })
})

t.test('console, Pages: a table has 50 rows, newest first, and the way to all others; a search finds any', async t => {
  const { control, get, read } = await newConsole()
  const numbers = Array.from({ length: 120 }, (_, at) => 1000 + at)
  const mandates = numbers.map(number => mandate({ mandateReference: `MND-${number}` }))
  await control('POST', '/seed', { records: { mandates } })
  for (let sent = 1; sent < 120; sent++) await get('/api/v1/accounts')
  for (const [path, row, rows] of [
    ['/mandates', /<tr[^>]* id="mandates-EU-MND-(\d+)"/g, numbers],
    ['/requests', /<tr[^>]* id="request-(\d+)"/g, numbers.map(number => number - 999)],
  ] as const) {
    const seen: string[] = []
    let query = {}
    for (let pages = 0; pages < 3; pages++) {
      const page = await read(path, query)
      const found = all(page, row)
      t.ok(found.length <= 50)
      seen.push(...found)
      const [older] = all(page, /<a href="([^"]+)">Older<\/a>/g)
      query = Object.fromEntries(resolve(older ?? '').searchParams)
      t.equal(older !== undefined, pages < 2, path)
    }
    t.same(seen, rows.toReversed().map(String), path)
  }
  const found = await read('/mandates', { search: 'nd-111', status: 'ACTIVE' })
  t.equal(found.match(/<tr[^>]* id="mandates-/g)?.length, 10)
  t.match(await read('/mandates', { status: 'FAILED' }), 'No mandate fits this filter.')
})

type Fields = Readonly<Record<string, string>>
/** A form, the fields that change, the call that shows the effect, its answer, the notice, and another page that follows. */
type Action = readonly [
  form: string,
  changes: Fields,
  read: string,
  shown: object,
  notice: string | RegExp,
  next?: string,
]

const COLLECTION = '/direct-debit/COL-0001'
const PAYOUT = `/payout-links/${LINK}`
const BILL = '/bills/INV-2026-001'
const status = (value: string) => ({ record: { status: value } })
const NINE = 'The clock shows Mon, 2 Nov 2026, 09:00:00 UTC'
const TEN = 'The clock shows Mon, 2 Nov 2026, 10:00:00 UTC. Nothing was due.'
const TOMORROW = 'The clock shows Tue, 3 Nov 2026, 09:00:00 UTC. Nothing was due.'
const SUBMITTED = 'The clock shows Thu, 5 Nov 2026, 15:00:00 UTC. 1 transition happened.'
const GONE = { operation: 'GET /api/v1/mandates', sunset: '2030-06-30T00:00:00Z', goneAfterSunset: true }

/** By the page of the form. The transitions of records are in actions.test.ts. */
const ACTIONS: Readonly<Record<string, readonly Action[]>> = {
  '': [
    ['advance-PT1H', {}, '/clock', { now: '2026-11-02T10:00:00Z' }, TEN],
    ['advance-P1D', {}, '/clock', { now: '2026-11-03T09:00:00Z' }, TOMORROW],
    ['next-event', {}, COLLECTION, status('SUBMITTED'), SUBMITTED],
    ['advance-to', { 'body.to': '2026-11-02T10:00' }, '/clock', { now: '2026-11-02T10:00:00Z' }, TEN],
    ['run', { 'body.rate': '3600' }, '/clock', { mode: 'running', rate: 3600 }, `${NINE}, and runs 1 hour a second.`],
  ],
  '/collections/COL-0001': [
    ['move-submit', {}, COLLECTION, status('SUBMITTED'), 'COL-0001 became SUBMITTED.'],
    ['move-fail', { 'body.reasonCode': 'MD01' }, COLLECTION, { record: { reasonCode: 'MD01' } }, 'became FAILED.'],
    ['choose', { 'body.outcome': 'FAILED' }, COLLECTION, { record: { outcome: 'FAILED' } }, 'has the outcome FAILED.'],
  ],
  '/mandates/MND-0001': [['move-cancel', {}, COLLECTION, status('CANCELLED'), 'MND-0001 became CANCELLED.']],
  [PAYOUT]: [
    ['move-claim', {}, PAYOUT, status('CLAIMED'), `${LINK} became CLAIMED.`],
    ['move-decline', { 'body.remarks': 'No' }, PAYOUT, { record: { decline: { remarks: 'No' } } }, 'became REJECTED.'],
  ],
  [BILL]: [['move-pay', {}, BILL, { record: { status: 'PAID', openAmount: '0' } }, 'INV-2026-001 became PAID.']],
  '/mandates/new': [
    [
      'create',
      { 'body.mandateReference': 'MND-2' },
      '/mandates/MND-2',
      status('ACTIVE'),
      'MND-2 became',
      '/mandates/MND-2',
    ],
  ],
  '/collections/new': [
    [
      'create',
      { 'body.collectionReference': 'COL-0002' },
      '/direct-debit/COL-0002',
      status('PENDING'),
      'COL-0002 became PENDING.',
      '/collections/COL-0002',
    ],
  ],
  '/bills/new': [
    [
      'create',
      { region: 'UK', 'body.currency': 'GBP', 'body.uniqueReferenceIdentifier': 'B-2' },
      '/bills/B-2',
      { record: { status: 'OPEN', currency: 'GBP' } },
      'B-2 became OPEN.',
      '/bills/B-2',
    ],
  ],
  '/failures': [
    ['preset-lost-answer', {}, '/faults', { data: [{ effect: { kind: 'drop', when: 'after' } }] }, 'is armed: drop.'],
    ['arm', { 'body.times': '' }, '/faults', { data: [{ times: 1 }] }, 'fault-1 is armed: error.'],
    [
      'arm',
      { 'body.times': 'null', 'body.effect.status': '429' },
      '/faults',
      { data: [{ times: null, effect: { kind: 'error', status: 429 } }] },
      'fault-1 is armed: error.',
    ],
    [
      'arm-outcome',
      { 'body.match.amount': '49.90' },
      '/outcomes',
      { armed: [{ outcome: 'RETURNED-AM04', match: { amount: '49.90' } }] },
      'outcome-1 is armed: RETURNED-AM04.',
    ],
    [
      'deprecate',
      {
        'body.data.0.operation': GONE.operation,
        'body.data.0.sunset': '2030-06-30T00:00:00',
        'body.data.0.goneAfterSunset': 'true',
      },
      '/deprecations',
      { data: [GONE] },
      'The list of deprecations is saved.',
    ],
  ],
  '/client': [
    [
      'update-settings',
      { 'body.mandateActivation': 'manual' },
      '/settings',
      { mandateActivation: 'manual', allowedOrigins: ['http://localhost:*', 'http://127.0.0.1:*'] },
      'The settings are saved.',
    ],
    ['fork-client', { 'body.clientId': 'made' }, '/../_sandbox/clock?client=made', { mode: 'frozen' }, 'made exists.'],
    ['seed', { 'body.fixture': 'demo' }, '/mandates/MND-ACME-0001', status('ACTIVE'), 'The client has'],
    ['expire', {}, '/clock', {}, /^All tokens of client-\d+ are expired\.$/],
    [
      'scenario-collection-returned',
      { 'body.amount': '20', 'body.reasonCode': 'MD06' },
      '/direct-debit?status=RETURNED',
      { data: [{ record: { amount: '20', reasonCode: 'MD06' } }] },
      /^MND-SCN-\d+ became ACTIVE\. COL-SCN-\d+ became RETURNED\.$/,
    ],
    [
      'scenario-mandate-cancelled-with-pending',
      {},
      '/direct-debit?status=CANCELLED',
      { data: [{ record: { status: 'CANCELLED' } }] },
      /^MND-SCN-\d+ became CANCELLED\. COL-SCN-\d+ became CANCELLED\.$/,
    ],
    ['scenario-rate-limited', { 'body.times': '4' }, '/faults', { data: [{ times: 4 }] }, 'fault-1 is armed: error.'],
  ],
  '/client/remove': [['remove', {}, '/clock', { code: 'CLIENT_NOT_FOUND' }, 'Removed: 1 client.', '']],
  '/client/reset': [['reset', {}, '/clock', {}, ' has 0 records.', '']],
  '/client/restart': [['restart', {}, '/clock', {}, ' has 0 records.', '']],
  '/requests': [['clear', {}, '/requests', { data: [] }, 'Removed: 4 requests.']],
}

t.test('console, Actions: an emptied field of the settings is sent as null, or as an empty list', async t => {
  const { control, act } = await newConsole()
  const shown = async () => (await control('GET', '/settings')).body
  const before = await shown()
  await act('/client', 'update-settings', { 'body.senderName': 'ACME Ltd' })
  t.match(await shown(), { senderName: 'ACME Ltd' })
  await act('/client', 'update-settings', { 'body.senderName': '', 'body.allowedOrigins': '' })
  t.same(await shown(), { ...before, senderName: null, allowedOrigins: [] })
})

t.test('console, Actions: each form changes what its call changes, and answers with a notice', async t => {
  for (const [path, actions] of Object.entries(ACTIONS)) {
    for (const [form, changes, read, shown, notice, next = path] of actions) {
      const { app, control, submit } = await stocked()
      const answer = await submit(path, form, changes)
      t.equal(answer.statusCode, 303, `${path} ${form}: ${alertOf(answer.payload)}`)
      const after = await follow(app, path, answer)
      t.match(after.notice, notice, `${path} ${form}`)
      t.equal(after.path, next)
      t.equal(after.payload.includes('What happened'), /transition/.test(after.notice))
      const effect = read.startsWith('/..') ? await call(app, 'GET', read.slice(3)) : await control('GET', read)
      t.match(effect.body, shown, `${path} ${form}`)
    }
  }
})

t.test('console, Actions: every form is sent as it is filled in, from a record of every state', async t => {
  const { control, read, submit } = await newDemo()
  const { body: state } = await control('GET', '/state')
  const ofStates = kinds.flatMap(({ name, path, reference }) => {
    const records: { record: Record<string, string> }[] = state[name]
    return [...new Map(records.map(({ record }) => [record.status, `${path}/${record[reference]}`])).values()]
  })
  const pages = PATHS.filter(path => /^(|\/\w+[\w-]*\/(new|reset|restart|remove)|\/client)$/.test(path))
  const kindsOfFaults = EFFECT_KINDS.map((kind): [string, Fields] => ['/failures', { kind }])
  for (const [path, query = {}] of [...[...pages, ...ofStates].map((path): [string] => [path]), ...kindsOfFaults]) {
    // actions.test.ts makes the transitions.
    for (const id of formsOf(await read(path, query)).filter(id => !id.startsWith('move-'))) {
      const { statusCode, payload } = await submit(path, id, {}, { query })
      t.equal(statusCode, 303, `${path} ${id}: ${alertOf(payload) ?? payload.slice(-300)}`)
      await control('PUT', '/state', state)
    }
  }
})

t.test('console, Actions: a bill is paid in part with half of its total left, in whole cents', async t => {
  const { post, control, submit } = await newConsole()
  for (const [at, [totalAmount, openAmount, half]] of [
    ['1190.01', '1190.01', '595.01'],
    ['1190.01', '0', '595.01'],
    ['999999999.99', '999999999.99', '500000000.00'],
    ['0.02', '0.02', '0.01'],
  ].entries()) {
    const path = `/bills/INV-${at}`
    await post('/api/v1/bills', bill({ uniqueReferenceIdentifier: `INV-${at}`, totalAmount, openAmount }))
    const { statusCode } = await submit(path, 'move-payPartially')
    const { record } = (await control('GET', path)).body
    t.same([statusCode, record.status, record.openAmount], [303, 'PARTIALLY_PAID', half], `${openAmount}`)
  }
})

t.test('console, Actions: all moves of a lifecycle are forms, and those that are not legal are none', async t => {
  const { read, submit } = await stocked()
  const path = '/collections/COL-0001'
  const movesOf = async () => all(await read(path), /<form id="move-(\w+)"/g)
  t.same(await movesOf(), ['submit', 'fail', 'cancel'])
  for (const verb of ['submit', 'process', 'settle']) await submit(path, `move-${verb}`)
  t.same(await movesOf(), ['return'], 'one form, though its codes have three time limits')
  const limits = /<form id="move-return".*?<\/form>/s.exec(await read(path))?.[0] ?? ''
  t.equal(new Set(all(limits, /, until ([^<]+) UTC<\/option>/g)).size, 3)
  t.match(limits, /<option value="AM04".*<option value="MD06".*<option value="MD01"/s)
  await submit(path, 'move-return', { 'body.reasonCode': 'MD06' })
  t.same(await movesOf(), [])
  const page = await read(path)
  t.match(page, 'Nothing: the state is final.')
  t.match(page, /aria-label="The state is RETURNED\. The way so far: PENDING on Mon, 2 Nov 2026.*SETTLED on/)
  t.match(page, /<text class="at"[^>]*>2 Nov 2026, 09:00<\/text>/, 'each date has its year')
})

t.test('console, Actions: a refusal is shown at its field or its form, and keeps what was typed', async t => {
  const { control, submit } = await stocked()
  const before = (await control('GET', '/state')).body
  const typed = { 'body.debtor.iban': 'DE00', 'body.debtor.name': '<b>Jo' }
  const { statusCode, payload } = await submit('/mandates/new', 'create', typed)
  t.equal(statusCode, 400)
  const field = /<input[^>]* id="create-debtor\.iban"[^>]*>/.exec(payload)?.[0] ?? ''
  for (const part of [/aria-invalid="true"/, ' autofocus', /value="DE00"/]) t.match(field, part)
  t.equal(payload.match(/ autofocus/g)?.length, 1, 'it alone gets the focus')
  for (const part of ['<p id="notice" class="notice refused"', 'value="&lt;b>Jo"']) t.match(payload, part)

  const COLLECTION_PAGE = '/collections/COL-0001'
  // The state has changed since the page was loaded; then, the form is no more, and its refusal is said.
  const settle = { call: 'POST /_sandbox/direct-debit/:collectionReference/settle' }
  const gone = { ...settle, form: 'move-settle' }
  const taken = { 'body.mandateReference': 'MND-0001' }
  const atField = (id: string, code: string) => new RegExp(`id="${id}-error" role="alert"><code>${code}</code>`)
  const atForm = (id: string, code: string) => new RegExp(`<form id="${id}".*?role="alert"><code>${code}</code>`, 's')
  for (const [path, form, changes, status, place] of [
    ['/mandates/new', 'create', typed, 400, atField('create-debtor\\.iban', 'INVALID_FIELD')],
    ['/mandates/new', 'create', taken, 409, atField('create-mandateReference', 'DUPLICATE_REFERENCE')],
    [COLLECTION_PAGE, 'move-cancel', settle, 409, atForm('move-cancel', 'ILLEGAL_TRANSITION')],
    [COLLECTION_PAGE, 'move-cancel', gone, 409, /<p id="notice"[^>]*>ILLEGAL_TRANSITION:/],
    ['', 'advance-to', { 'body.to': '2020-01-01T00:00' }, 400, atForm('advance-to', 'INVALID_FIELD')],
    ['', 'advance-to', { 'body.to': '' }, 400, atField('advance-to-to', 'INVALID_FIELD')],
  ] as const) {
    const answer = await submit(path, form, changes)
    t.equal(answer.statusCode, status, JSON.stringify(changes))
    t.match(answer.payload, place)
  }
  t.same((await control('GET', '/state')).body, before, 'nothing was changed')
})

t.test('console, Actions: a new record is a request of the app, which faults apply to', async t => {
  const { control, submit } = await newConsole()
  await submit('/mandates/new', 'create')
  const { body } = await control('GET', '/requests?path=/api/v1/mandates')
  t.match(body.data, [{ method: 'POST', status: 201, headers: { authorization: 'Bearer ***', 'x-region': 'EU' } }])
  await control('POST', '/faults', { match: { method: 'POST' }, effect: { kind: 'drop', when: 'after' } })
  const lost = await submit('/mandates/new', 'create', { 'body.mandateReference': 'MND-LOST' })
  t.equal(lost.statusCode, 502)
  t.match(lost.payload, /role="alert"><code>NO_ANSWER<\/code>/)
  t.match(lost.payload, /<p id="notice"[^>]*>NO_ANSWER: [^<]*<a href="[^"]*\/requests\?client=[\w-]+"> Requests<\/a>/)
  t.match((await control('GET', '/mandates/MND-LOST')).body, status('ACTIVE'), 'it was applied')
})

t.test('console, Pages: a pace that a call has set is among those to choose', async t => {
  const { control, read } = await newConsole()
  await control('PATCH', '/clock', { mode: 'running', rate: 7200 })
  t.match(await read(''), '<option value="7200" selected>2 hours a second</option>')
})

t.test('console, Pages: a reference that two regions have leads to both records', async t => {
  const { post, act, read } = await newConsole()
  await post('/api/v1/bills', bill())
  const fields = { 'body.uniqueReferenceIdentifier': 'INV-2026-001', 'body.currency': 'USD', region: 'US' }
  const { path, notice, payload } = await act('/bills/new', 'create', fields)
  t.match({ path, notice }, { path: '/bills/INV-2026-001', notice: 'INV-2026-001 became OPEN.' })
  for (const region of ['EU', 'US']) {
    t.match(payload, `&amp;region=${region}">INV-2026-001</a>`)
    t.match(await read('/bills/INV-2026-001', { region }), 'Lifecycle')
  }
})

t.test('console, Actions: a request is sent again, and shown as curl and as a test', async t => {
  const { get, post, control, read, act } = await newConsole()
  await post('/api/v1/mandates', mandate())
  await get('/api/v1/mandates?limit=5')
  const page = toText(await read('/requests/2'))
  for (const text of [`-H "Authorization: Bearer $TOKEN"`, 'await sandbox.requests.expect({']) t.match(page, text)
  const taken = 'Sent again with a new token. The answer was 409: "MND-0001" is taken already.'
  t.match(await act('/requests/2', 'repeat'), { path: '/requests/4', notice: taken, payload: '409' })
  const again = 'Sent again with a new token. The answer was 200.'
  t.match(await act('/requests/3', 'repeat'), { path: '/requests/5', notice: again })
  const { data } = (await control('GET', '/requests')).body
  t.match(data.slice(3), [
    { method: 'POST', path: '/api/v1/mandates', status: 409 },
    { method: 'GET', query: { limit: '5' }, status: 200 },
  ])
  await get('/nowhere')
  await post('/api/v1/mandates', 'text', { headers: { 'content-type': 'text/plain' } })
  for (const [seq, reason] of Object.entries({
    1: 'the log masks the secrets of its form.',
    6: 'its path does not belong to the API.',
    7: 'the log has no JSON body of it.',
  })) {
    t.match(await read(`/requests/${seq}`), `It cannot be sent again: ${reason}`)
  }
  await post('/api/v1/mandates', mandate({ type: '[Remove](/client/remove)' }))
  const { payload } = await act('/requests/8', 'repeat')
  t.match(payload, 'not &quot;[Remove] (/client/remove)&quot;.', 'a text of the app is no link')
})

t.test(
  'console, Actions: "Send again" leads to its request, also behind a later one with its path, and where a URL encodes it',
  async t => {
    const time = manualTime()
    const app = build(t, { now: time.now, timers: time.timers })
    const { token, get, control } = await connect(app)
    const { submit } = pagesOf(app, 'acme')
    await get('/api/v1/accounts')
    await control('POST', '/faults', { effect: { kind: 'delay', ms: 1000 }, times: 1 })
    const answer = submit('/requests/2', 'repeat')
    await until(() => time.pending > 0)
    await get('/api/v1/accounts')
    t.equal((await control('GET', '/requests')).body.last, 4)
    time.pass(1000)
    t.match((await answer).headers.location, 'requests/3?')

    await app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = app.server.address() as AddressInfo
    const path = '/api/v1/mandates/{mandateReference}'
    const headers = { authorization: `Bearer ${token}`, 'x-region': 'EU' }
    const [sent] = await once(request({ port, path, headers }).end(), 'response')
    await once(sent.resume(), 'end')
    t.match((await submit('/requests/5', 'repeat')).headers.location, 'requests/6?')

    for (const effect of [{ kind: 'drop', when: 'after' }, { kind: 'drop', when: 'before' }, { kind: 'truncate' }])
      await control('POST', '/faults', { effect })
    for (const seq of [7, 8, 9])
      t.match((await submit('/requests/2', 'repeat')).headers.location, `requests/${seq}?`, 'also without an answer')
  },
)

t.test('console, Actions: a refused form has the Retry-After of its call', async t => {
  const { control, submit } = await newConsole()
  await control('POST', '/faults', { effect: { kind: 'error', status: 503, retryAfter: 3 } })
  const { statusCode, headers } = await submit('/mandates/new', 'create')
  t.match([statusCode, headers['retry-after']], [503, '3'])
})

t.test('console, Actions: "Send again" leads to the list if the log has no space for its request', async t => {
  const app = build(t, { requestLog: { bytes: 8_000 } })
  const { get, control } = await connect(app)
  const { submit } = pagesOf(app, 'acme')
  await get('/api/v1/mandates')
  await control('POST', '/seed', { fixture: 'demo' })
  const sent = await submit('/requests/2', 'repeat')
  t.match((await control('GET', '/requests')).body, { data: { length: 2 }, last: 3 })
  t.match(await follow(app, '/requests/2', sent), { path: '/requests', notice: 'The answer was 200.' })
})

t.test('console, Pages: a request has its query, hints, and first the cause of a refusal or of no answer', async t => {
  const { get, post, control, read } = await newConsole()
  const last = async () => read(`/requests/${(await control('GET', '/requests?limit=1')).body.last}`)
  const cut = async (effect: object) => {
    await control('POST', '/faults', { effect })
    await post('/api/v1/mandates?page=1&page=2', mandate()).catch(() => {})
    return last()
  }
  const dropped = await cut({ kind: 'drop', when: 'before' })
  t.match(dropped, 'fault-1 (drop). The request was not applied.')
  t.match(dropped, /id="answer".*No answer was sent: the fault <a href="[^"]*failures[^"]*">fault-1<\/a> closed the/)
  t.match(await cut({ kind: 'drop', when: 'after' }), 'fault-2 (drop). The request was applied.')
  const lost = await cut({ kind: 'garbage' })
  t.match(lost, 'A fault took the answer away: fault-3 (garbage). The request was refused with 409.')
  t.match(lost, /id="answer".*fault-3<\/a> sent bytes that are not HTTP/)
  t.match(lost, /<\/p><ul class="hints"><li>/)
  t.match(toText(lost), 'POST /api/v1/mandates?page=1&page=2</code>')
  t.match(await cut({ kind: 'truncate' }), 'A fault cut the answer: fault-4 (truncate).')
  await control('DELETE', '/faults')
  const list = await read('/requests')
  t.match(toText(list), '<b>POST</b> /api/v1/mandates?page=1&page=2</a>')
  t.match(list, /<p class="cause">A fault took the answer away: fault-1 \(drop\)\. The request was not applied\.<\/p>/)

  const causes = (html: string) =>
    all(html, /<p class="cause">(.*?)<\/p>/gs).map(cause => toText(cause.replaceAll(/<[^>]*>/g, '')).trim())
  const { mandateReference, ...rest } = mandate()
  const refusals: [send: () => Promise<unknown>, cause: string | RegExp][] = [
    [() => post('/api/v1/mandates', rest), 'mandateReference is required.'],
    [() => get('/api/v1/mandate'), 'Did you mean /api/v1/mandates?'],
    [() => post('/api/v1/mandates', 'x', { headers: { 'content-type': 'text/plain' } }), /^Content-Type must be/],
    [() => get('/api/v1/mandates'), 'Away.'],
  ]
  for (const [at, [send, cause]] of refusals.entries()) {
    const effect = { kind: 'error', status: 503, message: 'Away.', code: 'INTERNAL_ERROR' }
    if (at === refusals.length - 1) await control('POST', '/faults', { effect })
    await send()
    const page = await last()
    t.match(causes(page)[0], cause)
    t.ok(page.indexOf('class="cause"') < page.indexOf('<h2'), 'it is on top')
    t.equal(causes(await read('/requests'))[0], causes(page)[0], 'and in the list')
  }
})

t.test('console, Pages: the filters of requests, and a refused one at its field, which keeps the value', async t => {
  const { get, open, read } = await newConsole()
  await get('/api/v1/mandates')
  await get('/api/v1/mandates/MND-0404')
  await get('/api/v1/mandates?limit=x')
  for (const [query, seqs] of [
    [{ status: '4xx' }, ['4', '3']],
    [{ status: '4XX' }, ['4', '3']],
    [{ status: '4xX' }, ['4', '3']],
    [{ status: '404' }, ['3']],
    [{ status: '2XX' }, ['2', '1']],
    [{ path: 'mandates' }, ['4', '3', '2']],
    [{ path: '/API' }, []],
    [{ path: '/api/v1/mandates' }, ['4', '3', '2']],
    [{ path: '*mandates' }, ['4', '2']],
    [{ path: 'mandates*' }, []],
  ] as const) {
    t.same(all(await read('/requests', query), /<tr id="request-(\d+)"/g), seqs, JSON.stringify(query))
  }
  const none = await read('/requests', { status: '5XX' })
  t.match(none, 'No request fits this filter.')
  t.match(none, /<input[^>]* id="filter-status"[^>]* placeholder="Such as 404 or 4xx"/)
  for (const [path, name, value] of [
    ['/requests', 'status', '404 '],
    ['/requests', 'status', '40x'],
    ['/requests', 'path', 'x'.repeat(1001)],
    ['/collections', 'search', 'x'.repeat(1001)],
  ] as const) {
    const { statusCode, payload } = await open(path, { query: { [name]: value } })
    t.equal(statusCode, 400)
    t.equal(formsIn(payload).find(({ shown }) => shown.includes(name))?.fields[name], value)
    const [input = ''] = new RegExp(`<input(?=[^>]* id="filter-${name}")[^>]*>`).exec(payload) ?? []
    for (const part of ['aria-invalid="true"', `aria-describedby="filter-${name}-error"`]) t.match(input, part)
    t.match(payload, `id="filter-${name}-error" role="alert"><code>INVALID_QUERY_PARAMETER</code>`)
  }
})

t.test('console, Pages: the known secret of the demo client is shown only while it is in force', async t => {
  const page = (app: FastifyInstance) => pagesOf(app, DEMO).read('')
  const document = async (app: FastifyInstance) => JSON.stringify((await call(app, 'GET', '/openapi.json')).body)
  const withSecret = (clientSecret: string) =>
    build(t, { clients: [{ clientId: DEMO, clientSecret, fixture: 'empty' }] })
  const [known, other] = [withSecret('sandbox-secret'), withSecret('another-secret')]
  t.match(await page(known), /<dd>sandbox-secret<\/dd>.*client_secret=sandbox-secret/s)
  t.match(await document(known), '"client_secret":"sandbox-secret"')
  t.match(await page(other), /<dd>from SANDBOX_CLIENTS or .*<\/dd>.*client_secret=/s)
  for (const text of [await page(other), await document(other)]) t.notMatch(text, /(sandbox|another)-secret/)
})

t.test('console, Pages: a client without records says what to do first; the next event is a button', async t => {
  const { clientId, post, read } = await newConsole()
  const nextOf = (page: string) => /<form id="next-event".*?<button[^>]*>(.*?)<\/button>/s.exec(page)?.[1]
  const page = await read('')
  t.match(page, new RegExp(`Connect your app</h2>.*<dd>${clientId}</dd>.*/api/v1/oauth/token`, 's'))
  t.same([nextOf(page), mainButtonsOf(page)], ['Next event', []], 'nothing is due')
  const form = () => read('/collections/new')
  t.match(
    await form(),
    /<a href="[^"]*\/mandates\/new\?client=[\w-]+">No mandate is ACTIVE and RECURRING: create one first\.<\/a>/,
  )
  t.notMatch(await form(), 'The example is accepted as it is.')
  await post('/api/v1/mandates', mandate())
  t.match(await form(), 'The example is accepted as it is.')
  t.notMatch(await read(''), 'Connect your app')
  await post('/api/v1/direct-debit', collection())
  t.same(mainButtonsOf(await read('')), ['Next: COL-0001 SUBMITTED, 5 Nov 2026, 15:00'])
})

t.test('console, Actions: a form comes back with the kind of its fault, and the region of its record', async t => {
  const { control, read, submit } = await newConsole()
  const after = async (path: string, form: string, query: Fields) =>
    resolve(String((await submit(path, form, {}, { query })).headers.location)).searchParams
  for (const currency of ['EUR', 'GBP']) {
    const bills = [bill({ uniqueReferenceIdentifier: 'B-1', currency })]
    t.equal((await control('POST', '/seed', { records: { bills } })).status, 200)
  }
  t.equal((await after('/bills/B-1', 'move-pay', { region: 'UK' })).get('region'), 'UK')
  t.equal((await after('/failures', 'arm', { kind: 'drop' })).get('kind'), 'drop')
  t.notOk((await after('/failures', 'arm', {})).has('kind'))
  t.match(await read('/failures'), '<td>drop after</td>')
  t.equal((await submit('/failures', 'preset-rate-limited')).statusCode, 303)
  t.match(await read('/failures'), /<td>error 429 .*\(Retry-After \d+\)<\/td>/)
  // The form of deprecations goes on to the next operation.
  for (const count of [1, 2]) {
    await submit('/failures', 'deprecate')
    const { data } = (await control('GET', '/deprecations')).body
    t.equal(new Set(data.map(({ operation }: { operation: string }) => operation)).size, count)
  }
})

t.test('console, Actions: a field has a sentence of help and its default, or says that it can be left out', async t => {
  const { read } = await newConsole()
  const page = await read('/payout-links/new')
  const labels = all(page, /<label for="create-[^>]*>(.*?)<\/label>/g)
  for (const label of ['Amount', 'UI mode (optional)', 'Expiry period (optional)']) t.ok(labels.includes(label), label)
  t.match(page, /<input[^>]* name="body\.expiryPeriod"[^>]* placeholder="Such as P7D"/)
  t.match(page, /name="body\.uiMode"><option value selected>– \(hosted\)<\/option>/)
  t.notMatch(await read('/client'), '(optional)</label><input id="update-settings')
  const help = toText(await read('/failures'))
  t.match(help, 'Only requests of this method. Default: any.')
  t.match(help, 'The number of requests on which the fault fires, or null for no limit. Default: 1.')
})

t.test('console, Actions: an error of a request leads to its entry in the catalogue', async t => {
  const { app, post, read } = await newConsole()
  for (let sent = 0; sent < 2; sent++) await post('/api/v1/mandates', mandate())
  const [link = ''] = all(await read('/requests/3'), /<a href="([^"]+)">DUPLICATE_REFERENCE<\/a>/g)
  const { pathname, search } = new URL(toText(link), `http://sandbox/prefix${CONSOLE}/requests/3`)
  t.equal(pathname, `/prefix${CONSOLE}/errors/DUPLICATE_REFERENCE`)
  const { payload } = await visit(app, resolve(pathname.slice('/prefix'.length) + search))
  t.match(payload, /<h1[^>]*>Error DUPLICATE_REFERENCE<\/h1>.*reference is taken.*409.*POST \/api\/v1\/mandates/s)
  t.notMatch(payload, /<li>\w+ \/_sandbox.*<li>\w+ \/api/s, 'operations of the API come first')
})

t.test('console, Actions: the notice of a large advance counts all transitions', async t => {
  const answer = { now: MONDAY, transitions: [{}, {}], omitted: 3 }
  t.match(sentenceOf('advanceClock', answer, {} as Tenant), /\. 5 transitions happened\.$/)
})

t.test('console, Pages: an event of a kind that this release lacks has no link', async t => {
  const tenants: Tenant[] = []
  const app = build(t, { listeners: [{ onCreated: tenant => void tenants.push(tenant), onRemoved() {} }] })
  await connect(app)
  const event = { kind: 'dispute', reference: 'DISPUTE-1', from: null, to: 'OPEN', cause: 'api' } as const
  tenants.find(({ clientId }) => clientId === 'acme')?.events.append({ ...event, at: MONDAY })
  t.match(await open(app, ''), { statusCode: 200, payload: /<th[^>]*>DISPUTE-1</ })
})

t.test('console, Pages: a request leads to its record if it made it or its reference is taken; and on', async t => {
  const { post, control, read } = await newConsole()
  const COLLECTIONS = '/api/v1/direct-debit'
  const rows: [path: string, body: object, record: string | undefined][] = [
    ['/api/v1/mandates', mandate(), 'MND-0001'],
    ['/api/v1/mandates', mandate(), 'MND-0001'],
    ['/api/v1/mandates', mandate({ type: 'x' }), undefined],
    ['/api/v1/mandates', mandate({ mandateReference: 'MND-0404', type: 'x' }), undefined],
    ['/api/v1/mandates', mandate({ mandateReference: { toString: 1 } }), undefined],
    [COLLECTIONS, collection(), 'COL-0001'],
    ['/api/v1/bills', bill(), 'INV-2026-001'],
    ['/api/v1/bills', bill({ uniqueReferenceIdentifier: 'x'.repeat(65) }), undefined],
    [COLLECTIONS, collection({ collectionReference: 'COL-0002' }), undefined],
  ]
  for (const [at, [path, body, record]] of rows.entries()) {
    if (record === undefined && path === COLLECTIONS) await control('POST', '/mandates/MND-0001/cancel')
    await post(path, body)
    const page = await read(`/requests/${at + 2}`)
    t.equal(/<dt>Record<\/dt><dd><a [^>]+>(.*?)</.exec(page)?.[1], record, JSON.stringify(body))
  }
  const neighbours = /<a href="[^"]*\/requests\/(\d+)\?[^"]*">(?:Previous|Next) request</g
  const linked = [1, 2, rows.length + 1].map(async seq => all(await read(`/requests/${seq}`), neighbours))
  t.same(await Promise.all(linked), [['2'], ['1', '3'], [String(rows.length)]])
})

t.test('console, Pages: no line of a drawing crosses a box, and no two end in one place', async t => {
  const { read } = await stocked()
  for (const path of [BILL, '/mandates/MND-0001', '/collections/COL-0001', PAYOUT]) {
    const page = await read(path)
    const boxes = [...page.matchAll(/translate\((\d+) (\d+)\)"><rect width="(\d+)" height="(\d+)"/g)].map(box =>
      box.slice(1).map(Number),
    )
    const lines = all(page, /<path class="edge[^"]*" d="([^"]*)"/g).map(pointsOf)
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
  const { app, clientId, control, read } = await stocked()
  await control('POST', '/faults', { effect: { kind: 'garbage' } })
  await control('POST', '/outcomes', { outcome: 'FAILED' })
  for (const path of PATHS) {
    const page = await read(path)
    const commands = all(page, /<code[^>]*>(curl .*?)<\/code>/gs).map(toText)
    for (const id of formsOf(page).filter(id => id !== 'repeat' && id !== 'load')) {
      const { payload } = await sendFields(app, `/command?client=${clientId}`, fieldsOf(page, id).fields)
      t.ok(commands.includes(payload), `${path} ${id}: ${payload}`)
    }
  }
  t.match(toText(await read('/client/load')), /curl -X PUT .*_sandbox\/state.*--data-binary @FILE/s)
})

t.test('console, Actions: the command of a refused form has the values of its fields', async t => {
  const { app, clientId, submit } = await newConsole()
  const { payload } = await submit('/mandates/new', 'create', { 'body.debtor.iban': 'DE00', 'body.frequency': '' })
  t.match(toText(payload), '"debtor":{"name":"Jane Doe","iban":"DE00"')
  t.notMatch(/<code data-of.*?<\/code>/s.exec(payload)?.[0] ?? 'frequency', 'frequency')
  const { fields } = fieldsOf(payload, 'create')
  const ask = (changes: Fields) => sendFields(app, `/command?client=${clientId}`, { ...fields, ...changes })
  const { statusCode, headers, payload: command } = await ask({ 'body.debtor.name': "O'Neil" })
  t.same([statusCode, headers['content-type']], [200, 'text/plain; charset=utf-8'])
  t.match(command, `"name":"O'\\''Neil","iban":"DE00"`)
  t.equal((await ask({ call: 'POST /nowhere' })).statusCode, 400)
})

t.test('console, Actions: a notice links the records that it names, and has an end', async t => {
  const folder = t.testdir({
    scenarios: {
      'many.yaml': JSON.stringify({
        summary: 'Many.',
        steps: Array.from({ length: 20 }, (_, at) => ({
          call: 'createMandate',
          body: mandate({ mandateReference: `MND-${String(at).padStart(34, '0')}` }),
        })),
      }),
      'look.yaml': JSON.stringify({
        summary: 'Look.',
        steps: [{ call: 'explainBill', params: { uniqueReferenceIdentifier: 'B-1' } }],
      }),
    },
  })
  const app = build(t, { scenarios: createScenarios('fixtures', folder) })
  const client = await connect(app)
  const { act, submit } = pagesOf(app, 'acme')
  const { payload } = await act('/client', 'scenario-collection-returned')
  const links = all(/<p id="notice".*?<\/p>/s.exec(payload)?.[0] ?? '', /<a href="([^"]+)">/g)
  t.equal(links.length, 2)
  for (const link of links) t.equal((await visit(app, resolve(link, '/client'))).statusCode, 200, link)
  const forked = await act('/client', 'fork-client', { 'body.clientId': 'copy' })
  t.match(forked.payload, /<a href="[^"]*console\/client\?client=copy">copy<\/a> exists\./)
  // It is cut at a word, so that a success ends on its page.
  const { notice } = await act('/client', 'scenario-many')
  t.match(notice, /^(MND-\d+ became ACTIVE\. )+(MND-\d+ (became )?)?…$/)

  // Events that an explanation omits are no transitions of the action.
  await client.control('POST', '/reset')
  await changedOften(client, 101)
  const answer = await submit('/client', 'scenario-look')
  t.equal(answer.statusCode, 303)
  t.notMatch(answer.headers.location, 'until=')
})

t.test('console, Actions: the demo client is reset, and not removed', async t => {
  const { act } = await newDemo()
  t.equal((await act('/client/remove', 'remove')).notice, 'The client is reset.')
})

t.test('console, Actions: files go out and in', async t => {
  const app = build(t, { stateBytes: 100_000 })
  const client = await connect(app)
  await stock(client)
  const download = (path: string) => open(app, path)
  const state = await download('/state.json')
  const file = { 'content-disposition': 'attachment; filename="acme-state.json"', 'cache-control': 'no-store' }
  t.match(state.headers, file)
  t.same(JSON.parse(state.payload), (await client.control('GET', '/state')).body)
  t.match((await download('/requests.har')).payload, /^\{"log":\{"version":"1.2"/)
  const one = await download('/requests/1/request.json')
  t.match(one.headers, { 'content-disposition': 'attachment; filename="acme-requests-1-request.json"' })
  t.match(one.json(), { seq: 1, method: 'POST', path: '/api/v1/oauth/token' })
  for (const [seq, status] of [['x', 400] as const, ['99', 404] as const]) {
    const { statusCode, headers } = await download(`/requests/${seq}/request.json`)
    t.same([statusCode, headers['content-disposition']], [status, undefined])
  }

  await client.control('POST', '/reset')
  const { fields, action } = fieldsOf((await open(app, '/client/load')).payload, 'load')
  const { pathname, search } = resolve(action, '/client/load')
  const load = async (content: string, target = pathname) => {
    const { file: _, ...others } = fields
    const parts = Object.entries(others).map(([name, value]) => field(name, value))
    const payload = multipart(...parts, { fileName: 'state.json', type: 'application/json', content })
    const headers = { accept: 'text/html', ...MULTIPART }
    return app.inject({ method: 'POST', url: target + search, headers, payload })
  }
  const tooLarge = ' '.repeat(100_001)
  for (const path of [pathname, `${CONSOLE}/command`]) {
    t.match((await load(tooLarge, path)).payload, 'larger than 100000 bytes (SANDBOX_STATE_BYTES).', path)
  }
  const counts = async () => (await client.control('GET', '/clients')).body.data[1].counts
  for (const [content, status, code] of [
    ['not JSON', 400, 'MALFORMED_REQUEST'],
    ['{}', 400, 'MISSING_FIELD'],
    ['', 400, 'MISSING_FIELD'],
    [tooLarge, 413, 'PAYLOAD_TOO_LARGE'],
  ] as const) {
    const stays = new RegExp(`<form id="load".*<input id="file".*role="alert"><code>${code}</code>`, 's')
    t.match(await load(content), { statusCode: status, payload: stays }, code)
  }
  t.equal((await counts()).mandates, 0)
  t.equal((await load(state.payload)).statusCode, 303)
  t.equal((await counts()).mandates, 1)
})

/** What happened: the rows of a table of a page. */
function rowsOf(html: string, table: string) {
  return all(html, new RegExp(`<tr id="${table}-[^"]*"[^>]*>(.*?)</tr>`, 'gs')).map(row => ({
    reference: /<th[^>]*>(?:<a[^>]*>)?([^<]*)/.exec(row)?.[1] as string,
    to: /class="status [^"]*">([^<]*)/.exec(row)?.[1] as string,
    at: /datetime="([^"]*)"/i.exec(row)?.[1] as string,
  }))
}

t.test('console, Actions: what happened has the records of the story first, then the newest ones', async t => {
  const { control, read, submit, act } = await newDemo()
  for (const step of [1, 2]) await submit('', `story-${step}`)
  const { payload } = await act('', 'story-3')
  const happened = rowsOf(payload, 'happened')
  const others = happened.slice(3)
  const found = happened.slice(0, 3).map(({ reference, to }) => `${reference} ${to}`)
  t.same(
    found,
    ['SETTLED', 'PROCESSING', 'SUBMITTED'].map(state => `STORY-COLLECTION-1 ${state}`),
  )
  t.same([others.length, others.filter(({ reference }) => reference.startsWith('STORY'))], [17, []], 'none is twice')
  const times = others.map(({ at }) => at)
  t.same(times, times.toSorted().reverse())
  const { events } = (await control('GET', '/state')).body as { events: { at: string; reference: string }[] }
  t.equal(times[0], events.findLast(({ reference }) => !reference.startsWith('STORY'))?.at, 'the newest are listed')
  t.match(payload, /<span>And \d+ before these\.<\/span>/)
  const latest = events
    .map(({ at }) => at)
    .toSorted()
    .reverse()
    .slice(0, 10)
  const shown = rowsOf(await read(''), 'latest').map(({ at }) => at)
  t.same(shown, latest, 'by time, and of all kinds')
})

t.test('console, The story: each step is a button, from the first to the page of the recipient', async t => {
  const { app, control, open: openDemo, read, submit, act } = await newDemo()
  const story = () => read('')
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
    const page = await story()
    t.equal(fieldsOf(page, id).fields.call, sent, id)
    t.equal(mainButtonsOf(page).length, 1, 'its button is the main one')
    const answer = await submit('', id)
    t.equal(answer.statusCode, 303, `${id} ${alertOf(answer.payload)}`)
  }
  const page = await story()
  t.equal(page.match(/<li class="done"/g)?.length, 6)
  t.match(page, 'AM04, insufficient funds')
  const { data } = (await control('GET', '/requests')).body
  const ofApi = data.map(({ method, path }: Record<string, string>) => `${method} ${path}`)
  t.same(
    ofApi,
    calls.filter(sent => sent.includes('/api/')),
    'its calls of the API are requests',
  )
  for (const [at, sent] of ofApi.entries()) {
    t.match(page, new RegExp(`Request and answer: ${sent}, 201.*?<a href="[^"]*/requests/${at + 1}\\?`, 's'))
  }
  const states = all(page, /<svg.*?aria-label="The state is (\w+)/gs)
  t.same(states, ['ACTIVE', 'SETTLED', 'RETURNED', 'ACTIVE'], 'the lifecycle of each record is drawn once')
  await control('DELETE', '/requests')
  const without = await story()
  t.notMatch(without, 'Request and answer')
  t.match(without, 'The same by a call', 'a step that is not in the log has its command')
  const [link = ''] = all(page, /<a class="button" href="([^"]+)"[^>]*>Open the page<\/a>/g)
  const recipient = await visit(app, resolve(link))
  const [token = ''] = all(recipient.payload, /name="token" value="([\w-]+)"/g)
  const claim = { action: 'claim', token, accountHolderName: 'Jane Doe', accountIdentifier: 'DE89370400440532013000' }
  await app.inject({
    method: 'POST',
    url: resolve(link).pathname + resolve(link).search,
    headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams(claim).toString(),
  })
  const end = toText(await story())
  t.same(mainButtonsOf(end), [])
  const advanced = await act('', 'advance-PT1H')
  t.ok(advanced.payload.indexOf('What happened') < advanced.payload.indexOf('The story'), 'beside its button')
  const texts = ['That is the whole story.', '/api/v1</dd>', `<dd>${DEMO}</dd>`, '<dd>sandbox-secret</dd>']
  for (const text of [...texts, 'client_secret=sandbox-secret']) t.match(end, text)
  for (const [name, path] of [
    ['Open Failures', '/_sandbox/console/failures'],
    ['Open the interface', '/docs'],
    ['Start over', '/_sandbox/console/client/restart'],
  ] as const) {
    const [target = ''] = all(end, new RegExp(`<a (?:class="button plain" )?href="([^"]+)">${name}</a>`, 'g'))
    t.equal(resolve(target).pathname, path)
  }
  const back = '<a href="../../console?client=sandbox-client">Keep it as it is</a>'
  t.match(await read('/client/restart'), back, 'it leads back to the story')
  t.equal((await openDemo('', { client: 'nobody' })).statusCode, 404, 'a client that does not exist has none')
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
  await call(app, 'POST', '/_sandbox/reset')
  const { read, submit } = pagesOf(app, DEMO)
  t.equal((await submit('', 'story-1')).statusCode, 303)
  const page = await read('')
  t.match(page, /<li class="done"/)
  t.match(fieldsOf(page, 'story-2').fields, { call: 'POST /_sandbox/scenarios/:name', 'params.name': 'story' })
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
  const { control, read } = await newDemo()
  const claim = { accountHolderName: 'Ida Lindholm', accountIdentifier: 'DE89370400440532013000' }
  const rows: [verb: string, sentence: string, input?: object][] = [
    ['decline', 'The recipient has declined.', {}],
    ['expire', 'Nobody claimed the money in time', {}],
    ['cancel', 'Acme has cancelled the link.', {}],
    ['claim', 'within seconds of the clock', claim],
  ]
  for (const [verb, sentence, input] of rows) {
    await control('POST', '/reset')
    const { body } = await control('POST', '/scenarios/story', {})
    t.equal((await control('POST', `/payout-links/${body.values.payoutLinkId}/${verb}`, input)).status, 200, verb)
    const page = await read('')
    for (const [, other] of rows) t.equal(page.includes(other), other === sentence, `${verb}: ${other}`)
  }
})

t.test('console, The story: a mandate that waits for its activation is not signed', async t => {
  const { control, read, submit } = await newDemo()
  await control('PUT', '/settings', { mandateActivation: 'manual' })
  await submit('', 'story-1')
  t.match(await read(''), 'Jane Doe has not signed yet.')
  await control('POST', '/mandates/STORY-MANDATE/activate')
  t.match(await read(''), 'Jane Doe has signed: ')
})

t.test('console, Safety: texts of the app are shown as text on every page, also one like a time', async t => {
  const hostile = `"><script>alert(1)</script><img src=x onerror=alert(2)>'&lt;`
  for (const text of [hostile, '2030-99-99T99:99:99Z', '2030-01-02T03:04:05Z']) {
    const client = await newConsole()
    const { open, read } = client
    await stock(client, text)
    await client.get(`/api/v1/mandates?debtorReference=${encodeURIComponent(text)}`, { headers: { 'x-hostile': text } })
    await client.post('/api/v1/mandates', { [text]: text })
    await client.control('POST', '/faults', { effect: { kind: 'error', status: 400, message: text } })
    const requests = [2, 3, 4, 5, 6].map(seq => `/requests/${seq}`)
    for (const path of [...(text === hostile ? PATHS : PATHS.filter(path => !/new|client/.test(path))), ...requests]) {
      const { payload, statusCode } = await open(path)
      t.equal(statusCode, 200, path)
      t.notMatch(payload, /<script>|<img|2 Jan 2030, 03:04/, path)
      t.notMatch(payload, `datetime="${text}"`, path)
    }
    for (const path of ['/collections', '/mandates/MND-0001', PAYOUT, '/accounts/ACC-0001']) {
      t.match(toText(await read(path)), text, path)
    }
  }
  const { read } = await stocked()
  const page = await read('/collections', { search: hostile })
  t.notMatch(page, /<script>|<img/)
  t.match(page, 'value="&quot;>&lt;script>')
  const moment = new RegExp(`<time datetime="${MONDAY}">(.*?)</time>`).exec(await read('/mandates'))?.[1]
  t.equal(moment?.replaceAll(/<[^>]*>/g, ''), 'Mon, 2 Nov 2026, 09:00:00 UTC')
  t.equal(moment?.replaceAll(/<span class="wide">.*?<\/span>/g, ''), '2 Nov 2026, 09:00', 'a narrow screen has less')
})

t.test('console, Safety: only an action puts a notice into a page; that of a client is none of its fork', async t => {
  const { control, read, submit } = await newConsole()
  t.equal(noticeOf(await read('', { notice: 'Your account is locked', proof: 'x'.repeat(16) })), '')
  const { headers } = await submit('', 'advance-PT1H')
  const query = Object.fromEntries(resolve(String(headers.location)).searchParams)
  t.match(noticeOf(await read('', query)), 'The clock shows')
  t.equal(noticeOf(await read('', { ...query, notice: 'Another' })), '')
  await control('POST', '/fork', { clientId: 'fork-of-notice' })
  t.equal(noticeOf(await read('', { ...query, client: 'fork-of-notice' })), '')
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
  const { app, clientId, control, open, read } = await stocked()
  const before = (await control('GET', '/state')).body
  const { fields, action } = fieldsOf(await read('/client/reset'), 'reset')
  const path = resolve(action, '/client/reset').pathname.slice(CONSOLE.length)
  for (const headers of [
    { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    { origin: 'http://localhost:3000', 'sec-fetch-site': 'same-site' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
    { host: 'evil.example' },
  ] as Record<string, string>[]) {
    const answer = await sendFields(app, `${path}?client=${clientId}`, fields, headers)
    t.equal(answer.statusCode, 403, JSON.stringify(headers))
    t.equal((await tokenOf(app, headers, clientId)).statusCode, 403, `a token: ${JSON.stringify(headers)}`)
  }
  t.same((await control('GET', '/state')).body, before)
  const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
  t.equal((await open('', { headers: link })).statusCode, 200)
  const load = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }
  t.equal((await open('', { headers: load })).statusCode, 403)
})

t.test('console, Pages: a page of a request shows the first part of a long body and links to the whole', async t => {
  const { app, get, post, read } = await newConsole()
  const body = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`m${at}`, 1]))
  await post('/api/v1/mandates', body)
  const page = await read('/requests/2')
  t.ok(page.length < 70_000, `${page.length} characters`)
  t.match(page, '&quot;m0&quot;:1')
  const [link = ''] = all(page, /<a href="([^"]*request\.json[^"]*)"/g)
  t.same((await visit(app, resolve(link, '/requests/2'))).json().body, body)
  await post('/api/v1/mandates', JSON.stringify('x'.repeat(100_000)))
  t.ok((await read('/requests/3')).length < 70_000, 'a body that is one text has the same bound')
  await get(`/api/v1/mandates/${'x'.repeat(10_000)}`)
  t.ok((await read('/requests')).length < 20_000, 'a long path is shortened')
})

t.test('console, Large clients: the timeline of a record has at most 50 rows, and pages to older ones', async t => {
  const client = await newConsole()
  const { app, control, open, read } = client
  const rowsOf = (page: string) => all(page, /<tr id="event-(\d+)"/g).map(Number)
  const linkOf = (page: string, text: string) => all(page, new RegExp(`<a href="([^"]*)">${text}</a>`, 'g'))[0]
  const go = async (page: string, text: string) =>
    (await visit(app, resolve(linkOf(page, text) as string, '/bills/B-1'))).payload

  await changedOften(client, 50)
  const whole = await read('/bills/B-1')
  t.same([rowsOf(whole).length, linkOf(whole, 'Older'), linkOf(whole, 'Newest')], [50, undefined, undefined])

  await control('POST', '/reset')
  await changedOften(client, 120)
  // Another region has the reference, so that each page needs the region.
  const other = bill({ uniqueReferenceIdentifier: 'B-1', currency: 'GBP' })
  t.match(await control('POST', '/seed', { records: { bills: [other] } }), { status: 200 })
  const newest = await read('/bills/B-1', { region: 'EU' })
  const older = await go(newest, 'Older')
  const oldest = await go(older, 'Older')
  for (const [page, first, last] of [
    [newest, 71, 120],
    [older, 21, 70],
    [oldest, 1, 20],
  ] as const) {
    t.same([rowsOf(page)[0], rowsOf(page).at(-1), rowsOf(page).length], [first, last, last - first + 1])
  }
  t.equal(linkOf(oldest, 'Older'), undefined)
  t.same(rowsOf(await go(oldest, 'Newest')), rowsOf(newest))
  const [drawing] = all(oldest, /aria-label="The state is ([^"]*)"/g)
  t.match(drawing, /^OPEN\. The way so far: OPEN on [^.]*, PAID on [^.]*\. Nothing happens by itself\.$/)
  t.equal((await open('/bills/B-1', { query: { region: 'EU', cursor: 'x' } })).statusCode, 400)

  const sizes = []
  for (const count of [1000, 10_000]) {
    await control('POST', '/reset')
    t.match(await changedOften(client, count), { status: 200 })
    sizes.push((await read('/bills/B-1')).length)
  }
  const [few, many] = sizes as [number, number]
  // Numbers can be longer.
  t.ok(Math.abs(few - many) < 2000, `${few} and ${many} characters, however often it has changed`)
})

t.test('console, Safety: with an admin token, every page and action needs the token', async t => {
  const ADMIN = 'adm1n'
  const app: FastifyInstance = build(t, { adminToken: ADMIN })
  await connect(app)
  for (const path of ['', '/requests', '/state.json', '/assets/console.css', '/nowhere']) {
    t.equal((await open(app, path)).statusCode, 401, path)
  }
  t.match((await tokenOf(app)).json(), { code: 'ADMIN_TOKEN_REQUIRED' })
  const headers = { authorization: `Basic ${Buffer.from(`me:${ADMIN}`).toString('base64')}` }
  t.equal((await open(app, '', { headers })).statusCode, 200)
  t.equal((await submit(app, '', 'advance-PT1H', {}, { headers })).statusCode, 303)
  t.equal((await submit(app, '/mandates/new', 'create', {}, { headers })).statusCode, 303)
  t.equal((await open(app, '/state.json', { headers })).statusCode, 200)
  t.notMatch((await open(app, '/failures', { headers })).payload, ADMIN)
  t.equal((await tokenOf(app, headers)).statusCode, 200)
})

t.test('console, Pages: a browser gets the script, which imports nothing, and the style sheet', async t => {
  const { app } = await newConsole()
  for (const [path, type] of [
    ['console.css', /^text\/css/],
    ['console.js', /^text\/javascript/],
  ] as const) {
    const { statusCode, headers, payload } = await app.inject(`${CONSOLE}/assets/${path}`)
    t.equal(statusCode, 200, path)
    t.match(headers['content-type'], type)
    t.notMatch(payload, /\beval\(|new Function/)
    t.notMatch(payload, /^import |sourceMappingURL/m)
  }
})
