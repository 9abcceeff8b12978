/** The answers of a pure function, so many at most: when there are more, all are forgotten, which costs one more round. */
const MOST = 4096

/**
 * A pure function that remembers its answers. For what depends on a date alone: a world has a few hundred dates, and a
 * calculation with business days takes a hundred times as long as to look its answer up.
 */
export function memoized<K extends string | number, V>(of: (key: K) => V): (key: K) => V {
  const known = new Map<K, V>()
  return key => {
    const found = known.get(key)
    if (found !== undefined) return found
    if (known.size === MOST) known.clear()
    const made = of(key)
    known.set(key, made)
    return made
  }
}

/** A pure function that remembers its latest answer: the time of a tenant stays the same for many requests. */
export function latest<K extends string | number, V>(of: (key: K) => V): (key: K) => V {
  let known: { readonly key: K; readonly value: V } | undefined
  return key => {
    if (known?.key !== key) known = { key, value: of(key) }
    return known.value
  }
}
