import t from 'tap'
import { type Case, each, holds, table } from '../answers.js'
import { type Answer, bill, build, call, collection, mandate, newClient, payoutLink } from '../helper.js'
import { sendLine, stateOf, stock } from './raw.js'

const HINT = 'sandbox-hint'

/** The lists with their scalar and array parameters (interface, GET /api/v1/direct-debit; decisions §5). */
const lists: [url: string, scalars: Record<string, string>, arrays: Record<string, string>][] = [
  [
    '/api/v1/direct-debit',
    {
      ...{ limit: '10', mandateReference: 'MND-0001', debtorReference: 'D-1', amountMin: '0.01', amountMax: '10.5' },
      ...{ initiatedFrom: '2026-11-02T09:00:00Z', initiatedTo: '2026-11-02T09:00:00Z' },
    },
    { scheme: 'SEPA', status: 'PENDING' },
  ],
  ['/api/v1/mandates', { limit: '10', type: 'RECURRING', debtorReference: 'D-1' }, { status: 'ACTIVE' }],
  [
    '/api/v1/bills',
    {
      ...{ limit: '10', type: 'INVOICE', cashflowType: 'INFLOW', counterpartyReference: 'CPTY-0001' },
      ...{ dueDateFrom: '2026-12-31', dueDateTo: '2026-12-31' },
    },
    { status: 'OPEN' },
  ],
  ['/api/v1/accounts', { limit: '10', currency: 'EUR' }, {}],
]

t.test('decisions §5: the table has every list of the API, with its parameters', async t => {
  const app = build(t)
  const found: Record<string, string[]> = {}
  app.addHook('onRoute', ({ method, url, schema }) => {
    const { properties = {} } = (schema as { querystring?: { properties?: object } } | undefined)?.querystring ?? {}
    const { cursor, ...others } = properties as Record<string, unknown>
    if (method === 'GET' && url.startsWith('/api') && cursor !== undefined) found[url] = Object.keys(others).sort()
  })
  await app.ready()
  t.same(found, Object.fromEntries(lists.map(([url, ...parameters]) => [url, parameters.flatMap(Object.keys).sort()])))
})

const hintsOf = ({ headers }: Answer) => String(headers[HINT]).split('; ')

t.test('decisions §1: every documented parameter is accepted, and hints at nothing', async t => {
  const client = await newClient()
  for (const [url, scalars, arrays] of lists) {
    const { status, headers } = await client.get(`${url}?${new URLSearchParams({ ...scalars, ...arrays })}`)
    t.same([status, headers[HINT]], [200, undefined], url)
  }
})

t.test('decisions §1, §2: a parameter that is repeated, empty or of a wrong value is refused by its name', async t => {
  const client = await newClient()
  await stock(client)
  const before = await stateOf(client)
  const wanted: Case[] = []
  for (const [url, scalars, arrays] of lists) {
    const refuse = (code: string, name: string, ...values: string[]) =>
      wanted.push(...values.map((value): Case => [`GET ${url}?${name}${value}`, `400 ${code} ${name}`]))
    for (const [name, value] of Object.entries({ ...scalars, cursor: 'x' })) {
      refuse('MALFORMED_REQUEST', name, `=${value}&${name}=${value}`, `=${value}&${name}=`)
      refuse('INVALID_QUERY_PARAMETER', name, '=', '')
      if (name === 'debtorReference') refuse('INVALID_QUERY_PARAMETER', name, `=${'x'.repeat(101)}`)
      else if (name === 'cursor') refuse('INVALID_CURSOR', name, '=x', '=%00', '=eyJhIjoxfQ')
      else refuse('INVALID_QUERY_PARAMETER', name, '=%20', '=NaN', '=-1', '=0x10')
    }
    for (const [name, value] of Object.entries(arrays)) {
      const wrong = ['', 'X', '%20', value.toLowerCase(), '__proto__', `${value},`, `,${value}`, `${value},X`, ',']
      refuse('INVALID_QUERY_PARAMETER', name, ...wrong.map(one => `=${one}`), '[]=X', '[]=', '[0]=')
    }
  }
  await holds(t, wanted, sendLine(client))
  t.same(await stateOf(client), before)
})

t.test('decisions §2: bad percent-encoding in the query is MALFORMED_REQUEST', async t => {
  const client = await newClient()
  const queries = ['limit=%', 'limit=%zz', 'a=%zz', '%zz=a', '%', 'b=%ff', 'status=%c3%28', 'x=%ed%a0%80']
  const urls = ['/api/v1/mandates', '/api/v1/mandates/MND-0001', '/_sandbox/clock']
  const all = [...urls.flatMap(url => queries.map(query => `GET ${url}?${query}`)), 'POST /_sandbox/reset?client=%zz']
  await holds(t, each(all, '400 MALFORMED_REQUEST null'), sendLine(client))
})

t.test('decisions §1: query strings are text: encoded and plain spellings are the same', async t => {
  const client = await newClient()
  await client.post('/api/v1/mandates', mandate({ debtor: { ...mandate().debtor, reference: 'Jane Doe+1 é/' } }))
  for (const value of ['Jane%20Doe%2B1%20%C3%A9%2F', 'Jane+Doe%2B1+%c3%a9/', '%4a%61ne+Doe%2b1+%C3%A9%2f']) {
    t.equal((await client.get(`/api/v1/mandates?%64ebtorReference=${value}`)).body.totalCount, 1, value)
  }
})

// -------------------------------------------------------------------------------------------------------------- hints

