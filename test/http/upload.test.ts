import { createHash } from 'node:crypto'
import t from 'tap'
import { bill, build, connect } from '../helper.js'
import { listen, open, type RawAnswer, refused, request, stateOf, stillServes } from './raw.js'

// interface, Limits; decisions §1, §9: multipart/form-data, one part `file`; PDF, JPEG or PNG by its first bytes.

const URL = '/api/v1/bills/INV-2026-001/document'
const MULTIPART = { 'content-type': 'multipart/form-data; boundary=b' }
const LIMIT = 10 * 1024 * 1024
const PDF = '%PDF-1.7\n'

interface Part {
  name?: string
  fileName?: string | null
  type?: string
  content?: string | Buffer
}

function form(...parts: Part[]): Buffer {
  const pieces = parts.flatMap(
    ({ name = 'file', fileName = 'invoice.pdf', type = 'application/pdf', content = PDF }) => [
      Buffer.from(
        `--b\r\ncontent-disposition: form-data; name="${name}"${fileName === null ? '' : `; filename="${fileName}"`}\r\n${fileName === null ? '' : `content-type: ${type}\r\n`}\r\n`,
      ),
      Buffer.from(content),
      Buffer.from('\r\n'),
    ],
  )
  return Buffer.concat([...pieces, Buffer.from('--b--\r\n')])
}

async function prepare(t: Parameters<typeof build>[0]) {
  const client = await connect(build(t))
  await client.post('/api/v1/bills', bill())
  const post = (body: Buffer | string, headers: Record<string, string> = MULTIPART) =>
    client.post(URL, body, { headers })
  return { client, post, documents: async () => (await client.get('/api/v1/bills/INV-2026-001')).body.documents }
}

t.test('decisions §9: a PDF, JPEG or PNG is told by its first bytes, not by what the client calls it', async t => {
  const { post, documents } = await prepare(t)
  for (const [contentType, content] of [
    ['application/pdf', Buffer.from(PDF)],
    ['image/jpeg', Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0])],
    ['image/png', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0])],
  ] as const) {
    const answer = await post(form({ content, type: 'text/html', fileName: 'x.exe' }))
    t.equal(answer.status, 201, contentType)
    const { documentId, ...others } = answer.body
    t.type(documentId, 'string')
    t.same(others, {
      fileName: 'x.exe',
      contentType,
      size: content.length,
      sha256: createHash('sha256').update(content).digest('hex'),
      uploadedAt: '2026-11-02T09:00:00Z',
    })
    t.equal(answer.headers['sandbox-hint'], undefined)
  }
  t.equal((await documents()).length, 3)
})

t.test('decisions §2: what is none of these is 415 on file', async t => {
  const { client, post, documents } = await prepare(t)
  const before = await stateOf(client)
  for (const content of ['GIF89a', 'x', ' %PDF-1.7', '%PD', '\x89PN', '\xff\xd8', '<html>', '\0'.repeat(100)]) {
    const answer = await post(form({ content: Buffer.from(content, 'latin1') }))
    refused(t, answer, 415, 'UNSUPPORTED_MEDIA_TYPE', 'file', JSON.stringify(content.slice(0, 20)))
  }
  t.same(await documents(), [])
  t.same(await stateOf(client), before)
})

t.test('decisions §1: a body of another type is 415 on content-type', async t => {
  const { post, documents } = await prepare(t)
  for (const type of [
    'application/pdf',
    'application/json',
    'application/octet-stream',
    'multipart/mixed; boundary=b',
    'nonsense',
    'application/x-www-form-urlencoded',
  ]) {
    const answer = await post(form({}), { 'content-type': type })
    refused(t, answer, 415, 'UNSUPPORTED_MEDIA_TYPE', 'content-type', type)
  }
  t.same(await documents(), [])
})

t.test('decisions §9: no document, or an empty one, is MISSING_FIELD on file', async t => {
  const { post, documents } = await prepare(t)
  refused(t, await post(form()), 400, 'MISSING_FIELD', 'file', 'no part')
  refused(t, await post(form({ content: '' })), 400, 'MISSING_FIELD', 'file', 'empty')
  refused(t, await post(form({ name: 'document' })), 400, 'MISSING_FIELD', 'file', 'part of another name')
  refused(t, await post(form({ name: 'FILE' })), 400, 'MISSING_FIELD', 'file', 'case')
  t.same(await documents(), [])
})

