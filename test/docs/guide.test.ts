import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { catalogue } from '../../src/core/errors.js'
import { build, call } from '../helper.js'

const pages = readdirSync('docs')
  .filter(file => file.endsWith('.md'))
  .map(file => join('docs', file))
const read = (file: string) => readFileSync(file, 'utf8')
/** The text without its code, which can look like a link or a heading. */
const prose = (file: string) => read(file).replace(/^ *```.*?^ *```$/gms, '')
const linksOf = (file: string) => [...prose(file).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link as string)

/** The documents beside the guide. */
const others = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', 'skills/payments-sandbox/SKILL.md']

/** Returns the anchors of a document: of its headings, as GitHub makes them. */
const anchorsOf = (file: string) =>
  [...prose(file).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  )

/** The pages that are lists of rules, codes or calls: one looks things up there. */
const LISTS = ['control-plane-reference', 'decisions', 'errors', 'service-interface'].map(name => `docs/${name}.md`)

t.test('README, The guide: its documents are short', async t => {
  const wordsOf = (file: string) => read(file).split(/\s+/).filter(Boolean).length
  for (const [file, most] of [
    ['README.md', 900],
    ['ARCHITECTURE.md', 1300],
    ['CONTRIBUTING.md', 1000],
    ['docs/control-plane.md', 3000],
  ] as const) {
    t.ok(wordsOf(file) <= most, `${file}: ${wordsOf(file)} words`)
  }
  const texts = [...others, ...pages.filter(page => !LISTS.includes(page))]
  const sum = texts.reduce((total, file) => total + wordsOf(file), 0)
  t.ok(sum <= 18_000, `${sum} words`)
})

t.test('README, Start: it begins with the emulated version, and says how to stop the server', async t => {
  const [first = ''] = /^This .*/m.exec(read('README.md')) ?? []
  t.match(first, /^This server emulates the interface v1\.1\.0 of /)
  t.match(read('docs/service-interface.md'), 'release v1.1.0')
  t.match(read('README.md').split('\n## First request\n')[0], 'Ctrl-C or SIGTERM stops it')
})

t.test('README, The guide: each link of README, guide and skill leads to a file and its heading', async t => {
  const wrong = [...others, ...pages].flatMap(file =>
    linksOf(file)
      .filter(link => !/^https?:/.test(link))
      .filter(link => {
        const [path = '', anchor] = link.split('#')
        const target = path === '' ? file : join(dirname(file), path)
        return !existsSync(target) || (anchor !== undefined && !anchorsOf(target).includes(anchor))
      })
      .map(link => `${file}: ${link}`),
  )
  t.same(wrong, [])
})

t.test('README, The guide: it has each page of docs once', async t => {
  const [, map = ''] = read('README.md').split('\n## The guide\n')
  t.same([...map.matchAll(/\]\((docs\/[\w-]+\.md)\)/g)].map(([, page]) => page).sort(), pages)
})

