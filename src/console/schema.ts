/** Forms from the schemas of the OpenAPI documents. */
import { hasMembers, memberAt, toLabel } from './format.js'
import type { Option } from './parts.js'
import type { AnyRecord, Found, Kind, Refusal, SentCall, TransitionForm } from './types.js'

export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly description?: string
  readonly enum?: readonly string[]
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly schema: Schema
}

export interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly tags: readonly string[]
  readonly 'x-error-codes': readonly string[]
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[]
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: Schema; readonly example?: AnyRecord }>>
  }
}

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly parameters: Readonly<Record<string, Parameter>>
  }
}

/** The operation of a call, with the schema of its body. */
export interface Described {
  readonly operation: Operation
  readonly path: string
  /** All references are resolved. */
  readonly body: Schema
  readonly regions: readonly string[]
}

/** Finds the operation of a call in a document, or undefined if it has none. */
export function describe(
  document: Document,
  { method, path }: Pick<SentCall, 'method' | 'path'>,
): Described | undefined {
  const target = path.split('?')[0] as string
  const fits = (template: string) => {
    const [parts, segments] = [template.split('/'), target.split('/')]
    return parts.length === segments.length && parts.every((part, at) => part.startsWith('{') || part === segments[at])
  }
  // A path without parameters comes before one that has them.
  const template = Object.keys(document.paths)
    .filter(fits)
    .sort((one, other) => one.split('{').length - other.split('{').length)
    .find(template => document.paths[template]?.[method.toLowerCase()])
  const operation = template && document.paths[template]?.[method.toLowerCase()]
  if (!operation) return undefined
  const schema = operation.requestBody?.content['application/json']?.schema ?? {}
  const parameters = operation.parameters?.map(one =>
    '$ref' in one ? document.components.parameters[one.$ref.split('/').at(-1) ?? ''] : one,
  )
  const region = parameters?.find(one => one?.name === 'x-region')
  return { operation, path: template, body: resolve(document, schema), regions: region?.schema.enum ?? [] }
}

/** Returns a schema with all references resolved. Those of bodies have no circles. */
function resolve(document: Document, schema: Schema): Schema {
  const { $ref, ...own } = schema
  if ($ref !== undefined)
    return { ...resolve(document, document.components.schemas[$ref.split('/').at(-1) as string] ?? {}), ...own }
  const { properties, items } = schema
  return {
    ...schema,
    ...(items && { items: resolve(document, items) }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, member]) => [name, resolve(document, member)]),
      ),
    }),
  }
}

/** A field of a form. */
export interface Field {
  /** The path of its member in the body, such as `debtor.iban`. */
  readonly path: string
  readonly label: string
  readonly hint: string
  readonly schema: Schema
  readonly isOptional: boolean
  readonly input: 'text' | 'date' | 'datetime-local' | 'list'
  readonly value: string
  /** The values to choose from, each with its text. Undefined for any value. */
  readonly options: readonly Option[] | undefined
}

export type Choices = Readonly<Record<string, readonly Option[]>>

const typesOf = ({ type = 'string' }: Schema) => [type].flat() as readonly string[]

/**
 * Lists the fields of a body.
 * @param body the value that the form begins with
 * @param paths the members that have fields, each with all of its own, or undefined if all
 */
export function fieldsOf(
  schema: Schema,
  body: unknown,
  paths?: readonly string[],
  choices: Choices = {},
): readonly Field[] {
  const leaves =
    paths === undefined
      ? leavesOf(schema)
      : paths.flatMap(path => {
          const member = schemaAt(schema, path)
          return member === undefined ? [] : leavesOf(member, path)
        })
  return leaves.map(([path, leaf]) => {
    const value = textOf(memberAt(body, path))
    const known = choices[path] ?? enumOf(leaf)
    const none = ['', leaf.default === undefined ? '–' : `– (${String(leaf.default)})`] as const
    const isMoment = leaf.format === 'date-time'
    const isOptional = !isRequired(schema, path.split('.'))
    return {
      path,
      label: `${toLabel(path)}${isMoment ? ' (UTC)' : ''}${isOptional ? ' (optional)' : ''}`,
      hint: hintOf(leaf),
      schema: leaf,
      isOptional,
      input: isMoment
        ? 'datetime-local'
        : leaf.format === 'date'
          ? 'date'
          : typesOf(leaf).includes('array')
            ? 'list'
            : 'text',
      value: isMoment ? value.replace(/Z$/, '') : value,
      options: known && (value === '' ? [none, ...known] : known),
    }
  })
}

const textOf = (value: unknown) => (Array.isArray(value) ? value.join('\n') : String(value ?? ''))

const enumOf = (schema: Schema) => {
  const values = schema.enum ?? (typesOf(schema)[0] === 'boolean' ? ['true', 'false'] : undefined)
  return values?.map(value => [value, value] as const)
}

/** Returns the schema of a member, or undefined if there is none. */
const schemaAt = (schema: Schema, path: string): Schema | undefined =>
  path.split('.').reduce<Schema | undefined>((at, name) => at?.properties?.[name], schema)

/** Lists the members that are no objects. An optional one with one value only has nothing to fill in. */
const leavesOf = (schema: Schema, path?: string): readonly (readonly [path: string, schema: Schema])[] =>
  schema.properties === undefined || typesOf(schema)[0] === 'integer'
    ? [[path ?? '', schema]]
    : Object.entries(schema.properties)
        .filter(([name, member]) => schema.required?.includes(name) || member.enum?.length !== 1)
        .flatMap(([name, member]) => leavesOf(member, path === undefined ? name : `${path}.${name}`))

