import t from 'tap'
import { build, call } from '../helper.js'

const CONSOLE = '/_sandbox/console'
const app = build(t)

t.test('console, Safety: each address has the page, with a strict policy and no script or style within', async t => {
  for (const path of ['', '/collections/COL-0001?client=acme', '/a/b/c/d']) {
    const { statusCode, headers, payload } = await app.inject({ url: CONSOLE + path, headers: { accept: 'text/html' } })
    t.equal(statusCode, 200, path)
    t.match(headers, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'",
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    })
    t.notMatch(payload, /<style|<script>|onload=/)
    const [, root = ''] = /src="([^"]*)_sandbox\/console\/assets/.exec(payload) ?? []
    const { href } = new URL(root, `http://own${CONSOLE}${path}`)
    t.equal(href, 'http://own/', `${path}: the files are found relative to the page, also below a path prefix`)
  }
  t.equal((await call(app, 'POST', CONSOLE)).status, 405)
})

t.test('console, Pages: the script and the styles have a name by their content, and may be kept for ever', async t => {
  const { payload } = await app.inject(CONSOLE)
  const names = [...payload.matchAll(/console\/(assets\/[^"]+)"/g)].map(([, name]) => name as string)
  t.equal(names.length, 2)
  let bytes = 0
  for (const name of names) {
    t.match(name, /^assets\/\w+-[A-Z0-9]{8}\.(js|css)$/)
    const { statusCode, headers, rawPayload } = await app.inject(`${CONSOLE}/${name}`)
    t.match([statusCode, headers['cache-control']], [200, 'public, max-age=31536000, immutable'])
    bytes += rawPayload.length
  }
  t.ok(bytes < 150_000, `${bytes} bytes`)
  for (const name of ['assets/nothing.js', 'assets/index.html', 'assets/..%2findex.html']) {
    t.equal((await app.inject(`${CONSOLE}/${name}`)).statusCode, 404, name)
  }
})

t.test(
  'console, Safety: with an admin token, the page needs it; its files, which the guide has too, do not',
  async t => {
    const locked = build(t, { adminToken: 'open-sesame' })
    const headers = { authorization: `Basic ${Buffer.from('any:open-sesame').toString('base64')}` }
    t.match(await locked.inject(CONSOLE), { statusCode: 401, headers: { 'www-authenticate': /Basic/ } })
    const { statusCode, payload } = await locked.inject({ url: CONSOLE, headers })
    t.equal(statusCode, 200)
    const [, style = ''] = /href="[^"]*(_sandbox[^"]*\.css)"/.exec(payload) ?? []
    t.equal((await locked.inject(`/${style}`)).statusCode, 200)
    t.match((await call(locked, 'GET', '/_sandbox', { headers })).body, { isLocked: true })
    t.match((await call(app, 'GET', '/_sandbox')).body, { isLocked: false })
  },
)
