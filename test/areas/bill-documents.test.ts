import { createHash } from 'node:crypto'
import t, { type Test } from 'tap'
import { gist, malformed, missing, table } from '../answers.js'
import type { Answer, CallOptions, Client } from '../helper.js'
import { bill, build, connect, MONDAY, newClient } from '../helper.js'
import { listen, open as openSocket, request } from '../http/raw.js'
import { BOUNDARY, field, MULTIPART, multipart, type Part } from '../multipart.js'

const BILL = '/api/v1/bills/INV-2026-001'
const DOCUMENT = `${BILL}/document`
const MIB = 1024 * 1024

const PDF = Buffer.from('%PDF-1.7\n%%EOF\n')
const JPEG = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0x00, 0x10])
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00])

const NO_FILE = missing('file')
const WRONG_BYTES = '415 UNSUPPORTED_MEDIA_TYPE file'
const WRONG_TYPE = '415 UNSUPPORTED_MEDIA_TYPE content-type'
const TOO_LARGE = '413 PAYLOAD_TOO_LARGE file'

const post = (client: Client, body: Buffer | string, options: CallOptions = {}, url = DOCUMENT) =>
  client.post(url, body, { ...options, headers: { ...MULTIPART, ...options.headers } })
const upload = (client: Client, ...parts: Part[]) => post(client, multipart(...parts))

/** A new tenant with one bill. */
async function open(): Promise<Client> {
  const client = await newClient()
  await client.post('/api/v1/bills', bill())
  return client
}

const documentsOf = async (client: Client) => (await client.get(BILL)).body.documents
const sha256 = (content: Buffer) => createHash('sha256').update(content).digest('hex')
const padded = (start: Buffer, size: number) => Buffer.concat([start, Buffer.alloc(size - start.length, 'x')])

// ------------------------------------------------------------------------------------------------------ accepted

t.test('decisions §9: an uploaded document is answered with its description, and the bill lists it', async t => {
  const client = await open()
  await client.advance({ by: 'PT1H' })
  const { status, body } = await upload(client, { fileName: 'Invoice 1.pdf', content: PDF })
  const { documentId, ...rest } = body
  const file = { fileName: 'Invoice 1.pdf', contentType: 'application/pdf', size: PDF.length, sha256: sha256(PDF) }
  t.same([status, rest], [201, { ...file, uploadedAt: '2026-11-02T10:00:00Z' }])
  const others = [await upload(client, { fileName: 'b.png', content: PNG }), await upload(client, { content: PDF })]
  const documents = [body, ...others.map(other => other.body)]
  t.match((await client.get(BILL)).body, { documents, createdAt: MONDAY, status: 'OPEN', openAmount: '1190.00' })
  t.same((await client.get('/api/v1/bills')).body.data[0].documents, documents, 'in lists, too')
  t.equal(new Set(documents.map(one => one.documentId)).size, 3, 'each with its own id')
})

t.test(
  'interface, Limits: PDF, JPEG and PNG are told by their first bytes, whatever type they are sent as',
  async t => {
    const client = await open()
    const types = ['application/pdf', 'image/png', 'text/html', null]
    const spoilt = Buffer.concat([PNG.subarray(0, 4), Buffer.from('\n\n'), PNG.subarray(6)])
    const halves = ['%PDF', '%', PNG.subarray(0, 7), spoilt, JPEG.subarray(0, 2)]
    const others = ['GIF89a', '<html>', 'PK\u0003\u0004', ' %PDF-1.7', '%pdf-1.7', '\ufeff%PDF-1.7']
    for (const type of types) {
      const send = async (content: string) => {
        const answer = await upload(client, { type, fileName: 'page.html', content: Buffer.from(content, 'latin1') })
        return answer.status === 201 ? answer.body.contentType : answer
      }
      const texts = (contents: (Buffer | string)[]) => contents.map(content => Buffer.from(content).toString('latin1'))
      await table(t, send, {
        'application/pdf': texts([PDF, '%PDF-']),
        'image/jpeg': texts([JPEG, JPEG.subarray(0, 3)]),
        'image/png': texts([PNG, PNG.subarray(0, 8)]),
        [WRONG_BYTES]: texts([...others, ...halves]),
      })
    }
    t.match((await upload(client, { content: 'GIF89a' })).body.message, /PDF.*JPEG.*PNG/)
    t.equal((await documentsOf(client)).length, 24, 'a refused one is not attached')
  },
)

