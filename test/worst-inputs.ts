import type { Json, Operation } from './docs/contract.js'
import { exampleRequest, resolve } from './docs/contract.js'
import type { Place } from './docs/schema-values.js'
import { placesOf, replaceAt } from './docs/schema-values.js'
import { MULTIPART, multipart } from './multipart.js'

/** A request that needs as much work as its size allows. */
export interface WorstInput {
  readonly name: string
  /** Its text is made on demand: that of all inputs takes longer than to send some of them. */
  make(): {
    readonly method: string
    readonly url: string
    readonly headers: Readonly<Record<string, string>>
    readonly body?: string | Buffer
  }
}

type Texts = Readonly<Record<string, () => string>>

/** The sizes of inputs, in bytes. */
export interface Sizes {
  readonly target: number
  readonly body: number
}

const FORM = 'application/x-www-form-urlencoded'

/** Repeats a part with its number, up to a size. */
function fill(size: number, part: (n: number) => string, separator: string): string {
  const parts: string[] = []
  for (let length = 0; length < size; length += (parts.at(-1) as string).length + separator.length) {
    parts.push(part(parts.length))
  }
  return parts.slice(0, -1).join(separator)
}

/** Values that can be anywhere, as JSON: deepest, longest, largest, most items, most names. */
const anywhere = (size: number): Texts => ({
  'nested lists': () => '['.repeat(size / 2) + ']'.repeat(size / 2),
  'nested objects': () => `${'{"a":'.repeat(size / 6)}1${'}'.repeat(size / 6)}`,
  'a long text': () => JSON.stringify('x'.repeat(size)),
  'a text of escapes': () => `"${'\\u0001'.repeat(size / 6)}"`,
  'a long number': () => '1'.repeat(size),
  'many numbers': () => `[${fill(size, () => '1', ',')}]`,
  'many objects': () => `[${fill(size, () => '{}', ',')}]`,
  'many names': () => `{${names(size)}}`,
})
/** Many members, as JSON. */
export const names = (size: number, value = 1): string => fill(size, n => `"n${n.toString(36)}":${value}`, ',')
const escapedNames = (size: number) => fill(size, n => `"\\u006e${n.toString(36)}":1`, ',')

/** Values of the type of a place, as JSON. */
function atPlace({ schema }: Place, example: unknown, size: number): Texts {
  const members = (more: string) => {
    const own = JSON.stringify(example ?? {}).slice(1, -1)
    return `{${[own, more].filter(Boolean).join()}}`
  }
  const [first = {}] = [example ?? schema.examples?.[0] ?? []].flat()
  const text: string = schema.examples?.[0] ?? 'é'
  const types = [schema.type].flat()
  return {
    ...((types.includes('object') || schema.properties) && {
      'many names': () => members(names(size)),
      'many escaped names': () => members(escapedNames(size)),
      'one name again and again': () => members(fill(size, () => '"n":1', ',')),
    }),
    ...(types.includes('array') && {
      'many numbers': () => `[${fill(size, () => '1', ',')}]`,
      'many items': () => `[${fill(size, () => JSON.stringify(first), ',')}]`,
    }),
    ...(types.includes('string') && { 'a long text': () => JSON.stringify(text.repeat(size / text.length)) }),
    ...(types.some(type => type === 'integer' || type === 'number') && { 'a long number': () => '9'.repeat(size) }),
  }
}

const MARK = '@place@'
/** Writes a document with a JSON text at a place. */
const write = (document: Json, path: Place['path'], json: string) =>
  JSON.stringify(replaceAt(document, path, MARK)).replace(`"${MARK}"`, () => json)

function bodiesOf({ document, operation }: Operation, example: Json, size: number): Texts {
  const [media] = Object.values<Json>(operation.requestBody.content)
  const at = (path: Place['path'], texts: Texts) =>
    Object.entries(texts).map(([what, json]) => [`${what} at ${path.join('.')}`, () => write(example, path, json())])
  const own = (path: Place['path']) => path.reduce((value, name) => value?.[name], example)
  const places = placesOf(document, media.schema)
  return Object.fromEntries([
    ...at(['x'], anywhere(size)),
    ...places.flatMap(place => at(place.path, atPlace(place, own(place.path), size))),
  ])
}

