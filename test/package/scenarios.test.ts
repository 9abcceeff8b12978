import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { skip } from '../docs/walk.js'
import { install } from './install.js'

t.test('control plane, Reach a state in one call: with curl', { skip }, async t => {
  const { sh, start } = install()
  const { url } = await start(t)
  const { code, stdout, stderr } = await sh(
    `curl -sS ${url}/_sandbox/scenarios/collection-returned --json '{"reasonCode": "MD06"}'`,
  )
  t.equal(code, 0, stderr)
  const { values, steps } = JSON.parse(stdout)
  t.match(values, { mandateReference: /^MND-/, collectionReference: /^COL-/, reasonCode: 'MD06' })
  const { collectionReference, reasonCode } = values
  t.match(steps.at(-1).answer.record, { collectionReference, reasonCode, status: 'RETURNED' })
})

/** The program of a user. It prints the record. */
const PROGRAM = `
import { connectSandbox } from 'payments-sandbox'
const sandbox = await connectSandbox({ url: process.argv[2], clientId: 'job-7' })
const { values } = await sandbox.scenarios.run('collection-returned', { reasonCode: 'AM04' })
const { record } = await sandbox.collections.explain(values.collectionReference)
console.log(JSON.stringify(record))
`

t.test('library, In your tests: scenarios.run brings the client of the library into a state', async t => {
  const { node, start } = install()
  const { url } = await start(t)
  const { stdout, stderr } = await node(PROGRAM, [url])
  t.equal(stderr, '')
  t.match(JSON.parse(stdout), { status: 'RETURNED', reasonCode: 'AM04' })
})

t.test('fixtures, Scenarios of your own: the example, in a folder that the user mounts', { skip }, async t => {
  const { folder, sh, start } = install()
  const page = readFileSync('docs/fixtures.md', 'utf8')
  const [, example] = /^## Scenarios of your own$.*?^```yaml\n(.*?)^```$/ms.exec(page) ?? []
  mkdirSync(join(folder, 'mounted/scenarios'), { recursive: true })
  writeFileSync(join(folder, 'mounted/scenarios/collection-refunded.yaml'), String(example))
  const { url } = await start(t, { SANDBOX_FIXTURES: join(folder, 'mounted') })
  const { stdout } = await sh(`
    curl -sS ${url}/_sandbox/scenarios | grep -o '"collection-refunded"'
    curl -sS ${url}/_sandbox/scenarios/collection-refunded --json '{"period": "P20D"}'
  `)
  const [listed, answer = ''] = stdout.split('\n')
  t.equal(listed, '"collection-refunded"')
  t.match(JSON.parse(answer).steps.at(-1).answer.record, { status: 'RETURNED', reasonCode: 'MD06' })
})
