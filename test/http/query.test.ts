import t from 'tap'
import { bill, build, call, collection, connect, mandate } from '../helper.js'
import { refused, stateOf, stock } from './raw.js'

const HINT = 'sandbox-hint'

/** The lists with their scalar and array parameters (interface, GET /api/v1/direct-debit; decisions §5). */
const lists: [url: string, scalars: Record<string, string>, arrays: Record<string, string[]>][] = [
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
    { scheme: ['SEPA'], status: ['PENDING', 'SETTLED'] },
  ],
  ['/api/v1/mandates', { limit: '10', type: 'RECURRING', debtorReference: 'D-1' }, { status: ['ACTIVE', 'EXPIRED'] }],
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
    { status: ['OPEN', 'PAID'] },
  ],
  ['/api/v1/accounts', { limit: '10', currency: 'EUR' }, {}],
]

/** Scalars that take any text: what is wrong elsewhere is right for them. */
const FREE = ['debtorReference']

t.test('decisions §1: every documented parameter is taken, alone and together, and hints at nothing', async t => {
  const client = await connect(build(t))
  for (const [url, scalars, arrays] of lists) {
    const all = { ...scalars, ...Object.fromEntries(Object.entries(arrays).map(([name, [first]]) => [name, first])) }
    for (const query of [...Object.entries(all).map(entry => [entry]), Object.entries(all)] as [string, string][][]) {
      const answer = await client.get(`${url}?${new URLSearchParams(query)}`)
      t.same([answer.status, answer.headers[HINT]], [200, undefined], `${url} ${JSON.stringify(query)}`)
    }
  }
})

t.test('decisions §1: a scalar parameter given twice, or 100 times, is MALFORMED_REQUEST by its name', async t => {
  const client = await connect(build(t))
  for (const [url, scalars] of lists) {
    for (const [name, value] of Object.entries({ ...scalars, cursor: 'x' })) {
      for (const times of [2, 100]) {
        const query = Array.from({ length: times }, () => `${name}=${value}`).join('&')
        refused(t, await client.get(`${url}?${query}`), 400, 'MALFORMED_REQUEST', name, `${url} ${name} x ${times}`)
      }
      refused(
        t,
        await client.get(`${url}?${name}=${value}&${name}=`),
        400,
        'MALFORMED_REQUEST',
        name,
        `${name} and empty`,
      )
    }
  }
})

t.test('decisions §1: an empty parameter is INVALID_QUERY_PARAMETER by its name', async t => {
  const client = await connect(build(t))
  for (const [url, scalars, arrays] of lists) {
    for (const name of [...Object.keys(scalars), ...Object.keys(arrays), 'cursor']) {
      for (const query of [`${name}=`, name, `&&${name}=&`]) {
        const answer = await client.get(`${url}?${query}`)
        refused(t, answer, 400, 'INVALID_QUERY_PARAMETER', name, `${url}?${query}`)
      }
    }
  }
})

t.test('decisions §2: a value of another type, length or enum is INVALID_QUERY_PARAMETER by its name', async t => {
  const client = await connect(build(t))
  const payoutLinkId = await stock(client)
  const before = await stateOf(client, payoutLinkId)
  for (const [url, scalars, arrays] of lists) {
    for (const name of Object.keys(scalars).filter(name => !FREE.includes(name))) {
      for (const value of [
        '%20',
        'null',
        'NaN',
        '%00',
        '[]',
        '{}',
        '-1',
        '1e2',
        '0x10',
        '%EF%BC%91',
        'x'.repeat(5000),
      ]) {
        if (name.startsWith('amount') && value === '1e2') continue
        const answer = await client.get(`${url}?${name}=${value}`)
        refused(t, answer, 400, 'INVALID_QUERY_PARAMETER', name, `${url} ${name}=${value.slice(0, 20)}`)
        t.notMatch(answer.body.message, /x{81}/, 'quotes at most 80 characters')
      }
    }
    for (const name of Object.keys(arrays)) {
      for (const value of ['X', 'null', '%20', 'pending', 'x'.repeat(5000), '__proto__', 'constructor']) {
        const answer = await client.get(`${url}?${name}=${value}`)
        refused(t, answer, 400, 'INVALID_QUERY_PARAMETER', name, `${url} ${name}=${value.slice(0, 20)}`)
        t.notMatch(answer.body.message, /x{81}/, 'quotes at most 80 characters')
      }
    }
  }
  const long = `/api/v1/direct-debit?debtorReference=${'x'.repeat(101)}`
  refused(t, await client.get(long), 400, 'INVALID_QUERY_PARAMETER', 'debtorReference')
  t.same(await stateOf(client, payoutLinkId), before)
})

t.test('interface, Limits: limit is an integer from 1 to 500', async t => {
  const client = await connect(build(t))
  for (const [url] of lists) {
    for (const limit of ['1', '100', '500']) t.equal((await client.get(`${url}?limit=${limit}`)).status, 200, limit)
    for (const limit of [
      '0',
      '501',
      '-1',
      '1.5',
      '1.0',
      '1e1',
      '+5',
      '%2B5',
      ' 5',
      '5 ',
      '5,6',
      '٥',
      '99999999999999999999',
    ]) {
      const answer = await client.get(`${url}?limit=${encodeURI(limit)}`)
      refused(t, answer, 400, 'INVALID_QUERY_PARAMETER', 'limit', `${url} ${limit}`)
    }
  }
})

t.test('decisions §2: a cursor that this server did not issue is INVALID_CURSOR', async t => {
  const client = await connect(build(t))
  for (const [url] of lists) {
    for (const cursor of ['x', '0', 'null', '%00', 'e30', 'eyJhIjoxfQ', 'x'.repeat(5000), '%F0%9F%98%80']) {
      const answer = await client.get(`${url}?cursor=${cursor}`)
      refused(t, answer, 400, 'INVALID_CURSOR', 'cursor', `${url} ${cursor.slice(0, 20)}`)
    }
  }
})

t.test(
  'decisions §2: bad percent-encoding in the query is MALFORMED_REQUEST, in names and values, known or not',
  async t => {
    const client = await connect(build(t))
    for (const query of [
      'limit=%',
      'limit=%z',
      'limit=%zz',
      'a=%zz',
      '%zz=a',
      '%',
      'limit=10&b=%ff',
      'status=%c3%28',
      'x=%ed%a0%80',
    ]) {
      for (const [url] of lists) refused(t, await client.get(`${url}?${query}`), 400, 'MALFORMED_REQUEST', null, query)
      refused(t, await client.get(`/api/v1/mandates/MND-0001?${query}`), 400, 'MALFORMED_REQUEST', null, query)
      refused(t, await client.post(`/api/v1/mandates?${query}`, mandate()), 400, 'MALFORMED_REQUEST', null, query)
      const control = await call(client.app, 'GET', `/_sandbox/clock?${query}`)
      refused(t, control, 400, 'MALFORMED_REQUEST', null, `control plane ${query}`)
    }
    t.equal((await client.get('/api/v1/mandates')).body.totalCount, 0)
  },
)

t.test('decisions §1: query strings are text: encoded and plain spellings are one', async t => {
  const client = await connect(build(t))
  await client.post('/api/v1/mandates', mandate({ debtor: { ...mandate().debtor, reference: 'Jane Doe+1 é' } }))
  for (const value of ['Jane%20Doe%2B1%20%C3%A9', 'Jane+Doe%2B1+%c3%a9', '%4a%61ne+Doe%2b1+%C3%A9']) {
    t.equal((await client.get(`/api/v1/mandates?debtorReference=${value}`)).body.totalCount, 1, value)
  }
  t.equal((await client.get('/api/v1/mandates?%6Cimit=1&li%6Dit2=1')).status, 200)
})

// ------------------------------------------------------------------------------------------------------------- arrays

t.test(
  'decisions §1: array filters take both spellings, and mixed; duplicates count once; values are ORed',
  async t => {
    const client = await connect(build(t))
    await stock(client)
    await client.post(
      '/api/v1/direct-debit',
      collection({ collectionReference: 'COL-0002', debtorReference: 'SIM-FAILED' }),
    )
    await client.post('/api/v1/direct-debit', collection({ collectionReference: 'COL-0003' }))
    await client.control('POST', '/direct-debit/COL-0002/submit')
    await client.control('POST', '/direct-debit/COL-0003/cancel')
    const referencesOf = async (query: string) => {
      const { status, body } = await client.get(`/api/v1/direct-debit?${query}`)
      t.equal(status, 200, query)
      t.equal(body.totalCount, body.data.length)
      return body.data.map((record: { collectionReference: string }) => record.collectionReference).sort()
    }
    for (const query of [
      'status=PENDING&status=SUBMITTED',
      'status=PENDING,SUBMITTED',
      'status=PENDING%2CSUBMITTED',
      'status=SUBMITTED,PENDING',
      'status=PENDING,PENDING&status=SUBMITTED&status=PENDING',
      'status=PENDING&scheme=SEPA&status=SUBMITTED&scheme=SEPA,SEPA',
    ]) {
      t.same(await referencesOf(query), ['COL-0001', 'COL-0002'], query)
    }
    t.same(await referencesOf(Array.from({ length: 100 }, () => 'status=PENDING').join('&')), ['COL-0001'])
    t.same(await referencesOf(`status=${Array.from({ length: 500 }, () => 'CANCELLED').join(',')}`), ['COL-0003'])
    const every = 'PENDING,SUBMITTED,PROCESSING,SETTLED,FAILED,CANCELLED,RETURNED,REJECTED'
    t.same(await referencesOf(`status=${every}`), ['COL-0001', 'COL-0002', 'COL-0003'])
  },
)

t.test('decisions §1: one wrong or empty element refuses the filter', async t => {
  const client = await connect(build(t))
  for (const query of [
    'status=PENDING,',
    'status=,PENDING',
    'status=PENDING,,SETTLED',
    'status=,',
    'status=PENDING&status=',
    'status=&status=PENDING',
    'status=PENDING,X',
    'status=X&status=PENDING',
    'status=PENDING;SETTLED',
    'status=PENDING%20,SETTLED',
    'status=PENDING|SETTLED',
  ]) {
    const answer = await client.get(`/api/v1/direct-debit?${query}`)
    refused(t, answer, 400, 'INVALID_QUERY_PARAMETER', 'status', query)
  }
  refused(t, await client.get('/api/v1/direct-debit?scheme=SEPA,'), 400, 'INVALID_QUERY_PARAMETER', 'scheme')
  refused(t, await client.get('/api/v1/mandates?status=ACTIVE,SETTLED'), 400, 'INVALID_QUERY_PARAMETER', 'status')
  refused(t, await client.get('/api/v1/bills?status=OPEN,'), 400, 'INVALID_QUERY_PARAMETER', 'status')
})

t.test('decisions §1: bracket spellings are parameters that the interface does not name', async t => {
  const client = await connect(build(t))
  await stock(client)
  for (const query of [
    'status[]=SETTLED',
    'status[0]=SETTLED',
    'status%5B%5D=SETTLED',
    'limit[a]=0',
    'status.0=SETTLED',
  ]) {
    const answer = await client.get(`/api/v1/direct-debit?${query}`)
    t.same([answer.status, answer.body.totalCount], [200, 1], query)
    t.type(answer.headers[HINT], 'string')
  }
})

// -------------------------------------------------------------------------------------------------------------- hints

const ASCII = /^[\x20-\x7e]+$/

t.test('decisions §1: parameters that the interface does not name are ignored and hinted at by name', async t => {
  const client = await connect(build(t))
  const payoutLinkId = await stock(client)
  const before = await stateOf(client, payoutLinkId)
  for (const url of [
    ...lists.map(([url]) => url),
    '/api/v1/mandates/MND-0001',
    '/api/v1/direct-debit/COL-0001',
    '/api/v1/bills/INV-2026-001',
  ]) {
    const plain = await client.get(url)
    t.equal(plain.headers[HINT], undefined)
    const answer = await client.get(`${url}?colour=blue&page=2&page=3&LIMIT=0&sort=`)
    t.same([answer.status, answer.body], [plain.status, plain.body], url)
    const hints = String(answer.headers[HINT]).split('; ')
    t.match(answer.headers[HINT], ASCII)
    for (const name of ['colour', 'page', 'LIMIT', 'sort']) {
      t.equal(hints.filter(text => text.includes(name)).length, 1, `${name} has one hint`)
    }
  }
  t.same(await stateOf(client, payoutLinkId), before)
})

t.test('decisions §1: names as of JavaScript objects are parameters like others', async t => {
  const client = await connect(build(t))
  const names = ['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString', 'valueOf', '__defineGetter__']
  for (const [url] of lists) {
    for (const name of names) {
      for (const query of [`${name}=1`, `${name}=1&${name}=2`, `${name}[x]=1`, `${name}.x=1`]) {
        const answer = await client.get(`${url}?${query}`)
        t.equal(answer.status, 200, `${url}?${query}`)
        t.match(answer.headers[HINT], name)
      }
    }
  }
  t.equal(({} as Record<string, unknown>).x, undefined)
})

t.test('decisions §1: 100 unknown parameters change nothing, and the hint stays a header', async t => {
  const client = await connect(build(t))
  const different = Array.from({ length: 100 }, (_, at) => `p${at}=1`).join('&')
  const same = Array.from({ length: 100 }, () => 'p=1').join('&')
  for (const query of [different, same]) {
    const answer = await client.get(`/api/v1/mandates?${query}`)
    t.equal(answer.status, 200)
    t.match(answer.headers[HINT], ASCII)
    t.ok(String(answer.headers[HINT]).length < 8192)
  }
})

