import type { FastifyInstance } from 'fastify'
import { ownMember } from '../../core/own-member.js'
import type { Fixtures } from '../../tenants/fixtures.js'
import type { Identity, TenantRegistry, TenantRegistryOptions } from '../../tenants/registry.js'
import type { StateDocument, TenantSnapshot } from '../../tenants/snapshot.js'
import type { Scenarios } from '../scenarios/files.js'
import type { RecordedAnswer, RecordedRequest } from './file-format.js'
import { toAnswer } from './file-format.js'

/** The start of a replay. */
export interface ReplayStart {
  readonly seed: string
  readonly publicUrl: string
  /** In seconds. */
  readonly tokenLifetime: number
  readonly identity: Omit<Identity, 'secretDigest'>
  /** The state before the first request. */
  readonly start: StateDocument
  /** For requests that seed one. */
  readonly fixtures: Fixtures
  /** For requests that run one; by default those of the package. */
  readonly scenarios?: Scenarios
}

/** Applies recorded requests to a tenant in a server of its own, which holds nothing but memory: it does not listen. */
export interface Replay {
  /** Applies the next request at the tenant's time at which it was applied. Returns its answer. */
  apply(request: RecordedRequest): Promise<RecordedAnswer>
  /** Returns the state after the requests so far. */
  snapshot(): TenantSnapshot
}

/** Creates the server of a replay. It is an argument, since `server.ts` is above this folder. */
export type BuildReplayServer = (
  options: TenantRegistryOptions & {
    readonly isReplay: true
    readonly scenarios?: Scenarios
    readonly requestLog: { readonly entries: 0; readonly bytes: 0 }
    readonly recordingBytes: 0
    now(): number
  },
) => { readonly app: FastifyInstance; readonly registry: TenantRegistry }

/** Throws the errors of `TenantRegistry.adopt` where the parts of the state do not fit together. */
export async function startReplay(
  buildServer: BuildReplayServer,
  { identity, start, publicUrl, ...options }: ReplayStart,
): Promise<Replay> {
  const { clientId } = identity
  let realNow = 0
  let url = publicUrl
  const { app, registry } = buildServer({
    ...options,
    clients: [{ ...identity, clientSecret: '-' }],
    openRegistration: true,
    maxTenants: 2,
    publicUrl: () => url,
    skipAuthentication: true,
    isReplay: true,
    requestLog: { entries: 0, bytes: 0 },
    recordingBytes: 0,
    now: () => realNow,
  })
  registry.adopt({ ...identity, secretDigest: null }, start, realNow)
  await app.ready()

  return {
    async apply(request) {
      const { at, receivedAt, publicUrl = url } = request
      // The recording decides when a request arrives, and not the real time.
      const { clock } = registry.tenant(clientId, realNow)
      realNow = Date.parse(receivedAt)
      clock.replayTo(Date.parse(at), realNow)
      url = publicUrl
      const response = await app.inject(toInjection(request, clientId))
      return toAnswer(response.statusCode, request.operation.startsWith('HEAD') ? '' : response.payload)
    },
    snapshot: () => registry.tenant(clientId, realNow).snapshot(),
  }
}

/** Makes a request whose handler gets the recorded input. */
function toInjection({ operation, region, params, query, body, file }: RecordedRequest, clientId: string) {
  const [method = '', route = ''] = operation.split(' ')
  const path = route.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(ownMember(params, name) ?? ''))
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const item of [value].flat()) parameters.append(name, String(item))
  }
  const url = parameters.size === 0 ? path : `${path}?${parameters}`
  const headers = { authorization: `Bearer ${clientId}`, ...(region !== undefined && { 'x-region': region }) }
  const send = (contentType: string, payload: string | Buffer) => ({
    method: method as 'POST',
    url,
    headers: { ...headers, 'content-type': contentType },
    payload,
  })
  if (file !== undefined) return send(`multipart/form-data; boundary=${BOUNDARY}`, multipartOf(file))
  if (route === '/api/v1/oauth/token') {
    return send('application/x-www-form-urlencoded', new URLSearchParams(body as Record<string, string>).toString())
  }
  if (body !== undefined) return send('application/json', JSON.stringify(body))
  return { method: method as 'POST', url, headers }
}

const BOUNDARY = 'payments-sandbox-replay-8f14e45fceea167a'

/** Encodes a file as multipart/form-data (RFC 7578). */
function multipartOf({ fileName, contentBase64 }: { fileName: string; contentBase64: string }): Buffer {
  const quoted = fileName.replace(/["\\]/g, '\\$&')
  return Buffer.concat([
    Buffer.from(
      `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="${quoted}"\r\n` +
        'content-type: application/octet-stream\r\n\r\n',
    ),
    Buffer.from(contentBase64, 'base64'),
    Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
  ])
}
