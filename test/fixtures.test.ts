import { join } from 'node:path'
import t from 'tap'
import { checkFixture } from '../src/check-fixture.js'
import { parseInstant } from '../src/core/time.js'
import type { Fixture } from '../src/fixtures.js'
import { loadFixtures, resolveDates } from '../src/fixtures.js'
import { createSandbox } from '../src/sandbox.js'
import { bill, collection, MONDAY, mandate } from './helper.js'

const at = (text: string) => parseInstant(text) as number

t.test('control plane, Fixtures: moments relative to the start', async t => {
  for (const [template, expected] of [
    ['{{now}}', '2026-11-02T09:00:00Z'],
    ['{{now-P3D}}', '2026-10-30T09:00:00Z'],
    ['{{now+P3D}}', '2026-11-05T09:00:00Z'],
    ['{{now-PT90M}}', '2026-11-02T07:30:00Z'],
    ['{{now-P1DT1S}}', '2026-11-01T08:59:59Z'],
    ['{{now+P1W}}', '2026-11-09T09:00:00Z'],
    ['{{now+PT0S}}', '2026-11-02T09:00:00Z'],
  ])
    t.equal(resolveDates(template, at(MONDAY)), expected)
})

t.test('control plane, Fixtures: dates relative to the start, on the calendar of Berlin', async t => {
  for (const [template, expected] of [
    ['{{today}}', '2026-11-02'],
    ['{{today+P14D}}', '2026-11-16'],
    ['{{today-P2D}}', '2026-10-31'],
    ['{{today+P1W}}', '2026-11-09'],
  ])
    t.equal(resolveDates(template, at(MONDAY)), expected)
  t.equal(resolveDates('{{today}}', at('2026-11-02T22:59:59Z')), '2026-11-02')
  t.equal(resolveDates('{{today}}', at('2026-11-02T23:00:00Z')), '2026-11-03', 'a new day in Berlin')
})

t.test('control plane, Fixtures: open days relative to the start', async t => {
  for (const [template, now, expected] of [
    ['{{open-day}}', MONDAY, '2026-11-02'],
    ['{{open-day}}', '2026-11-07T12:00:00Z', '2026-11-09'],
    ['{{open-day+2}}', MONDAY, '2026-11-04'],
    ['{{open-day+5}}', MONDAY, '2026-11-09'],
    ['{{open-day-1}}', MONDAY, '2026-10-30'],
    ['{{open-day+1}}', '2026-12-24T12:00:00Z', '2026-12-28'],
    ['{{open-day+1}}', '2026-11-07T12:00:00Z', '2026-11-09'],
    ['{{open-day+0}}', MONDAY, '2026-11-02'],
  ] as const)
    t.equal(resolveDates(template, at(now)), expected, `${template} at ${now}`)
})

t.test('control plane, Fixtures: dates are found wherever they stand; all else stays as it is', async t => {
  const fixture = {
    mandates: [{ createdAt: '{{now-P3D}}', debtor: { name: 'Jane {{now}}' }, dates: ['{{today}}', '2026-01-01'] }],
    text: 'now',
    braces: '{now}',
    number: 1,
    truth: true,
    nothing: null,
  }
  const before = JSON.stringify(fixture)
  t.same(resolveDates(fixture, at(MONDAY)), {
    mandates: [
      { createdAt: '2026-10-30T09:00:00Z', debtor: { name: 'Jane {{now}}' }, dates: ['2026-11-02', '2026-01-01'] },
    ],
    text: 'now',
    braces: '{now}',
    number: 1,
    truth: true,
    nothing: null,
  })
  t.equal(JSON.stringify(fixture), before, 'and the fixture itself is not touched')
})

t.test('control plane, Fixtures: what is no relative date is refused, and quoted', async t => {
  for (const template of [
    '{{}}',
    '{{now',
    '{{now}} ',
    '{{ now }}',
    '{{tomorrow}}',
    '{{now+}}',
    '{{now+3D}}',
    '{{now-P1M}}',
    '{{now-P1Y}}',
    '{{now--P1D}}',
    '{{nowP1D}}',
    '{{today+2}}',
    '{{today-P1Y}}',
    '{{open-day+P2D}}',
    '{{open-day+99999}}',
    '{{open-day+}}',
    '{{open-day+2x}}',
    '{{open-day*2}}',
  ]) {
    t.throws(
      () => resolveDates({ a: [template] }, at(MONDAY)),
      { message: `${template} is no relative date` },
      template,
    )
  }
})

// ----------------------------------------------------------------------------------------------------------- folders

t.test('control plane, SANDBOX_FIXTURES: a fixture is a JSON file, called by its name', async t => {
  const folder = t.testdir({
    'story.json': '{"bills": []}',
    'empty.json': '{}',
    'notes.txt': 'no fixture',
    'story.json.bak': 'no fixture',
  })
  const fixtures = loadFixtures(folder)
  t.same([...fixtures.keys()].sort(), ['empty', 'story'])
  t.same(fixtures.get('story'), { bills: [] })
})

t.test('control plane, SANDBOX_FIXTURES: what is no JSON object is refused by the name of its file', async t => {
  const folder = t.testdir({
    broken: { 'story.json': '{"bills": [}' },
    list: { 'story.json': '[]' },
    text: { 'story.json': '"story"' },
    null: { 'story.json': 'null' },
    void: { 'story.json': '' },
  })
  for (const name of ['broken', 'list', 'text', 'null', 'void']) {
    t.throws(() => loadFixtures(join(folder, name)), { message: /story\.json is not .*JSON/ }, name)
  }
  t.throws(() => loadFixtures(join(folder, 'missing')), { message: /missing/ })
})

const sandboxWith = (fixture: Fixture) =>
  createSandbox({
    seed: 'test',
    frozenAt: at(MONDAY),
    fixtures: new Map([
      ['demo', {}],
      ['story', fixture],
    ]),
    clients: [],
    openRegistration: true,
    maxTenants: 10,
    tokenLifetime: 3600,
    publicUrl: () => 'http://localhost',
  })

t.test('control plane, SANDBOX_FIXTURES: a fixture is held against what seeding takes', async t => {
  const good = { mandates: [mandate({ createdAt: '{{now-P3D}}' })], collections: [collection()], bills: [bill()] }
  await t.resolves(checkFixture(sandboxWith(good), 'story', at(MONDAY)))
  await t.resolves(checkFixture(sandboxWith({}), 'story', at(MONDAY) + 999), 'at any fraction of a second')
})

t.test('control plane, SANDBOX_FIXTURES: what is wrong is told by record and member', async t => {
  const cases: [Fixture, RegExp][] = [
    [{ mandates: [mandate(), mandate({ mandateReference: 'x' })] }, /mandates\.1\.mandateReference.*5 to 50.*"x"/],
    [{ bills: [bill({ dueDate: '2026-02-30' })] }, /bills\.0\.dueDate.*YYYY-MM-DD.*2026-02-30/],
    [{ bills: [{ ...bill(), dueDate: undefined }].map(one => JSON.parse(JSON.stringify(one))) }, /bills\.0.*dueDate/],
    [{ bills: {} }, /bills/],
    [{ collections: [collection()] }, /collections\.0\.mandateReference|MND-0001/],
    [{ mandates: [mandate({ createdAt: '{{yesterday}}' })] }, /\{\{yesterday\}\} is no relative date/],
  ]
  for (const [fixture, message] of cases) {
    await t.rejects(checkFixture(sandboxWith(fixture), 'story', at(MONDAY)), { message }, String(message))
  }
})
