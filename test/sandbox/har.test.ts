import { spawn } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'
import { createSandbox } from '../../src/client/index.js'
import type { LoggedExchange } from '../../src/sandbox/request-log/exchange.js'
import { toCurl, toExpectation } from '../../src/sandbox/request-log/snippets.js'
import { validatorOfHar } from '../har.js'
import type { Client } from '../helper.js'
import { bill, build, connect, mandate, newClient, pluck, requestToken } from '../helper.js'
import { listen } from '../http/raw.js'
import { upload } from '../multipart.js'

// control plane, GET /requests: the log as HAR 1.2; requests as curl commands and expectations.

const HOSTILE = `'; rm -rf "$HOME" \`id\` \\ <b> \u2028 é`

/** Requests of each kind: bodies, queries, forms, uploads, faults, hints, refusals, hostile texts. */
async function run(client: Client): Promise<void> {
  await client.post('/api/v1/mandates', { ...mandate(), colour: 'red' })
  await client.post('/api/v1/mandates', mandate({ debtor: { name: HOSTILE, iban: 'x' } }))
  await client.get(`/api/v1/bills?limit=5&status=OPEN&status=PAID&x=${encodeURIComponent(HOSTILE)}&x=2&token=hush`)
  await client.post('/api/v1/bills', bill())
  await client.send('POST', '/api/v1/bills/INV-2026-001/document', upload({}))
  await client.post('/api/v1/mandates', "not 'json'")
  await client.post('/api/v1/mandates', 'a secret')
  await client.post('/api/v1/mandates', { __proto__x: 1, 'a b': [1, { c: null }], list: [] })
  await client.send('GET', '/api/v1/nowhere/%zz/<a>/password=hush', {
    headers: { 'x-note': HOSTILE.slice(0, 30), cookie: 'a=hush' },
  })
  await client.send('HEAD', '/api/v1/mandates')
  await client.control('POST', '/faults', { effect: { kind: 'drop', when: 'after' } })
  await client.post('/api/v1/mandates', mandate({ mandateReference: 'MND-0002' })).catch(() => {})
  await requestToken(client.app, { client_id: client.clientId, client_secret: 'hush' })
}

async function logged() {
  const client = await newClient()
  await run(client)
  return { client, data: (await client.read('/requests')).data as LoggedExchange[] }
}

const harOf = (client: Client, query = '') => client.control('GET', `/requests?format=har${query}`)

t.test('control plane, GET /requests: format=har is a valid HAR 1.2 document of the same requests', async t => {
  const { client, data } = await logged()
  const { status, body, headers } = await harOf(client)
  t.equal(status, 200)
  t.match(headers, {
    'content-type': 'application/har+json',
    'content-disposition': `attachment; filename="requests-${client.clientId}.har"`,
  })
  const validate = validatorOfHar()
  t.ok(validate(body), JSON.stringify(validate.errors))
  t.notOk(
    validate({ log: { ...body.log, entries: [{ ...body.log.entries[0], request: {} }] } }),
    'the schema is at work',
  )
  t.match(body.log, { version: '1.2', creator: { name: 'payments-sandbox' } })
  t.same(
    body.log.entries.map(({ _seq, startedDateTime, request, response }: never) => {
      const { method } = request as { method: string }
      return [_seq, startedDateTime, method, (response as { status: number }).status]
    }),
    data.map(({ seq, at, method, status }) => [seq, at, method, status ?? 0]),
  )
  for (const { request } of body.log.entries) t.ok(URL.canParse(request.url), request.url)
  const created = body.log.entries[1]
  t.match(created.request, {
    url: 'http://127.0.0.1:8080/api/v1/mandates',
    postData: { mimeType: 'application/json', text: JSON.stringify({ ...mandate(), colour: 'red' }) },
  })
  t.same(JSON.parse(created.response.content.text), data[1]?.responseBody)
  t.ok(created._hints.includes('unknown member colour ignored'))
  t.match(body.log.entries[0].request.postData, { params: [{ name: 'client_id', value: client.clientId }, {}, {}] })
})

t.test('control plane, GET /requests: the content of a HAR document has its size in bytes', async t => {
  const client = await newClient()
  await client.post('/api/v1/mandates', mandate({ debtor: { ...mandate().debtor, name: 'Zoë' } }))
  const { size, text } = (await harOf(client)).body.log.entries.at(-1).response.content
  t.match(text, 'Zoë')
  t.equal(size, Buffer.byteLength(text))
})

t.test('control plane, GET /requests: a HAR document has no secret, and the filters of the list', async t => {
  const { client } = await logged()
  const { body } = await harOf(client)
  const text = JSON.stringify(body)
  t.notMatch(text, /hush|"secret"/)
  t.notOk(text.includes(client.token))
  t.equal((await harOf(client, '&method=HEAD')).body.log.entries.length, 1)
  t.same(
    (await harOf(client, '&errors=true&limit=2')).body.log.entries.map(
      ({ response }: never) => (response as { status: number }).status,
    ),
    [0, 401],
  )
  t.same((await harOf(client, '&path=/none')).body.log.entries, [])
  t.same((await client.read('/requests?format=json&limit=1')).data.length, 1)
  t.equal((await client.control('GET', '/requests?format=xml')).status, 400)
})

