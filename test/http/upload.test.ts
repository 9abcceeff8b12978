import { createHash } from 'node:crypto'
import t from 'tap'
import { bill, build, connect } from '../helper.js'
import { listen, open, outcome, request, rows, stillServes, table } from './raw.js'

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

t.test('decisions §9: a PDF, JPEG or PNG is recognised by its first bytes, not by its name or type', async t => {
  const { post, documents } = await prepare(t)
  for (const [contentType, content] of [
    ['application/pdf', Buffer.from(PDF)],
    ['image/jpeg', Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0])],
    ['image/png', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0])],
  ] as const) {
    const { status, body } = await post(form({ content, type: 'text/html', fileName: 'x.exe' }))
    t.same(
      [status, body],
      [
        201,
        {
          documentId: body.documentId,
          fileName: 'x.exe',
          contentType,
          size: content.length,
          sha256: createHash('sha256').update(content).digest('hex'),
          uploadedAt: '2026-11-02T09:00:00Z',
        },
      ],
    )
  }
  t.equal((await documents()).length, 3)
})

t.test('decisions §1, §2, §9: documents that are refused', async t => {
  const { post, documents } = await prepare(t)
  const others = ['GIF89a', 'x', ' %PDF-1.7', '%PD', '\x89PN', '\xff\xd8', '<html>', '\0'.repeat(100)]
  await table(t, rows(others, 415, 'UNSUPPORTED_MEDIA_TYPE', 'file'), content =>
    post(form({ content: Buffer.from(content, 'latin1') })),
  )
  const types = ['application/pdf', 'application/json', 'multipart/mixed; boundary=b', 'nonsense']
  await table(t, rows(types, 415, 'UNSUPPORTED_MEDIA_TYPE', 'content-type'), type =>
    post(form({}), { 'content-type': type }),
  )
  const right = form({})
  const bodies: Record<string, Buffer | string> = {
    'no part': form(),
    empty: form({ content: '' }),
    'another name': form({ name: 'FILE' }),
    'given twice': form({}, {}),
    'not multipart': 'text',
    'cut in the headers': right.subarray(0, 20),
    'cut in the content': right.subarray(0, -12),
    'too many files': form(...Array.from({ length: 30 }, (_, at) => ({ name: `f${at}` }))),
    'too many fields': form(...Array.from({ length: 100 }, (_, at) => ({ name: `f${at}`, fileName: null }))),
  }
  const names = Object.keys(bodies)
  await table(
    t,
    [
      ...rows(names.slice(0, 3), 400, 'MISSING_FIELD', 'file'),
      ...rows(names.slice(3, 4), 400, 'MALFORMED_REQUEST', 'file'),
      ...rows(names.slice(4), 400, 'MALFORMED_REQUEST', null),
    ],
    name => post(bodies[name] as Buffer),
  )
  const boundaries = ['multipart/form-data; boundary=other', 'multipart/form-data']
  await table(t, rows(boundaries, 400, 'MALFORMED_REQUEST', null), type => post(right, { 'content-type': type }))
  t.same(await documents(), [])
})

t.test('decisions §1: a document of 10 MiB is accepted, one byte more is 413, also over a socket', async t => {
  const { client, post, documents } = await prepare(t)
  const full = Buffer.alloc(LIMIT, 0x20)
  full.write(PDF)
  const taken = await post(form({ content: full }))
  t.same([taken.status, taken.body.size], [201, LIMIT])
  const port = await listen(client.app)
  const connection = await open(port)
  const headers = { authorization: `Bearer ${client.token}`, 'x-region': 'EU', ...MULTIPART }
  const body = form({ content: Buffer.concat([full, Buffer.from(' ')]) })
  connection.send(request(`POST ${URL}`, { ...headers, 'content-length': String(body.length) }))
  connection.send(body)
  t.same(outcome(await connection.read()), [413, 'PAYLOAD_TOO_LARGE', 'file'])
  connection.destroy()
  t.equal((await documents()).length, 1)
  await stillServes(t, port)
})

t.test('decisions §1: unknown parts are ignored and hinted at', async t => {
  const { post, documents } = await prepare(t)
  const note = { name: 'note', fileName: null, content: 'x' }
  const { status, headers } = await post(form(note, {}, { name: 'other', content: 'GIF89a' }))
  const hint = 'unknown member note ignored; unknown member other ignored'
  t.same([status, headers['sandbox-hint'], (await documents()).length], [201, hint, 1])
})

t.test('decisions §9: any file name is stored as text of 1 to 255 characters', async t => {
  const { post } = await prepare(t)
  const names = ['x'.repeat(5000), '../../etc/passwd', '\u00e9\ud83d\ude00.pdf', '__proto__', '', ' ', '<script>']
  const actual: unknown[] = []
  for (const fileName of names) {
    const { status, body } = await post(form({ fileName }))
    actual.push([status, body.fileName.length >= 1 && body.fileName.length <= 255])
  }
  t.same(
    actual,
    names.map(() => [201, true]),
  )
})
