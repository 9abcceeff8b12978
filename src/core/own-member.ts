/**
 * Returns the own member of a table with a name from outside, or undefined if there is no such member.
 * Plain indexing would also find what an object inherits, such as `constructor`.
 */
export const ownMember = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined
