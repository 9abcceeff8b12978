import { once } from 'node:events'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { send } from '../../src/console/calls.js'
import { kinds } from '../../src/console/kinds.js'
import { build, connect, newClient, payoutLink } from '../helper.js'
import type { Part } from '../multipart.js'
import { field, MULTIPART, multipart } from '../multipart.js'
import { CONSOLE, open, sendFields } from './pages.js'

const ADVANCE = { call: 'POST /_sandbox/clock/advance' }
const RESET = { call: 'POST /_sandbox/reset' }
const SETTINGS = { call: 'PUT /_sandbox/settings' }
const REMOVE = { call: 'DELETE /_sandbox/faults/:id' }
const CREATE = { call: 'POST /api/v1/mandates' }

const nested = (depth: number) => `{"by":${'['.repeat(depth)}${']'.repeat(depth)}}`

type Row = readonly [fields: Readonly<Record<string, string>> | string, status: number, code: string | RegExp]

/** Forms that no page has, and their refusals. */
const FORMS: readonly Row[] = [
  // The call.
  [{}, 400, 'INVALID_FIELD'],
  ['json=%7B%7D', 400, 'INVALID_FIELD'],
  [{ call: 'POST http://127.0.0.1/_sandbox/reset' }, 400, 'INVALID_FIELD'],
  [{ call: 'POST /_sandbox/reset?client=acme' }, 400, 'INVALID_FIELD'],
  [{ call: 'POST /_sandbox/console' }, 400, 'INVALID_FIELD'],
  [{ call: 'GET /_sandbox/state' }, 400, 'INVALID_FIELD'],
  [{ call: 'GET /_sandbox/console/state.json' }, 400, 'INVALID_FIELD'],
  [{ call: 'GET /_sandbox/./console/state.json' }, 400, 'INVALID_FIELD'],
  [{ call: 'POST /api/v1/../../_sandbox/reset' }, 400, 'INVALID_FIELD'],
  [{ call: 'POST /pay/x' }, 400, 'INVALID_FIELD'],
  [{ call: 'POST /_sandbox/nowhere' }, 400, 'INVALID_FIELD'],
  [{ call: `GET /api/v1/mandates?${'a&'.repeat(20_000)}` }, 400, 'INVALID_FIELD'],
  ...['__proto__', 'constructor', 'toString', 'length', '0', '-1', '1e9', 'x'.repeat(100_000)].flatMap(
    (name): Row[] => [
      [{ call: name }, 400, 'INVALID_FIELD'],
      // The names of fields.
      [{ ...RESET, [name]: 'x' }, 400, 'INVALID_FIELD'],
      [{ ...RESET, [`body.${name}`]: 'x' }, 400, 'INVALID_FIELD'],
      [{ ...RESET, [`body.${name}.polluted`]: 'yes' }, 400, 'INVALID_FIELD'],
      [{ ...ADVANCE, 'body.by': 'PT1H', [`body.by.${name}`]: 'x' }, 400, 'INVALID_FIELD'],
      [{ ...SETTINGS, json: '{"allowedOrigins":[]}', [`body.allowedOrigins.${name}`]: 'x' }, 400, 'INVALID_FIELD'],
      [{ call: 'PUT /_sandbox/deprecations', [`body.data.${name}.operation`]: 'x' }, 400, 'INVALID_FIELD'],
      [{ ...REMOVE, 'params.id': 'fault-1', [`params.${name}`]: 'x' }, 400, 'INVALID_FIELD'],
      [{ ...RESET, region: name }, 400, 'INVALID_FIELD'],
      // Their values.
      [{ ...CREATE, region: name, json: '{}' }, 400, 'INVALID_FIELD'],
      [{ ...RESET, json: name }, 400, /^-?\d/.test(name) ? 'INVALID_FIELD' : 'MALFORMED_REQUEST'],
    ],
  ),
  [{ ...RESET, 'body.constructor.prototype.polluted': 'yes' }, 400, 'INVALID_FIELD'],
  // A form has fields for items of its lists.
  [
    {
      ...{ call: 'PUT /_sandbox/deprecations', json: `{"data":[${'{},'.repeat(999)}{}]}`, unknown: 'x' },
      ...Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`body.data.${at}.operation`, 'x'])),
    },
    400,
    /Known: .{500,5000} and \d+ more\./,
  ],
  [{ ...RESET, json: '{"a":[]}', 'body.a.90000000': '1' }, 400, 'INVALID_FIELD'],
  [{ ...RESET, json: '{"a":[]}', 'body.a.length': '400000000' }, 400, 'INVALID_FIELD'],
  [`call=POST+/_sandbox/reset&body${'.a'.repeat(50_000)}=1`, 400, 'INVALID_FIELD'],
  [`call=POST+/_sandbox/reset&body${'.a'.repeat(400_000)}=1`, 413, 'PAYLOAD_TOO_LARGE'],
  ['call=POST+/_sandbox/reset&body.a=x&body.a.b=1', 400, 'INVALID_FIELD'],
  ['call=POST+/_sandbox/clock/advance&body.by=PT1H&body.by=PT2H', 400, 'MALFORMED_REQUEST'],
  ['call=POST+/_sandbox/clock/advance&body.by=%ff', 400, 'MALFORMED_REQUEST'],
  [{ ...CREATE, json: '{}' }, 400, 'MISSING_FIELD'],
  // The parameters of the path.
  [REMOVE, 400, 'MISSING_FIELD'],
  [{ ...REMOVE, 'params.id': '' }, 400, 'MISSING_FIELD'],
  [{ ...REMOVE, 'params.id': 'x'.repeat(65) }, 400, 'INVALID_FIELD'],
  [{ ...REMOVE, 'params.id': '..' }, 404, 'ROUTE_NOT_FOUND'],
  [{ ...REMOVE, 'params.id': '../reset' }, 404, 'ROUTE_NOT_FOUND'],
  // The document.
  [{ ...ADVANCE, json: '{' }, 400, 'MALFORMED_REQUEST'],
  [{ ...ADVANCE, json: '[]' }, 400, 'INVALID_FIELD'],
  [{ ...ADVANCE, json: '{"__proto__":{"by":"PT1H"}}' }, 400, 'MALFORMED_REQUEST'],
  [{ ...ADVANCE, json: '{"constructor":{"prototype":{"by":"PT1H"}}}' }, 400, 'MALFORMED_REQUEST'],
  [{ ...ADVANCE, json: '{"by":"\\ud800"}' }, 400, 'INVALID_FIELD'],
  [{ ...ADVANCE, json: '{"unknown":1}' }, 400, 'INVALID_FIELD'],
  [{ ...ADVANCE, json: nested(20_000) }, 400, 'MALFORMED_REQUEST'],
  [{ ...ADVANCE, json: `{"by":[${'0,'.repeat(20_000)}0]}` }, 400, 'INVALID_FIELD'],
  [{ ...ADVANCE, json: `{"by":"${'x'.repeat(128 * 1024)}"}` }, 413, 'PAYLOAD_TOO_LARGE'],
  [{ ...ADVANCE, json: '{"by":5}', 'body.to': 'soon' }, 400, 'INVALID_FIELD'],
  // A number without an end would be null: no limit.
  [
    { call: 'POST /_sandbox/faults', json: '{"effect":{"kind":"drop","when":"after"}}', 'body.times': '9'.repeat(400) },
    400,
    'INVALID_FIELD',
  ],
  [{ form: 'repeat' }, 404, 'REQUEST_NOT_FOUND'],
  [{ form: 'repeat', ...ADVANCE }, 400, 'INVALID_FIELD'],
]

