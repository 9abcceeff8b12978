import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Test } from 'tap'
import { freePort } from '../free-port.js'

const SERVED_AT = 'http://127.0.0.1:8080'
const END_OF_BLOCK = '===end of block==='

/** The output of a shell. */
export interface Output {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A shell block of a page, and the answer that it shows for the block's last command, if any. */
export interface Step {
  script: string
  answer: object | undefined
}

/** The `bash` blocks of a page, each with the `json` block behind it. */
export const stepsOf = (page: string): Step[] => stepsIn(readFileSync(page, 'utf8'))

/** The `bash` blocks of a text, each with the `json` block behind it. */
export function stepsIn(text: string): Step[] {
  const steps: Step[] = []
  for (const [, language, content = ''] of text.matchAll(/^```(bash|json)\n(.*?)^```$/gms)) {
    const last = steps.at(-1)
    if (language === 'bash') steps.push({ script: content, answer: undefined })
    else if (last !== undefined) last.answer = JSON.parse(content)
  }
  return steps
}

/** The last JSON document, on one line or indented. */
const lastAnswer = (output: string) =>
  JSON.parse(
    output
      .trim()
      .split(/\n(?=[[{])/)
      .at(-1) ?? '',
  )

/** The pages use `--json`, which came with curl 7.82. */
const hasCurl = spawnSync('bash', ['-c', 'curl --help all | grep -q -e --json']).status === 0
export const skip = !hasCurl && 'needs bash and curl 7.82'

/** Returns a script with all shell blocks of a page, for a server at a URL. */
async function scriptOf(steps: readonly Step[], url: string): Promise<string> {
  let script = steps.map(step => `${step.script}\necho; echo '${END_OF_BLOCK}'`).join('\n')
  script = script.replaceAll(SERVED_AT, url)
  for (const fixed of new Set(script.match(/\b809\d\b/g))) script = script.replaceAll(fixed, String(await freePort()))
  return script
}

/** Compares the output of the script of a page with the answers that the page shows. */
function compare(t: Test, steps: readonly Step[], output: string): void {
  const outputs = output.split(END_OF_BLOCK)
  for (const [index, { script, answer }] of steps.entries()) {
    if (answer !== undefined) t.hasStrict(lastAnswer(outputs[index] ?? ''), answer, script)
  }
}

/**
 * Runs all shell blocks of a page in one shell, and compares their answers with those that the page shows.
 * @param url the URL of the server that gets the requests
 * @param sh runs a script in bash, which ends with the first command that fails
 */
export const walk = (t: Test, page: string, url: string, sh: (script: string) => Promise<Output>): Promise<void> =>
  walkSteps(t, stepsOf(page), url, sh)

/** Does so with given blocks. */
export async function walkSteps(
  t: Test,
  steps: readonly Step[],
  url: string,
  sh: (script: string) => Promise<Output>,
): Promise<void> {
  const { code, stdout, stderr } = await sh(await scriptOf(steps, url))
  t.equal(code, 0, stderr)
  compare(t, steps, stdout)
}
