import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../core/errors.js'
import type { Region } from '../core/rules/regions.js'
import type { RecordedRequest } from '../features/recording/file-format.js'
import type { RequestRecorder } from '../features/recording/plugin.js'
import { takesToken } from '../features/recording/plugin.js'
import type { Tenant } from '../tenants/tenant.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Does the work of a route of the control plane, without recording it. */
    act?: (request: FastifyRequest, reply: FastifyReply, realNow: number) => unknown
  }
}

/** Applies recorded requests to a tenant by the handlers that served them. Their answers are dropped. */
export type ApplyRequest = (tenant: Tenant, recorded: RecordedRequest) => void

type Route = Pick<FastifyRequest, 'routeOptions'> & { handler(request: FastifyRequest, reply: FastifyReply): unknown }

/** Collects the handlers of all routes as they are added. */
export function collectHandlers(
  app: FastifyInstance,
  requests: RequestRecorder,
  logger: Pick<FastifyBaseLogger, 'error'>,
): ApplyRequest {
  const routes = new Map<string, Route>()
  app.addHook('onRoute', ({ method, url, config = {}, handler }) => {
    const operation = `${method} ${url.replace(/:(\w+)/g, '{$1}')}`
    routes.set(operation, { handler, routeOptions: { url, config } } as unknown as Route)
  })

  return (tenant, recorded) => {
    const realNow = Date.parse(recorded.receivedAt)
    const route = routes.get(recorded.operation)
    if (route === undefined) throw new Error(`there is no operation ${recorded.operation}`)
    const request = toRequest(tenant, recorded, route)
    const { act } = route.routeOptions.config
    try {
      if (act !== undefined) {
        requests.passControl(request, tenant, recorded)
        act(request, NO_REPLY, realNow)
        return
      }
      requests.passApi(request, tenant, recorded, realNow)
      // The token itself is no state.
      if (takesToken(request)) route.handler(request, NO_REPLY)
    } catch (error) {
      // The request was refused when it was served, too.
      if (!(error instanceof ApiError)) logger.error({ err: error }, `${recorded.operation} of the log has failed`)
    }
  }
}

/** Returns the parts of a request that handlers and faults use. */
function toRequest(tenant: Tenant, recorded: RecordedRequest, { routeOptions }: Route): FastifyRequest {
  const { operation, params, query, body, region, file } = recorded
  const [method, path = ''] = operation.split(' ')
  return {
    method,
    url: path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? '')),
    params,
    query,
    body,
    headers: {},
    routeOptions,
    sandbox: {
      tenant,
      region: (region ?? 'EU') as Region,
      hints: [],
      faults: null,
      upload: file && { fileName: file.fileName, content: Buffer.from(file.contentBase64, 'base64') },
    },
  } as unknown as FastifyRequest
}

/** Takes an answer and drops it. */
const NO_REPLY = new Proxy({} as FastifyReply, { get: (_, name) => (name === 'then' ? undefined : () => NO_REPLY) })
