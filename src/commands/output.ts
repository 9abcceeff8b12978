import { ownMember } from '../core/own-member.js'
import { escapeControls } from '../core/words.js'

type Row = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Row => Object(value) === value && !Array.isArray(value)
const isTable = (value: unknown): value is Row[] => Array.isArray(value) && value.every(isObject)

/** Returns a value on one line. A list of objects has the first member of each. */
export function toLine(value: unknown): string {
  if (Array.isArray(value)) return value.map(item => toLine(isObject(item) ? Object.values(item)[0] : item)).join(', ')
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? '').replace(/^(\{\}|"")$/, '')
  return escapeControls(text, '')
}

/** Returns the members of an object and of the objects in it, by their paths. Those of `record` have no path. */
const flatten = (row: Row, path = ''): [string, unknown][] =>
  Object.entries(row).flatMap(([name, value]) =>
    isObject(value)
      ? flatten(value, name === 'record' ? '' : `${path}${toLine(name)}.`)
      : [[path + toLine(name), value]],
  )

/** Whether a cell is an object that is too long for a table. */
const isLong = (cell: string) => cell.startsWith('{') && cell.length > 60

/** Returns the lines of a table, without columns that are empty or too long. */
function formatTable(rows: readonly Row[], width?: number): string[] {
  const all = rows.map(({ record, ...row }): Row => ({ ...row, ...Object(record) }))
  const columns = [...new Set(all.flatMap(Object.keys))]
    .map(name => [toLine(name), ...all.map(row => toLine(ownMember(row, name)))])
    .filter(([, ...cells]) => cells.some(cell => cell !== '') && !cells.some(isLong))
    .map(cells => ({ cells, longest: cells.reduce((most, { length }) => Math.max(most, length), 0) }))
  const lines = [0, ...rows].map((_, at) => columns.map(({ cells, longest }) => cells[at]?.padEnd(longest)).join('  '))
  return rows.length === 0 ? ['none'] : lines.map(line => line.trimEnd().slice(0, width))
}

/** Returns a record on one line. */
export const formatRow = (row: object): string => formatTable([{ ...row }])[1] as string

/** Returns the text of an answer: its members, then its lists of objects as tables, cut at the width of a terminal. */
export function format(answer: unknown, width?: number): string {
  const members = flatten({ ...Object(answer) }).filter(([, value]) => value !== null)
  const plain = members.filter(([, value]) => !isTable(value))
  const longest = plain.reduce((most, [name]) => Math.max(most, name.length), 0)
  const pairs = plain.map(([name, value]) => `${name.padEnd(longest)}  ${toLine(value)}`.trimEnd())
  const tables = members.flatMap(([name, value]) =>
    isTable(value) ? [[...(name === 'data' ? [] : [`${name}:`]), ...formatTable(value, width)]] : [],
  )
  return [...(pairs.length === 0 ? [] : [pairs]), ...tables].map(lines => lines.join('\n')).join('\n\n')
}