t.test('decisions §9: a document is taken byte for byte, and file names keep their characters', async t => {
  const client = await open()
  const every = Buffer.concat([PNG, Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))])
  const nearBoundary = Buffer.concat([PDF, Buffer.from(`\r\n--${BOUNDARY.slice(0, -1)}\r\n--\r\n`), PDF])
  for (const content of [every, nearBoundary, Buffer.concat([PDF, Buffer.from('\r\n\r\n')])]) {
    const { status, body } = await upload(client, { content })
    t.same([status, body.size, body.sha256], [201, content.length, sha256(content)])
  }
  const name = async (fileName: string) => (await upload(client, { fileName, content: PDF })).body.fileName
  const names = ['Rechnung März 2026.pdf', '請求書.pdf', '💶.pdf', 'no-extension', 'a;b=c.pdf']
  t.same(await Promise.all(names.map(name)), names)
  for (const odd of ['', ' ', '../../etc/passwd', '__proto__', '<script>', 'x'.repeat(5000)]) {
    t.match(await name(odd), /^.{1,255}$/, 'any name is stored as text of 1 to 255 characters')
  }
})

t.test('decisions §9: the extended form of a file name wins, in any order, and a name can be missing', async t => {
  const client = await open()
  const name = async (fileName: string | null, disposition = '') =>
    (await upload(client, { fileName, disposition })).body.fileName
  await table(t, ([fileName, disposition]) => name(fileName, disposition), {
    '€.png': [
      ['x.png', "; filename*=UTF-8''%e2%82%ac.png"],
      ['x.png', "; FileName*=utf-8'de'%E2%82%AC.png"],
      [null, "; filename*=UTF-8''%e2%82%ac.png"],
      [null, '; filename="x.png"; filename*=UTF-8\'\'%e2%82%ac.png'],
      [null, "; filename=x.png; filename*=UTF-8''%e2%82%ac.png"],
      [null, "; filename*=UTF-8''%e2%82%ac.png; filename=x.png"],
      [null, "; filename*=UTF-8''..%2F%e2%82%ac%0A.png"],
    ],
    '£.png': [['x.png', "; filename*=iso-8859-1'en'%A3.png"]],
    'x.png': [
      [null, '; filename=x.png'],
      [null, '; filename = "x.png"'],
      // Malformed, or in an unknown charset: as if it was left out (RFC 8187 §4.2).
      ...['UTF-8%ff', "UTF-8''%ff.png", "UTF-8''%zz.png", "KOI8-R''a.png", "UTF-8''", ''].map(value => [
        'x.png',
        `; filename*=${value}`,
      ]),
    ],
    'a"b.png': [[null, String.raw`; filename="C:\scans\a\"b.png"`]],
    document: [[null], [''], [null, '; filename='], [null, "; filename*=UTF-8''%0A"]],
  })
  const { status, body, headers } = await upload(client, { fileName: null, type: null, content: PDF })
  t.match([status, body.fileName, body.sha256], [201, 'document', sha256(PDF)], 'as curl -F file=<x.pdf sends it')
  t.equal(headers['sandbox-hint'], undefined)
})

t.test('decisions §1: other fields, files and parameters are ignored, with a hint', async t => {
  const client = await open()
  const form = multipart(field('comment'), { content: PDF }, { name: 'attachment', content: PNG })
  const { status, body, headers } = await post(client, form, {}, `${DOCUMENT}?kind=invoice`)
  t.same([status, body.contentType], [201, 'application/pdf'])
  for (const name of [/comment/, /attachment/, /kind/]) t.match(headers['sandbox-hint'], name)
  t.equal((await documentsOf(client)).length, 1)
  t.equal((await upload(client, { content: PDF })).headers['sandbox-hint'], undefined)
})

t.test('decisions §9: preamble, epilogue, and a quoted boundary are legal', async t => {
  const client = await open()
  const whole = multipart({ content: PDF })
  const wrapped = Buffer.concat([Buffer.from('a preamble\r\n'), whole, Buffer.from('an epilogue')])
  t.equal((await post(client, wrapped)).body.sha256, sha256(PDF))
  const quoted = { headers: { 'content-type': `Multipart/Form-Data; charset=utf-8; boundary="${BOUNDARY}"` } }
  t.equal((await post(client, whole, quoted)).body.sha256, sha256(PDF))
})

// ------------------------------------------------------------------------------------------------------- refused