t.test('console, Safety: a form with fields that its call lacks is refused, and changes nothing', async t => {
  const { app, clientId, control } = await newClient()
  const prototype = Object.getOwnPropertyNames(Object.prototype)
  const before = (await control('GET', '/state')).body
  for (const [fields, status, code] of FORMS) {
    const label = JSON.stringify(fields).slice(0, 120)
    const answer = await sendFields(app, `?client=${clientId}`, fields)
    t.equal(answer.statusCode, status, label)
    t.match(answer.payload, code, label)
    const command = await sendFields(app, `/command?client=${clientId}`, fields)
    t.ok(command.statusCode < 500, `the command of ${label}`)
  }
  t.same((await control('GET', '/state')).body, before)
  t.same(Object.getOwnPropertyNames(Object.prototype), prototype)
})

t.test('console, Actions: the command of a form keeps a text that looks like the variable of a token', async t => {
  const { app, clientId } = await newClient()
  const fields = { call: 'PUT /_sandbox/settings', 'body.senderName': '$TOKEN' }
  const { payload } = await sendFields(app, `/command?client=${clientId}`, fields)
  t.match(payload, `--data-raw '{"senderName":"$TOKEN"}'`)
})

t.test('console, Pages: a page at a percent-encoded path has the same links', async t => {
  const app = build(t)
  const [page, encoded] = await Promise.all(
    ['/_sandbox/console/failures', '/%5Fsandbox/c%6Fnsole/failures'].map(url => app.inject({ url })),
  )
  t.match(page, { statusCode: 200, payload: 'action="../console/failures?' })
  t.equal(encoded?.payload, page?.payload)
})

