import t from 'tap'
import { invalid, malformed, missing, refusesValues, table } from '../answers.js'
import type { Client } from '../helper.js'
import { build, collection, connect, MONDAY, mandate, newClient, payoutLink } from '../helper.js'

async function withCollection(client: Client, changes: object = {}) {
  const answer = await client.post('/api/v1/direct-debit', collection(changes))
  if (answer.status !== 201) throw new Error(answer.body.message)
}

const LIFE_OF_COL_0001 = [
  { at: '2026-11-05T15:00:00Z', kind: 'collection', reference: 'COL-0001', from: 'PENDING', to: 'SUBMITTED' },
  { at: '2026-11-06T08:00:00Z', kind: 'collection', reference: 'COL-0001', from: 'SUBMITTED', to: 'PROCESSING' },
  { at: '2026-11-09T13:00:00Z', kind: 'collection', reference: 'COL-0001', from: 'PROCESSING', to: 'SETTLED' },
]

t.test('control plane, GET /clock: now, mode and rate', async t => {
  const client = await newClient()
  const answer = await client.control('GET', '/clock')
  t.equal(answer.status, 200)
  t.same(answer.body, { now: MONDAY, mode: 'frozen', rate: 1 })
  t.match(answer.headers['content-type'], /^application\/json/)
})

t.test('settings, SANDBOX_CLOCK: real: a tenant starts at the real time, running', async t => {
  let real = Date.parse('2026-11-02T09:00:00.900Z')
  const client = await connect(build(t, { clock: 'real', now: () => real }))
  t.same((await client.control('GET', '/clock')).body, { now: MONDAY, mode: 'running', rate: 1 })
  real += 90_000
  t.equal((await client.control('GET', '/clock')).body.now, '2026-11-02T09:01:30Z')
})

t.test('control plane, PATCH /clock: freezes and resumes; a frozen clock keeps its rate until then', async t => {
  let real = Date.parse(MONDAY)
  const client = await connect(build(t, { clock: 'real', now: () => real }))
  t.same((await client.control('PATCH', '/clock', { mode: 'frozen' })).body, { now: MONDAY, mode: 'frozen', rate: 1 })
  real += 60_000
  t.same((await client.control('PATCH', '/clock', { rate: 60 })).body, { now: MONDAY, mode: 'frozen', rate: 60 })
  real += 60_000
  const resumed = await client.control('PATCH', '/clock', { mode: 'running' })
  t.same([resumed.status, resumed.body], [200, { now: MONDAY, mode: 'running', rate: 60 }])
  real += 5000
  t.equal((await client.control('GET', '/clock')).body.now, '2026-11-02T09:05:00Z')
})

t.test('control plane, POST /clock/advance: lists the first 10,000 transitions and counts the others', async t => {
  const client = await newClient()
  const mandates = [mandate()]
  const collections = Array.from({ length: 3334 }, (_, n) => collection({ collectionReference: `COL-${10_000 + n}` }))
  const { status } = await client.control('POST', '/seed', { records: { mandates, collections } })
  t.equal(status, 200)
  const { body: first } = await client.control('POST', '/clock/advance', { to: '2026-11-06T08:00:00Z' })
  t.equal(first.transitions.length, 6668)
  t.notOk('omitted' in first)
  const client2 = await connect(client.app, 'beta')
  await client2.control('POST', '/seed', { records: { mandates, collections } })
  const { body } = await client2.control('POST', '/clock/advance', { by: 'P10D' })
  t.equal(body.transitions.length, 10_000)
  t.equal(body.omitted, 2)
  t.match(body.transitions.at(-1), { to: 'SETTLED', reference: 'COL-13331' })
  const { body: events } = await client2.control('GET', '/events?after=13330&kind=collection')
  t.match(events.data.at(-1), { to: 'SETTLED', reference: 'COL-13333' }, 'they have happened')
})

t.test('control plane, PATCH /clock: the rate is tenant-seconds per second, 1 to 86400', async t => {
  let real = Date.parse(MONDAY)
  const client = await connect(build(t, { clock: 'real', now: () => real }))
  t.same((await client.control('PATCH', '/clock', { rate: 86_400 })).body, {
    now: MONDAY,
    mode: 'running',
    rate: 86_400,
  })
  real += 2000
  t.equal((await client.control('GET', '/clock')).body.now, '2026-11-04T09:00:00Z')
  t.equal((await client.control('PATCH', '/clock', { rate: 1 })).body.rate, 1)
  real += 2000
  t.equal((await client.control('GET', '/clock')).body.now, '2026-11-04T09:00:02Z')
})

