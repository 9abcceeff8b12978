import type { Region } from '../../../src/core/domain/regions.js'
import type { List } from '../../../src/core/records/list.js'
import { createStatefulRepository } from '../../../src/core/records/stateful-repository.js'
import type { StoreContext } from '../../../src/core/tenant-context.js'
import type { Instant } from '../../../src/core/time/time.js'
import { formatInstant, parseInstant } from '../../../src/core/time/time.js'
import type { OrderStatus, OrderVerb } from './lifecycle.js'
import { orderLifecycle } from './lifecycle.js'
import type { NewOrder, Order, OrderQuery, SeedOrder } from './schemas.js'

const DAY_MS = 86_400_000

export type OrderStore = ReturnType<typeof createOrderStore>

/** The orders of one tenant, all in region EU. */
export function createOrderStore(context: StoreContext) {
  const repository = createStatefulRepository<Order, OrderStatus, OrderVerb>(
    {
      lifecycle: orderLifecycle,
      region: () => 'EU',
      createdAt: order => order.createdAt,
      plan: ({ status, createdAt }) =>
        status === 'PLACED' ? { at: (parseInstant(createdAt) as Instant) + DAY_MS, verb: 'ship', cause: 'time' } : null,
    },
    context,
  )

  function build({ orderReference, amount, collectionReference }: NewOrder, status: OrderStatus = 'PLACED'): Order {
    const now = formatInstant(context.clock.now())
    const named = collectionReference === undefined ? {} : { collectionReference }
    return { orderReference, amount, ...named, status, createdAt: now, updatedAt: now }
  }

  return {
    ...repository.ofStore,

    /** @throws DUPLICATE_REFERENCE */
    create(input: NewOrder, region: Region): Order {
      repository.assertUnused(region, input.orderReference)
      return repository.create(region, build(input), 'api').record
    },

    /** @throws INVALID_CURSOR */
    list: (region: Region, query: OrderQuery): List<Order> => repository.list(region, query),

    /** Checks seeded orders, of any state. @throws DUPLICATE_REFERENCE */
    stage: (seeds: readonly SeedOrder[], path: string) =>
      repository.stage(seeds, path, ({ status, ...seed }) => ({
        region: 'EU',
        record: { ...build(seed, status), ...seed },
      })),
  }
}
