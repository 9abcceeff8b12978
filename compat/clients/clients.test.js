/** Runs the same journey with each client, through Prism. */
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { createSandbox } from '../../dist/client/index.js'
import { startPrism } from './prism.js'

/** The requests of the journey, with the status of the answers. */
const JOURNEY = `
POST /api/v1/oauth/token 200
POST /api/v1/mandates 201
POST /api/v1/mandates 409
GET /api/v1/mandates/MND-0001 200
POST /api/v1/direct-debit 201
GET /api/v1/direct-debit/COL-0001 200
GET /api/v1/direct-debit 200
GET /api/v1/direct-debit 200
GET /api/v1/direct-debit 200
DELETE /api/v1/mandates/MND-0001 200
GET /api/v1/mandates 200
GET /api/v1/mandates 200
POST /api/v1/payout-links 201
PATCH /api/v1/payout-links/{payoutLinkId}/cancel 204
POST /api/v1/bills 201
POST /api/v1/bills/INV-0001/document 201
PATCH /api/v1/bills/INV-0001 200
GET /api/v1/bills/INV-0001 200
GET /api/v1/bills 200
GET /api/v1/bills/INV-0000 404
PATCH /api/v1/counterparties/CP-ACME-EU-01 200
GET /api/v1/accounts 200`
  .trim()
  .split('\n')

const PYTHON = process.env.PYTHON ?? 'python3'
const MODULES = 'import certifi, dateutil, six, urllib3'

/** Runs a command. Rejects with its output. */
const run = (command, args, env) =>
  promisify(execFile)(command, args, { cwd: import.meta.dirname, env: { ...process.env, ...env } })

/** Returns a reason to skip a test: a command that fails. */
function skipUnless(command, ...args) {
  try {
    execFileSync(command, args, { stdio: 'ignore' })
    return false
  } catch {
    return `${command} ${args.join(' ')} fails`
  }
}

const clients = [
  {
    name: 'openapi-fetch',
    generate: () => run('npm', ['run', 'typescript']),
    journey: env => run(process.execPath, ['build/journey.js'], env),
  },
  {
    name: 'openapi-generator',
    generate: () => run('npm', ['run', 'python']),
    journey: env => run(PYTHON, ['journey.py'], { ...env, PYTHONPATH: 'build/python' }),
    skip: skipUnless('java', '-version') || skipUnless(PYTHON, '-c', MODULES),
  },
  { name: 'curl', journey: env => run('bash', ['journey.sh'], env) },
]

let sandbox
let prism
before(async () => {
  sandbox = await createSandbox({ clock: '2030-01-07T09:00:00Z', fixture: 'demo' })
  prism = await startPrism(sandbox.url, '--errors')
})
after(async () => {
  await prism.close()
  await sandbox.close()
})

let requests = 0
for (const { name, generate, journey, skip = false } of clients) {
  test(`${name}: makes the journey`, { skip }, async () => {
    await generate?.()
    const client = await sandbox.fork(name)
    await journey({ BASE_URL: prism.url, CLIENT_ID: client.clientId, CLIENT_SECRET: client.clientSecret })
    const log = await client.requests.list()
    assert.deepEqual(
      log.map(({ method, path, status }) => `${method} ${path.replace(/pl_[^/]+/, '{payoutLinkId}')} ${status}`),
      JOURNEY,
    )
    requests += log.length
  })
}

test('Prism finds no violation in the journeys', async t => {
  const { checked, violations } = await prism.close()
  assert.deepEqual(violations, [])
  assert.equal(checked, requests)
  t.diagnostic(`exchanges checked: ${checked}`)
})
