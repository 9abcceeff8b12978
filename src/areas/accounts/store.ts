import { refuseForeignBranch } from '../../core/branches.js'
import type { Engine } from '../../core/engine.js'
import { atPath, errors } from '../../core/errors.js'
import { isIban } from '../../core/identifiers.js'
import type { Region } from '../../core/regions.js'
import { regionOf } from '../../core/regions.js'
import type { Entry, List } from '../../core/table.js'
import { createTable, keeping } from '../../core/table.js'
import type { Account, AccountQuery } from './schemas.js'

export type AccountStore = ReturnType<typeof createAccountStore>

/** The tenant's own bank accounts (decisions §10). They come from fixtures and seeding alone. */
export function createAccountStore(engine: Engine) {
  const table = createTable<Account, Entry<Account>, 'currency'>(
    {
      name: 'accounts',
      referenceField: 'accountReference',
      reference: account => account.accountReference,
      region: account => regionOf(account.currency),
      facets: { currency: account => account.currency },
    },
    engine,
  )

  return {
    /** @throws INVALID_CURSOR */
    list: (region: Region, { currency, cursor, limit }: AccountQuery): List<Account> =>
      table.list(region, { facets: { currency }, cursor, limit }),

    /**
     * Checks seeded accounts. The region follows from the currency.
     * @throws DUPLICATE_REFERENCE, INVALID_FIELD, the field with the path of the record in front
     */
    stage(accounts: readonly Account[], path: string) {
      const records = accounts.map((record, index) => {
        const region = regionOf(record.currency)
        atPath(`${path}.${index}`, () => refuseInvalid(region, record))
        return { region, record }
      })
      table.refuseDuplicates(records, path)
      return {
        commit() {
          for (const { region, record } of records) table.add({ ...table.placeAt(engine.clock.now()), region, record })
        },
      }
    },

    ...keeping(table),

    size: table.size,
  }
}

function refuseInvalid(region: Region, { accountIdentifier, branchIdentifier }: Account) {
  if (region === 'EU' && !isIban(accountIdentifier)) {
    throw errors.invalid('accountIdentifier', 'accountIdentifier must be a valid IBAN.')
  }
  refuseForeignBranch(region, branchIdentifier)
}
