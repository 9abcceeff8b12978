import { errors } from '../errors.js'
import { ownMember } from '../own-member.js'
import type { Instant } from '../time/time.js'
import type { Cause } from './events.js'

/**
 * The states and transitions of one kind of record, such as `{ ACTIVE: { cancel: 'CANCELLED' }, CANCELLED: {} }`.
 * A state without transitions is final.
 */
export type Lifecycle<State extends string = string, Transition extends string = string> = {
  readonly [from in State]: { readonly [transition in Transition]?: State }
}

/** A legal transition, as the control plane explains it (control plane, Shapes). */
export interface LegalTransition<State extends string = string, Transition extends string = string> {
  readonly transition: Transition
  readonly to: State
  readonly reasonCodes?: readonly string[]
  /** The last instant at which it is legal. */
  readonly until?: string
}

/** Returns the legal transitions from a state, in the order of the table. */
export const legalTransitions = <S extends string, V extends string>(
  lifecycle: Lifecycle<S, V>,
  from: S,
): LegalTransition<S, V>[] =>
  Object.entries(lifecycle[from] as Record<V, S>).map(([transition, to]) => ({
    transition: transition as V,
    to: to as S,
  }))

/** Whether a state has no transitions. */
export const isFinal = <S extends string, V extends string>(lifecycle: Lifecycle<S, V>, state: S): boolean =>
  Object.keys(lifecycle[state]).length === 0

/** Returns the state to which a transition leads, or undefined if there is no such transition. */
export const stateAfter = <S extends string, V extends string>(
  lifecycle: Lifecycle<S, V>,
  from: S,
  transition: V,
): S | undefined => ownMember<S>(lifecycle[from] as Record<string, S>, transition)

/**
 * Returns the state after a transition.
 * @param noun the name of the record in the message, such as `collection`
 * @throws ILLEGAL_TRANSITION naming the legal transitions
 */
export function assertLegal<S extends string, V extends string>(
  lifecycle: Lifecycle<S, V>,
  from: S,
  transition: V,
  noun: string,
): S {
  const to = stateAfter(lifecycle, from, transition)
  if (to !== undefined) return to
  const legal = Object.keys(lifecycle[from]).join(', ') || 'nothing, the state is final'
  throw errors.illegalTransition(null, `Cannot ${transition} a ${noun} that is ${from}. Legal now: ${legal}.`)
}

/** The next automatic transition of a record. A database keeps it. */
export interface Step<V extends string> {
  readonly at: Instant
  readonly transition: V
  readonly cause: 'time' | 'outcome'
  readonly reasonCode?: string
}

/** An automatic transition that has failed. */
export interface Failure {
  /** When it was due. */
  readonly at: Instant
  readonly to: string
  readonly cause: Cause
  readonly reason: string
}
