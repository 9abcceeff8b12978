import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { build, call, collection, connect, mandate, payoutLink } from '../helper.js'
import { follow, open, submit, toText } from './pages.js'

/** The pages that say what has just happened, and what comes. */

const DEMO = { client: 'sandbox-client' }

/** Gives the demo client its records. */
const reset = (app: FastifyInstance) => call(app, 'POST', '/_sandbox/reset')

/** Returns the rows of a table of a page: its records with their states and times. */
function rowsOf(html: string, table: string) {
  const rows = [...html.matchAll(new RegExp(`<tr id="${table}-[^"]*"[^>]*>(.*?)</tr>`, 'gs'))]
  return rows.map(([, row = '']) => ({
    reference: /<th[^>]*>(?:<a[^>]*>)?([^<]*)/.exec(row)?.[1] as string,
    to: /class="status [^"]*">([^<]*)/.exec(row)?.[1] as string,
    at: /datetime="([^"]*)"/i.exec(row)?.[1] as string,
  }))
}

t.test('console, Actions: what happened has the records of the story first, and then the newest', async t => {
  const app = build(t)
  await reset(app)
  for (const step of [1, 2]) await submit(app, '', `story-${step}`, {}, DEMO)
  const { payload } = await follow(app, '', await submit(app, '', 'story-3', {}, DEMO))
  const happened = rowsOf(payload, 'happened')
  t.same(
    happened.slice(0, 3).map(({ reference, to }) => `${reference} ${to}`),
    ['SETTLED', 'PROCESSING', 'SUBMITTED'].map(state => `STORY-COLLECTION-1 ${state}`),
  )
  const others = happened.slice(3)
  t.equal(others.length, 17)
  t.notOk(
    others.some(({ reference }) => reference.startsWith('STORY')),
    'none is listed twice',
  )
  const times = others.map(({ at }) => at)
  t.same(times, times.toSorted().reverse())
  const { events } = (await call(app, 'GET', '/_sandbox/state')).body
  const all: { at: string; reference: string }[] = events
  t.equal(times[0], all.findLast(({ reference }) => !reference.startsWith('STORY'))?.at, 'the newest are listed')
  t.match(payload, /<span>And \d+ before these\.<\/span>/)
})

t.test('console, Pages: the latest transitions are in order by time, and of all kinds', async t => {
  const app = build(t)
  await reset(app)
  const latest = rowsOf((await open(app, '', DEMO)).payload, 'latest')
  const { events } = (await call(app, 'GET', '/_sandbox/state')).body
  const times = (events as { at: string }[]).map(({ at }) => at).toSorted()
  t.same(
    latest.map(({ at }) => at),
    times.reverse().slice(0, 10),
  )
})

t.test('console, Actions: the button of the next event names it, and no page has two primary buttons', async t => {
  const app = build(t)
  const client = await connect(app)
  const nextOf = async () =>
    /<form id="next-event".*?<button[^>]*>(.*?)<\/button>/s.exec((await open(app, '')).payload)?.[1]
  t.equal(await nextOf(), 'Next event')
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/direct-debit', collection())
  t.equal(await nextOf(), 'Next: COL-0001 SUBMITTED, 5 Nov 2026, 15:00')
  const { body } = await client.post('/api/v1/payout-links', payoutLink({ expiryPeriod: 'P30D' }))
  await reset(app)
  const pages = [
    '/collections/COL-0001',
    '/mandates/new',
    `/payout-links/${body.payoutLinkId}`,
    '/requests',
    '/requests/1',
  ]
  const rows = [
    ...['', ...pages, '/failures', '/client'].map(path => ({ path, of: undefined })),
    { path: '', of: DEMO },
  ]
  for (const { path, of } of rows) {
    const { payload } = await open(app, path, of)
    const [, main = ''] = payload.split('<main')
    const primary = [...main.matchAll(/<(?:button[^>]* class="primary"|a class="button")[^>]*>(.*?)</g)]
    t.ok(primary.length <= 1, `${path}: ${primary.map(([, text]) => toText(text as string))}`)
  }
  t.match((await open(app, '', DEMO)).payload, /<form id="story-1".*?class="primary"/s)
})

