/** A call that waits for news of a client. */
export interface Wait {
  readonly client: string
  /** Looks whether there are news. */
  look(): void
  /** Brings the tenant up to date, then looks. */
  lookAgain(): void
}

export type EventWaiters = ReturnType<typeof createEventWaiters>

/** Creates the list of the calls that wait. Each looks after each request of its client. */
export function createEventWaiters() {
  const waits = new Set<Wait>()
  return {
    add: (wait: Wait) => void waits.add(wait),
    remove: (wait: Wait) => void waits.delete(wait),
    has: (clientId: string): boolean => [...waits].some(({ client }) => client === clientId),
    /** Brings the tenants of all waits up to date, then lets them look. */
    lookAgain(): void {
      // Waits may end while they look.
      for (const wait of [...waits]) wait.lookAgain()
    },
    /** Lets all waits of a client look. */
    wake(clientId: string): void {
      for (const wait of [...waits]) if (wait.client === clientId) wait.look()
    },
  }
}
