import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { FastifyInstance, RouteOptions } from 'fastify'
import type { Test } from 'tap'
import t from 'tap'
import { build, call } from '../helper.js'
import type { Batch, Pair } from '../hostile-names.js'
import { createBatch, FORM, forkDemo, NAMES, nextNames, POISON, queryOf, START_NAMES } from '../hostile-names.js'
import type { PageForm } from './pages.js'
import { CONSOLE, formsIn, toText } from './pages.js'

// Names that objects inherit, as values and as names, in the addresses and forms of all pages.

/** The routes of the server. */
const routes: RouteOptions[] = []
const collect = (message: unknown) =>
  (message as { fastify: FastifyInstance }).fastify.addHook('onRoute', route => void routes.push({ ...route }))
subscribe('fastify.initialization', collect)
const app = build(t)
unsubscribe('fastify.initialization', collect)

/** A page as a browser gets it. */
interface Page {
  /** The path and query. */
  readonly address: string
  readonly path: string
  readonly route: RouteOptions
  readonly html: string
}

/** The base of addresses. */
const ORIGIN = 'http://127.0.0.1:8080'
const HTML = { accept: 'text/html' }

const routeOf = (path: string) =>
  routes.find(({ method, url }) => method === 'GET' && RegExp(`^${url.replace(/:\w+/g, '[^/]+')}$`).test(path))

/** Opens pages and those that they link to, one of each route. */
async function crawl({ send }: Batch, starts: readonly string[]): Promise<readonly Page[]> {
  const pages = new Map<RouteOptions, Page>()
  const addresses = new Set(starts)
  // A set also yields what is added meanwhile.
  for (const address of addresses) {
    const { pathname: path, search } = new URL(address, ORIGIN)
    const route = routeOf(path)
    if (route === undefined || pages.has(route)) continue
    const { headers, payload: html } = await send({ url: path + search, headers: HTML })
    if (!String(headers['content-type']).startsWith('text/html')) continue
    pages.set(route, { address: path + search, path, route, html })
    for (const [, link = ''] of html.matchAll(/<a [^>]*href="([^"]*)"/g)) {
      const { origin, pathname, search } = new URL(toText(link), ORIGIN + address)
      if (origin === ORIGIN) addresses.add(pathname + search)
    }
  }
  return [...pages.values()]
}

/** The parameters that were refused before. They are sent by themselves. */
const refused = new Set<string>()

/** Sends the names to the parameters of a page, and to the last segment of its path. */
async function attackPage({ send, count, each, together }: Batch, { path, address, route }: Page): Promise<void> {
  const own = [...new URL(address, ORIGIN).searchParams]
  const opened = (pairs: readonly Pair[], target = path) => ({ url: target + queryOf(pairs), headers: HTML })
  const { properties = {} } = (route.schema?.querystring ?? {}) as { properties?: object }
  const known = Object.keys(properties).filter(name => name !== 'client')
  for (const value of nextNames(START_NAMES)) {
    count(known.length)
    const others = known.filter(name => !refused.has(name)).map((name): Pair => [name, value])
    const { statusCode } = await send(opened([...own, ...others]))
    for (const name of known) {
      if (statusCode < 400 && !refused.has(name)) continue
      if ((await send(opened([...own, [name, value]]))).statusCode >= 400) refused.add(name)
    }
    await each(['client'], name => opened([[name, value]]))
    const sibling = path.replace(/[^/]*$/, encodeURIComponent(value))
    if (route.url.includes(':')) await each([sibling], target => opened(own, target))
  }
  const withNames = (names: readonly string[]) => [...own, ...names.map((name): Pair => [name, 'x'])]
  await together(START_NAMES, names => opened(withNames(names)))
  // The page of a refusal reads the address, too, which is not checked before the path.
  await each(START_NAMES, name => opened(withNames([name]), path.replace(/[^/]*$/, '%20')))
}

/** The fields that have got each name by themselves. Several forms have them. */
const single = new Set<string>()
/** The most forms of one client that are accepted. */
const MOST_ACCEPTED = 5

/** Returns a function that sends forms for a client that few of them have changed. */
function createSender({ server, clientId, count, send }: Batch) {
  let client = clientId
  let accepted = MOST_ACCEPTED
  return async (url: string, pairs: readonly Pair[]) => {
    if (accepted >= MOST_ACCEPTED) {
      if (client !== clientId) await call(server, 'DELETE', `/_sandbox/clients/${client}`)
      client = await forkDemo(server)
      accepted = 0
    }
    count(1)
    const own = (text: string) => text.replaceAll(clientId, client)
    const payload = own(queryOf(pairs).slice(1))
    const headers = { ...HTML, 'content-type': FORM }
    const { statusCode } = await send({ method: 'POST', url: own(url), headers, payload })
    if (statusCode < 400) accepted++
    // An earlier form has changed or removed what this one needs.
    else if ([404, 409, 410, 429].includes(statusCode) && accepted > 0) accepted = MOST_ACCEPTED
  }
}

