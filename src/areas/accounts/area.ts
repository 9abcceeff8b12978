import { Type } from '@sinclair/typebox'
import { assumed } from '../../core/schemas.js'
import type { Row, StoreOptions } from '../area.js'
import { accountRoutes } from './routes.js'
import { Account, AccountQuery } from './schemas.js'
import { AccountStore } from './store.js'

export const accounts = {
  path: 'accounts',
  title: 'Accounts',
  description: "The tenant's accounts.",
  routes: accountRoutes,
  section: 10,
  reference: 'accountReference',
  notFound: 'ROUTE_NOT_FOUND',
  regions: 'apart',
  list: { query: AccountQuery, item: Account },
  columns: ['balance', 'accountHolderName', 'accountIdentifier'],
  empty: 'The accounts of a client come with its fixture. The service documents no way to create one.',
  seeds: assumed(Type.Array(Account), 'Accounts. Their currency determines their region.'),
  record: Account,
  createStore: ({ context }: StoreOptions) => new AccountStore(context),
} as const satisfies Row<AccountStore>
