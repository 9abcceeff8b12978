import t from 'tap'
import { type Case, each, holds } from '../answers.js'
import { type Answer, bill, build, call, collection, connect, mandate, newClient } from '../helper.js'
import { sendLine, stateOf, stock } from './raw.js'

const HINT = 'sandbox-hint'
const ASCII = /^[\x20-\x7e]+$/

/** The lists with their scalar and array parameters (interface, GET /api/v1/direct-debit; decisions §5). */
const lists: [url: string, scalars: Record<string, string>, arrays: Record<string, string>][] = [
  [
    '/api/v1/direct-debit',
    {
      limit: '10',
      mandateReference: 'MND-0001',
      debtorReference: 'D-1',
      initiatedFrom: '2026-11-02T09:00:00Z',
      initiatedTo: '2026-11-02T09:00:00Z',
      amountMin: '0.01',
      amountMax: '10.5',
    },
    { scheme: 'SEPA', status: 'PENDING' },
  ],
  ['/api/v1/mandates', { limit: '10', type: 'RECURRING', debtorReference: 'D-1' }, { status: 'ACTIVE' }],
  [
    '/api/v1/bills',
    {
      limit: '10',
      type: 'INVOICE',
      cashflowType: 'INFLOW',
      counterpartyReference: 'CPTY-0001',
      dueDateFrom: '2026-01-01',
      dueDateTo: '2026-12-31',
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
  const actual: unknown[] = []
  for (const [url, scalars, arrays] of lists) {
    const { status, headers } = await client.get(`${url}?${new URLSearchParams({ ...scalars, ...arrays })}`)
    actual.push([status, headers[HINT]])
  }
  t.same(
    actual,
    lists.map(() => [200, undefined]),
  )
})

t.test('decisions §1, §2: a parameter that is repeated, empty or of a wrong value is refused by its name', async t => {
  const client = await newClient()
  await stock(client)
  const before = await stateOf(client)
  const wanted: Case[] = []
  for (const [url, scalars, arrays] of lists) {
    const refuse = (code: string, name: string, ...queries: string[]) =>
      wanted.push(
        ...each(
          queries.map(query => `GET ${url}?${query}`),
          `400 ${code} ${name}`,
        ),
      )
    for (const [name, value] of Object.entries({ ...scalars, cursor: 'x' })) {
      const twice = `${name}=${value}&${name}=`
      refuse('MALFORMED_REQUEST', name, `${twice}${value}`, twice, Array(100).fill(`${name}=${value}`).join('&'))
      refuse('INVALID_QUERY_PARAMETER', name, `${name}=`, name)
      if (name === 'debtorReference') refuse('INVALID_QUERY_PARAMETER', name, `${name}=${'x'.repeat(101)}`)
      else if (name === 'cursor') refuse('INVALID_CURSOR', name, 'cursor=x', 'cursor=%00', 'cursor=eyJhIjoxfQ')
      else refuse('INVALID_QUERY_PARAMETER', name, ...['%20', 'NaN', '-1', '0x10'].map(wrong => `${name}=${wrong}`))
    }
    for (const name of Object.keys(arrays)) {
      const values = [
        '',
        'X',
        '%20',
        'pending',
        '__proto__',
        `${arrays[name]},`,
        `,${arrays[name]}`,
        `${arrays[name]},X`,
      ]
      refuse('INVALID_QUERY_PARAMETER', name, ...values.map(wrong => `${name}=${wrong}`), `${name}[]=X`, `${name}[0]=`)
    }
  }
  await holds(t, wanted, sendLine(client))
  t.same(await stateOf(client), before)
})

t.test('interface, Limits: limit is an integer from 1 to 500', async t => {
  const client = await newClient()
  const wrong = ['0', '501', '1.5', '1.0', '1e1', '+5', '%2B5', ' 5', '5,6', '٥', '99999999999999999999']
  await holds(t, [...each(['1', '100', '500'], '200'), ...each(wrong, '400 INVALID_QUERY_PARAMETER limit')], limit =>
    client.get(`/api/v1/mandates?limit=${encodeURI(limit)}`),
  )
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
  const counts: unknown[] = []
  for (const value of ['Jane%20Doe%2B1%20%C3%A9%2F', 'Jane+Doe%2B1+%c3%a9/', '%4a%61ne+Doe%2b1+%C3%A9%2f']) {
    counts.push((await client.get(`/api/v1/mandates?%64ebtorReference=${value}`)).body.totalCount)
  }
  t.same(counts, [1, 1, 1])
})

t.test(
  'decisions §1: array filters accept all spellings; duplicates count once; values are combined by OR',
  async t => {
    const client = await newClient()
    await stock(client)
    for (const reference of ['COL-0002', 'COL-0003']) {
      await client.post('/api/v1/direct-debit', collection({ collectionReference: reference }))
    }
    await client.control('POST', '/direct-debit/COL-0002/submit')
    await client.control('POST', '/direct-debit/COL-0003/cancel')
    const two = [
      'status=PENDING&status=SUBMITTED',
      'status=PENDING,SUBMITTED',
      'status=PENDING%2CSUBMITTED',
      'status=PENDING,PENDING&status=SUBMITTED&status=PENDING',
      'status[]=PENDING&status[]=SUBMITTED',
      'status[0]=PENDING&status[1]=SUBMITTED',
      'status%5B%5D=PENDING&status%5b%5d=SUBMITTED',
      'status%5B0%5D=PENDING&status=SUBMITTED',
      'status[]=PENDING,SUBMITTED',
      'status=PENDING&scheme[]=SEPA&status=SUBMITTED&scheme=SEPA,SEPA',
    ]
    const one = [Array(100).fill('status=PENDING').join('&'), `status=${Array(500).fill('PENDING').join(',')}`]
    const actual: unknown[] = []
    for (const query of [...two, ...one]) {
      const { body, headers } = await client.get(`/api/v1/direct-debit?${query}`)
      const references = body.data?.map((record: { collectionReference: string }) => record.collectionReference).sort()
      actual.push([query, body.totalCount, references, headers[HINT]])
    }
    t.same(actual, [
      ...two.map(query => [query, 2, ['COL-0001', 'COL-0002'], undefined]),
      ...one.map(query => [query, 1, ['COL-0001'], undefined]),
    ])
  },
)

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
  const queries = [...names.map(name => `${name}=1`), Array.from({ length: 100 }, (_, at) => `p${at}=1`).join('&')]
  const actual: unknown[] = []
  for (const query of queries) {
    const { status, headers } = await client.get(`/api/v1/mandates?${query}`)
    const text = String(headers[HINT])
    actual.push([status, ASCII.test(text), text.length < 1000, headers['set-cookie'], text.split('; ').length])
  }
  t.same(
    actual,
    queries.map((_, at) => [200, true, true, undefined, at < names.length ? 1 : 9]),
  )
})

