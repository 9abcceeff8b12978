/**
 * Returns the index of the first item that meets a condition, or the length of the list if there is none.
 * The list must be sorted so that all items that meet it follow all that do not.
 */
export function firstIndex<T>(items: readonly T[], isMet: (item: T) => boolean): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (isMet(items[middle] as T)) high = middle
    else low = middle + 1
  }
  return low
}
