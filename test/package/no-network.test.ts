import { spawnSync } from 'node:child_process'
import t from 'tap'
import { install } from './install.js'

/** A network namespace without a route: it has only its own loopback interface. */
const NAMESPACE = ['-rnpf', '--kill-child', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'] as const
const canMake = spawnSync('unshare', [...NAMESPACE, 'true']).status === 0
const skip = !canMake && 'needs unshare and ip, and the right to make a network namespace'

/**
 * A journey through all parts of the program and the library. It prints what failed, and the number of packets that the
 * kernel could not route: each connection to another machine and each question to a name server is one.
 */
const JOURNEY = `
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { connectSandbox, createSandbox } from 'payments-sandbox'

/** A packet to a name server on this machine has a route, and is a datagram. */
const packets = () => {
  const [names, values] = readFileSync('/proc/net/snmp', 'utf8').match(/^Ip: .*/gm).map(line => line.split(' '))
  const [, datagrams] = /^Udp: (?:\\d+ ){3}(\\d+)/m.exec(readFileSync('/proc/net/snmp', 'utf8'))
  const of6 = readFileSync('/proc/net/snmp6', 'utf8').match(/^(Ip6OutNoRoutes|Udp6OutDatagrams)\\s+\\d+/gm)
  const counts = [values[names.indexOf('OutNoRoutes')], datagrams, ...of6.map(line => line.split(/\\s+/)[1])]
  return counts.reduce((sum, count) => sum + Number(count), 0)
}

const failures = []
const program = spawn('payments-sandbox', ['--port', '0', '--data', 'no-network-data'])
const lines = createInterface(program.stdout)
const started = new Promise(done => {
  lines.on('line', line => {
    const { level, msg, url } = JSON.parse(line)
    if (level > 30) failures.push(msg)
    if (url !== undefined) done(url)
  })
})
program.stderr.on('data', data => failures.push(String(data)))
const url = await started

const sandbox = await connectSandbox({ url })
const scenarios = await sandbox.scenarios.list()
for (const { name } of scenarios) await sandbox.scenarios.run(name)
await sandbox.faults.clear()
await sandbox.clock.advance({ by: 'P10D' })
const { url: page } = await sandbox.payoutLinks.create({ amount: '10', currency: 'EUR', payoutMethod: 'SEPA-CT' })
const paths = ['/', '/docs', '/openapi.json', '/sdk/v1.js', '/_sandbox', '/_sandbox/console', '/_sandbox/coverage']
for (const target of [...paths.map(path => url + path), page]) {
  const { ok, status } = await fetch(target, { headers: { accept: 'text/html' } })
  if (!ok) failures.push(target + ': ' + status)
}
const run = promisify(execFile)
await run('payments-sandbox', ['health', '--port', new URL(url).port])
const own = await createSandbox({ fixture: 'demo' })
await own.collections.list()
await own.close()
program.kill()
const [exitCode] = await once(program, 'exit')

const afterJourney = packets()
await fetch('http://192.0.2.1').catch(() => {})
const afterAddress = packets()
await fetch('http://telemetry.example').catch(() => {})
const afterName = packets()
console.log(JSON.stringify({ scenarios: scenarios.length, failures, exitCode, afterJourney, afterAddress, afterName }))
`

t.test('start, Start it: without a network, nothing fails, and nothing tries to reach one', { skip }, async t => {
  const { run } = install()
  const { code, stdout, stderr } = await run('unshare', [...NAMESPACE, 'node', '--input-type=module', '-e', JOURNEY])
  t.equal(code, 0, stderr)
  const { scenarios, afterJourney, afterAddress, afterName, ...others } = JSON.parse(stdout)
  t.ok(scenarios > 12)
  t.same(others, { failures: [], exitCode: 0 })
  t.equal(afterJourney, 0, 'no packet to another machine, and no question to a name server')
  t.ok(afterAddress > afterJourney, 'the kernel counts a connection')
  t.ok(afterName > afterAddress, 'and a question to a name server')
})
