/** Returns a function that does some work once at a time. A run that begins after its call serves all that wait for it. */
export function sharedRuns(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  return async () => {
    await running?.catch(() => {})
    running ??= work().finally(() => {
      running = undefined
    })
    await running
  }
}
