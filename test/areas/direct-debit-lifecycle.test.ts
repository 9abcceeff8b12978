import t from 'tap'
import type { Answer, Client } from '../helper.js'
import { build, collection, connect, MONDAY, mandate, requestToken } from '../helper.js'

const PATH = '/api/v1/direct-debit'

/** A client with the collection COL-0001 under the mandate MND-0001. */
async function open(t: Parameters<typeof build>[0], { clock = MONDAY, changes = {} } = {}) {
  const client = await connect(build(t, { clock }))
  await client.post('/api/v1/mandates', mandate())
  const created = await client.post(PATH, collection(changes))
  if (created.status !== 201) throw new Error(`not created: ${created.body.message}`)
  return client
}

const refusal = ({ status, body }: Answer) => ({ status, code: body.code, field: body.field })
const read = async (client: Client, reference = 'COL-0001') => (await client.get(`${PATH}/${reference}`)).body
const explain = async (client: Client, reference = 'COL-0001') =>
  (await client.control('GET', `/direct-debit/${reference}`)).body
const move = (client: Client, verb: string, body?: object, reference = 'COL-0001') =>
  client.control('POST', `/direct-debit/${reference}/${verb}`, body)

const secondsBefore = (instant: string, seconds = 1) =>
  `${new Date(Date.parse(instant) - seconds * 1000).toISOString().slice(0, 19)}Z`

interface Transition {
  at: string
  kind: string
  reference: string
  from: string | null
  to: string
  reasonCode?: string
}

/** The states that a collection went through in an advance: `PENDING > SUBMITTED > …`. */
function pathOf(transitions: Transition[], reference: string) {
  const own = transitions.filter(transition => transition.reference === reference)
  return [own[0]?.from, ...own.map(({ to }) => to)].join(' > ')
}

/** How control verbs lead to each state. */
const WAY: Record<string, string[]> = {
  PENDING: [],
  SUBMITTED: ['submit'],
  PROCESSING: ['submit', 'process'],
  SETTLED: ['submit', 'process', 'settle'],
  FAILED: ['submit', 'process', 'fail'],
  CANCELLED: ['cancel'],
  RETURNED: ['submit', 'process', 'settle', 'return'],
  REJECTED: ['submit', 'reject'],
}

/** The table of decisions §6 as verbs of the control plane. */
const LEGAL: Record<string, Record<string, string>> = {
  PENDING: { submit: 'SUBMITTED', fail: 'FAILED', cancel: 'CANCELLED' },
  SUBMITTED: { process: 'PROCESSING', reject: 'REJECTED' },
  PROCESSING: { settle: 'SETTLED', fail: 'FAILED', reject: 'REJECTED' },
  SETTLED: { return: 'RETURNED' },
  FAILED: {},
  CANCELLED: {},
  RETURNED: {},
  REJECTED: {},
}

const VERBS = ['submit', 'process', 'settle', 'fail', 'reject', 'return', 'cancel']

const CLEARING = ['FF01', 'AC01', 'RC01', 'AG02', 'BE05', 'AM05', 'MD02', 'CNOR', 'DNOR']
const BANK = ['AC04', 'AC06', 'AG01', 'AM04', 'MD01', 'MD07', 'MS02', 'MS03', 'RR01', 'RR02', 'RR03', 'RR04', 'SL01']
/** Those that the table names; its "…" leaves open which others the bank may return with. */
const RETURN = ['AC04', 'AC06', 'AG01', 'AM04', 'MD07', 'MS02', 'MS03', 'SL01']

async function lead(client: Client, status: string, reference = 'COL-0001') {
  for (const verb of WAY[status] as string[]) await move(client, verb, undefined, reference)
}

// ------------------------------------------------------------------------------------------------------------ time

t.test(
  'decisions §6: SUBMITTED at D-2 16:00, PROCESSING at D-1 09:00, SETTLED at D 14:00, Berlin, open days',
  async t => {
    const cases = [
      {
        title: 'winter',
        clock: MONDAY,
        collectionDate: '2026-11-09',
        times: ['2026-11-05T15:00:00Z', '2026-11-06T08:00:00Z', '2026-11-09T13:00:00Z'],
      },
      {
        title: 'summer',
        clock: '2026-07-06T08:00:00Z',
        collectionDate: '2026-07-16',
        times: ['2026-07-14T14:00:00Z', '2026-07-15T07:00:00Z', '2026-07-16T12:00:00Z'],
      },
      {
        title: 'from summer to winter time',
        clock: '2026-10-19T08:00:00Z',
        collectionDate: '2026-10-27',
        times: ['2026-10-23T14:00:00Z', '2026-10-26T08:00:00Z', '2026-10-27T13:00:00Z'],
      },
      {
        title: 'from winter to summer time',
        clock: '2026-03-23T09:00:00Z',
        collectionDate: '2026-03-31',
        times: ['2026-03-27T15:00:00Z', '2026-03-30T07:00:00Z', '2026-03-31T12:00:00Z'],
      },
      {
        title: 'over Easter',
        clock: '2026-03-30T08:00:00Z',
        collectionDate: '2026-04-07',
        times: ['2026-04-01T14:00:00Z', '2026-04-02T07:00:00Z', '2026-04-07T12:00:00Z'],
      },
      {
        title: 'over Christmas, D being a moved date',
        clock: '2026-12-14T09:00:00Z',
        collectionDate: '2026-12-25',
        times: ['2026-12-23T15:00:00Z', '2026-12-24T08:00:00Z', '2026-12-28T13:00:00Z'],
      },
    ]
    for (const { title, clock, collectionDate, times } of cases) {
      const client = await open(t, { clock, changes: { collectionDate } })
      let before = { status: 'PENDING', updatedAt: clock }
      for (const [index, at] of times.entries()) {
        const status = ['SUBMITTED', 'PROCESSING', 'SETTLED'][index] as string
        t.strictSame((await explain(client)).next, { at, to: status }, `${title}: announced`)

        t.strictSame(
          (await client.advance({ to: secondsBefore(at) })).body.transitions,
          [],
          `${title}: nothing earlier`,
        )
        t.match(await read(client), { ...before, initiatedAt: clock }, `${title}: ${before.status} one second before`)

        t.strictSame(
          (await client.advance({ to: at })).body.transitions,
          [{ at, kind: 'collection', reference: 'COL-0001', from: before.status, to: status }],
          `${title}: told`,
        )
        before = { status, updatedAt: at }
        const after = await read(client)
        t.match(after, { ...before, initiatedAt: clock }, `${title}: ${status} at ${at}`)
        t.notOk('reasonCode' in after, `${title}: no reasonCode`)
      }
      t.equal((await explain(client)).next, null, `${title}: nothing comes after SETTLED`)
    }
  },
)

