import { assertBranch } from '../../core/domain/branches.js'
import { ibanFlaw } from '../../core/domain/identifiers.js'
import type { Region } from '../../core/domain/regions.js'
import { REGIONS, regionOf } from '../../core/domain/regions.js'
import { errors } from '../../core/errors.js'
import type { List } from '../../core/records/list.js'
import { PlainRepository } from '../../core/records/plain-repository.js'
import type { Account, AccountQuery } from './schemas.js'

/** The tenant's own bank accounts (decisions §10). They come only from fixtures and seeding. */
export class AccountStore extends PlainRepository<Account> {
  /** @throws INVALID_CURSOR */
  list(region: Region, { currency, cursor, limit }: AccountQuery): List<Account> {
    return this.page(region, { fields: { currency }, cursor, limit })
  }

  /** Returns the holder of the newest account of a region, else of another one, or undefined if there is no account. */
  holder(region: Region): string | undefined {
    const [account] = [region, ...REGIONS].flatMap(region => this.newest(region) ?? [])
    return account?.record.accountHolderName
  }

  /**
   * Checks seeded accounts. The region follows from the currency.
   * @throws DUPLICATE_REFERENCE, INVALID_FIELD, with the path of the record before the field
   */
  stage(accounts: readonly Account[], path: string) {
    return this.stageAll(accounts, path, record => {
      const region = regionOf(record.currency)
      assertIdentifiers(region, record)
      return { region, record }
    })
  }

  protected override regionOf({ currency }: Account): Region {
    return regionOf(currency)
  }
}

function assertIdentifiers(region: Region, { accountIdentifier, branchIdentifier }: Account) {
  if (region === 'EU' && ibanFlaw(accountIdentifier) !== undefined) {
    throw errors.invalid('accountIdentifier', 'accountIdentifier must be a valid IBAN.')
  }
  assertBranch(region, branchIdentifier)
}
