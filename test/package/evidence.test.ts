import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { skip } from '../docs/walk.js'
import { validatorOfHar } from '../har.js'
import { requestTokenAt } from '../program.js'
import { install } from './install.js'

/** The lines with which a user sends a request to a server, and stores the log as HAR. */
const commands = (url: string, token: string) => `
  cd "$(mktemp -d)"
  curl -sSf ${url}/api/v1/mandates?limit=2 -H 'authorization: Bearer ${token}' -H 'x-region: EU' -o /dev/null
  curl -sSfOJ '${url}/_sandbox/requests?client=sandbox-client&format=har'
  cat requests-sandbox-client.har
  rm -r "$PWD"
`

t.test('ci, In CI: the log of requests as a HAR file, with curl', { skip }, async t => {
  const { sh, start } = install()
  const { url } = await start(t)
  const { access_token } = await (await requestTokenAt(url)).json()
  const { code, stdout, stderr } = await sh(commands(url, access_token))
  t.equal(code, 0, stderr)
  const har = JSON.parse(stdout)
  const validate = validatorOfHar()
  t.ok(validate(har), JSON.stringify(validate.errors))
  t.same(
    har.log.entries.map(({ request }: never) => new URL((request as { url: string }).url).pathname),
    ['/api/v1/oauth/token', '/api/v1/mandates'],
  )
  t.notOk(stdout.includes(access_token), 'it is masked')
})

/** The program of a user. It prints the last request of its application as a curl command. */
const TO_CURL = `
import { connectSandbox } from 'payments-sandbox'
const [, , url, clientId] = process.argv
const sandbox = await connectSandbox({ url, clientId })
await sandbox.mandates.create({
  mandateReference: 'MND-0007',
  type: 'RECURRING',
  creditor: { name: 'Acme GmbH', bankIdentifier: { type: 'CREDITOR_IDENTIFIER', value: 'DE98ZZZ09999999999' } },
  debtor: { name: "Jane O'Hara", iban: 'DE89370400440532013000' },
})
console.log(sandbox.requests.toCurl((await sandbox.requests.list()).at(-1)))
`

t.test('library, In your tests: the curl command of a request sends it again', { skip }, async t => {
  const { node, sh, start } = install()
  const { url } = await start(t)
  const { stdout: command, stderr } = await node(TO_CURL, [url, 'sandbox-client'])
  t.equal(stderr, '')
  const { access_token } = await (await requestTokenAt(url)).json()
  const { stdout } = await sh(`${command.trim()} -sS`, { env: { TOKEN: access_token } })
  t.match(JSON.parse(stdout), { code: 'DUPLICATE_REFERENCE' }, command)
})

const HOOK = /^```js\n(afterEach\(async t => .*?)^```$/ms.exec(readFileSync('docs/library.md', 'utf8'))?.[1]

/** The tests of a user. An expectation does not hold, and an assertion fails. */
const FAILING = `
import assert from 'node:assert/strict'
import { after, afterEach, test } from 'node:test'
import { createSandbox } from 'payments-sandbox'
const sandbox = await createSandbox()
after(() => sandbox.close())
${HOOK}
test('it lists', () => sandbox.mandates.list())
test('it pays', async () => {
  await sandbox.requests.expect({ method: 'POST', path: '/api/v1/direct-debit' }).catch(() => {})
})
test('it fails', () => assert.equal(1, 2))
`

t.test('library, After a failure: a failed expectation and a failed test leave a file each', async t => {
  const { folder, run } = install()
  writeFileSync(join(folder, 'failing.test.mjs'), FAILING)
  const { code } = await run('node', ['--test', 'failing.test.mjs'], { env: { SANDBOX_EVIDENCE: 'evidence' } })
  t.equal(code, 1)
  const files = readdirSync(join(folder, 'evidence')).sort()
  t.same(
    files.map(file => file.split('-')[0]),
    ['expect', 'failure'],
  )
  for (const file of files) {
    const evidence = JSON.parse(readFileSync(join(folder, 'evidence', file), 'utf8'))
    t.match(evidence, { clientId: 'app', events: [], test: file.startsWith('failure') ? 'it fails' : undefined })
    t.ok(evidence.requests.some(({ path }: { path: string }) => path === '/api/v1/mandates'))
  }
})
