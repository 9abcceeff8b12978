import { readFileSync } from 'node:fs'
import type { TObject, TSchema } from '@sinclair/typebox'
import t from 'tap'
import { NewBill } from '../../src/areas/bills/schemas.js'
import { updates } from '../../src/areas/counterparties/schemas.js'
import { collectionLifecycle } from '../../src/areas/direct-debit/lifecycle.js'
import { phases, reasonCodes } from '../../src/areas/direct-debit/reason-codes.js'
import { NewCollection } from '../../src/areas/direct-debit/schemas.js'
import type { Area } from '../../src/areas/index.js'
import { areas } from '../../src/areas/index.js'
import { NewMandate } from '../../src/areas/mandates/schemas.js'
import { PAYOUT_METHODS } from '../../src/areas/payout-links/claim-rules.js'
import { Claim, NewPayoutLink } from '../../src/areas/payout-links/schemas.js'
import { toWords } from '../../src/core/words.js'
import { Event } from '../../src/sandbox/events/schemas.js'
import { EFFECT_KINDS } from '../../src/sandbox/faults/schemas.js'
import { API } from '../../src/sandbox/scenarios/calls.js'
import type { Json, Operation } from './contract.js'
import { operationsOf } from './contract.js'

// CONTRIBUTING: the lists that documents have of areas, members, states and verbs are those of the code.

const decisions = readFileSync('docs/decisions.md', 'utf8')
const fixtures = readFileSync('docs/fixtures.md', 'utf8')

/** Returns the text between two texts of a document. */
function between(text: string, start: string, end: string): string {
  const [, after] = text.split(start, 2)
  if (after === undefined || !after.includes(end)) throw new Error(`the document has no ${start} … ${end}`)
  return after.slice(0, after.indexOf(end))
}
const section = (number: number) => between(`${decisions}\n## `, `\n## ${number}. `, '\n## ')
/** The cells of the rows of a table after its head. */
const rows = (table: string) =>
  [...table.matchAll(/^\| (.*) \|$/gm)].map(([, row = '']) => row.split(/ \|(?: |$)/).map(cell => cell.trim()))
const quoted = (text: string) => [...text.matchAll(/`(\w+)`/g)].map(([, name]) => name as string)
const words = (text: string) => text.split(/, | or | and /)
const sorted = (names: Iterable<string>) => [...new Set(names)].sort()

const all = Object.entries<Area>(areas)
const stateful = all.flatMap(([name, { path, section, lifecycle }]) =>
  lifecycle ? [{ name, path, section, ...lifecycle }] : [],
)

/** Whether a schema has a member at a path. */
const hasMember = (schema: TSchema, path: string) =>
  path.split('.').reduce<TSchema | undefined>((at, name) => at?.properties?.[name], schema) !== undefined

t.test('console, Pages: the columns of each kind are members of its records', async t => {
  for (const [name, { columns, record }] of all)
    for (const column of columns) t.ok(column === 'region' || hasMember(record, column), `${name} ${column}`)
})

t.test('CONTRIBUTING, A new area: the guide has the page and the methods of each kind', async t => {
  const [pages = []] = rows(readFileSync('docs/console.md', 'utf8')).filter(([names]) =>
    names?.startsWith('Collections, '),
  )
  t.same(
    sorted(words((pages[1] ?? '').replaceAll('`', ''))),
    sorted(all.map(([name]) => `/${toWords(name).replace(' ', '-')}`)),
  )
  const methods = rows(readFileSync('docs/library.md', 'utf8')).flatMap(([names = '']) => quoted(names))
  for (const [name] of all) t.ok(methods.includes(name), name)
})

