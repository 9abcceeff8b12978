import { mkdirSync, truncateSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import type { Har, HarEntry } from '../capture.js'
import { captured, SERVICE } from '../capture.js'
import { build, call, connect, MONDAY } from '../helper.js'
import { journey, journeyCapture, SECRET } from './journey.js'
import { compareHar, differencesOf, runCommand } from './run.js'

const IS_LONG = process.env.TEST_LONG === '1'

let base: Har
t.before(async () => {
  base = await journeyCapture()
  // Tokens, mandates and some collections.
  if (!IS_LONG) base.log.entries.splice(60)
})

const each = (change: (entry: HarEntry) => void) => (har: Har) => har.log.entries.forEach(change)
const eachRead = (change: (entry: HarEntry) => void) =>
  each(entry => {
    if (entry.request.method === 'GET') change(entry)
  })
const withoutHeaders = (...names: string[]) =>
  each(({ request }) => {
    request.headers = request.headers.filter(({ name }) => !names.includes(name.toLowerCase()))
  })
const title = (name: string) => name.replace(/(^|-)[a-z]/g, letter => letter.toUpperCase())

type Quirk = (har: Har) => unknown

// What browsers and proxies do to a capture. None of it contradicts the contract.

/** Other spellings of the same. */
const SPELLINGS: Readonly<Record<string, Quirk>> = {
  'HAR 1.1': har => Object.assign(har.log, { version: '1.1' }),
  'headers in title case': each(({ request, response }) => {
    for (const header of [...request.headers, ...response.headers]) header.name = title(header.name)
  }),
  'bodies in base64': each(({ response: { content } }) => {
    content.text = Buffer.from(content.text ?? '').toString('base64')
    content.encoding = 'base64'
  }),
  'forms as parameters': each(({ request: { postData } }) => {
    if (postData?.mimeType !== 'application/x-www-form-urlencoded') return
    postData.params = [...new URLSearchParams(postData.text)].map(([name, value]) => ({ name, value }))
    postData.text = undefined
  }),
  'an empty postData of each GET': each(({ request }) => {
    request.postData ??= { mimeType: '', params: [], text: '' }
  }),
  'names that every object inherits': eachRead(({ request, response }) => {
    const names = ['__proto__', 'constructor', 'toString']
    request.url += `${request.url.includes('?') ? '&' : '?'}${names.map(name => `${name}=&${name}=1`).join('&')}`
    for (const { headers } of [request, response]) headers.push(...names.map(name => ({ name, value: 'x' })))
  }),
  'values that are no texts': eachRead(({ request, response }) => {
    const value = { toString: 1, valueOf: 1 } as never
    for (const { headers } of [request, response]) headers.push({ name: 'x', value }, { name: 'X', value })
    Object.assign(request, { bodySize: value })
  }),
  'entries in no order': har => har.log.entries.reverse(),
}

const QUIRKS: Readonly<Record<string, Quirk>> = {
  'other spellings': har => {
    for (const change of Object.values(SPELLINGS)) change(har)
  },
  'as it is': () => {},
  'a byte order mark': har => `\uFEFF${JSON.stringify(har)}`,
  'bodies that were not kept': each(({ response: { content } }) => {
    content.text = undefined
    content.comment = 'Response bodies are not included.'
  }),
  'bodies that were cut off': each(({ request, response: { content } }) => {
    content.text = content.text?.slice(0, -3) ?? ''
    if (request.postData?.mimeType === 'application/json') {
      request.headers.push({ name: 'content-length', value: String(request.postData.text?.length) })
      request.postData.text = request.postData.text?.slice(0, -3) ?? ''
    }
  }),
  'entries without a time': each(entry => Object.assign(entry, { startedDateTime: '', time: -1 })),
  'each entry twice': har => har.log.entries.push(...structuredClone(har.log.entries)),
  'the entries of a service worker': har =>
    har.log.entries.push(
      ...structuredClone(har.log.entries).map(entry => ({
        ...entry,
        startedDateTime: new Date(Date.parse(entry.startedDateTime) + 5).toISOString(),
        time: 8,
      })),
    ),
  'no Authorization': withoutHeaders('authorization', 'cookie'),
  'no headers at all': each(({ request, response }) => {
    request.headers = []
    response.headers = []
  }),
  'requests without an answer': eachRead(({ response }) =>
    Object.assign(response, { status: 0, headers: [], content: {} }),
  ),
  'answers of a cache': eachRead(({ response }) => Object.assign(response, { status: 304 })),
  'entries of no form': har => {
    const requests = [
      { url: '%', method: 1 },
      { url: `${SERVICE}/?${'&'.repeat(16_384)}`, method: 'GET' },
    ]
    har.log.entries.push(null as never, {} as never, ...requests.map(request => ({ request }) as never))
  },
  'two environments': har =>
    har.log.entries.push(
      ...structuredClone(har.log.entries).map(entry => {
        entry.request.url = entry.request.url.replace(SERVICE, 'https://staging.example')
        return entry
      }),
    ),
}

/** The sentences of reports. */
const REPORTS: Readonly<Record<string, RegExp>> = {
  'as it is': /^\d+ of \d+ entries are of the interface, from 1 environment\.$/m,
  'bodies that were not kept': /compared without a body that the capture has cut/,
  'bodies that were cut off': /compared without a body that the capture has cut/,
  'each entry twice': /\d+ are twice in the file/,
  'the entries of a service worker': /\d+ are twice in the file/,
  'requests without an answer': /\d+ are without an answer/,
  'answers of a cache': /\d+ are without an answer/,
  'entries of no form': /4 are without a valid request/,
  'two environments': /from 2 environments/,
}

t.test('decisions §1: a capture of any tool is read', async t => {
  for (const [name, change] of Object.entries({ ...QUIRKS, ...(IS_LONG && SPELLINGS) })) {
    const har = structuredClone(base)
    const result = change(har)
    const { code, stdout, stderr } = await compareHar(t, typeof result === 'string' ? result : har)
    t.match(
      { code, stderr },
      { code: 0, stderr: '' },
      `${name}: ${stdout.slice(stdout.indexOf('Documented statements'))}`,
    )
    t.match(stdout, REPORTS[name] ?? /from 1 environment/, name)
  }
})

t.test('control plane, GET /requests: the HAR of the sandbox itself contradicts nothing', async t => {
  const { client } = await journey(build(t))
  const { body } = await client.control('GET', '/requests?format=har')
  t.ok(body.log.entries.length > 100)
  t.same(await differencesOf(t, body), [])
})

/** An entry of a mandate that is read. */
function read(status: string, at: number, time: number): HarEntry {
  const entry = structuredClone(
    base.log.entries.find(({ request }) => request.url.endsWith('/mandates/MND-GONE') && request.method === 'GET'),
  ) as HarEntry
  const { content } = entry.response
  content.text = (content.text as string).replace('CANCELLED', status)
  return { ...entry, startedDateTime: new Date(at).toISOString(), time }
}

t.test('decisions §7: answers that overlap have no order', async t => {
  const compare = (...entries: HarEntry[]) => compareHar(t, { log: { entries } })
  t.match(await compare(read('CANCELLED', 1000, 100), read('ACTIVE', 1050, 20)), { code: 0 })
  t.match(await compare(read('CANCELLED', 1000, 100), read('ACTIVE', 1101, 20)), {
    code: 1,
    stdout: 'status has another value',
  })
})

t.test('decisions §3: two clients have records of the same references', async t => {
  const har = structuredClone(base)
  const other = (await journey(build(t, { seed: 'other' }))).har
  each(({ request }) => {
    if (request.postData?.text !== undefined)
      request.postData.text = request.postData.text.replace('client_id=acme', 'client_id=b')
  })(other)
  har.log.entries.push(...other.log.entries)
  t.match(await compareHar(t, har), { code: 0, stdout: /from 1 environment/ })
  // Nothing says whose the requests are.
  withoutHeaders('authorization')(har)
  each(entry => {
    entry.startedDateTime = new Date(Date.parse(entry.startedDateTime) + 60_000).toISOString()
  })(other)
  t.match(await compareHar(t, har), { code: 0, stdout: /from 1 environment/ })
})

t.test('fidelity, Documented and assumed: a file with nothing to compare is no success', async t => {
  const har = structuredClone(base)
  for (const { response } of har.log.entries) response.status = 0
  const { code, stderr } = await compareHar(t, har)
  t.equal(code, 2)
  t.match(stderr, /^payments-sandbox: 0 of \d+ entries .* \d+ are without an answer\.\n$/)
})

t.test('decisions §1: --host leaves out other hosts', async t => {
  const har = structuredClone(base)
  const other = structuredClone(har.log.entries[0]) as HarEntry
  other.request.url = 'https://analytics.example:8443/api/v1/mandates'
  har.log.entries.push(other)
  t.match(await compareHar(t, har), { code: 1 })
  t.match(await compareHar(t, har, ['--host', 'api.service.example']), { code: 0 })
  const none = {
    code: 2,
    stdout: '',
    stderr: /^payments-sandbox: 0 of \d+ entries .* \d+ are of other paths or hosts\.\n$/,
  }
  t.match(await compareHar(t, har, ['--host', 'none.example']), none)
})

t.test('decisions §1: hostile values break rules, and nothing else', async t => {
  const values = ['__proto__', null, [[null]], 'constructor', '', 1e300, -1, [], {}, 'x'.repeat(100)]
  for (const hostile of IS_LONG ? values : values.slice(0, 3)) {
    const change = (text: string | undefined) =>
      text?.startsWith('{')
        ? JSON.stringify(JSON.parse(text, (_, value) => (Object(value) === value ? value : hostile)))
        : text
    const har = structuredClone(base)
    each(({ request, response }) => {
      response.content.text = change(response.content.text) ?? ''
      if (request.postData !== undefined) request.postData.text = change(request.postData.text) ?? ''
      request.url += `${request.url.includes('?') ? '&' : '?'}${encodeURIComponent(String(hostile).slice(0, 20))}=1`
    })(har)
    const { code, stderr } = await compareHar(t, har)
    t.same({ code, stderr }, { code: 1, stderr: '' }, String(hostile).slice(0, 20))
  }
})

t.test('control plane, Long calls: work is in proportion to headers and the members of an answer', async t => {
  const har = structuredClone(base)
  const read = har.log.entries.find(({ request: { method, url } }) => method === 'GET' && /mandates\/\w/.test(url))
  const { content } = (read as HarEntry).response
  const members = Array.from({ length: 85_000 }, (_, n) => `"m${n}":1`)
  content.text = content.text?.replace('{', `{${members},`) ?? ''
  // Quadratic work would take some minutes.
  const [{ request }] = har.log.entries as [HarEntry]
  request.headers = [{ name: 'authorization', value: `a${' '.repeat(1_000_000)}\n` }]
  t.match(await compareHar(t, har), { stderr: '' })
})

// Captures have all secrets. Reports are for issues.
t.test('decisions §3: a report has no secret and no value of the traffic', async t => {
  const har = structuredClone(base)
  const hidden = 'Zx81-secret'
  har.log.entries.forEach(({ request, response }, at) => {
    request.headers.push({ name: 'cookie', value: `sid=${hidden}` }, { name: 'x-api-key', value: hidden })
    response.headers.push({ name: 'set-cookie', value: `sid=${hidden}` })
    request.url += `${request.url.includes('?') ? '&' : '?'}token=${hidden}&${hidden}=1`
    const { text = '' } = response.content
    // Each member is wrong, so that it is reported.
    if (text.startsWith('{') && at % 2 === 0) {
      response.content.text = text
        .replace(/"(?!data)([a-z]\w+)":(?:"[^"]*"|\d+)/gi, `"$1":"${hidden}"`)
        .replace('{', `{"${hidden}":1,`)
    }
  })
  const tokens = base.log.entries.flatMap(
    ({ response }) => /"access_token":"([^"]+)/.exec(response.content.text ?? '')?.[1] ?? [],
  )
  t.ok(tokens.length > 1)
  const basic = Buffer.from(`acme:${SECRET}`).toString('base64')
  const values = ['MND-', 'COL-', 'INV-', 'CPTY', 'Jane', 'DE89', 'acme', 'service.example', 'wrong-secret']
  const most = [['--all', '--names'], ['--json']]
  for (const options of IS_LONG ? [...most, [], ['--all'], ['--json', '--names']] : most) {
    const { code, stdout, stderr } = await compareHar(t, har, options)
    t.match({ code, stderr }, { code: 1, stderr: '' })
    for (const text of [...tokens, SECRET, basic, hidden, ...values])
      t.notOk(stdout.includes(text), `${options}: ${text}`)
  }
})

