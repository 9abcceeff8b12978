import { formatInstant, readInstant } from '../time/time.js'
import type { Cause } from './events.js'
import type { Lifecycle, Step } from './lifecycle.js'
import { legalTransitions, stateAfter } from './lifecycle.js'

/** The fields of every record with a lifecycle. */
export interface Stateful<S extends string> {
  readonly status: S
  readonly reasonCode?: string
  readonly updatedAt: string
  readonly createdAt?: string
}

/** A state of a record on its way, and the cause of the transition to it. */
export interface Reached<R> {
  readonly record: R
  readonly cause: Cause
}

/** The rules by which the earlier states of a seeded record follow from its schedule. */
export interface HistoryRules<R, S extends string, V extends string> {
  readonly lifecycle: Lifecycle<S, V>
  /** The record as it began. */
  readonly first: R
  /** Returns the step that followed a state. */
  stepBefore(record: R): (Omit<Step<V>, 'cause'> & { readonly cause: Cause }) | null
}

/**
 * Returns the states of a seeded record, with its own as the last one. Those before it follow from its schedule between its
 * creation and its last change. If they do not lead to its state, it has one.
 */
export function historyOf<R extends Stateful<S>, S extends string, V extends string>(
  record: R,
  { lifecycle, first, stepBefore }: HistoryRules<R, S, V>,
): Reached<R>[] {
  const end = readInstant(record.updatedAt)
  const way: Reached<R>[] = []
  let state: Reached<R> = { record: first, cause: 'seed' }
  for (let at = readInstant(first.updatedAt); at < end; ) {
    way.push(state)
    const step = stepBefore(state.record)
    const status = step === null ? undefined : stateAfter(lifecycle, state.record.status, step.transition)
    if (step === null || status === undefined || step.at <= at || step.at > end) break
    if (step.at === end && status !== record.status) break
    at = step.at
    state = {
      record: { ...state.record, status, updatedAt: formatInstant(at), reasonCode: step.reasonCode },
      cause: step.cause,
    }
  }
  const isBefore = ({ record: { status } }: Reached<R>) =>
    legalTransitions(lifecycle, status).some(({ to }) => to === record.status)
  const length = way.findLastIndex(isBefore) + 1
  // If the schedule leads elsewhere, the last change was not made by the schedule.
  const isScheduled = length === way.length && way.at(-1) !== state
  return [...way.slice(0, length), { record, cause: isScheduled ? state.cause : 'seed' }]
}
