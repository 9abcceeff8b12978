import type { TProperties, TSchema } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { byArea } from '../areas/index.js'
import { assumed, component, Moment, NullableText, OneOf } from '../core/schemas.js'
import { toWords } from '../core/words.js'

/** The parts that the schemas of the control plane share. The service documents none of them: all are assumed. */

export const string = (description: string) => assumed(Type.String(), description)
export const integer = (description: string) => assumed(Type.Integer(), description)
export const flag = (description: string) => assumed(Type.Boolean(), description)
/** Any value, which is serialized as it is. */
export const any = <T = unknown>(description: string) => assumed(Type.Unsafe<T>({}), description)
/** A member that can be absent. */
export const optional = <T extends TSchema>(schema: T, description: string) =>
  Type.Optional(assumed(schema, description))
/** A member that can be absent from a request, and then has a default. */
export const withDefault = <T extends TSchema>(member: T, value: string) =>
  optional(member, `${member.description} Default: ${value}.`)
/** An object with some members. */
export const members = <P extends TProperties>(description: string, properties: P) =>
  assumed(Type.Object(properties), description)
export const list = <T extends TSchema>(description: string, item: T) => assumed(Type.Array(item), description)
/** A list of objects with some members. */
export const rows = <P extends TProperties>(description: string, properties: P) =>
  list(description, Type.Object(properties))

/** Which tenant a call acts on. */
export const client = {
  client: Type.Optional(assumed(Type.String(), 'The tenant, by its client id; by default `sandbox-client`.')),
}
export const ClientQuery = Type.Object(client)

export const ClientId = assumed(Type.String(), 'The client id of the tenant.')
export const Now = assumed(Moment, 'The time of the tenant.')

export const Fidelity = assumed(
  OneOf('documented', 'assumed'),
  'documented: the service documents it. assumed: the sandbox assumes it.',
)

export const range = (least: number, most: number) =>
  Type.Integer({ minimum: least, maximum: most, 'x-expected': `an integer from ${least} to ${most}` })
/** The number of an event or request after which a list begins. */
export const After = range(0, 999_999_999_999_999)
/** Far above any count, and below the largest safe integer. */
const MOST = 2 ** 48
export const Count = range(0, MOST)
/** A number in an order, which starts with 1. */
export const Position = range(1, MOST)
/** How often a fault fires or an outcome steers a record. */
export const Times = Type.Unsafe<number | null>({
  type: ['integer', 'null'],
  minimum: 1,
  maximum: 1_000_000,
  'x-expected': 'an integer from 1 to 1000000, or null for no end',
})

/** A list with a limit. */
export const upTo = <T extends TSchema>(most: number, noun: string, item: T) =>
  Type.Array(item, { maxItems: most, 'x-expected': `a list of at most ${most} ${noun}` })

/** The body of a call that takes none. */
export const Nothing = Type.Object({})

export const Cleared = component('RemovedCount', { removed: assumed(Type.Integer(), 'The number of removed items.') })

/** The numbers of records by kind. */
export const Counts = component(
  'RecordCounts',
  byArea(name => assumed(Type.Integer(), `The number of ${toWords(name)}.`)),
)

/** A page of a list without its total. */
export const pageOf = <T extends TSchema, P extends TProperties = Record<never, never>>(
  title: string,
  item: T,
  description: string,
  others?: P,
) =>
  component(title, {
    data: assumed(Type.Array(item), description),
    ...(others as P),
    nextCursor: assumed(NullableText, 'The opaque cursor of the next page, or null if this is the last one.'),
  })