t.test('control plane, advance: in one leap every transition happens at its own time, in order', async t => {
  const client = await open(t)
  await client.post(PATH, collection({ collectionReference: 'COL-0002', collectionDate: '2026-11-10' }))
  const { now, transitions } = (await client.advance({ to: '2026-12-01T00:00:00Z' })).body
  t.equal(now, '2026-12-01T00:00:00Z')
  t.strictSame(
    transitions.map(({ at, reference, from, to }: Transition) => [at, reference, from, to]),
    [
      ['2026-11-05T15:00:00Z', 'COL-0001', 'PENDING', 'SUBMITTED'],
      ['2026-11-06T08:00:00Z', 'COL-0001', 'SUBMITTED', 'PROCESSING'],
      ['2026-11-06T15:00:00Z', 'COL-0002', 'PENDING', 'SUBMITTED'],
      ['2026-11-09T08:00:00Z', 'COL-0002', 'SUBMITTED', 'PROCESSING'],
      ['2026-11-09T13:00:00Z', 'COL-0001', 'PROCESSING', 'SETTLED'],
      ['2026-11-10T13:00:00Z', 'COL-0002', 'PROCESSING', 'SETTLED'],
    ],
  )
  t.match(await read(client), { status: 'SETTLED', initiatedAt: MONDAY, updatedAt: '2026-11-09T13:00:00Z' })
})

t.test('control plane, advance: toNextEvent stops at each transition', async t => {
  const client = await open(t)
  for (const [at, status] of [
    ['2026-11-05T15:00:00Z', 'SUBMITTED'],
    ['2026-11-06T08:00:00Z', 'PROCESSING'],
    ['2026-11-09T13:00:00Z', 'SETTLED'],
  ]) {
    t.equal((await client.advance({ toNextEvent: true })).body.now, at)
    t.equal((await read(client)).status, status)
  }
})

t.test('control plane, Time: with a running clock a collection moves although nobody advances', async t => {
  let real = Date.parse(MONDAY)
  const app = build(t, { clock: 'real', now: () => real })
  const client = await connect(app)
  await client.post('/api/v1/mandates', mandate())
  await client.post(PATH, collection())

  real = Date.parse('2026-11-05T14:59:59.999Z')
  t.equal((await read(await connect(app))).status, 'PENDING')
  real = Date.parse('2026-11-05T15:00:00Z')
  t.match(await read(await connect(app)), { status: 'SUBMITTED', updatedAt: '2026-11-05T15:00:00Z' })
  real = Date.parse('2026-12-01T00:00:00Z')
  t.match(await read(await connect(app)), { status: 'SETTLED', updatedAt: '2026-11-09T13:00:00Z' })
  t.equal((await requestToken(app)).status, 200)
})

t.test('control plane, Time: what is due on creation is done before the next request is looked at', async t => {
  // Both dates are the earliest that decisions §6 accepts, and their D-2 16:00 has come already.
  for (const [clock, collectionDate, title] of [
    ['2026-11-02T15:00:00Z', '2026-11-04', 'at 16:00:00 sharp'],
    ['2026-11-07T09:00:00Z', '2026-11-10', 'on a Saturday'],
  ] as const) {
    const client = await open(t, { clock, changes: { collectionDate } })
    t.match(await read(client), { status: 'SUBMITTED', initiatedAt: clock, updatedAt: clock }, title)
  }
})

t.test('control plane, Time: what is due on creation happens with the next advance, however short', async t => {
  const clock = '2026-11-07T09:00:00Z'
  const client = await open(t, { clock, changes: { collectionDate: '2026-11-10' } })
  await client.advance({ by: 'PT1S' })
  t.match(await read(client), { status: 'SUBMITTED', updatedAt: clock })
})

// --------------------------------------------------------------------------------------------------- control verbs

