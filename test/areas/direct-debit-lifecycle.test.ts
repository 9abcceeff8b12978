import t from 'tap'
import { gist, invalid, secondBefore, table, tenantsOf } from '../answers.js'
import type { Client } from '../helper.js'
import { build, collection, MONDAY, mandate, newClient } from '../helper.js'
import { explain as explainOf, lead as leadTo, move as moveOf, WAYS } from './records.js'

const PATH = 'direct-debit'
const URL = '/api/v1/direct-debit'
const WRONG_REASON = '409 ILLEGAL_TRANSITION reasonCode'

const earlyTenant = tenantsOf(build(t, { clock: '2026-03-01T09:00:00Z' }))

interface Transition {
  at: string
  reference: string
  from: string | null
  to: string
  reasonCode?: string
}

/** A new tenant at a moment, with the mandate MND-0001. */
async function openAt(at: string): Promise<Client> {
  const client = await (at === MONDAY ? newClient() : earlyTenant())
  if (at !== MONDAY) await client.advance({ to: at })
  await client.post('/api/v1/mandates', mandate())
  return client
}

/** Creates a collection, COL-0001 unless it is named. */
async function create(client: Client, changes: object = {}): Promise<string> {
  const created = await client.post(URL, collection(changes))
  if (created.status !== 201) throw new Error(gist(created))
  return created.body.collectionReference
}

/** A new tenant with the collection COL-0001. */
async function open(changes: object = {}, at = MONDAY): Promise<Client> {
  const client = await openAt(at)
  await create(client, changes)
  return client
}

const read = async (client: Client, reference = 'COL-0001') => (await client.get(`${URL}/${reference}`)).body
const explain = (client: Client, reference = 'COL-0001') => explainOf(client, PATH, reference)
const nextOf = async (client: Client, reference?: string) => (await explain(client, reference)).next
const move = (client: Client, verb: string, body?: object, reference = 'COL-0001') =>
  moveOf(client, PATH, reference, verb, body)
const lead = (client: Client, status: string, reference: string) => leadTo(client, PATH, status, reference)
const STATES = Object.keys(WAYS[PATH])
const told = (transitions: Transition[]) =>
  transitions.map(({ at, reference, to, reasonCode = '' }) => `${at} ${reference} ${to} ${reasonCode}`.trim())

const CLEARING = ['FF01', 'AC01', 'RC01', 'AG02', 'BE05', 'AM05', 'MD02', 'CNOR', 'DNOR']
const BANK = ['AC04', 'AC06', 'AG01', 'AM04', 'MD01', 'MD07', 'MS02', 'MS03', 'RR01', 'RR02', 'RR03', 'RR04', 'SL01']
/** Those that the sources of decisions §6 list, beside refunds. */
const RETURN = [
  ...['AC01', 'AC04', 'AC06', 'AG01', 'AG02', 'AM04', 'AM05', 'BE05', 'MD07', 'MS02', 'MS03', 'RC01'],
  ...['RR01', 'RR02', 'RR03', 'RR04', 'SL01'],
]

// ------------------------------------------------------------------------------------------------------------ time

t.test('decisions §6: SUBMITTED at D-2 16:00, PROCESSING at D-1 09:00, SETTLED at D 14:00, on open days', async t => {
  const cases: [from: string, collectionDate: string, ...times: string[]][] = [
    // Into winter time, into summer time, over Easter, and over Christmas with a moved date.
    ['2026-10-19T08:00:00Z', '2026-10-27', '2026-10-23T14:00:00Z', '2026-10-26T08:00:00Z', '2026-10-27T13:00:00Z'],
    ['2026-03-23T09:00:00Z', '2026-03-31', '2026-03-27T15:00:00Z', '2026-03-30T07:00:00Z', '2026-03-31T12:00:00Z'],
    ['2026-03-30T08:00:00Z', '2026-04-07', '2026-04-01T14:00:00Z', '2026-04-02T07:00:00Z', '2026-04-07T12:00:00Z'],
    ['2026-12-14T09:00:00Z', '2026-12-25', '2026-12-23T15:00:00Z', '2026-12-24T08:00:00Z', '2026-12-28T13:00:00Z'],
  ]
  for (const [from, collectionDate, ...times] of cases) {
    const client = await open({ collectionDate }, from)
    for (const [step, to] of ['SUBMITTED', 'PROCESSING', 'SETTLED'].entries()) {
      const at = times[step] as string
      t.same(await nextOf(client), { at, to }, collectionDate)
      const before = await read(client)
      t.same((await client.advance({ to: secondBefore(at) })).body.transitions, [], 'nothing one second earlier')
      t.same(await read(client), before)
      const { transitions } = (await client.advance({ to: at })).body
      t.same(transitions, [{ at, kind: 'collection', reference: 'COL-0001', from: before.status, to }])
      t.same(await read(client), { ...before, status: to, updatedAt: at }, 'all else stays, and no reasonCode comes')
    }
    t.equal(await nextOf(client), null, 'nothing comes after SETTLED')
  }
})

