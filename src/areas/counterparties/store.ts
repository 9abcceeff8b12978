import { assertBranch } from '../../core/domain/branches.js'
import type { Region } from '../../core/domain/regions.js'
import { errors } from '../../core/errors.js'
import { PlainRepository } from '../../core/records/plain-repository.js'
import type { Counterparty, SeedCounterparty } from './schemas.js'
import { CounterpartyUpdate, updates } from './schemas.js'

/** The counterparties of one tenant (decisions §10), in all regions. */
export class CounterpartyStore extends PlainRepository<Counterparty> {
  /** @throws IMMUTABLE_FIELD, MISSING_FIELD (nothing to change), COUNTERPARTY_NOT_FOUND */
  update(region: Region, counterpartyReference: string, update: CounterpartyUpdate): Counterparty {
    if ((update.counterpartyReference ?? counterpartyReference) !== counterpartyReference) {
      throw errors.immutableCounterpartyReference()
    }
    if (!Object.keys(updates).some(name => name in update)) {
      throw errors.missing(null, `Give ${CounterpartyUpdate['x-expected']}.`)
    }
    return this.replace(this.entry(region, counterpartyReference), update)
  }

  /** Creates a counterparty with only its reference, unless it exists (decisions §9). */
  ensure(region: Region, counterpartyReference: string): void {
    if (!this.has(region, counterpartyReference)) this.add(region, { counterpartyReference })
  }

  /**
   * Checks seeded counterparties.
   * @throws DUPLICATE_REFERENCE, INVALID_FIELD (branchIdentifier), with the path of the record before the field
   */
  stage(seeds: readonly SeedCounterparty[], path: string) {
    return this.stageAll(seeds, path, ({ region, ...record }) => {
      assertBranch(region, record.branchIdentifier)
      return { region, record }
    })
  }
}