t.test('decisions §9: a form without a document, with two, or with an empty one is 400', async t => {
  const client = await open()
  await table(t, parts => upload(client, ...parts), {
    [NO_FILE]: [
      [],
      [{ content: '' }],
      [{ fileName: '', type: 'application/octet-stream', content: '' }],
      [{ name: 'document', content: '%PDF-' }],
      [{ name: 'File', content: '%PDF-' }],
      [field('file', '')],
      [field('comment')],
    ],
    [WRONG_BYTES]: [[field('file')]],
    [malformed('file')]: [[{ content: '%PDF-' }, { content: '%PDF-' }]],
    [malformed(null)]: [
      Array.from({ length: 30 }, (_, at) => ({ name: `file-${at}` })),
      Array.from({ length: 100 }, (_, at) => field(`field-${at}`)),
    ],
  })
  t.equal(gist(await client.post(DOCUMENT)), NO_FILE, 'decisions §1: no body is 400, not 415')
  t.same(await documentsOf(client), [])
  for (const name of ['__proto__', 'toString', 'constructor', 'hasOwnProperty']) {
    const { status, headers } = await upload(client, field(name), { content: PDF })
    t.same([status, headers['sandbox-hint']], [201, `unknown member ${name} ignored`], 'as another unknown name')
  }
})

t.test('decisions §1, §2: a body that is no multipart form is 415, a malformed or truncated form 400', async t => {
  const client = await open()
  const send = ([type, body]: [string, string]) =>
    post(client, Buffer.from(body), { headers: { 'content-type': type } })
  const whole = multipart({ content: PDF }).toString()
  const cuts = ['%PDF-1', `\r\n--${BOUNDARY}--`, 'Content-Type'].map(mark => whole.lastIndexOf(mark) + 5)
  await table(t, send, {
    [WRONG_TYPE]: [
      ['application/json', '{"file":"x"}'],
      ['application/pdf', '%PDF-'],
      ['application/x-www-form-urlencoded', 'file=x'],
      ['multipart/mixed; boundary=x', '--x--'],
      ['application/octet-stream', '%PDF-'],
    ],
    [malformed(null)]: [
      ['multipart/form-data', whole],
      ['multipart/form-data; boundary=', whole],
      ['multipart/form-data; boundary=other', whole],
      [MULTIPART['content-type'], 'hello'],
      ...[...cuts, whole.length - 6, 5].map(at => [MULTIPART['content-type'], whole.slice(0, at)]),
    ],
  })
  t.same(await documentsOf(client), [], 'nothing was attached')
  t.equal(gist(await upload(client, { content: PDF })), '201', 'and the server goes on')
})

t.test('decisions §9: a bill takes at most 50 documents', async t => {
  const client = await open()
  const answers = []
  for (let n = 0; n < 52; n++) answers.push(gist(await upload(client, { content: PDF })))
  t.same(answers, [...Array(50).fill('201'), '400 INVALID_FIELD file', '400 INVALID_FIELD file'])
  t.equal((await documentsOf(client)).length, 50)
})

t.test('decisions §9: a paid bill takes documents, a cancelled one does not', async t => {
  const client = await open()
  await client.patch(BILL, { status: 'PAID' })
  t.equal(gist(await upload(client, { content: PDF })), '201')
  await client.patch(BILL, { status: 'CANCELLED' })
  t.equal(gist(await upload(client, { content: PDF })), '409 BILL_CANCELLED uniqueReferenceIdentifier')
  t.equal((await documentsOf(client)).length, 1)
})

t.test('decisions §4: a document goes to the bill of its region', async t => {
  const client = await open()
  for (const [region, currency] of Object.entries({ US: 'USD', UK: 'GBP', IN: 'INR' })) {
    await client.post('/api/v1/bills', bill({ currency }), { region })
    t.equal(gist(await post(client, multipart({ content: PDF }), { region })), '201')
    t.equal((await client.get(BILL, { region })).body.documents.length, 1)
  }
  t.same(await documentsOf(client), [])
})

// ------------------------------------------------------------------------------------------------------- sockets

/** A listening server with one bill; `send` uploads by fetch as a browser or Node client would. */
async function serve(t: Test) {
  const client = await connect(build(t))
  await client.post('/api/v1/bills', bill())
  const port = await listen(client.app)
  const headers = { authorization: `Bearer ${client.token}`, 'x-region': 'EU' }
  const send = async (form: FormData): Promise<Answer> => {
    const response = await fetch(`http://127.0.0.1:${port}${DOCUMENT}`, { method: 'POST', headers, body: form })
    return { status: response.status, body: await response.json(), headers: Object.fromEntries(response.headers) }
  }
  return { port, headers, send, documents: () => documentsOf(client) }
}

