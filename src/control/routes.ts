import accepts from '@fastify/accepts'
import type { Static } from '@sinclair/typebox'
import type { FastifyPluginCallback, FastifyReply } from 'fastify'
import { COLLECTION_VERBS } from '../areas/direct-debit/lifecycle.js'
import { outcomes } from '../areas/direct-debit/outcomes.js'
import type { ReasonCode } from '../areas/direct-debit/reason-codes.js'
import { describeLimit, phases, reasonCodes } from '../areas/direct-debit/reason-codes.js'
import { byArea } from '../areas/index.js'
import { MANDATE_VERBS } from '../areas/mandates/lifecycle.js'
import { payoutLinkOutcomes } from '../areas/payout-links/outcomes.js'
import { renderEmbedDemo } from '../areas/payout-links/views/embed-demo.js'
import type { CatalogueEntry } from '../core/errors.js'
import { catalogue, errors } from '../core/errors.js'
import type { ArmedOutcome } from '../core/outcomes.js'
import { isSpent } from '../core/outcomes.js'
import { formatInstant } from '../core/time/time.js'
import { answerCoverage } from '../features/coverage/answer.js'
import { readEvents, streamEvents } from '../features/events/read.js'
import type { Fault, FaultRequest, Faults } from '../features/faults/state.js'
import type { Recording } from '../features/recording/file-format.js'
import { RECORDING_FORMAT, RECORDING_VERSION } from '../features/recording/file-format.js'
import { verify } from '../features/request-log/verify.js'
import { JSON_TYPE } from '../http/error-handler.js'
import type { SeedRecords } from '../tenants/seed.js'
import type { Counts, Tenant } from '../tenants/tenant.js'
import { advance } from './advance.js'
import type { ControlContext, ControlRoute } from './route.js'
import { addRoutes, route } from './route.js'
import * as schemas from './schemas.js'

const querystring = schemas.ClientQuery

/** The names of this machine: the demo page has one, and the service the other. */
const LOOPBACK = 'http://localhost:* http://127.0.0.1:*'
const EMBED_DEMO_HEADERS = {
  'content-security-policy':
    `default-src 'none'; script-src 'self' ${LOOPBACK}; frame-src ${LOOPBACK}; style-src 'self'; ` +
    "connect-src 'self'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
}

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
export const controlRoutes: FastifyPluginCallback<{ about: About; context: ControlContext }> = (
  app,
  { about, context },
  done,
) => {
  app.register(accepts)
  addRoutes(app, context, tableOf(about))
  done()
}

/**
 * Lists the routes in the order of `docs/control-plane.md`, which describes each call.
 * `?client=` names the tenant; it is `sandbox-client` by default.
 */
const tableOf = (about: About): readonly ControlRoute[] => {
  const routes: readonly ControlRoute[] = [
    route({
      method: 'GET',
      url: '',
      operationId: 'getOverview',
      isGlobal: true,
      summary: 'Name, version, uptime, seed, tenants and record counts, and these routes',
      querystring,
      response: schemas.Overview,
      async handle({ registry, turns, realNow }) {
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
      isGlobal: true,
      isOpen: true,
      querystring,
      summary: 'Whether it takes requests: 503 while closing, and while the database is away',
      response: schemas.Health,
      async handle({ turns }) {
        await turns.check()
        return { status: 'ok' }
      },
    }),
    route({
      method: 'GET',
      url: '/openapi.json',
      operationId: 'getOpenApiDocument',
      isGlobal: true,
      summary: 'The control plane as an OpenAPI document',
      querystring,
      response: schemas.OpenApiDocument,
      handle: ({ documents }) => documents.control(),
    }),
    route({
      method: 'GET',
      url: '/clients',
      operationId: 'listClients',
      isGlobal: true,
      summary: 'All tenants: client id, fixture, record counts, time',
      querystring,
      response: schemas.ClientList,
      handle: async ({ turns }) => ({ data: await turns.all(describe) }),
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
      handle: ({ registry, turns, body: { client_id, client_secret } }) =>
        turns.refreshAndTake(client_id, {
          isRead: true,
          record: realNow => void registry.authenticate(client_id, client_secret, realNow),
          run: realNow => describe(registry.tenant(client_id, realNow)),
        }),
    }),
    route({
      method: 'DELETE',
      url: '/clients/:clientId',
      operationId: 'removeClient',
      summary: 'Remove a tenant; the demo client and listed clients are reset instead',
      description:
        'The tokens of the client become invalid, and its id is free. The demo client and the clients of ' +
        '`SANDBOX_CLIENTS` stay: `removed` is then 0.',
      isRecorded: false,
      params: schemas.ClientParams,
      response: schemas.Cleared,
      handle({ registry, realNow, waiters, params: { clientId } }) {
        if (!registry.has(clientId)) throw errors.clientNotFound(clientId, 'clientId')
        const isRemoved = registry.remove(clientId, realNow)
        waiters.wake(clientId)
        return { removed: isRemoved ? 1 : 0 }
      },
    }),
    route({
      method: 'POST',
      url: '/reset',
      operationId: 'resetClient',
      summary: 'Put the tenant back to its fixture: records, clock, ids, settings, faults, requests, events, tokens',
      description:
        'Earlier tokens become invalid. The numbers of events and requests start at 1 again. The coverage and the ' +
        'recording start again, too.',
      isRecorded: false,
      querystring,
      response: schemas.ResetResult,
      handle({ registry, requestLog, client, realNow }) {
        const result = describe(registry.reset(client, realNow))
        // Later requests must not be removed with the earlier ones.
        return Promise.resolve(requestLog.flush()).then(() => result)
      },
    }),
    route({
      method: 'POST',
      url: '/seed',
      operationId: 'seedRecords',
      errors: [
        'INVALID_BILL_REFERENCE',
        'REGION_CURRENCY_MISMATCH',
        'AMOUNT_LIMIT_EXCEEDED',
        'INCONSISTENT_BILL_UPDATE',
        'MANDATE_NOT_FOUND',
        'DUPLICATE_REFERENCE',
        'MANDATE_ALREADY_USED',
      ],
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
      handle: ({ registry, tenant, body: { fixture, records } }) => {
        if (fixture !== undefined && records !== undefined)
          throw errors.malformed(null, 'Give one of fixture and records.')
        const target = tenant()
        const before = target.counts()
        if (fixture !== undefined) target.seed(registry.fixtureRecords(fixture, target.clock.now()))
        else target.seed(records as SeedRecords)
        const counts = target.counts()
        return { added: difference(counts, before), counts }
      },
    }),
    route({
      method: 'GET',
      url: '/state',
      operationId: 'getState',
      errors: ['ANSWER_TOO_LARGE'],
      summary: 'The whole tenant as one JSON document',
      description:
        'The document has no secrets, request log, coverage or recording. `PUT /_sandbox/state` restores it, on ' +
        'this or another server.',
      querystring,
      response: schemas.TenantSnapshot,
      handle: ({ tenant, reply }) => document(reply, tenant().snapshot()),
    }),
    route({
      method: 'PUT',
      url: '/state',
      operationId: 'restoreState',
      errors: ['INVALID_BILL_REFERENCE', 'MANDATE_NOT_FOUND', 'DUPLICATE_REFERENCE'],
      summary: 'Replace the state of the tenant by a state document, all or nothing',
      description:
        'The document replaces records, clock, settings, faults, armed outcomes, deprecations and events. With a ' +
        'frozen clock, a later GET returns the same bytes. The request log and the coverage stay. A new recording ' +
        'starts.',
      isRecorded: false,
      bodyLimit: about.stateBytes,
      querystring,
      body: schemas.TenantSnapshot,
      response: schemas.ResetResult,
      handle: ({ registry, client, realNow, body }) => describe(registry.replace(client, body, realNow)),
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
      handle({ registry, client, realNow, body }) {
        const { clientId } = registry.fork(client, body, realNow)
        return { clientId }
      },
    }),
    route({
      method: 'GET',
      url: '/recording',
      operationId: 'getRecording',
      errors: ['ANSWER_TOO_LARGE'],
      summary: 'What changed the tenant since its start, as a file for `payments-sandbox replay`',
      description:
        'The file has a start state, and the later requests that changed the tenant. It has no secrets or tokens. A ' +
        'reset, a restored state and a restart of the server begin another recording. At the limit ' +
        '`SANDBOX_RECORDING_BYTES` a recording stops: `complete` is then false.',
      querystring,
      response: schemas.RecordingFile,
      handle({ registry, recorder, tenant, client, reply }) {
        const { clientId, secretDigest, ...identity } = registry.identityOf(client)
        const name = encodeURIComponent(clientId)
        reply.header('content-disposition', `attachment; filename="recording-${name}.json"`)
        return document(reply, {
          format: RECORDING_FORMAT,
          version: RECORDING_VERSION,
          recordedBy: about.version,
          clientId,
          seed: registry.seed,
          publicUrl: registry.publicUrl(),
          tokenLifetime: registry.tokenLifetime,
          identity,
          ...recorder.of(tenant()),
        } satisfies Recording)
      },
    }),
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
    ...COLLECTION_VERBS.map(verb =>
      route({
        method: 'POST',
        url: `/direct-debit/:collectionReference/${verb}`,
        operationId: `${verb}Collection`,
        errors: ['COLLECTION_NOT_FOUND', 'ILLEGAL_TRANSITION'],
        summary: `Move a collection: ${verb}`,
        description:
          'The transition happens now, if it is legal in the present state. Without `reasonCode`, a transition with ' +
          'reason codes gets the first legal one. The error of an illegal transition names the legal ones.',
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
        params: schemas.MandateParams,
        querystring,
        response: schemas.ExplainedMandate,
        handle: ({ tenant, params: { mandateReference } }) => {
          const { mandates } = tenant()
          mandates.transition(mandateReference, verb)
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
      params: schemas.PayoutLinkParams,
      querystring,
      body: schemas.Claim,
      response: schemas.ExplainedPayoutLink,
      handle: ({ tenant, params: { payoutLinkId }, body }) => {
        const { payoutLinks } = tenant()
        payoutLinks.assertPayable(payoutLinkId, body)
        payoutLinks.claim(payoutLinkId, body, 'control')
        return payoutLinks.explain(payoutLinkId)
      },
    }),
    route({
      method: 'POST',
      url: '/payout-links/:payoutLinkId/decline',
      operationId: 'declinePayoutLink',
      errors: ['PAYOUT_LINK_NOT_FOUND', 'ILLEGAL_TRANSITION'],
      summary: 'Decline a payout link, as its recipient',
      params: schemas.PayoutLinkParams,
      querystring,
      body: schemas.Decline,
      response: schemas.ExplainedPayoutLink,
      handle: ({ tenant, params: { payoutLinkId }, body }) => {
        const { payoutLinks } = tenant()
        payoutLinks.decline(payoutLinkId, body, 'control')
        return payoutLinks.explain(payoutLinkId)
      },
    }),
    ...(['process', 'pay', 'fail', 'expire'] as const).map(verb =>
      route({
        method: 'POST',
        url: `/payout-links/:payoutLinkId/${verb}`,
        operationId: `${verb}PayoutLink`,
        errors: ['PAYOUT_LINK_NOT_FOUND', 'ILLEGAL_TRANSITION'],
        summary: `Move a payout link: ${verb}`,
        params: schemas.PayoutLinkParams,
        querystring,
        response: schemas.ExplainedPayoutLink,
        handle: ({ tenant, params: { payoutLinkId } }) => {
          const { payoutLinks } = tenant()
          payoutLinks.transition(payoutLinkId, verb)
          return payoutLinks.explain(payoutLinkId)
        },
      }),
    ),
    route({
      method: 'PUT',
      url: '/direct-debit/:collectionReference/outcome',
      operationId: 'setCollectionOutcome',
      errors: ['COLLECTION_NOT_FOUND', 'ILLEGAL_TRANSITION'],
      summary: 'Give a collection an outcome, if its state still allows it',
      description:
        'The outcome replaces an earlier one, and wins over the `debtorReference`. It is 409 ILLEGAL_TRANSITION if ' +
        'the collection has left the state in which the outcome takes effect. An outcome whose time has passed ' +
        'happens at once. `SETTLED` restores the usual course.',
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
        'The outcome replaces an earlier one. It is 409 ILLEGAL_TRANSITION unless the link is ACTIVE, CLAIMED or ' +
        'PROCESSING.',
      params: schemas.PayoutLinkParams,
      querystring,
      body: schemas.PayoutLinkOutcomeBody,
      response: schemas.ExplainedPayoutLink,
      handle: ({ tenant, params: { payoutLinkId }, body: { outcome } }) => {
        const { payoutLinks } = tenant()
        payoutLinks.setOutcome(payoutLinkId, outcome)
        return payoutLinks.explain(payoutLinkId)
      },
    }),
    route({
      method: 'GET',
      url: '/direct-debit/:collectionReference',
      operationId: 'explainCollection',
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
      handle: ({ tenant, params }) => tenant().payoutLinks.explain(params.payoutLinkId),
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
    route({
      method: 'GET',
      url: '/outcomes',
      operationId: 'listOutcomes',
      summary: 'The outcomes on demand of collections and payout links, and those that are armed',
      description:
        'The app selects an outcome of a collection by its `debtorReference`. `POST /_sandbox/outcomes` arms one ' +
        'for any request, `PUT …/outcome` gives one to an existing record.',
      querystring,
      response: schemas.OutcomeTable,
      handle: ({ tenant }) => ({
        data: outcomes.map(outcome => ({ ...outcome, fidelity: 'assumed' })),
        payoutLinks: payoutLinkOutcomes.map(outcome => ({ ...outcome, fidelity: 'assumed' })),
        armed: tenant().outcomes.list().map(showOutcome),
      }),
    }),
    route({
      method: 'POST',
      url: '/outcomes',
      operationId: 'armOutcome',
      summary: 'Arm an outcome: the next matching collection or payout link that is created has it',
      description:
        'The outcome steers records that the API creates later. Of several that match, the first one in the order ' +
        'of arming counts. A `debtorReference` that selects an outcome wins, and the armed outcome stays armed. An ' +
        'outcome that can never apply is 400 INVALID_FIELD.',
      querystring,
      body: schemas.OutcomeRequest,
      status: 201,
      response: schemas.ArmedOutcome,
      handle: ({ tenant, body }) => showOutcome(tenant().outcomes.arm(body)),
    }),
    route({
      method: 'DELETE',
      url: '/outcomes',
      operationId: 'clearOutcomes',
      summary: 'Remove all armed outcomes',
      querystring,
      response: schemas.Cleared,
      handle: ({ tenant }) => {
        const { outcomes } = tenant()
        const removed = outcomes.list().length
        outcomes.clear()
        return { removed }
      },
    }),
    route({
      method: 'DELETE',
      url: '/outcomes/:id',
      operationId: 'removeOutcome',
      errors: ['OUTCOME_NOT_FOUND'],
      summary: 'Remove one armed outcome',
      params: schemas.OutcomeParams,
      querystring,
      response: schemas.Cleared,
      handle: ({ tenant, params }) => {
        tenant().outcomes.remove(params.id)
        return { removed: 1 }
      },
    }),
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
      summary: "A partner's page that embeds a payout link of the demo client from a second origin",
      querystring,
      response: schemas.Html,
      handle: ({ reply }) => {
        reply.headers(EMBED_DEMO_HEADERS).type('text/html; charset=utf-8')
        return renderEmbedDemo()
      },
    }),
    route({
      method: 'GET',
      url: '/events',
      operationId: 'listEvents',
      summary: 'Changes of state, in order; ?wait= waits for the next, Accept: text/event-stream streams',
      description:
        'Past events are answered at once. With `wait`, an answer without events waits for the next one. With ' +
        '`Accept: text/event-stream`, the answer is a stream of server-sent events: `id` is the `seq`, `event` the ' +
        'kind, `data` the event. With a reset or a restored state, numbers start at 1 again: a wait ends, and a ' +
        'stream sends the event `reset`.',
      querystring: schemas.EventQuery,
      response: schemas.EventList,
      handle({ client, query, request, reply, ...context }) {
        const isStream = request.method === 'GET' && /\btext\/event-stream\b/i.test(request.headers.accept ?? '')
        return isStream
          ? streamEvents(client, query, { request, reply }, context)
          : readEvents(client, query, request, context)
      },
    }),
    route({
      method: 'GET',
      url: '/requests',
      operationId: 'listRequests',
      errors: ['ANSWER_TOO_LARGE'],
      summary: 'What the app under test sent and got, secrets masked',
      description:
        'The log has requests of the API and the token endpoint, but no calls of the control plane. A request ' +
        'without a known client is in the log of `sandbox-client`. The oldest requests are dropped at the limits ' +
        '`SANDBOX_JOURNAL_ENTRIES` and `SANDBOX_JOURNAL_BYTES`.',
      querystring: schemas.RequestQuery,
      response: schemas.RequestList,
      handle: ({ requestLog, tenant, client, query }) => {
        tenant()
        return requestLog.list(client, query)
      },
    }),
    route({
      method: 'DELETE',
      url: '/requests',
      operationId: 'clearRequests',
      summary: 'Empty the request log',
      description: 'The numbers of later requests continue.',
      isRecorded: false,
      querystring,
      response: schemas.Cleared,
      handle: ({ requestLog, tenant, client }) => {
        tenant()
        return Promise.resolve(requestLog.clear(client)).then(removed => ({ removed }))
      },
    }),
    route({
      method: 'POST',
      url: '/requests/verify',
      operationId: 'verifyRequests',
      summary: 'Whether the app sent such requests, and how often; if not, the nearest misses',
      description:
        'The answer is 200 even if `matched` is false. Only requests that are still in the log are compared. A ' +
        'request matches if it has all given values. The expected number is `times`, or `atLeast` and `atMost`; by ' +
        'default at least one.',
      isRecorded: false,
      querystring,
      body: schemas.Verification,
      response: schemas.VerificationResult,
      handle: ({ requestLog, tenant, client, body }) => {
        tenant()
        return verify(requestLog, client, body)
      },
    }),
    route({
      method: 'GET',
      url: '/coverage',
      operationId: 'getCoverage',
      summary:
        'The operations, statuses, error codes, states and pages that the app has met since its reset, or missed',
      description:
        'Only requests of the API count, and only those with an answer. Only errors that an app has to handle can ' +
        'be missed. A request that prefers HTML gets a page.',
      querystring,
      response: schemas.CoverageReport,
      hasPage: true,
      handle: ({ tenant, request, reply, ...context }) => answerCoverage(tenant().clientId, request, reply, context),
    }),
    route({
      method: 'GET',
      url: '/faults',
      operationId: 'listFaults',
      summary: 'All faults, also those that are spent, and how often each has fired',
      description: 'A fault stays in the list until it is removed.',
      querystring,
      response: schemas.FaultList,
      handle: ({ tenant, realNow }) => {
        const { faults } = tenant()
        return { data: faults.list().map(fault => show(fault, faults, realNow)) }
      },
    }),
    route({
      method: 'POST',
      url: '/faults',
      operationId: 'armFault',
      summary: 'Arm a fault: error, delay, drop, reset, truncate, garbage, dribble, stale-token',
      description:
        'Faults apply to valid requests of the API. A request with an invalid token or a schema error is refused as ' +
        'usual, and not counted. A request gets all matching delays, and the first matching fault of another kind ' +
        'in the order of arming. A fault that can never fire is 400 INVALID_FIELD.',
      querystring,
      body: schemas.FaultRequest,
      status: 201,
      response: schemas.Fault,
      handle: ({ tenant, operations, realNow, body }) => {
        const { faults } = tenant()
        return show(faults.arm(body as FaultRequest, operations, realNow), faults, realNow)
      },
    }),
    route({
      method: 'DELETE',
      url: '/faults',
      operationId: 'clearFaults',
      summary: 'Remove all faults',
      querystring,
      response: schemas.Cleared,
      handle: ({ tenant }) => {
        const { faults } = tenant()
        const removed = faults.list().length
        faults.clear()
        return { removed }
      },
    }),
    route({
      method: 'DELETE',
      url: '/faults/:id',
      operationId: 'removeFault',
      errors: ['FAULT_NOT_FOUND'],
      summary: 'Remove one fault',
      params: schemas.FaultParams,
      querystring,
      response: schemas.Cleared,
      handle: ({ tenant, params }) => {
        tenant().faults.remove(params.id)
        return { removed: 1 }
      },
    }),
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
      summary: 'Whether new mandates are ACTIVE at once, how deprecations look, which origins may embed payout links',
      description: 'Omitted settings stay as they are.',
      querystring,
      body: schemas.SettingsUpdate,
      response: schemas.Settings,
      handle: ({ tenant, body }) => Object.assign(tenant().settings, body),
    }),
    route({
      method: 'GET',
      url: '/deprecations',
      operationId: 'listDeprecations',
      summary: 'The deprecated operations',
      querystring,
      response: schemas.DeprecationList,
      handle: ({ tenant }) => ({ data: tenant().deprecations.list() }),
    }),
    route({
      method: 'PUT',
      url: '/deprecations',
      operationId: 'replaceDeprecations',
      summary: 'Replace the deprecated operations: start, sunset, and whether they are gone after it',
      description:
        'The operations send the headers `Deprecation` and `Sunset`. They answer as usual, but 410 OPERATION_SUNSET ' +
        'from the sunset on with `goneAfterSunset`. An empty list removes all deprecations.',
      querystring,
      body: schemas.DeprecationsUpdate,
      response: schemas.DeprecationList,
      handle: ({ tenant, operations, body }) => {
        const { deprecations } = tenant()
        deprecations.replace(body.data, operations)
        return { data: deprecations.list() }
      },
    }),
    route({
      method: 'DELETE',
      url: '/deprecations',
      operationId: 'clearDeprecations',
      summary: 'Deprecate nothing',
      querystring,
      response: schemas.Cleared,
      handle: ({ tenant }) => {
        const { deprecations } = tenant()
        const removed = deprecations.list().length
        deprecations.replace([], [])
        return { removed }
      },
    }),
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

/** Sends a document that people read, too; made here, so that its members stay in their order. */
const document = (reply: FastifyReply, value: object) => reply.type(JSON_TYPE).send(JSON.stringify(value, null, 2))

const show = (fault: Fault, faults: Faults, realNow: number) => ({ ...fault, state: faults.stateOf(fault, realNow) })

const showOutcome = (outcome: ArmedOutcome) => ({ ...outcome, state: isSpent(outcome) ? 'spent' : 'armed' })

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

const describe = ({ clientId, fixture, clock, counts }: Tenant) => ({
  clientId,
  fixture,
  counts: counts(),
  now: formatInstant(clock.now()),
})

const clockOf = ({ clock }: Tenant) => ({
  now: formatInstant(clock.now()),
  mode: clock.mode(),
  rate: clock.rate(),
})

const sum = (all: readonly Counts[]) => byArea(kind => all.reduce((total, counts) => total + counts[kind], 0))
const difference = (after: Counts, before: Counts) => byArea(kind => after[kind] - before[kind])
