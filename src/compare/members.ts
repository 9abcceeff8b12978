import type { TObject, TSchema } from '@sinclair/typebox'
import type { ErrorObject } from 'ajv'
import { ownMember } from '../core/own-member.js'
import type { Fidelity } from '../http/schemas.js'
import { failuresOf } from '../http/validation.js'

/** A member of a schema, at any depth. The items of an array have the path of the array. */
export interface Member {
  /** Such as `creditor.bankIdentifier.value`. */
  readonly path: string
  readonly schema: TSchema
  readonly isRequired: boolean
  /** Whether the service documents that the member is required. */
  readonly required: Fidelity
  /** Whether the service documents the values of the member. */
  readonly value: Fidelity
}

/** Lists the members of a schema. */
export function* membersOfSchema(schema: TSchema, prefix = ''): Generator<Member> {
  const { properties = {}, required = [] } = schema as Partial<TObject>
  const isAssumed = schema['x-fidelity-constraints']?.required === 'assumed'
  for (const [name, member] of Object.entries(properties)) {
    const path = `${prefix}${name}`
    const label = member['x-fidelity'] ?? 'assumed'
    yield {
      path,
      schema: member,
      isRequired: required.includes(name),
      required: isAssumed ? 'assumed' : label,
      value: hasAssumedValues(member) ? 'assumed' : label,
    }
    yield* membersOfSchema(member.type === 'array' ? member.items : member, `${path}.`)
  }
}

const hasAssumedValues = (schema: TSchema): boolean =>
  Object.keys(schema['x-fidelity-constraints'] ?? {}).some(name => name !== 'required' && name !== 'default') ||
  (schema.type === 'array' && hasAssumedValues(schema.items))

/** A value that a schema refuses. */
export interface Fault {
  /** Completes "where … is expected". */
  readonly expected: string
  readonly seen: unknown
}

/** What a schema says of a value. */
export interface Examination {
  /** The faults, by the path of the member: ` required` follows it where it is missing, ` date` where no calendar has it. */
  readonly faults: ReadonlyMap<string, Fault>
  /** The paths of the members that the value has. */
  readonly given: ReadonlySet<string>
  /** The paths of the members that the schema does not name. */
  readonly others: ReadonlySet<string>
}

/** The key of the fault of a body that has none of the members of which one is required. */
export const ANY = 'at least one member'

export const NOTHING: Examination = { faults: new Map(), given: new Set(), others: new Set() }

/** Examines a value. */
export function examine(schema: TSchema, value: unknown): Examination {
  const given = new Set<string>()
  const others = new Set<string>()
  collect(schema, value, '', given, others)
  const faults = new Map<string, Fault>()
  for (const failure of failuresOf(schema, value)) {
    const [key, fault] = faultOf(failure)
    // The first failure of a member decides: a text of the wrong form is no date either.
    if (!faults.has(key) && !faults.has(key.replace(/ date$/, ''))) faults.set(key, fault)
  }
  return { faults, given, others }
}

function collect(schema: TSchema, value: unknown, prefix: string, given: Set<string>, others: Set<string>): void {
  if (Array.isArray(value)) {
    if (schema.items !== undefined) for (const item of value) collect(schema.items, item, prefix, given, others)
    return
  }
  if (value === null || typeof value !== 'object' || schema.properties === undefined) return
  for (const [name, member] of Object.entries(value)) {
    const path = `${prefix}${name}`
    const property: TSchema | undefined = ownMember(schema.properties, name)
    if (property === undefined) others.add(path)
    else {
      given.add(path)
      collect(property, member, `${path}.`, given, others)
    }
  }
}

function faultOf({ keyword, instancePath, params, parentSchema, schemaPath, data }: ErrorObject): [string, Fault] {
  const path = instancePath
    .split('/')
    .slice(1)
    .filter(name => !/^\d+$/.test(name))
  const { 'x-expected': expected, type } = parentSchema as TSchema
  if (schemaPath.startsWith('#/anyOf')) return [ANY, { expected: ANY, seen: undefined }]
  if (keyword === 'required') {
    return [`${[...path, params.missingProperty].join('.')} required`, { expected: 'a value', seen: undefined }]
  }
  const key = path.join('.')
  return [
    keyword === 'format' && parentSchema?.format === 'date' ? `${key} date` : key,
    { expected: expected ?? `a value of type ${[type].flat().join(' or ')}`, seen: data },
  ]
}