t.test('decisions §3: secrets of HTTP Basic that differ behind a colon are two', async t => {
  const secret = 'a:b'
  const app = build(t)
  const capture = captured(app, { now: Date.parse(MONDAY) })
  await connect(app, 'acme', 'EU', secret)
  for (const one of [secret, 'a:c']) {
    const authorization = `Basic ${Buffer.from(`acme:${one}`).toString('base64')}`
    const headers = { 'content-type': 'application/x-www-form-urlencoded', authorization }
    await call(capture.app, 'POST', '/api/v1/oauth/token', { body: 'grant_type=client_credentials', headers })
  }
  const har = capture.har()
  t.same(
    har.log.entries.map(({ response }) => response.status),
    [200, 401],
  )
  t.same(await differencesOf(t, har), [])
})

t.test('decisions §2: --names shows words, such as the code of an error', async t => {
  const report = async (code: string, options: readonly string[] = []) => {
    const har = structuredClone(base)
    for (const { response } of har.log.entries) {
      if (response.status === 409) response.content.text = JSON.stringify({ code, field: null, message: 'No.' })
    }
    return (await compareHar(t, har, options)).stdout
  }
  t.match(await report('MANDATE_EXISTS'), /a code that the sandbox does not have: AAAAAAA_AAAAAA$/m)
  t.match(await report('MANDATE§EXISTS'), /a code that the sandbox does not have: AAAAAAA\?AAAAAA$/m)
  t.match(await report('MANDATE_EXISTS', ['--names']), /a code that the sandbox does not have: MANDATE_EXISTS$/m)
})

