import t from 'tap'
import { resolveFixture } from '../../src/tenants/fixtures.js'
import { gist, table } from '../answers.js'
import { bill, build, connect, MONDAY } from '../helper.js'

const DATES = ['{{today}}', '{{today+P14D}}', '{{today-P2D}}', '{{today+P1W}}']
const OPEN_DAYS = ['{{open-day}}', '{{open-day+1}}', '{{open-day+2}}', '{{open-day+5}}', '{{open-day-1}}']
const MOMENTS = ['{{now}}', '{{now-P3D}}', '{{now-PT90M}}', '{{now-P1DT1S}}', '{{open-day-1T14:00}}']
const WRONG = [
  ...['{{}}', '{{now', '{{now}} ', '{{ now }}', '{{tomorrow}}', '{{now+}}', '{{now+3D}}', '{{now-P1M}}', '{{now-P1Y}}'],
  ...['{{now--P1D}}', '{{nowP1D}}', '{{today+2}}', '{{today-P1Y}}', '{{open-day+P2D}}', '{{open-day+99999}}'],
  ...['{{open-day+}}', '{{open-day+2x}}', '{{open-day*2}}'],
]

/** A fixture of one bill for each template, named by its number, with the template in one member. */
const billsWith = (member: string, templates: readonly string[]) => ({
  bills: templates.map((template, at) => bill({ uniqueReferenceIdentifier: `ref-${at}`, [member]: template })),
})
const fixtures = new Map<string, Record<string, unknown>>([
  ['empty', {}],
  ['demo', {}],
  ['dates', billsWith('dueDate', [...DATES, ...OPEN_DAYS])],
  ['moments', billsWith('createdAt', MOMENTS)],
  ['hours', billsWith('dueDate', ['{{today-PT36H}}', '{{today+PT36H}}'])],
  ['texts', billsWith('description', ['Jane {{now}}', 'now', '{now}', '2026-01-01'])],
  ...WRONG.map((template): [string, Record<string, unknown>] => [template, billsWith('description', [template])]),
])
const app = build(t, { fixtures, clock: '2026-10-01T09:00:00Z' })
let count = 0

/** The values of a member after a fixture has been seeded at a moment, in the order of the fixture. */
async function seeded(fixture: string, member: string, at: string): Promise<string[]> {
  const client = await connect(app, `tenant-${++count}`)
  await client.advance({ to: at })
  const answer = await client.control('POST', '/seed', { fixture })
  if (answer.status !== 200) throw new Error(gist(answer))
  const size = answer.body.added.bills
  const references = Array.from({ length: size }, (_, index) => `/api/v1/bills/ref-${index}`)
  return Promise.all(references.map(async url => (await client.get(url)).body[member]))
}

t.test('fixtures, Fixtures: moments are relative to the present of the tenant', async t => {
  const moments = [
    '2026-11-02T09:00:00Z',
    '2026-10-30T09:00:00Z',
    '2026-11-02T07:30:00Z',
    '2026-11-01T08:59:59Z',
    '2026-10-30T13:00:00Z',
  ]
  t.same(await seeded('moments', 'createdAt', MONDAY), moments)
})

t.test('fixtures, Fixtures: dates and open days are relative to today, on the calendar of Berlin', async t => {
  const at: Record<string, string[]> = {
    [MONDAY]: [
      ...['2026-11-02', '2026-11-16', '2026-10-31', '2026-11-09'],
      ...['2026-11-02', '2026-11-03', '2026-11-04', '2026-11-09', '2026-10-30'],
    ],
    // Saturday, Christmas Eve, and the last second of a day in Berlin with the next.
    '2026-11-07T12:00:00Z': [
      ...['2026-11-07', '2026-11-21', '2026-11-05', '2026-11-14'],
      ...['2026-11-09', '2026-11-09', '2026-11-10', '2026-11-13', '2026-11-06'],
    ],
    '2026-12-24T12:00:00Z': [
      ...['2026-12-24', '2027-01-07', '2026-12-22', '2026-12-31'],
      ...['2026-12-24', '2026-12-28', '2026-12-29', '2027-01-04', '2026-12-23'],
    ],
  }
  for (const [moment, dates] of Object.entries(at)) t.same(await seeded('dates', 'dueDate', moment), dates, moment)
  const today = async (moment: string) => (await seeded('dates', 'dueDate', moment))[0]
  t.same(
    [await today('2026-11-02T22:59:59Z'), await today('2026-11-02T23:00:00Z')],
    ['2026-11-02', '2026-11-03'],
    'a day begins at midnight in Berlin',
  )
})

t.test('fixtures, Fixtures: a part of a day does not move a date', async t => {
  t.same(await seeded('hours', 'dueDate', MONDAY), ['2026-11-01', '2026-11-03'])
})

t.test('fixtures, Fixtures: a date is the whole of a text, all else stays as it is', async t => {
  t.same(await seeded('texts', 'description', MONDAY), ['Jane {{now}}', 'now', '{now}', '2026-01-01'])
})

t.test('fixtures, Fixtures: a text that starts like a relative date and is none is refused', async t => {
  const client = await connect(app, 'wrong')
  const seed = async (fixture: string) =>
    (await client.control('POST', '/seed', { fixture })).status < 400 ? 'taken' : 'refused'
  await table(t, seed, { refused: WRONG })
  t.equal((await client.get('/api/v1/bills')).body.totalCount, 0)
})

t.test('fixtures, Fixtures: a status by the schedule needs the times of a collection or mandate', async t => {
  const collection = { collectionDate: '{{open-day+2}}', initiatedAt: '{{now-P6D}}', status: '{{schedule}}' }
  const wrong = [
    { bills: [{ status: '{{schedule}}' }] },
    { collections: [{ ...collection, initiatedAt: 'yesterday' }] },
    { collections: [{ ...collection, collectionDate: 7 }] },
    { collections: [{ status: '{{schedule}}' }] },
    { mandates: [{ status: '{{schedule}}' }] },
    { mandates: [{ status: '{{schedule}}', createdAt: '{{now}}', lastPresentedAt: null }] },
  ]
  for (const fixture of wrong) t.throws(() => resolveFixture(fixture, 0), /^\w+\.0\.status: \{\{schedule\}\} needs/)
  const monday = Date.parse(MONDAY)
  t.match(resolveFixture({ collections: [collection] }, monday), { collections: [{ status: 'PENDING' }] })
  // A Saturday, which is moved to this Monday.
  const saturday = { ...collection, collectionDate: '2026-10-31' }
  t.match(resolveFixture({ collections: [saturday] }, monday), { collections: [{ status: 'PROCESSING' }] })
  const mandates = [{ createdAt: '{{now-P2000D}}', status: '{{schedule}}' }]
  t.match(resolveFixture({ mandates }, monday), {
    mandates: [{ status: 'EXPIRED', updatedAt: '2024-05-12T09:00:00Z' }],
  })
})
