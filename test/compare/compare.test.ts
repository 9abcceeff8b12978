import { readFileSync } from 'node:fs'
import type { Test } from 'tap'
import t from 'tap'
import * as place from '../../src/compare/places.js'
import { createSandbox } from '../../src/compare/sandbox.js'
import type { Har, HarEntry } from '../capture.js'
import { captured } from '../capture.js'
import type { Client } from '../helper.js'
import { bill, build, collection, connect, MONDAY, mandate, payoutLink } from '../helper.js'
import { BOUNDARY, MULTIPART, multipart, upload } from '../multipart.js'
import { createPlayer, injecting, randomRequests } from '../random-requests.js'
import { journeyCapture } from './journey.js'
import { compareHar, differencesIn, differencesOf } from './run.js'

const IS_LONG = process.env.TEST_LONG === '1'

/** Compares a capture, also from some places in its middle. The long form begins it at each tenth entry, too. */
async function compareFrom(t: Test, { log }: Har, places: readonly number[], name: string) {
  const tenths = log.entries.flatMap((_, at) => (IS_LONG && at % 10 === 0 ? at : []))
  for (const from of new Set([0, ...places, ...tenths])) {
    const later = { log: { ...log, entries: log.entries.slice(from) } }
    const { code, stdout, stderr } = await compareHar(t, later, ['--json'])
    t.same({ found: differencesIn(stdout), code, stderr }, { found: [], code: 0, stderr: '' }, `${name} from ${from}`)
  }
}

t.test('decisions §1: a capture of the sandbox differs in nothing, also one that begins in the middle', async t => {
  // Then lists of one second have no order, a mandate no state, and a counterparty is in two regions.
  await compareFrom(t, await journeyCapture(), [18, 45, 102], 'the journey')
})

t.test('fixtures, Fixtures: the fixture demo differs in nothing, at any hour of a day', async t => {
  for (let hour = 0; hour < 24; hour += IS_LONG ? 1 : 14) {
    const clock = { now: Date.parse(MONDAY) + hour * 3_600_000 }
    const now = `${new Date(clock.now).toISOString().slice(0, 19)}Z`
    const capture = captured(build(t, { clock: now }), clock)
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
    t.same(await differencesOf(t, capture.har()), [], now)
  }
})

/** Seeds of random requests, with the places from which a capture shows refusals for records that it does not. */
const PLACES: readonly (readonly [seed: number, from: number])[] = [
  [1, 18],
  [8, 63],
  [10, 69],
  [12, 6],
  [16, 6],
]

t.test('control plane, POST /clock/advance: random requests differ in nothing', { timeout: 120_000 }, async t => {
  const all = Array.from({ length: 20 }, (_, at) => PLACES.find(([seed]) => seed === at + 1) ?? ([at + 1, 0] as const))
  for (const [seed, from] of IS_LONG ? all : PLACES) {
    const clock = { now: Date.parse(MONDAY) }
    const capture = captured(build(t), clock)
    const player = createPlayer(injecting(capture.app), 'acme')
    await player.authenticate()
    for (const request of randomRequests(seed, 200)) {
      if (request.plane === 'control' && !request.path.startsWith('/_sandbox/clock/advance')) continue
      await player.play(request)
      if (request.plane === 'control')
        clock.now = Math.max(clock.now, Date.parse(JSON.parse((await player.control('GET', '/clock')).text).now))
    }
    await compareFrom(t, capture.har(), [from], `seed ${seed}`)
  }
})