for (const [status, legal] of Object.entries(LEGAL)) {
  t.test(
    `decisions §6: from ${status}, legal are: ${Object.keys(legal).join(', ') || 'none, it is final'}`,
    async t => {
      const client = await connect(build(t))
      await client.post('/api/v1/mandates', mandate())
      for (const verb of VERBS) {
        const collectionReference = `COL-${verb}`
        await client.post(PATH, collection({ collectionReference }))
        await lead(client, status, collectionReference)
        await client.advance({ by: 'PT1M' })
        const { now } = (await client.control('GET', '/clock')).body
        const before = await explain(client, collectionReference)
        t.equal(before.record.status, status)
        t.strictSame(
          [...new Set(before.legal.map((row: { verb: string }) => row.verb))].sort(),
          Object.keys(legal).sort(),
        )

        const answer = await move(client, verb, undefined, collectionReference)
        const to = legal[verb]
        if (to === undefined) {
          t.strictSame(refusal(answer), { status: 409, code: 'ILLEGAL_TRANSITION', field: null }, `${verb} is illegal`)
          for (const name of Object.keys(legal))
            t.match(answer.body.message, new RegExp(`\\b${name}\\b`), `names ${name}`)
          for (const name of VERBS.filter(name => name !== verb && legal[name] === undefined)) {
            t.notMatch(answer.body.message, new RegExp(`\\b${name}\\b`), `does not name ${name}`)
          }
          t.strictSame(await explain(client, collectionReference), before, `${verb} changed nothing`)
        } else {
          t.equal(answer.status, 200, `${verb} is legal`)
          t.match(answer.body.record, { status: to, updatedAt: now, initiatedAt: before.record.initiatedAt })
          t.strictSame(answer.body, await explain(client, collectionReference), 'answers the explained record')
          t.strictSame(answer.body.record, await read(client, collectionReference), 'which the API shows, too')
          t.match(answer.body.timeline.at(-1), { at: now, from: status, to, cause: 'control' })
          t.equal(
            'reasonCode' in answer.body.record,
            ['REJECTED', 'RETURNED', 'FAILED'].includes(to),
            `${to} carries a reasonCode only where something went wrong`,
          )
          t.strictSame(
            [...new Set(answer.body.legal.map((row: { verb: string }) => row.verb))].sort(),
            Object.keys(LEGAL[to] as object).sort(),
          )
        }
      }
    },
  )
}

t.test('decisions §6: final states stay what they are, however much time passes', async t => {
  for (const status of ['FAILED', 'CANCELLED', 'REJECTED', 'RETURNED']) {
    const client = await open(t)
    await lead(client, status)
    const before = await explain(client)
    t.equal(before.next, null, status)
    t.strictSame((await client.advance({ by: 'P500D' })).body.transitions, [], status)
    t.strictSame(await explain(client), before, status)
  }
})

t.test('decisions §6: a collection moved by hand goes on by itself from there', async t => {
  const client = await open(t)
  await move(client, 'submit')
  t.strictSame((await explain(client)).next, { at: '2026-11-06T08:00:00Z', to: 'PROCESSING' })
  const { transitions } = (await client.advance({ by: 'P30D' })).body
  t.equal(pathOf(transitions, 'COL-0001'), 'SUBMITTED > PROCESSING > SETTLED')
})

t.test('control plane: a verb on no such collection is 404, an unknown verb no route', async t => {
  const client = await open(t)
  t.strictSame(refusal(await move(client, 'submit', undefined, 'COL-9999')), {
    status: 404,
    code: 'COLLECTION_NOT_FOUND',
    field: 'collectionReference',
  })
  t.strictSame(refusal(await client.control('GET', '/direct-debit/COL-9999')), {
    status: 404,
    code: 'COLLECTION_NOT_FOUND',
    field: 'collectionReference',
  })
  t.strictSame(refusal(await move(client, 'vanish')), { status: 404, code: 'ROUTE_NOT_FOUND', field: null })
})

// ---------------------------------------------------------------------------------------------------- reason codes

t.test('decisions §6: each reason code is legal in its phase alone', async t => {
  const client = await connect(build(t))
  await client.post('/api/v1/mandates', mandate())
  const all = [...new Set([...CLEARING, ...BANK, ...RETURN, 'MD06', 'MD01'])]
  const phases = [
    { phase: 'clearing', status: 'SUBMITTED', verb: 'reject', to: 'REJECTED', legal: CLEARING, open: [] },
    { phase: 'debtor bank', status: 'PROCESSING', verb: 'reject', to: 'REJECTED', legal: BANK, open: [] },
    {
      phase: 'return or refund',
      status: 'SETTLED',
      verb: 'return',
      to: 'RETURNED',
      legal: [...RETURN, 'MD06', 'MD01'],
      // "AC04 … SL01 …": the table does not say whether these belong to it.
      open: ['RR01', 'RR02', 'RR03', 'RR04'],
    },
  ]
  for (const { phase, status, verb, to, legal, open } of phases) {
    for (const reasonCode of all.filter(code => !open.includes(code))) {
      const collectionReference = `COL-${status}-${reasonCode}`
      await client.post(PATH, collection({ collectionReference }))
      await lead(client, status, collectionReference)
      const answer = await move(client, verb, { reasonCode }, collectionReference)
      const title = `${phase}: ${reasonCode}`
      if (legal.includes(reasonCode)) {
        t.strictSame(
          [answer.status, answer.body.record?.status, answer.body.record?.reasonCode],
          [200, to, reasonCode],
          title,
        )
        t.match(answer.body.timeline.at(-1), { to, reasonCode, cause: 'control' }, title)
      } else {
        t.strictSame(refusal(answer), { status: 409, code: 'ILLEGAL_TRANSITION', field: 'reasonCode' }, title)
        t.match(answer.body.message, reasonCode, `${title}: the message says which`)
        const record = await read(client, collectionReference)
        t.equal(record.status, status, `${title}: nothing changed`)
        t.notOk('reasonCode' in record, `${title}: nothing changed`)
      }
    }
  }
})