const isRequired = (schema: Schema | undefined, [name, ...rest]: readonly string[]): boolean =>
  name === undefined || (schema?.required?.includes(name) === true && isRequired(schema.properties?.[name], rest))

/** The first sentence of a description, and the one on its default. */
const hintOf = ({ description = '' }: Schema) =>
  description
    .split(/(?<=\.)\s/)
    .filter((sentence, at) => at === 0 || sentence.startsWith('Default: '))
    .join(' ')
    .replaceAll('`', '')

/** Whether an error is of a field, or of an item of its list. */
export const isOf = ({ path, input }: Field, { field }: Refusal): boolean =>
  field === path || (input === 'list' && field?.startsWith(`${path}.`) === true)

/**
 * Returns the body that a form sends: the value that it began with, and the texts of its fields. An empty text leaves a member
 * out. A member that accepts null, and had a value, becomes null.
 * @param keepsOmitted whether the call keeps members that are left out: an empty list is then sent
 */
export function bodyOf(
  fields: readonly Field[],
  texts: ReadonlyMap<string, string>,
  body: unknown,
  keepsOmitted = false,
): AnyRecord {
  let result = (body ?? {}) as AnyRecord
  for (const field of fields) {
    const text = texts.get(field.path) ?? field.value
    result = withMember(result, field.path.split('.'), toValue(field, text, memberAt(body, field.path), keepsOmitted))
  }
  return result
}

function toValue({ schema, input }: Field, text: string, before: unknown, keepsOmitted: boolean): unknown {
  const types = typesOf(schema)
  if (input === 'list') {
    const items = text.split(/\s+/).filter(item => item !== '')
    return items.length > 0 || (keepsOmitted && before !== undefined) ? items : undefined
  }
  if (text === '') return types.includes('null') && (keepsOmitted || before === null) ? null : undefined
  if (types.includes('null') && text === 'null') return null
  if ((types.includes('integer') || types.includes('number')) && /^-?\d{1,15}(\.\d{1,15})?$/.test(text))
    return Number(text)
  if (types.includes('boolean') && /^(true|false)$/.test(text)) return text === 'true'
  // The field of a browser for a moment has no zone, and no seconds where they are 0.
  const [, minutes, seconds = ':00'] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d)(:\d\d)?$/.exec(text) ?? []
  // Any other text is sent as it is: the call refuses it.
  return schema.format === 'date-time' && minutes !== undefined ? `${minutes}${seconds}Z` : text
}

/** Sets a member. An object that loses its last member goes. */
function withMember(object: AnyRecord, [name = '', ...rest]: readonly string[], value: unknown): AnyRecord {
  const before = Object.hasOwn(object, name) ? object[name] : undefined
  const after = rest.length === 0 ? value : withMember(Object(before ?? {}) as AnyRecord, rest, value)
  const isEmpty =
    after === undefined || (rest.length > 0 && Object.keys(after as object).length === 0 && before === undefined)
  const { [name]: _, ...others } = object
  if (isEmpty || (rest.length > 0 && Object.keys(after as object).length === 0)) return others
  return Object.hasOwn(object, name) ? { ...object, [name]: after } : { ...others, [name]: after }
}

/** The days from the time of a client to the dates of a new record: open days of a bank are among them, whatever the day is. */
const AHEAD_MS = 14 * 86_400_000
const DATE = /^\d{4}-\d\d-\d\d$/

/**
 * Returns a valid body of a new record: the example of the document, with a new reference, dates ahead of the time of the
 * client, and the newest records that it can name.
 * @param now the time of the client
 * @param number makes the reference new
 */
export function newRecord(
  kind: Kind,
  example: AnyRecord,
  now: string,
  number: number,
  named: readonly Found[],
): AnyRecord {
  const date = new Date(Date.parse(now) + AHEAD_MS).toISOString().slice(0, 10)
  const members = Object.entries(example).map(([name, value]) => {
    const isDate = typeof value === 'string' && DATE.test(value)
    const isOwn = name === kind.reference && typeof value === 'string'
    return [name, isDate ? date : isOwn ? value.replace(/\d*$/, `${number}`) : value]
  })
  const names = kind.names.flatMap(({ member, name, accepts }) => {
    const found = named.find(({ kind, record }) => kind === name && hasMembers(record, accepts))
    return found === undefined ? [] : [[member, found.record[member]]]
  })
  return { ...Object.fromEntries(members), ...Object.fromEntries(names) }
}

/** Returns half of an amount, rounded up to a cent: half of 1190.01 is `595.01`. */
const toHalf = (amount: number): string => (Math.ceil(Math.round(amount * 100) / 2) / 100).toFixed(2)

/** Returns the body of a transition for a record, and the fields of the first form that fits. */
export function formFor(
  record: AnyRecord,
  forms: readonly TransitionForm[],
): { readonly body: AnyRecord; readonly fields: readonly string[] } {
  const { body = {}, from = {}, half = {}, fields = [] } = forms.find(({ when }) => hasMembers(record, when)) ?? {}
  const given = Object.entries(from).filter(([, member]) => record[member] !== undefined)
  const members = given.map(([name, member]) => [name, record[member]])
  const halves = Object.entries(half).map(([name, member]) => [name, toHalf(Number(record[member]))])
  return { body: { ...body, ...Object.fromEntries([...members, ...halves]) }, fields }
}
