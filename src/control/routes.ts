import { COLLECTION_VERBS } from '../areas/direct-debit/lifecycle.js'
import { outcomes } from '../areas/direct-debit/outcomes.js'
import { reasonCodes } from '../areas/direct-debit/reason-codes.js'
import { MANDATE_VERBS } from '../areas/mandates/lifecycle.js'
import type { CatalogueEntry } from '../core/errors.js'
import { catalogue, errors } from '../core/errors.js'
import { formatInstant } from '../core/time.js'
import type { Tenant } from '../sandbox.js'
import type { SeedRecords } from '../seed.js'
import type { Counts } from '../world.js'
import { countsBy } from '../world.js'
import { advance } from './advance.js'
import type { ControlRoute } from './route.js'
import { route } from './route.js'
import * as schemas from './schemas.js'

const querystring = schemas.ClientQuery

/** What the process says of itself. */
export interface Process {
  readonly name: string
  readonly version: string
  /** The real time of its start, in milliseconds. */
  readonly startedAt: number
}

/**
 * The control plane, below /_sandbox, in the order of the documentation: `control-plane.md` says what each call does.
 * `?client=` names the tenant; it is `sandbox-client` where it is left out.
 */
export const controlRoutes = (about: Process): readonly ControlRoute[] => {
  const routes: readonly ControlRoute[] = [
    route({
      method: 'GET',
      url: '',
      summary: 'Name, version, uptime, seed, tenants and record counts, and these routes',
      querystring,
      response: schemas.Overview,
      handle: ({ sandbox, realNow }) => {
        const tenants = sandbox.tenants(realNow)
        return {
          name: about.name,
          version: about.version,
          uptime: Math.floor((realNow - about.startedAt) / 1000),
          seed: sandbox.seed,
          tenants: tenants.length,
          records: sum(tenants.map(({ world }) => world.counts())),
          routes: routes.map(({ method, url, summary }) => ({ method, path: `/_sandbox${url}`, summary })),
        }
      },
    }),
    route({
      method: 'GET',
      url: '/health/live',
      isPlain: true,
      summary: 'Whether the process is alive',
      response: schemas.Health,
      handle: () => ({ status: 'ok' }),
    }),
    route({
      method: 'GET',
      url: '/health/ready',
      isPlain: true,
      summary: 'Whether it takes requests: 503 while closing',
      response: schemas.Health,
      handle: () => ({ status: 'ok' }),
    }),
    route({
      method: 'GET',
      url: '/clients',
      summary: 'All tenants: client id, fixture, record counts, time',
      querystring,
      response: schemas.ClientList,
      handle: ({ sandbox, realNow }) => ({ data: sandbox.tenants(realNow).map(describe) }),
    }),
    route({
      method: 'POST',
      url: '/reset',
      summary: 'Put the tenant back to its fixture: records, clock, ids, settings, events, tokens',
      querystring,
      response: schemas.ResetResult,
      handle: ({ sandbox, client, realNow }) => describe(sandbox.reset(client, realNow)),
    }),
    route({
      method: 'POST',
      url: '/seed',
      summary: 'Add the records of a fixture, or given ones, all or nothing',
      querystring,
      body: schemas.SeedRequest,
      response: schemas.SeedResult,
      handle: ({ sandbox, tenant, body: { fixture, records } }) => {
        if (fixture !== undefined && records !== undefined)
          throw errors.malformed(null, 'Give one of fixture and records.')
        const { world } = tenant()
        const before = world.counts()
        if (fixture !== undefined) world.seed(sandbox.fixtureRecords(fixture, world.clock.now()))
        else world.seed(records as SeedRecords)
        const counts = world.counts()
        return { added: difference(counts, before), counts }
      },
    }),
    route({
      method: 'GET',
      url: '/clock',
      summary: "The tenant's time, whether it runs, and how fast",
      querystring,
      response: schemas.ClockState,
      handle: ({ tenant }) => clockOf(tenant()),
    }),
    route({
      method: 'PATCH',
      url: '/clock',
      summary: 'Freeze or resume the clock, or set its pace: 1 to 86400 tenant-seconds per second',
      querystring,
      body: schemas.ClockUpdate,
      response: schemas.ClockState,
      handle: ({ tenant, body }) => {
        const changed = tenant()
        changed.world.clock.configure(body)
        return clockOf(changed)
      },
    }),
    route({
      method: 'POST',
      url: '/clock/advance',
      summary: 'Move the clock forward by a duration, to a moment, or to the next event; all that is due happens first',
      querystring,
      body: schemas.ClockAdvance,
      response: schemas.ClockAdvanced,
      handle: ({ tenant, body }) => advance(tenant().world, body),
    }),
    ...COLLECTION_VERBS.map(verb =>
      route({
        method: 'POST',
        url: `/direct-debit/:collectionReference/${verb}`,
        summary: `Move a collection: ${verb}`,
        params: schemas.CollectionParams,
        querystring,
        body: schemas.CollectionVerbBody,
        response: schemas.ExplainedCollection,
        handle: ({ tenant, params: { collectionReference }, body: { reasonCode } }) => {
          const { collections } = tenant().world
          collections.transition(collectionReference, verb, reasonCode)
          return collections.explain(collectionReference)
        },
      }),
    ),
    ...MANDATE_VERBS.map(verb =>
      route({
        method: 'POST',
        url: `/mandates/:mandateReference/${verb}`,
        summary: `Move a mandate: ${verb}`,
        params: schemas.MandateParams,
        querystring,
        response: schemas.ExplainedMandate,
        handle: ({ tenant, params: { mandateReference } }) => {
          const { mandates } = tenant().world
          mandates.transition(mandateReference, verb)
          return mandates.explain(mandateReference)
        },
      }),
    ),
    route({
      method: 'POST',
      url: '/payout-links/:payoutLinkId/claim',
      summary: "Claim a payout link, with the fields of the recipient's form",
      params: schemas.PayoutLinkParams,
      querystring,
      body: schemas.Claim,
      response: schemas.ExplainedPayoutLink,
      handle: ({ tenant, params: { payoutLinkId }, body }) => {
        const { payoutLinks } = tenant().world
        payoutLinks.claim(payoutLinkId, body)
        return payoutLinks.explain(payoutLinkId)
      },
    }),
    route({
      method: 'POST',
      url: '/payout-links/:payoutLinkId/decline',
      summary: 'Decline a payout link, as its recipient',
      params: schemas.PayoutLinkParams,
      querystring,
      body: schemas.Decline,
      response: schemas.ExplainedPayoutLink,
      handle: ({ tenant, params: { payoutLinkId }, body }) => {
        const { payoutLinks } = tenant().world
        payoutLinks.decline(payoutLinkId, body)
        return payoutLinks.explain(payoutLinkId)
      },
    }),
    ...(['process', 'pay', 'fail', 'expire'] as const).map(verb =>
      route({
        method: 'POST',
        url: `/payout-links/:payoutLinkId/${verb}`,
        summary: `Move a payout link: ${verb}`,
        params: schemas.PayoutLinkParams,
        querystring,
        response: schemas.ExplainedPayoutLink,
        handle: ({ tenant, params: { payoutLinkId } }) => {
          const { payoutLinks } = tenant().world
          payoutLinks.transition(payoutLinkId, verb)
          return payoutLinks.explain(payoutLinkId)
        },
      }),
    ),
    route({
      method: 'GET',
      url: '/direct-debit/:collectionReference',
      summary: 'Explain a collection: record, timeline, what comes next, legal moves',
      params: schemas.CollectionParams,
      querystring,
      response: schemas.ExplainedCollection,
      handle: ({ tenant, params }) => tenant().world.collections.explain(params.collectionReference),
    }),
    route({
      method: 'GET',
      url: '/mandates/:mandateReference',
      summary: 'Explain a mandate: record, timeline, what comes next, legal moves',
      params: schemas.MandateParams,
      querystring,
      response: schemas.ExplainedMandate,
      handle: ({ tenant, params }) => tenant().world.mandates.explain(params.mandateReference),
    }),
    route({
      method: 'GET',
      url: '/payout-links/:payoutLinkId',
      summary: 'Explain a payout link: record with claim and comment, timeline, what comes next, legal moves',
      params: schemas.PayoutLinkParams,
      querystring,
      response: schemas.ExplainedPayoutLink,
      handle: ({ tenant, params }) => tenant().world.payoutLinks.explain(params.payoutLinkId),
    }),
    route({
      method: 'GET',
      url: '/bills/:uniqueReferenceIdentifier',
      summary: 'Explain a bill: record, timeline, legal moves; ?region= where several regions have the reference',
      params: schemas.BillParams,
      querystring: schemas.BillExplainQuery,
      response: schemas.ExplainedBill,
      handle: ({ tenant, params, query }) =>
        tenant().world.bills.explain(params.uniqueReferenceIdentifier, query.region),
    }),
    route({
      method: 'GET',
      url: '/outcomes',
      summary: 'The outcomes on demand: what a debtorReference of the form SIM-… does',
      querystring,
      response: schemas.OutcomeTable,
      handle: () => ({ data: outcomes.map(outcome => ({ ...outcome, fidelity: 'assumed' })) }),
    }),
    route({
      method: 'GET',
      url: '/reason-codes',
      summary: 'The reason codes of collections, and in which phase each is legal',
      querystring,
      response: schemas.ReasonCodeTable,
      handle: () => ({ data: reasonCodes.map(reasonCode => ({ ...reasonCode, fidelity: 'assumed' })) }),
    }),
    route({
      method: 'GET',
      url: '/errors',
      summary: 'The error catalogue',
      querystring,
      response: schemas.ErrorTable,
      handle: () => ({
        data: Object.entries<CatalogueEntry>(catalogue).map(([code, { status, when, 'x-fidelity': fidelity }]) => ({
          code,
          status,
          when,
          fidelity,
        })),
      }),
    }),
    route({
      method: 'PUT',
      url: '/settings',
      summary: 'Whether new mandates are ACTIVE at once, and which origins may embed payout links',
      querystring,
      body: schemas.SettingsUpdate,
      response: schemas.Settings,
      handle: ({ tenant, body }) => Object.assign(tenant().world.settings, body),
    }),
  ]
  return routes
}

const describe = ({ clientId, fixture, world }: Tenant) => ({
  clientId,
  fixture,
  counts: world.counts(),
  now: formatInstant(world.clock.now()),
})

const clockOf = ({ world: { clock } }: Tenant) => ({
  now: formatInstant(clock.now()),
  mode: clock.mode,
  rate: clock.rate,
})

const sum = (all: readonly Counts[]) => countsBy(kind => all.reduce((total, counts) => total + counts[kind], 0))
const difference = (after: Counts, before: Counts) => countsBy(kind => after[kind] - before[kind])