t.test('control plane, Skip to payday: what is due on creation is done before the next request', async t => {
  // Both are the earliest dates that decisions §6 accepts, and their D-2 16:00 has come already.
  for (const [at, collectionDate] of [
    ['2026-11-02T15:00:00Z', '2026-11-04'],
    ['2026-11-07T09:00:00Z', '2026-11-10'],
  ] as const) {
    t.match(await read(await open({ collectionDate }, at)), { status: 'SUBMITTED', initiatedAt: at, updatedAt: at })
    const client = await open({ collectionDate }, at)
    await client.advance({ by: 'PT1S' })
    t.match(await read(client), { status: 'SUBMITTED', updatedAt: at }, 'and at its own time, with an advance')
  }
})

// ---------------------------------------------------------------------------------------------------- reason codes

t.test('decisions §6: each reason code is legal only in its phase, and explain lists it there', async t => {
  const client = await openAt(MONDAY)
  const all = [...new Set([...CLEARING, ...BANK, 'MD06'])]
  const phases: [status: string, verb: string, legal: string[], byDefault: string][] = [
    ['SUBMITTED', 'reject', CLEARING, 'AC01'],
    ['PROCESSING', 'reject', BANK, 'AM04'],
    ['SETTLED', 'return', [...RETURN, 'MD06', 'MD01'], 'AM04'],
  ]
  for (const [status, verb, legal, byDefault] of phases) {
    const { legal: rows } = await explain(client, await lead(client, status, `COL-${status}`))
    const listed = rows.filter((row: { transition: string }) => row.transition === verb)
    const listedCodes = listed.flatMap(({ reasonCodes }: { reasonCodes?: string[] }) => reasonCodes ?? [])
    t.same(all.filter(code => listedCodes.includes(code)).sort(), [...legal].sort(), `listed for ${status}`)
    await table(
      t,
      async reasonCode => {
        const reference = await lead(client, status, `COL-${status}-${reasonCode}`)
        const answer = await move(client, verb, { reasonCode }, reference)
        const { record, timeline } = await explain(client, reference)
        if (answer.status === 200) {
          t.match(timeline.at(-1), { reasonCode: record.reasonCode, cause: 'control' })
          return `${record.status} ${record.reasonCode === reasonCode}`
        }
        t.match(answer.body.message, reasonCode, 'the message says which')
        return `${gist(answer)}, still ${record.status} ${record.reasonCode}`
      },
      {
        [verb === 'return' ? 'RETURNED true' : 'REJECTED true']: legal,
        [`${WRONG_REASON}, still ${status} undefined`]: all.filter(code => !legal.includes(code)),
      },
    )
    const { reasonCode } = (await move(client, verb, undefined, `COL-${status}`)).body.record
    t.equal(reasonCode, byDefault, 'without a code the first legal one is taken')
  }
})

t.test(
  'decisions §2, §6: AC13 and unknown codes are 400 before the record, a code where none is taken is 409',
  async t => {
    const client = await openAt(MONDAY)
    for (const status of STATES) await lead(client, status, `COL-${status}`)
    const wrong = ['AC13', 'ZZ99', 'am04', 'AM4', 'AM044', 4, null, ['AC01'], {}]
    await table(t, ([verb, status, reasonCode]) => move(client, verb, { reasonCode }, `COL-${status}`), {
      [invalid('reasonCode')]: [
        ...wrong.map(code => ['reject', 'SUBMITTED', code]),
        ...['reject PROCESSING', 'fail PROCESSING', 'return SETTLED'].map(name => [...name.split(' '), 'AC13']),
        ['return', '9999', 'ZZ99'],
      ],
      [WRONG_REASON]: ['submit PENDING', 'cancel PENDING', 'process SUBMITTED', 'settle PROCESSING'].map(name => [
        ...name.split(' '),
        'AM04',
      ]),
    })
    t.match((await move(client, 'reject', { reasonCode: 'AC13' }, 'COL-SUBMITTED')).body.message, /B2B/)
    const states = await Promise.all(STATES.map(async status => (await read(client, `COL-${status}`)).status))
    t.same(states, STATES, 'nothing was changed')
  },
)

