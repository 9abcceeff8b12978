import t from 'tap'
import { build } from '../helper.js'
import type { Har, HarEntry } from './capture.js'
import { DIFFERENCES } from './differences.js'
import { journey } from './journey.js'
import { find, MUTATIONS } from './mutations.js'
import { findingsOf } from './run.js'

// What the real service might do in another way. Each is one finding, in its entry.

const IS_LONG = process.env.TEST_LONG === '1'

let base: Har
t.before(async () => {
  base = await journey(build(t))
})

/** The differences that the tool leaves out: each would need a rule of the service. */
const NOT_FOUND = [
  'a reason of a pending collection',
  'a collection of a cancelled mandate',
  'a bill of another region',
  'an account of another region',
  // Only the sandbox has this header, and only with its control plane those of a deprecation.
  'no x-request-id',
  'Deprecation of RFC 9745',
  'RFC 8594 Sunset',
  // The record can have been there before the capture.
  '400 for an unknown mandate',
  '403 for an unknown counterparty',
]

t.test('decisions §1: each difference of the journey is one finding', { timeout: 600_000 }, async t => {
  const all = [...MUTATIONS, ...DIFFERENCES]
  t.ok(NOT_FOUND.length <= 0.1 * all.length)
  // Each twentieth one: the others take time, and are run at length.
  for (const [name, line, change, label] of all.filter((_, at) => IS_LONG || at % 20 === 0)) {
    const har = structuredClone(base)
    const entry = find(har, line)
    change(entry, har)
    const found = await findingsOf(t, har)
    const n = har.log.entries.indexOf(entry as HarEntry) + 1
    const isOne = found.length === 1 && found[0]?.entry === n && (label ?? found[0].fidelity) === found[0].fidelity
    t.equal(isOne, !NOT_FOUND.includes(name), `${name}: ${JSON.stringify(found)}`)
  }
})
