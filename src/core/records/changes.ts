/** A change of one record that has been made. */
export interface Change {
  /** The kind of the record, as in a state document. */
  readonly kind: string
  readonly entry: object
  /** Puts the entry back as it was before the change. */
  undo(): void
}

export type ChangeLog = ReturnType<typeof createChangeLog>

/**
 * Creates the log of the changes of records of one tenant since they were last taken, in order. Every change is in it, so
 * that an operation that fails can be undone, and a database can store exactly the changed records.
 */
export function createChangeLog() {
  let changes: Change[] = []

  return {
    add: (change: Change): void => void changes.push(change),
    /** Returns the number of changes. */
    length: (): number => changes.length,
    /** Undoes all changes after the first `length`, in reverse order. */
    undoTo(length: number): void {
      while (changes.length > length) changes.pop()?.undo()
    },
    /** Returns the changed entries by kind, each once and in the order of their first change. The log is empty then. */
    take(): { readonly kind: string; readonly entry: object }[] {
      const kinds = new Map(changes.map(({ kind, entry }) => [entry, kind]))
      changes = []
      return [...kinds].map(([entry, kind]) => ({ kind, entry }))
    },
    /** Forgets all changes. */
    clear(): void {
      changes = []
    },
  }
}
