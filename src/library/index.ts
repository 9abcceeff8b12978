/**
 * Use from Node: a sandbox in this process (`createSandbox`), or the same hold of one that runs elsewhere
 * (`connectSandbox`).
 */
import { createClient } from './client.js'
import { SandboxError } from './errors.js'
import type { ConnectOptions, Sandbox, SandboxOptions } from './types.js'

export type { SandboxErrorDetails } from './errors.js'
export { ExpectationError, SandboxError } from './errors.js'
export type * from './types.js'

/**
 * Starts a sandbox server in this process, on a free port of 127.0.0.1, with an empty world for your application. It is
 * silent, leaves signals alone, and shares nothing with others that are started beside it, so start one for each test.
 *
 * The application is the client `app` with the secret `secret` unless you say otherwise: they can be the same every
 * time, since each server has clients of its own. For the same reason the seed is always the same, so that a run that
 * fails fails again.
 *
 * @throws TypeError (an option is not allowed), or the error of a port that cannot be listened on
 */
export async function createSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { clientId = 'app', clientSecret = 'secret', adminToken, settings } = options
  // Whoever connects to a server elsewhere is spared the loading of one.
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
 * Takes hold of a client of a sandbox server that runs elsewhere, such as one container for all jobs of a CI run.
 *
 * A client that the server does not know is registered by its first token request, which is made here; so each job has
 * a world of its own as soon as it names a client id of its own. The request leaves no trace in the request log.
 *
 * @throws SandboxError: the server cannot be reached, wants another admin token, or does not take the client
 */
export async function connectSandbox(options: ConnectOptions): Promise<Sandbox> {
  const { adminToken, clientId = DEMO_CLIENT.clientId } = options
  const { clientSecret = clientId === DEMO_CLIENT.clientId ? DEMO_CLIENT.clientSecret : 'secret' } = options
  const url = (typeof options.url === 'string' ? options.url : options.url.href).replace(/\/+$/, '')
  const sandbox = createClient({ url, clientId, clientSecret, adminToken })
  try {
    await sandbox.clock.get()
  } catch (error) {
    if (!(error instanceof SandboxError) || error.code !== 'CLIENT_NOT_FOUND') throw error
    await sandbox.token()
    await sandbox.requests.clear()
  }
  return sandbox
}

/** The client that every server has. */
const DEMO_CLIENT = { clientId: 'sandbox-client', clientSecret: 'sandbox-secret' }
