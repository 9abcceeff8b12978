import t from 'tap'
import { bill, build, call, collection, connect, mandate, payoutLink } from '../helper.js'
import { upload } from '../multipart.js'
import type { Json, Operation } from './contract.js'
import { exampleRequest, operationsOf } from './contract.js'

/** decisions §1: all creations of the API, in an order that works. */
const CREATIONS: { id: string; path: string; options: object; location?: string; links: string[] }[] = [
  {
    id: 'createMandate',
    path: '/api/v1/mandates',
    options: { body: mandate() },
    location: '/api/v1/mandates/MND-0001',
    links: ['getMandate', 'cancelMandate', 'listMandates', 'listCollections'],
  },
  {
    id: 'createCollection',
    path: '/api/v1/direct-debit',
    options: { body: collection() },
    location: '/api/v1/direct-debit/COL-0001',
    links: ['getCollection', 'listCollections'],
  },
  // The service documents no read of payout links.
  {
    id: 'createPayoutLink',
    path: '/api/v1/payout-links',
    options: { body: payoutLink() },
    links: ['cancelPayoutLink'],
  },
  {
    id: 'createBill',
    path: '/api/v1/bills',
    options: { body: bill() },
    location: '/api/v1/bills/INV-2026-001',
    links: ['getBill', 'updateBill', 'uploadBillDocument', 'listBills'],
  },
  { id: 'uploadBillDocument', path: '/api/v1/bills/INV-2026-001/document', options: upload(), links: [] },
]

const app = build(t)
let operations: readonly Operation[]
t.before(async () => {
  operations = operationsOf((await call(app, 'GET', '/openapi.json')).body)
})
const find = (id: string) => operations.find(operation => operation.id === id) as Operation

t.test('decisions §1: Location of each creation is the path that reads the record', async t => {
  const found = CREATIONS.map(({ id }) => id)
  t.same(
    found,
    operations.filter(({ responses }) => responses[201] !== undefined).map(({ id }) => id),
  )
  const client = await connect(app, 'location')
  for (const { id, path, options, location } of CREATIONS) {
    const created = await client.send('POST', path, options)
    t.same([created.status, created.headers.location], [201, location], id)
    t.equal(find(id).responses[201].headers.Location?.$ref !== undefined, location !== undefined, `${id}: documented`)
    if (location !== undefined) t.same((await client.get(location)).body, created.body, id)
    if (location !== undefined) t.notOk((await client.send('POST', path, options)).headers.location, `${id}: refused`)
  }
  const logged = (await client.control('GET', '/requests?method=POST')).body.data
  t.same(
    logged
      .map(({ responseHeaders }: Json) => responseHeaders.location)
      .filter(Boolean)
      .sort(),
    CREATIONS.flatMap(({ location }) => location ?? []).sort(),
    'the request log has it',
  )
})

t.test('decisions §1: Location has the prefix of the public URL, unless the client uses another host', async t => {
  const own = build(t, { publicUrl: () => 'https://sandbox.example/base' })
  const client = await connect(own)
  const locationFor = async (host: string, mandateReference: string) =>
    (await client.post('/api/v1/mandates', mandate({ mandateReference }), { headers: { host } })).headers.location
  t.equal(await locationFor('sandbox.example', 'MND-0001'), '/base/api/v1/mandates/MND-0001')
  t.equal(await locationFor('127.0.0.1:8080', 'MND-0002'), '/api/v1/mandates/MND-0002')
  t.equal(await locationFor('Sandbox.Example:443', 'MND-0003'), '/base/api/v1/mandates/MND-0003')
  t.equal(await locationFor('[fe80::1%25eth0]', 'MND-0004'), '/api/v1/mandates/MND-0004')
})

/** decisions §1: refusals, and the value of Link. */
const help = (code: string, prefix = '') => `<${prefix}/docs/guide/errors#${code}>; rel="help"`

