import type { Test } from 'tap'
import t from 'tap'
import type { Client } from '../helper.js'
import { bill, build, collection, connect, MONDAY, mandate, payoutLink, requestToken } from '../helper.js'
import { MULTIPART, upload } from '../multipart.js'
import type { Har, HarEntry } from './capture.js'
import { captured } from './capture.js'
import { journey } from './journey.js'
import { findingsOf, playRun } from './run.js'

// Correct traffic: none of it is a finding.

const IS_LONG = process.env.TEST_LONG === '1'

let base: Har
t.before(async () => {
  base = await journey(build(t))
})

/** Compares a capture, also from some places in its middle. */
async function compareFrom(t: Test, { log }: Har, places: readonly number[], name: string) {
  for (const from of new Set([0, ...places])) {
    const found = await findingsOf(t, { log: { ...log, entries: log.entries.slice(from) } })
    t.same(found, [], `${name} from ${from}`)
  }
}

t.test('decisions §1: a capture of the sandbox has no findings, also one that begins in its middle', async t => {
  const tenths = base.log.entries.flatMap((_, at) => (IS_LONG && at % 10 === 0 ? at : []))
  await compareFrom(t, base, [18, 45, 102, ...tenths], 'the journey')
})

t.test('fixtures, Fixtures: records that were there before the capture have no findings', async t => {
  const clock = { now: Date.parse(MONDAY) }
  const capture = captured(build(t), clock)
  const client = await connect(capture.app, 'sandbox-client', 'EU', 'sandbox-secret')
  for (const region of ['EU', 'US', 'UK', 'IN']) {
    for (const list of ['mandates', 'direct-debit', 'bills', 'accounts']) {
      let cursor = ''
      do {
        const { body } = await client.get(`/api/v1/${list}?limit=20${cursor}`, { region })
        cursor = body.nextCursor ? `&cursor=${body.nextCursor}` : ''
      } while (cursor !== '')
    }
  }
  for (let n = 10; n < 60; n++) await client.get(`/api/v1/direct-debit/COL-ACME-00${n}`)
  clock.now += 3 * 86_400_000
  await client.advance({ by: 'P3D' })
  for (let n = 10; n < 60; n++) await client.get(`/api/v1/direct-debit/COL-ACME-00${n}`)
  await client.get('/api/v1/direct-debit?limit=500')
  t.same(await findingsOf(t, capture.har()), [])
})

/** Seeds of random requests, with a place in their middle. */
const SEEDS: readonly (readonly [seed: number, from: number])[] = [
  [1, 18],
  [8, 63],
  [10, 69],
  [12, 6],
  [16, 6],
]

t.test('control plane, POST /clock/advance: random requests have no findings', { timeout: 120_000 }, async t => {
  const all = Array.from({ length: 20 }, (_, at) => SEEDS.find(([seed]) => seed === at + 1) ?? ([at + 1, 0] as const))
  for (const [seed, from] of IS_LONG ? all : SEEDS.slice(0, 2)) {
    const capture = await playRun(build(t), seed)
    await compareFrom(t, capture.har(), [from], `seed ${seed}`)
  }
})

t.test('decisions §3: two clients, their tokens and their records are kept apart', async t => {
  const clock = { now: Date.parse(MONDAY) }
  const capture = captured(build(t), clock)
  const clients = [await connect(capture.app, 'one'), await connect(capture.app, 'two', 'EU', 'another-secret')]
  for (const client of clients) await client.post('/api/v1/mandates', mandate())
  for (const client of clients) {
    await client.post('/api/v1/direct-debit', collection())
    const { body } = await client.post('/api/v1/payout-links', payoutLink())
    await client.patch(`/api/v1/payout-links/${body.payoutLinkId}/cancel`, { cancellationComment: 'x' })
    await client.get('/api/v1/mandates')
  }
  await requestToken(capture.app, { client_id: 'two' })
  await clients[0]?.get('/api/v1/mandates', { headers: { authorization: 'Bearer unknown' } })
  clock.now += 2 * 3_600_000
  for (const client of clients) await client.control('POST', '/clock/advance', { by: 'PT2H' })
  for (const client of clients) await client.get('/api/v1/direct-debit')
  const har = capture.har()
  const expired = har.log.entries.filter(({ response }) => response.status === 401)
  t.equal(expired.length, 4)
  t.same(await findingsOf(t, har), [])
})

