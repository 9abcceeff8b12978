import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import t from 'tap'

type Row = readonly [text: string, to: string, tests: string | readonly string[], reason?: string]

t.test('CONTRIBUTING, Mutants: each text is in its file once, and its tests exist', async t => {
  const { mutants } = (await import(resolve('test/mutants.js'))) as { mutants: Record<string, readonly Row[]> }
  const stale: unknown[] = []
  for (const [file, rows] of Object.entries(mutants)) {
    const source = readFileSync(`src/${file}`, 'utf8')
    for (const [text, to, tests] of rows) {
      const isThere = [tests].flat().every(test => existsSync(`test/${test}.test.ts`))
      if (source.split(text).length !== 2 || text === to || !isThere) stale.push([file, text])
    }
  }
  t.same(stale, [])
})