t.test('decisions §9: a document of another type that is accepted is a finding, also without its content', async t => {
  const capture = captured(build(t), { now: Date.parse(MONDAY) })
  const client = await connect(capture.app, 'sandbox-client', 'EU', 'sandbox-secret')
  const body = multipart({ fileName: 'a.gif', type: 'image/gif', content: 'GIF89a' }).toString()
  await client.send('POST', '/api/v1/bills/BILL-EU-2017/document', { headers: MULTIPART, body })
  await client.send('POST', '/api/v1/bills/BILL-EU-2017/document', {
    headers: MULTIPART,
    body: multipart({}).toString(),
  })
  const har = capture.har()
  t.same(await differencesOf(t, har), [])
  const [gif, pdf] = har.log.entries.slice(-2) as [(typeof har.log.entries)[0], (typeof har.log.entries)[0]]
  gif.response = structuredClone(pdf.response)
  // RFC 2046 §5.1.1: a boundary has at most 70 characters. A longer one is not read.
  const boundaries: [boundary: string, findings: object[]][] = [
    [BOUNDARY, [{ label: 'documented', what: 'accepted, where UNSUPPORTED_MEDIA_TYPE is expected' }]],
    ['Ab.+(x)'.repeat(10), [{ label: 'documented', what: 'accepted, where UNSUPPORTED_MEDIA_TYPE is expected' }]],
    ['a'.repeat(71), []],
    ['a'.repeat(300_000), []],
  ]
  for (const [boundary, findings] of boundaries) {
    const text = JSON.stringify(har).replaceAll(BOUNDARY, boundary)
    const found = await differencesOf(t, text)
    t.match(found, findings, boundary.slice(0, 80))
    t.equal(found.length, findings.length)
  }
  // A capture that leaves the file out has no difference.
  har.log.entries.splice(-2, 1)
  pdf.request.postData = { mimeType: MULTIPART['content-type'] }
  t.same(await differencesOf(t, har), [])
})

t.test('decisions §1: the preflight of a browser is no request of the interface', async t => {
  const har = await journeyCapture()
  const listed = har.log.entries.find(({ request }) => request.method === 'GET')
  const preflight = structuredClone(listed) as (typeof har.log.entries)[0]
  preflight.request.method = 'OPTIONS'
  preflight.request.headers.push({ name: 'Access-Control-Request-Method', value: 'GET' })
  Object.assign(preflight.response, { status: 204, content: { size: 0, mimeType: '' } })
  har.log.entries.push(preflight)
  t.same(await differencesOf(t, har), [])
})

