import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect as connectSocket } from 'node:net'
import t, { type Test } from 'tap'
import type { Answer, CallOptions, Client } from '../helper.js'
import { bill, build, connect, MONDAY, requestToken } from '../helper.js'
import { closed } from '../http/raw.js'

const BILL = '/api/v1/bills/INV-2026-001'
const DOCUMENT = `${BILL}/document`
const MIB = 1024 * 1024

const PDF = Buffer.from('%PDF-1.7\n%%EOF\n')
const JPEG = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0x00, 0x10])
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00])

type Refusal = [number, string, string | null]

function refused(t: Test, { status, body }: Answer, expected: Refusal, what = expected[1]) {
  t.same([status, body?.code, body?.field], expected, what)
  t.same(Object.keys(body ?? {}).sort(), ['code', 'field', 'message'], `${what}: members`)
}

const missing: Refusal = [400, 'MISSING_FIELD', 'file']
const malformed = (field: string | null): Refusal => [400, 'MALFORMED_REQUEST', field]
const wrongBytes: Refusal = [415, 'UNSUPPORTED_MEDIA_TYPE', 'file']
const wrongType: Refusal = [415, 'UNSUPPORTED_MEDIA_TYPE', 'content-type']
const tooLarge: Refusal = [413, 'PAYLOAD_TOO_LARGE', 'file']
const unknown: Refusal = [404, 'BILL_NOT_FOUND', 'uniqueReferenceIdentifier']
const invalidReference: Refusal = [400, 'INVALID_BILL_REFERENCE', 'uniqueReferenceIdentifier']

interface Part {
  name?: string
  /** Null: a part without a file name, which is a plain field. */
  fileName?: string | null
  type?: string | null
  content: Buffer | string
}

const BOUNDARY = 'tap-boundary'

/** A multipart body (RFC 7578), spelled out so that tests can spoil it. */
function multipart(...parts: Part[]): Buffer {
  const pieces = parts.flatMap(({ name = 'file', fileName = 'bill.pdf', type = 'application/pdf', content }) => [
    `--${BOUNDARY}\r\n`,
    `Content-Disposition: form-data; name="${name}"${fileName === null ? '' : `; filename="${fileName}"`}\r\n`,
    type === null ? '' : `Content-Type: ${type}\r\n`,
    '\r\n',
    content,
    '\r\n',
  ])
  return Buffer.concat([...pieces, `--${BOUNDARY}--\r\n`].map(piece => Buffer.from(piece)))
}

const MULTIPART = `multipart/form-data; boundary=${BOUNDARY}`

const post = (client: Client, body: Buffer | string, options: CallOptions = {}, url = DOCUMENT) =>
  client.post(url, body, { ...options, headers: { 'content-type': MULTIPART, ...options.headers } })
const upload = (client: Client, ...parts: Part[]) => post(client, multipart(...parts))

/** A client with one bill to attach documents to. */
async function connectWithBill(t: Test): Promise<Client> {
  const client = await connect(build(t))
  await client.post('/api/v1/bills', bill())
  return client
}

const documentsOf = async (client: Client) => (await client.get(BILL)).body.documents
const sha256 = (content: Buffer) => createHash('sha256').update(content).digest('hex')
const padded = (start: Buffer, size: number) => Buffer.concat([start, Buffer.alloc(size - start.length, 'x')])

// ------------------------------------------------------------------------------------------------------ accepted

t.test('decisions §9: an uploaded document is answered with what it is, and the bill lists it', async t => {
  const client = await connectWithBill(t)
  await client.advance({ by: 'PT1H' })
  const { status, body } = await upload(client, { fileName: 'Invoice 1.pdf', content: PDF })
  t.equal(status, 201)
  const { documentId, ...rest } = body
  t.type(documentId, 'string')
  t.ok(documentId.length > 0)
  t.same(rest, {
    fileName: 'Invoice 1.pdf',
    contentType: 'application/pdf',
    size: PDF.length,
    sha256: sha256(PDF),
    uploadedAt: '2026-11-02T10:00:00Z',
  })
  const { body: read } = await client.get(BILL)
  t.same(read.documents, [body])
  t.same([read.createdAt, read.status, read.openAmount], [MONDAY, 'OPEN', '1190.00'])
  t.same((await client.get('/api/v1/bills')).body.data[0].documents, [body], 'in lists, too')
})