t.test('fidelity, Documented and assumed: wrong usage and unreadable files are exit code 2 with one line', async t => {
  const folder = t.testdir({
    'text.har': `{"log": "${SECRET}`,
    'list.har': '[]',
    'null.har': 'null',
    'entries.har': '{"log":{"entries":{}}}',
    'many.har': JSON.stringify({ log: { entries: Array(20_001).fill(null) } }),
    'large.har': '',
  })
  mkdirSync(join(folder, 'folder.har'))
  truncateSync(join(folder, 'large.har'), 64 * 1024 * 1024 + 1)
  const cases: [args: string[], message: RegExp][] = [
    [[], /takes one file/],
    [['a.har', 'b.har'], /takes one file/],
    [['--all'], /takes one file/],
    [['--other', 'a.har'], /--other/],
    [['--host'], /--host/],
    [['none.har'], /cannot be read: ENOENT/],
    [['folder.har'], /is no file/],
    [['text.har'], /is not JSON/],
    [['list.har'], /no HAR file/],
    [['null.har'], /no HAR file/],
    [['entries.har'], /no HAR file/],
    [['many.har'], /20001 entries: give a file with at most 20000/],
    [['large.har'], /67108865 bytes: give a file of at most 67108864/],
  ]
  for (const [args, message] of cases) {
    const { code, stdout, stderr } = await runCommand(args.map(arg => (arg.endsWith('.har') ? join(folder, arg) : arg)))
    t.match({ code, stdout }, { code: 2, stdout: '' }, args.join(' '))
    t.match(stderr, /^payments-sandbox: [^\n]+\n$/)
    t.match(stderr, message)
    t.notMatch(stderr, SECRET)
  }
  t.match(await runCommand(['--help']), { code: 0, stdout: /^Usage: payments-sandbox compare FILE\.har/ })
})

t.test('fidelity, Documented and assumed: it connects to nothing', async t => {
  const calls: unknown[] = []
  t.intercept(Socket.prototype, 'connect', { value: (...args: unknown[]) => calls.push(args) })
  t.match(await compareHar(t, base), { code: 0 })
  t.same(calls, [])
})
