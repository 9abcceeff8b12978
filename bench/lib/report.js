import { CONNECTIONS } from './load.js'
import { times } from './rows.js'

/** The goals in their order, as they were set. `reached` of a goal is that of all its rows. */
export const GOALS = [
  ['get', 'GET one collection, against bare `node:http` sending the same bytes'],
  ['list', 'GET list of 100 out of 100,000, against bare `node:http` sending the same bytes'],
  ['create', 'POST a collection, against bare Fastify parsing and echoing the same JSON'],
  ['token', 'token, against bare Fastify with formbody'],
  ['peers', 'the same operations, against Prism and Mockoon'],
  ['scale', 'list at 1,000,000 collections against 1,000: pages and single filters'],
  ['combination', 'worst combinations at 1,000,000, against SQLite in memory'],
  ['sqlite', 'every other query at 1,000,000, against SQLite in memory'],
  ['memory', 'memory per stored collection'],
  ['start', 'ready after start, against a bare `node:http` server'],
  ['idle', 'idle resident memory, against bare Fastify'],
  ['advance', 'advancing a month over 10,000 open collections'],
  ['linear', 'advancing: time per transition at 40,000 against 10,000'],
  ['soak', '1,000,000 mixed requests: resident memory after the first tenth'],
  ['errors', '1,000,000 mixed requests: answers of 5xx'],
]

const cell = text => String(text).replaceAll('|', '\\|')
const table = (head, rows) =>
  [head, head.map(() => '---'), ...rows].map(cells => `| ${cells.map(cell).join(' | ')} |`).join('\n')

const spreadOf = ({ spread }) => (spread === undefined ? '' : `${times(spread[0])} to ${times(spread[1])}`)
const verdict = goal => (goal === undefined ? '' : goal.reached ? 'reached' : '**missed**')

const HEAD = ['operation', 'against', 'ours', 'theirs', 'ratio', 'spread', 'ratio by CPU time', 'goal', '']
const cellsOf = row => [
  row.operation,
  row.peer,
  row.ours,
  row.theirs,
  times(row.ratio),
  spreadOf(row),
  times(row.cpuRatio),
  row.goal?.text ?? '',
  verdict(row.goal),
]

/** Of a goal with several rows, what they reach from the worst to the best. */
function summaryOf(id, rows) {
  const mine = rows.filter(({ goal }) => goal?.id === id)
  if (mine.length === 0) return undefined
  const reached = mine.filter(({ goal }) => goal.reached).length
  const measured = mine.map(row => row.ratio).filter(ratio => ratio !== undefined)
  const figures =
    measured.length === 0
      ? mine.map(row => row.ours).join(', ')
      : [...new Set([Math.min(...measured), Math.max(...measured)].map(times))].join(' to ')
  return [
    mine[0].goal.text,
    figures,
    reached === mine.length
      ? 'reached'
      : mine.length === 1
        ? '**missed**'
        : `**missed** by ${mine.length - reached} of ${mine.length}`,
  ]
}

/**
 * All results as Markdown.
 * @param {string} date YYYY-MM-DD
 * @param {readonly string[]} missing subjects that were not measured
 * @param {object} machine as `describe()` gives it
 * @param {readonly { title: string, rows: import('./rows.js').Row[], notes: string[] }[]} parts
 */
export function markdown(machine, date, parts, missing) {
  const rows = parts.flatMap(part => part.rows)
  const goals = GOALS.flatMap(([id, text]) => {
    const summary = summaryOf(id, rows)
    return summary === undefined ? [] : [[text, ...summary]]
  })
  return `# Results

Made by \`npm run bench\`; [bench/README.md](README.md) says what is measured and how. Ratios count, not the figures
beside them: both sides of a ratio were taken in the same run, in turns. It is the median of the rounds, and the spread runs
from the lowest round to the highest.

${table(
  ['', ''],
  [
    ['processor', `${machine.processor}, ${machine.cores} cores`],
    ['memory', machine.memory],
    ['system', machine.system],
    ['Node', machine.node],
    ['commit', machine.commit],
    ['date', date],
    ['load', `${machine.load}, ${CONNECTIONS} connections kept alive, on loopback`],
    ['pinning', machine.pinning],
  ],
)}

## Goals

${table(['', 'goal', 'measured', ''], goals)}${missing.length === 0 ? '' : `\n\nNot measured at this commit: ${missing.join(', ')}.`}

${parts.map(({ title, rows, notes }) => `## ${title}\n\n${table(HEAD, rows.map(cellsOf))}${notes.map(note => `\n\n${note}`).join('')}`).join('\n\n')}
`
}

/** The same as a table for the terminal. */
export function plain(parts) {
  const lines = []
  for (const { title, rows, notes } of parts) {
    const cells = [HEAD, ...rows.map(cellsOf)].map(line => line.map(text => String(text).replaceAll('*', '')))
    const widths = HEAD.map((_, at) => Math.max(...cells.map(line => line[at].length)))
    const left = new Set([0, 1, 8])
    lines.push('', title, '')
    for (const line of cells) {
      lines.push(
        line
          .map((text, at) => (left.has(at) ? text.padEnd(widths[at]) : text.padStart(widths[at])))
          .join('  ')
          .trimEnd(),
      )
    }
    for (const note of notes) lines.push('', note)
  }
  return `${lines.join('\n')}\n`
}