t.test('decisions §6: AM04, MD06 and MD01 may return a collection until the last second of their windows', async t => {
  const cases: [from: string, collectionDate: string, ...until: string[]][] = [
    // In winter, over Easter, into summer time, and from the end of a long month.
    [MONDAY, '2026-11-09', '2026-11-16T22:59:59Z', '2027-01-04T22:59:59Z', '2027-12-09T22:59:59Z'],
    ['2026-03-23T09:00:00Z', '2026-03-31', '2026-04-09T21:59:59Z', '2026-05-26T21:59:59Z', '2027-04-30T21:59:59Z'],
    ['2026-03-02T09:00:00Z', '2026-03-09', '2026-03-16T22:59:59Z', '2026-05-04T21:59:59Z', '2027-04-09T21:59:59Z'],
    ['2028-01-24T09:00:00Z', '2028-01-31', '2028-02-07T22:59:59Z', '2028-03-27T21:59:59Z', '2029-02-28T22:59:59Z'],
  ]
  const codes = ['AM04', 'MD06', 'MD01']
  for (const [from, collectionDate, ...until] of cases) {
    const client = await openAt(from)
    for (const code of codes) {
      for (const when of ['timely', 'late']) {
        await create(client, { collectionDate, collectionReference: `COL-${code}-${when}` })
      }
    }
    for (const [at, reasonCode] of codes.entries()) {
      const last = until[at] as string
      const late = `COL-${reasonCode}-late`
      const listed = async () => {
        const { legal } = await explain(client, late)
        return legal.find((row: { reasonCodes?: string[] }) => row.reasonCodes?.includes(reasonCode))?.until
      }
      await client.advance({ to: last })
      t.equal(await listed(), last, `${collectionDate} ${reasonCode}`)
      t.equal(gist(await move(client, 'return', { reasonCode }, `COL-${reasonCode}-timely`)), '200')
      await client.advance({ by: 'PT1S' })
      t.equal(await listed(), undefined)
      const refused = await move(client, 'return', { reasonCode }, late)
      t.match([gist(refused), refused.body.message], [WRONG_REASON, last], 'the end of the window is told')
      const after = (await move(client, 'return', {}, late)).body.record?.reasonCode
      t.equal(after, codes[at + 1], 'without a code, the one that is still open is taken')
    }
    t.same((await explain(client, 'COL-MD01-late')).legal, [], 'after 13 months no move is left')
  }
})

// --------------------------------------------------------------------------------------------- outcomes on demand

/** Creates one collection for each debtorReference, lets years pass, and tells the way of each, and the last moment. */
async function steer(references: readonly string[]) {
  const client = await openAt(MONDAY)
  const created: (string | undefined)[] = []
  for (const [index, debtorReference] of references.entries()) {
    const answer = await client.post(URL, collection({ collectionReference: `COL-${1000 + index}`, debtorReference }))
    created.push(answer.status === 201 ? (answer.headers['sandbox-hint'] as string | undefined) : gist(answer))
  }
  const { transitions } = (await client.advance({ to: '2028-01-31T00:00:00Z' })).body as { transitions: Transition[] }
  return references.map((_, index) => {
    const own = transitions.filter(({ reference }) => reference === `COL-${1000 + index}`)
    const reason = own.at(-1)?.reasonCode
    const way = [...own.map(({ to }) => to), reason].filter(Boolean).join(' ')
    return { way, day: own.at(-1)?.at.slice(0, 10) ?? '', reason, hint: created[index] }
  })
}

t.test('decisions §6: SIM-<STATE>-<CODE> steers a collection to that state, by the legal way', async t => {
  const settled = 'SUBMITTED PROCESSING SETTLED'
  const expected: [reference: string, way: string][] = [
    ...CLEARING.map((code): [string, string] => [`SIM-REJECTED-${code}`, `SUBMITTED REJECTED ${code}`]),
    ...BANK.map((code): [string, string] => [`SIM-REJECTED-${code}`, `SUBMITTED PROCESSING REJECTED ${code}`]),
    ...[...RETURN, 'MD06', 'MD01'].map((code): [string, string] => [
      `SIM-RETURNED-${code}`,
      `${settled} RETURNED ${code}`,
    ]),
    ['SIM-SETTLED', settled],
    ['SIM-CANCELLED', 'CANCELLED'],
    ['SIM-STUCK-PENDING', ''],
    ['SIM-STUCK-SUBMITTED', 'SUBMITTED'],
    ['SIM-STUCK-PROCESSING', 'SUBMITTED PROCESSING'],
    // Only the whole reference steers.
    ...['customer SIM-FAILED', 'sim-failed', 'SIMON'].map((name): [string, string] => [name, settled]),
  ]
  const found = await steer(expected.map(([reference]) => reference))
  t.same(
    found.map(({ way }, index) => [expected[index]?.[0], way]),
    expected,
  )
  t.same(
    found.filter(({ hint }) => hint !== undefined),
    [],
    'none of these is hinted at',
  )
  const dayOf = (reference: string) => found[expected.findIndex(([name]) => name === reference)]?.day as string
  const days = ['SIM-RETURNED-AM04', 'SIM-RETURNED-SL01', 'SIM-RETURNED-MD06'].map(dayOf)
  t.same(days, ['2026-11-11', '2026-11-11', '2026-12-09'], 'D+2 open days, and a refund at D+30 days')
  t.ok(dayOf('SIM-RETURNED-MD01') <= '2027-12-09', 'MD01 within 13 months')
})