t.test('control plane, PATCH /clock: wrong values are refused and change nothing', async t => {
  const client = await newClient()
  const send = (body: object) => client.control('PATCH', '/clock', body)
  await refusesValues(
    t,
    send,
    { mode: 'running', rate: 2 },
    {
      rate: [0, -1, 86_401, 1.5, '2', null, true, [1]],
      mode: ['paused', 'Frozen', 1, null],
    },
  )
  await table(t, send, { [missing(null)]: [{}, undefined], [malformed(null)]: ['{"mode":'], [invalid(null)]: ['[]'] })
  t.same((await client.control('GET', '/clock')).body, { now: MONDAY, mode: 'frozen', rate: 1 })
})

t.test('control plane, POST /clock/advance: by a duration, or to a moment', async t => {
  const client = await newClient()
  const cases = [
    [{ by: 'P3D' }, '2026-11-05T09:00:00Z'],
    [{ by: 'PT90M' }, '2026-11-05T10:30:00Z'],
    [{ by: 'p1dt1s' }, '2026-11-06T10:30:01Z'],
    [{ by: 'P1W' }, '2026-11-13T10:30:01Z'],
    [{ by: 'PT0S' }, '2026-11-13T10:30:01Z'],
    [{ to: '2028-02-29T23:59:59Z' }, '2028-02-29T23:59:59Z'],
    [{ to: '2028-02-29T23:59:59Z' }, '2028-02-29T23:59:59Z'],
  ] as const
  const seen = []
  for (const [step] of cases) seen.push([step, (await client.control('POST', '/clock/advance', step)).body])
  t.same(
    seen,
    cases.map(([step, now]) => [step, { now, transitions: [] }]),
  )
  t.equal((await client.control('GET', '/clock')).body.now, '2028-02-29T23:59:59Z')
})

t.test(
  'control plane, POST /clock/advance: a running clock runs on from there, and keeps its fraction of a second',
  async t => {
    let real = Date.parse(MONDAY)
    const client = await connect(build(t, { clock: 'real', now: () => real }))
    real += 500
    t.equal((await client.control('POST', '/clock/advance', { by: 'P1D' })).body.now, '2026-11-03T09:00:00Z')
    real += 499
    t.equal((await client.control('GET', '/clock')).body.now, '2026-11-03T09:00:00Z')
    real += 1
    t.equal((await client.control('GET', '/clock')).body.now, '2026-11-03T09:00:01Z')
  },
)

t.test('control plane, POST /clock/advance: every due transition happens at its own due time, in order', async t => {
  const client = await newClient()
  await client.post('/api/v1/mandates', mandate())
  await withCollection(client)
  const answer = await client.advance({ by: 'P14D' })
  t.same(answer.body, { now: '2026-11-16T09:00:00Z', transitions: LIFE_OF_COL_0001 })
  t.match((await client.get('/api/v1/direct-debit/COL-0001')).body, {
    status: 'SETTLED',
    initiatedAt: MONDAY,
    updatedAt: '2026-11-09T13:00:00Z',
  })
})

t.test('control plane, POST /clock/advance: the transitions are the events, also more than a page of them', async t => {
  const client = await newClient()
  const collections = Array.from({ length: 334 }, (_, at) => collection({ collectionReference: `COL-${at}` }))
  await client.control('POST', '/seed', { records: { mandates: [mandate()], collections } })
  let after = (await client.control('GET', '/events')).body.last
  const { transitions } = (await client.control('POST', '/clock/advance', { by: 'P30D' })).body
  t.equal(transitions.length, 1002)
  const events = []
  for (let page = 0; page < 2; page++) {
    const { data, last } = (await client.control('GET', `/events?after=${after}`)).body
    events.push(...data)
    after = last
  }
  t.same(
    transitions,
    events.map(({ seq, cause, ...change }) => change),
  )
})

