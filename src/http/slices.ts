import { setImmediate } from 'node:timers'
import type { Slices } from '../core/slices.js'
import { elapsed as realElapsed } from './timers.js'

/** The milliseconds for which the slices of all works hold the event loop in one of its rounds. */
const SLICE_MS = 20
/** The milliseconds of a slice while other works wait: a short work is not behind all steps of long ones. */
const TURN_MS = 1

/** A round of the event loop. */
interface Round {
  /** When its first slice began; undefined: none has begun. */
  began: number | undefined
  /** The works that wait for a slice, in turn. */
  readonly waiting: (() => void)[]
}

/** The rounds by their clock: all servers of a process have the same, but those of tests. */
const rounds = new WeakMap<() => number, Round>()

function roundOf(elapsed: () => number): Round {
  const round = rounds.get(elapsed) ?? { began: undefined, waiting: [] }
  rounds.set(elapsed, round)
  return round
}

/** Whether a slice that began at some moment has held the event loop for long enough. */
export const isSliceOver = (began: number, elapsed = realElapsed): boolean => elapsed() - began >= SLICE_MS

const isRoundOver = ({ began }: Round, elapsed: () => number) => began !== undefined && isSliceOver(began, elapsed)

/** The most works that wait and go on in one round. */
const MOST_IN_ROUND = 1000

/** Begins some work at once, or when its turn comes. */
function begin(round: Round, elapsed: () => number, work: () => void) {
  if (isRoundOver(round, elapsed)) round.waiting.push(work)
  else work()
}

/** Begins another round: the works that wait go on in turn, until its time is over. */
function beginRound(round: Round, elapsed: () => number) {
  round.began = undefined
  const goOn = () => {
    if (!isRoundOver(round, elapsed)) round.waiting.shift()?.()
  }
  goOn()
  // Between immediates, promises settle: what a work does after its slice, such as its answer, counts in the round.
  const others = Math.min(round.waiting.length, MOST_IN_ROUND)
  for (let at = 0; at < others; at++) setImmediate(goOn)
}

/** Begins a slice in a round. Returns when, and when the round began. */
function beginSlice(round: Round, elapsed: () => number): [began: number, roundBegan: number] {
  const began = elapsed()
  if (round.began === undefined) {
    round.began = began
    setImmediate(beginRound, round, elapsed)
  }
  return [began, round.began]
}

/** Does the next slice of some work in a round. */
function sliceIn<T>(round: Round, work: Slices<T>, elapsed: () => number): IteratorResult<void, T> {
  const [began, roundBegan] = beginSlice(round, elapsed)
  const end = round.waiting.length > 0 ? began + TURN_MS : Math.max(roundBegan + SLICE_MS, began + TURN_MS)
  let step = work.next()
  while (!step.done && elapsed() < end) step = work.next()
  return step
}

/**
 * Does the next slice of some work. The slices of all works share the time of a round.
 * @param elapsed returns milliseconds since some moment
 */
export const doSlice = <T>(work: Slices<T>, elapsed = realElapsed): IteratorResult<void, T> =>
  sliceIn(roundOf(elapsed), work, elapsed)

/** Does some work in slices. Other requests come in between. It begins at once, or when its turn comes after a full round. */
export function inSlices<T>(work: Slices<T>, elapsed = realElapsed): Promise<T> {
  const round = roundOf(elapsed)
  return new Promise((resolve, reject) => {
    const goOn = () => {
      try {
        const step = sliceIn(round, work, elapsed)
        if (step.done) resolve(step.value)
        else round.waiting.push(goOn)
      } catch (error) {
        reject(error)
      }
    }
    begin(round, elapsed, goOn)
  })
}

/**
 * Creates a queue of work of many senders. The function that adds to it begins the work as a slice: at once, or when its turn
 * comes after a full round.
 */
export function createQueue(elapsed = realElapsed): (work: () => void) => void {
  const round = roundOf(elapsed)
  return work =>
    begin(round, elapsed, () => {
      beginSlice(round, elapsed)
      work()
    })
}

/** Creates a hook by which a request begins as a slice: those of other routes come in between those of many senders. */
export function inRounds(elapsed?: () => number) {
  const add = createQueue(elapsed)
  return (_request: unknown, _reply: unknown, next: () => void): void => add(next)
}