t.test('interface, Limits: PDF, JPEG and PNG are told by their first bytes, whatever they call themselves', async t => {
  const client = await connectWithBill(t)
  for (const [contentType, content] of [
    ['application/pdf', PDF],
    ['image/jpeg', JPEG],
    ['image/jpeg', Buffer.from([0xff, 0xd8, 0xff])],
    ['image/png', PNG],
    ['image/png', PNG.subarray(0, 8)],
    ['application/pdf', Buffer.from('%PDF-')],
  ] as const) {
    for (const type of ['application/pdf', 'image/png', 'text/html', 'application/octet-stream', null]) {
      const answer = await upload(client, { type, fileName: 'page.html', content })
      t.same([answer.status, answer.body.contentType, answer.body.size], [201, contentType, content.length], `${type}`)
      t.equal(answer.body.sha256, sha256(content))
    }
  }
})

t.test(
  'decisions §9: several documents are listed in order, each with its own id, the same file again, too',
  async t => {
    const client = await connectWithBill(t)
    const answers = [
      await upload(client, { fileName: 'a.pdf', content: PDF }),
      await upload(client, { fileName: 'b.png', content: PNG }),
      await upload(client, { fileName: 'a.pdf', content: PDF }),
    ]
    const documents = await documentsOf(client)
    t.same(
      documents,
      answers.map(({ body }) => body),
    )
    t.equal(new Set(documents.map(({ documentId }: { documentId: string }) => documentId)).size, 3)
  },
)

t.test('decisions §9: a document is taken byte for byte', async t => {
  const client = await connectWithBill(t)
  const every = Buffer.concat([PNG, Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))])
  const nearBoundary = Buffer.concat([PDF, Buffer.from(`\r\n--${BOUNDARY.slice(0, -1)}\r\n--\r\n`), PDF])
  for (const content of [every, nearBoundary, Buffer.concat([PDF, Buffer.from('\r\n\r\n')])]) {
    const { status, body } = await upload(client, { content })
    t.same([status, body.size, body.sha256], [201, content.length, sha256(content)])
  }
})

t.test('decisions §9: file names keep their characters', async t => {
  const client = await connectWithBill(t)
  for (const fileName of ['Rechnung März 2026.pdf', '請求書.pdf', '💶.pdf', 'no-extension', 'a;b=c.pdf']) {
    const { status, body } = await upload(client, { fileName, content: PDF })
    t.same([status, body.fileName], [201, fileName])
  }
})

t.test('decisions §9: a document without a name, or with one that is very long, has a name nevertheless', async t => {
  const client = await connectWithBill(t)
  const nameless = await upload(client, { fileName: '', content: PDF })
  t.equal(nameless.status, 201)
  t.type(nameless.body.fileName, 'string')
  t.ok(nameless.body.fileName.length > 0)
  const long = await upload(client, { fileName: 'x'.repeat(400), content: PDF })
  t.equal(long.status, 201)
  t.match(long.body.fileName, /^x+$/)
})

t.test('decisions §1: other fields and files are ignored, with a hint', async t => {
  const client = await connectWithBill(t)
  const answer = await upload(
    client,
    { name: 'comment', fileName: null, type: null, content: 'hello' },
    { content: PDF },
    { name: 'attachment', fileName: 'other.png', content: PNG },
  )
  t.same([answer.status, answer.body.contentType], [201, 'application/pdf'])
  t.match(answer.headers['sandbox-hint'], /comment/)
  t.match(answer.headers['sandbox-hint'], /attachment/)
  t.equal((await documentsOf(client)).length, 1)

  const plain = await upload(client, { content: PDF })
  t.equal(plain.headers['sandbox-hint'], undefined, 'and no hint where nothing was ignored')
})

t.test('a field that is named like a member of every object is hostile, and refused', async t => {
  const client = await connectWithBill(t)
  for (const name of ['__proto__', 'toString', 'constructor', 'hasOwnProperty']) {
    const answer = await upload(client, { name, fileName: null, type: null, content: 'x' }, { content: PDF })
    t.same([answer.status, answer.body.code], [400, 'MALFORMED_REQUEST'], name)
  }
  t.same(await documentsOf(client), [])
})

t.test('decisions §1: an unknown query parameter is ignored, with a hint', async t => {
  const client = await connectWithBill(t)
  const answer = await post(client, multipart({ content: PDF }), {}, `${DOCUMENT}?kind=invoice`)
  t.equal(answer.status, 201)
  t.match(answer.headers['sandbox-hint'], /kind/)
})

