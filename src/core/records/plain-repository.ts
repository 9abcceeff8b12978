import type { Region } from '../domain/regions.js'
import type { StoreContext } from '../tenant-context.js'
import type { Instant } from '../time/time.js'
import { formatInstant, parseInstant } from '../time/time.js'
import type { Placed, RepositoryOptions, Snapshot } from './repository.js'
import { createRepository } from './repository.js'

/** A record without a lifecycle in a state document. */
export interface RecordSnapshot<R> extends Snapshot<R> {
  /** YYYY-MM-DDThh:mm:ssZ; not a field of the record itself. */
  readonly createdAt: string
}

/** Creates a repository of records without a lifecycle. */
export function createPlainRepository<R>(
  options: RepositoryOptions<R>,
  context: Pick<StoreContext, 'clock' | 'ids' | 'changes' | 'names' | 'room' | 'nextSequence'>,
) {
  const repository = createRepository<R>(options, context)
  const { size, counts, find, search, entries, toStored, load } = repository

  /** Stores a new record. Its reference must be unused. */
  const create = (region: Region, record: R) =>
    repository.add({ createdAt: context.clock.now(), sequence: context.nextSequence(), region, record })

  /** Captures the records for a state document. */
  const capture = (): RecordSnapshot<R>[] =>
    entries().map(({ region, sequence, createdAt, record }) => ({
      region,
      sequence,
      createdAt: formatInstant(createdAt),
      record,
    }))

  /**
   * Stores the records of a state document. The repository is empty.
   * @throws DUPLICATE_REFERENCE, INVALID_FIELD
   */
  function restore(snapshots: readonly RecordSnapshot<R>[], path: string): void {
    repository.assertConsistent(snapshots, path)
    for (const { createdAt, ...snapshot } of snapshots) {
      repository.add({ ...snapshot, createdAt: parseInstant(createdAt) as Instant })
    }
  }

  return {
    ...repository,
    create,
    /** As that of the repository. */
    stage: <S>(seeds: readonly S[], path: string, place: (seed: S) => Placed<R>) =>
      repository.stage(seeds, path, place, ({ region, record }) => create(region, record)),
    /** The operations that every store has. */
    ofStore: { size, counts, find, search, entries, toStored, load, capture, restore },
  }
}
