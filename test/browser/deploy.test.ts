import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, RequestOptions } from 'node:http'
import { request as sendHttp } from 'node:http'
import { request as sendHttps } from 'node:https'
import { join, resolve } from 'node:path'
import type { Test } from 'tap'
import t from 'tap'
import { freePort } from '../free-port.js'
import type { Answer } from '../helper.js'
import { build } from '../helper.js'
import { listen } from '../http/raw.js'
import { openBrowser } from './browser.js'
import { executablePath } from './chromium.js'

// deploy: each configuration of the page runs as it is shown. Only its ports, and the paths of its files, are others.

const HOST = 'sandbox.example'
const PROXIES = ['nginx', 'caddy'] as const
type Proxy = (typeof PROXIES)[number]

const isInstalled = (program: string) => spawnSync(program, ['--help'], { stdio: 'ignore' }).error === undefined
const missing = [...PROXIES, 'openssl'].filter(program => !isInstalled(program))
const skip = missing.length > 0 && `needs ${missing.join(', ')} (apt-get install ${missing.join(' ')})`
const skipBrowser = skip || (!executablePath && 'needs Chromium')

/** A case of the page: its public URL, and the configuration of each proxy. */
interface Case {
  readonly title: string
  readonly publicUrl: string
  readonly configurations: Readonly<Record<Proxy, string>>
}

const CASES: readonly Case[] = readFileSync('docs/deploy.md', 'utf8')
  .split(/^## /m)
  .slice(1)
  .flatMap(section => {
    const block = (language: string) => new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'ms').exec(section)?.[1] ?? ''
    const publicUrl = /SANDBOX_PUBLIC_URL=(\S+)/.exec(block('sh'))?.[1]
    const title = section.slice(0, section.indexOf('\n'))
    if (publicUrl === undefined) return []
    return [{ title, publicUrl, configurations: { nginx: block('nginx'), caddy: block('caddyfile') } }]
  })

const caseOf = (title: string) => CASES.find(one => one.title === title) as Case

/** A certificate for the host name, signed by itself. */
function createCertificate(folder: string): { certificate: string; key: string } {
  const [certificate, key] = [join(folder, 'sandbox.crt'), join(folder, 'sandbox.key')]
  const subject = ['-subj', `/CN=${HOST}`, '-addext', `subjectAltName=DNS:${HOST}`]
  const options = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  execFileSync('openssl', ['req', ...options, ...subject, '-out', certificate, '-keyout', key], { stdio: 'ignore' })
  return { certificate, key }
}

/** What the proxies log when they listen. */
const READY = /start worker process \d|serving initial configuration/

/** Starts a proxy with a configuration of the page, in front of a sandbox. Returns the address for clients. */
async function start(t: Test, proxy: Proxy, { publicUrl: shown, configurations }: Case) {
  const port = await freePort()
  const publicUrl = shown.replace(HOST, `${HOST}:${port}`)
  const app = build(t, { publicUrl: () => publicUrl })
  const own = await listen(app)
  const folder = resolve(t.testdir())
  const { certificate, key } = createCertificate(folder)
  const configuration = configurations[proxy]
    .replaceAll('127.0.0.1:8080', `127.0.0.1:${own}`)
    .replaceAll('/etc/ssl/sandbox.crt', certificate)
    .replaceAll('/etc/ssl/sandbox.key', key)
    .replace(/listen \d+/, `listen 127.0.0.1:${port}`)
    .replace(new RegExp(`(https?://${HOST})`), `$1:${port}`)
  const path = join(folder, proxy)
  if (proxy === 'nginx') {
    const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      name => `${name}_temp_path ${folder}/${name};`,
    )
    // As root, its workers would be of a user that cannot read the folder.
    const user = process.getuid?.() === 0 ? 'user root;' : ''
    const main = `${user} pid ${folder}/pid; daemon off; worker_processes 1; error_log stderr notice; events {}`
    writeFileSync(path, `${main} http { access_log off; ${places.join(' ')}\n${configuration}}\n`)
  } else {
    mkdirSync(join(folder, 'home'))
    writeFileSync(path, `{\n  admin off\n  auto_https disable_redirects\n}\n${configuration}`)
  }
  const options = proxy === 'nginx' ? ['-c', path, '-e', 'stderr'] : ['run', '--config', path, '--adapter', 'caddyfile']
  const child = spawn(proxy, options, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH, HOME: join(folder, 'home') },
  })
  const ended = once(child, 'exit')
  t.teardown(async () => {
    child.kill('SIGTERM')
    await ended
  })
  let log = ''
  const isReady = await new Promise<boolean>(done => {
    child.stderr.on('data', data => {
      log += data
      if (READY.test(log)) done(true)
    })
    child.on('exit', () => done(false))
  })
  if (!isReady) throw new Error(`${proxy}: ${log}`)
  return { app, port, publicUrl, certificate: readFileSync(certificate) }
}

type Started = Awaited<ReturnType<typeof start>>

/** Sends a request to an absolute address, as a client whose DNS has the name of the proxy. */
async function request(started: Started, url: string, options: RequestOptions = {}, body = ''): Promise<Answer> {
  const { port, certificate } = started
  const { protocol, pathname, search, host, hostname } = new URL(url)
  const address = { host: '127.0.0.1', port, path: pathname + search, servername: hostname, ca: certificate }
  const send = protocol === 'https:' ? sendHttps : sendHttp
  const sent = send({ ...address, agent: false, ...options, headers: { host, ...options.headers } })
  sent.end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text += chunk
  const isJson = response.headers['content-type']?.startsWith('application/json')
  return { status: response.statusCode as number, headers: response.headers, body: isJson ? JSON.parse(text) : text }
}

