/** A binary heap: hands out what it holds by ascending number. */
export interface Heap<T> {
  push(key: number, value: T): void
  /** The value with the least number. */
  top(): T | undefined
  /** Takes that value out. */
  pop(): void
}

/** Its keys stand together in memory, while the values lie all over it: a step up or down compares keys alone. */
export function createHeap<T>(): Heap<T> {
  const keys: number[] = []
  const values: T[] = []

  function put(place: number, key: number, value: T) {
    keys[place] = key
    values[place] = value
  }

  return {
    push(key, value) {
      let place = keys.length
      while (place > 0) {
        const parent = (place - 1) >> 1
        const other = keys[parent] as number
        if (other <= key) break
        put(place, other, values[parent] as T)
        place = parent
      }
      put(place, key, value)
    },
    top: () => values[0],
    pop() {
      const key = keys.pop() as number
      const value = values.pop() as T
      const size = keys.length
      if (size === 0) return
      let place = 0
      for (let child = 1; child < size; child = 2 * place + 1) {
        if (child + 1 < size && (keys[child + 1] as number) < (keys[child] as number)) child++
        const other = keys[child] as number
        if (key <= other) break
        put(place, other, values[child] as T)
        place = child
      }
      put(place, key, value)
    },
  }
}
