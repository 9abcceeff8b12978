import t from 'tap'
import type { PayoutLinkVerb } from '../../src/areas/payout-links/lifecycle.js'
import type { Bills, ClockStep, PayoutLinks } from '../../src/client/index.js'
import type * as schemas from '../../src/control/schemas.js'

// The library's own interfaces, compared with the server at compile time: `npm run typecheck` fails on a difference.

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

const assertTypes = <_T extends readonly true[]>() => {}

t.test('library, In your tests: the library has a method for each transition of the control plane', async () => {
  assertTypes<
    [
      Same<Exclude<keyof PayoutLinks, 'explain' | 'search' | 'create' | 'setOutcome'>, PayoutLinkVerb>,
      keyof NonNullable<Parameters<Bills['explain']>[1]> extends keyof (typeof schemas.RecordQuery)['static']
        ? true
        : false,
      ClockStep extends (typeof schemas.ClockAdvance)['static'] ? true : false,
    ]
  >()
})