function formWith(content: Buffer, fileName: string, type = 'application/pdf'): FormData {
  const form = new FormData()
  form.set('file', new Blob([new Uint8Array(content)], { type }), fileName)
  return form
}

t.test('decisions §9: documents are taken over a real connection, as fetch and FormData send them', async t => {
  const { send, documents } = await serve(t)
  const form = formWith(PDF, 'Rechnung März.pdf')
  form.set('comment', 'from the scanner')
  const { status, body } = await send(form)
  t.same([status, body.fileName, body.contentType], [201, 'Rechnung März.pdf', 'application/pdf'])
  t.same([body.size, body.sha256], [PDF.length, sha256(PDF)])
  t.same(await documents(), [body])
  t.equal(gist(await send(formWith(Buffer.from('GIF89a'), 'x.gif', 'image/gif'))), WRONG_BYTES)
  t.equal(gist(await send(new FormData())), NO_FILE, 'an empty form')
})

t.test('decisions §1: a document of 10 MiB is taken, one byte more is 413', async t => {
  const { send, documents } = await serve(t)
  const largest = padded(JPEG, 10 * MIB)
  const { status, body } = await send(formWith(largest, 'large.jpg'))
  t.same([status, body.size, body.sha256], [201, 10 * MIB, sha256(largest)])
  const answer = await send(formWith(padded(JPEG, 10 * MIB + 1), 'larger.jpg'))
  t.match([gist(answer), answer.body.message], [TOO_LARGE, /10 MiB/])
  t.equal((await documents()).length, 1)
})

t.test('decisions §9: an upload that breaks off attaches nothing, and the server goes on', async t => {
  const { port, headers, send, documents } = await serve(t)
  const body = multipart({ content: padded(PDF, 100_000) })
  const connection = await openSocket(port)
  const head = request(`POST ${DOCUMENT}`, { ...headers, ...MULTIPART, 'content-length': String(body.length) })
  connection.send(Buffer.concat([Buffer.from(head), body.subarray(0, 50_000)]))
  connection.end()
  await connection.read()
  t.equal((await send(formWith(PNG, 'next.png'))).status, 201)
  t.equal((await documents()).length, 1, 'only the next one')
})

/** Documents as a state document has them. */
const documents = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    ...{ documentId: `doc_${n}`, fileName: 'bill.pdf', contentType: 'application/pdf', size: 9 },
    ...{ sha256: sha256(PDF), uploadedAt: MONDAY },
  }))
const seed = (client: Client, bills: readonly object[]) => client.control('POST', '/seed', { records: { bills } })

t.test('decisions §9: a bill with more documents, of an earlier release, loads, reads and takes no more', async t => {
  const client = await open()
  const state = (await client.control('GET', '/state')).body
  state.bills[0].record.documents = documents(1500)
  t.equal((await client.control('PUT', '/state', state)).status, 200)
  t.same((await client.control('GET', '/state')).body, state)
  t.same(await documentsOf(client), documents(1500))
  t.equal((await client.patch(BILL, { openAmount: '1' })).status, 200)
  t.equal(gist(await upload(client, { content: PDF })), '400 INVALID_FIELD file')
})

t.test('decisions §5: a page of bills ends with its 5,000th document, and the next one goes on', async t => {
  const client = await newClient()
  const counts = [0, 500, 500, 499, 1, 0, ...Array(20).fill(500)]
  const bills = counts.map((count, n) => bill({ uniqueReferenceIdentifier: `INV-${n}`, documents: documents(count) }))
  for (const one of bills) t.equal((await seed(client, [one])).status, 200)
  const names = counts.map((_, n) => `INV-${n}`).reverse()
  for (const url of ['/api/v1/bills?limit=500', `/_sandbox/bills?limit=50&client=${client.clientId}`]) {
    // Newest first: a page of 10 bills with 500 documents each, twice, then the others.
    const pages: unknown[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body }: Answer = await client.get(url + (cursor && `&cursor=${encodeURIComponent(cursor)}`))
      pages.push(body.data.map((row: { record?: object }) => Object(row.record ?? row).uniqueReferenceIdentifier))
      cursor = body.nextCursor
      if (url.startsWith('/api')) t.match(body, { totalCount: counts.length, hasMore: cursor !== null })
    }
    t.same(pages, [names.slice(0, 10), names.slice(10, 20), names.slice(20)], url)
  }
})