t.test('control plane, GET /requests/{seq}: one request as the list has it', async t => {
  const { client, data } = await logged()
  for (const entry of data) t.same(await client.read(`/requests/${entry.seq}`), entry)
  t.match(await client.control('GET', '/requests/999'), {
    status: 404,
    body: { code: 'REQUEST_NOT_FOUND', field: 'seq' },
  })
  for (const seq of ['0', '-1', '1.5', '01', 'x', '9'.repeat(16)])
    t.match(await client.control('GET', `/requests/${seq}`), { status: 400, body: { field: 'seq' } }, seq)
})

t.test('control plane, GET /requests: before and limit page from the latest on', async t => {
  const { client, data } = await logged()
  const seqs = async (query: string) => pluck((await client.read(`/requests?${query}`)).data, 'seq')
  const all = pluck(data, 'seq')
  t.same(await seqs('limit=3'), all.slice(-3))
  t.same(await seqs('limit=3&before=5'), [2, 3, 4])
  t.same(await seqs('after=2&before=5'), [3, 4])
  t.same(await seqs('limit=1&method=HEAD'), [data.find(({ method }) => method === 'HEAD')?.seq])
  t.same(await seqs('before=1'), [])
})

t.test('library, In your tests: the expectation of each logged request holds', async t => {
  const sandbox = await createSandbox()
  t.teardown(() => sandbox.close())
  const { url } = sandbox
  const token = await sandbox.token()
  const headers = { authorization: `Bearer ${token}`, 'x-region': 'EU', 'content-type': 'application/json' }
  await fetch(`${url}/api/v1/mandates`, {
    method: 'POST',
    headers,
    body: JSON.stringify(mandate({ debtor: { name: HOSTILE, iban: "a'\\b" } })),
  })
  await fetch(`${url}/api/v1/bills?x=${encodeURIComponent(HOSTILE)}&x=2`, { headers })
  await fetch(`${url}/api/v1/${'long'.repeat(200)}`, { headers })
  await fetch(`${url}/api/v1/mandates`, { method: 'POST', headers, body: '{"a b": {"__proto": [true, null, {}]}}' })
  await fetch(`${url}/api/v1/mandates`, { method: 'POST', headers, body: 'no json' })
  const requests = await sandbox.requests.list()
  for (const request of requests) {
    const line = sandbox.requests.toExpectation(request)
    const test = new Function('sandbox', `return (async () => { return ${line} })()`)
    t.match(await test(sandbox), { matched: true }, `request ${request.seq}`)
  }
  const [, , first] = requests
  t.match(toExpectation(first as LoggedExchange), /^await sandbox\.requests\.expect\(\{/)
})

t.test('library, In your tests: the curl command of a logged request sends it again', async t => {
  const app = build(t)
  const port = await listen(app)
  const client = await connect(app)
  await run(client)
  const before = (await client.read('/requests')).data as LoggedExchange[]
  const isRepeatable = ({ method, path, body }: LoggedExchange) =>
    method !== 'HEAD' && !path.includes('nowhere') && (body === null || typeof body === 'object')
  const repeatable = before.filter(isRepeatable)
  t.ok(repeatable.length > 5)
  for (const original of repeatable) {
    const command = toCurl(original, `http://127.0.0.1:${port}`)
    const env = { PATH: process.env.PATH, TOKEN: client.token, CLIENT_SECRET: 'secret', HOME: '/nonexistent' }
    // The server answers in this process, so curl must not block it.
    await once(spawn('bash', ['-c', `${command} -s -m 5 -o /dev/null`], { env }), 'close')
    const { data } = await client.read('/requests?limit=1')
    const { method, path, query, body } = original
    t.match({ ...data[0] }, { method, path }, `request ${original.seq}`)
    t.same([data[0].query, data[0].body], [query, body], `request ${original.seq}`)
  }
})

t.test('control plane, GET /requests: a curl command has variables for secrets, and files for bodies', async t => {
  const { client, data } = await logged()
  const url = 'http://127.0.0.1:8080'
  const commands = data.map(request => toCurl(request, url))
  t.equal(
    commands[0],
    [
      "curl 'http://127.0.0.1:8080/api/v1/oauth/token'",
      `--data-urlencode 'client_id=${client.clientId}'`,
      '--data-urlencode "client_secret=$CLIENT_SECRET"',
      "--data-urlencode 'grant_type=client_credentials'",
    ].join(' \\\n  '),
  )
  t.equal(
    toCurl(
      {
        ...(data[1] as LoggedExchange),
        headers: { authorization: 'Bearer ***', 'x-region': 'EU' },
        body: null,
        method: 'GET',
      },
      url,
    ),
    `curl '${url}/api/v1/mandates' \\\n  -H "Authorization: Bearer $TOKEN" \\\n  -H 'x-region: EU'`,
  )
  t.ok(commands.some(command => command.includes('-F file=@FILE')))
  t.ok(commands.some(command => command.includes('--data-binary @FILE')))
  t.ok(commands.some(command => command.includes(String.raw`--data-raw 'not '\''json'\'''`)))
  t.ok(commands.some(command => command.startsWith('curl --head ')))
  t.notMatch(commands.join('\n'), /hush/)
})