t.test('control plane, Long calls: the page of an unknown path grows with its length', async t => {
  const app = build(t)
  const sizeOf = async (slashes: number) => {
    const { statusCode, payload } = await open(app, `${'/'.repeat(slashes)}x`)
    t.equal(statusCode, 404)
    return payload.length
  }
  t.ok((await sizeOf(15_000)) - (await sizeOf(10_000)) <= 3 * 5000, 'it has at most one way back')
})

t.test('console, Safety: a call with a path that its URL would shorten is not sent', async t => {
  const toSelf = async () => t.fail('It is sent.') as never
  const request = { method: 'DELETE', path: '/_sandbox/faults/..', query: {}, headers: {}, body: null }
  await t.rejects(send(toSelf, request, undefined), { code: 'ROUTE_NOT_FOUND' })
})

t.test('console, Safety: only forms are read, and a file is a body of its own', async t => {
  const { app, clientId, control } = await newClient()
  const before = (await control('GET', '/state')).body
  const rows: [path: string, type: string, payload: string | Buffer, status: number][] = [
    ['', 'application/json', JSON.stringify({ call: 'POST /_sandbox/reset', json: {} }), 415],
    ['/command', 'application/json', '{"call":["POST /_sandbox/reset"]}', 415],
    ['', 'text/plain', 'call=POST /_sandbox/reset', 415],
    ['', 'application/x-www-form-urlencoded', '', 400],
    ['/command', 'application/x-www-form-urlencoded', '', 400],
    ['/command', MULTIPART['content-type'], multipart(field('call', 'POST /_sandbox/reset')), 400],
    ['/command', MULTIPART['content-type'], 'no form', 400],
    ...['/client', '/client/load'].map((path): [string, string, Buffer, number] => {
      const nameless = multipart(field('x'), { content: '{}' }).toString('latin1').replace('; name="x"', '')
      return [path, MULTIPART['content-type'], Buffer.from(nameless, 'latin1'), 400]
    }),
    ...['{"x":', `{"mandates":${'['.repeat(200_000)}${']'.repeat(200_000)}}`, '{"__proto__":{}}', '[]'].map(
      (content): [string, string, Buffer, number] => {
        const file = { fileName: 'state.json', type: 'application/json', content }
        return ['/client/load', MULTIPART['content-type'], multipart(field('call', 'PUT /_sandbox/state'), file), 400]
      },
    ),
  ]
  for (const [path, type, payload, status] of rows) {
    const answer = await app.inject({
      method: 'POST',
      url: `${CONSOLE}${path}?client=${clientId}`,
      headers: { accept: 'text/html', 'content-type': type },
      payload,
    })
    t.equal(answer.statusCode, status, `${path} ${type} ${payload.toString().slice(0, 80)}`)
  }
  t.same((await control('GET', '/state')).body, before)
})

t.test('console, Actions: a line break of a form is one character', async t => {
  const { app, clientId, post, read } = await newClient()
  const { payoutLinkId } = (await post('/api/v1/payout-links', payoutLink())).body
  const call = 'POST /_sandbox/payout-links/:payoutLinkId/decline'
  const fields = { call, 'params.payoutLinkId': payoutLinkId, 'body.remarks': 'one\r\ntwo' }
  const answer = await sendFields(app, `/payout-links/${payoutLinkId}?client=${clientId}`, fields)
  t.equal(answer.statusCode, 303)
  t.match((await read(`/payout-links/${payoutLinkId}`)).record, { decline: { remarks: 'one\ntwo' } })
})

const STATE = { fileName: 'state.json', type: 'application/json', content: '{}' }
const REMOVE_ONE = field('call', REMOVE.call)
const ID = 'params.id'
const UTF_16 = 'text/plain; charset=utf-16le'

