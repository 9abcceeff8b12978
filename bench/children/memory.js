/**
 * What a stored collection takes: makes many through the store, as the API does, then lets a month and a half go by, in
 * which all of them settle. Prints JSON. Takes the bundle of the core and the number of collections; needs --expose-gc.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { createWorldOf } from '../lib/core.js'
import { mandates, openCollections } from '../lib/records.js'

const [file, number] = process.argv.slice(2)
const count = Number(number)
const GROUPS = 2000
const DAYS = 60

/** All that is held, in bytes: the heap, and what lies beside it. */
async function held() {
  // Twice, with time between: what is weakly held goes with the second.
  globalThis.gc()
  await wait(50)
  globalThis.gc()
  const { heapUsed, external } = process.memoryUsage()
  // `external` counts array buffers, too.
  return heapUsed + external
}

const world = await createWorldOf(file)
world.seed({ mandates: mandates(GROUPS) })

const empty = await held()
let made = 0
const began = performance.now()
for (const collection of openCollections(count, GROUPS)) {
  // As the server gets it: text, parsed.
  world.collections.create(JSON.parse(JSON.stringify(collection)))
  made++
}
const createMs = performance.now() - began
const pending = await held()

const start = world.clock.now()
const settling = performance.now()
world.clock.advanceTo(start + DAYS * 24 * 3600 * 1000)
const settleMs = performance.now() - settling
const settled = await held()
const { totalCount } = world.collections.list({ status: ['SETTLED'], limit: 1 })
if (made !== count || totalCount !== count) throw new Error(`${made} made, ${totalCount} settled of ${count}`)

process.stdout.write(
  JSON.stringify({
    pending: (pending - empty) / count,
    settled: (settled - empty) / count,
    createMicroseconds: (1000 * createMs) / count,
    stepMicroseconds: (1000 * settleMs) / (3 * count),
  }),
)