const JSON_TYPE = { 'content-type': 'application/json' }
const CREDENTIALS = 'grant_type=client_credentials&client_id=sandbox-client&client_secret=sandbox-secret'

async function issueToken(started: Started): Promise<string> {
  const { publicUrl } = started
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const url = `${publicUrl}/api/v1/oauth/token`
  return (await request(started, url, { method: 'POST', headers: form }, CREDENTIALS)).body.access_token
}

/** Returns the addresses of all files that a page loads. */
const filesOf = (html: string, page: string) =>
  [...html.matchAll(/<(?:script|link)[^>]*(?:src|href)="([^"]+)"/g)]
    .map(([, link]) => new URL(link as string, page))
    .filter(({ protocol }) => protocol !== 'data:')
    .map(({ href }) => href)

t.test('deploy, Another host name: the page has three cases for two proxies', async t => {
  t.same(
    CASES.map(({ title, configurations }) => [title, ...PROXIES.filter(proxy => configurations[proxy] !== '')]),
    ['Another host name', 'A path prefix', 'TLS'].map(title => [title, ...PROXIES]),
  )
})

/** Asserts that all of the sandbox is there behind a proxy. */
async function assertAll(t: Test, proxy: Proxy, title: string) {
  const started = await start(t, proxy, caseOf(title))
  const { publicUrl } = started
  const token = await issueToken(started)
  const headers = { authorization: `Bearer ${token}`, 'x-region': 'EU', ...JSON_TYPE }
  const get = (path: string, options: RequestOptions = {}) => request(started, publicUrl + path, options)

  t.match(await get('/api/v1/mandates', { headers }), { status: 200, body: { totalCount: 17 } })
  t.match(await get('/api/v1/mandates/MND%2FACME', { headers }), { status: 404, body: { code: 'ROUTE_NOT_FOUND' } })
  t.match(await get('/_sandbox/clock'), { status: 200, body: { mode: 'frozen' } })
  let [page, at] = [await request(started, publicUrl, { headers: { accept: 'text/html' } }), publicUrl]
  for (let steps = 0; steps < 3 && page.headers.location !== undefined; steps++) {
    at = new URL(page.headers.location, at).href
    page = await request(started, at, { headers: { accept: 'text/html' } })
  }
  t.same([page.status, at], [200, `${publicUrl}/_sandbox/console`], 'the public URL itself leads to the console')
  const { origin } = new URL(publicUrl)
  const settings = { method: 'PUT', headers: { ...JSON_TYPE, origin } }
  t.equal((await request(started, `${publicUrl}/_sandbox/settings`, settings, '{}')).status, 200, 'its own origin')
  const foreign = { method: 'PUT', headers: { ...JSON_TYPE, origin: 'https://shop.example' } }
  t.equal((await request(started, `${publicUrl}/_sandbox/settings`, foreign, '{}')).status, 403, 'another origin')
  t.equal((await get('/.well-known/oauth-authorization-server')).body.issuer, publicUrl)
  t.equal((await get('/openapi.json')).body.servers[0].url, publicUrl)

  const link = { amount: '5.00', currency: 'EUR', payoutMethod: 'SEPA-CT' }
  const { url } = (
    await request(started, `${publicUrl}/api/v1/payout-links`, { method: 'POST', headers }, JSON.stringify(link))
  ).body
  t.ok(url.startsWith(`${publicUrl}/pay/`), url)
  for (const address of [url, `${publicUrl}/docs`]) {
    const { status, body } = await request(started, address, { headers: { accept: 'text/html' } })
    t.equal(status, 200, address)
    const files = filesOf(body, address)
    t.ok(files.length > 0, `${address} loads files`)
    for (const file of files) {
      t.ok(file.startsWith(`${publicUrl}/`), file)
      t.equal((await request(started, file)).status, 200, file)
    }
  }

  const state = (await get('/_sandbox/state')).body
  const padded = `${JSON.stringify(state)}${' '.repeat(2 ** 21)}`
  t.equal(
    (await request(started, `${publicUrl}/_sandbox/state`, { method: 'PUT', headers: JSON_TYPE }, padded)).status,
    200,
  )

  const { last } = (await get('/_sandbox/events')).body
  const waiting = get(`/_sandbox/events?after=${last}&wait=60`)
  const verb = { method: 'POST', headers: JSON_TYPE }
  await request(started, `${publicUrl}/_sandbox/mandates/MND-ACME-0016/cancel`, verb, '{}')
  t.match((await waiting).body, { data: [{ reference: 'MND-ACME-0016' }] }, 'a wait is answered')
}

for (const proxy of PROXIES) {
  t.test(
    `deploy, Another host name; deploy, A path prefix; deploy, TLS: all of it behind ${proxy}`,
    { skip },
    async t => {
      for (const { title } of CASES) await t.test(title, t => assertAll(t, proxy, title))
    },
  )
}

t.test('deploy, TLS: the page of a link works behind nginx', { skip: skipBrowser }, async t => {
  const started = await start(t, 'nginx', caseOf('TLS'))
  const { publicUrl } = started
  const browser = await openBrowser(t)
  const page = await browser.newPage({ ignoreHTTPSErrors: true })
  await page.goto(`${publicUrl}/pay/PL-ACME-EU-0007?client=sandbox-client`)
  await page.getByLabel('IBAN').fill('DE89370400440532013000')
  await page.getByRole('button', { name: /^Accept / }).click()
  await page.getByRole('heading', { name: 'Payout accepted' }).waitFor()
  t.equal((await started.app.inject('/_sandbox/payout-links/PL-ACME-EU-0007')).json().record.status, 'CLAIMED')
})