t.test('decisions §6: explain lists the reason codes of each phase', async t => {
  const client = await open(t)
  const codesOf = async (verb: string) =>
    (await explain(client)).legal
      .filter((row: { verb: string }) => row.verb === verb)
      .flatMap(({ reasonCodes }: { reasonCodes?: string[] }) => reasonCodes ?? [])
      .sort()
  t.strictSame(await codesOf('submit'), [])
  await move(client, 'submit')
  t.strictSame(await codesOf('reject'), [...CLEARING].sort())
  await move(client, 'process')
  t.strictSame(await codesOf('reject'), [...BANK].sort())
  await move(client, 'settle')
  const codes = await codesOf('return')
  for (const code of [...RETURN, 'MD06', 'MD01']) t.ok(codes.includes(code), code)
  for (const code of [...CLEARING, 'AC13']) t.notOk(codes.includes(code), code)
})

t.test('decisions §6: AC13 belongs to the B2B scheme and is refused with 400, wherever', async t => {
  for (const [status, verb] of [
    ['SUBMITTED', 'reject'],
    ['PROCESSING', 'reject'],
    ['PROCESSING', 'fail'],
    ['SETTLED', 'return'],
  ] as const) {
    const client = await open(t)
    await lead(client, status)
    const answer = await move(client, verb, { reasonCode: 'AC13' })
    t.strictSame(refusal(answer), { status: 400, code: 'INVALID_FIELD', field: 'reasonCode' }, `${verb} from ${status}`)
    t.match(answer.body.message, /B2B/)
    t.equal((await read(client)).status, status)
  }
})

t.test('decisions §2: what is no reason code at all is 400 INVALID_FIELD', async t => {
  const client = await open(t)
  await lead(client, 'SUBMITTED')
  for (const reasonCode of ['ZZ99', 'XXXX', 'am04', 'AM4', 'AM044', 4, null, ['AC01'], {}]) {
    t.strictSame(
      refusal(await move(client, 'reject', { reasonCode })),
      { status: 400, code: 'INVALID_FIELD', field: 'reasonCode' },
      JSON.stringify(reasonCode),
    )
  }
  t.equal((await read(client)).status, 'SUBMITTED')
})

t.test('decisions §6: a known code is not legal where the move takes none: 409', async t => {
  for (const [status, verb] of [
    ['PENDING', 'submit'],
    ['PENDING', 'cancel'],
    ['SUBMITTED', 'process'],
    ['PROCESSING', 'settle'],
  ] as const) {
    const client = await open(t)
    await lead(client, status)
    t.strictSame(
      refusal(await move(client, verb, { reasonCode: 'AM04' })),
      { status: 409, code: 'ILLEGAL_TRANSITION', field: 'reasonCode' },
      `${verb} from ${status}`,
    )
    const record = await read(client)
    t.equal(record.status, status)
    t.notOk('reasonCode' in record)
  }
})

t.test('decisions §1: a refused reason code (400) comes before the record (404) and its state (409)', async t => {
  const client = await open(t)
  const invalid = { status: 400, code: 'INVALID_FIELD', field: 'reasonCode' }
  for (const reasonCode of ['AC13', 'ZZ99']) {
    t.strictSame(refusal(await move(client, 'return', { reasonCode })), invalid, `${reasonCode} while PENDING`)
    t.strictSame(
      refusal(await move(client, 'return', { reasonCode }, 'COL-9999')),
      invalid,
      `${reasonCode} of no record`,
    )
  }
})

t.test('decisions §6: without a reason code one that is legal is taken', async t => {
  for (const [status, verb, legal] of [
    ['SUBMITTED', 'reject', CLEARING],
    ['PROCESSING', 'reject', BANK],
    ['SETTLED', 'return', [...BANK, ...RETURN, 'MD06']],
  ] as const) {
    const client = await open(t)
    await lead(client, status)
    const { reasonCode } = (await move(client, verb)).body.record
    t.ok((legal as readonly string[]).includes(reasonCode), `${verb} from ${status}: ${reasonCode}`)
    t.equal((await read(client)).reasonCode, reasonCode)
  }
})

const windows = [
  {
    title: 'in winter',
    clock: MONDAY,
    collectionDate: '2026-11-09',
    until: { AM04: '2026-11-16T22:59:59Z', MD06: '2027-01-04T22:59:59Z', MD01: '2027-12-09T22:59:59Z' },
  },
  {
    title: 'over Easter',
    clock: '2026-03-23T09:00:00Z',
    collectionDate: '2026-03-31',
    until: { AM04: '2026-04-09T21:59:59Z', MD06: '2026-05-26T21:59:59Z', MD01: '2027-04-30T21:59:59Z' },
  },
  {
    title: 'from winter into summer time',
    clock: '2026-03-02T09:00:00Z',
    collectionDate: '2026-03-09',
    until: { AM04: '2026-03-16T22:59:59Z', MD06: '2026-05-04T21:59:59Z', MD01: '2027-04-09T21:59:59Z' },
  },
  {
    title: 'from summer into winter time',
    clock: '2026-10-05T08:00:00Z',
    collectionDate: '2026-10-12',
    until: { AM04: '2026-10-19T21:59:59Z', MD06: '2026-12-07T22:59:59Z', MD01: '2027-11-12T22:59:59Z' },
  },
  {
    title: 'from the end of a long month',
    clock: '2028-01-24T09:00:00Z',
    collectionDate: '2028-01-31',
    until: { AM04: '2028-02-07T22:59:59Z', MD06: '2028-03-27T21:59:59Z', MD01: '2029-02-28T22:59:59Z' },
  },
]

