import { spawn } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { environment, PLAIN, program as shipped } from '../program.js'
import type { Output } from './walk.js'

/** Runs a script beside the server of this process; `payments-sandbox` is the program as it ships, if it is used. */
export function run(script: string, folder: string): Promise<Output> {
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
