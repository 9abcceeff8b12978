import { readFileSync } from 'node:fs'
import t from 'tap'
import { catalogue } from '../../src/core/errors.js'

const DOCS = readFileSync('docs/errors.md', 'utf8')

t.test('decisions §2: docs/errors.md lists the catalogue, row by row (npm run errors)', async t => {
  const rows = [...DOCS.matchAll(/^\| ([A-Z_]+) \| (\d{3}) \| (.+) \|$/gm)].map(([, code, status, when]) => ({
    code,
    status: Number(status),
    when,
  }))
  t.same(
    rows,
    Object.entries(catalogue).map(([code, { status, when }]) => ({ code, status, when })),
  )
})

t.test('interface, Errors: every code of the catalogue is labelled, and none as documented', async t => {
  const wrong = Object.entries(catalogue).filter(([, entry]) => entry['x-fidelity'] !== 'assumed')
  t.same(wrong, [])
})
