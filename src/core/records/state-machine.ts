import { errors } from '../errors.js'
import { ownMember } from '../own-member.js'

/**
 * The states and transitions of one kind of record, such as `{ ACTIVE: { cancel: 'CANCELLED' }, CANCELLED: {} }`.
 * A state without transitions is final.
 */
export type Lifecycle<State extends string = string, Verb extends string = string> = {
  readonly [from in State]: { readonly [verb in Verb]?: State }
}

/** A legal transition from some state. */
export interface Move<State extends string = string, Verb extends string = string> {
  readonly verb: Verb
  readonly to: State
}

/** Returns the legal transitions from a state, in the order of the table. */
export function legalMoves<S extends string, V extends string>(lifecycle: Lifecycle<S, V>, from: S): Move<S, V>[] {
  return Object.entries(lifecycle[from] as Record<V, S>).map(([verb, to]) => ({ verb: verb as V, to: to as S }))
}

/** Returns the state to which a verb leads; undefined: there is no such transition. */
export const stateAfter = <S extends string, V extends string>(
  lifecycle: Lifecycle<S, V>,
  from: S,
  verb: V,
): S | undefined => ownMember<S>(lifecycle[from] as Record<string, S>, verb)

/**
 * Returns the state after a transition.
 * @param noun the name of the record in the message, such as `collection`
 * @throws ILLEGAL_TRANSITION naming the legal verbs
 */
export function next<S extends string, V extends string>(
  lifecycle: Lifecycle<S, V>,
  from: S,
  verb: V,
  noun: string,
): S {
  const to = stateAfter(lifecycle, from, verb)
  if (to !== undefined) return to
  const legal = legalMoves(lifecycle, from).map(move => move.verb)
  throw errors.illegalTransition(
    null,
    `Cannot ${verb} a ${noun} that is ${from}. Legal now: ${legal.length > 0 ? legal.join(', ') : 'nothing, the state is final'}.`,
  )
}