t.test(
  'console, Pages: the message of an answer is said first, with its field, on the page and in the list',
  async t => {
    const app = build(t)
    const client = await connect(app)
    const causeOf = (html: string) =>
      toText(/<p class="cause">(.*?)<\/p>/s.exec(html)?.[1]?.replaceAll(/<[^>]*>/g, '') ?? '').trim()
    const { mandateReference, ...rest } = mandate()
    await client.post('/api/v1/mandates', rest)
    await client.get('/api/v1/mandate')
    const [missing, unknown] = [(await open(app, '/requests/2')).payload, (await open(app, '/requests/3')).payload]
    t.equal(causeOf(missing), 'mandateReference is required.')
    t.match(causeOf(unknown), 'Did you mean /api/v1/mandates?')
    t.equal(
      causeOf((await open(app, '/requests', { query: { method: 'POST', path: '/api/*' } })).payload),
      causeOf(missing),
    )
    t.ok(missing.indexOf('class="cause"') < missing.indexOf('<h2'), 'it is on top')
    const effect = { kind: 'error', status: 503, message: 'Away.', code: 'INTERNAL_ERROR' }
    await client.control('POST', '/faults', { effect })
    await client.get('/api/v1/mandates')
    t.equal(causeOf((await open(app, '/requests/4')).payload), 'Away.')
  },
)

t.test('console, Pages: a page of a request leads to the previous and the next one', async t => {
  const app = build(t)
  const client = await connect(app)
  for (let sent = 0; sent < 3; sent++) await client.get('/api/v1/mandates')
  const linksOf = async (seq: number) =>
    [
      ...(await open(app, `/requests/${seq}`)).payload.matchAll(
        /<a href="[^"]*\/requests\/(\d+)\?[^"]*">(\w+) request</g,
      ),
    ].map(([, to, name]) => `${name} ${to}`)
  t.same(await linksOf(1), ['Next 2'])
  t.same(await linksOf(2), ['Previous 1', 'Next 3'])
  t.same(await linksOf(4), ['Previous 3'])
})

t.test('console, Pages: the filter of the status takes a class of statuses', async t => {
  const app = build(t)
  const client = await connect(app)
  await client.get('/api/v1/mandates')
  await client.get('/api/v1/mandates/MND-0404')
  await client.get('/api/v1/mandates?limit=x')
  const seqs = async (status: string) =>
    [...(await open(app, '/requests', { query: { status } })).payload.matchAll(/<tr id="request-(\d+)"/g)].map(
      ([, seq]) => seq,
    )
  t.same(await seqs('4xx'), ['4', '3'])
  t.same(await seqs('404'), ['3'])
  t.same(await seqs('2xx'), ['2', '1'])
  t.same(await seqs('5xx'), [])
  t.equal((await open(app, '/requests', { query: { status: '40x' } })).statusCode, 400)
})

t.test('console, Pages: a refused request leads to no record, unless its reference is taken', async t => {
  const app = build(t)
  const client = await connect(app)
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/mandates', mandate({ type: 'x' }))
  await client.post('/api/v1/mandates', mandate({ mandateReference: 'MND-0404', type: 'x' }))
  await client.post('/api/v1/mandates', mandate({ mandateReference: { toString: 1 } }))
  const leads = async (seq: number) => (await open(app, `/requests/${seq}`)).payload.includes('<dt>Record</dt>')
  t.same(await Promise.all([2, 3, 4, 5, 6].map(leads)), [true, true, false, false, false])
})

t.test('fidelity, Documented and assumed: the example of each move of a collection is accepted', async t => {
  const app = build(t)
  const client = await connect(app)
  await client.post('/api/v1/mandates', mandate())
  const { paths } = (await call(app, 'GET', '/_sandbox/openapi.json')).body
  const moves = [['submit', 'process', 'settle', 'return'], ['fail'], ['cancel'], ['submit', 'reject']]
  for (const [at, verbs] of moves.entries()) {
    const collectionReference = `COL-${at}`
    await client.post('/api/v1/direct-debit', collection({ collectionReference }))
    for (const verb of verbs) {
      const { example } =
        paths[`/_sandbox/direct-debit/{collectionReference}/${verb}`].post.requestBody.content['application/json']
      t.same(example, {}, verb)
      const { status } = await client.control('POST', `/direct-debit/${collectionReference}/${verb}`, example)
      t.equal(status, 200, verb)
    }
  }
})

t.test('console, Actions: the help of a field is a sentence with its default, and each date has its year', async t => {
  const app = build(t)
  const client = await connect(app)
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/direct-debit', collection())
  const help = toText((await open(app, '/failures')).payload)
  for (const text of [
    'Only requests of this method. Default: any.',
    'The number of requests on which the fault fires, or null for no limit. Default: 1.',
  ]) {
    t.match(help, text)
  }
  t.match((await open(app, '/collections/COL-0001')).payload, /<text class="at"[^>]*>2 Nov 2026, 09:00<\/text>/)
})