t.test('decisions §9: what a capture leaves out of uploads or spoils is no difference', async t => {
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
  const found = uploads.map(({ response }) => response.status)
  t.same(found, [201, 201, 201, 400, 404])
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
    t.same(await differencesOf(t, har), [], name)
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
  'a cancellation in the second of the creation': async ({ client }) => {
    await client.post('/api/v1/mandates', mandate())
    await client.post('/api/v1/direct-debit', collection())
    await client.control('POST', '/direct-debit/COL-0001/cancel')
    await client.get('/api/v1/direct-debit/COL-0001')
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
  'a collection that is submitted at once on a Sunday': async ({ client, goTo }) => {
    await goTo('2026-11-08T10:00:00Z')
    await client.post('/api/v1/mandates', mandate())
    for (const collectionReference of ['COL-0001', 'COL-0002'])
      await client.post('/api/v1/direct-debit', collection({ collectionReference, collectionDate: '2026-11-10' }))
    await goTo('2026-11-08T16:00:00Z')
    await client.get('/api/v1/direct-debit?status=PENDING')
    await client.get('/api/v1/direct-debit/COL-0001')
    await client.get('/api/v1/direct-debit')
  },
}

t.test('decisions §7: what others have done meanwhile is no difference', async t => {
  for (const [name, act] of Object.entries(BY_OTHERS)) {
    const { code, stdout } = await compareHar(t, await sessionOf(t, act), ['--json'])
    t.same(differencesIn(stdout), [], name)
    t.equal(code, 0, name)
  }
})

t.test('decisions §2: a record that a filter leaves out is a difference, also in a page of a long list', async t => {
  const har = await sessionOf(t, async ({ client }) => {
    for (let n = 0; n < 60; n++) await client.post('/api/v1/bills', bill({ uniqueReferenceIdentifier: `INV-${n}` }))
    await client.patch('/api/v1/bills/INV-59', { status: 'PAID' })
    await client.get('/api/v1/bills?status=OPEN&limit=2')
  })
  t.same(await differencesOf(t, har), [])
  const [paid, { data, ...page }] = har.log.entries
    .slice(-2)
    .map(({ response }) => JSON.parse(`${response.content.text}`))
  const { content } = (har.log.entries.at(-1) as HarEntry).response
  content.text = JSON.stringify({ ...page, data: [paid, data[0]] })
  const found = await differencesOf(t, har)
  t.match(found, [{ operation: 'GET /api/v1/bills', what: /^a record that the sandbox does not list/ }])
  t.equal(found.length, 1)
})

t.test('decisions §9: a creation that is over an hour away from its request is a difference', async t => {
  const har = await sessionOf(t, ({ client }) => client.post('/api/v1/bills', bill()))
  const { content } = (har.log.entries.at(-1) as HarEntry).response
  const created = JSON.parse(content.text as string)
  for (const [at, isFound] of Object.entries({ '07:50': true, '08:10': false, '09:50': false, '10:10': true })) {
    const time = `2026-11-02T${at}:00Z`
    content.text = JSON.stringify({ ...created, createdAt: time, updatedAt: time })
    const found = (await differencesOf(t, har)).map(({ what }) => what.split(':')[0])
    t.same(found, isFound ? ['createdAt is another time', 'updatedAt is another time'] : [], at)
  }
})

t.test('decisions §6: a reason code that does not fit the transition is a difference', async t => {
  const har = await sessionOf(t, async ({ client, goTo }) => {
    await client.post('/api/v1/mandates', mandate())
    await client.post('/api/v1/direct-debit', collection())
    await goTo('2026-11-10T09:00:00Z')
    await client.get('/api/v1/direct-debit/COL-0001')
    await client.control('POST', '/direct-debit/COL-0001/return', { reasonCode: 'MD06' })
    await goTo('2026-12-01T09:00:00Z')
    await client.get('/api/v1/direct-debit/COL-0001')
  })
  const last = har.log.entries.at(-1) as HarEntry
  const returned = JSON.parse(last.response.content.text as string)
  const cases: [change: object, findings: string[]][] = [
    [{}, []],
    [{ reasonCode: 'AM04' }, []],
    [{ reasonCode: 'XX99' }, ['reasonCode is none of this transition: AA99']],
    [{ reasonCode: 'FF01' }, ['reasonCode is none of this transition: AA99']],
    [{ reasonCode: 'AM04', updatedAt: '2026-11-30T09:00:00Z' }, ['reasonCode is none of this transition: AA99']],
    [{ reasonCode: undefined }, ['reasonCode is absent']],
  ]
  for (const entries of [har.log.entries, [last]]) {
    for (const [change, findings] of cases) {
      last.response.content.text = JSON.stringify({ ...returned, ...change })
      const found = await differencesOf(t, { log: { ...har.log, entries } })
      const shown = found.map(({ what }) => what)
      t.same(shown, findings, JSON.stringify(change))
    }
  }
})

t.test('interface, Errors: a refusal is compared without the content of the request, too', async t => {
  const har = await sessionOf(t, async ({ client }) => {
    await client.send('PUT', '/api/v1/mandates', { body: mandate() })
    await client.post('/api/v1/mandates', '{')
  })
  const [put, post] = har.log.entries.slice(-2) as [HarEntry, HarEntry]
  for (const { request } of [put, post])
    request.postData = { mimeType: 'application/json', comment: 'left out' } as never
  t.same(await differencesOf(t, har), [])
  put.response.headers = put.response.headers.filter(({ name }) => name !== 'allow')
  post.response.content.text = '{"code":"INVALID_BODY"}'
  t.match(await differencesOf(t, har), [{ where: 'decisions §1 Allow' }, { where: 'interface, Errors: code' }])
})

t.test('fidelity, Documented and assumed: --json is a list of findings, and --all lists them for people', async t => {
  const har = await journeyCapture()
  const { stdout } = await compareHar(t, har, ['--json'])
  const findings = JSON.parse(stdout)
  const places = new Map([
    ['documented', /^interface, .+: ./],
    ['assumed', /^(decisions §\d+ |errors: )./],
  ])
  t.ok(findings.length > 300)
  t.same(
    (findings as Record<string, string>[]).filter(
      ({ finding, label = '', where = '' }) =>
        !['confirmed', 'never-seen'].includes(finding as string) || !places.get(label)?.test(where),
    ),
    [],
  )
  const of = (operation: string) => findings.filter((one: { operation: string }) => one.operation === operation)
  t.match(of('POST /api/v1/mandates'), [{ what: 'status 201', finding: 'confirmed', where: 'decisions §7 201' }])
  const all = (await compareHar(t, har, ['--all'])).stdout
  t.match(
    all,
    /^- POST \/api\/v1\/mandates: errorCode DUPLICATE_REFERENCE\n {2}errors: DUPLICATE_REFERENCE, \d+ times?$/m,
  )
  t.match(all, /^Never seen: \d+\n- /m)
})

/** The sections of a document by their headings, without line breaks. */
function sectionsOf(file: string, depth: RegExp): Map<string, string> {
  const sections = readFileSync(file, 'utf8').split(depth).slice(1)
  return new Map(sections.map(section => [section.split('\n')[0] as string, section.replace(/\s+/g, ' ')]))
}

t.test('CONTRIBUTING, Requirements of a change: each place of a finding is in its section of a document', async t => {
  const decisions = [...sectionsOf('docs/decisions.md', /^## (?=\d)/m)]
  const documented = [...sectionsOf('docs/service-interface.md', /^#{2,3} /m)]
  const sections = new Map([
    ['errors', readFileSync('docs/errors.md', 'utf8')],
    ...decisions.map(([heading, text]): [string, string] => [`decisions §${heading.split('.')[0]}`, text]),
    ...documented.map(([heading, text]): [string, string] => [`interface, ${heading}`, text]),
  ])
  const { contract, close } = await createSandbox(Date.parse(MONDAY))
  await close()
  const { ENVELOPE, JSON_BODY, NO_CONTENT, FIELD } = place
  const unknown = place.placeOfRefusal(undefined, 'ROUTE_NOT_FOUND', null, '/api/v1/a/b/c')
  for (const operation of contract.operations) {
    const { codes, answer, params, query, body } = operation
    const schema = operation.record ?? answer
    const names = Object.keys(schema.properties ?? {})
    const fields = [params, query, body].flatMap(part => Object.keys(part?.properties ?? {}))
    const states: string[] = schema.properties?.status?.enum ?? []
    const facts = [...states.map(state => `state ${state}`), ...codes.map(code => `errorCode ${code}`), 'page first']
    const places = [
      ...[ENVELOPE, JSON_BODY, NO_CONTENT, FIELD, unknown, place.placeOfStatus(operation)],
      ...names.flatMap(name => [undefined, 'x'].map(value => place.placeOfMember(operation, schema, [name], value))),
      ...facts.map(fact => place.placeOfFact(operation, fact)),
      ...codes.map(place.placeOfCode),
      ...codes.flatMap(code => [null, 'file'].map(field => place.placeOfRefusal(operation, code, field))),
      ...fields.map(field => place.placeOfRefusal(operation, 'INVALID_FIELD', field)),
      ...(operation.isList ? Object.keys(answer.properties) : []).map(name => place.placeOfList(operation, name)),
      ...place.HEADER_NAMES.map(name => place.placeOfHeader(name, undefined)),
    ]
    const missing = places.filter(({ where }) => {
      const [, section = '', anchor = ''] = /^(decisions §\d+|interface, .+(?=: )|errors):? (.+)$/.exec(where) ?? []
      const word = anchor.split(/\.(?=\w)/).at(-1) as string
      return !sections.get(section)?.includes(word)
    })
    t.same(missing, [], operation.id)
  }
})