for (const { title, clock, collectionDate, until } of windows) {
  for (const [reasonCode, last] of Object.entries(until)) {
    t.test(`decisions §6: ${reasonCode} may return a collection until the end of its window, ${title}`, async t => {
      const client = await open(t, { clock, changes: { collectionDate } })
      await client.post(PATH, collection({ collectionDate, collectionReference: 'COL-0002' }))
      const untilOf = async () =>
        (await explain(client)).legal.find((row: { reasonCodes?: string[] }) => row.reasonCodes?.includes(reasonCode))
          ?.until

      await client.advance({ to: secondsBefore(last, 60) })
      t.equal((await read(client)).status, 'SETTLED')
      t.equal(await untilOf(), last, 'explain tells until when')

      await client.advance({ to: last })
      t.equal(await untilOf(), last, 'explain still lists it at the last second')
      const inTime = await move(client, 'return', { reasonCode }, 'COL-0002')
      t.strictSame([inTime.status, inTime.body.record?.reasonCode], [200, reasonCode], 'legal at the last second')

      await client.advance({ to: secondsBefore(last, -1) })
      t.equal(await untilOf(), undefined, 'explain lists it no more')
      const late = await move(client, 'return', { reasonCode })
      t.strictSame(refusal(late), { status: 409, code: 'ILLEGAL_TRANSITION', field: 'reasonCode' }, 'one second after')
      t.match(late.body.message, last, 'the reason is told')
      t.equal((await read(client)).status, 'SETTLED')
    })
  }
}

t.test(
  'decisions §6: without a reason code a return takes what is still open, and after 13 months nothing is',
  async t => {
    const client = await open(t)
    for (const collectionReference of ['COL-0002', 'COL-0003'])
      await client.post(PATH, collection({ collectionReference }))
    await client.advance({ to: '2026-11-16T23:00:00Z' })
    t.equal((await move(client, 'return', {}, 'COL-0002')).body.record.reasonCode, 'MD06', 'after D+5')
    await client.advance({ to: '2027-01-04T23:00:00Z' })
    t.equal((await move(client, 'return', {}, 'COL-0003')).body.record.reasonCode, 'MD01', 'after 56 days')
    await client.advance({ to: '2027-12-09T23:00:00Z' })
    const late = await move(client, 'return')
    t.strictSame([late.status, late.body.code], [409, 'ILLEGAL_TRANSITION'])
    t.strictSame(
      refusal(await move(client, 'return', { reasonCode: 'FF01' })),
      { status: 409, code: 'ILLEGAL_TRANSITION', field: 'reasonCode' },
      'nor with a code that never returned anything',
    )
    t.strictSame((await explain(client)).legal, [], 'no move is left')
    t.equal((await read(client)).status, 'SETTLED')
  },
)

t.test('decisions §6: reasonCode is on the single record alone, never in the list', async t => {
  const client = await connect(build(t))
  await client.post('/api/v1/mandates', mandate())
  for (const status of Object.keys(WAY)) {
    const collectionReference = `COL-${status}`
    await client.post(PATH, collection({ collectionReference }))
    await lead(client, status, collectionReference)
    const record = await read(client, collectionReference)
    t.equal('reasonCode' in record, ['REJECTED', 'RETURNED', 'FAILED'].includes(status), status)
    if ('reasonCode' in record) t.match(record.reasonCode, /^[A-Z]{2}[A-Z0-9]{2}$/, 'an ISO 20022 external code')
  }
  const { data } = (await client.get(PATH)).body
  t.equal(data.length, 8)
  for (const row of data) {
    t.notOk('reasonCode' in row, row.collectionReference)
    const { reasonCode, ...summary } = await read(client, row.collectionReference)
    t.strictSame(row, summary, 'all else is the same')
  }
})

// --------------------------------------------------------------------------------------------- outcomes on demand

const LONG_AFTER = { to: '2028-01-31T00:00:00Z' }

/** Creates one collection for each debtorReference, named by its index, and lets more than 13 months pass. */
async function steer(client: Client, references: readonly string[]) {
  await client.post('/api/v1/mandates', mandate())
  const created: Answer[] = []
  for (const [index, debtorReference] of references.entries()) {
    created.push(await client.post(PATH, collection({ collectionReference: `COL-${1000 + index}`, debtorReference })))
  }
  const { transitions } = (await client.advance(LONG_AFTER)).body as { transitions: Transition[] }
  return references.map((debtorReference, index) => {
    const reference = `COL-${1000 + index}`
    const own = transitions.filter(transition => transition.reference === reference)
    return {
      debtorReference,
      reference,
      created: created[index] as Answer,
      path: pathOf(own, reference),
      last: own.at(-1),
    }
  })
}

t.test('decisions §6, outcomes: SIM-REJECTED-<code> of clearing rejects a SUBMITTED collection', async t => {
  const client = await connect(build(t))
  for (const { debtorReference, reference, created, path, last } of await steer(
    client,
    CLEARING.map(code => `SIM-REJECTED-${code}`),
  )) {
    t.equal(created.status, 201, debtorReference)
    t.notOk(created.headers['sandbox-hint'], 'a known outcome is nothing to hint at')
    t.equal(path, 'PENDING > SUBMITTED > REJECTED', debtorReference)
    const reasonCode = debtorReference.slice('SIM-REJECTED-'.length)
    t.equal(last?.reasonCode, reasonCode)
    t.match(await read(client, reference), { status: 'REJECTED', reasonCode, debtorReference, updatedAt: last?.at })
    t.equal((await explain(client, reference)).timeline.at(-1).cause, 'outcome')
  }
})

t.test('decisions §6, outcomes: SIM-REJECTED-<code> of the debtor bank rejects a PROCESSING collection', async t => {
  const client = await connect(build(t))
  for (const { debtorReference, reference, path, last } of await steer(
    client,
    BANK.map(code => `SIM-REJECTED-${code}`),
  )) {
    t.equal(path, 'PENDING > SUBMITTED > PROCESSING > REJECTED', debtorReference)
    t.ok((last?.at as string) <= '2026-11-09T13:00:00Z', 'no later than it would have settled')
    const reasonCode = debtorReference.slice('SIM-REJECTED-'.length)
    t.match(await read(client, reference), { status: 'REJECTED', reasonCode })
    t.equal((await explain(client, reference)).timeline.at(-1).cause, 'outcome')
  }
})

