/**
 * That the library's types are those of the server: `npm run typecheck` refuses this file where they are not. They are
 * written by hand, so that the package's declarations stand by themselves.
 */
import { readdirSync, readFileSync } from 'node:fs'
import type { Static, TSchema } from '@sinclair/typebox'
import t from 'tap'
import ts from 'typescript'
import type { Account } from '../src/areas/accounts/schemas.js'
import type { Bill, SeedBill } from '../src/areas/bills/schemas.js'
import type { Counterparty, SeedCounterparty } from '../src/areas/counterparties/schemas.js'
import type { CollectionVerb } from '../src/areas/direct-debit/lifecycle.js'
import type { Collection, SeedCollection } from '../src/areas/direct-debit/schemas.js'
import type { MandateVerb } from '../src/areas/mandates/lifecycle.js'
import type { SeedMandate, StoredMandate } from '../src/areas/mandates/schemas.js'
import type { PayoutLinkVerb } from '../src/areas/payout-links/lifecycle.js'
import type { Claim, Decline, SeedPayoutLink, StoredPayoutLink } from '../src/areas/payout-links/schemas.js'
import type * as schemas from '../src/control/schemas.js'
import type * as core from '../src/core/faults.js'
import type { LoggedRequest } from '../src/http/journal.js'
import type * as library from '../src/library/types.js'
import type { Recording } from '../src/recording.js'
import type { SeedRecords } from '../src/seed.js'
import type { KeptFault, State } from '../src/state.js'

type Primitive = string | number | boolean | null | undefined

/** A type with what makes no difference on the wire left out: `readonly`, names, how it is put together. */
type Plain<T> = unknown extends T
  ? unknown
  : T extends Primitive
    ? T
    : T extends readonly (infer I)[]
      ? Plain<I>[]
      : { -readonly [K in keyof T]: Plain<T[K]> }

/** Whether two types are the same, down to which members can be left out. */
type Same<A, B> = (<T>() => T extends Plain<A> ? 1 : 2) extends <T>() => T extends Plain<B> ? 1 : 2 ? true : false

/** A schema's type. */
type Of<S extends TSchema> = Static<S>

/** All members that a type can have. */
type Members<T> = T extends unknown ? keyof T : never

/** Compiles where all are true. */
const hold = <_T extends readonly true[]>() => {}

hold<
  [
    Same<library.Account, Account>,
    Same<library.Bill, Bill>,
    Same<library.Collection, Collection>,
    Same<library.Counterparty, Counterparty>,
    Same<library.Mandate, StoredMandate>,
    Same<library.PayoutLink, StoredPayoutLink>,
    Same<library.Claim, Claim>,
    Same<library.Decline, Decline>,
  ]
>()

hold<
  [
    Same<library.SeedRecords, SeedRecords>,
    Same<library.SeedBill, SeedBill>,
    Same<library.SeedCollection, SeedCollection>,
    Same<library.SeedCounterparty, SeedCounterparty>,
    Same<library.SeedMandate, SeedMandate>,
    Same<library.SeedPayoutLink, SeedPayoutLink>,
    Same<library.SeedResult, Of<typeof schemas.SeedResult>>,
  ]
>()

hold<
  [
    Same<library.Explained<library.Collection>, Of<typeof schemas.ExplainedCollection>>,
    Same<library.Explained<library.Mandate>, Of<typeof schemas.ExplainedMandate>>,
    Same<library.Explained<library.PayoutLink>, Of<typeof schemas.ExplainedPayoutLink>>,
    Same<library.Explained<library.Bill>, Of<typeof schemas.ExplainedBill>>,
    Same<library.CollectionReason, Of<typeof schemas.CollectionVerbBody>>,
    Same<Exclude<keyof library.Collections, 'explain'>, CollectionVerb>,
    Same<Exclude<keyof library.Mandates, 'explain'>, MandateVerb>,
    // To cancel a link is the API's.
    Same<Exclude<keyof library.PayoutLinks, 'explain'>, Exclude<PayoutLinkVerb, 'cancel'>>,
    Same<NonNullable<Parameters<library.Bills['explain']>[1]>, Omit<Of<typeof schemas.BillExplainQuery>, 'client'>>,
  ]
>()