t.test('decisions §1: unknown parameters change nothing and are hinted at by name', async t => {
  const client = await newClient()
  await stock(client)
  const hints = ['colour', 'page', 'LIMIT', 'sort', 'limit[a]', '__proto__'].map(
    name => `unknown parameter ${name} ignored`,
  )
  for (const url of [...lists.map(([url]) => url), '/api/v1/mandates/MND-0001', '/api/v1/bills/INV-2026-001']) {
    const plain = await client.get(url)
    const answer = await client.get(`${url}?colour=blue&page=2&page=3&LIMIT=0&sort=&limit[a]=0&__proto__=1`)
    t.same([answer.status, answer.body, hintsOf(answer)], [plain.status, plain.body, hints], url)
  }
})

t.test('decisions §1: a hint is short ASCII on one line, whatever the names and their number', async t => {
  const client = await newClient()
  const names = [
    'a%0d%0aSet-Cookie:x=1',
    '%00',
    '%C3%A9',
    '%F0%9F%98%80',
    'a%3B%20b',
    'a;%20b',
    '%7F',
    'x'.repeat(3000),
  ]
  const many = Array.from({ length: 100 }, (_, at) => `p${at}=1`).join('&')
  for (const [query, count] of [...names.map(name => [`${name}=1`, 1] as const), [many, 9] as const]) {
    const { status, headers } = await client.get(`/api/v1/mandates?${query}`)
    const text = String(headers[HINT])
    t.same([status, headers['set-cookie'], text.split('; ').length], [200, undefined, count], query.slice(0, 30))
    t.match(text, /^[\x20-\x7e]{1,999}$/)
  }
})

t.test('decisions §1: unknown members are not stored, and are hinted at by their path', async t => {
  const [client, other] = [await newClient(), await newClient()]
  const { debtor, creditor } = mandate()
  const wanted = await other.post('/api/v1/mandates', mandate())
  const bankIdentifier = { ...creditor.bankIdentifier, country: { deep: [] } }
  const unknown = { colour: 'blue', status: 'CANCELLED', debtor: { ...debtor, nickname: 'J' } }
  const created = await client.post(
    '/api/v1/mandates',
    mandate({ ...unknown, creditor: { ...creditor, bankIdentifier } }),
  )
  t.same([created.body, (await client.get('/api/v1/mandates/MND-0001')).body], [wanted.body, wanted.body])
  const paths = ['colour', 'creditor.bankIdentifier.country', 'debtor.nickname', 'status']
  t.same(
    hintsOf(created).sort(),
    paths.map(path => `unknown member ${path} ignored`),
  )
})

t.test('decisions §1: every operation that reads JSON hints at unknown members, and still misses others', async t => {
  const client = await newClient()
  const payoutLinkId = await stock(client)
  const bodies: [string, object][] = [
    ['POST /api/v1/mandates', mandate({ mandateReference: 'MND-0002' })],
    ['POST /api/v1/direct-debit', collection({ collectionReference: 'COL-0002' })],
    ['POST /api/v1/bills', bill({ uniqueReferenceIdentifier: 'INV-2' })],
    ['POST /api/v1/payout-links', payoutLink()],
    [`PATCH /api/v1/payout-links/${payoutLinkId}/cancel`, { cancellationComment: 'x' }],
    ['PATCH /api/v1/bills/INV-2026-001', { dueDate: '2026-12-24' }],
    ['PATCH /api/v1/counterparties/CPTY-0001', { remarks: 'x' }],
  ]
  for (const [line, body] of bodies) {
    const unknown = await sendLine(client, { body: { mode2: 1 } })(line)
    const { status, headers } = await sendLine(client, { body: { ...body, mode2: 1 } })(line)
    const found = [unknown.body.code, status < 300, headers[HINT]]
    t.same(found, ['MISSING_FIELD', true, 'unknown member mode2 ignored'], line)
  }
})

t.test('decisions §12: an unknown parameter or member is 400 under /_sandbox', async t => {
  const client = await newClient()
  const body = { colour: 'blue', by: 'P1D', mode: 'frozen', fixture: 'empty', mandateActivation: 'manual' }
  await table(t, line => sendLine(client, line.startsWith('GET') ? {} : { body })(line), {
    '400 INVALID_QUERY_PARAMETER colour': ['GET /_sandbox/clock?colour=blue'],
    '400 INVALID_QUERY_PARAMETER Client': ['POST /_sandbox/reset?Client=acme'],
    '400 INVALID_FIELD colour': [
      ...['POST /_sandbox/clock/advance', 'PATCH /_sandbox/clock', 'POST /_sandbox/seed', 'PUT /_sandbox/settings'],
    ],
  })
})

t.test('decisions §1: several hints come together', async t => {
  const client = await newClient()
  await stock(client)
  const changes = { collectionReference: 'C'.repeat(36), collectionDate: '2026-11-14', other: 1 }
  const moved = await client.post('/api/v1/direct-debit?extra=1', collection(changes))
  t.same([moved.status, moved.body.collectionDate, hintsOf(moved).length], [201, '2026-11-16', 4])
  for (const word of ['extra', 'other', '35', '2026-11-16']) {
    t.equal(hintsOf(moved).filter(hint => hint.includes(word)).length, 1, word)
  }
})

t.test('decisions §1: the token endpoint hints, too', async t => {
  const { app } = await newClient()
  const answer = await call(app, 'POST', '/api/v1/oauth/token?colour=blue', {
    body: 'client_id=sandbox-client&client_secret=sandbox-secret&grant_type=client_credentials&audience=all',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  t.same(hintsOf(answer), ['unknown parameter colour ignored', 'unknown member audience ignored'])
})