function formsOf(example: Json, size: number): Texts {
  const given = new URLSearchParams(example)
  const long = (name: string) => new URLSearchParams({ ...example, [name]: 'x'.repeat(size) }).toString()
  return {
    'many fields': () => `${given}&${fill(size, n => n.toString(36), '&')}`,
    'one field again and again': () => `${given}&${fill(size, () => 'a', '&')}`,
    'a field of escapes': () => `${given}&a=${'%ff'.repeat(size / 3)}`,
    ...Object.fromEntries(Object.keys(example).map(name => [`a long ${name}`, () => long(name)])),
  }
}

/** Queries in which a parameter is long, repeated, or there are many of them. */
function queriesOf({ document, operation }: Operation, size: number): Texts {
  const parameters: Json[] = (operation.parameters ?? []).filter((parameter: Json) => parameter.in === 'query')
  const ofParameters = parameters.flatMap(({ name, schema, example = '1' }): [string, () => string][] => {
    const room = size - name.length
    const isList = resolve(document, schema).type === 'array'
    return [
      [`${name} again and again`, () => fill(size, () => `${name}=${encodeURIComponent(example)}`, '&')],
      [`a long ${name}`, () => `${name}=${'x'.repeat(room)}`],
      [`${name} of stars`, () => `${name}=${'*a'.repeat(room / 2)}`],
      [`${name} of digits`, () => `${name}=${'9'.repeat(room)}`],
      ...(isList
        ? ([
            [`${name} as a list`, () => `${name}=${fill(room, n => `${example}${n}`, ',')}`],
            [`${name} with places`, () => fill(size, n => `${name}[${n}]=${example}`, '&')],
          ] as [string, () => string][])
        : []),
    ]
  })
  return {
    'many unknown parameters': () => fill(size, n => n.toString(36), '&'),
    'one unknown parameter again and again': () => fill(size, () => 'a', '&'),
    ...Object.fromEntries(ofParameters),
  }
}

/** Lists the inputs of an operation that need the most work: at each parameter, and at each place of its body. */
export function worstInputs(operation: Operation, sizes: Sizes): WorstInput[] {
  const { method, path, id } = operation
  const { url, query, headers: given, body: example, mediaType } = exampleRequest(operation)
  const headers = { ...given, ...(mediaType && { 'content-type': mediaType }) }
  const isJson = mediaType === 'application/json'
  const isForm = mediaType === FORM
  const own = isJson ? JSON.stringify(example ?? {}) : isForm ? new URLSearchParams(example).toString() : undefined
  const room = sizes.target - url.length
  const inputs: WorstInput[] = []
  const add = (what: string, change: () => { url?: string; headers?: object; body?: string | Buffer }) =>
    inputs.push({
      name: `${id}: ${what}`,
      make() {
        const { url: target = query === '' ? url : `${url}?${query}`, headers: more, body = own } = change()
        return { method, url: target, headers: { ...headers, ...more }, ...(body !== undefined && { body }) }
      },
    })

  for (const [what, text] of Object.entries(queriesOf(operation, room))) add(what, () => ({ url: `${url}?${text()}` }))
  for (const { in: place, name } of operation.operation.parameters ?? []) {
    const filled = (text: string) => ({ url: path.replace(`{${name}}`, text).replaceAll(/\{\w+\}/g, 'x') })
    if (place === 'header') add(`a long ${name}`, () => ({ headers: { [name]: 'x'.repeat(room) } }))
    if (place !== 'path') continue
    add(`a long ${name}`, () => filled('x'.repeat(room)))
    add(`${name} of escapes`, () => filled('%2a'.repeat(room / 3)))
  }
  const bodies = isJson ? bodiesOf(operation, example ?? {}, sizes.body) : isForm ? formsOf(example, sizes.body) : {}
  for (const [what, text] of Object.entries(bodies)) add(what, () => ({ body: text() }))
  if (mediaType === 'multipart/form-data') {
    const content = () => Buffer.alloc(sizes.body, '%PDF-1.7\r\n--')
    const fileName = 'x'.repeat(1000)
    add('a long file', () => ({ body: multipart({ fileName, content: content() }), headers: MULTIPART }))
  }
  return inputs
}
