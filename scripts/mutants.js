// Runs the mutants of test/mutants.js: changes one place of src, and runs the nearest tests, which must fail.
// Usage: npm run mutants [-- TEXT…]. With texts, runs only the mutants that have one of them in their file or text.
import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { transformSync } from 'esbuild'
import { mutants } from '../test/mutants.js'

/** A test that takes longer fails: a mutant can make a loop endless. */
const PATIENCE_MS = 120_000

const texts = process.argv.slice(2)
const all = Object.entries(mutants)
  .flatMap(([file, rows]) =>
    rows.map(([text, to, tests, reason]) => ({ file, text, to, tests: [tests].flat(), reason })),
  )
  .filter(({ file, text }) => texts.length === 0 || texts.some(part => file.includes(part) || text.includes(part)))

for (const { file, text } of all) {
  const found = readFileSync(`src/${file}`, 'utf8').split(text).length - 1
  if (found !== 1) throw new Error(`src/${file} has ${found} times: ${text}`)
}

/** Creates a copy of the compiled tests, so that mutants run side by side. All else of the project is linked. */
function createCopy() {
  const root = mkdtempSync(join(tmpdir(), 'mutants-'))
  for (const name of readdirSync('.')) if (name !== 'build') symlinkSync(resolve(name), join(root, name))
  cpSync('build', join(root, 'build'), { recursive: true })
  return root
}

/** Runs a test of a copy. Returns its first failure; null: it passes. */
function run(root, test) {
  const { promise, resolve } = Promise.withResolvers?.() ?? withResolvers()
  const checks = ['check-answers', 'nothing-left'].map(name => `--import=./build/test/${name}.js`)
  const args = ['--max-semi-space-size=64', ...checks, `build/test/${test}.test.js`]
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...process.env, TAP_BAIL: '1', TAP_TIMEOUT: '100' },
    stdio: ['ignore', 'pipe', 'ignore'],
    // With its group, its servers end, too.
    detached: true,
  })
  let output = ''
  child.stdout.on('data', data => {
    output += data
  })
  const end = () => process.kill(-child.pid, 'SIGKILL')
  const timer = setTimeout(end, PATIENCE_MS)
  child.on('exit', code => {
    clearTimeout(timer)
    try {
      end()
    } catch {
      // It left no process behind.
    }
    const [, failure] = /^ *not ok \d+ - (.*)$/m.exec(output) ?? []
    resolve(code === 0 ? null : (failure ?? `exit code ${code}`))
  })
  return promise
}

function withResolvers() {
  const parts = {}
  parts.promise = new Promise(resolve => Object.assign(parts, { resolve }))
  return parts
}

/** Runs the tests of a mutant. Returns the first failure; null: it lives. */
async function tryOn(root, { file, text, to, tests }) {
  const output = join(root, 'build/src', file.replace(/tsx?$/, 'js'))
  const original = readFileSync(output)
  const source = readFileSync(`src/${file}`, 'utf8').replace(text, () => to)
  const loader = file.endsWith('x') ? 'tsx' : 'ts'
  const jsx = { jsx: 'automatic', jsxImportSource: 'preact' }
  writeFileSync(output, transformSync(source, { loader, format: 'esm', target: 'node20', ...jsx }).code)
  try {
    for (const test of tests) {
      const failure = await run(root, test)
      if (failure !== null) return `${test}: ${failure}`
    }
    return null
  } finally {
    writeFileSync(output, original)
  }
}

const roots = Array.from({ length: Math.min(availableParallelism(), all.length) }, createCopy)

/** Does some work for each item, one at a time on each copy. */
async function onCopies(items, work) {
  const rest = [...items]
  const next = async root => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await work(root, item)
  }
  await Promise.all(roots.map(next))
}

const living = []
try {
  await onCopies(new Set(all.flatMap(({ tests }) => tests)), async (root, test) => {
    const failure = await run(root, test)
    if (failure !== null) throw new Error(`${test} fails without a mutant: ${failure}`)
  })
  await onCopies(all, async (root, mutant) => {
    const { file, text, to, reason } = mutant
    const killer = await tryOn(root, mutant)
    const place = `${file}: ${text.trim()} → ${to.trim() || '(nothing)'}`
    console.log(
      killer === null ? `LIVES  ${place}${reason ? `\n       ${reason}` : ''}` : `killed ${place}\n       ${killer}`,
    )
    if (killer === null) living.push(mutant)
  })
} finally {
  for (const root of roots) rmSync(root, { recursive: true })
}

const expected = living.filter(({ reason }) => reason !== undefined).length
console.log(`\n${all.length - living.length} of ${all.length} mutants killed; ${expected} live for a stated reason`)
process.exitCode = living.length > expected ? 1 : 0