t.test('decisions §1: unknown members are not stored, and are hinted at by their path', async t => {
  const client = await newClient()
  const { debtor, creditor } = mandate()
  const wanted = await client.post('/api/v1/mandates', mandate())
  await client.control('POST', '/reset')
  const fresh = await connect(client.app)
  const created = await fresh.post(
    '/api/v1/mandates',
    mandate({
      colour: 'blue',
      status: 'CANCELLED',
      debtor: { ...debtor, nickname: 'J' },
      creditor: { ...creditor, bankIdentifier: { ...creditor.bankIdentifier, country: { deep: [] } } },
    }),
  )
  t.same([created.body, (await fresh.get('/api/v1/mandates/MND-0001')).body], [wanted.body, wanted.body])
  const paths = ['colour', 'creditor.bankIdentifier.country', 'debtor.nickname', 'status']
  t.same(
    hintsOf(created).sort(),
    paths.map(path => `unknown member ${path} ignored`),
  )
})

t.test('decisions §1: every operation that reads JSON hints at unknown members, and still misses others', async t => {
  const client = await newClient()
  const payoutLinkId = await stock(client)
  const bodies: [string, string, object][] = [
    ['POST', '/api/v1/mandates', mandate({ mandateReference: 'MND-0002' })],
    ['POST', '/api/v1/direct-debit', collection({ collectionReference: 'COL-0002' })],
    ['POST', '/api/v1/bills', bill({ uniqueReferenceIdentifier: 'INV-2' })],
    ['POST', '/api/v1/payout-links', { amount: '1', currency: 'EUR', payoutMethod: 'SEPA-CT' }],
    ['PATCH', `/api/v1/payout-links/${payoutLinkId}/cancel`, { cancellationComment: 'x' }],
    ['PATCH', '/api/v1/bills/INV-2026-001', { dueDate: '2026-12-24' }],
    ['PATCH', '/api/v1/counterparties/CPTY-0001', { remarks: 'x' }],
  ]
  const actual: unknown[] = []
  for (const [method, url, body] of bodies) {
    const known = await client.send(method, url, { body: { mode2: 1 } })
    const answer = await client.send(method, url, { body: { ...body, mode2: 1 } })
    actual.push([known.body.code, answer.status < 300, answer.headers[HINT]])
  }
  t.same(
    actual,
    bodies.map(() => ['MISSING_FIELD', true, 'unknown member mode2 ignored']),
  )
})

