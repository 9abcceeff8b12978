/**
 * The same list calls in the product's store and in SQLite, in one process, at several sizes. Holds the answers against
 * each other first. Prints JSON. Takes the bundle of the core, the number of rounds, and the sizes.
 */
import assert from 'node:assert/strict'
import { createWorldOf } from '../lib/core.js'
import { groupsOf, queriesOf } from '../lib/queries.js'
import { collections, mandates } from '../lib/records.js'
import { chooseHints, createDatabase, prepareList } from '../lib/sqlite.js'

const [file, rounds, ...sizes] = process.argv.slice(2)
const PER_PAGE = 100
/** Up to this size, every index is tried; beyond, the choice made last is taken. */
const MOST_TRIED = 100_000

/** How long a round of one query takes, at least. */
const ROUND_MS = 20

/** By the place of the query, which is the same at each size. */
const chosen = []
const results = []
for (const size of sizes.map(Number)) {
  process.stderr.write(`  ${size} collections\n`)
  results.push(...(await measureAt(size)))
}
process.stdout.write(JSON.stringify(results))

async function measureAt(size) {
  const world = await createWorldOf(file)
  world.seed({ mandates: mandates(groupsOf(size)) })
  for (const batch of batches(collections(size, groupsOf(size)), 5000)) world.seed({ collections: batch })
  const database = createDatabase(stored(world))

  const far = cursorsTo(world, Math.min(5000, size / PER_PAGE / 2))
  const measured = []
  for (const [place, { name, kind, isPlotted = false, variants }] of queriesOf(size, far).entries()) {
    const places = variants.map(({ cursor }) => far.places.get(cursor))
    if (size <= MOST_TRIED) {
      chosen[place] = chooseHints(
        database,
        variants.slice(0, 3).map((query, at) => ({ query, after: places[at] })),
      )
    }
    const hints = chosen[place]
    const ours = variants.map(query => () => world.collections.list(query))
    const theirs = variants.map((query, at) => prepareList(database, query, places[at], hints))
    for (const [at, list] of ours.entries()) refuseDifference(list(), theirs[at](), name)

    const took = { ours: [], theirs: [] }
    const [many, few] = [repeatsOf(ours), repeatsOf(theirs)]
    for (let round = 0; round < Number(rounds); round++) {
      took.ours.push(timeOf(ours, many))
      took.theirs.push(timeOf(theirs, few))
    }
    measured.push({ size, name, kind, isPlotted, hints, ...took })
  }
  database.close()
  return measured
}

function* batches(records, size) {
  let batch = []
  for (const record of records) {
    batch.push(record)
    if (batch.length === size) {
      yield batch
      batch = []
    }
  }
  if (batch.length > 0) yield batch
}

/** All records of a world, oldest first. */
function stored(world) {
  const all = []
  let cursor
  do {
    const { data, nextCursor } = world.collections.list({ limit: 500, ...(cursor && { cursor }) })
    for (const record of data) all.push(record)
    cursor = nextCursor
  } while (cursor !== null)
  return all.reverse()
}

/** Cursors that lead to a page and to some before it, and where in SQLite they stand. */
function cursorsTo(world, number) {
  const { totalCount } = world.collections.list({ limit: 1 })
  const cursors = []
  const places = new Map()
  let cursor
  for (let page = 1; page < number; page++) {
    const { data, nextCursor } = world.collections.list({ limit: PER_PAGE, ...(cursor && { cursor }) })
    cursor = nextCursor
    if (page + 10 < number) continue
    cursors.push(cursor)
    places.set(cursor, { initiated: Date.parse(data.at(-1).initiatedAt), sequence: totalCount - page * PER_PAGE + 1 })
  }
  return { number, cursors, places }
}

function refuseDifference(ours, theirs, name) {
  const shown = ({ totalCount, hasMore, data }) => ({
    totalCount,
    hasMore,
    references: data.map(({ collectionReference }) => collectionReference),
  })
  assert.deepEqual(shown(ours), shown(theirs), name)
  assert.deepEqual({ ...ours.data[0] }, { ...theirs.data[0] }, name)
}

/** How many calls go into a round. */
function repeatsOf(calls) {
  const began = performance.now()
  let count = 0
  while (performance.now() - began < ROUND_MS) calls[count++ % calls.length]()
  return Math.max(2, count)
}

/** Milliseconds of one call. */
function timeOf(calls, repeats) {
  const began = performance.now()
  for (let count = 0; count < repeats; count++) calls[count % calls.length]()
  return (performance.now() - began) / repeats
}
