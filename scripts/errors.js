// Writes the table of docs/errors.md from the error catalogue. Run by `npm run errors`.
// test/docs/error-docs.test.ts fails while the table differs from the catalogue.
import { readFileSync, writeFileSync } from 'node:fs'
import { catalogue } from '../dist/core/errors.js'

const PAGE = new URL('../docs/errors.md', import.meta.url)

const rows = Object.entries(catalogue).map(([code, { status, when }]) => `| ${code} | ${status} | ${when} |\n`)
const page = readFileSync(PAGE, 'utf8').replaceAll('\r\n', '\n')
const start = page.indexOf('|---|')
const head = page.slice(0, page.indexOf('\n', start) + 1)
const tail = page.slice(page.lastIndexOf('|\n') + 2)
writeFileSync(PAGE, head + rows.join('') + tail)
