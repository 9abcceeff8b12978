/** Returns a function that loads something once. After a failure, the next call loads it again. */
export function loadOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined
  return () => {
    loading ??= load().catch(error => {
      loading = undefined
      throw error
    })
    return loading
  }
}
