import type { Static } from '@sinclair/typebox'
import type { FastifyPluginCallback } from 'fastify'
import { COLLECTION_VERBS } from '../areas/direct-debit/lifecycle.js'
import type { ReasonCode } from '../areas/direct-debit/reason-codes.js'
import { describeLimit, phases, reasonCodes } from '../areas/direct-debit/reason-codes.js'
import type { Area, AreaName, Store } from '../areas/index.js'
import { areas, byArea } from '../areas/index.js'
import { MANDATE_VERBS } from '../areas/mandates/lifecycle.js'
import { STEERABLE_STATUSES } from '../areas/payout-links/outcomes.js'
import { renderEmbedDemo } from '../areas/payout-links/views/embed-demo.js'
import type { CatalogueEntry, ErrorCode } from '../core/errors.js'
import { catalogue, errors } from '../core/errors.js'
import { formatInstant } from '../core/time/time.js'
import { toList, toTitle, toWords } from '../core/words.js'
import type { ControlRoute } from '../features/control-route.js'
import { route, toDocument } from '../features/control-route.js'
import { coverageRoutes } from '../features/coverage/routes.js'
import { deprecationRoutes } from '../features/deprecations/routes.js'
import { eventRoutes } from '../features/events/routes.js'
import { faultRoutes } from '../features/faults/routes.js'
import { outcomeRoutes } from '../features/outcomes/routes.js'
import { recordingRoutes } from '../features/recording/routes.js'
import { requestRoutes } from '../features/request-log/routes.js'
import { scenarioRoutes } from '../features/scenarios/routes.js'
import { JSON_TYPE } from '../http/error-handler.js'
import type { SeedRecords } from '../tenants/seed.js'
import type { Counts, Tenant } from '../tenants/tenant.js'
import type { Turns } from '../turns/turns.js'
import { advance } from './advance.js'
import type { ControlPlane } from './route.js'
import { addRoutes, nameClient } from './route.js'
import * as schemas from './schemas.js'
import { snapshotRoutes } from './snapshots.js'
import { describe } from './summary.js'
import { upcoming } from './upcoming.js'

const querystring = schemas.ClientQuery

/** The names of this machine: the demo page has one, and its frame the other. Behind a proxy both have the same. */
const LOOPBACK = 'http://localhost:* http://127.0.0.1:*'
const EMBED_DEMO_HEADERS = {
  'content-security-policy':
    `default-src 'none'; script-src 'self' ${LOOPBACK}; frame-src 'self' ${LOOPBACK}; style-src 'self'; ` +
    "connect-src 'self'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
}

/**
 * The records of the fixture `demo` that are there for the examples of calls that end something, one for each call.
 * The link that is claimed is the one that is processed: a claimed link is PROCESSING after seconds.
 */
const EXAMPLES = {
  collections: {
    submit: 'COL-ACME-0061',
    process: 'COL-ACME-0062',
    settle: 'COL-ACME-0063',
    fail: 'COL-ACME-0064',
    reject: 'COL-ACME-0065',
    return: 'COL-ACME-0066',
    cancel: 'COL-ACME-0067',
    outcome: 'COL-ACME-0068',
  },
  mandates: {
    activate: 'MND-ACME-0011',
    fail: 'MND-ACME-0015',
    cancel: 'MND-ACME-0016',
    expire: 'MND-ACME-0017',
  },
  payoutLinks: {
    claim: 'PL-ACME-EU-0014',
    decline: 'PL-ACME-EU-0015',
    process: 'PL-ACME-EU-0014',
    pay: 'PL-ACME-UK-0016',
    fail: 'PL-ACME-UK-0017',
    expire: 'PL-ACME-EU-0018',
    cancel: 'PL-ACME-EU-0020',
    outcome: 'PL-ACME-EU-0019',
  },
} as const

