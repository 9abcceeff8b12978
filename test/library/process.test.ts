/** A sandbox and the process that it is in: its life, its timers, and the statements of the language. */
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { mock } from 'node:test'
import t from 'tap'
import type { Sandbox } from '../../src/client/index.js'
import { createSandbox } from '../../src/client/index.js'
import { uncheckedProgram } from '../program.js'
import { create, refusal } from './helper.js'

/** Runs a module in a process of its own, with the library. Returns its exit code and its output. */
function run(text: string) {
  const [command, ...args] = uncheckedProgram.command
  const library = new URL('../../src/client/index.js', import.meta.url).href
  const source = `const { connectSandbox, createSandbox } = await import(${JSON.stringify(library)})\n${text}`
  const { status, signal, stdout, stderr } = spawnSync(command, [...args, '--input-type=module', '-e', source], {
    env: uncheckedProgram.environment,
    encoding: 'utf8',
    timeout: 60_000,
  })
  return { status, signal, stdout, stderr }
}

const ENDED = { status: 0, signal: null, stdout: 'done\n', stderr: '' }

t.test(`library, In your tests: a forgotten close does not keep the process alive`, async t => {
  const program = `
    import { connect } from 'node:net'
    const sandbox = await createSandbox({ fixture: 'demo' })
    await sandbox.token()
    await sandbox.collections.list()
    const other = await connectSandbox({ url: sandbox.url, clientId: 'job-1' })
    await other.events.list()
    await sandbox.fork()
    // A connection of the application that it has forgotten too.
    connect(Number(new URL(sandbox.url).port), '127.0.0.1').unref()
    console.log('done')`
  t.same(run(program), ENDED)
})

t.test(`library, In your tests: a client that waits for its answer keeps the process alive`, async t => {
  const program = `
    const sandbox = await createSandbox()
    await sandbox.faults.arm({ effect: { kind: 'delay', ms: 50 } })
    await sandbox.token()
    console.log('done')`
  t.same(run(program), ENDED)
})

t.test(`library, In your tests: close ends before the process does`, async t => {
  const program = `
    import { connect } from 'node:net'
    import { once } from 'node:events'
    const sandbox = await createSandbox()
    const half = connect(Number(new URL(sandbox.url).port), '127.0.0.1')
    half.write('POST /api/v1/oauth/token HTTP/1.1\\r\\nhost: sandbox\\r\\ncontent-length: 9\\r\\n\\r\\nhalf')
    await once(half, 'connect')
    half.unref()
    await sandbox.clock.get()
    await sandbox.close()
    console.log('done')`
  t.same(run(program), ENDED)
})

t.test(`library, In your tests: await using closes a sandbox; using starts to close it`, async t => {
  let left: Sandbox
  {
    await using sandbox = await createSandbox()
    left = sandbox
    await left.clock.get()
  }
  t.match(await refusal(left.clock.get()), { code: 'CLOSED' })
  {
    using sandbox = await createSandbox()
    left = sandbox
    await left.clock.get()
  }
  t.match(await refusal(left.clock.get()), { code: 'CLOSED' })
})

t.test(
  `library, In your tests: with faked timers, delays, timeouts of events and close go on`,
  { timeout: 60_000 },
  async t => {
    mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'setImmediate', 'Date'], now: 0 })
    t.teardown(() => mock.timers.reset())
    const sandbox = await create(t)
    await sandbox.faults.arm({ effect: { kind: 'delay', ms: 5 } })
    t.type(await sandbox.token(), 'string')
    t.match(await refusal(sandbox.events.next({}, { timeoutSeconds: 1 })), { code: 'TIMEOUT' })
    const half = connect(Number(new URL(sandbox.url).port), '127.0.0.1')
    t.teardown(() => half.destroy())
    half.on('error', () => {})
    half.write('POST /api/v1/oauth/token HTTP/1.1\r\nhost: sandbox\r\ncontent-length: 9\r\n\r\nhalf')
    await once(half, 'connect')
    await sandbox.clock.get()
    await sandbox.close()
    t.equal(Date.now(), 0, 'no time has passed for the test')
  },
)
