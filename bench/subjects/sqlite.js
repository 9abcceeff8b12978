import { bundleCore } from '../lib/core.js'
import { SERVER_CORE } from '../lib/machine.js'
import { atLeast, count, duration } from '../lib/rows.js'
import { outputOf } from '../lib/servers.js'
import { compare, median } from '../lib/stats.js'

export const title = 'The store against SQLite in memory'

/** @param {{ quick: boolean, say: (text: string) => void }} options */
export async function run({ quick, say }) {
  const sizes = [1000, 10_000, 100_000, ...(quick ? [] : [1_000_000])]
  say(`sizes ${sizes.map(count).join(', ')}`)
  const output = await outputOf('sqlite.js', [await bundleCore(), quick ? '2' : '7', ...sizes.map(String)], {
    core: SERVER_CORE,
    nodeArgs: ['--max-old-space-size=12288'],
  })
  const measured = JSON.parse(output)
  const largest = sizes.at(-1)
  return {
    rows: measured.filter(({ size }) => size === largest).map(rowOf),
    notes: [
      'Ratio: how many times as fast as SQLite. Each call gives the total count, whether there is more, and a page of 100 as objects; both gave the same. SQLite has its statements prepared, an index for each filter that also holds what else is asked, and for each statement the index that proved fastest.',
      `At other sizes (ours, SQLite, ratio): ${othersOf(measured, largest)}.`,
    ],
    plotted: measured
      .filter(({ isPlotted }) => isPlotted)
      .map(({ size, name, ours, theirs }) => ({ size, name, ours: median(ours), theirs: median(theirs) })),
  }
}

function rowOf({ size, name, kind, ours, theirs }) {
  // The other way round, since less time is more speed.
  const { ours: slower, theirs: faster, ratio, spread } = compare(theirs, ours)
  return {
    operation: `${name}, ${count(size)} collections`,
    peer: 'SQLite',
    ours: duration(faster),
    theirs: duration(slower),
    ratio,
    spread,
    goal: kind === 'combination' ? atLeast('combination', 1, ratio) : atLeast('sqlite', 3, ratio),
  }
}

const othersOf = (measured, largest) =>
  measured
    .filter(({ size, isPlotted }) => size !== largest && isPlotted)
    .map(({ size, name, ours, theirs }) => {
      const { ours: slower, theirs: faster, ratio } = compare(theirs, ours)
      return `${name} at ${count(size)} ${duration(faster)}, ${duration(slower)}, ${ratio.toFixed(1)}`
    })
    .join('; ')
