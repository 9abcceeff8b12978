import type { Region } from '../domain/regions.js'
import { formatInstant, readInstant } from '../time/time.js'
import type { Entry, InRegion, Snapshot, StagedRecords } from './repository.js'
import { Repository } from './repository.js'

/** A record without a lifecycle in a state document. */
export interface RecordSnapshot<R> extends Snapshot<R> {
  /** YYYY-MM-DDThh:mm:ssZ; not a field of the record itself. */
  readonly createdAt: string
}

/** The records of a kind without a lifecycle. */
export class PlainRepository<R extends object> extends Repository<R> {
  /** Stores a new record. Its reference must be unused. @throws RECORD_LIMIT_REACHED */
  add(region: Region, record: R): Entry<R> {
    const { clock, nextSequence } = this.context
    return this.store({ createdAt: clock.now(), sequence: nextSequence(), region, record })
  }

  /** Changes members of a record, and returns it. */
  protected replace(entry: Entry<R>, members: Partial<R>): R {
    const record = { ...entry.record, ...members }
    this.change(entry, { record })
    return record
  }

  /** Checks seeded records. @see Repository.stageEach */
  protected stageAll<S>(seeds: readonly S[], path: string, toRecord: (seed: S) => InRegion<R>): StagedRecords<R> {
    return this.stageEach(seeds, path, toRecord, ({ region, record }) => this.add(region, record))
  }

  /** Captures the records for a state document. */
  capture(): RecordSnapshot<R>[] {
    return this.entries().map(({ region, sequence, createdAt, record }) => ({
      region,
      sequence,
      createdAt: formatInstant(createdAt),
      record,
    }))
  }

  /**
   * Stores the records of a state document. The repository is empty.
   * @throws DUPLICATE_REFERENCE, INVALID_FIELD
   */
  restore(snapshots: readonly RecordSnapshot<R>[], path: string): void {
    this.assertConsistent(snapshots, path)
    for (const { createdAt, ...snapshot } of snapshots) {
      this.store({ ...snapshot, createdAt: readInstant(createdAt) })
    }
  }
}