t.test('decisions §1: the preflight of a browser is no request of the interface', async t => {
  const har = structuredClone(base)
  const preflight = structuredClone(har.log.entries.find(({ request }) => request.method === 'GET')) as HarEntry
  preflight.request.method = 'OPTIONS'
  preflight.request.headers.push({ name: 'Access-Control-Request-Method', value: 'GET' })
  Object.assign(preflight.response, { status: 204, content: { size: 0, mimeType: '' } })
  har.log.entries.push(preflight)
  t.same(await findingsOf(t, har), [])
})

t.test('decisions §9: what a capture leaves out of uploads or spoils is no finding', async t => {
  const bodies: Buffer[] = []
  const har = await sessionOf(t, async ({ client }) => {
    await client.post('/api/v1/bills', bill())
    for (const [reference, part] of [
      ['INV-2026-001', { fileName: 'für.png', type: 'image/png', content: Buffer.from('89504e470d0a1a0a00', 'hex') }],
      ['INV-2026-001', { fileName: 'other.png', type: 'image/png', content: Buffer.from('89504e470d0a1a0a01', 'hex') }],
      ['INV-2026-001', { fileName: 'b.pdf' }],
      ['INV-2026-001', { fileName: 'empty.pdf', content: '' }],
      ['INV-2026-999', { fileName: 'c.pdf' }],
    ] as const) {
      const { headers, body } = upload(part)
      bodies.push(body)
      await client.send('POST', `/api/v1/bills/${reference}/document`, { headers, body })
    }
    await client.get('/api/v1/bills/INV-2026-001')
  })
  const uploads = har.log.entries.filter(({ request }) => request.url.endsWith('/document'))
  t.same(
    uploads.map(({ response }) => response.status),
    [201, 201, 201, 400, 404],
  )
  const spoilt: [name: string, textOf: (body: Buffer) => string | undefined][] = [
    ['as Latin-1', body => body.toString('latin1')],
    ['as UTF-8', body => body.toString()],
    ['without the content', body => body.toString('latin1').replace(/(\r\n\r\n).*(\r\n--)/s, '$1$2')],
    ['without the body', () => undefined],
  ]
  for (const [name, textOf] of spoilt) {
    for (const [at, { request }] of uploads.entries()) {
      const text = textOf(bodies[at] as Buffer)
      request.postData = { mimeType: MULTIPART['content-type'], ...(text !== undefined && { text }) }
    }
    t.same(await findingsOf(t, har), [], name)
  }
})

/** A client whose requests are captured. `goTo` moves the clock, and `hidden` makes a request that is not captured. */
interface Session {
  readonly client: Client
  goTo(to: string): Promise<unknown>
  hidden(request: () => Promise<unknown>): Promise<void>
}

async function sessionOf(t: Test, act: (session: Session) => Promise<unknown>): Promise<Har> {
  const clock = { now: Date.parse(MONDAY) }
  const capture = captured(build(t), clock)
  const client = await connect(capture.app)
  const { log } = capture.har()
  await act({
    client,
    goTo(to) {
      clock.now = Date.parse(to)
      return client.advance({ to })
    },
    async hidden(request) {
      const { length } = log.entries
      await request()
      log.entries.length = length
    },
  })
  return { log }
}

