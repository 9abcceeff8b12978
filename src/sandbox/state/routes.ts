import type { Area } from '../../areas/index.js'
import { areas, byArea } from '../../areas/index.js'
import type { ErrorCode } from '../../core/errors.js'
import { errors } from '../../core/errors.js'
import type { Counts } from '../../tenants/content.js'
import type { Tenant } from '../../tenants/tenant.js'
import { summaryOf } from '../clients/routes.js'
import { TenantSummary } from '../clients/schemas.js'
import { call, toDocument } from '../route.js'
import * as schemas from './schemas.js'

/** Lists the codes of records that do not fit together. */
const RECORD_ERRORS: readonly ErrorCode[] = [
  'DUPLICATE_REFERENCE',
  ...Object.values<Area>(areas).flatMap(({ refersTo = {} }) =>
    Object.values(refersTo).map(({ kind }) => areas[kind].notFound),
  ),
]

export const seedRecords = call({
  errors: [...RECORD_ERRORS, ...Object.values<Area>(areas).flatMap(({ errors = [] }) => errors)],
  summary: 'Add the records of a fixture, or given ones, all or nothing',
  description:
    'All records are checked before the first one is added. Records can be in any state. Faults and armed ' +
    'outcomes do not apply to them.',
  body: schemas.SeedRequest,
  response: schemas.SeedResult,
  handle({ registry, tenant, body: { fixture, records } }) {
    if (fixture !== undefined && records !== undefined) throw errors.malformed(null, 'Give one of fixture and records.')
    const target = tenant()
    const before = target.counts()
    const { clock } = target
    target.seed(
      fixture === undefined ? (records as schemas.SeedRecords) : registry.fixtureRecords(fixture, clock.now()),
    )
    const counts = target.counts()
    return { added: difference(counts, before), counts }
  },
})

export const getState = call({
  command: 'state save FILE',
  summary: 'The whole tenant as one JSON document',
  description:
    'The document has no secrets, request log or coverage. `PUT /_sandbox/state` restores it, on this or another ' +
    'server.',
  response: schemas.TenantSnapshot,
  // A large document has no indentation, which would take a third of its size: PUT has a limit.
  handle: ({ tenant, reply }) => toDocument(reply, tenant().snapshot(), isLarge(tenant()) ? 0 : undefined),
})

export const restoreState = call({
  command: 'state load FILE',
  errors: RECORD_ERRORS,
  summary: 'Replace the state of the tenant by a state document, all or nothing',
  description:
    'The document replaces records, clock, settings, faults, armed outcomes, deprecations and events. With a ' +
    'frozen clock, a later GET returns the same bytes. The request log and the coverage stay.',
  isChange: false,
  bodyLimit: ({ stateBytes }) => stateBytes,
  // The client that the example of POST /credentials/verify registers: the demo keeps its records.
  example: { client: 'app-{{client}}' },
  body: schemas.StateDocument,
  response: TenantSummary,
  handle({ registry, client, realNow, body }) {
    return summaryOf(registry.replace(client, body, realNow), realNow)
  },
})

/** The number of records and events above which a state is large, whatever its size. */
const MANY = 1000
const isLarge = ({ counts, events }: Tenant) =>
  Object.values(counts()).reduce((all, count) => all + count, events.last()) > MANY

const difference = (after: Counts, before: Counts) => byArea(kind => after[kind] - before[kind])
