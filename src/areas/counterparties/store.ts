import { refuseForeignBranch } from '../../core/branches.js'
import type { Engine } from '../../core/engine.js'
import { atPath, errors } from '../../core/errors.js'
import type { Region } from '../../core/regions.js'
import type { Entry } from '../../core/table.js'
import { createTable, keeping } from '../../core/table.js'
import type { Counterparty, CounterpartyUpdate, SeedCounterparty } from './schemas.js'
import { updates } from './schemas.js'

export type CounterpartyStore = ReturnType<typeof createCounterpartyStore>

/** The counterparties of one tenant (decisions §10), in all regions. */
export function createCounterpartyStore(engine: Engine) {
  const table = createTable<Counterparty, Entry<Counterparty>, never>(
    {
      name: 'counterparties',
      referenceField: 'counterpartyReference',
      reference: counterparty => counterparty.counterpartyReference,
      facets: {},
    },
    engine,
  )
  const add = (region: Region, record: Counterparty) =>
    table.add({ ...table.placeAt(engine.clock.now()), region, record })

  return {
    /** @throws IMMUTABLE_FIELD, MISSING_FIELD (nothing to change), COUNTERPARTY_NOT_FOUND */
    update(region: Region, counterpartyReference: string, update: CounterpartyUpdate): Counterparty {
      if ((update.counterpartyReference ?? counterpartyReference) !== counterpartyReference) {
        throw errors.immutableCounterpartyReference()
      }
      const names = Object.keys(updates)
      if (!names.some(name => name in update)) throw errors.missing(null, `Give at least one of ${names.join(', ')}.`)
      return Object.assign(table.get(region, counterpartyReference, errors.counterpartyNotFound).record, update)
    },

    /** Brings a counterparty into being of which only the reference is known (decisions §9). */
    ensure(region: Region, counterpartyReference: string): void {
      if (!table.has(region, counterpartyReference)) add(region, { counterpartyReference })
    },

    /**
     * Checks seeded counterparties.
     * @throws DUPLICATE_REFERENCE, INVALID_FIELD (branchIdentifier), the field with the path of the record in front
     */
    stage(seeds: readonly SeedCounterparty[], path: string) {
      const records = seeds.map(({ region, ...record }, index) => {
        atPath(`${path}.${index}`, () => refuseForeignBranch(region, record.branchIdentifier))
        return { region, record }
      })
      table.refuseDuplicates(records, path)
      return {
        commit() {
          for (const { region, record } of records) add(region, record)
        },
      }
    },

    ...keeping(table),

    size: table.size,
  }
}