/**
 * Sends the names to the fields of a form that have not got them yet. `isNew`: also to all of them together, and as
 * names of fields and of their members.
 */
async function attackForm(
  send: ReturnType<typeof createSender>,
  page: Page,
  { action, fields, shown }: PageForm,
  isNew: boolean,
): Promise<void> {
  const { pathname, search } = new URL(action, ORIGIN + page.address)
  const submit = (pairs: readonly Pair[]) => send(pathname + search, pairs)
  const fresh = Object.keys(fields).filter(name => !single.has(name))
  for (const value of isNew ? nextNames() : []) {
    await submit(Object.entries({ ...fields, ...Object.fromEntries(shown.map(name => [name, value])) }))
  }
  for (const name of fresh) {
    for (const value of nextNames()) await submit(Object.entries({ ...fields, [name]: value }))
    single.add(name)
  }
  if (!isNew) return
  const folders = new Set(['', ...Object.keys(fields).map(name => name.slice(0, name.lastIndexOf('.') + 1))])
  for (const folder of folders) {
    for (const name of [...nextNames(), '__proto__.polluted', 'constructor.prototype.polluted']) {
      await submit([...Object.entries(fields), [folder + name, 'x']])
    }
  }
}

/** Attacks pages, those that they link to, and their forms. Of forms with similar ids, the first one gets all names. */
async function attack(t: Test, batch: Batch, starts: readonly string[]): Promise<readonly string[]> {
  const pages = await crawl(batch, starts)
  for (const page of pages) await attackPage(batch, page)
  batch.check(t, 'addresses')
  const kinds = new Set<string>()
  const send = createSender(batch)
  for (const page of pages) {
    for (const form of formsIn(page.html)) {
      if (form.method !== 'post') continue
      const kind = `${page.route.url} ${form.id.split('-')[0]}`
      await attackForm(send, page, form, !kinds.has(kind))
      kinds.add(kind)
      batch.check(t, `${page.route.url} ${form.id}`)
    }
  }
  t.comment(`${batch.inputs()} inputs`)
  return pages.map(({ route }) => route.url)
}

/** Sends requests with the names, so that pages and calls that show requests have them. */
async function logNames({ clientId, token, send }: Batch): Promise<void> {
  const pairs = START_NAMES.map((name): Pair => [name, 'x'])
  const own = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'x-region': 'EU' }
  const headers = { ...Object.fromEntries(pairs), ...own }
  const members = Object.fromEntries(NAMES.map(name => [name, { ...POISON, name }]))
  const payload = JSON.stringify({ list: [members, {}], ...members }).replaceAll('"prototype":', '"prototypes":')
  const post = { method: 'POST' as const, url: `/api/v1/mandates${queryOf(pairs)}`, headers }
  await send({ ...post, payload })
  await send({ ...post, payload: payload.replaceAll('__proto__', '__PROTO__') })
  const form = queryOf([...pairs, ['client_id', clientId]]).slice(1)
  await send({ ...post, url: '/api/v1/oauth/token', headers: { 'content-type': FORM }, payload: form })
  for (const url of ['requests?', 'requests?format=har&', 'requests/2?', 'state?', 'coverage?']) {
    await send({ url: `/_sandbox/${url}client=${clientId}` })
  }
  const expected = { path: '/none', headers: Object.fromEntries(pairs), query: members, body: members }
  await send({
    method: 'POST',
    url: `/_sandbox/requests/verify?client=${clientId}`,
    headers: own,
    payload: JSON.stringify(expected).replaceAll('__proto__', '__PROTO__').replaceAll('"prototype":', '"prototypes":'),
  })
}

t.test('console, Safety: a name that objects inherit is a text like any other on all pages', async t => {
  const batch = await createBatch(app)
  const client = `client=${batch.clientId}`
  await logNames(batch)
  batch.check(t, 'the log')
  const { data } = (await call(app, 'GET', `/_sandbox/payout-links?status=ACTIVE&${client}`)).body
  const link = `/pay/${data[0].record.payoutLinkId}`
  const starts = [CONSOLE, `${CONSOLE}/client/restart`, '/_sandbox/coverage', link]
  const attacked = await attack(
    t,
    batch,
    starts.map(path => `${path}?${client}`),
  )
  const all = routes.filter(({ method, url }) => method === 'GET' && url.startsWith(CONSOLE)).map(({ url }) => url)
  const missing = all.filter(url => !attacked.includes(url) && !/\/assets\/|\/(changes|\*)$|\.(json|har)$/.test(url))
  t.same(missing, [], 'all pages are attacked')
})
