import { bundleCore } from '../lib/core.js'
import { atMost, bytes, count } from '../lib/rows.js'
import { outputOf } from '../lib/servers.js'

export const title = 'Memory'

const LIMIT = 1024

/** @param {{ quick: boolean, say: (text: string) => void }} options */
export async function run({ quick, say }) {
  const number = quick ? 100_000 : 1_000_000
  say(`${number} collections through the store`)
  const output = await outputOf('memory.js', [await bundleCore(), String(number)], {
    // So that it is measured, however much it takes.
    nodeArgs: ['--expose-gc', '--max-old-space-size=12288'],
  })
  const { pending, settled, createMicroseconds, stepMicroseconds } = JSON.parse(output)
  const row = (state, value) => ({
    operation: `memory per stored collection, ${state}`,
    peer: '',
    ours: bytes(value),
    theirs: '',
    goal: atMost('memory', LIMIT, value, 'B'),
  })
  return {
    rows: [row('just made', pending), row('settled, with its four events', settled)],
    notes: [
      `Heap and what lies beside it after a collection of garbage, over ${count(number)} collections of 2,000 mandates: records, indexes, events and plans, all included. Making one took ${createMicroseconds.toFixed(1)} µs, each step of its life ${stepMicroseconds.toFixed(1)} µs.`,
    ],
  }
}
