import { spawn } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { environment, PLAIN, program as shipped } from '../program.js'
import type { Output } from './walk.js'

/** Makes the program as it ships a command at a path. */
export function linkProgram(path: string): void {
  writeFileSync(path, `#!/bin/sh\nexec '${process.execPath}' '${shipped.main}' "$@"\n`)
  chmodSync(path, 0o755)
}

/** Runs a script beside the server of this process; `payments-sandbox` is the program as it ships, if it is used. */
export function run(script: string, folder: string): Promise<Output> {
  const program = `${folder}/payments-sandbox`
  if (/^(.* )?payments-sandbox /m.test(script)) {
    linkProgram(program)
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