t.test('decisions §6, outcomes: SIM-RETURNED-<code> returns a SETTLED collection at D+2 open days', async t => {
  const client = await connect(build(t))
  for (const { debtorReference, reference, path, last } of await steer(
    client,
    RETURN.map(code => `SIM-RETURNED-${code}`),
  )) {
    t.equal(path, 'PENDING > SUBMITTED > PROCESSING > SETTLED > RETURNED', debtorReference)
    t.equal(last?.at.slice(0, 10), '2026-11-11', 'two open days after 2026-11-09')
    const reasonCode = debtorReference.slice('SIM-RETURNED-'.length)
    t.match(await read(client, reference), { status: 'RETURNED', reasonCode })
  }
})

t.test('decisions §6, outcomes: D+2 counts open days', async t => {
  const clock = '2026-03-23T09:00:00Z'
  const client = await open(t, {
    clock,
    changes: { collectionDate: '2026-04-02', debtorReference: 'SIM-RETURNED-AM04' },
  })
  const { transitions } = (await client.advance({ by: 'P30D' })).body
  t.equal(transitions.at(-1).to, 'RETURNED')
  t.equal(transitions.at(-1).at.slice(0, 10), '2026-04-08', 'Easter lies in between')
})

t.test('decisions §6, outcomes: refunds come later, MD06 at D+30 days, MD01 within 13 months', async t => {
  const client = await connect(build(t))
  const [refund, unauthorised] = await steer(client, ['SIM-RETURNED-MD06', 'SIM-RETURNED-MD01'])
  for (const outcome of [refund, unauthorised]) {
    t.equal(outcome?.path, 'PENDING > SUBMITTED > PROCESSING > SETTLED > RETURNED')
  }
  t.equal(refund?.last?.at.slice(0, 10), '2026-12-09')
  t.equal(refund?.last?.reasonCode, 'MD06')
  t.ok((unauthorised?.last?.at as string) <= '2027-12-09T22:59:59Z')
  t.equal(unauthorised?.last?.reasonCode, 'MD01')
})

t.test('decisions §6, outcomes: SIM-FAILED, SIM-SETTLED and SIM-CANCELLED', async t => {
  const client = await connect(build(t))
  const paths = (await steer(client, ['SIM-FAILED', 'SIM-SETTLED', 'SIM-CANCELLED'])).map(({ path }) => path)
  t.strictSame(paths, [
    'PENDING > SUBMITTED > PROCESSING > FAILED',
    'PENDING > SUBMITTED > PROCESSING > SETTLED',
    'PENDING > CANCELLED',
  ])
})

t.test('decisions §6, outcomes: the code may be left out', async t => {
  const client = await connect(build(t))
  const [rejected, returned] = await steer(client, ['SIM-REJECTED', 'SIM-RETURNED'])
  t.notOk(rejected?.created.headers['sandbox-hint'])
  t.notOk(returned?.created.headers['sandbox-hint'])
  t.equal(rejected?.last?.to, 'REJECTED')
  t.ok([...CLEARING, ...BANK].includes(rejected?.last?.reasonCode as string))
  t.equal(returned?.path, 'PENDING > SUBMITTED > PROCESSING > SETTLED > RETURNED')
  t.ok([...RETURN, 'MD06', 'MD01'].includes(returned?.last?.reasonCode as string))
})

t.test('decisions §6, outcomes: SIM-STUCK-<state> stays there, until the control plane moves it', async t => {
  for (const [status, verb, to] of [
    ['PENDING', 'submit', 'SUBMITTED'],
    ['SUBMITTED', 'process', 'PROCESSING'],
    ['PROCESSING', 'settle', 'SETTLED'],
  ] as const) {
    const client = await open(t, { changes: { debtorReference: `SIM-STUCK-${status}` } })
    await client.advance({ by: 'P400D' })
    t.equal((await read(client)).status, status)
    t.equal((await explain(client)).next, null, 'nothing comes next by itself')
    const moved = await move(client, verb)
    t.strictSame([moved.status, moved.body.record?.status], [200, to])
  }
})

t.test('decisions §6, outcomes: a reference that the mandate gives steers as well', async t => {
  const client = await connect(build(t))
  await client.post('/api/v1/mandates', mandate({ debtor: { ...mandate().debtor, reference: 'SIM-RETURNED-AM04' } }))
  await client.post(PATH, collection())
  await client.advance({ by: 'P30D' })
  t.match(await read(client), { status: 'RETURNED', reasonCode: 'AM04', debtorReference: 'SIM-RETURNED-AM04' })
})

t.test('decisions §6, outcomes: a SIM-… that names no outcome steers nothing, and is hinted at', async t => {
  const client = await connect(build(t))
  const unknown = [
    'SIM-',
    'SIM-NONSENSE',
    'SIM-REJECTED-MD06',
    'SIM-RETURNED-FF01',
    'SIM-REJECTED-AC13',
    'SIM-STUCK-LOST',
  ]
  for (const { debtorReference, created, path } of await steer(client, unknown)) {
    t.equal(created.status, 201, debtorReference)
    t.match(created.headers['sandbox-hint'], /debtorReference/, debtorReference)
    t.equal(path, 'PENDING > SUBMITTED > PROCESSING > SETTLED', debtorReference)
  }
})

