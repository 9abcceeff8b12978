/**
 * `npm run bench`: measures the sandbox against its peers and against the limits of the platform, prints one table, and
 * writes it to RESULTS.md.
 *
 *   node bench/run.js [--only http,start] [--quick] [--report]
 *
 * --only: those subjects alone. --quick: few rounds and small worlds, to see that it works. --report: measures nothing,
 * and writes RESULTS.md from what the last run of each subject found, if it was of this commit.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const [major] = process.versions.node.split('.').map(Number)
if (major < 24) {
  process.stderr.write(
    `The benchmark needs Node 24 or later, for node:sqlite and since the goals are for it; this is ${process.version}.\n` +
      'The npm package `node` brings one along: npm exec --package=node@24 -- npm run bench\n',
  )
  process.exit(1)
}

const { BENCH, describe, pinSelf, ROOT, usedByOthers } = await import('./lib/machine.js')
const { markdown, plain } = await import('./lib/report.js')
const { latencyPlot } = await import('./lib/plot.js')

const SUBJECTS = ['http', 'lists', 'sqlite', 'start', 'memory', 'advance', 'soak']
const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    quick: { type: 'boolean', default: false },
    report: { type: 'boolean', default: false },
  },
})
const only = options.only?.split(',') ?? SUBJECTS
const unknown = only.filter(name => !SUBJECTS.includes(name))
if (unknown.length > 0) {
  process.stderr.write(`There is no subject ${unknown.join(', ')}; there are ${SUBJECTS.join(', ')}.\n`)
  process.exit(1)
}
if (!existsSync(join(ROOT, 'dist/main.js'))) {
  process.stderr.write('There is no dist/main.js: npm run build.\n')
  process.exit(1)
}

if (!existsSync(join(BENCH, 'node_modules'))) {
  // No package needs its install script; --ignore-scripts keeps out one that only reports who installs it.
  const args = ['ci', '--prefix', BENCH, '--ignore-scripts', '--no-audit', '--no-fund']
  const { status } = spawnSync('npm', args, { stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) {
    process.stderr.write(`npm ${args.join(' ')} failed.\n`)
    process.exit(1)
  }
}

/** What others may use of the processor without a word about it. */
const MOST_USED = 0.1

const FOUND = join(BENCH, '.found')
mkdirSync(FOUND, { recursive: true })
const machine = describe()
const say = text => process.stderr.write(`  ${text}\n`)

for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130))

if (!options.report) {
  pinSelf()
  const began = performance.now()
  const parts = []
  for (const name of only) {
    process.stderr.write(`${name} (${Math.round((performance.now() - began) / 1000)} s)\n`)
    const { title, run } = await import(`./subjects/${name}.js`)
    const used = await usedByOthers()
    const part = { title, commit: machine.commit, ...(await run({ quick: options.quick, say })) }
    if (used > MOST_USED) {
      part.notes.push(`Others were using ${Math.round(100 * used)} % of the processor when this began: measure again.`)
    }
    parts.push(part)
    if (!options.quick) writeFileSync(join(FOUND, `${name}.json`), JSON.stringify(part))
  }
  process.stdout.write(plain(parts))
  process.stderr.write(`done in ${Math.round((performance.now() - began) / 1000)} s\n`)
}

if (options.report || (options.only === undefined && !options.quick)) report()

/** Subjects that were not measured since the product changed are named, and left out. */
function report() {
  const parts = []
  const missing = []
  for (const name of SUBJECTS) {
    const file = join(FOUND, `${name}.json`)
    const part = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
    if (part?.commit === machine.commit) parts.push(part)
    else missing.push(name)
  }
  const date = new Date().toISOString().slice(0, 10)
  writeFileSync(join(BENCH, 'RESULTS.md'), markdown(machine, date, parts, missing))
  const plotted = parts.flatMap(part => part.plotted ?? [])
  if (plotted.length > 0) writeFileSync(join(ROOT, 'docs/latency.svg'), latencyPlot(plotted))
}
