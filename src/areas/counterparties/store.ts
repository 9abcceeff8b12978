import { assertBranch } from '../../core/domain/branches.js'
import type { Region } from '../../core/domain/regions.js'
import { errors } from '../../core/errors.js'
import { createPlainRepository } from '../../core/records/plain-repository.js'
import type { StoreContext } from '../../core/tenant-context.js'
import type { Counterparty, SeedCounterparty } from './schemas.js'
import { CounterpartyUpdate, updates } from './schemas.js'

export type CounterpartyStore = ReturnType<typeof createCounterpartyStore>

/** The counterparties of one tenant (decisions §10), in all regions. */
export function createCounterpartyStore(context: StoreContext) {
  const repository = createPlainRepository<Counterparty>({}, context)

  return {
    ...repository.ofStore,

    /** @throws IMMUTABLE_FIELD, MISSING_FIELD (nothing to change), COUNTERPARTY_NOT_FOUND */
    update(region: Region, counterpartyReference: string, update: CounterpartyUpdate): Counterparty {
      if ((update.counterpartyReference ?? counterpartyReference) !== counterpartyReference) {
        throw errors.immutableCounterpartyReference()
      }
      if (!Object.keys(updates).some(name => name in update)) {
        throw errors.missing(null, `Give ${CounterpartyUpdate['x-expected']}.`)
      }
      return repository.update(repository.get(region, counterpartyReference), update)
    },

    /** Creates a counterparty with only its reference, unless it exists (decisions §9). */
    ensure(region: Region, counterpartyReference: string): void {
      if (!repository.has(region, counterpartyReference)) repository.create(region, { counterpartyReference })
    },

    /**
     * Checks seeded counterparties.
     * @throws DUPLICATE_REFERENCE, INVALID_FIELD (branchIdentifier), with the path of the record before the field
     */
    stage: (seeds: readonly SeedCounterparty[], path: string) =>
      repository.stage(seeds, path, ({ region, ...record }) => {
        assertBranch(region, record.branchIdentifier)
        return { region, record }
      }),
  }
}
