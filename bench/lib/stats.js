/** @param {readonly number[]} values @returns {number} */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/**
 * What came out of rounds that were taken in turns: the ratio of each round, their median, and the lowest and highest
 * of them. What slows the machine down for a while hits both of a round, so ratios vary less than what they are made of.
 * @param {readonly number[]} ours one figure for each round
 * @param {readonly number[]} theirs of the same rounds
 */
export function compare(ours, theirs) {
  const ratios = ours.map((value, round) => value / theirs[round])
  return {
    ours: median(ours),
    theirs: median(theirs),
    ratio: median(ratios),
    spread: [Math.min(...ratios), Math.max(...ratios)],
  }
}

/**
 * Random numbers that are the same in each run (mulberry32).
 * @param {number} seed
 * @returns {() => number} from 0 to below 1
 */
export function createRandom(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
