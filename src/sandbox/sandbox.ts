import type { FastifyInstance } from 'fastify'
import { serviceTags } from '../areas/index.js'
import { DEFAULT_BOUNDS } from '../bounds.js'
import { wholeSecond } from '../core/time/time.js'
import { collectOperations } from '../http/operations.js'
import type { Timers } from '../http/timers.js'
import { createTimers } from '../http/timers.js'
import { createDocuments } from '../openapi/documents.js'
import { collectRoutes } from '../openapi/routes.js'
import { OWN_FIXTURES } from '../package.js'
import type { Tenants } from '../storage/client-lock.js'
import { realNow } from '../storage/client-lock.js'
import { createMemoryStorage } from '../storage/memory.js'
import type { Database } from '../storage/storage.js'
import { exampleValues } from '../tenants/examples.js'
import type { TenantRegistryOptions } from '../tenants/registry.js'
import { createTenantRegistry, DEMO_CLIENT } from '../tenants/registry.js'
import { createCoverage } from './coverage/coverage.js'
import { createEventWaiters } from './events/waiters.js'
import { forgetExchanges } from './observer.js'
import type { RequestLogBounds } from './request-log/state.js'
import { createRequestLog } from './request-log/state.js'
import type { Steering } from './request-log/steering.js'
import type { ControlPlane } from './route.js'
import type { Scenarios } from './scenarios/files.js'
import { createScenarios } from './scenarios/files.js'

export interface SandboxOptions extends TenantRegistryOptions {
  /** The bounds of the request log; by default the documented ones. */
  readonly requestLog?: Partial<RequestLogBounds> | undefined
  /** Keeps tenants in a database. If undefined, they live in memory. */
  readonly database?: Database | undefined
  /** The scenarios; by default the scenarios of the package. */
  readonly scenarios?: Scenarios | undefined
  readonly timers?: Timers | undefined
  /** Returns the real time in milliseconds. */
  now?(): number
}

/** Everything in a server except its routes: the tenants, and the records of their requests. */
export interface Sandbox extends ControlPlane, Tenants {
  /** Whether other servers use the database, too. */
  readonly isShared: boolean
}

/** Creates the sandbox of a server. Call it before routes are added: it collects them. */
export function createSandbox(app: FastifyInstance, options: SandboxOptions): Sandbox {
  const {
    database,
    maxTenants,
    timers = createTimers(),
    now = realNow,
    scenarios = createScenarios(OWN_FIXTURES),
  } = options
  const waiters = createEventWaiters()
  const requestWaiters = createEventWaiters()
  function changed(clientId?: string) {
    for (const each of [waiters, requestWaiters]) clientId === undefined ? each.lookAgain() : each.wake(clientId)
  }

  const registry = createTenantRegistry({
    ...options,
    ...(database !== undefined && { seed: database.seed, maxTenants: Number.POSITIVE_INFINITY }),
    dueWorkFailed: (clientId, err) => app.log.error({ clientId, err }, 'due work of a client failed'),
    dropped(clientId) {
      changed(clientId)
      options.dropped?.(clientId)
    },
  })
  const bounds = {
    entries: options.requestLog?.entries ?? DEFAULT_BOUNDS.requestLogEntries,
    bytes: options.requestLog?.bytes ?? DEFAULT_BOUNDS.requestLogBytes,
  }
  const requestLog = database?.createRequestLog?.(bounds, registry.resetsSoFar) ?? createRequestLog(bounds)
  const coverage = createCoverage()
  const steering: Steering = new Map()
  registry.listen(forgetExchanges({ requestLog, coverage, steering }))

  const isInUse = (clientId: string) => waiters.has(clientId) || requestWaiters.has(clientId)
  const storage =
    database?.createStorage({ registry, maxTenants, logger: app.log, now, isInUse, changed }) ??
    createMemoryStorage({ registry, now, changed })

  const documented = collectRoutes(app)
  const tenants = { registry, storage, now }
  return {
    ...{ ...tenants, requestLog, steering, coverage, waiters, requestWaiters, scenarios, timers, documented },
    operations: collectOperations(app),
    documents: createDocuments(documented, serviceTags(), () => examplesOf(tenants)),
    isShared: database?.isShared === true,
    isClosing: () => app.shutdown.hasBegun,
  }
}

/** Returns the values of the examples in documents, which follow the clock of the demo client. */
async function examplesOf({ registry, storage, now }: Tenants) {
  const { clientId } = DEMO_CLIENT
  const [facts] = await storage.all(
    ({ clock, meta }, realNow) => ({ now: clock.timeAt(realNow), sequence: meta().sequence, realNow }),
    [clientId],
  )
  // Where its state is damaged, the documents stay.
  const present = facts ?? { now: wholeSecond(now()), sequence: 0, realNow: now() }
  return exampleValues({ ...present, secret: registry.knownSecretOf(clientId) })
}