t.test('decisions §2: a part file given twice is MALFORMED_REQUEST', async t => {
  const { post, documents } = await prepare(t)
  refused(t, await post(form({}, {})), 400, 'MALFORMED_REQUEST', 'file')
  t.same(await documents(), [])
})

t.test('decisions §1: a document of 10 MiB is taken, one byte more is 413', async t => {
  const { post, documents } = await prepare(t)
  const full = Buffer.alloc(LIMIT, 0x20)
  full.write(PDF)
  const taken = await post(form({ content: full }))
  t.same([taken.status, taken.body.size], [201, LIMIT])
  const above = Buffer.concat([full, Buffer.from(' ')])
  refused(t, await post(form({ content: above })), 413, 'PAYLOAD_TOO_LARGE', 'file')
  t.equal((await documents()).length, 1)
})

t.test('decisions §1: over a socket, too, and the server goes on', async t => {
  const { client, documents } = await prepare(t)
  const port = await listen(client.app)
  const connection = await open(port)
  const headers = { authorization: `Bearer ${client.token}`, 'x-region': 'EU', ...MULTIPART }
  const body = form({ content: PDF + ' '.repeat(LIMIT) })
  connection.send(request(`POST ${URL}`, { ...headers, 'content-length': String(body.length) }))
  connection.send(body)
  refused(t, (await connection.read()) as RawAnswer, 413, 'PAYLOAD_TOO_LARGE', 'file')
  connection.destroy()
  t.same(await documents(), [])
  await stillServes(t, port)
})

t.test('decisions §2: a body that is not well-formed multipart is MALFORMED_REQUEST', async t => {
  const { post, documents } = await prepare(t)
  const right = form({})
  for (const [what, body, headers] of [
    ['not multipart', 'text', MULTIPART],
    ['cut in the headers', right.subarray(0, 20), MULTIPART],
    ['cut in the content', right.subarray(0, -12), MULTIPART],
    ['another boundary', right, { 'content-type': 'multipart/form-data; boundary=other' }],
    ['no boundary', right, { 'content-type': 'multipart/form-data' }],
    ['too many files', form(...Array.from({ length: 30 }, (_, at) => ({ name: `f${at}` }))), MULTIPART],
    [
      'too many fields',
      form(...Array.from({ length: 100 }, (_, at) => ({ name: `f${at}`, fileName: null }))),
      MULTIPART,
    ],
  ] as const) {
    const answer = await post(body as Buffer, headers)
    refused(t, answer, 400, 'MALFORMED_REQUEST', null, what)
  }
  t.same(await documents(), [])
})

t.test('decisions §1: what comes along with a document is bounded, too: all of it has 11 MiB', async t => {
  const { post, documents } = await prepare(t)
  const extra = { name: 'extra', content: Buffer.alloc(6 * 1024 * 1024) }
  refused(t, await post(form({}, extra, extra)), 413, 'PAYLOAD_TOO_LARGE', 'file')
  t.same(await documents(), [])
})

t.test('decisions §1: parts that the interface does not name are ignored and hinted at', async t => {
  const { post, documents } = await prepare(t)
  const note = { name: 'note', fileName: null, content: 'x' }
  const answer = await post(form(note, {}, { name: 'other', content: 'GIF89a' }))
  t.equal(answer.status, 201)
  t.match(answer.headers['sandbox-hint'], /^[\x20-\x7e]+$/)
  for (const name of ['note', 'other']) t.match(answer.headers['sandbox-hint'], name)
  t.equal((await documents()).length, 1)
})

t.test('decisions §9: hostile file names are told as text, never longer than 255 characters', async t => {
  const { post, documents } = await prepare(t)
  for (const fileName of [
    'x'.repeat(5000),
    '../../etc/passwd',
    '..\\\\..\\\\x',
    '\u00e9\ud83d\ude00.pdf',
    '__proto__',
    '',
    ' ',
    '<script>',
  ]) {
    const answer = await post(form({ fileName }))
    t.equal(answer.status, 201, fileName.slice(0, 30))
    t.ok(answer.body.fileName.length >= 1 && answer.body.fileName.length <= 255, 'fileName')
  }
  t.equal((await documents()).length, 8)
})