t.test(
  'decisions §1, §4, §5: regions, filters, Location and the table of operations are those of the interface',
  async t => {
    const service = operationsOf(JSON.parse(readFileSync('openapi/payments-service.json', 'utf8'))).filter(
      ({ path }) => path.startsWith('/api/v1/') && !path.endsWith('/token'),
    )
    const parametersOf = ({ operation }: Operation, place: string) =>
      (operation.parameters ?? []).filter((one: Json) => one.in === place)
    const regionsOf = (one: Operation): string[] => parametersOf(one, 'header')[0].schema.enum
    const areaOf = ({ path }: Operation) => path.split('/')[3] as string

    const listed = rows(readFileSync('docs/operations.md', 'utf8')).flatMap(([operations = '', regions = '']) =>
      operations.split(', ').flatMap(group => {
        const names = [...group.matchAll(/[^` ]+/g)].map(([name]) => name)
        return names.slice(0, -1).map(method => `${method} ${names.at(-1)} ${regions}`)
      }),
    )
    t.same(
      sorted(listed.filter(row => row.includes(' /api/v1/') && !row.includes('/token'))),
      sorted(service.map(one => `${one.method} ${one.path} ${regionsOf(one).join(' ')}`)),
    )
    const regions = rows(between(section(4), '`x-region` |', '\n\n'))
    t.same(
      sorted(regions.flatMap(([paths = '', names]) => words(paths).map(path => `${path}: ${names}`))),
      sorted(service.map(one => `${areaOf(one)}: ${regionsOf(one).join(', ')}`)),
    )
    const filters = new Map(rows(section(5)).map(([list, names = '']) => [list, names]))
    for (const one of service.filter(({ id }) => id.startsWith('list'))) {
      const names = parametersOf(one, 'query').map(({ name }: Json) => name)
      const own = names.filter((name: string) => !['limit', 'cursor'].includes(name))
      const stated = filters.get(`GET ${one.path}`)
      t.ok(stated === 'As documented' || sorted(quoted(stated ?? '')).join() === sorted(own).join(), one.path)
    }
    const created = between(section(1), 'Sends `Location` with the 201 of ', ':')
    const located = service.filter(({ operation }) => operation.responses[201]?.headers?.Location).map(areaOf)
    t.same(sorted(words(created)), sorted(all.flatMap(([name, { path }]) => (located.includes(path) ? [name] : []))))
  },
)

t.test('decisions §12: kinds, causes and faults are those of the schemas', async t => {
  const events = between(section(12), '**Events** are', '\n\n').replaceAll('\n', ' ')
  const { kind, cause } = Event.properties
  t.same(words(between(events, '`kind` is ', ';')), kind.enum)
  t.same(words(between(events, '`cause` is ', '.')), cause.enum)
  const faults = between(section(12), '| effect | answer to the client |', '\n\n')
  t.same(
    [...faults.matchAll(/kind: "([\w-]+)"/g)]
      .map(([, kind]) => kind)
      .filter((kind, at, kinds) => kinds.indexOf(kind) === at),
    EFFECT_KINDS,
  )
})

t.test('decisions §12: an outcome is armed by the fields of each kind', async t => {
  const text = between(section(12), '`match` compares fields', 'Without `match`').replaceAll('\n', ' ')
  const documented = text.split('. ').slice(1, -1).map(quoted)
  t.same(
    documented,
    all.flatMap(([, { outcomes }]) => (outcomes ? [outcomes.fields] : [])),
  )
})

t.test('fixtures, Scenarios of your own: the calls of the API are those of the steps', async t => {
  t.same(sorted(quoted(between(fixtures, 'Calls of the API: ', '. Calls'))), sorted(Object.keys(API)))
})

t.test('fixtures, Fixtures: the kinds of records are those of the areas', async t => {
  t.same(quoted(between(fixtures, 'A fixture is a JSON object of arrays:', '\n')), Object.keys(areas))
})

t.test('decisions §6: the transitions and reason codes of collections are those of the lifecycle', async t => {
  const documented: Record<string, string[]> = {}
  for (const [move = '', when = ''] of rows(between(section(6), '| From → to |', '\n\n'))) {
    const codes = [...when.matchAll(/\b([A-Z]{2})(\d\d)(?:-[A-Z]{2}(\d\d))?\b|\b[CD]NOR\b/g)].flatMap(
      ([text, prefix, first, last = first]) =>
        prefix === undefined
          ? [text]
          : Array.from({ length: Number(last) - Number(first) + 1 }, (_, at) => `${prefix}0${Number(first) + at}`),
    )
    documented[move] = [...(documented[move] ?? []), ...codes].sort()
  }
  const moves = Object.entries(collectionLifecycle).flatMap(([from, verbs]) =>
    Object.entries(verbs).map(([verb, to]) => {
      const codes = reasonCodes.filter(reason =>
        reason.phases.some(phase => phases[phase].from === from && phases[phase].transition === verb),
      )
      return [`${from} → ${to}`, codes.map(({ code }) => code).sort()] as const
    }),
  )
  const { '→ PENDING': creation, ...others } = documented
  t.same(creation, [])
  t.same(others, Object.fromEntries(moves))
})

t.test('decisions §6 to §9: every state of a kind is named in its section', async t => {
  for (const { name, section: number, states } of stateful) {
    const text = section(number)
    const wrong = states.filter(state => !new RegExp(`\\b${state}\\b`).test(text))
    t.same(wrong, [], name)
  }
  t.same(between(section(7), 'States: ', '.').split(', '), areas.mandates.lifecycle.states)
})

t.test('decisions §6 to §10: the members of each request are those of its schema', async t => {
  const documented = (table: string) =>
    rows(table)
      .map(([member = '']) => member.replaceAll('`', ''))
      .filter(member => !member.includes('.'))
  const schema = ({ properties, required = [] }: Pick<TObject, 'properties' | 'required'>) =>
    Object.keys(properties).map(name => (required.includes(name) ? `${name}*` : name))
  const tables = (number: number) =>
    section(number)
      .split('| Member | Rule |\n')
      .slice(1)
      .map(table => documented(table.slice(0, table.indexOf('\n\n'))))
  const expected: Record<number, string[][]> = {
    6: [schema(NewCollection)],
    7: [schema(NewMandate)],
    8: [schema(NewPayoutLink), schema(Claim)],
    9: [schema(NewBill)],
    10: [Object.keys(updates)],
  }
  for (const [number, members] of Object.entries(expected)) {
    const found = tables(Number(number)).map(names => [...names].sort())
    t.same(
      found,
      members.map(names => [...names].sort()),
      `§${number}`,
    )
  }
})

t.test('decisions §8: the payout methods are those of the code', async t => {
  const methods = rows(between(section(8), '| Method | Region', '\n\n'))
  const found = methods.map(([method]) => method)
  t.same(found, PAYOUT_METHODS)
})
