import { firstIndex } from '../records/binary-search.js'
import type { Instant } from './time.js'

/** An item that can have work due at some instant. */
export interface Schedulable {
  /** When its work is due; null: never. Only the scheduler sets it. */
  dueAt: Instant | null
  /** Position in the tenant's order of creation. Orders the work of one instant. */
  readonly sequence: number
}

/** Does the due work of one item. The clock then shows the due time. */
export type DueWork<T extends Schedulable = Schedulable> = (item: T) => void

interface Plan {
  readonly at: Instant
  readonly sequence: number
  readonly item: Schedulable
  readonly work: DueWork
}

export interface Scheduler {
  /** Plans the work of an item and replaces its earlier plan. Null: only removes that plan. */
  plan(item: Schedulable, at: Instant | null, work: DueWork): void
  /** When the next work is due; null: never. */
  nextAt(): Instant | null
  /** Removes and returns the plan that is due next. There must be one. */
  take(): Pick<Plan, 'item' | 'work'>
}

/** The number of taken places at the front that are kept before they are removed together. */
const MOST_TAKEN = 1000

export function createScheduler(): Scheduler {
  // Sorted, the next one first. New plans are mostly the latest, so that inserting one moves few others.
  const plans: Plan[] = []
  let taken = 0

  /** Returns the index of the first plan that is not due before the given place. */
  const indexOf = (at: Instant, sequence: number) =>
    Math.max(
      taken,
      firstIndex(plans, plan => plan.at > at || (plan.at === at && plan.sequence >= sequence)),
    )

  return {
    plan(item, at, work) {
      const { dueAt, sequence } = item
      if (dueAt === at) return
      if (dueAt !== null) plans.splice(indexOf(dueAt, sequence), 1)
      item.dueAt = at
      if (at !== null) plans.splice(indexOf(at, sequence), 0, { at, sequence, item, work })
    },
    nextAt: () => plans[taken]?.at ?? null,
    take() {
      const plan = plans[taken++] as Plan
      if (taken > MOST_TAKEN || taken === plans.length) {
        plans.splice(0, taken)
        taken = 0
      }
      plan.item.dueAt = null
      return plan
    },
  }
}