t.test(
  'control plane, POST /clock/advance: in the order of due times, and at one moment in that of creation',
  async t => {
    const client = await newClient()
    await client.post('/api/v1/mandates', mandate())
    for (const name of ['COL-C', 'COL-A'])
      await withCollection(client, { collectionReference: name, collectionDate: '2026-11-10' })
    const link = (await client.post('/api/v1/payout-links', payoutLink({ expiryPeriod: 'P4D' }))).body.payoutLinkId
    await withCollection(client, { collectionReference: 'COL-EARLY', collectionDate: '2026-11-09' })
    const { transitions } = (await client.advance({ to: '2026-11-06T15:00:00Z' })).body
    t.same(
      transitions.map(({ at, reference, to }: Record<string, string>) => `${at} ${reference} ${to}`),
      [
        '2026-11-05T15:00:00Z COL-EARLY SUBMITTED',
        '2026-11-06T08:00:00Z COL-EARLY PROCESSING',
        `2026-11-06T09:00:00Z ${link} EXPIRED`,
        '2026-11-06T15:00:00Z COL-C SUBMITTED',
        '2026-11-06T15:00:00Z COL-A SUBMITTED',
      ],
    )
  },
)

t.test('control plane, POST /clock/advance: a transition tells its reason code', async t => {
  const client = await newClient()
  await client.post('/api/v1/mandates', mandate())
  await withCollection(client, { debtorReference: 'SIM-REJECTED-AC01' })
  const { transitions } = (await client.advance({ by: 'P14D' })).body
  t.same(transitions, [
    LIFE_OF_COL_0001[0],
    {
      at: '2026-11-06T08:00:00Z',
      kind: 'collection',
      reference: 'COL-0001',
      from: 'SUBMITTED',
      to: 'REJECTED',
      reasonCode: 'AC01',
    },
  ])
})

t.test('control plane, POST /clock/advance: toNextEvent goes to the next due transition, and no further', async t => {
  const client = await newClient()
  await client.post('/api/v1/mandates', mandate())
  await withCollection(client)
  for (const transition of LIFE_OF_COL_0001) {
    t.same((await client.control('POST', '/clock/advance', { toNextEvent: true })).body, {
      now: transition.at,
      transitions: [transition],
    })
  }
  // Decisions §7: 36 months after the collection was presented to the scheme.
  t.same((await client.control('POST', '/clock/advance', { toNextEvent: true })).body, {
    now: '2029-11-05T15:00:00Z',
    transitions: [
      { at: '2029-11-05T15:00:00Z', kind: 'mandate', reference: 'MND-0001', from: 'ACTIVE', to: 'EXPIRED' },
    ],
  })
})

t.test('control plane, POST /clock/advance: toNextEvent stays where nothing is to come', async t => {
  const client = await newClient()
  const answer = await client.control('POST', '/clock/advance', { toNextEvent: true })
  t.equal(answer.status, 200)
  t.same(answer.body, { now: MONDAY, transitions: [] })
})

t.test('control plane, POST /clock/advance: exactly one of by, to and toNextEvent; forward only', async t => {
  const client = await newClient()
  const send = (step: object) => client.control('POST', '/clock/advance', step)
  const later = '2026-12-01T00:00:00Z'
  await table(t, send, {
    [missing(null)]: [{}, undefined],
    [malformed(null)]: [
      { by: 'P1D', to: later },
      { by: 'P1D', toNextEvent: true },
      { to: later, toNextEvent: true },
    ],
  })
  const offsets = ['2026-12-01', '2026-12-01T00:00:00', '2026-12-01T00:00:00.000Z', '2026-12-01T00:00:00+00:00']
  await refusesValues(
    t,
    send,
    {},
    {
      toNextEvent: [false, 'true', 1, null],
      by: [
        'P1M',
        'P1Y',
        'P',
        'PT',
        '-P1D',
        'P-1D',
        '1D',
        'P1.5D',
        'P1D ',
        ' P1D',
        86_400,
        null,
        '',
        `P${'9'.repeat(30)}D`,
      ],
      to: ['2026-11-02T08:59:59Z', ...offsets, '2026-12-01t00:00:00z', '2026-02-30T00:00:00Z', 1_800_000_000, null],
    },
  )
  t.equal((await client.control('GET', '/clock')).body.now, MONDAY)
})

t.test('control plane, POST /clock/advance: the clock ends with the last moment that can be written', async t => {
  const client = await newClient()
  const last = '9999-12-31T23:59:59Z'
  t.equal((await client.control('POST', '/clock/advance', { to: last })).body.now, last)
  await refusesValues(t, step => client.control('POST', '/clock/advance', step), {}, { by: ['PT1S', 'P3000000D'] })
  t.equal((await client.control('GET', '/clock')).body.now, last)
})

