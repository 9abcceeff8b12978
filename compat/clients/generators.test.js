/** Generates clients of TypeScript that no journey uses, and compiles them. */
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

const DOCUMENT = '../../openapi/payments-service.json'
const COMPILER = '--noEmit --strict --skipLibCheck --target es2022 --lib es2022,dom --module nodenext'.split(' ')

/** Runs a program of the packages. Rejects with its output. */
const run = (...args) => promisify(execFile)('npx', args, { cwd: import.meta.dirname })

const generators = {
  oazapfts: () => run('oazapfts', DOCUMENT, 'build/oazapfts.ts'),
  orval: () => run('orval', '--config', 'orval.config.json'),
}

for (const [name, generate] of Object.entries(generators)) {
  test(`${name}: its client compiles`, async () => {
    await generate()
    await run('tsc', ...COMPILER, `build/${name}.ts`)
  })
}