t.test('decisions §6, outcomes: only the whole reference steers', async t => {
  const client = await connect(build(t))
  for (const { debtorReference, created, path } of await steer(client, [
    'customer SIM-FAILED',
    'sim-failed',
    'SIMON',
  ])) {
    t.notOk(created.headers['sandbox-hint'], debtorReference)
    t.equal(path, 'PENDING > SUBMITTED > PROCESSING > SETTLED', debtorReference)
  }
})

t.test('decisions §6, outcomes: what the control plane does first wins', async t => {
  const client = await open(t, { changes: { debtorReference: 'SIM-REJECTED-AC01' } })
  await lead(client, 'PROCESSING')
  await client.advance({ by: 'P30D' })
  t.equal((await read(client)).status, 'SETTLED', 'the state that the outcome leaves was left before')
})

t.test('decisions §6: the table of outcomes is served at /_sandbox/outcomes', async t => {
  const client = await connect(build(t))
  const { status, body } = await client.control('GET', '/outcomes')
  t.equal(status, 200)
  const names = ['SIM-REJECTED-AC01', 'SIM-RETURNED-AM04', 'SIM-RETURNED-MD06', 'SIM-FAILED', 'SIM-STUCK-SUBMITTED']
  const text = JSON.stringify(body)
  t.strictSame(
    names.filter(name => !text.includes(`"${name}"`)),
    [],
    'none is left out',
  )
})

t.test('control plane: the table of reason codes is served at /_sandbox/reason-codes', async t => {
  const client = await connect(build(t))
  const { status, body } = await client.control('GET', '/reason-codes')
  t.equal(status, 200)
  const text = JSON.stringify(body)
  const codes = [...CLEARING, ...BANK, ...RETURN, 'MD06']
  t.strictSame(
    codes.filter(code => !text.includes(`"${code}"`)),
    [],
    'none is left out',
  )
})

t.test('decisions §6: the table of reason codes tells when each is legal, until when, and who raises it', async t => {
  const { body } = await (await connect(build(t))).control('GET', '/reason-codes')
  const rows = new Map<string, { name: string; windows: object[] }>(
    body.data.map((row: { code: string }) => [row.code, row]),
  )
  const reject = { verb: 'reject', until: null }
  const given = { verb: 'return', from: 'SETTLED' }
  t.match(rows.get('AC01'), {
    name: 'IncorrectAccountNumber',
    windows: [{ ...reject, phase: 'clearing', from: 'SUBMITTED', raisedBy: 'clearing' }],
  })
  t.match(rows.get('AM04')?.windows, [
    { ...reject, phase: 'bank', from: 'PROCESSING', raisedBy: 'debtor bank' },
    { ...given, phase: 'return', raisedBy: 'debtor bank', until: 'D+5 open days' },
  ])
  t.match(rows.get('MD06')?.windows, [{ ...given, phase: 'refund', raisedBy: 'debtor', until: 'D+56 days' }])
  t.match(rows.get('MD01')?.windows, [
    { verb: 'fail', from: 'PENDING', phase: 'submission', until: null },
    { ...reject, phase: 'bank', from: 'PROCESSING' },
    { ...given, phase: 'unauthorised-refund', raisedBy: 'debtor', until: 'D+13 months' },
  ])
})

// --------------------------------------------------------------------------------------------------------- explain

t.test('control plane, Shapes: an explained collection tells its past, its next step and the legal moves', async t => {
  const client = await open(t)
  const created = await read(client)
  t.strictSame(await explain(client), {
    record: created,
    timeline: [
      { seq: 2, at: MONDAY, kind: 'collection', reference: 'COL-0001', from: null, to: 'PENDING', cause: 'api' },
    ],
    next: { at: '2026-11-05T15:00:00Z', to: 'SUBMITTED' },
    legal: (await explain(client)).legal,
  })

  await client.advance({ by: 'P5D' })
  await move(client, 'reject', { reasonCode: 'AM04' })
  const { record, timeline, next, legal } = await explain(client)
  t.match(record, { status: 'REJECTED', reasonCode: 'AM04', updatedAt: '2026-11-07T09:00:00Z' })
  const same = { kind: 'collection', reference: 'COL-0001' }
  t.strictSame(timeline, [
    { seq: 2, at: MONDAY, ...same, from: null, to: 'PENDING', cause: 'api' },
    { seq: 3, at: '2026-11-05T15:00:00Z', ...same, from: 'PENDING', to: 'SUBMITTED', cause: 'time' },
    { seq: 4, at: '2026-11-06T08:00:00Z', ...same, from: 'SUBMITTED', to: 'PROCESSING', cause: 'time' },
    {
      seq: 5,
      at: '2026-11-07T09:00:00Z',
      ...same,
      from: 'PROCESSING',
      to: 'REJECTED',
      reasonCode: 'AM04',
      cause: 'control',
    },
  ])
  t.equal(next, null)
  t.strictSame(legal, [])
})

t.test('control plane, Shapes: an outcome on demand shows in what comes next', async t => {
  const client = await open(t, { changes: { debtorReference: 'SIM-REJECTED-AC01' } })
  t.equal((await explain(client)).next.to, 'SUBMITTED')
  await move(client, 'submit')
  t.equal((await explain(client)).next.to, 'REJECTED')
})

// --------------------------------------------------------------------------------------------- with its mandate