t.test('decisions §6: the code may be left out', async t => {
  const [failed, rejected, returned] = await steer(['SIM-FAILED', 'SIM-REJECTED', 'SIM-RETURNED'])
  t.match(failed?.way, /^SUBMITTED PROCESSING FAILED [A-Z0-9]{4}$/)
  t.match(rejected?.way, /^SUBMITTED (PROCESSING )?REJECTED/)
  t.match(returned?.way, /^SUBMITTED PROCESSING SETTLED RETURNED/)
  t.ok([...CLEARING, ...BANK].includes(rejected?.reason as string))
  t.ok([...RETURN, 'MD06', 'MD01'].includes(returned?.reason as string))
})

t.test('decisions §6: a SIM-… that names no outcome steers nothing, and is hinted at', async t => {
  const names = [
    'SIM-',
    'SIM-NONSENSE',
    'SIM-REJECTED-MD06',
    'SIM-RETURNED-FF01',
    'SIM-REJECTED-AC13',
    'SIM-STUCK-LOST',
  ]
  for (const { way, hint } of await steer(names)) {
    t.equal(way, 'SUBMITTED PROCESSING SETTLED')
    t.match(hint, /debtorReference/)
  }
})

t.test('decisions §6: D+2 counts open days, and the reference of the mandate steers as well', async t => {
  const client = await earlyTenant()
  await client.advance({ to: '2026-03-23T09:00:00Z' })
  await client.post('/api/v1/mandates', mandate({ debtor: { ...mandate().debtor, reference: 'SIM-RETURNED-AM04' } }))
  await create(client, { collectionDate: '2026-04-02' })
  const { transitions } = (await client.advance({ by: 'P30D' })).body
  t.match(told(transitions).at(-1), /^2026-04-08T\S+ COL-0001 RETURNED AM04$/, 'Easter lies in between')
  const { cause } = (await explain(client)).timeline.at(-1)
  t.equal(cause, 'outcome')
})

t.test('decisions §6: an outcome shows in what comes next, and the control plane may come first', async t => {
  const client = await open({ debtorReference: 'SIM-REJECTED-AC01' })
  t.equal((await nextOf(client)).to, 'SUBMITTED')
  await move(client, 'submit')
  t.equal((await nextOf(client)).to, 'REJECTED')
  await move(client, 'process')
  await create(client, { collectionReference: 'COL-STUCK', debtorReference: 'SIM-STUCK-SUBMITTED' })
  await client.advance({ by: 'P30D' })
  t.equal((await read(client)).status, 'SETTLED', 'the state that the outcome leaves was left before')
  t.equal(await nextOf(client, 'COL-STUCK'), null)
  t.equal((await move(client, 'process', undefined, 'COL-STUCK')).body.record?.status, 'PROCESSING')
})

t.test('decisions §6: the tables of outcomes and reason codes are served', async t => {
  const client = await newClient()
  const served = JSON.stringify((await client.control('GET', '/outcomes')).body)
  const outcomes = ['SIM-REJECTED-AC01', 'SIM-RETURNED-AM04', 'SIM-RETURNED-MD06', 'SIM-FAILED', 'SIM-STUCK-SUBMITTED']
  for (const name of outcomes) t.match(served, `"${name}"`)
  const { data } = (await client.control('GET', '/reason-codes')).body as {
    data: { code: string; windows: object[] }[]
  }
  const rows = new Map(data.map(row => [row.code, row]))
  for (const code of [...CLEARING, ...BANK, ...RETURN, 'MD06']) t.ok(rows.has(code), code)
  t.match(rows.get('AC01'), {
    name: 'IncorrectAccountNumber',
    windows: [
      { transition: 'reject', until: null, phase: 'clearing', from: 'SUBMITTED', raisedBy: 'clearing' },
      { transition: 'return', until: 'D+5 open days', phase: 'return', from: 'SETTLED', raisedBy: 'debtor bank' },
    ],
  })
  t.match(rows.get('MD01')?.windows, [
    { transition: 'fail', from: 'PENDING', phase: 'submission', until: null },
    { transition: 'reject', from: 'PROCESSING', phase: 'bank', until: null },
    { transition: 'return', from: 'SETTLED', phase: 'unauthorised-refund', raisedBy: 'debtor', until: 'D+13 months' },
  ])
  t.match(rows.get('AM04')?.windows[1], { phase: 'return', raisedBy: 'debtor bank', until: 'D+5 open days' })
  t.match(rows.get('MD06')?.windows, [{ phase: 'refund', raisedBy: 'debtor', until: 'D+56 days' }])
})