t.test('RFC 2046 §5.1: preamble, epilogue, and a quoted boundary are legal', async t => {
  const client = await connectWithBill(t)
  const body = Buffer.concat([Buffer.from('a preamble\r\n'), multipart({ content: PDF }), Buffer.from('an epilogue')])
  t.equal((await post(client, body)).body.sha256, sha256(PDF))
  const quoted = { headers: { 'content-type': `Multipart/Form-Data; charset=utf-8; boundary="${BOUNDARY}"` } }
  t.equal((await post(client, multipart({ content: PDF }), quoted)).body.sha256, sha256(PDF))
})

// ------------------------------------------------------------------------------------------------------- refused

t.test('decisions §9: what is neither PDF, JPEG nor PNG by its first bytes is 415', async t => {
  const client = await connectWithBill(t)
  for (const [what, content] of [
    ['GIF', 'GIF89a'],
    ['HTML', '<html>'],
    ['ZIP', 'PK\u0003\u0004'],
    ['a space before', ' %PDF-1.7'],
    ['lower case', '%pdf-1.7'],
    ['half of a PDF', '%PDF'],
    ['one byte', '%'],
    ['half of a PNG', PNG.subarray(0, 7)],
    ['a spoilt PNG', Buffer.concat([PNG.subarray(0, 4), Buffer.from('\n\n'), PNG.subarray(6)])],
    ['half of a JPEG', JPEG.subarray(0, 2)],
    ['a byte-order mark before', '\ufeff%PDF-1.7'],
  ] as const) {
    for (const type of ['application/pdf', 'image/png', 'image/jpeg']) {
      const answer = await upload(client, { type, fileName: 'bill.pdf', content })
      refused(t, answer, wrongBytes, `${what} as ${type}`)
      t.match(answer.body.message, /PDF.*JPEG.*PNG/)
    }
  }
  t.same(await documentsOf(client), [])
})

t.test('decisions §9: an empty document is 400', async t => {
  const client = await connectWithBill(t)
  refused(t, await upload(client, { content: '' }), missing)
  refused(t, await upload(client, { fileName: '', type: 'application/octet-stream', content: '' }), missing, 'no file')
  t.same(await documentsOf(client), [])
})

t.test('decisions §9: a form without the part file is 400', async t => {
  const client = await connectWithBill(t)
  refused(t, await post(client, multipart()), missing, 'no part at all')
  refused(t, await upload(client, { name: 'document', content: PDF }), missing, 'by another name')
  refused(t, await upload(client, { name: 'File', content: PDF }), missing, 'by another case')
  refused(t, await upload(client, { fileName: null, type: null, content: 'text' }), missing, 'as a plain field')
  refused(t, await client.post(DOCUMENT), missing, 'decisions §1: no body is 400, not 415')
  t.same(await documentsOf(client), [])
})

t.test('decisions §2: two parts of the name file are 400', async t => {
  const client = await connectWithBill(t)
  refused(t, await upload(client, { content: PDF }, { content: PNG }), malformed('file'))
  t.same(await documentsOf(client), [])
})

t.test('decisions §1: a document of 10 MiB is taken, one byte more is 413', async t => {
  const client = await connectWithBill(t)
  const largest = padded(PDF, 10 * MIB)
  const { status, body } = await upload(client, { content: largest })
  t.same([status, body.size, body.sha256], [201, 10 * MIB, sha256(largest)])
  for (const size of [10 * MIB + 1, 11 * MIB]) {
    const answer = await upload(client, { content: padded(PDF, size) })
    refused(t, answer, tooLarge, `${size} bytes`)
    t.match(answer.body.message, /10 MiB/)
  }
  t.equal((await documentsOf(client)).length, 1)
})

t.test('decisions §1: 413 comes before 415 and 400', async t => {
  const client = await connectWithBill(t)
  const large = 10 * MIB + 1
  refused(t, await upload(client, { content: Buffer.alloc(large) }), tooLarge, 'of another format')
  const body = multipart({ content: padded(PDF, large) })
  refused(t, await post(client, body, {}, '/api/v1/bills/ab/document'), tooLarge, 'for a malformed reference')
  refused(t, await post(client, body, {}, '/api/v1/bills/unknown/document'), tooLarge, 'for an unknown bill')
})

