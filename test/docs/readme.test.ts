import { spawn } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { build } from '../helper.js'
import { listen } from '../http/raw.js'
import { environment, PLAIN, program as shipped } from '../program.js'
import type { Output } from './walk.js'
import { skip, stepsOf, walk } from './walk.js'

/** Runs a script beside the server of this process; `payments-sandbox` is the program as it ships, if it is used. */
function run(script: string, folder: string): Promise<Output> {
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
    let stdout = ''
    let stderr = ''
    shell.stdout.on('data', data => {
      stdout += data
    })
    shell.stderr.on('data', data => {
      stderr += data
    })
    shell.on('close', code => resolve({ code, stdout, stderr }))
  })
}

t.test('README, First request; ten-minutes, Ten minutes with curl: the answers are those shown', { skip }, async t => {
  const port = await listen(build(t, { clock: 'real', now: Date.now }))
  for (const page of ['README.md', 'docs/ten-minutes.md']) {
    await walk(t, page, `http://127.0.0.1:${port}`, script => run(script, t.testdir()))
  }
})

t.test('ten-minutes, Ten minutes with curl: the walk ends as it is promised', async t => {
  const steps = stepsOf('docs/ten-minutes.md')
  t.ok(steps.length >= 8, 'the walk has its steps')
  const answers = JSON.stringify(steps.map(step => step.answer))
  t.match(answers, '"to":"SETTLED"')
  t.match(answers, '"to":"RETURNED","reasonCode":"AM04"')
  t.match(answers, '"cancellationComment":"Paid in cash instead"')
})