t.test('decisions §6: PENDING becomes FAILED at submission when the mandate is no longer active', async t => {
  const client = await open(t)
  await client.control('POST', '/mandates/MND-0001/expire')
  t.equal((await read(client)).status, 'PENDING', 'not before')
  t.strictSame((await explain(client)).next, { at: '2026-11-05T15:00:00Z', to: 'FAILED' })
  await client.advance({ to: '2026-11-05T14:59:59Z' })
  t.equal((await read(client)).status, 'PENDING')
  await client.advance({ to: '2026-11-05T15:00:00Z' })
  const record = await read(client)
  t.match(record, { status: 'FAILED', updatedAt: '2026-11-05T15:00:00Z' })
  t.match(record.reasonCode, /^[A-Z]{2}[A-Z0-9]{2}$/)
  t.equal((await explain(client)).timeline.at(-1).cause, 'time')
})

t.test('decisions §6: a mandate that expires by itself before submission fails the collection', async t => {
  const client = await connect(build(t))
  await client.post('/api/v1/mandates', mandate())
  await client.advance({ to: '2029-10-31T09:00:00Z' })
  t.equal((await client.post(PATH, collection({ collectionDate: '2029-11-07' }))).status, 201)
  const { transitions } = (await client.advance({ by: 'P30D' })).body
  t.strictSame(
    transitions.map(({ at, reference, to }: Transition) => [at, reference, to]),
    [
      ['2029-11-02T09:00:00Z', 'MND-0001', 'EXPIRED'],
      ['2029-11-05T15:00:00Z', 'COL-0001', 'FAILED'],
    ],
  )
})

t.test('decisions §7: DELETE of the mandate cancels its PENDING collections, and only these', async t => {
  const client = await connect(build(t))
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/mandates', mandate({ mandateReference: 'MND-0002' }))
  for (const status of Object.keys(WAY)) {
    await client.post(PATH, collection({ collectionReference: `COL-${status}` }))
    await lead(client, status, `COL-${status}`)
  }
  await client.post(PATH, collection({ collectionReference: 'COL-PENDING2' }))
  await client.post(PATH, collection({ collectionReference: 'COL-OTHER', mandateReference: 'MND-0002' }))
  await client.advance({ by: 'PT1H' })
  const before = new Map<string, unknown>()
  for (const status of Object.keys(WAY)) before.set(status, await read(client, `COL-${status}`))

  t.equal((await client.delete('/api/v1/mandates/MND-0001')).status, 200)
  for (const reference of ['COL-PENDING', 'COL-PENDING2']) {
    const record = await read(client, reference)
    t.match(record, { status: 'CANCELLED', updatedAt: '2026-11-02T10:00:00Z', initiatedAt: MONDAY })
    t.notOk('reasonCode' in record)
    t.match((await explain(client, reference)).timeline.at(-1), { from: 'PENDING', to: 'CANCELLED', cause: 'api' })
  }
  for (const status of Object.keys(WAY).filter(status => status !== 'PENDING')) {
    t.strictSame(await read(client, `COL-${status}`), before.get(status), status)
  }
  t.equal((await read(client, 'COL-OTHER')).status, 'PENDING', 'another mandate is another matter')

  await client.advance({ by: 'P30D' })
  t.equal((await read(client, 'COL-SUBMITTED')).status, 'SETTLED', 'what has been submitted goes on')
  t.equal((await read(client, 'COL-PENDING')).status, 'CANCELLED')
  t.equal((await read(client, 'COL-OTHER')).status, 'SETTLED')
})

t.test('decisions §6: cancelling the mandate by the control plane cancels its PENDING collections, too', async t => {
  const client = await open(t)
  await client.control('POST', '/mandates/MND-0001/cancel')
  t.equal((await read(client)).status, 'CANCELLED')
})

// -------------------------------------------------------------------------------------------------------- all states

t.test('interface, States: all eight are reached by time and documented calls, with an outcome asked for', async t => {
  const client = await connect(build(t))
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/mandates', mandate({ mandateReference: 'MND-0002' }))
  const outcomes: Record<string, string | undefined> = {
    'COL-PENDING': 'SIM-STUCK-PENDING',
    'COL-SUBMITTED': 'SIM-STUCK-SUBMITTED',
    'COL-PROCESSING': 'SIM-STUCK-PROCESSING',
    'COL-SETTLED': undefined,
    'COL-FAILED': 'SIM-FAILED',
    'COL-RETURNED': 'SIM-RETURNED-AM04',
    'COL-REJECTED': 'SIM-REJECTED-AC01',
  }
  for (const [collectionReference, debtorReference] of Object.entries(outcomes)) {
    await client.post(PATH, collection({ collectionReference, debtorReference }))
  }
  await client.post(PATH, collection({ collectionReference: 'COL-CANCELLED', mandateReference: 'MND-0002' }))
  await client.delete('/api/v1/mandates/MND-0002')
  await client.advance({ by: 'P30D' })

  for (const status of Object.keys(WAY)) {
    t.equal((await read(client, `COL-${status}`)).status, status)
    const { totalCount, data } = (await client.get(`${PATH}?status=${status}`)).body
    t.strictSame([totalCount, data[0]?.collectionReference], [1, `COL-${status}`], 'the filter finds it')
  }
})

t.test('interface, States: SUBMITTED, PROCESSING and SETTLED are passed on the way', async t => {
  const client = await open(t)
  const { transitions } = (await client.advance({ by: 'P30D' })).body
  t.equal(pathOf(transitions, 'COL-0001'), 'PENDING > SUBMITTED > PROCESSING > SETTLED')
})

t.test('control plane: all eight states are reached by its verbs', async t => {
  const client = await connect(build(t))
  await client.post('/api/v1/mandates', mandate())
  for (const status of Object.keys(WAY)) {
    await client.post(PATH, collection({ collectionReference: `COL-${status}` }))
    await lead(client, status, `COL-${status}`)
    t.equal((await read(client, `COL-${status}`)).status, status)
  }
})
