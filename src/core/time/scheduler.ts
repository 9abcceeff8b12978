import TinyQueue from 'tinyqueue'
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

/** Sorts by due time, then by sequence. */
const comparePlans = (a: Plan, b: Plan) => a.at - b.at || a.sequence - b.sequence

/** The number of replaced plans that the heap keeps before they are removed together. */
const MOST_REPLACED = 1000

export function createScheduler() {
  /** The present plan of each item that has one. */
  const plans = new Map<Schedulable, Plan>()
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
    if (item.dueAt === at) return
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
