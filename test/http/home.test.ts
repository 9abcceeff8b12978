import t from 'tap'
import { gist, NO_ROUTE } from '../answers.js'
import { build, call, newClient } from '../helper.js'

const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }

t.test('decisions §1: GET / redirects a browser to the console', async t => {
  const app = build(t)
  for (const method of ['GET', 'HEAD']) {
    const { status, headers } = await call(app, method, '/?x=1', { headers: BROWSER })
    t.match({ status, headers }, { status: 302, headers: { location: '_sandbox/console', vary: 'accept' } }, method)
  }
  const link = {
    ...BROWSER,
    'sec-fetch-site': 'cross-site',
    'sec-fetch-mode': 'navigate',
    'sec-fetch-dest': 'document',
  }
  t.equal((await call(app, 'GET', '/', { headers: link })).status, 302, 'also by a link of another site')
  t.same((await call(app, 'GET', '/_sandbox/requests')).body.data, [], 'it is no request of the app')
})

t.test('decisions §1: a browser gets the icon of all pages, which is no request of the app', async t => {
  const app = build(t)
  for (const method of ['GET', 'HEAD'] as const) {
    const { statusCode, headers, payload } = await app.inject({ method, url: '/favicon.ico' })
    t.match({ statusCode, type: headers['content-type'] }, { statusCode: 200, type: 'image/svg+xml' })
    if (method === 'GET') t.match(payload, /^<svg .*<\/svg>$/)
  }
  t.equal((await call(app, 'POST', '/favicon.ico')).status, 404)
  const { data } = (await call(app, 'GET', '/_sandbox/requests')).body
  t.same(
    data.map(({ method }: { method: string }) => method),
    ['POST'],
  )
})

t.test('decisions §1: a header of negotiation with more than 1,000 characters is passed over', async t => {
  const app = build(t)
  for (const [length, status] of [
    [1000, 302],
    [1001, 404],
  ] as const) {
    const accept = 'text/html'.padEnd(length, ',')
    t.equal((await call(app, 'GET', '/', { headers: { accept } })).status, status)
  }
})

t.test('decisions §1: for any other client, / is a 404 that names the places to go', async t => {
  const { app } = await newClient()
  const accepts = ['*/*', 'application/json', 'image/png'].map(accept => ['GET', { accept }] as const)
  for (const [method, headers] of [['GET', {}], ...accepts, ['POST', BROWSER], ['DELETE', {}]] as const) {
    const answer = await call(app, method, '/', { headers })
    t.equal(gist(answer), NO_ROUTE)
    for (const path of ['/_sandbox/console', '/docs', '/_sandbox']) t.match(answer.body.message, path)
  }
})
