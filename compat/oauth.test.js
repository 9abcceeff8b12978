/** Runs the lines of the table of docs/oauth.md, with each library. */
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { createSandbox } from '../dist/client/index.js'

const SHOWN_URL = 'http://127.0.0.1:8080'

/** The lines of each library, by its name. */
const lines = new Map()
const PAGE = readFileSync(new URL('../docs/oauth.md', import.meta.url), 'utf8')
for (const [, name, first, second] of PAGE.matchAll(/^\| \[([\w./-]+)\]\(\S+\) \| `(.+)`<br>`(.+)` \|$/gm)) {
  lines.set(name, [first, second])
}

let sandbox
let folder
before(async () => {
  sandbox = await createSandbox()
  folder = mkdtempSync(join(tmpdir(), 'compat-'))
})
after(async () => {
  rmSync(folder, { recursive: true })
  await sandbox.close()
})

/** Returns the lines for the sandbox of this test. */
const linesOf = (name, { secret = 'sandbox-secret', defaults = false } = {}) => {
  assert.ok(lines.has(name), `the table has ${name}`)
  const code = lines.get(name).map(line => line.replaceAll(SHOWN_URL, sandbox.url).replace('sandbox-secret', secret))
  return defaults ? code.map(withoutMethod) : code
}

/** Leaves out the option for credentials in the form. Then the libraries send HTTP Basic. */
const withoutMethod = line =>
  line
    .replace(", options: { authorizationMethod: 'body' }", '')
    .replace(', include_client_id=True', '')
    .replace(", token_endpoint_auth_method='client_secret_post'", '')

/** Runs lines of JavaScript. Returns the access token. */
function runScript(module, [first, second]) {
  const names = Object.keys(module)
  const AsyncFunction = (async () => {}).constructor
  const run = new AsyncFunction(...names, `${first}\n${second}\nreturn access_token`)
  return run(...names.map(name => module[name]))
}

/** Runs a command. Rejects with its output. */
async function runCommand(command, args, env) {
  const { stdout } = await promisify(execFile)(command, args, { env: { ...process.env, ...env } })
  return stdout.trim()
}

const PYTHON = process.env.PYTHON ?? 'python3'

function runPython(imports, [first, second]) {
  const code = [...imports, first, second, 'print(token["access_token"])'].join('\n')
  return runCommand(PYTHON, ['-c', code], { OAUTHLIB_INSECURE_TRANSPORT: '1' })
}

// Debian installs Go packages in this folder.
const GO = { GOPATH: '/usr/share/gocode', GO111MODULE: 'off' }

function runGo([first, second]) {
  const file = join(folder, 'main.go')
  const code = [
    'package main',
    'import ("context"; "fmt"; "os"; "golang.org/x/oauth2"; "golang.org/x/oauth2/clientcredentials")',
    'func main() {',
    'ctx := context.Background()',
    first,
    second,
    'if err != nil { fmt.Fprintln(os.Stderr, err); os.Exit(1) }',
    'fmt.Println(token.AccessToken)',
    '}',
  ]
  writeFileSync(file, code.join('\n'))
  return runCommand('go', ['run', file], { ...GO, GOCACHE: join(tmpdir(), 'compat-go') })
}

/** Returns a reason to skip a test: a command that fails. */
function skipUnless(command, args, env = {}) {
  try {
    execFileSync(command, args, { stdio: 'ignore', env: { ...process.env, ...env } })
    return false
  } catch {
    return `${command} ${args.join(' ')} fails`
  }
}

const script = load => async code => runScript(await load(), code)
const python =
  (...imports) =>
  code =>
    runPython(imports, code)
const unlessModule = name => skipUnless(PYTHON, ['-c', `import ${name}`])

const libraries = [
  { name: 'openid-client', run: script(() => import('openid-client')) },
  { name: 'oauth4webapi', run: script(() => import('oauth4webapi')) },
  { name: 'simple-oauth2', run: script(async () => (await import('simple-oauth2')).default), sendsBasic: true },
  { name: 'axios', run: script(() => import('axios').then(({ default: axios }) => ({ axios }))) },
  {
    name: 'requests-oauthlib',
    run: python('from oauthlib.oauth2 import BackendApplicationClient', 'from requests_oauthlib import OAuth2Session'),
    sendsBasic: true,
    skip: unlessModule('requests_oauthlib'),
  },
  {
    name: 'authlib',
    run: python('from authlib.integrations.requests_client import OAuth2Session'),
    sendsBasic: true,
    skip: unlessModule('authlib'),
  },
  {
    name: 'golang.org/x/oauth2',
    run: runGo,
    skip: skipUnless('go', ['list', 'golang.org/x/oauth2'], GO),
  },
]

/** Returns the last token request. */
async function lastTokenRequest() {
  const requests = await (await fetch(`${sandbox.url}/_sandbox/requests?path=/api/v1/oauth/token`)).json()
  return requests.data.at(-1)
}

for (const { name, run, sendsBasic = false, skip = false } of libraries) {
  test(`${name}: gets a token with credentials in the form`, { skip }, async () => {
    const token = await run(linesOf(name))
    const headers = { authorization: `Bearer ${token}`, 'x-region': 'EU' }
    const response = await fetch(`${sandbox.url}/api/v1/accounts`, { headers })
    assert.equal(response.status, 200)
    const { status, hints } = await lastTokenRequest()
    assert.deepEqual({ status, hints }, { status: 200, hints: [] })
  })

  test(`${name}: reports invalid_client for a wrong secret`, { skip }, async () => {
    await assert.rejects(run(linesOf(name, { secret: 'wrong' })), error => {
      const { response, data, cause, stderr, message } = error
      const report = JSON.stringify([error.error, response?.data, data?.payload, cause?.error, stderr, message])
      assert.match(report, /invalid_client/)
      return true
    })
    assert.equal((await lastTokenRequest()).status, 401)
  })

  if (sendsBasic) {
    test(`${name}: gets a token with its defaults, with a hint`, { skip }, async () => {
      const code = linesOf(name, { defaults: true })
      assert.notDeepEqual(code, linesOf(name))
      assert.ok(await run(code))
      assert.match((await lastTokenRequest()).hints[0], /HTTP Basic/)
    })
  }
}
