import type { Static } from '@sinclair/typebox'
import type { FastifyPluginCallback } from 'fastify'
import type { ReasonCode } from '../areas/direct-debit/reason-codes.js'
import { describeLimit, phases, reasonCodes } from '../areas/direct-debit/reason-codes.js'
import type { Area } from '../areas/index.js'
import { areas, byArea } from '../areas/index.js'
import type { CatalogueEntry, ErrorCode } from '../core/errors.js'
import { catalogue, errors } from '../core/errors.js'
import { formatInstant } from '../core/time/time.js'
import { JSON_TYPE } from '../http/error-handler.js'
import type { Storage } from '../storage/storage.js'
import type { Counts, Tenant } from '../tenants/tenant.js'
import { summaryOf } from './clients/summary.js'
import { advance } from './clock/advance.js'
import { upcoming } from './clock/upcoming.js'
import { coverageRoutes } from './coverage/routes.js'
import { deprecationRoutes } from './deprecations/routes.js'
import { eventRoutes } from './events/routes.js'
import { faultRoutes } from './faults/routes.js'
import { kindRoutes } from './kinds/list.js'
import { recordRoutes } from './kinds/routes.js'
import * as schemas from './kinds/schemas.js'
import { outcomeRoutes } from './outcomes/routes.js'
import type { ControlPlane } from './register.js'
import { addRoutes, nameClient } from './register.js'
import { requestRoutes } from './request-log/routes.js'
import type { ControlRoute } from './route.js'
import { route, toDocument } from './route.js'
import { scenarioRoutes } from './scenarios/routes.js'
import type { SeedRecords } from './state/schemas.js'

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
  addRoutes(app, context, tableOf(about, context.storage))
  done()
}

/**
 * Lists the routes in the order of `docs/control-plane.md`, which describes each call.
 * `?client=` names the tenant; it is `sandbox-client` by default.
 */
