import type { ApiError } from '../../core/errors.js'
import { atPath, errors } from '../../core/errors.js'
import type { TenantContext } from '../../core/tenant-context.js'

/** A limit, because every request or record is compared with all that is armed. */
const MOST = 1000

interface Rules<T> {
  /** Its name in ids, in messages and, in the plural, in paths. */
  readonly name: string
  /** Checks an item of a restored state. @throws ApiError */
  readonly assertValid: (item: T) => void
  readonly notFound: (id: string) => ApiError
}

/**
 * Creates the list of the armed faults or outcomes of one tenant, in the order of arming.
 * @param earlier the items of a restored state
 * @throws DUPLICATE_REFERENCE (an id is there twice), and the errors of `assertValid`
 */
export function createArmedList<T extends { readonly id: string }>(
  { ids }: Pick<TenantContext, 'ids'>,
  { name, assertValid, notFound }: Rules<T>,
  earlier: readonly T[],
) {
  for (const [at, item] of earlier.entries()) {
    atPath(`${name}s.${at}`, () => {
      assertValid(item)
      if (earlier.findIndex(({ id }) => id === item.id) < at) throw errors.duplicateReference('id', item.id)
    })
  }
  let items = earlier
  const has = (id: string) => items.some(item => item.id === id)

  return {
    /** Refuses one more than the limit. @throws INVALID_FIELD */
    assertFree(): void {
      if (items.length < MOST) return
      throw errors.invalid(null, `There are ${MOST} ${name}s: remove some with DELETE /_sandbox/${name}s.`)
    },
    /** Returns an unused id. A restored state can hold any ids. */
    nextId(): string {
      const id = `${name}-${ids.count(`${name} id`)}`
      return has(id) ? this.nextId() : id
    },
    list: (): readonly T[] => items,
    /** Whether nothing is armed. */
    isEmpty: (): boolean => items.length === 0,
    /** Replaces all items, without checks. */
    restore(replacement: readonly T[]): void {
      items = replacement
    },
    /** @throws FAULT_NOT_FOUND or OUTCOME_NOT_FOUND */
    remove(id: string): void {
      if (!has(id)) throw notFound(id)
      items = items.filter(item => item.id !== id)
    },
    clear(): void {
      items = []
    },
  }
}
