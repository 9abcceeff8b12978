import { once } from 'node:events'
import fs, { readdirSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer as createTcpServer } from 'node:net'
import { pino } from 'pino'
import t from 'tap'
import { ConfigError, readConfig } from '../../src/config.js'
import { createServer } from '../../src/start.js'
import { bill, collection, mandate, payoutLink } from '../helper.js'

/** Returns the error of a start that fails at the latest when the server would listen. */
async function refusal(environment: Record<string, string>): Promise<Error> {
  try {
    const server = await createServer(readConfig({ PORT: '0', ...environment }), pino({ level: 'silent' }))
    await server.listen()
  } catch (error) {
    return error as Error
  }
  throw new Error('the server has started')
}

const fixture = (records: object) => ({ 'story.json': JSON.stringify(records, null, 2) })

t.test('settings, SANDBOX_FIXTURES: a wrong folder: one line that names variable, value and what is wrong', async t => {
  const folder = t.testdir({
    broken: { 'story.json': '{\n  "bills": [\n    {]\n' },
    multiline: { 'story.json': '{\n"a"\n:\n?\n}' },
    list: { 'story.json': '[]' },
    schema: fixture({ bills: [bill(), bill({ uniqueReferenceIdentifier: 'INV-2', dueDate: '2026-02-30' })] }),
    template: fixture({ mandates: [mandate({ createdAt: '{{yesterday}}' })] }),
    amount: fixture({ bills: [bill(), bill({ uniqueReferenceIdentifier: 'INV-2', openAmount: '9999' })] }),
    mandate: fixture({ mandates: [mandate()], collections: [collection({ mandateReference: 'MND-0002' })] }),
    duplicate: fixture({ mandates: [mandate(), mandate()] }),
    kind: fixture({ bils: [bill()] }),
    sender: fixture({ senderName: 'x'.repeat(141) }),
  })
  for (const [name, reason] of [
    ['missing', /missing/],
    ['broken', /story\.json/],
    ['multiline', /story\.json/],
    ['list', /story\.json/],
    ['schema', /story\.json.*bills\.1\.dueDate.*2026-02-30/],
    ['template', /story\.json.*\{\{yesterday\}\}/],
    ['amount', /story\.json.*bills\.1\.openAmount/],
    ['mandate', /story\.json.*collections\.0\.mandateReference/],
    ['kind', /story\.json.*"bils".*Known: .*bills/],
    ['sender', /story\.json: senderName: .*140/],
    ['duplicate', /story\.json.*mandates\.1\.mandateReference/],
  ] as const) {
    const path = `${folder}/${name}`
    const error = await refusal({ SANDBOX_FIXTURES: path })
    t.ok(error instanceof ConfigError, `${name}: exit code 2`)
    t.ok(error.message.startsWith(`SANDBOX_FIXTURES=${JSON.stringify(path)}`), error.message)
    t.notMatch(error.message, '\n', `${name}: one line`)
    t.match(error.message, reason, name)
  }
})

t.test('control plane, SANDBOX_CLIENTS: a client with a fixture that is not there', async t => {
  const folder = t.testdir({
    'clients.json': JSON.stringify([
      { clientId: 'fine', clientSecret: 'hush-hush' },
      { clientId: 'acme', clientSecret: 'hush-hush', fixture: 'saga' },
    ]),
  })
  const error = await refusal({ SANDBOX_CLIENTS: `${folder}/clients.json` })
  t.ok(error instanceof ConfigError)
  t.match(error.message, /SANDBOX_CLIENTS.*"acme".*"saga".*demo.*empty/)
  t.notMatch(error.message, '\n')
  t.notMatch(error.message, 'hush-hush')
})

t.test('settings, SANDBOX_DATA: a folder of another owner: one line with the command that helps', async t => {
  // The user of the tests may be root, to whom no folder is closed.
  const { mkdirSync } = fs
  t.teardown(() => {
    fs.mkdirSync = mkdirSync
  })
  for (const [code, hasAdvice] of [
    ['EACCES', true],
    ['EPERM', true],
    ['ENOSPC', false],
  ] as const) {
    fs.mkdirSync = () => {
      throw Object.assign(new Error(`${code}: refused, mkdir '/data'`), { code })
    }
    const error = await refusal({ SANDBOX_DATA: '/data' })
    fs.mkdirSync = mkdirSync
    t.ok(error instanceof ConfigError)
    t.match(error.message, new RegExp(`^SANDBOX_DATA="/data": .*${code}`))
    t.notMatch(error.message, '\n')
    const ids = `${process.getuid?.()}:${process.getgid?.()}`
    t.equal(error.message.endsWith(`as user ${ids}. Run as root: chown -R ${ids} /data`), hasAdvice, error.message)
  }
})

t.test('settings, PORT: a port that is taken is no wrong setting', async t => {
  const other = createTcpServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.teardown(() => other.close())
  const { port } = other.address() as AddressInfo
  // The origin of a link of a fixture is no wrong setting either: it is on the list of each client of the fixture.
  const payoutLinks = [payoutLink({ uiMode: 'embedded', origin: 'https://shop.example' })]
  const folder = t.testdir(fixture({ bills: [bill()], payoutLinks }))
  const error = await refusal({ PORT: String(port), SANDBOX_FIXTURES: folder })
  t.notOk(error instanceof ConfigError)
  t.match(error, { code: 'EADDRINUSE', message: new RegExp(String(port)) })
})

t.test('settings, HOST: an address that this machine does not have', async t => {
  const error = await refusal({ PORT: '0', HOST: '203.0.113.1' })
  t.ok(error instanceof ConfigError)
  t.match(error.message, /^HOST="203\.0\.113\.1" is no address of this machine/)
})

t.test('persistence, SANDBOX_DATA: a folder that cannot be used; one that could be is free again', async t => {
  const folder = t.testdir({ file: 'text' })
  const error = await refusal({ SANDBOX_DATA: `${folder}/file` })
  t.ok(error instanceof ConfigError)
  t.match(error.message, /^SANDBOX_DATA=.*file/)
  t.notMatch(error.message, '\n')

  const other = createTcpServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.teardown(() => other.close())
  const { port } = other.address() as AddressInfo
  for (let count = 0; count < 2; count++) {
    t.match(await refusal({ PORT: String(port), SANDBOX_DATA: `${folder}/new` }), { code: 'EADDRINUSE' })
  }
  t.same(readdirSync(`${folder}/new`), ['sandbox.db'])
})