const tableOf = (about: About, storage: Storage): readonly ControlRoute[] => {
  const routes: readonly ControlRoute[] = [
    route({
      method: 'GET',
      url: '',
      operationId: 'getOverview',
      isGlobal: true,
      summary: 'Name, version, uptime, seed, tenants and record counts, and these routes',
      response: schemas.Overview,
      async handle({ registry, realNow }) {
        const counts = await storage.all(tenant => tenant.counts())
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
      summary: 'Whether it takes requests: 503 while closing, and while the database is away',
      response: schemas.Health,
      async handle() {
        await storage.check()
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
      response: schemas.OpenApiDocument,
      handle({ documents, request, reply }) {
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
      response: schemas.ClientList,
      handle: async () => ({ data: await storage.all(summaryOf) }),
    }),
    route({
      method: 'POST',
      url: '/credentials/verify',
      operationId: 'verifyCredentials',
      isGlobal: true,
      querystring: schemas.Nothing,
      errors: ['INVALID_CLIENT'],
      summary: 'Check the secret of a client; an unknown client is registered as by its first token request',
      description: 'It issues no token, triggers no fault and is not in the request log.',
      isChange: false,
      body: schemas.ClientCredentials,
      response: schemas.ResetResult,
      handle: ({ registry, reply, body: { client_id, client_secret } }) => {
        nameClient(reply, client_id)
        return storage.transact(client_id, {
          isRead: () => registry.has(client_id),
          run: realNow => summaryOf(registry.authenticate(client_id, client_secret, realNow), realNow),
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
        'Earlier tokens become invalid. The numbers of events and requests start at 1 again. The coverage starts ' +
        'again, too.',
      isChange: false,
      response: schemas.ResetResult,
      handle: ({ registry, client, realNow }) => summaryOf(registry.reset(client, realNow), realNow),
    }),
    route({
      method: 'POST',
      url: '/seed',
      operationId: 'seedRecords',
      errors: [...errorsOfRecords(), ...Object.values<Area>(areas).flatMap(({ errors = [] }) => errors)],
      summary: 'Add the records of a fixture, or given ones, all or nothing',
      description:
        'All records are checked before the first one is added. Records can be in any state. Faults and armed ' +
        'outcomes do not apply to them.',
      body: schemas.SeedRequest,
      response: schemas.SeedResult,
      handle({ registry, tenant, body: { fixture, records } }) {
        if (fixture !== undefined && records !== undefined)
          throw errors.malformed(null, 'Give one of fixture and records.')
        const target = tenant()
        const before = target.counts()
        const { clock } = target
        target.seed(fixture === undefined ? (records as SeedRecords) : registry.fixtureRecords(fixture, clock.now()))
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
        'The document has no secrets, request log or coverage. `PUT /_sandbox/state` restores it, on this or another ' +
        'server.',
      response: schemas.TenantSnapshot,
      // A large one has no indentation, which takes a third of its size: PUT has a limit.
      handle: ({ tenant, reply }) => toDocument(reply, tenant().snapshot(), isLarge(tenant()) ? 0 : undefined),
    }),
    route({
      method: 'PUT',
      url: '/state',
      operationId: 'restoreState',
      command: 'state load FILE',
      errors: errorsOfRecords(),
      summary: 'Replace the state of the tenant by a state document, all or nothing',
      description:
        'The document replaces records, clock, settings, faults, armed outcomes, deprecations and events. With a ' +
        'frozen clock, a later GET returns the same bytes. The request log and the coverage stay.',
      isChange: false,
      bodyLimit: about.stateBytes,
      // The client that the example of POST /credentials/verify registers: the demo keeps its records.
      example: { client: 'app-{{client}}' },
      body: schemas.StateDocument,
      response: schemas.ResetResult,
      handle({ registry, client, realNow, body }) {
        return summaryOf(registry.replace(client, body, realNow), realNow)
      },
    }),
    route({
      method: 'POST',
      url: '/fork',
      operationId: 'forkClient',
      errors: ['DUPLICATE_REFERENCE'],
      summary: 'Begin another tenant as an exact copy of this one; without clientSecret, it has the same',
      description:
        'The copy also has the clock, settings, faults and events. Its request log and coverage are empty. Both ' +
        'tenants generate the same ids for the same requests.',
      isChange: false,
      creates: ({ clientId }: Static<typeof schemas.ForkRequest>) => clientId,
      body: schemas.ForkRequest,
      status: 201,
      response: schemas.ForkResult,
      handle({ registry, client, realNow, body }) {
        const { clientId } = registry.fork(client, body, realNow)
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
      isChange: false,
      params: schemas.ClientParams,
      querystring: schemas.Nothing,
      response: schemas.Cleared,
      handle({ registry, realNow, params: { clientId } }) {
        if (!registry.has(clientId)) throw errors.clientNotFound(clientId, 'clientId')
        return { removed: registry.remove(clientId, realNow) ? 1 : 0 }
      },
    }),
    route({
      method: 'GET',
      url: '/clock',
      operationId: 'getClock',
      summary: "The tenant's time, whether it runs, and how fast",
      response: schemas.ClockState,
      handle: ({ tenant }) => clockOf(tenant()),
    }),
    route({
      method: 'PATCH',
      url: '/clock',
      operationId: 'updateClock',
      summary: 'Freeze or resume the clock, or set its pace: 1 to 86400 tenant-seconds per second',
      description: 'The change applies from now on. It does not move the clock.',
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
    ...recordRoutes,
    ...scenarioRoutes(() => routes),
    ...outcomeRoutes,
    route({
      method: 'GET',
      url: '/reason-codes',
      operationId: 'listReasonCodes',
      isGlobal: true,
      summary: 'The reason codes of collections: the phases and the time in which each is legal, and its origin',
      response: schemas.ReasonCodeTable,
      handle: () => ({ data: reasonCodes.map(describeReasonCode) }),
    }),
    route({
      method: 'GET',
      url: '/errors',
      operationId: 'listErrors',
      isGlobal: true,
      summary: 'The error catalogue',
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
    ...kindRoutes,
    ...eventRoutes,
    ...requestRoutes,
    ...coverageRoutes,
    ...faultRoutes,
    route({
      method: 'GET',
      url: '/settings',
      operationId: 'getSettings',
      summary: 'The settings of the tenant',
      response: schemas.Settings,
      handle: ({ tenant }) => tenant().settings,
    }),
    route({
      method: 'PUT',
      url: '/settings',
      operationId: 'updateSettings',
      summary: 'Change settings: activation of mandates, form of deprecations, origins and sender of links, HTTP Basic',
      description: 'Omitted settings stay as they are.',
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

/** Lists the codes of records that do not fit together. */
const errorsOfRecords = (): readonly ErrorCode[] => [
  'DUPLICATE_REFERENCE',
  ...Object.values<Area>(areas).flatMap(({ refersTo = {} }) =>
    Object.values(refersTo).map(({ kind }) => areas[kind].notFound),
  ),
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