/** The facts of the process. */
export interface About {
  readonly name: string
  readonly version: string
  /** The real time of its start, in milliseconds. */
  readonly startedAt: number
  /** The maximum size of a state document in bytes. */
  readonly stateBytes: number
}

/** The control plane, below /_sandbox. */
export const controlRoutes: FastifyPluginCallback<{ about: About; context: ControlPlane }> = (
  app,
  { about, context },
  done,
) => {
  addRoutes(app, context, tableOf(about, context.turns))
  done()
}

/**
 * Lists the routes in the order of `docs/control-plane.md`, which describes each call.
 * `?client=` names the tenant; it is `sandbox-client` by default.
 */
const tableOf = (about: About, turns: Turns): readonly ControlRoute[] => {
  const routes: readonly ControlRoute[] = [
    route({
      method: 'GET',
      url: '',
      operationId: 'getOverview',
      isGlobal: true,
      summary: 'Name, version, uptime, seed, tenants and record counts, and these routes',
      querystring,
      response: schemas.Overview,
      async handle({ registry, realNow }) {
        const counts = await turns.all(tenant => tenant.counts())
        return {
          name: about.name,
          version: about.version,
          uptime: Math.floor((realNow - about.startedAt) / 1000),
          seed: registry.seed,
          tenants: counts.length,
          records: sum(counts),
          routes: routes.map(({ method, url, summary }) => ({ method, path: `/_sandbox${url}`, summary })),
        }
      },
    }),
    route({
      method: 'GET',
      url: '/health/live',
      operationId: 'checkLiveness',
      command: 'live',
      isGlobal: true,
      isOpen: true,
      querystring,
      summary: 'Whether the process is alive',
      response: schemas.Health,
      handle: () => ({ status: 'ok' }),
    }),
    route({
      method: 'GET',
      url: '/health/ready',
      operationId: 'checkReadiness',
      command: 'ready',
      isGlobal: true,
      isOpen: true,
      querystring,
      summary: 'Whether it takes requests: 503 while closing, and while the database is away',
      response: schemas.Health,
      async handle() {
        await turns.check()
        return { status: 'ok' }
      },
    }),
    route({
      method: 'GET',
      url: '/openapi.json',
      operationId: 'getOpenApiDocument',
      command: 'openapi',
      isGlobal: true,
      summary: 'The control plane as an OpenAPI document',
      querystring,
      response: schemas.OpenApiDocument,
      handle: ({ documents, request, reply }) => {
        reply.type(JSON_TYPE)
        return documents.render('control', 'json', request.sandbox.publicUrl)
      },
    }),
    route({
      method: 'GET',
      url: '/clients',
      operationId: 'listClients',
      isGlobal: true,
      summary: 'All tenants: client id, fixture, record counts, time',
      querystring,
      response: schemas.ClientList,
      handle: async () => ({ data: await turns.all(describe) }),
    }),
    route({
      method: 'POST',
      url: '/credentials/verify',
      operationId: 'verifyCredentials',
      isGlobal: true,
      errors: ['INVALID_CLIENT'],
      summary: 'Check the secret of a client; an unknown client is registered as by its first token request',
      description: 'It issues no token, triggers no fault and is not in the request log.',
      isRecorded: false,
      body: schemas.ClientCredentials,
      response: schemas.ResetResult,
      handle: ({ registry, reply, body: { client_id, client_secret } }) => {
        nameClient(reply, client_id)
        return turns.take(client_id, {
          isRead: () => true,
          run: realNow => describe(registry.authenticate(client_id, client_secret, realNow), realNow),
        })
      },
    }),
    route({
      method: 'POST',
      url: '/reset',
      operationId: 'resetClient',
      isReplacing: true,
      summary: 'Put the tenant back to its fixture: records, clock, ids, settings, faults, requests, events, tokens',
      description:
        'Earlier tokens become invalid. The numbers of events and requests start at 1 again. The coverage and the ' +
        'recording start again, too.',
      isRecorded: false,
      querystring,
      response: schemas.ResetResult,
      handle: ({ registry, client, realNow }) => describe(registry.reset(client, realNow), realNow),
    }),
    route({
      method: 'POST',
      url: '/seed',
      operationId: 'seedRecords',
      errors: errorsOf('stage'),
      summary: 'Add the records of a fixture, or given ones, all or nothing',
      description:
        'All records are checked before the first one is added. Records can be in any state. Faults and armed ' +
        'outcomes do not apply to them.',
      querystring,
      body: schemas.SeedRequest,
      response: schemas.SeedResult,
      // The fixture may be another one at the time of a replay.
      recordedBody({ registry, tenant: { clock }, body }) {
        const { fixture, records } = body
        const isFixture = fixture !== undefined && records === undefined
        return isFixture ? { records: registry.fixtureRecords(fixture, clock.now()) } : body
      },
      *handle({ registry, tenant, body: { fixture, records } }) {
        if (fixture !== undefined && records !== undefined)
          throw errors.malformed(null, 'Give one of fixture and records.')
        const target = tenant()
        const before = target.counts()
        const { clock } = target
        yield* target.seeding(
          fixture === undefined ? (records as SeedRecords) : registry.fixtureRecords(fixture, clock.now()),
        )
        const counts = target.counts()
        return { added: difference(counts, before), counts }
      },
    }),
    route({
      method: 'GET',
      url: '/state',
      operationId: 'getState',
      command: 'state save FILE',
      summary: 'The whole tenant as one JSON document',
      description:
        'The document has no secrets, request log, coverage or recording. `PUT /_sandbox/state` restores it, on ' +
        'this or another server.',
      querystring,
      response: schemas.TenantSnapshot,
      handle({ tenant, readLater, reply, largeAnswers }) {
        const document = isLarge(tenant()) ? undefined : toDocument(reply, tenant().snapshot())
        // Without indentation, which takes a third of its size: PUT has a limit.
        return document ?? largeAnswers.send(reply, () => readLater(tenant => tenant.snapshot()))
      },
    }),
    route({
      method: 'PUT',
      url: '/state',
      operationId: 'restoreState',
      command: 'state load FILE',
      errors: errorsOf('restore'),
      summary: 'Replace the state of the tenant by a state document, all or nothing',
      description:
        'The document replaces records, clock, settings, faults, armed outcomes, deprecations and events. With a ' +
        'frozen clock, a later GET returns the same bytes. The request log and the coverage stay. A new recording ' +
        'starts.',
      isRecorded: false,
      bodyLimit: about.stateBytes,
      // The client that the example of POST /credentials/verify registers: the demo keeps its records.
      example: { client: 'app-{{client}}' },
      querystring,
      body: schemas.StateDocument,
      response: schemas.ResetResult,
      *handle({ registry, client, realNow, body }) {
        return describe(yield* registry.replace(client, body, realNow), realNow)
      },
    }),
    route({
      method: 'POST',
      url: '/fork',
      operationId: 'forkClient',
      errors: ['DUPLICATE_REFERENCE'],
      summary: 'Begin another tenant as an exact copy of this one; without clientSecret, it has the same',
      description:
        'The copy also has the clock, settings, faults and events. Its request log, coverage and recording are ' +
        'empty. Both tenants generate the same ids for the same requests.',
      isRecorded: false,
      creates: ({ clientId }: Static<typeof schemas.ForkRequest>) => clientId,
      querystring,
      body: schemas.ForkRequest,
      status: 201,
      response: schemas.ForkResult,
      *handle({ registry, client, realNow, body }) {
        const { clientId } = yield* registry.fork(client, body, realNow)
        return { clientId }
      },
    }),
    route({
      method: 'DELETE',
      url: '/clients/:clientId',
      operationId: 'removeClient',
      isReplacing: true,
      summary: 'Remove a tenant; the demo client and listed clients are reset instead',
      description:
        'The tokens of the client become invalid, and its id is free. The demo client and the clients of ' +
        '`SANDBOX_CLIENTS` stay: `removed` is then 0.',
      isRecorded: false,
      params: schemas.ClientParams,
      response: schemas.Cleared,
      handle({ registry, realNow, params: { clientId } }) {
        if (!registry.has(clientId)) throw errors.clientNotFound(clientId, 'clientId')
        return { removed: registry.remove(clientId, realNow) ? 1 : 0 }
      },
    }),
    ...snapshotRoutes({ turns, stateBytes: about.stateBytes }),
    ...recordingRoutes,
    route({
      method: 'GET',
      url: '/clock',
      operationId: 'getClock',
      summary: "The tenant's time, whether it runs, and how fast",
      querystring,
      response: schemas.ClockState,
      handle: ({ tenant }) => clockOf(tenant()),
    }),
    route({
      method: 'PATCH',
      url: '/clock',
      operationId: 'updateClock',
      summary: 'Freeze or resume the clock, or set its pace: 1 to 86400 tenant-seconds per second',
      description: 'The change applies from now on. It does not move the clock.',
      querystring,
      body: schemas.ClockUpdate,
      response: schemas.ClockState,
      handle: ({ tenant, body }) => {
        const changed = tenant()
        changed.clock.configure(body)
        return clockOf(changed)
      },
    }),
    route({
      method: 'POST',
      url: '/clock/advance',
      operationId: 'advanceClock',
      summary: 'Move the clock forward by a duration, to a moment, or to the next event; all that is due happens first',
      description:
        'The body has exactly one of `by`, `to` and `toNextEvent`. All due transitions happen before the answer, in ' +
        'order and each at its own time. A running clock continues from the new time. Tokens can expire.',
      querystring,
      body: schemas.ClockAdvance,
      response: schemas.ClockAdvanced,
      handle: ({ tenant, body }) => advance(tenant(), body),
    }),
    route({
      method: 'GET',
      url: '/upcoming',
      operationId: 'listUpcoming',
      summary: 'The transitions that are due next, in order',
      description:
        'The list has each scheduled transition of a record, with the effect of its outcome on demand. A page follows ' +
        'the last transition of the page before it: transitions that have happened meanwhile are on no page.',
      querystring: schemas.UpcomingQuery,
      response: schemas.UpcomingList,
      handle: ({ tenant, query }) => upcoming(tenant(), query),
    }),
    ...Object.entries<Area>(areas).map(([name, { path, lifecycle, record }]) =>
      route({
        method: 'GET',
        url: `/${path}`,
        operationId: `search${toTitle(name)}`,
        command: toWords(name).replaceAll(' ', '-'),
        summary: `Search the ${toWords(name)} of all regions, newest first`,
        description:
          'A page reads no more records than it needs. Records that are added later neither repeat nor shift the ' +
          'following pages.',
        querystring: schemas.searchQuery(lifecycle?.states),
        response: schemas.searchResult(`${toTitle(name)}Found`, record),
        handle: ({ tenant, query }) => {
          const store: Store = tenant()[name as AreaName]
          return store.search(query)
        },
      }),
    ),
    ...COLLECTION_VERBS.map(verb =>
      route({
        method: 'POST',
        url: `/direct-debit/:collectionReference/${verb}`,
        operationId: `${verb}Collection`,
        command: `collections ${verb}`,
        errors: ['COLLECTION_NOT_FOUND', 'ILLEGAL_TRANSITION'],
        summary: `Move a collection: ${verb}`,
        description:
          'The transition happens now, if it is legal in the present state. Without `reasonCode`, a transition with ' +
          'reason codes gets the first legal one. The error of an illegal transition names the legal ones.',
        example: { collectionReference: EXAMPLES.collections[verb] },
        params: schemas.CollectionParams,
        querystring,
        body: schemas.CollectionVerbBody,
        response: schemas.ExplainedCollection,
        handle: ({ tenant, params: { collectionReference }, body: { reasonCode } }) => {
          const { collections } = tenant()
          collections.transition(collectionReference, verb, reasonCode)
          return collections.explain(collectionReference)
        },
      }),
    ),
    ...MANDATE_VERBS.map(verb =>
      route({
        method: 'POST',
        url: `/mandates/:mandateReference/${verb}`,
        // The service has an operation `cancelMandate`.
        operationId: verb === 'cancel' ? 'forceCancelMandate' : `${verb}Mandate`,
        errors: ['MANDATE_NOT_FOUND', 'ILLEGAL_TRANSITION'],
        summary: `Move a mandate: ${verb}`,
        description:
          'The transition happens now, if it is legal in the present state. A cancelled mandate cancels its PENDING ' +
          'collections.',
        example: { mandateReference: EXAMPLES.mandates[verb] },
        params: schemas.MandateParams,
        querystring,
        response: schemas.ExplainedMandate,
        *handle({ tenant, params: { mandateReference } }) {
          const { mandates } = tenant()
          yield* mandates.transition(mandateReference, verb)
          return mandates.explain(mandateReference)
        },
      }),
    ),
    route({
      method: 'POST',
      url: '/payout-links/:payoutLinkId/claim',
      operationId: 'claimPayoutLink',
      errors: ['PAYOUT_LINK_NOT_FOUND', 'ILLEGAL_TRANSITION'],
      summary: "Claim a payout link, with the fields of the recipient's form",
      description: 'The payout method determines the required members. The account number is stored masked.',
      example: { payoutLinkId: EXAMPLES.payoutLinks.claim },
      params: schemas.PayoutLinkParams,
      querystring,
      body: schemas.Claim,
      response: schemas.ExplainedPayoutLink,
      handle: ({ request, tenant, params: { payoutLinkId }, body }) => {
        const { payoutLinks } = tenant()
        payoutLinks.assertPayable(payoutLinkId, body)
        payoutLinks.claim(payoutLinkId, body, 'control')
        return payoutLinks.explain(payoutLinkId, request.sandbox.publicUrl)
      },
    }),
    route({
      method: 'POST',
      url: '/payout-links/:payoutLinkId/decline',
      operationId: 'declinePayoutLink',
      errors: ['PAYOUT_LINK_NOT_FOUND', 'ILLEGAL_TRANSITION'],
      summary: 'Decline a payout link, as its recipient',
      example: { payoutLinkId: EXAMPLES.payoutLinks.decline },
      params: schemas.PayoutLinkParams,
      querystring,
      body: schemas.Decline,
      response: schemas.ExplainedPayoutLink,
      handle: ({ request, tenant, params: { payoutLinkId }, body }) => {
        const { payoutLinks } = tenant()
        payoutLinks.decline(payoutLinkId, body, 'control')
        return payoutLinks.explain(payoutLinkId, request.sandbox.publicUrl)
      },
    }),
    ...(['process', 'pay', 'fail', 'expire', 'cancel'] as const).map(verb =>
      route({
        method: 'POST',
        url: `/payout-links/:payoutLinkId/${verb}`,
        // The service has an operation `cancelPayoutLink`.
        operationId: verb === 'cancel' ? 'forceCancelPayoutLink' : `${verb}PayoutLink`,
        errors: ['PAYOUT_LINK_NOT_FOUND', 'ILLEGAL_TRANSITION'],
        summary: `Move a payout link: ${verb}`,
        example: { payoutLinkId: EXAMPLES.payoutLinks[verb] },
        params: schemas.PayoutLinkParams,
        querystring,
        response: schemas.ExplainedPayoutLink,
        handle: ({ request, tenant, params: { payoutLinkId } }) => {
          const { payoutLinks } = tenant()
          payoutLinks.transition(payoutLinkId, verb)
          return payoutLinks.explain(payoutLinkId, request.sandbox.publicUrl)
        },
      }),
    ),
    route({
      method: 'PUT',
      url: '/direct-debit/:collectionReference/outcome',
      operationId: 'setCollectionOutcome',
      command: 'collections outcome',
      errors: ['COLLECTION_NOT_FOUND', 'ILLEGAL_TRANSITION'],
      summary: 'Give a collection an outcome, if its state still allows it',
      description:
        'The outcome replaces an earlier one, and wins over the `debtorReference`. It is 409 ILLEGAL_TRANSITION if ' +
        'the collection has left the state in which the outcome takes effect. An outcome whose time has passed ' +
        'happens at once. `SETTLED` restores the usual course.',
      example: { collectionReference: EXAMPLES.collections.outcome },
      params: schemas.CollectionParams,
      querystring,
      body: schemas.CollectionOutcomeBody,
      response: schemas.ExplainedCollection,
      handle: ({ tenant, params: { collectionReference }, body: { outcome } }) => {
        const { collections } = tenant()
        collections.setOutcome(collectionReference, outcome)
        return collections.explain(collectionReference)
      },
    }),
    route({
      method: 'PUT',
      url: '/payout-links/:payoutLinkId/outcome',
      operationId: 'setPayoutLinkOutcome',
      errors: ['PAYOUT_LINK_NOT_FOUND', 'ILLEGAL_TRANSITION'],
      summary: 'Give a payout link an outcome, if its state still allows it',
      description:
        'The outcome replaces an earlier one. It is 409 ILLEGAL_TRANSITION unless the link is ' +
        `${toList(STEERABLE_STATUSES, 'or')}.`,
      example: { payoutLinkId: EXAMPLES.payoutLinks.outcome },
      params: schemas.PayoutLinkParams,
      querystring,
      body: schemas.PayoutLinkOutcomeBody,
      response: schemas.ExplainedPayoutLink,
      handle: ({ request, tenant, params: { payoutLinkId }, body: { outcome } }) => {
        const { payoutLinks } = tenant()
        payoutLinks.setOutcome(payoutLinkId, outcome)
        return payoutLinks.explain(payoutLinkId, request.sandbox.publicUrl)
      },
    }),
    route({
      method: 'GET',
      url: '/direct-debit/:collectionReference',
      operationId: 'explainCollection',
      command: 'collections explain',
      errors: ['COLLECTION_NOT_FOUND'],
      summary: 'Explain a collection: record, timeline, next transition, legal moves',
      params: schemas.CollectionParams,
      querystring,
      response: schemas.ExplainedCollection,
      handle: ({ tenant, params }) => tenant().collections.explain(params.collectionReference),
    }),
    route({
      method: 'GET',
      url: '/mandates/:mandateReference',
      operationId: 'explainMandate',
      errors: ['MANDATE_NOT_FOUND'],
      summary: 'Explain a mandate: record, timeline, next transition, legal moves',
      params: schemas.MandateParams,
      querystring,
      response: schemas.ExplainedMandate,
      handle: ({ tenant, params }) => tenant().mandates.explain(params.mandateReference),
    }),
    route({
      method: 'GET',
      url: '/payout-links/:payoutLinkId',
      operationId: 'explainPayoutLink',
      errors: ['PAYOUT_LINK_NOT_FOUND'],
      summary: 'Explain a payout link: record with claim and comment, timeline, next transition, legal moves',
      params: schemas.PayoutLinkParams,
      querystring,
      response: schemas.ExplainedPayoutLink,
      handle: ({ request, tenant, params }) =>
        tenant().payoutLinks.explain(params.payoutLinkId, request.sandbox.publicUrl),
    }),
    route({
      method: 'GET',
      url: '/bills/:uniqueReferenceIdentifier',
      operationId: 'explainBill',
      errors: ['MISSING_FIELD', 'BILL_NOT_FOUND'],
      summary: 'Explain a bill: record, timeline, legal moves; ?region= where several regions have the reference',
      params: schemas.BillParams,
      querystring: schemas.BillExplainQuery,
      response: schemas.ExplainedBill,
      handle: ({ tenant, params, query }) => tenant().bills.explain(params.uniqueReferenceIdentifier, query.region),
    }),
    ...scenarioRoutes(() => routes),
    ...outcomeRoutes,
    route({
      method: 'GET',
      url: '/reason-codes',
      operationId: 'listReasonCodes',
      isGlobal: true,
      summary: 'The reason codes of collections: the phases and the time in which each is legal, and its origin',
      querystring,
      response: schemas.ReasonCodeTable,
      handle: () => ({ data: reasonCodes.map(describeReasonCode) }),
    }),
    route({
      method: 'GET',
      url: '/errors',
      operationId: 'listErrors',
      isGlobal: true,
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
      method: 'GET',
      url: '/embed-demo',
      operationId: 'getEmbedDemo',
      isPage: true,
      summary: "A partner's page that embeds a payout link: a new one of the demo client, or that of ?link=",
      querystring: schemas.EmbedDemoQuery,
      response: schemas.Html,
      handle: ({ reply }) => {
        reply.headers(EMBED_DEMO_HEADERS).type('text/html; charset=utf-8')
        return renderEmbedDemo()
      },
    }),
    ...eventRoutes,
    ...requestRoutes,
    ...coverageRoutes,
    ...faultRoutes,
    route({
      method: 'GET',
      url: '/settings',
      operationId: 'getSettings',
      summary: 'The settings of the tenant',
      querystring,
      response: schemas.Settings,
      handle: ({ tenant }) => tenant().settings,
    }),
    route({
      method: 'PUT',
      url: '/settings',
      operationId: 'updateSettings',
      summary: 'Change settings: activation of mandates, form of deprecations, origins and sender of links, HTTP Basic',
      description: 'Omitted settings stay as they are.',
      querystring,
      body: schemas.SettingsUpdate,
      response: schemas.Settings,
      handle: ({ tenant, body }) => Object.assign(tenant().settings, body),
    }),
    ...deprecationRoutes,
    route({
      method: 'POST',
      url: '/tokens/expire',
      operationId: 'expireTokens',
      summary: 'Every token of the tenant is expired from now on',
      description: 'The app gets 401 EXPIRED_TOKEN. A new token is valid.',
      querystring,
      response: schemas.TokensExpired,
      handle: ({ tenant }) => {
        const { clientId, tokens, clock } = tenant()
        tokens.expireAll()
        return { clientId, now: formatInstant(clock.now()) }
      },
    }),
  ]
  return routes
}

/** Lists the codes with which the areas refuse records. */
const errorsOf = (step: 'stage' | 'restore'): readonly ErrorCode[] => [
  'DUPLICATE_REFERENCE',
  ...Object.values<Area>(areas).flatMap(({ errors }) => errors?.[step] ?? []),
]

/** The number of records and events above which a state is large, whatever its size. */
const MANY = 1000
const isLarge = ({ counts, events }: Tenant) =>
  Object.values(counts()).reduce((all, count) => all + count, events.last()) > MANY

const describeReasonCode = ({ code, name, phases: legal }: ReasonCode) => ({
  code,
  name,
  phases: legal,
  windows: legal.map(phase => {
    const { limit, ...rules } = phases[phase]
    return { phase, ...rules, until: limit === undefined ? null : describeLimit(limit) }
  }),
  fidelity: 'assumed',
})

const clockOf = ({ clock }: Tenant) => ({
  now: formatInstant(clock.now()),
  mode: clock.mode(),
  rate: clock.rate(),
})

const sum = (all: readonly Counts[]) => byArea(kind => all.reduce((total, counts) => total + counts[kind], 0))
const difference = (after: Counts, before: Counts) => byArea(kind => after[kind] - before[kind])
