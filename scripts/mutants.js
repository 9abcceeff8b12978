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
const TIME_LIMIT = 'timeout!'

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

/** Creates a copy of the compiled tests, so that mutants run side by side. All else is linked, but for the scratch folders. */
function createCopy() {
  const root = mkdtempSync(join(tmpdir(), 'mutants-'))
  const linked = readdirSync('.').filter(name => name !== 'build' && name !== '.tap')
  for (const name of linked) symlinkSync(resolve(name), join(root, name))
  cpSync('build', join(root, 'build'), { recursive: true })
  return root
}

/** Ends the tests that run. */
const ends = new Set()

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
  const end = () => {
    try {
      process.kill(-child.pid, 'SIGKILL')
    } catch {
      // It left no process behind.
    }
  }
  ends.add(end)
  let isOver = false
  const timer = setTimeout(() => {
    isOver = true
    end()
  }, PATIENCE_MS)
  child.on('exit', code => {
    clearTimeout(timer)
    end()
    ends.delete(end)
    const [, failure] = /^ *not ok \d+ - (.*)$/m.exec(output) ?? []
    resolve(code === 0 ? null : isOver ? TIME_LIMIT : (failure ?? `exit code ${code}`))
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

const roots = []

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    for (const end of ends) end()
    removeCopies()
    process.exit(1)
  })
}

function removeCopies() {
  for (const root of roots) rmSync(root, { recursive: true, force: true })
}

for (let count = Math.min(availableParallelism(), all.length); count > 0; count--) roots.push(createCopy())

/** Does some work for each item, one at a time on each copy. */
async function onCopies(items, work) {
  const rest = [...items]
  const next = async root => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await work(root, item)
  }
  await Promise.all(roots.map(next))
}

const placeOf = ({ file, text, to }) => `${file}: ${text.trim()} → ${to.trim() || '(nothing)'}`

const living = []
/** The mutants that no test failed with in time. */
const late = []
try {
  await onCopies(new Set(all.flatMap(({ tests }) => tests)), async (root, test) => {
    const failure = await run(root, test)
    if (failure !== null) throw new Error(`${test} fails without a mutant: ${failure}`)
  })
  await onCopies(all, async (root, mutant) => {
    const killer = await tryOn(root, mutant)
    console.log(killer === null ? `LIVES  ${placeOf(mutant)}` : `killed ${placeOf(mutant)}\n       ${killer}`)
    if (killer === null) living.push(mutant)
    else if (killer.endsWith(TIME_LIMIT)) late.push(mutant)
  })
} finally {
  removeCopies()
}

const unexpected = living.filter(({ reason }) => reason === undefined)
console.log(`\n${all.length - living.length} of ${all.length} mutants killed, ${late.length} of them by the time limit`)
for (const mutant of late) console.log(`LATE   ${placeOf(mutant)}`)
for (const mutant of living) console.log(`LIVES  ${placeOf(mutant)}\n       ${mutant.reason ?? 'for no stated reason'}`)
process.exitCode = unexpected.length > 0 ? 1 : 0
