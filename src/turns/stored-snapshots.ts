import { byArea } from '../areas/index.js'
import { ApiError, errors } from '../core/errors.js'
import type { Slices } from '../core/slices.js'
import type { NamedSnapshot, NamedSnapshots, SnapshotSummary } from '../features/snapshots/snapshots.js'
import { compareNames, MOST_SNAPSHOTS, tooManySnapshots } from '../features/snapshots/snapshots.js'
import { textPieces } from '../http/json-pieces.js'
import { inSlices } from '../http/slices.js'
import type { SnapshotRow, SnapshotTable } from './database.js'
import { checksumOf, DamageError, DatabaseAwayError, damaged, factsOf } from './database.js'

/** The characters of a piece of a state document. */
const PIECE = 256 * 1024

const DAMAGED = 'This snapshot is damaged in the database. Save another one under its name, or remove it.'

export interface StoredSnapshotsOptions {
  readonly table: SnapshotTable
  /** Identifies the life of a tenant. */
  lifeOf(clientId: string): unknown
  /** Reports a failure of the database. */
  report(facts: object): void
}

/** Creates named snapshots that a database keeps. They go with their client. */
export function createStoredSnapshots({ table, lifeOf, report }: StoredSnapshotsOptions): NamedSnapshots {
  /** Reports a failure of the database. @throws SERVICE_UNAVAILABLE */
  async function guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof ApiError) throw error
      if (!(error instanceof DatabaseAwayError)) report(factsOf(error as Error))
      throw error instanceof DamageError
        ? new ApiError('SERVICE_UNAVAILABLE', null, DAMAGED)
        : errors.databaseUnavailable()
    }
  }

  return {
    list: clientId =>
      guarded(async () => {
        const rows = await table.summaries(clientId)
        // One that is damaged must not hide the others.
        const intact = rows.filter(
          ({ name, content, checksum }) => checksum === checksumOf(clientId, name, content, 0, content),
        )
        return intact.map(({ content }) => toSummary(content)).sort(compareNames)
      }),
    find: (clientId, name) =>
      guarded(async () => {
        const rows = await table.find(clientId, name)
        return rows.length === 0 ? undefined : inSlices(fromRows(clientId, name, rows))
      }),
    save: (clientId, snapshot) =>
      guarded(async () => {
        const { name } = snapshot.summary
        const life = lifeOf(clientId)
        const rows = await inSlices(toRows(clientId, snapshot))
        const outcome = await table.save(clientId, name, rows, { most: MOST_SNAPSHOTS, life })
        if (outcome === 'full') throw tooManySnapshots()
        if (outcome === 'past') throw errors.replacedMeanwhile()
      }),
    remove: (clientId, name) => guarded(() => table.remove(clientId, name)),
    forget() {},
    miscount: () => 0,
  }
}

/** Reads a summary. One of an earlier release has no counts of later areas. */
function toSummary(text: string): SnapshotSummary {
  const summary = JSON.parse(text) as SnapshotSummary
  return { ...summary, counts: byArea(name => summary.counts[name] ?? 0) }
}

/** Makes the rows of a snapshot. */
function* toRows(clientId: string, { summary, content }: NamedSnapshot): Slices<SnapshotRow[]> {
  const facts = JSON.stringify(summary)
  const toRow = (content: string, at: number) => ({
    content,
    checksum: checksumOf(clientId, summary.name, facts, at, content),
  })
  const rows = [toRow(facts, 0)]
  for (const piece of textPieces(content, PIECE)) {
    rows.push(toRow(piece, rows.length))
    yield
  }
  return rows
}

/** Returns the state document of some rows. @throws DatabaseError (a row is missing, or not as it was written) */
function* fromRows(clientId: string, name: string, rows: readonly SnapshotRow[]): Slices<string> {
  const facts = rows[0]?.content ?? ''
  let document = ''
  for (const [at, { content, checksum }] of rows.entries()) {
    if (checksum !== checksumOf(clientId, name, facts, at, content)) throw damaged(`snapshot ${name}`, clientId)
    if (at > 0) document += content
    yield
  }
  if (Buffer.byteLength(document) !== toSummary(facts).bytes) throw damaged(`snapshot ${name}`, clientId)
  return document
}