t.test('control plane, POST /clock/advance: toNextEvent does not pass the end of the clock', async t => {
  const client = await connect(build(t, { clock: '9998-01-05T09:00:00Z' }))
  // It would expire in the year 10001.
  await client.post('/api/v1/mandates', mandate())
  await client.control('POST', '/clock/advance', { toNextEvent: true })
  const { now } = (await client.control('GET', '/clock')).body
  t.equal((await client.control('POST', '/clock/advance', { to: now })).status, 200, `${now} can be written`)
})

t.test('decisions §3: each tenant has its own clock', async t => {
  const app = build(t)
  const [acme, other] = [await connect(app, 'acme'), await connect(app, 'other')]
  await acme.advance({ by: 'P1D' })
  t.equal((await other.control('GET', '/clock')).body.now, MONDAY)
  t.equal((await acme.control('GET', '/clock')).body.now, '2026-11-03T09:00:00Z')
})

t.test('control plane, Skip to payday: due transitions happen with a frozen clock, too', async t => {
  const client = await newClient()
  await client.control('POST', '/seed', {
    records: { mandates: [mandate({ status: 'ACTIVE', createdAt: '2020-01-01T00:00:00Z' })] },
  })
  t.equal((await client.get('/api/v1/mandates/MND-0001')).body.status, 'EXPIRED', 'decisions §7: 36 months are over')
})

// ------------------------------------------------------------------------------------------------------- one year

const DAY = 86_400_000
/** Decisions §6, for November 2026 to December 2027; what falls on weekends is left out. */
const HOLIDAYS = ['2026-12-25', '2027-01-01', '2027-03-26', '2027-03-29']
const isOpen = (day: number) =>
  ![0, 6].includes(new Date(day).getUTCDay()) && !HOLIDAYS.includes(new Date(day).toISOString().slice(0, 10))

function openDayBefore(day: number, count: number) {
  let left = count
  let found = day
  while (left > 0) {
    found -= DAY
    if (isOpen(found)) left--
  }
  return found
}

/** Summer time in Berlin is from 28 March to 31 October 2027. */
function berlin(day: number, hour: number) {
  const date = new Date(day).toISOString().slice(0, 10)
  const offset = date >= '2027-03-28' && date < '2027-10-31' ? 2 : 1
  return `${date}T${String(hour - offset).padStart(2, '0')}:00:00Z`
}

/** Five mandates with a collection on the 15th of each of twelve months, and the transitions that follow. */
async function aYear(client: Client) {
  const expected: { at: string; kind: string; reference: string; from: string; to: string }[] = []
  for (let number = 1; number <= 5; number++) {
    await client.post('/api/v1/mandates', mandate({ mandateReference: `MND-000${number}` }))
  }
  for (let month = 0; month < 12; month++) {
    let day = Date.UTC(2026, 10 + month, 15)
    while (!isOpen(day)) day += DAY
    for (let number = 1; number <= 5; number++) {
      const reference = `COL-${month}-${number}`
      const collectionDate = new Date(day).toISOString().slice(0, 10)
      await withCollection(client, {
        collectionReference: reference,
        mandateReference: `MND-000${number}`,
        collectionDate,
      })
      const change = { kind: 'collection', reference }
      expected.push(
        { at: berlin(openDayBefore(day, 2), 16), ...change, from: 'PENDING', to: 'SUBMITTED' },
        { at: berlin(openDayBefore(day, 1), 9), ...change, from: 'SUBMITTED', to: 'PROCESSING' },
        { at: berlin(day, 14), ...change, from: 'PROCESSING', to: 'SETTLED' },
      )
    }
  }
  return expected.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
}

t.test(
  'control plane, POST /clock/advance: a year in one step, in many, or from event to event is the same',
  async t => {
    const app = build(t)
    const clients = [await connect(app, 'one'), await connect(app, 'many'), await connect(app, 'events')] as const
    const [expected = []] = [await aYear(clients[0]), await aYear(clients[1]), await aYear(clients[2])]
    t.equal(expected.length, 180)
    const steps = [
      [{ by: 'P365D' }],
      Array(73).fill({ by: 'P5D' }),
      [
        ...Array(new Set(expected.map(({ at }) => at)).size).fill({ toNextEvent: true }),
        { to: '2027-11-02T09:00:00Z' },
      ],
    ]
    for (const [at, client] of clients.entries()) {
      const transitions: unknown[] = []
      let now = ''
      for (const step of steps[at] as object[]) {
        const { body } = await client.control('POST', '/clock/advance', step)
        transitions.push(...body.transitions)
        now = body.now
      }
      t.same([now, transitions], ['2027-11-02T09:00:00Z', expected], client.clientId)
    }
  },
)