/** What others do meanwhile, or did before the capture. */
const BY_OTHERS: Readonly<Record<string, (session: Session) => Promise<unknown>>> = {
  'a cancelled mandate': async ({ client, goTo }) => {
    await client.post('/api/v1/mandates', mandate())
    await client.post('/api/v1/direct-debit', collection())
    await goTo('2026-11-02T09:10:00Z')
    await client.control('POST', '/direct-debit/COL-0001/cancel')
    await client.control('POST', '/mandates/MND-0001/cancel')
    await client.get('/api/v1/direct-debit/COL-0001')
    await client.post('/api/v1/direct-debit', collection({ collectionReference: 'COL-0002' }))
  },
  'a link that was claimed before its end': async ({ client, goTo }) => {
    const link = payoutLink({ expiryPeriod: 'PT10M' })
    const { payoutLinkId } = (await client.post('/api/v1/payout-links', link)).body
    const claim = { accountHolderName: 'Jane Doe', accountIdentifier: 'DE89370400440532013000' }
    await client.control('POST', `/payout-links/${payoutLinkId}/claim`, claim)
    await goTo('2026-11-02T12:00:00Z')
    await client.patch(`/api/v1/payout-links/${payoutLinkId}/cancel`, { cancellationComment: 'x' })
  },
  'a collection whose mandate is not shown': async ({ client, goTo, hidden }) => {
    await hidden(() => client.post('/api/v1/mandates', mandate()))
    await hidden(() => client.post('/api/v1/direct-debit', collection()))
    await client.get('/api/v1/direct-debit')
    await goTo('2026-11-06T09:00:00Z')
    await client.get('/api/v1/direct-debit?status=PENDING')
    await goTo('2026-11-10T09:00:00Z')
    await client.get('/api/v1/direct-debit?status=SETTLED')
  },
  'records that leave filtered lists': async ({ client, goTo, hidden }) => {
    await client.post('/api/v1/mandates', mandate())
    await client.post('/api/v1/direct-debit', collection())
    for (const n of ['1', '2', '3']) await client.post('/api/v1/bills', bill({ uniqueReferenceIdentifier: `INV-${n}` }))
    await client.get('/api/v1/bills?dueDateTo=2026-12-31')
    await goTo('2026-11-02T09:10:00Z')
    await client.control('POST', '/mandates/MND-0001/cancel')
    await hidden(() => client.patch('/api/v1/bills/INV-1', { status: 'PAID' }))
    await hidden(() => client.patch('/api/v1/bills/INV-2', { dueDate: '2027-01-01' }))
    await client.get('/api/v1/direct-debit?status=PENDING,SUBMITTED')
    await client.get('/api/v1/mandates?status=ACTIVE')
    await client.get('/api/v1/bills?status=OPEN')
    await client.get('/api/v1/bills?dueDateTo=2026-12-31')
  },
  'a total that others change': async ({ client, goTo, hidden }) => {
    for (const n of ['1', '2', '3']) {
      const mandateReference = `MND-000${n}`
      await hidden(() => client.post('/api/v1/mandates', mandate({ mandateReference })))
    }
    await client.get('/api/v1/mandates?status=ACTIVE&limit=1')
    await goTo('2026-11-02T09:10:00Z')
    for (const n of ['1', '2']) await client.control('POST', `/mandates/MND-000${n}/cancel`)
    await client.get('/api/v1/mandates?status=ACTIVE&limit=1')
  },
  'a bill that others paid, and a collection that the bank has rejected': async ({ client, goTo, hidden }) => {
    await client.post('/api/v1/mandates', mandate())
    await client.post('/api/v1/direct-debit', collection())
    await client.post('/api/v1/bills', bill())
    await goTo('2026-11-06T09:00:00Z')
    await hidden(() => client.patch('/api/v1/bills/INV-2026-001', { status: 'PAID' }))
    await client.control('POST', '/direct-debit/COL-0001/reject', { reasonCode: 'AC01' })
    await client.get('/api/v1/bills/INV-2026-001')
    await client.get('/api/v1/direct-debit/COL-0001')
    await goTo('2026-11-12T09:00:00Z')
    await client.get('/api/v1/direct-debit')
    await client.patch('/api/v1/bills/INV-2026-001', { dueDate: '2027-01-01' })
  },
}

t.test('decisions §7: changes that others have made meanwhile are no findings', async t => {
  for (const [name, act] of Object.entries(BY_OTHERS)) t.same(await findingsOf(t, await sessionOf(t, act)), [], name)
})
