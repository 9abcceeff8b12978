// Writes docs/control-plane-reference.md from the OpenAPI document of the control plane and the scenarios of the package.
// Usage: npm run openapi. `node scripts/reference.js FILE` writes another file.
// test/docs/control-plane-docs.test.ts fails while the page differs.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { parse } from 'yaml'

const read = path => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
const document = JSON.parse(read('openapi/control-plane.json'))

/** Returns the schema that a reference names, with the members beside the reference. */
function resolve({ $ref, ...own }) {
  if ($ref === undefined) return own
  return { ...document.components.schemas[$ref.split('/').at(-1)], ...own }
}

const schemaOf = ({ content }) => resolve(Object.values(content)[0].schema)

/** Lists the members of an object, down to a depth. */
function membersOf(schema, depth, margin = '') {
  const { properties = {}, required = [], items } = resolve(schema)
  if (items !== undefined) return membersOf(items, depth, margin)
  return Object.entries(properties).flatMap(([name, reference]) => [
    `${margin}- ${lineOf(name, required.includes(name), resolve(reference))}`,
    ...(depth > 1 ? membersOf(reference, depth - 1, `${margin}  `) : []),
  ])
}

const lineOf = (name, isRequired, { description = '' }) => `\`${name}\`${isRequired ? '*' : ''}: ${description}`.trim()

const section = (title, lines) => (lines.length > 0 ? [`${title}:`, lines.join('\n')] : [])

/** Describes a call. Each call but a few takes `client`, which the head of the page describes. */
function entryOf(method, path, operation) {
  const parameters = operation.parameters.filter(({ name }) => name !== 'client')
  const [, answer] = Object.entries(operation.responses).find(([status]) => status.startsWith('2'))
  return [
    `### \`${method.toUpperCase()} ${path}\``,
    `${operation.summary}. Command: \`${operation['x-command']}\``,
    operation.description,
    ...section(
      'Parameters',
      parameters.map(parameter => `- ${lineOf(parameter.name, parameter.required, parameter)}`),
    ),
    ...section('Body', operation.requestBody ? membersOf(schemaOf(operation.requestBody), 3) : []),
    ...section('Answer', answer.content ? membersOf(schemaOf(answer), 1) : []),
  ]
}

/** Lists the calls of each tag below a heading. */
const calls = document.tags.flatMap(({ name }) => {
  const entries = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, { tags }]) => tags[0] === name)
      .flatMap(([method, operation]) => entryOf(method, path, operation)),
  )
  return entries.length > 0 ? [`## ${name}`, ...entries] : []
})

const files = Object.fromEntries(
  readdirSync(new URL('../fixtures/scenarios/', import.meta.url)).map(file => [
    file.replace('.yaml', ''),
    parse(read(`fixtures/scenarios/${file}`)),
  ]),
)
/** Returns the parameters of a scenario, and of the one that it continues. */
const parametersOf = ({ after, parameters = {} }) => [
  ...new Set([...(after === undefined ? [] : parametersOf(files[after])), ...Object.keys(parameters)]),
]
const scenarios = Object.entries(files).map(
  ([name, scenario]) =>
    `| \`${name}\` | ${scenario.summary} | ${parametersOf(scenario)
      .map(parameter => `\`${parameter}\``)
      .join(', ')} |`,
)

const page = [
  '# Control plane, call by call',
  '*Which calls does the control plane have, and what does each take and answer?*',
  'This page is made from [the OpenAPI document](../openapi/control-plane.json). The parameter `client` of a call is the client id ' +
    'that it acts on, by default `sandbox-client`. `*` marks a required member. [By task](control-plane.md) shows the calls in use, ' +
    'and [the rules](decisions.md#12-the-control-plane) hold for all of them.',
  '## Scenarios of the package',
  ['| scenario | what it does | parameters |', '|---|---|---|', ...scenarios].join('\n'),
  ...calls,
  '**Next:** the calls [by task](control-plane.md), or as [commands](commands.md).',
]
writeFileSync(
  process.argv[2] ?? new URL('../docs/control-plane-reference.md', import.meta.url),
  `${page.filter(Boolean).join('\n\n')}\n`,
)
