/**
 * One line of the results.
 * @typedef {object} Row
 * @property {string} operation
 * @property {string} peer what it is held against; empty: nothing
 * @property {string} ours with its unit
 * @property {string} theirs with its unit
 * @property {number} [ratio] the median of the rounds
 * @property {readonly [number, number]} [spread] the lowest and the highest round
 * @property {string} [note]
 * @property {number} [cpuRatio] the same by processor time of the server
 * @property {Goal} [goal]
 */
/**
 * @typedef {object} Goal
 * @property {string} id which of the goals this row belongs to
 * @property {string} text
 * @property {boolean} reached
 */

/** @returns {Goal} */
export const atLeast = (id, limit, value) => ({ id, text: `>= ${limit}`, reached: value >= limit })
/** @returns {Goal} */
export const atMost = (id, limit, value, unit = '') => ({
  id,
  text: `<= ${limit}${unit && ` ${unit}`}`,
  reached: value <= limit,
})

const grouped = number => Math.round(number).toLocaleString('en-US')

export const perSecond = rate => `${grouped(rate)}/s`
/** @param {number} milliseconds */
export const duration = milliseconds =>
  milliseconds >= 10
    ? `${grouped(milliseconds)} ms`
    : milliseconds >= 1
      ? `${milliseconds.toFixed(1)} ms`
      : `${(milliseconds * 1000).toFixed(milliseconds < 0.1 ? 1 : 0)} µs`
export const bytes = number => (number >= 1024 ** 2 ? `${(number / 1024 ** 2).toFixed(0)} MiB` : `${grouped(number)} B`)
export const count = grouped

/** A ratio to two figures after the point, or to whole numbers where it is large. */
export const times = ratio =>
  ratio === undefined ? '' : ratio >= 20 ? grouped(ratio) : ratio >= 0.005 ? ratio.toFixed(2) : ratio.toPrecision(2)
