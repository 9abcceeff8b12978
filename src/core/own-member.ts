/**
 * Returns a member of a table by a name from outside; undefined: the table has none.
 * Plain indexing would also find what an object inherits, such as `constructor`.
 */
export const ownMember = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined
