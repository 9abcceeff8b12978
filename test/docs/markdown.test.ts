import t from 'tap'
import { build, call, requestToken } from '../helper.js'
import type { Json, Operation } from './contract.js'
import { DOCUMENTS, operationsOf } from './contract.js'

// agents, For coding agents: /docs as Markdown.

const MARKDOWN = 'text/markdown'
/** The Accept header of a browser. */
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

const app = build(t)
const operations: Operation[] = []
t.before(async () => {
  for (const path of Object.keys(DOCUMENTS)) operations.push(...operationsOf((await call(app, 'GET', path)).body))
})
const read = (url: string, accept = MARKDOWN) => app.inject({ url, headers: { accept } })

t.test('agents, For coding agents: the index has each operation with its path, summary, label and entry', async t => {
  const { statusCode, headers, payload } = await read('/docs')
  t.equal(statusCode, 200)
  t.match(headers, { 'content-type': 'text/markdown; charset=utf-8', vary: /\baccept\b/i })
  t.ok(Buffer.byteLength(payload) < 11 * 1024, `${Buffer.byteLength(payload)} bytes`)
  const lines = operations.map(({ id, method, path, operation: { summary, 'x-fidelity': label } }) => {
    const mark = path.startsWith('/_sandbox') || label === 'documented' ? '' : ' (assumed)'
    return `- [${method} ${path}](docs/${id}): ${summary}${mark}`
  })
  const listed = payload.split('\n').filter(line => line.startsWith('- '))
  t.same(listed, lines)
})

/** Returns the part of an entry that is its operation. */
const operationOf = (entry: string): Json => JSON.parse(/^```json\n(.*?)^```$/ms.exec(entry)?.[1] ?? '')

t.test('agents, For coding agents: each entry has parameters, members, answers and codes of its operation', async t => {
  let longest = 0
  for (const { id, method, path, operation, codes } of operations) {
    const { statusCode, headers, payload } = await read(`/docs/${id}`)
    t.match([statusCode, headers['content-type'], headers.vary], [200, 'text/markdown; charset=utf-8', /accept/i], id)
    t.ok(payload.startsWith(`# ${id}\n\n\`${method} ${path}\`\n`), id)
    const { parameters, summary, 'x-error-codes': listed } = operationOf(payload)
    t.same([parameters, summary, listed], [operation.parameters, operation.summary, codes], id)
    t.notMatch(payload, /\$ref/, `${id} is complete`)
    longest = Math.max(longest, Buffer.byteLength(payload))
  }
  t.ok(longest < 128 * 1024, `the longest has ${longest} bytes`)
})

t.test('agents, For coding agents: an entry says what is documented, what is assumed, and has an example', async t => {
  const entry = operationOf((await read('/docs/createCollection')).payload)
  t.match(entry, {
    'x-fidelity': 'documented',
    responses: { 201: { headers: ['x-request-id'], 'x-fidelity': 'assumed' } },
  })
  const { schema, example } = entry.requestBody.content['application/json']
  t.match(schema.properties.amount, { type: 'string', description: /at most 2 decimals/, 'x-fidelity': 'documented' })
  t.match(entry.responses[201].content['application/json'].schema.properties.reasonCode, { 'x-fidelity': 'assumed' })
  const { access_token } = (await requestToken(app, { client_id: 'sandbox-client', client_secret: 'sandbox-secret' }))
    .body
  const headers = { authorization: `Bearer ${access_token}` }
  const { status } = await call(app, 'POST', '/api/v1/direct-debit', { region: 'EU', headers, body: example })
  t.equal(status, 201, 'the example works now')
  t.match((await read('/docs/advanceClock')).payload, /Exactly one of `by`/)
})

/** Values of Accept, and the media type of the answer to `GET /docs`. */
const NEGOTIATED: [accept: string | undefined, type: string][] = [
  [undefined, 'text/html'],
  ['*/*', 'text/html'],
  [BROWSER, 'text/html'],
  ['application/json', 'text/html'],
  ['text/*', 'text/html'],
  ['text/markdown;q=0.5, text/html', 'text/html'],
  ['text/markdown;q=0, */*', 'text/html'],
  ['text/markdown', 'text/markdown'],
  ['TEXT/MARKDOWN', 'text/markdown'],
  ['text/html;q=0.5, text/markdown', 'text/markdown'],
  ['text/markdown, text/html;q=0.9, */*;q=0.1', 'text/markdown'],
  ['text/markdown, */*', 'text/markdown'],
]

t.test('agents, For coding agents: Accept chooses the form, by its quality values', async t => {
  for (const [accept, type] of NEGOTIATED) {
    const { headers } = await app.inject({ url: '/docs', headers: accept === undefined ? {} : { accept } })
    t.match([headers['content-type'], headers.vary], [new RegExp(`^${type};`), /\baccept\b/i], String(accept))
  }
  const { headers } = await app.inject({ method: 'HEAD', url: '/docs', headers: { accept: MARKDOWN } })
  t.match(headers['content-type'], /^text\/markdown/)
})

t.test('agents, For coding agents: a browser gets the operation in the reference, also below a prefix', async t => {
  const { statusCode, headers } = await read('/docs/getCollection', BROWSER)
  t.same(
    [statusCode, headers.location],
    [302, '../docs#payments-service/tag/direct-debit/GET/api/v1/direct-debit/{collectionReference}'],
  )
  const { pathname } = new URL(headers.location as string, 'https://sandbox.example/base/docs/getCollection')
  t.equal(pathname, '/base/docs')
  t.equal(
    (await read('/docs/advanceClock', BROWSER)).headers.location,
    '../docs#control-plane/tag/clock/POST/_sandbox/clock/advance',
  )
  t.match((await read('/docs/getCollection', '*/*')).headers['content-type'], /^text\/markdown/)
})

t.test('agents, For coding agents: all links of the index and of an entry work, also below a path prefix', async t => {
  for (const page of ['/docs', '/docs/createMandate']) {
    const links = [...(await read(page)).payload.matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => link as string)
    t.ok(links.length >= 2)
    for (const link of new Set(links)) {
      const { pathname } = new URL(link, `https://sandbox.example/base${page}`)
      t.match(pathname, /^\/base\//, link)
      t.equal((await read(pathname.slice('/base'.length))).statusCode, 200, link)
    }
  }
})

t.test('decisions §1: an unknown operation of /docs is a 404 that names /docs', async t => {
  for (const name of ['createmandate', 'nothing', '%7B', 'constructor', 'x'.repeat(5000)]) {
    const { status, body } = await call(app, 'GET', `/docs/${name}`)
    t.match([status, body.code, body.message], [404, 'ROUTE_NOT_FOUND', /Did you mean \/docs\?/], name.slice(0, 20))
  }
})
