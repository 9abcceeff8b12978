import type { Region } from '../../../src/core/domain/regions.js'
import type { Step } from '../../../src/core/records/lifecycle.js'
import type { List } from '../../../src/core/records/list.js'
import { StatefulRepository } from '../../../src/core/records/stateful-repository.js'
import type { StoreContext } from '../../../src/core/tenant-context.js'
import type { Instant } from '../../../src/core/time/time.js'
import { DAY, formatInstant, parseInstant } from '../../../src/core/time/time.js'
import type { OrderStatus, OrderTransition } from './lifecycle.js'
import { orderLifecycle } from './lifecycle.js'
import type { NewOrder, Order, OrderQuery, SeedOrder } from './schemas.js'

/** The orders of one tenant, all in region EU. */
export class OrderStore extends StatefulRepository<Order, OrderStatus, OrderTransition> {
  constructor(context: StoreContext) {
    super(context, orderLifecycle)
  }

  /** @throws DUPLICATE_REFERENCE */
  create(input: NewOrder, region: Region): Order {
    this.assertUnused(region, input.orderReference)
    return this.add(region, this.#build(input), 'api').record
  }

  /** @throws INVALID_CURSOR */
  list(region: Region, query: OrderQuery): List<Order> {
    return this.page(region, query)
  }

  /** Checks seeded orders, of any state. @throws DUPLICATE_REFERENCE */
  stage(seeds: readonly SeedOrder[], path: string) {
    return this.stageAll(seeds, path, ({ status, ...seed }) => ({
      region: 'EU',
      record: { ...this.#build(seed, status), ...seed },
    }))
  }

  protected override stepAfter({ status, createdAt }: Order): Step<OrderTransition> | null {
    if (status !== 'PLACED') return null
    return { at: (parseInstant(createdAt) as Instant) + DAY, transition: 'ship', cause: 'time' }
  }

  #build({ orderReference, amount, collectionReference }: NewOrder, status: OrderStatus = 'PLACED'): Order {
    const now = formatInstant(this.context.clock.now())
    const named = collectionReference === undefined ? {} : { collectionReference }
    return { orderReference, amount, ...named, status, createdAt: now, updatedAt: now }
  }
}
