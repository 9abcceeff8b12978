import { Type } from '@sinclair/typebox'
import { assumed } from '../../core/schemas.js'
import type { Row, StoreOptions } from '../area.js'
import { counterpartyRoutes } from './routes.js'
import { Counterparty, CounterpartyUpdate, SeedCounterparty } from './schemas.js'
import { CounterpartyStore } from './store.js'

export const counterparties = {
  path: 'counterparties',
  title: 'Counterparties',
  description: 'The details of counterparties.',
  routes: counterpartyRoutes,
  section: 10,
  reference: 'counterpartyReference',
  notFound: 'COUNTERPARTY_NOT_FOUND',
  regions: 'apart',
  update: CounterpartyUpdate,
  columns: ['accountHolderName', 'emailAddress', 'region'],
  empty: 'A counterparty comes with its first bill, or with a fixture. The service documents no way to create one.',
  seeds: assumed(Type.Array(SeedCounterparty), 'Counterparties.'),
  record: Counterparty,
  createStore: ({ context }: StoreOptions) => new CounterpartyStore(context),
} as const satisfies Row<CounterpartyStore>
