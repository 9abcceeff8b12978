import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { freePort } from '../free-port.js'
import { build } from '../helper.js'
import { environment, PLAIN, program as shipped } from '../program.js'

const SERVED_AT = 'http://127.0.0.1:8080'
const END_OF_BLOCK = '===end of block==='

/** A shell block of a page, and the answer that it shows for the block's last command, if any. */
export interface Step {
  script: string
  answer: object | undefined
}

/** The `bash` blocks of a page, each with the `json` block behind it. */
export function stepsOf(page: string): Step[] {
  const text = readFileSync(page, 'utf8')
  const steps: Step[] = []
  for (const [, language, content = ''] of text.matchAll(/^```(bash|json)\n(.*?)^```$/gms)) {
    const last = steps.at(-1)
    if (language === 'bash') steps.push({ script: content, answer: undefined })
    else if (last !== undefined) last.answer = JSON.parse(content)
  }
  return steps
}

/** Runs a script beside the server of this process; `payments-sandbox` is the program as it ships, if it is used. */
function run(script: string, folder: string): Promise<{ code: number | null; output: string; errors: string }> {
  const program = `${folder}/payments-sandbox`
  if (/^(.* )?payments-sandbox /m.test(script)) {
    writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${shipped.main}' "$@"\n`)
    chmodSync(program, 0o755)
  }
  return new Promise(resolve => {
    const [command, ...options] = PLAIN
    const shell = spawn(command, [...options, 'bash', '-euo', 'pipefail', '-c', script], {
      cwd: folder,
      env: { ...environment, PATH: `${folder}:${environment.PATH}`, LOG_LEVEL: 'silent' },
    })
    let output = ''
    let errors = ''
    shell.stdout.on('data', data => {
      output += data
    })
    shell.stderr.on('data', data => {
      errors += data
    })
    shell.on('close', code => resolve({ code, output, errors }))
  })
}

/** The JSON document on the last line that has one. */
const lastAnswer = (output: string) => JSON.parse(output.trim().split('\n').at(-1) ?? '')

/** The pages use `--json`, which came with curl 7.82. */
const hasCurl = spawnSync('bash', ['-c', 'curl --help all | grep -q -e --json']).status === 0
export const skip = !hasCurl && 'needs bash and curl 7.82'

/** Returns a script with all shell blocks of a page, for a server at a URL. */
export async function scriptOf(steps: readonly Step[], url: string): Promise<string> {
  let script = steps.map(step => `${step.script}\necho; echo '${END_OF_BLOCK}'`).join('\n')
  script = script.replaceAll(SERVED_AT, url)
  for (const fixed of new Set(script.match(/\b809\d\b/g))) script = script.replaceAll(fixed, String(await freePort()))
  return script
}

/** Compares the output of the script of a page with the answers that the page shows. */
export function compare(t: Test, steps: readonly Step[], output: string): void {
  const outputs = output.split(END_OF_BLOCK)
  for (const [index, { script, answer }] of steps.entries()) {
    if (answer !== undefined) t.hasStrict(lastAnswer(outputs[index] ?? ''), answer, script)
  }
}

/** Runs all shell blocks of a page in one shell, and compares their answers with those that the page shows. */
export async function walk(t: Test, page: string): Promise<void> {
  const app = build(t, { clock: 'real', now: Date.now })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo

  const steps = stepsOf(page)
  const { code, output, errors } = await run(await scriptOf(steps, `http://127.0.0.1:${port}`), t.testdir())
  t.equal(code, 0, errors)
  compare(t, steps, output)
}
