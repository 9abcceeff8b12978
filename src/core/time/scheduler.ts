import TinyQueue from 'tinyqueue'
import type { Instant } from './time.js'

/** An item that can have work due at some instant. */
export interface Schedulable {
  /** When its work is due, or was due if it is parked; null: never. Only the scheduler sets it. */
  dueAt: Instant | null
  /** The error of its work. It is parked then: it is not done until it is planned again. Only the scheduler sets it. */
  failure?: Error | undefined
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

/** Sorts by due time, then by sequence. */
const comparePlans = (a: Plan, b: Plan) => a.at - b.at || a.sequence - b.sequence

/** The number of replaced plans that the heap keeps before they are removed together. */
const MOST_REPLACED = 1000

export function createScheduler() {
  /** The present plan of each item that has one. */
  const plans = new Map<Schedulable, Plan>()
  /** The plans whose work has failed, by item. */
  const parked = new Map<Schedulable, Plan>()
  // The heap also holds replaced plans, which are skipped when they come first.
  let heap = new TinyQueue<Plan>([], comparePlans)

  /** Returns the plan that is due next; undefined: there is none. */
  function first(): Plan | undefined {
    let plan = heap.peek()
    while (plan !== undefined && plans.get(plan.item) !== plan) {
      heap.pop()
      plan = heap.peek()
    }
    return plan
  }

  /** Plans the work of an item and replaces its earlier plan. Null: only removes that plan. */
  function plan(item: Schedulable, at: Instant | null, work: DueWork): void {
    if (parked.delete(item)) item.failure = undefined
    else if (item.dueAt === at) return
    item.dueAt = at
    if (at === null) {
      plans.delete(item)
      return
    }
    const plan = { at, sequence: item.sequence, item, work }
    plans.set(item, plan)
    heap.push(plan)
    if (heap.length > 2 * plans.size + MOST_REPLACED) heap = new TinyQueue([...plans.values()], comparePlans)
  }

  return {
    plan,
    /** Keeps failed work of an item out of the plans until it is planned again. */
    park(item: Schedulable, at: Instant, work: DueWork, failure: Error): void {
      plans.delete(item)
      parked.set(item, { at, sequence: item.sequence, item, work })
      Object.assign(item, { dueAt: at, failure })
    },
    /** Plans the work again that has failed after an instant. */
    planFailedAfter(instant: Instant): void {
      for (const { item, at, work } of [...parked.values()]) if (at > instant) plan(item, at, work)
    },
    /** When the next work is due; null: never. */
    nextAt: (): Instant | null => first()?.at ?? null,
    /** Removes and returns the plan that is due next. There must be one. */
    take(): Pick<Plan, 'item' | 'work'> {
      const plan = first() as Plan
      heap.pop()
      plans.delete(plan.item)
      plan.item.dueAt = null
      return plan
    },
  }
}
