/**
 * Work that can be done in slices: it yields where other work may come in between. It is synchronous within a slice.
 * Its caller decides how much of it is done at a time.
 */
export type Slices<T = void> = Generator<void, T>

/** Does all of the work at once. */
export function atOnce<T>(work: Slices<T>): T {
  let step = work.next()
  while (!step.done) step = work.next()
  return step.value
}

/** Maps a list. Other work may come in between its items. */
export function* mapInSlices<T, U>(items: readonly T[], map: (item: T, index: number) => U): Slices<U[]> {
  const results: U[] = []
  for (const [index, item] of items.entries()) {
    results.push(map(item, index))
    yield
  }
  return results
}

/** Whether a result is work that is still to be done in slices. */
export const isSlices = <T>(result: T | Slices<T>): result is Slices<T> =>
  Object.prototype.toString.call(result) === '[object Generator]'

/** Returns work as slices, whether it has some or is done already. */
export function* toSlices<T>(result: T | Slices<T>): Slices<T> {
  return isSlices(result) ? yield* result : result
}