t.test('control plane, Explain the state of a record: a collection, its past, next step and moves', async t => {
  const client = await open()
  const created = await explain(client)
  const { seq } = created.timeline[0]
  const same = { kind: 'collection', reference: 'COL-0001' }
  const first = { seq, at: MONDAY, ...same, from: null, to: 'PENDING', cause: 'api' }
  t.same([created.record, created.timeline], [await read(client), [first]])
  await client.advance({ by: 'P5D' })
  await move(client, 'reject', { reasonCode: 'AM04' })
  const at = '2026-11-07T09:00:00Z'
  const { record, timeline, next, legal } = await explain(client)
  t.match(record, { status: 'REJECTED', reasonCode: 'AM04', updatedAt: at })
  const states = { from: 'PROCESSING', to: 'REJECTED', reasonCode: 'AM04' }
  t.same(timeline.at(-1), { seq: seq + 3, at, ...same, ...states, cause: 'control' })
  t.equal(timeline.map(({ cause }: { cause: string }) => cause).join(), 'api,time,time,control')
  t.same([next, legal], [null, []])
})

// --------------------------------------------------------------------------------------------- with its mandate

t.test('decisions §6: PENDING becomes FAILED at submission when the mandate is no longer active', async t => {
  const client = await open()
  await client.control('POST', '/mandates/MND-0001/expire')
  t.same(await nextOf(client), { at: '2026-11-05T15:00:00Z', to: 'FAILED' })
  await client.advance({ to: '2026-11-05T14:59:59Z' })
  t.equal((await read(client)).status, 'PENDING', 'not before')
  await client.advance({ by: 'PT1S' })
  t.match(await read(client), { status: 'FAILED', updatedAt: '2026-11-05T15:00:00Z', reasonCode: /^[A-Z0-9]{4}$/ })
  const later = await openAt(MONDAY)
  await later.advance({ to: '2029-10-31T09:00:00Z' })
  await create(later, { collectionDate: '2029-11-07' })
  t.match(told((await later.advance({ by: 'P30D' })).body.transitions), [
    '2029-11-02T09:00:00Z MND-0001 EXPIRED',
    /^2029-11-05T15:00:00Z COL-0001 FAILED/,
  ])
})

t.test(
  'decisions §7: cancelling the mandate, by either plane, cancels its PENDING collections and no others',
  async t => {
    const ways = {
      api: (client: Client) => client.delete('/api/v1/mandates/MND-0001'),
      control: (client: Client) => client.control('POST', '/mandates/MND-0001/cancel'),
    }
    for (const [cause, cancel] of Object.entries(ways)) {
      const client = await openAt(MONDAY)
      await client.post('/api/v1/mandates', mandate({ mandateReference: 'MND-0002' }))
      for (const status of STATES) await lead(client, status, `COL-${status}`)
      await create(client, { collectionReference: 'COL-OTHER', mandateReference: 'MND-0002' })
      const list = async (): Promise<{ collectionReference: string }[]> => (await client.get(URL)).body.data
      const before = await list()
      await client.advance({ by: 'PT1H' })
      t.equal((await cancel(client)).status, 200)
      const pending = await read(client, 'COL-PENDING')
      t.match(pending, { status: 'CANCELLED', updatedAt: '2026-11-02T10:00:00Z', initiatedAt: MONDAY })
      t.match((await explain(client, 'COL-PENDING')).timeline.at(-1), { from: 'PENDING', to: 'CANCELLED', cause })
      t.same(
        await list(),
        before.map(row => (row.collectionReference === 'COL-PENDING' ? pending : row)),
      )
      await client.advance({ by: 'P30D' })
      t.equal((await read(client, 'COL-SUBMITTED')).status, 'SETTLED', 'a submitted one goes on')
    }
  },
)