t.test('control plane, Reference: an unknown parameter or member is 400 under /_sandbox', async t => {
  const client = await newClient()
  await holds(
    t,
    [
      ['GET /_sandbox/clock?colour=blue', '400 INVALID_QUERY_PARAMETER colour'],
      ['POST /_sandbox/reset?Client=acme', '400 INVALID_QUERY_PARAMETER Client'],
    ],
    sendLine(client),
  )
  await holds(
    t,
    [
      ['POST /_sandbox/clock/advance', '400 INVALID_FIELD colour'],
      ['PATCH /_sandbox/clock', '400 INVALID_FIELD colour'],
      ['POST /_sandbox/seed', '400 INVALID_FIELD colour'],
      ['PUT /_sandbox/settings', '400 INVALID_FIELD colour'],
    ],
    sendLine(client, {
      body: { colour: 'blue', by: 'P1D', mode: 'frozen', fixture: 'empty', mandateActivation: 'manual' },
    }),
  )
})

t.test('decisions §1: a long reference, bounds that cross and a moved date are hinted at', async t => {
  const client = await newClient()
  await stock(client)
  const created: unknown[] = []
  for (const length of [35, 36, 50]) {
    const mandateReference = 'M'.repeat(length)
    const { status, headers } = await client.post('/api/v1/mandates', mandate({ mandateReference }))
    created.push([status, /^[^;]*35[^;]*$/.test(String(headers[HINT])), headers[HINT] !== undefined])
  }
  t.same(created, [
    [201, false, false],
    [201, true, true],
    [201, true, true],
  ])

  const countOf = async (query: string) => {
    const { status, body, headers } = await client.get(`/api/v1/direct-debit?${query}`)
    return [status, body.totalCount, /Min.*Max|From.*To/.test(String(headers[HINT]))]
  }
  t.same(
    [
      await countOf('amountMin=10.51&amountMax=10.5'),
      await countOf('initiatedFrom=2026-11-02T09:00:01Z&initiatedTo=2026-11-02T09:00:00Z'),
      await countOf('amountMin=10.5&amountMax=10.50'),
      await countOf('initiatedFrom=2026-11-02T09:00:00Z&initiatedTo=2026-11-02T09:00:00Z'),
    ],
    [
      [200, 0, true],
      [200, 0, true],
      [200, 1, false],
      [200, 1, false],
    ],
  )

  const changes = { collectionReference: 'C'.repeat(36), collectionDate: '2026-11-14', other: 1 }
  const moved = await client.post('/api/v1/direct-debit?extra=1', collection(changes))
  const counts = ['extra', 'other', '35', '2026-11-16'].map(
    word => hintsOf(moved).filter(hint => hint.includes(word)).length,
  )
  t.same([moved.status, moved.body.collectionDate, counts, hintsOf(moved).length], [201, '2026-11-16', [1, 1, 1, 1], 4])
})

t.test('decisions §1: the token endpoint hints, too', async t => {
  const answer = await call(build(t), 'POST', '/api/v1/oauth/token?colour=blue', {
    body: 'client_id=sandbox-client&client_secret=sandbox-secret&grant_type=client_credentials&scope=all',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  t.same(hintsOf(answer), ['unknown parameter colour ignored', 'unknown member scope ignored'])
})