t.test('decisions §1: Link of each refusal is the page of its code, with the prefix that Location has', async t => {
  const own = build(t, { publicUrl: () => 'https://sandbox.example/base' })
  const client = await connect(own)
  const linkOf = async (url: string, headers: Record<string, string>) =>
    (await own.inject({ url, headers })).headers.link
  for (const [url, code] of [
    ['/api/v1/mandates', 'MISSING_TOKEN'],
    ['/api/v1/nothing', 'ROUTE_NOT_FOUND'],
    ['/api/v1/oauth/token', 'METHOD_NOT_ALLOWED'],
    ['/_sandbox/clock?colour=red', 'INVALID_QUERY_PARAMETER'],
  ] as const) {
    t.equal(await linkOf(url, { host: '127.0.0.1:8080' }), help(code), code)
    t.equal(await linkOf(url, { host: '[fe80::1%25eth0]' }), help(code), code)
    t.equal(await linkOf(url, { host: 'sandbox.example' }), help(code, '/base'), code)
  }
  t.match(await own.inject({ url: '/_sandbox/clock', headers: { host: 'a, b' } }), {
    headers: { link: help('MALFORMED_REQUEST') },
  })
  const refused = await client.get('/api/v1/mandates/MND-0404')
  t.match([refused.headers.link, Object.keys(refused.body)], [help('MANDATE_NOT_FOUND'), ['code', 'field', 'message']])
  t.equal((await client.get('/api/v1/mandates')).headers.link, undefined, 'no refusal')
})

t.test('decisions §1: a fault with a code of its own has no Link, but that which it gives', async t => {
  const client = await connect(app, 'faults')
  for (const [effect, link] of [
    [{ status: 418 }, help('MALFORMED_REQUEST')],
    [{ status: 503, code: 'OWN_CODE' }, undefined],
    [{ status: 503, headers: { Link: '<x>; rel="next"' } }, '<x>; rel="next"'],
  ] as const) {
    const { status } = await client.control('POST', '/faults', { effect: { kind: 'error', ...effect } })
    t.equal(status, 201)
    const answer = await client.get('/api/v1/mandates')
    t.same([answer.status, answer.headers.link], [effect.status, link])
  }
})

/** Returns the value of a runtime expression of OpenAPI links. */
function evaluate(expression: string, region: string, record: Json): string {
  if (expression === '$request.header.x-region') return region
  const [, member = ''] = /^\$response\.body#\/(\w+)$/.exec(expression) ?? []
  return record[member]
}

/** Sends the operation of a link, with the example of its body. */
async function follow(client: Awaited<ReturnType<typeof connect>>, { operationId, parameters }: Json, record: Json) {
  const operation = find(operationId)
  const query = new URLSearchParams()
  let { path } = operation
  for (const { in: place, name } of operation.operation.parameters) {
    if (parameters[name] === undefined) continue
    const value = evaluate(parameters[name], 'EU', record)
    if (place === 'path') path = path.replace(`{${name}}`, value)
    if (place === 'query') query.set(name, value)
  }
  const { mediaType, body } = exampleRequest(operation)
  const options = mediaType === 'multipart/form-data' ? upload() : { body }
  return client.send(operation.method, query.size > 0 ? `${path}?${query}` : path, options)
}

t.test('decisions §1: the links of each creation lead to the created record', async t => {
  for (const { id, links } of CREATIONS) {
    const documented: Record<string, Json> = find(id).responses[201].links ?? {}
    t.same(Object.keys(documented), links, id)
    for (const [name, link] of Object.entries(documented)) {
      const given = find(link.operationId).operation.parameters.map((parameter: Json) => parameter.name)
      const wrong = Object.keys(link.parameters).filter(parameter => !given.includes(parameter))
      t.same(wrong, [], `${id} ${name}: each parameter exists`)
      t.match(link, { description: /^[A-Z].*\.$/, 'x-fidelity': 'assumed' })

      // Each link is followed on a record of its own, since some end it.
      const client = await connect(app, `${id}-${name}`)
      const records: Record<string, Json> = {}
      for (const { id, path, options } of CREATIONS) records[id] = (await client.send('POST', path, options)).body
      const { status, body } = await follow(client, link, records[id])
      t.ok(status >= 200 && status < 300, `${id} ${name}: ${status} ${JSON.stringify(body)}`)
      if (body?.data !== undefined) t.equal(body.totalCount, 1, `${id} ${name}: the list has one record`)
    }
  }
})
