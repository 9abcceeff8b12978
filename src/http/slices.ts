import { setImmediate } from 'node:timers/promises'
import type { Slices } from '../core/slices.js'
import { elapsed as realElapsed } from './timers.js'

/** The milliseconds for which a slice of work holds the event loop. */
const SLICE_MS = 20

/** Whether a slice that began at some moment has held the event loop for long enough. */
export const isSliceOver = (began: number, elapsed = realElapsed): boolean => elapsed() - began >= SLICE_MS

/**
 * Does the next slice of some work.
 * @param elapsed returns milliseconds since some moment
 */
export function doSlice<T>(work: Slices<T>, elapsed = realElapsed): IteratorResult<void, T> {
  const began = elapsed()
  let step = work.next()
  while (!step.done && !isSliceOver(began, elapsed)) step = work.next()
  return step
}

/** Does some work in slices. Other requests come in between. */
export async function inSlices<T>(work: Slices<T>, elapsed = realElapsed): Promise<T> {
  let step = doSlice(work, elapsed)
  while (!step.done) {
    await setImmediate()
    step = doSlice(work, elapsed)
  }
  return step.value
}