t.test('decisions §1: a hint is ASCII on one line, whatever the name, and a name adds no hint of its own', async t => {
  const client = await connect(build(t))
  for (const name of [
    'a%0d%0aSet-Cookie:x=1',
    '%00',
    '%C3%A9t%C3%A9',
    '%F0%9F%98%80',
    'a%3B%20b',
    'a;%20b',
    '%7F',
    'x'.repeat(3000),
  ]) {
    const answer = await client.get(`/api/v1/mandates?${name}=1`)
    t.equal(answer.status, 200, name.slice(0, 30))
    t.match(answer.headers[HINT], ASCII)
    t.equal(answer.headers['set-cookie'], undefined)
    t.equal(String(answer.headers[HINT]).split('; ').length, 1, 'one hint')
    t.ok(String(answer.headers[HINT]).length < 200)
  }
})

t.test(
  'decisions §1: members that the interface does not name are ignored, not stored, hinted at by their path',
  async t => {
    const plain = await connect(build(t))
    const client = await connect(build(t))
    const { debtor, creditor } = mandate()
    const unknown = {
      colour: 'blue',
      status: 'CANCELLED',
      createdAt: '2020-01-01T00:00:00Z',
      debtor: { ...debtor, nickname: 'J' },
      creditor: { ...creditor, bankIdentifier: { ...creditor.bankIdentifier, country: { deep: [] } } },
    }
    const wanted = await plain.post('/api/v1/mandates', mandate())
    const created = await client.post('/api/v1/mandates', mandate(unknown))
    t.same([created.status, created.body], [wanted.status, wanted.body])
    t.same((await client.get('/api/v1/mandates/MND-0001')).body, wanted.body)
    t.same(
      (await client.control('GET', '/mandates/MND-0001')).body,
      (await plain.control('GET', '/mandates/MND-0001')).body,
    )
    t.match(created.headers[HINT], ASCII)
    const hints = String(created.headers[HINT]).split('; ')
    t.equal(hints.length, 5)
    for (const path of ['colour', 'status', 'createdAt', 'debtor.nickname', 'creditor.bankIdentifier.country']) {
      t.equal(hints.filter(text => text.includes(path)).length, 1, path)
    }
    t.equal(wanted.headers[HINT], undefined)
  },
)

t.test('decisions §1: so are those of records in a list', async t => {
  const client = await connect(build(t))
  const records = { mandates: [mandate(), mandate({ mandateReference: 'MND-0002', colour: 'blue' })] }
  const answer = await client.control('POST', '/seed', { records })
  t.equal(answer.status, 200)
  t.match(answer.headers[HINT], /mandates.*1.*colour/)
  const { data } = (await client.get('/api/v1/mandates')).body
  t.same([data.length, data.some((record: object) => 'colour' in record)], [2, false])
})

t.test('decisions §1: unknown members are hinted at by every operation that takes JSON', async t => {
  const client = await connect(build(t))
  const payoutLinkId = await stock(client)
  for (const [method, url, body] of [
    ['POST', '/api/v1/mandates', mandate({ mandateReference: 'MND-0002' })],
    ['POST', '/api/v1/direct-debit', collection({ collectionReference: 'COL-0002' })],
    ['POST', '/api/v1/bills', bill({ uniqueReferenceIdentifier: 'INV-2' })],
    ['POST', '/api/v1/payout-links', { amount: '1', currency: 'EUR', payoutMethod: 'SEPA-CT' }],
    ['PATCH', `/api/v1/payout-links/${payoutLinkId}/cancel`, { cancellationComment: 'x' }],
    ['PATCH', '/api/v1/bills/INV-2026-001', { dueDate: '2026-12-24' }],
    ['PATCH', '/api/v1/counterparties/CPTY-0001', { remarks: 'x' }],
  ] as const) {
    const answer = await client.send(method, url, { body: { ...body, mode2: 1 } })
    t.ok(answer.status < 300, `${method} ${url}: ${answer.status}`)
    t.match(answer.headers[HINT], /mode2/)
  }
})

t.test('decisions §1: an unknown member whose value is strange is ignored like another', async t => {
  for (const value of ['null', '[]', '{}', '[[[{}]]]', '1e999', '""', `"${'x'.repeat(900_000)}"`]) {
    const client = await connect(build(t))
    const text = JSON.stringify(mandate())
    const answer = await client.post('/api/v1/mandates', `${text.slice(0, -1)},"extra":${value}}`)
    t.equal(answer.status, 201, value.slice(0, 20))
    t.match(answer.headers[HINT], /extra/)
  }
})

