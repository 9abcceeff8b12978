/** The library: starts a sandbox in this process or connects to a running server. */
import type { Sandbox } from './client.js'
import { createClient } from './client.js'
import { createConnection } from './connection.js'
import type { Names } from './options.js'
import { assertOptions, quote } from './options.js'
import type { ConnectOptions, SandboxOptions } from './types.js'

export type { Sandbox } from './client.js'
export type { SandboxErrorDetails } from './errors.js'
export { ExpectationError, SandboxError } from './errors.js'
export type * from './records.js'
export type * from './types.js'

/** The methods of a sandbox, beside the methods of records. */
export type Clock = Sandbox['clock']
export type Faults = Sandbox['faults']
export type Requests = Sandbox['requests']
export type Events = Sandbox['events']
export type Outcomes = Sandbox['outcomes']
export type Deprecations = Sandbox['deprecations']
export type Scenarios = Sandbox['scenarios']

/**
 * Starts a sandbox server in this process on a free port of 127.0.0.1.
 *
 * The server logs nothing, handles no signals and is independent of other servers: start one for each test.
 * It does not keep the process alive.
 * By default the client is `app` with the secret `secret` and no records. The default seed is constant.
 *
 * @throws TypeError for an invalid option, or the error of a port that is not available
 */
export async function createSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { clientId = 'app', clientSecret = 'secret', adminToken, settings } = options
  // `connectSandbox` works without loading the server.
  const { startServer } = await import('./server.js')
  const { url, close } = await startServer(options, { clientId, clientSecret })
  const sandbox = createClient({ url, clientId, clientSecret, adminToken, settings, closed: close })
  try {
    if (settings !== undefined) await sandbox.settings(settings)
    return sandbox
  } catch (error) {
    await sandbox.close()
    throw error
  }
}

/**
 * Connects to a client of a running sandbox server, for example one container for all jobs of a CI run.
 *
 * Registers an unknown client, and checks the secret of a known one. The request log does not show it.
 * Jobs with different client ids are independent.
 *
 * @throws TypeError for an invalid option
 * @throws SandboxError if the server is unreachable, or rejects the admin token, the client or its secret
 */
export async function connectSandbox(options: ConnectOptions): Promise<Sandbox> {
  const url = urlOf(options)
  const { adminToken, clientId = DEMO_CLIENT.clientId } = options
  const { clientSecret = clientId === DEMO_CLIENT.clientId ? DEMO_CLIENT.clientSecret : 'secret' } = options
  const connection = createConnection({ url, adminToken })
  const body = { client_id: clientId, client_secret: clientSecret }
  await connection.call({ method: 'POST', path: '/_sandbox/credentials/verify', body })
  return createClient({ url, clientId, clientSecret, adminToken })
}

const CONNECT_OPTIONS: Names<ConnectOptions> = { url: true, adminToken: true, clientId: true, clientSecret: true }

/** Returns the URL of the server without a trailing slash. @throws TypeError */
function urlOf(options: ConnectOptions): string {
  const { url }: Partial<ConnectOptions> = Object(options)
  const text = typeof url === 'string' ? url : url?.href
  if (typeof text !== 'string') {
    // The options can have secrets.
    const given = typeof options === 'string' ? quote(options) : 'options without a url'
    throw new TypeError(`connectSandbox: give { url: 'http://…' }, not ${given}.`)
  }
  assertOptions('connectSandbox', options, CONNECT_OPTIONS)
  return text.replace(/\/+$/, '')
}

/** The client that exists on every server. */
const DEMO_CLIENT = { clientId: 'sandbox-client', clientSecret: 'sandbox-secret' }
