/**
 * The building blocks of every schema. A documented constraint is stated here or in one area, once, with the clause
 * that it comes from; all else composes it.
 *
 * `x-fidelity` separates documented parts from those that the sandbox assumes. `x-expected` completes the sentence
 * "must be …" in error messages. `x-format` names a format that is not registered. `x-error-code` names the code of a broken constraint where it is not INVALID_FIELD.
 * A schema with a `title` is a component of the OpenAPI document.
 */
import type { TObject, TProperties, TSchema, TUnsafe } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import type { ErrorCode } from './errors.js'
import { DEFAULT_LIMIT } from './records/list.js'

export type Fidelity = 'documented' | 'assumed'

/** The keywords that restrict the values of a schema. */
export const CONSTRAINTS = [
  'const',
  'default',
  'enum',
  'exclusiveMinimum',
  'format',
  'maxItems',
  'maxLength',
  'maximum',
  'minItems',
  'minLength',
  'minimum',
  'pattern',
  'required',
  'x-format',
] as const
export type Constraint = (typeof CONSTRAINTS)[number]

declare module '@sinclair/typebox' {
  interface SchemaOptions {
    'x-fidelity'?: Fidelity
    'x-fidelity-note'?: string
    /** The constraints that the interface does not state, of a schema that it documents. */
    'x-fidelity-constraints'?: readonly Constraint[]
    'x-expected'?: string
    /** A format of `OWN_FORMATS`. */
    'x-format'?: string
    'x-error-code'?: ErrorCode
  }
}

/**
 * Labels a parameter or property.
 * @param description its meaning, for the OpenAPI document
 * @param note one line on the label, where it is not plain
 */
export type Label = <T extends TSchema>(schema: T, description?: string, note?: string) => T

const label =
  (fidelity: Fidelity): Label =>
  (schema, description, note) => ({
    ...schema,
    ...(description !== undefined && { description }),
    'x-fidelity': fidelity,
    ...(note !== undefined && { 'x-fidelity-note': note }),
  })

/** Labels a parameter or property that the service interface states, with its constraints. */
export const documented: Label = label('documented')

/** Labels a parameter or property that the interface does not document, with its constraints. */
export const assumed: Label = (schema, description, note) => {
  const { 'x-fidelity-constraints': _labels, ...own } = schema
  return label('assumed')(own as typeof schema, description, note)
}

/**
 * Labels constraints that the interface does not state; by default all of a schema, and of the items of an array.
 * The members of an object have labels of their own.
 */
export function assumeConstraints<T extends TSchema>(schema: T, ...keywords: Constraint[]): T {
  const assumed = (keywords.length > 0 ? keywords : CONSTRAINTS).filter(keyword => schema[keyword] !== undefined)
  const names = [...new Set([...(schema['x-fidelity-constraints'] ?? []), ...assumed])]
  return {
    ...schema,
    ...(names.length > 0 && { 'x-fidelity-constraints': names }),
    ...(schema.type === 'array' && keywords.length === 0 && { items: assumeConstraints(schema.items) }),
  }
}

/** Labels a parameter or property that the interface names without its constraints. */
export const named: Label = (schema, description, note) => documented(assumeConstraints(schema), description, note)

/** Adds the example of a parameter or property, for the OpenAPI document. */
export const like = <T extends TSchema>(schema: T, example: unknown): T => ({ ...schema, examples: [example] })

/** Adds the default of a parameter or property. */
export const byDefault = <T extends TSchema>(schema: T, value: unknown): T => ({ ...schema, default: value })

/** A string out of a closed list. */
export const OneOf = <const V extends readonly string[]>(...values: V) =>
  Type.Unsafe<V[number]>({ type: 'string', enum: values, 'x-expected': `one of ${values.join(', ')}` })

/** A string out of a closed list, or null. */
export const orNull = <T extends string>(schema: TUnsafe<T>) =>
  Type.Unsafe<T | null>({ ...schema, type: ['string', 'null'], enum: [...schema.enum, null] })

/** A string of a length between two limits, in characters. */
export const Text = (minLength: number, maxLength: number) =>
  Type.String({ minLength, maxLength, 'x-expected': `a string of ${minLength} to ${maxLength} characters` })

/** A calendar date: interface, Collection request summary. Days that do not exist are refused (assumed). */
export const CalendarDate = Type.String({
  pattern: '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])$',
  format: 'date',
  'x-expected': 'a date of the calendar in the form YYYY-MM-DD',
})

/** A moment: interface, Collection request summary (`initiatedAt`). */
export const Moment = Type.String({
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}Z$',
  format: 'date-time',
  'x-expected': 'a moment in UTC in the form YYYY-MM-DDThh:mm:ssZ',
})

/** A length of time without years and months (ISO 8601). The format `duration` of JSON Schema refuses lower case. */
export const Duration = Type.String({
  'x-format': 'iso-8601-duration',
  maxLength: 32,
  'x-expected': 'an ISO 8601 duration without years and months, such as P3D',
})

/**
 * The parameters of every list: interface, GET /api/v1/direct-debit. On the other lists they are assumed.
 * @param note one line on the label of an assumed list, where it is not plain
 */
export const pageParameters = (label: Label, note?: string) => ({
  cursor: Type.Optional(
    label(
      Type.String({ 'x-expected': 'nextCursor of a previous page' }),
      'The next page: `nextCursor` of the previous one. Omitted for the first page.',
      note,
    ),
  ),
  limit: Type.Optional(
    label(
      Type.Integer({ minimum: 1, maximum: 500, default: DEFAULT_LIMIT, 'x-expected': 'an integer from 1 to 500' }),
      'Records per page.',
      note,
    ),
  ),
})

export const NullableText = Type.Unsafe<string | null>({ type: ['string', 'null'] })

/**
 * The envelope of every list: interface, Collection list envelope. On the other lists it is assumed.
 * @param note one line on the label of an assumed list, where it is not plain
 */
export const ListOf = <T extends TSchema>(title: string, record: T, label: Label, note?: string) =>
  label(
    Type.Object(
      {
        totalCount: label(Type.Integer(), 'Number of records that match the filters, across all pages.', note),
        hasMore: label(Type.Boolean(), 'Whether more pages follow this one.', note),
        // Not required by the interface; the sandbox always has it (assumed, decisions §5).
        nextCursor: Type.Optional(
          label(
            NullableText,
            'The opaque cursor of the next page; null when `hasMore` is false.',
            label === documented
              ? 'The service does not require it. The sandbox always sends it, null on the last page.'
              : note,
          ),
        ),
        data: label(Type.Array(record), 'The records of this page.', note),
      },
      {
        title,
        examples: [{ totalCount: 1, hasMore: false, nextCursor: null, data: record.examples }],
      },
    ),
    'One page of records, newest first.',
  )

/** Names a schema as a component of the OpenAPI document, with an example. */
export const titled = <T extends TSchema>(title: string, schema: T, example?: unknown): T => ({
  ...schema,
  title,
  ...(example !== undefined && { examples: [example] }),
})

/** An object as a component of the OpenAPI document, with an example. */
export const component = <P extends TProperties>(title: string, properties: P, example?: unknown): TObject<P> =>
  titled(title, Type.Object(properties), example)

/** Labels all properties of an object at once. */
export const labelled = <P extends TProperties>(label: Label, properties: P): TObject<P> =>
  Type.Object(
    Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, label(schema)])) as unknown as P,
  )
