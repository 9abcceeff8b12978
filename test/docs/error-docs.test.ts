import { readFileSync } from 'node:fs'
import t from 'tap'
import { catalogue } from '../../src/core/errors.js'

const DOCS = readFileSync('docs/errors.md', 'utf8')
const DECISIONS = readFileSync('docs/decisions.md', 'utf8')

t.test('decisions §2: docs/errors.md lists the catalogue, row by row', async t => {
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
  t.same(
    Object.entries(catalogue).filter(([, entry]) => entry['x-fidelity'] !== 'assumed'),
    [],
  )
})

t.test('decisions §2: the table has every code of the catalogue, with its status, and no other', async t => {
  const [, section = ''] = /^## 2\. .*?\n(.*?)^## /ms.exec(DECISIONS) ?? []
  const rows = [...section.matchAll(/^\| ([A-Z_, ]+) \| (\d{3}) \|/gm)]
  const stated = rows.flatMap(([, codes = '', status]) => codes.split(', ').map(code => [code, Number(status)]))
  t.same(
    stated.sort(),
    Object.entries(catalogue)
      .map(([code, { status }]) => [code, status])
      .sort(),
  )
})
