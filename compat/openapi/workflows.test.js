/** Runs the journeys of openapi/workflows.arazzo.yaml against a sandbox. https://redocly.com/docs/cli/commands/respect */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { createSandbox } from '../../dist/client/index.js'

const DOCUMENTS = resolve(import.meta.dirname, '../../openapi')
const REDOCLY = resolve(import.meta.dirname, 'node_modules/@redocly/cli/bin/cli.js')
const environment = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }

let sandbox
let folder
before(async () => {
  sandbox = await createSandbox()
  folder = mkdtempSync(join(tmpdir(), 'workflows-'))
})
after(async () => {
  rmSync(folder, { recursive: true })
  await sandbox.close()
})

/** Runs all workflows of a file. Resolves to the exit code and the output. */
const respect = (file, clientId) =>
  new Promise(done => {
    const servers = ['service', 'control'].flatMap(name => ['--server', `${name}=${sandbox.url}`])
    const args = [
      REDOCLY,
      'respect',
      file,
      ...servers,
      '--input',
      `clientId=${clientId}`,
      '--input',
      'clientSecret=shh',
    ]
    execFile(process.execPath, args, { env: environment }, (error, stdout, stderr) => {
      done({ code: error?.code ?? 0, output: `${stdout}${stderr}` })
    })
  })

test('each journey passes, and can run again', async t => {
  for (const round of ['first', 'second']) {
    const { code, output } = await respect(join(DOCUMENTS, 'workflows.arazzo.yaml'), 'journeys')
    assert.equal(code, 0, output)
    const [passed = ''] = /Workflows: .*/.exec(output) ?? []
    assert.match(passed, /^Workflows: 8 passed, 8 total/, output)
    t.diagnostic(`${round} run: ${passed}; ${/Checks: .*/.exec(output)?.[0]}`)
  }
})

test('a journey fails whose answer differs', async () => {
  const text = readFileSync(join(DOCUMENTS, 'workflows.arazzo.yaml'), 'utf8')
  const changed = text.replace("status == 'SETTLED'", "status == 'PENDING'").replaceAll('url: ./', `url: ${DOCUMENTS}/`)
  assert.notEqual(changed, text)
  const file = join(folder, 'changed.arazzo.yaml')
  writeFileSync(file, changed)
  const { code, output } = await respect(file, 'changed')
  assert.notEqual(code, 0)
  assert.match(output, /7 passed, 1 failed, 8 total/, output)
})