t.test('decisions §1, §2: a body that is no multipart form is 415', async t => {
  const client = await connectWithBill(t)
  const cases: [string, string | Buffer][] = [
    ['application/json', '{"file":"x"}'],
    ['application/json', '{'],
    ['application/pdf', PDF],
    ['application/x-www-form-urlencoded', 'file=x'],
    ['multipart/mixed; boundary=x', '--x--'],
    ['application/octet-stream', PDF],
  ]
  for (const [type, body] of cases) {
    const answer = await post(client, body, { headers: { 'content-type': type } })
    refused(t, answer, wrongType, type)
    t.match(answer.body.message, /multipart\/form-data/)
  }
})

t.test('decisions §2: a malformed or truncated form is 400', async t => {
  const client = await connectWithBill(t)
  const whole = multipart({ content: PDF })
  const cases: [string, Buffer | string, string?][] = [
    ['no boundary in the header', whole, 'multipart/form-data'],
    ['an empty boundary', whole, 'multipart/form-data; boundary='],
    ['another boundary', whole, 'multipart/form-data; boundary=other'],
    ['no boundary in the body', 'hello'],
    ['cut in the content', whole.subarray(0, whole.indexOf('%PDF') + 6)],
    ['cut before the last boundary', whole.subarray(0, whole.lastIndexOf(`\r\n--${BOUNDARY}`))],
    ['cut in the last boundary', whole.subarray(0, whole.length - 6)],
    ['cut in the headers of the part', whole.subarray(0, whole.indexOf('Content-Type') + 5)],
    ['cut in the first boundary', whole.subarray(0, 5)],
  ]
  for (const [what, body, type = MULTIPART] of cases) {
    refused(t, await post(client, body, { headers: { 'content-type': type } }), malformed(null), what)
  }
  t.same(await documentsOf(client), [], 'nothing was attached')
  t.equal((await upload(client, { content: PDF })).status, 201, 'and the server goes on')
})

t.test('decisions §1: a form is refused by 415, then for its path, then for itself, then for its record', async t => {
  const client = await connectWithBill(t)
  const send = (reference: string, body: Buffer | string, headers = {}) =>
    post(client, body, { headers }, `/api/v1/bills/${reference}/document`)
  const json = { 'content-type': 'application/json' }
  refused(t, await send('ab', '{}', json), wrongType, 'JSON, malformed reference')
  refused(t, await send('ab', multipart({ content: 'GIF89a' })), wrongBytes, 'another format, malformed reference')
  refused(t, await send('unknown', multipart({ content: 'GIF89a' })), wrongBytes, 'another format, unknown bill')
  refused(t, await send('ab', multipart({ content: '' })), invalidReference, 'empty, malformed reference')
  refused(t, await send('ab', multipart()), invalidReference, 'no part, malformed reference')
  refused(t, await send('ab', multipart({ content: PDF }, { content: PDF })), invalidReference, 'two, malformed')
  refused(t, await send('ab', 'hello'), invalidReference, 'malformed form, malformed reference')
  refused(t, await send('ab', multipart({ content: PDF })), invalidReference, 'malformed reference')
  refused(t, await send('unknown', multipart({ content: '' })), missing, 'empty, unknown bill')
  refused(t, await send('unknown', multipart({ content: PDF })), unknown, 'unknown bill')
})

t.test('decisions §9: a cancelled bill takes no document', async t => {
  const client = await connectWithBill(t)
  await client.patch(BILL, { status: 'CANCELLED' })
  const answer = await upload(client, { content: PDF })
  refused(t, answer, [409, 'BILL_CANCELLED', 'uniqueReferenceIdentifier'])
  t.same(await documentsOf(client), [])
})

t.test('decisions §9: a paid bill takes documents', async t => {
  const client = await connectWithBill(t)
  await client.patch(BILL, { status: 'PAID' })
  t.equal((await upload(client, { content: PDF })).status, 201)
})