t.test('decisions §1: an unknown member does not save a body from what it lacks', async t => {
  const client = await connect(build(t))
  await stock(client)
  refused(t, await client.patch('/api/v1/bills/INV-2026-001', { colour: 'x' }), 400, 'MISSING_FIELD', null)
  refused(t, await client.patch('/api/v1/counterparties/CPTY-0001', { Remarks: 'x' }), 400, 'MISSING_FIELD', null)
  const wrong = await client.post('/api/v1/mandates', { MandateReference: 'MND-0002' })
  refused(t, wrong, 400, 'MISSING_FIELD', 'mandateReference')
})

t.test('decisions §1: a reference above 35 characters is hinted at, and nothing else changes', async t => {
  const client = await connect(build(t))
  for (const [length, isHinted] of [
    [35, false],
    [36, true],
    [50, true],
  ] as const) {
    const mandateReference = `M${'x'.repeat(length - 1)}`
    const collectionReference = `C${'x'.repeat(length - 1)}`
    const created = await client.post('/api/v1/mandates', mandate({ mandateReference }))
    t.same([created.status, created.body.mandateReference], [201, mandateReference])
    const collected = await client.post('/api/v1/direct-debit', collection({ mandateReference, collectionReference }))
    t.same([collected.status, collected.body.collectionReference], [201, collectionReference])
    for (const answer of [created, collected]) {
      if (isHinted) t.match(answer.headers[HINT], /35/)
      else t.equal(answer.headers[HINT], undefined)
    }
  }
})

t.test('decisions §1: bounds that cross answer 200 with no records and a hint', async t => {
  const client = await connect(build(t))
  await stock(client)
  for (const [query, names] of [
    ['amountMin=11&amountMax=10', ['amountMin', 'amountMax']],
    ['amountMin=10.51&amountMax=10.5', ['amountMin', 'amountMax']],
    ['initiatedFrom=2026-11-02T09:00:01Z&initiatedTo=2026-11-02T09:00:00Z', ['initiatedFrom', 'initiatedTo']],
  ] as const) {
    const answer = await client.get(`/api/v1/direct-debit?${query}`)
    t.same([answer.status, answer.body], [200, { totalCount: 0, hasMore: false, nextCursor: null, data: [] }], query)
    for (const name of names) t.match(answer.headers[HINT], name)
  }
  for (const query of [
    'amountMin=10.5&amountMax=10.50',
    'initiatedFrom=2026-11-02T09:00:00Z&initiatedTo=2026-11-02T09:00:00Z',
  ]) {
    const answer = await client.get(`/api/v1/direct-debit?${query}`)
    t.same([answer.body.totalCount, answer.headers[HINT]], [1, undefined], query)
  }
})

t.test('decisions §1: a collection date that was moved is hinted at; several hints are separated by "; "', async t => {
  const client = await connect(build(t))
  await stock(client)
  const collectionReference = 'C'.repeat(36)
  const answer = await client.post(
    '/api/v1/direct-debit?extra=1',
    collection({ collectionReference, collectionDate: '2026-11-14', other: 1 }),
  )
  t.same([answer.status, answer.body.collectionDate], [201, '2026-11-16'])
  t.match(answer.headers[HINT], ASCII)
  const hints = String(answer.headers[HINT]).split('; ')
  t.equal(hints.length, 4)
  for (const word of ['extra', 'other', '35', '2026-11-16']) {
    t.equal(hints.filter(text => text.includes(word)).length, 1, word)
  }
})

t.test('decisions §1: a refused request stays refused, hints or not', async t => {
  const client = await connect(build(t))
  refused(t, await client.get('/api/v1/mandates?colour=blue&limit=0'), 400, 'INVALID_QUERY_PARAMETER', 'limit')
  refused(t, await client.get('/api/v1/mandates/UNKNOWN?colour=blue'), 404, 'MANDATE_NOT_FOUND', 'mandateReference')
  refused(t, await client.post('/api/v1/mandates', { colour: 1 }), 400, 'MISSING_FIELD', 'mandateReference')
})

t.test('decisions §1: the control plane and the token endpoint hint, too', async t => {
  const app = build(t)
  const clock = await call(app, 'GET', '/_sandbox/clock?colour=blue')
  t.equal(clock.status, 200)
  t.match(clock.headers[HINT], /colour/)
  const token = await call(app, 'POST', '/api/v1/oauth/token?colour=blue', {
    body: 'client_id=acme&client_secret=secret&grant_type=client_credentials&scope=all',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  t.equal(token.status, 200)
  t.match(token.headers[HINT], /colour/)
  t.match(token.headers[HINT], /scope/)
})
