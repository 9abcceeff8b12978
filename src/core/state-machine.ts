import { errors } from './errors.js'

/**
 * The states of one kind of record and the moves between them, as a literal that can be held against the diagram:
 * `{ ACTIVE: { cancel: 'CANCELLED' }, CANCELLED: {} }`. A state without moves is final.
 */
export type Lifecycle<State extends string = string, Verb extends string = string> = {
  readonly [from in State]: { readonly [verb in Verb]?: State }
}

/** A move that is legal from some state. */
export interface Move<State extends string = string, Verb extends string = string> {
  readonly verb: Verb
  readonly to: State
}

/** The moves that are legal from a state, in the order of the literal. */
export function legalMoves<S extends string, V extends string>(lifecycle: Lifecycle<S, V>, from: S): Move<S, V>[] {
  return Object.entries(lifecycle[from]).map(([verb, to]) => ({ verb: verb as V, to: to as S }))
}

/**
 * The state that a verb leads to.
 * @param what names the record in the message, as in `collection`
 * @throws ILLEGAL_TRANSITION naming the legal verbs
 */
export function next<S extends string, V extends string>(
  lifecycle: Lifecycle<S, V>,
  from: S,
  verb: V,
  what: string,
): S {
  const to = lifecycle[from][verb]
  if (to !== undefined) return to
  const legal = legalMoves(lifecycle, from).map(move => move.verb)
  throw errors.illegalTransition(
    null,
    `Cannot ${verb} a ${what} that is ${from}. Legal now: ${legal.length > 0 ? legal.join(', ') : 'nothing, the state is final'}.`,
  )
}
