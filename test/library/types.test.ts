import { readFileSync } from 'node:fs'
import type { Static, TSchema } from '@sinclair/typebox'
import t from 'tap'
import type { CollectionTransition } from '../../src/areas/direct-debit/lifecycle.js'
import type { Area, AreaName, Areas } from '../../src/areas/index.js'
import { areas } from '../../src/areas/index.js'
import type { MandateTransition } from '../../src/areas/mandates/lifecycle.js'
import type { PayoutLinkTransition } from '../../src/areas/payout-links/lifecycle.js'
import type * as library from '../../src/client/index.js'
import { toNoun, toTitle } from '../../src/core/words.js'
import type * as clients from '../../src/sandbox/clients/schemas.js'
import type * as clock from '../../src/sandbox/clock/schemas.js'
import type { CoverageReport } from '../../src/sandbox/coverage/schemas.js'
import type * as deprecations from '../../src/sandbox/deprecations/schemas.js'
import type * as events from '../../src/sandbox/events/schemas.js'
import type * as faults from '../../src/sandbox/faults/schemas.js'
import type * as kinds from '../../src/sandbox/kinds/schemas.js'
import type * as outcomes from '../../src/sandbox/outcomes/schemas.js'
import type { LoggedExchange } from '../../src/sandbox/request-log/exchange.js'
import type * as requests from '../../src/sandbox/request-log/schemas.js'
import type * as settings from '../../src/sandbox/settings/schemas.js'
import type * as state from '../../src/sandbox/state/schemas.js'

// The library's own types, compared with the server at compile time: `npm run typecheck` fails on a difference.

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
/** A type with mutable lists. */
type Mutable<T> = T extends readonly (infer Item)[]
  ? Mutable<Item>[]
  : T extends object
    ? { -readonly [K in keyof T]: Mutable<T[K]> }
    : T
/** A type without its closed lists of texts: the documents list more of them than the types of the server do. */
type Widened<T> = T extends string ? string : T extends object ? { [K in keyof T]: Widened<T[K]> } : T
/** Whether the library's type has the members of the server's, and only values of the server. */
type Fits<Own, Server> =
  Mutable<Own> extends Mutable<Server>
    ? Widened<Mutable<Server>> extends Widened<Mutable<Own>>
      ? true
      : 'lacks a value of the server'
    : 'has a value that the server lacks'
/** The records, and their bodies and queries, by the rows of the table of areas. */
type StaticOf<Row, Part extends keyof Row> = Row[Part] extends TSchema ? Static<Row[Part]> : never
type QueryOf<Name extends AreaName> = Areas[Name] extends { list: { query: infer Q extends TSchema } }
  ? Static<Q>
  : never
type Query<F extends (query?: never, ...rest: never) => unknown> = NonNullable<Parameters<F>[0]>

const assertTypes = <_T extends readonly true[]>() => {}

t.test('library, In your tests: the types of records are those of the schemas', async () => {
  assertTypes<
    [
      Fits<library.Mandate, StaticOf<Areas['mandates'], 'record'>>,
      Fits<library.Collection, StaticOf<Areas['collections'], 'record'>>,
      Fits<library.PayoutLink, Static<Areas['payoutLinks']['lifecycle']['explained']>>,
      Fits<library.Bill, StaticOf<Areas['bills'], 'record'>>,
      Fits<library.Counterparty, StaticOf<Areas['counterparties'], 'record'>>,
      Fits<library.Account, StaticOf<Areas['accounts'], 'record'>>,
      Fits<library.CollectionSummary, Static<Areas['collections']['list']['item']>>,
      Fits<library.NewMandate, StaticOf<Areas['mandates'], 'create'>>,
      Fits<library.NewCollection, StaticOf<Areas['collections'], 'create'>>,
      Fits<library.NewPayoutLink, StaticOf<Areas['payoutLinks'], 'create'>>,
      Fits<library.NewBill, StaticOf<Areas['bills'], 'create'>>,
      Fits<library.CounterpartyUpdate, StaticOf<Areas['counterparties'], 'update'>>,
      Same<keyof Query<library.Collections['list']>, keyof QueryOf<'collections'>>,
      Same<keyof Query<library.Mandates['list']>, keyof QueryOf<'mandates'>>,
      Same<keyof Query<library.Bills['list']>, keyof QueryOf<'bills'>>,
      Same<keyof Query<library.Accounts['list']>, keyof QueryOf<'accounts'>>,
      Fits<library.SeedRecords, state.SeedRecords>,
      Fits<library.Claim, Static<Areas['payoutLinks']['lifecycle']['transitions']['claim']['body']>>,
    ]
  >()
})

t.test(
  'library, In your tests: the types of answers and requests of the control plane are those of the schemas',
  async () => {
    assertTypes<
      [
        Fits<library.Settings, settings.Settings>,
        Fits<library.Counts, Static<typeof clients.TenantSummary>['counts']>,
        Fits<library.ClockState, Static<typeof clock.ClockState>>,
        Fits<library.ClockAdvanced, Static<typeof clock.ClockAdvanced>>,
        library.ClockStep extends Static<typeof clock.ClockAdvance> ? true : false,
        Fits<library.UpcomingPage, Static<typeof clock.UpcomingList>>,
        Fits<library.Explained<null>, Omit<kinds.ExplainedRecord, 'record'> & { record: null }>,
        Fits<library.FaultRequest, Static<typeof faults.FaultRequest>>,
        Fits<library.Fault, Static<typeof faults.Fault>>,
        Fits<library.OutcomeRequest, Static<typeof outcomes.OutcomeRequest>>,
        Fits<library.OutcomeTable, Static<typeof outcomes.OutcomeTable>>,
        Fits<library.Event, Static<typeof events.Event>>,
        Fits<library.Expectation, Static<typeof requests.Verification>>,
        Fits<library.Verification, Static<typeof requests.VerificationResult>>,
        Fits<library.LoggedExchange, LoggedExchange>,
        Fits<library.Coverage, Static<typeof CoverageReport>>,
        Fits<library.DeprecationRequest, Static<typeof deprecations.DeprecationRequest>>,
      ]
    >()
  },
)

t.test('library, In your tests: the library has a method for each transition of the control plane', async () => {
  type Own = 'explain' | 'search' | 'create' | 'list' | 'all' | 'setOutcome'
  assertTypes<
    [
      Same<keyof library.Records, AreaName>,
      Same<Exclude<keyof library.Collections, Own>, CollectionTransition>,
      Same<Exclude<keyof library.Mandates, Own>, MandateTransition>,
      Same<Exclude<keyof library.PayoutLinks, Own>, PayoutLinkTransition>,
      keyof NonNullable<Parameters<library.Bills['explain']>[1]> extends keyof Static<typeof kinds.RecordQuery>
        ? true
        : false,
    ]
  >()
})

t.test('CONTRIBUTING, A new area: the library exports the types of each kind by name', async t => {
  const source = readFileSync('src/client/records.ts', 'utf8')
  const exported = new Set([...source.matchAll(/^export (?:type|interface) (\w+)/gm)].map(([, name]) => name))
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
