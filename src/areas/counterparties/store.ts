import { atPath, errors } from '../../core/errors.js'
import type { RecordSnapshot } from '../../core/records/repository.js'
import { createRepository, restoreRecords, snapshotRecords } from '../../core/records/repository.js'
import { assertBranch } from '../../core/rules/branches.js'
import type { Region } from '../../core/rules/regions.js'
import type { StoreContext } from '../../core/tenant-context.js'
import type { Counterparty, SeedCounterparty } from './schemas.js'
import { CounterpartyUpdate, updates } from './schemas.js'

export type CounterpartyStore = ReturnType<typeof createCounterpartyStore>

/** The counterparties of one tenant (decisions §10), in all regions. */
export function createCounterpartyStore(context: StoreContext) {
  const repository = createRepository<Counterparty>(
    {
      referenceField: 'counterpartyReference',
      reference: counterparty => counterparty.counterpartyReference,
    },
    context,
  )
  const add = (region: Region, record: Counterparty) =>
    repository.add({ createdAt: context.clock.now(), sequence: context.nextSequence(), region, record })

  return {
    /** @throws IMMUTABLE_FIELD, MISSING_FIELD (nothing to change), COUNTERPARTY_NOT_FOUND */
    update(region: Region, counterpartyReference: string, update: CounterpartyUpdate): Counterparty {
      if ((update.counterpartyReference ?? counterpartyReference) !== counterpartyReference) {
        throw errors.immutableCounterpartyReference()
      }
      if (!Object.keys(updates).some(name => name in update)) {
        throw errors.missing(null, `Give ${CounterpartyUpdate['x-expected']}.`)
      }
      return repository.update(repository.get(region, counterpartyReference, errors.counterpartyNotFound), update)
    },

    /** Creates a counterparty with only its reference, unless it exists (decisions §9). */
    ensure(region: Region, counterpartyReference: string): void {
      if (!repository.has(region, counterpartyReference)) add(region, { counterpartyReference })
    },

    /**
     * Checks seeded counterparties.
     * @throws DUPLICATE_REFERENCE, INVALID_FIELD (branchIdentifier), with the path of the record before the field
     */
    stage(seeds: readonly SeedCounterparty[], path: string) {
      const records = seeds.map(({ region, ...record }, index) => {
        atPath(`${path}.${index}`, () => assertBranch(region, record.branchIdentifier))
        return { region, record }
      })
      repository.assertAllUnused(records, path)
      return {
        *commit() {
          for (const { region, record } of records) {
            add(region, record)
            yield
          }
        },
      }
    },

    snapshot: () => snapshotRecords(repository),
    /** @throws DUPLICATE_REFERENCE, INVALID_FIELD */
    restore: (snapshots: readonly RecordSnapshot<Counterparty>[], path: string) =>
      restoreRecords(repository, snapshots, path),

    search: repository.search,

    entries: repository.entries,
    toStored: repository.toStored,
    load: repository.load,

    size: repository.size,
    counts: repository.counts,
    find: repository.find,
  }
}