t.test('decisions §4: a document goes to the bill of its region', async t => {
  const client = await connectWithBill(t)
  const body = multipart({ content: PDF })
  refused(t, await post(client, body, { region: 'US' }), unknown, 'no bill in US')
  refused(t, await post(client, body, { region: 'GB' }), [400, 'INVALID_REGION', 'x-region'])
  refused(t, await post(client, body, { region: null }), [400, 'MISSING_FIELD', 'x-region'])
  for (const [region, currency] of Object.entries({ US: 'USD', UK: 'GBP', IN: 'INR' })) {
    await client.post('/api/v1/bills', bill({ currency }), { region })
    t.equal((await post(client, body, { region })).status, 201, region)
    t.equal((await client.get(BILL, { region })).body.documents.length, 1, region)
  }
  t.same(await documentsOf(client), [], 'none for EU')
})

t.test('decisions §1: the token is asked for before the form is read', async t => {
  const client = await connectWithBill(t)
  const headers = { authorization: 'Bearer nonsense' }
  refused(t, await post(client, 'hello', { headers }), [401, 'INVALID_TOKEN', 'authorization'])
})

t.test('decisions §1: reading documents is not documented: 405 with Allow', async t => {
  const client = await connectWithBill(t)
  const answer = await client.get(DOCUMENT)
  refused(t, answer, [405, 'METHOD_NOT_ALLOWED', null])
  t.match(answer.headers.allow, /POST/)
})

// ------------------------------------------------------------------------------------------------------- sockets

/** A listening server with one bill; `send` uploads by fetch as a browser or Node client would. */
async function listen(t: Test) {
  const app = build(t)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const token: string = (await requestToken(app)).body.access_token
  const headers = { authorization: `Bearer ${token}`, 'x-region': 'EU' }
  const base = `http://127.0.0.1:${port}`
  await fetch(`${base}/api/v1/bills`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(bill()),
  })
  const send = async (form: FormData): Promise<Answer> => {
    const response = await fetch(base + DOCUMENT, { method: 'POST', headers, body: form })
    return { status: response.status, body: await response.json(), headers: {} }
  }
  const read = async () => (await fetch(base + BILL, { headers })).json() as Promise<{ documents: unknown[] }>
  return { port, token, send, read }
}

function formWith(content: Buffer, fileName: string, type = 'application/pdf'): FormData {
  const form = new FormData()
  form.set('file', new Blob([new Uint8Array(content)], { type }), fileName)
  return form
}

t.test('decisions §9: documents are taken over a real connection, as fetch and FormData send them', async t => {
  const { send, read } = await listen(t)
  const { status, body } = await send(formWith(PDF, 'Rechnung März.pdf'))
  t.same([status, body.fileName, body.contentType], [201, 'Rechnung März.pdf', 'application/pdf'])
  t.same([body.size, body.sha256], [PDF.length, sha256(PDF)])
  t.same((await read()).documents, [body])

  const form = formWith(PNG, 'scan.png', 'image/png')
  form.set('comment', 'from the scanner')
  t.same((await send(form)).body.contentType, 'image/png')
  refused(t, await send(formWith(Buffer.from('GIF89a'), 'x.gif', 'image/gif')), wrongBytes)
  refused(t, await send(new FormData()), missing, 'an empty form')
})

t.test('decisions §1: over a real connection, too, 10 MiB are taken and one byte more is 413', async t => {
  const { send, read } = await listen(t)
  const largest = padded(JPEG, 10 * MIB)
  const { status, body } = await send(formWith(largest, 'large.jpg'))
  t.same([status, body.size, body.sha256], [201, 10 * MIB, sha256(largest)])
  refused(t, await send(formWith(padded(JPEG, 10 * MIB + 1), 'larger.jpg')), tooLarge)
  t.equal((await read()).documents.length, 1)
})

t.test('decisions §9: an upload that breaks off attaches nothing, and the server goes on', async t => {
  const { port, token, send, read } = await listen(t)
  const body = multipart({ content: padded(PDF, 100_000) })
  const socket = connectSocket(port, '127.0.0.1')
  await once(socket, 'connect')
  const head = [
    `POST ${DOCUMENT} HTTP/1.1`,
    'host: sandbox',
    `authorization: Bearer ${token}`,
    'x-region: EU',
    `content-type: ${MULTIPART}`,
    `content-length: ${body.length}`,
    '',
    '',
  ].join('\r\n')
  await new Promise(resolve => socket.write(Buffer.concat([Buffer.from(head), body.subarray(0, 50_000)]), resolve))
  socket.destroy()
  await closed(socket)
  t.equal((await send(formWith(PNG, 'next.png'))).status, 201)
  t.equal((await read()).documents.length, 1, 'the next one alone')
})
