import type { TObject } from '@sinclair/typebox'

/** The names of the members of a type. The compiler refuses a missing name and one too many. */
export type Names<T> = Readonly<Record<keyof Required<T>, true>>

/**
 * Refuses unknown options, so that a typo is not ignored.
 * @param known the options by name
 * @throws TypeError
 */
export function assertOptions(method: string, given: unknown, known: Readonly<Record<string, unknown>>): void {
  if (given === undefined) return
  if (!isObject(given)) throw new TypeError(`${method}: give the options as an object, not ${quote(given)}.`)
  for (const name of Object.keys(given)) assertKnown(method, name, known)
}

/**
 * Refuses members that a request does not have, at any depth. The API ignores them, with a hint.
 * @param path the place of `given` in the request
 * @throws TypeError
 */
export function assertMembers(method: string, given: unknown, { properties }: TObject, path = ''): void {
  if (!isObject(given)) throw new TypeError(`${method}: give an object, not ${quote(given)}.`)
  for (const [name, value] of Object.entries(given)) {
    assertKnown(method, name, properties, path)
    const member = properties[name] as TObject
    if (member.properties !== undefined && isObject(value)) assertMembers(method, value, member, `${path}${name}.`)
  }
}

function assertKnown(method: string, name: string, known: object, path = ''): void {
  if (Object.hasOwn(known, name)) return
  const names = Object.keys(known).join(', ')
  throw new TypeError(`${method}: unknown option ${quote(`${path}${name}`)}. Known: ${names}.`)
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const quote = (value: unknown): string => JSON.stringify(value) ?? String(value)