t.test('README, The guide: each page begins with its question, and ends with the next pages', async t => {
  for (const page of pages) {
    t.match(read(page), /^# .+\n\n\*.+\?\*\n\n/, page)
    t.match(read(page), /\n\n\*\*Next:\*\* .*\]\([\w-]+\.md[#)].*\.\n$/, page)
  }
})

t.test('README, One CI job: it stores the evidence where the tests leave it', async t => {
  const [, block = ''] = /^```yaml\n(.*?)^```$/ms.exec(read('README.md')) ?? []
  const { steps } = parse(block).jobs.test
  const [tests, upload] = steps.slice(-2)
  t.equal(upload.with.path, tests.env.SANDBOX_EVIDENCE)
})

/** The address of the server for its reader. As the second argument of `replaceAll`, `$$` is one `$`. */
const OWN = 'http://sand$$box:9000'
const app = build(t, { publicUrl: () => OWN })
/** The path prefix of a proxy, which does not pass it on. */
const PREFIX = '/base'
const BASE = `https://sandbox.example${PREFIX}`
const NAMES = pages.map(page => page.slice('docs/'.length, -'.md'.length))
const ADDRESSES = ['/docs/guide', ...NAMES.map(name => `/docs/guide/${name}`)]

const open = (url: string, accept = 'text/html') => app.inject({ url, headers: { accept } })

t.test('README, The guide: each link of a served page has its target and anchor, also below a path', async t => {
  const texts = new Map<string, string>()
  for (const address of ADDRESSES) {
    const { statusCode, headers, payload } = await open(address)
    t.match([statusCode, headers['content-type'], headers['x-content-type-options']], [200, /^text\/html/, 'nosniff'])
    t.match(headers['content-security-policy'], /^default-src 'none'; style-src 'self'; img-src data:/)
    texts.set(address, payload)
  }
  const wrong = new Set<string>()
  const found = new Map<string, boolean>()
  for (const [address, text] of texts) {
    const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
    t.equal(new Set(ids).size, ids.length, `${address}: each id is there once`)
    for (const [, href = ''] of text.matchAll(/ href="([^"]+)"/g)) {
      const { origin, pathname, search, hash } = new URL(href.replaceAll('&amp;', '&'), `${BASE}${address}`)
      if (origin !== new URL(BASE).origin) continue
      const path = `${pathname.slice(PREFIX.length)}${search}`
      const target = texts.get(path)
      if (!found.has(path)) found.set(path, target !== undefined || (await open(path)).statusCode < 400)
      const isThere = hash === '' || target?.includes(` id="${decodeURIComponent(hash.slice(1))}"`)
      if (!pathname.startsWith(`${PREFIX}/`) || !found.get(path) || !isThere) wrong.add(`${address}: ${href}`)
    }
  }
  t.same([...wrong], [])
  const index = texts.get('/docs/guide') ?? ''
  const unexpected = NAMES.filter(name => !index.includes(`<li><a href="guide/${name}">`))
  t.same(unexpected, [], 'the first page lists all others')
  const entries = Object.keys(catalogue).filter(code => !texts.get('/docs/guide/errors')?.includes(`<tr id="${code}">`))
  t.same(entries, [], 'each code has an anchor')
})

t.test('README, The guide; agents, For coding agents: a page as its source, and the skill', async t => {
  for (const [url, file, accept] of [
    ['/docs/guide/errors', 'docs/errors.md', 'text/markdown'],
    ['/docs/guide/errors.md', 'docs/errors.md', 'text/html'],
    ['/docs/skill', 'skills/payments-sandbox/SKILL.md', '*/*'],
  ] as const) {
    const { headers, payload } = await open(url, accept)
    t.match(headers, { 'content-type': 'text/markdown; charset=utf-8', 'x-content-type-options': 'nosniff' })
    t.equal(payload, read(file).split('http://127.0.0.1:8080').join(OWN), url)
  }
  const page = (await open('/docs/guide/start')).payload
  t.match(page, `>${OWN}</a>`)
  t.notMatch(page, 'http://127.0.0.1:8080')
  t.equal((await open('/docs/guide/errors')).headers.vary, 'accept')
  const links = [...(await open('/docs/guide', 'text/markdown')).payload.matchAll(/\]\(([^)]+)\)/g)]
  t.same(links.map(([, link]) => link).sort(), NAMES.map(name => `guide/${name}.md`).sort())
})

t.test('console, Pages: the links of the guide keep the client of the console', async t => {
  for (const path of ['', '/console']) {
    const { payload } = await open(`/docs/guide${path}?client=a%26b`)
    const links = [...payload.replace(/<article.*<\/article>/s, '').matchAll(/ href="([^"#]+)"/g)].map(
      ([, link]) => link,
    )
    const wrong = links.filter(link => !/^data:|\.css$/.test(String(link)) && !link?.endsWith('?client=a%26b'))
    t.same(wrong, [], path)
  }
  t.match((await open('/docs?client=a%26b')).payload, /data-client="a&amp;b".*>a&amp;b<\/a>/s)
  const sizeOf = async (length: number) => (await open(`/docs/guide?client=${'a'.repeat(length)}`)).payload.length
  t.ok((await sizeOf(1001)) < (await sizeOf(1000)), 'a text that is no id is not in the links')
  t.notMatch((await open('/docs/guide?client=a&client=b')).payload, '?client=')
})

t.test('README, The guide: no other name, and no other method', async t => {
  for (const name of ['nothing', 'constructor', '__proto__', '..%2f..%2fpackage', 'errors.md.md', 'x'.repeat(5000)]) {
    t.match(await call(app, 'GET', `/docs/guide/${name}`), { status: 404, body: { code: 'ROUTE_NOT_FOUND' } }, name)
  }
  const refusal = {
    statusCode: 404,
    payload: /<h1>Not Found<\/h1>/,
  }
  t.match(await open('/docs/guide/nothing'), refusal, 'for a browser')
  t.match(await open('/docs/nothing'), refusal)
  t.equal((await call(app, 'POST', '/docs/guide/errors')).status, 405)
  t.equal((await app.inject({ method: 'HEAD', url: '/docs/guide/errors' })).statusCode, 200)
})
