import t from 'tap'
import { holds, invalid, malformed, missing, refusesValues, table } from '../answers.js'
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

t.test('control plane, PATCH /clock: freezes, resumes and sets a rate of 1 to 86400', async t => {
  let real = Date.parse('2026-11-02T09:00:00.900Z')
  const client = await connect(build(t, { clock: 'real', now: () => real }))
  t.same(await client.read('/clock'), { now: MONDAY, mode: 'running', rate: 1 }, 'settings, SANDBOX_CLOCK: real')
  const patch = async (change: object) => {
    const { body } = await client.control('PATCH', '/clock', change)
    real += 60_000
    return body
  }
  t.same(await patch({ mode: 'frozen' }), { now: MONDAY, mode: 'frozen', rate: 1 })
  t.same(await patch({ rate: 60 }), { now: MONDAY, mode: 'frozen', rate: 60 }, 'a frozen clock keeps it until then')
  t.same(await patch({ mode: 'running' }), { now: MONDAY, mode: 'running', rate: 60 })
  t.same(await patch({ rate: 86_400 }), { now: '2026-11-02T10:00:00Z', mode: 'running', rate: 86_400 })
  t.same(await patch({ rate: 1 }), { now: '2027-01-01T10:00:00Z', mode: 'running', rate: 1 })
  t.equal((await client.read('/clock')).now, '2027-01-01T10:01:00Z')
})

t.test('control plane, POST /clock/advance: lists the first 10,000 transitions and counts the others', async t => {
  const client = await newClient()
  const collections = Array.from({ length: 3334 }, (_, n) => collection({ collectionReference: `COL-${10_000 + n}` }))
  await client.control('POST', '/seed', { records: { mandates: [mandate()], collections } })
  const { body } = await client.control('POST', '/clock/advance', { by: 'P10D' })
  t.same([body.transitions.length, body.omitted], [10_000, 2])
  t.match(body.transitions.at(-1), { to: 'SETTLED', reference: 'COL-13331' })
  const events = await client.read('/events?after=13330&kind=collection')
  t.match(events.data.at(-1), { to: 'SETTLED', reference: 'COL-13333' }, 'they have happened')
})

t.test('control plane, PATCH /clock: wrong values are refused and change nothing', async t => {
  const client = await newClient()
  const send = (body: object) => client.control('PATCH', '/clock', body)
  const wrong = { rate: [0, -1, 86_401, 1.5, '2', null], mode: ['paused', 'Frozen', 1, null] }
  await refusesValues(t, send, { mode: 'running', rate: 2 }, wrong)
  await table(t, send, { [missing(null)]: [{}, undefined], [malformed(null)]: ['{"mode":'], [invalid(null)]: ['[]'] })
  t.same(await client.read('/clock'), { now: MONDAY, mode: 'frozen', rate: 1 })
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
  await holds(t, cases, async step => (await client.control('POST', '/clock/advance', step)).body.now)
})

t.test('control plane, POST /clock/advance: the transitions are the events, also more than a page of them', async t => {
  const client = await newClient()
  const collections = Array.from({ length: 334 }, (_, at) => collection({ collectionReference: `COL-${at}` }))
  await client.control('POST', '/seed', { records: { mandates: [mandate()], collections } })
  let after = (await client.read('/events')).last
  const { transitions } = (await client.control('POST', '/clock/advance', { by: 'P30D' })).body
  t.equal(transitions.length, 1002)
  const events = []
  for (let page = 0; page < 2; page++) {
    const { data, last } = await client.read(`/events?after=${after}`)
    events.push(...data)
    after = last
  }
  t.same(
    transitions,
    events.map(({ seq, cause, ...change }) => change),
  )
})

t.test('control plane, POST /clock/advance: in the order of due times, then in that of creation', async t => {
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
})

t.test('control plane, POST /clock/advance: a transition tells its reason code', async t => {
  const client = await newClient()
  await client.post('/api/v1/mandates', mandate())
  await withCollection(client, { debtorReference: 'SIM-REJECTED-AC01' })
  const { transitions } = (await client.advance({ by: 'P14D' })).body
  t.same(transitions, [LIFE_OF_COL_0001[0], { ...LIFE_OF_COL_0001[1], to: 'REJECTED', reasonCode: 'AC01' }])
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
  t.same(
    (await client.control('POST', '/clock/advance', { toNextEvent: true })).body,
    { now: '2029-11-05T15:00:00Z', transitions: [] },
    'it stays',
  )
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
      by: ['P1M', 'P1Y', 'P', '-P1D', 'P1.5D', 'P1D ', 86_400, null, '', `P${'9'.repeat(30)}D`],
      to: ['2026-11-02T08:59:59Z', ...offsets, '2026-12-01t00:00:00z', '2026-02-30T00:00:00Z', 1_800_000_000, null],
    },
  )
  t.equal((await client.read('/clock')).now, MONDAY)
})

t.test('control plane, POST /clock/advance: the clock ends with the last moment that can be written', async t => {
  const client = await newClient()
  const last = '9999-12-31T23:59:59Z'
  t.equal((await client.control('POST', '/clock/advance', { to: last })).body.now, last)
  await refusesValues(t, step => client.control('POST', '/clock/advance', step), {}, { by: ['PT1S', 'P3000000D'] })
  t.equal((await client.read('/clock')).now, last)
})

t.test('control plane, POST /clock/advance: toNextEvent does not pass the end of the clock', async t => {
  const client = await connect(build(t, { clock: '9998-01-05T09:00:00Z' }))
  // It would expire in the year 10001.
  await client.post('/api/v1/mandates', mandate())
  await client.control('POST', '/clock/advance', { toNextEvent: true })
  const { now } = await client.read('/clock')
  t.equal((await client.control('POST', '/clock/advance', { to: now })).status, 200, `${now} can be written`)
})

t.test('control plane, Skip to payday: due transitions happen with a frozen clock, too', async t => {
  const client = await newClient()
  await client.control('POST', '/seed', {
    records: { mandates: [mandate({ status: 'ACTIVE', createdAt: '2020-01-01T00:00:00Z' })] },
  })
  t.equal((await client.get('/api/v1/mandates/MND-0001')).body.status, 'EXPIRED', 'decisions §7: 36 months are over')
})
