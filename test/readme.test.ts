import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { build } from './helper.js'

const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
const SERVED_AT = 'http://127.0.0.1:8080'
const END_OF_BLOCK = '===end of block==='

/** A shell block of the README, and the answer that it shows for the block's last command, if any. */
interface Step {
  script: string
  answer: object | undefined
}

function stepsOf(text: string): Step[] {
  const steps: Step[] = []
  for (const [, language, content = ''] of text.matchAll(/^```(bash|json)\n(.*?)^```$/gms)) {
    const last = steps.at(-1)
    if (language === 'bash') steps.push({ script: content, answer: undefined })
    else if (last !== undefined) last.answer = JSON.parse(content)
  }
  return steps
}

/** Runs a script beside the server, which lives in this process. */
function run(script: string): Promise<{ code: number | null; output: string; errors: string }> {
  return new Promise(resolve => {
    const shell = spawn('bash', ['-euo', 'pipefail', '-c', script])
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

/** The walk uses `--json`, which came with curl 7.82. */
const hasCurl = spawnSync('bash', ['-c', 'curl --help all | grep -q -e --json']).status === 0

t.test(
  'the walk in the README gives the answers that it shows',
  { skip: !hasCurl && 'needs bash and curl 7.82' },
  async t => {
    const app = build(t, { clock: 'real', now: Date.now })
    await app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = app.server.address() as AddressInfo

    const steps = stepsOf(README)
    t.ok(steps.length >= 8, 'the walk has its steps')
    const script = steps.map(step => `${step.script}\necho; echo '${END_OF_BLOCK}'`).join('\n')
    const { code, output, errors } = await run(script.replaceAll(SERVED_AT, `http://127.0.0.1:${port}`))
    t.equal(code, 0, errors)

    const outputs = output.split(END_OF_BLOCK)
    for (const [index, { script, answer }] of steps.entries()) {
      if (answer !== undefined) t.hasStrict(lastAnswer(outputs[index] ?? ''), answer, script)
    }
  },
)

t.test(
  'the walk ends as the README promises: one SETTLED, one RETURNED with AM04, a link cancelled with its comment',
  async t => {
    const answers = JSON.stringify(stepsOf(README).map(step => step.answer))
    t.match(answers, '"to":"SETTLED"')
    t.match(answers, '"to":"RETURNED","reasonCode":"AM04"')
    t.match(answers, '"cancellationComment":"Paid in cash instead"')
  },
)