hold<
  [
    Same<library.ResetResult, Of<typeof schemas.ResetResult>>,
    Same<library.Settings, Of<typeof schemas.Settings>>,
    Same<Partial<library.Settings>, Of<typeof schemas.SettingsUpdate>>,
    Same<library.ClockState, Of<typeof schemas.ClockState>>,
    Same<library.ClockAdvanced, Of<typeof schemas.ClockAdvanced>>,
    // The server takes one of three members, which its schema says in another way than a union of types.
    Same<Members<library.ClockStep>, keyof Of<typeof schemas.ClockAdvance>>,
    library.ClockStep extends Of<typeof schemas.ClockAdvance> ? true : false,
    Same<library.Deprecation[], Of<typeof schemas.DeprecationList>['data']>,
    Same<library.DeprecationRequest[], Of<typeof schemas.DeprecationsUpdate>['data']>,
  ]
>()

hold<
  [
    // The schemas leave much of a fault to the core, and the core the methods to the schemas.
    Same<Omit<library.FaultRequest, 'match'>, Omit<core.FaultRequest, 'match'>>,
    Same<Omit<library.KeptFault, 'match'>, Omit<core.Fault, 'match'>>,
    Same<library.Fault['state'], core.FaultState>,
    Same<library.FaultMatch, NonNullable<Of<typeof schemas.FaultRequest>['match']>>,
    Same<keyof library.FaultMatch, keyof core.FaultMatch>,
    Same<keyof library.FaultRequest, keyof Of<typeof schemas.FaultRequest>>,
    Same<Members<library.Effect>, keyof Of<typeof schemas.FaultRequest>['effect']>,
    Same<keyof library.KeptFault, keyof Of<typeof KeptFault>>,
    Same<keyof library.Fault, keyof Of<typeof schemas.Fault>>,
  ]
>()

hold<
  [
    Same<library.LoggedRequest, LoggedRequest>,
    Same<keyof library.LoggedRequest, keyof Of<typeof schemas.RequestList>['data'][number]>,
    Same<library.RequestFilter, Omit<Of<typeof schemas.RequestQuery>, 'client'>>,
    Same<library.Expectation, Of<typeof schemas.Verification>>,
    Same<library.Verification, Of<typeof schemas.VerificationResult>>,
    Same<library.Event[], Of<typeof schemas.EventList>['data']>,
    // `to` is sifted out here, and how long to wait has an option of its own.
    Same<Omit<library.EventFilter, 'to'>, Omit<Of<typeof schemas.EventQuery>, 'client' | 'wait'>>,
  ]
>()

hold<
  [
    Same<Omit<library.State, 'faults'>, Omit<State, 'faults'>>,
    Same<keyof library.State, keyof State>,
    Same<Omit<library.Recording, 'start'>, Omit<Recording, 'start'>>,
    Same<Omit<library.Recording['start'], 'faults'>, Omit<Recording['start'], 'faults'>>,
  ]
>()

const FOLDER = new URL('../src/library/', import.meta.url)

t.test('issue 3, item 5: what the package declares needs nothing from outside it', async t => {
  // What `scripts/build.js` writes declarations of.
  for (const name of ['index', 'types', 'errors']) {
    const { outputText, diagnostics } = ts.transpileDeclaration(readFileSync(new URL(`${name}.ts`, FOLDER), 'utf8'), {
      fileName: `${name}.ts`,
      reportDiagnostics: true,
      compilerOptions: { isolatedDeclarations: true, strict: true },
    })
    t.same(diagnostics, [], name)
    const modules = [...outputText.matchAll(/(?:from|import\()\s*['"]([^'"]+)['"]/g)].map(([, module]) => module)
    t.same(
      modules.filter(module => !/^\.\/(types|errors)\.js$/.test(module as string)),
      [],
      name,
    )
  }
})

/** The members of exported interfaces and functions that say nothing of themselves. */
function undocumented(path: URL): string[] {
  const source = ts.createSourceFile(path.pathname, readFileSync(path, 'utf8'), ts.ScriptTarget.ESNext, true)
  const isDocumented = (node: ts.Node) => ts.getJSDocCommentsAndTags(node).length > 0
  return source.statements.flatMap(statement => {
    if (!ts.isInterfaceDeclaration(statement) || !statement.modifiers?.length) return []
    return isDocumented(statement) ? [] : [statement.name.text]
  })
}

t.test('issue 3, item 5: every interface of the library says what it is', async t => {
  const files = readdirSync(FOLDER).filter(file => file.endsWith('.ts'))
  t.ok(files.includes('types.ts'))
  t.same(undocumented(new URL('types.ts', FOLDER)), [])
})