/** Parts of forms with a file, and the answers to their commands. */
const PARTS: readonly (readonly [label: string, parts: readonly Part[], status: number, code: string])[] = [
  ['a text', [REMOVE_ONE, field(ID, 'fault-1')], 200, '/faults/fault-1'],
  ['a text with its type', [REMOVE_ONE, { ...field(ID, 'fault-1'), type: 'text/plain' }], 200, '/faults/fault-1'],
  [
    'JSON with a lone surrogate',
    [REMOVE_ONE, { ...field(ID, '"\\ud800"'), type: 'application/json' }],
    415,
    'UNSUPPORTED_MEDIA_TYPE',
  ],
  ['JSON of an object', [REMOVE_ONE, { ...field(ID, '{}'), type: 'application/json' }], 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['no JSON', [REMOVE_ONE, { ...field(ID, '{'), type: 'application/json' }], 400, 'MALFORMED_REQUEST'],
  [
    'a lone surrogate of UTF-16',
    [REMOVE_ONE, { name: ID, fileName: null, type: UTF_16, content: Buffer.of(0, 0xd8) }],
    400,
    'INVALID_FIELD',
  ],
  ['a repeated field', [REMOVE_ONE, field(ID, 'fault-1'), field(ID, 'fault-2')], 400, 'MALFORMED_REQUEST'],
  ['a long field', [field('call', SETTINGS.call), field('json', `{}${' '.repeat(100_000)}`)], 200, '/settings'],
  [
    'a field that is too long',
    [field('call', SETTINGS.call), field('json', `{}${' '.repeat(130 * 1024)}`)],
    413,
    'PAYLOAD_TOO_LARGE',
  ],
  [
    'fields that are too long together',
    [field('call', SETTINGS.call), field('json', `{}${' '.repeat(70_000)}`), field('form', 'x'.repeat(70_000))],
    413,
    'PAYLOAD_TOO_LARGE',
  ],
]

t.test('console, Safety: the fields of a form with a file are texts within the bound of a form', async t => {
  const { app, clientId } = await newClient()
  for (const [label, parts, status, code] of PARTS) {
    for (const path of ['/command', '/failures']) {
      const answer = await app.inject({
        method: 'POST',
        url: `${CONSOLE}${path}?client=${clientId}`,
        headers: { accept: 'application/json', ...MULTIPART },
        payload: multipart(...parts, STATE),
      })
      if (status >= 400 || path === '/command') {
        t.equal(answer.statusCode, status, `${path}: ${label}`)
        t.match(answer.payload, code)
      } else t.ok(answer.statusCode < 500, `${path}: ${label}`)
    }
  }
})

t.test('console, Pages: a request that names a record by no valid Unicode has its page', async t => {
  const { app, clientId, post, control } = await newClient()
  for (const { reference } of kinds) {
    for (const text of ['\\ud800', 'x\\udc00', '\\ud83d\\ude00', 'a/b?c#d%']) {
      await post('/api/v1/mandates', `{"${reference}":"${text}"}`)
      const { last } = (await control('GET', '/requests?limit=1')).body
      for (const path of ['/requests', `/requests/${last}`]) {
        t.equal((await open(app, path, { client: clientId })).statusCode, 200, `${path}: ${reference} ${text}`)
      }
    }
  }
})

t.test('console, Pages: a parameter that is no value of its page is refused', async t => {
  const { app, clientId } = await newClient()
  const hostile = ['__proto__', 'constructor', 'toString', '-1', '1e9', 'x'.repeat(1001)]
  const rows: [path: string, name: string][] = [
    ['/bills', 'region'],
    ['/bills/INV-1', 'region'],
    ['/payout-links/new', 'region'],
    ['', 'after'],
    ['', 'until'],
    ['/requests', 'status'],
    ['/requests', 'cursor'],
  ]
  for (const [path, name] of rows) {
    for (const value of hostile) {
      const { statusCode, payload } = await open(app, path, { client: clientId, query: { [name]: value } })
      t.equal(statusCode, 400, `${path} ${name}=${value.slice(0, 20)}`)
      t.match(payload, 'INVALID_QUERY_PARAMETER')
    }
  }
  const others = ['notice', 'proof', 'search', 'method', 'path', 'errors', 'hints', 'kind', 'of']
  for (const value of hostile) {
    const query = Object.fromEntries(others.map(name => [name, value]))
    for (const path of ['', '/bills', '/requests', '/failures', '/client', '/changes']) {
      const { statusCode } = await open(app, path, { client: 'nobody', query })
      t.ok(statusCode === 400 || statusCode === 404, `${path} ${value.slice(0, 20)}`)
      if (path === '/changes') continue
      t.equal((await open(app, path, { client: clientId, query })).statusCode, value.length > 1000 ? 400 : 200)
    }
  }
  for (const seq of ['__proto__', '0', '-1', '1e9', '9'.repeat(16)]) {
    t.equal((await open(app, `/requests/${seq}`, { client: clientId })).statusCode, 400, seq)
  }
})

t.test('console, Actions: a logged path with other segments than its URL is not sent again', async t => {
  const app = build(t)
  const { token, control } = await connect(app)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  for (const path of ['/api/v1/../../_sandbox/reset', '/api/v1/%2e%2e/x', '/api/v1/mandates/..']) {
    const sent = request({
      port,
      path,
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'x-region': 'EU' },
    })
    const [answer] = await once(sent.end(), 'response')
    await once(answer.resume(), 'end')
  }
  const { data } = (await control('GET', '/requests')).body
  t.equal(data.length, 4)
  for (const { seq } of data.slice(1)) {
    t.match((await open(app, `/requests/${seq}`)).payload, 'It cannot be sent again')
    t.equal((await sendFields(app, `/requests/${seq}?client=acme`, { form: 'repeat' })).statusCode, 400)
  }
  t.equal((await control('GET', '/requests')).body.last, 4)
})
