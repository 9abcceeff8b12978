import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { bundleCore } from '../lib/core.js'
import { BENCH } from '../lib/machine.js'
import { atMost, bytes, count } from '../lib/rows.js'

export const title = 'Memory'

const run_ = promisify(execFile)
const LIMIT = 1024

/** @param {{ quick: boolean, say: (text: string) => void }} options */
export async function run({ quick, say }) {
  const number = quick ? 100_000 : 1_000_000
  say(`${number} collections through the store`)
  const { stdout } = await run_(process.execPath, [
    '--expose-gc',
    // So that it is measured, however much it takes.
    '--max-old-space-size=12288',
    join(BENCH, 'children/memory.js'),
    await bundleCore(),
    String(number),
  ])
  const { pending, settled, createMicroseconds, stepMicroseconds } = JSON.parse(stdout)
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
