import { readFileSync } from 'node:fs'
import t from 'tap'
import type { Area } from '../../src/areas/index.js'
import { areas } from '../../src/areas/index.js'
import type { PayoutLinkVerb } from '../../src/areas/payout-links/lifecycle.js'
import type { Bills, ClockStep, PayoutLinks } from '../../src/client/index.js'
import { toNoun, toTitle } from '../../src/core/words.js'
import type { ClockAdvance } from '../../src/sandbox/clock/schemas.js'
import type { RecordQuery } from '../../src/sandbox/kinds/schemas.js'

// The library's own interfaces, compared with the server at compile time: `npm run typecheck` fails on a difference.

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

const assertTypes = <_T extends readonly true[]>() => {}

t.test('library, In your tests: the library has a method for each transition of the control plane', async () => {
  assertTypes<
    [
      Same<Exclude<keyof PayoutLinks, 'explain' | 'search' | 'create' | 'setOutcome'>, PayoutLinkVerb>,
      keyof NonNullable<Parameters<Bills['explain']>[1]> extends keyof (typeof RecordQuery)['static'] ? true : false,
      ClockStep extends (typeof ClockAdvance)['static'] ? true : false,
    ]
  >()
})

t.test('CONTRIBUTING, A new area: the library exports the types of each kind by name', async t => {
  const source = readFileSync('src/client/records.ts', 'utf8')
  const exported = new Set([...source.matchAll(/^export type (\w+) = /gm)].map(([, name]) => name))
  const named = Object.entries<Area>(areas).flatMap(([name, { lifecycle, create, update, list, outcomes }]) => {
    const noun = toTitle(lifecycle?.kind ?? toNoun(name))
    const isMoved = Object.values(lifecycle?.transitions ?? {}).some(move => 'example' in move)
    return [
      ...[noun, toTitle(name)],
      ...(lifecycle ? [`${noun}Status`] : []),
      ...(create ? [`New${noun}`] : []),
      ...(update ? [`${noun}Update`] : []),
      ...(list ? [`${noun}Filter`] : []),
      ...(isMoved ? [`${noun}Move`] : []),
      ...(outcomes ? [`${noun}Outcome`] : []),
    ]
  })
  t.same(
    named.filter(name => !exported.has(name)),
    [],
  )
})
