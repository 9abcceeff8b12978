import { byArea } from '../areas/index.js'
import { ApiError, errors } from '../core/errors.js'
import type { NamedSnapshots, SnapshotSummary } from '../features/snapshots/snapshots.js'
import { compareNames, MOST_SNAPSHOTS, tooManySnapshots } from '../features/snapshots/snapshots.js'
import type { SnapshotTable } from './database.js'
import { checksumOf, DatabaseAwayError, damaged, factsOf } from './database.js'

/** Creates named snapshots that a database keeps. They go with the row of their client. */
export function createStoredSnapshots(table: SnapshotTable, report: (facts: object) => void): NamedSnapshots {
  /** Reports a failure of the database. @throws SERVICE_UNAVAILABLE */
  async function guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof ApiError) throw error
      if (!(error instanceof DatabaseAwayError)) report(factsOf(error as Error))
      throw errors.databaseUnavailable()
    }
  }

  return {
    list: clientId =>
      guarded(async () => {
        const texts = await table.summaries(clientId)
        return texts.map(toSummary).sort(compareNames)
      }),
    find: (clientId, name) =>
      guarded(async () => {
        const row = await table.find(clientId, name)
        if (row === undefined) return undefined
        const { summary, content, checksum } = row
        if (checksum !== checksumOf(clientId, name, summary, content)) throw damaged(`snapshot ${name}`, clientId)
        return content
      }),
    save: (clientId, { summary: facts, content }) =>
      guarded(async () => {
        const { name } = facts
        const summary = JSON.stringify(facts)
        const row = { summary, content, checksum: checksumOf(clientId, name, summary, content) }
        if (!(await table.save(clientId, name, row, MOST_SNAPSHOTS))) throw tooManySnapshots()
      }),
    remove: (clientId, name) => guarded(() => table.remove(clientId, name)),
    forget() {},
  }
}

/** Reads a summary. One of an earlier release has no counts of later areas. */
function toSummary(text: string): SnapshotSummary {
  const summary = JSON.parse(text) as SnapshotSummary
  return { ...summary, counts: byArea(name => summary.counts[name] ?? 0) }
}
