import { SandboxError } from './errors.js'
import type { Abort } from './types.js'

export interface ConnectionOptions {
  /** Without a trailing slash. */
  readonly url: string
  readonly adminToken?: string | undefined
}

export interface Request {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  /** What is undefined is left out. */
  readonly query?: Readonly<Record<string, string | number | undefined>>
  /** Goes out as JSON, a form as it is. */
  readonly body?: unknown
  readonly accept?: string
  readonly signal?: Abort | undefined
}

/** HTTP to a server, until it is closed. */
export interface Connection {
  readonly isClosed: boolean
  /** Resolves to the JSON of the answer. @throws SandboxError */
  call<T>(request: Request): Promise<T>
  /** The body of the answer as it comes in; to break it off is to give up on the rest. @throws SandboxError */
  read(request: Request): AsyncIterable<Uint8Array>
  /** Gives up on all that is on its way, and refuses whatever is asked for from now on. */
  close(): void
}

/** An answer that is still coming in, until it is let go. */
interface Begun {
  readonly response: Response
  letGo(): void
}

const CONTROL_PLANE = '/_sandbox'

export function createConnection({ url, adminToken }: ConnectionOptions): Connection {
  const open = new Set<AbortController>()
  let isClosed = false

  function headersOf({ path, body, accept = 'application/json' }: Request): Record<string, string> {
    return {
      accept,
      ...(adminToken !== undefined && path.startsWith(CONTROL_PLANE) && { authorization: `Bearer ${adminToken}` }),
      ...(body !== undefined && !(body instanceof URLSearchParams) && { 'content-type': 'application/json' }),
    }
  }

  async function begin(request: Request): Promise<Begun> {
    const { method, path, query = {}, body, signal } = request
    const controller = new AbortController()
    const abort = () => controller.abort()
    const letGo = () => {
      open.delete(controller)
      signal?.removeEventListener('abort', abort)
    }
    open.add(controller)
    signal?.addEventListener('abort', abort)
    if (isClosed || signal?.aborted) abort()
    try {
      const response = await fetch(`${url}${path}${queryOf(query)}`, {
        method,
        headers: headersOf(request),
        ...(body !== undefined && { body: body instanceof URLSearchParams ? body : JSON.stringify(body) }),
        signal: controller.signal,
      })
      if (!response.ok) throw refusal(response.status, await response.text())
      return { response, letGo }
    } catch (error) {
      letGo()
      throw explained(error)
    }
  }

  /** A refusal as it is, and all else that an exchange can fail of. */
  function explained(error: unknown): SandboxError {
    if (error instanceof SandboxError) return error
    if (isClosed) return new SandboxError('The sandbox has been closed.', { code: 'CLOSED' })
    const { message, cause } = error as Error
    const reason = cause instanceof Error && cause.message !== '' ? cause.message : message
    return new SandboxError(`No whole answer from ${url}: ${reason}`, { code: 'UNREACHABLE', cause: error })
  }

  return {
    get isClosed() {
      return isClosed
    },
    async call<T>(request: Request) {
      const { response, letGo } = await begin(request)
      const text = response.text().catch(error => {
        throw explained(error)
      })
      const value = parsed(await text.finally(letGo))
      if (value === undefined) throw foreign(response.status)
      return value as T
    },
    async *read(request) {
      const { response, letGo } = await begin(request)
      try {
        for await (const piece of response.body as AsyncIterable<Uint8Array>) yield piece
      } catch (error) {
        throw explained(error)
      } finally {
        letGo()
      }
    },
    close() {
      isClosed = true
      for (const controller of open) controller.abort()
    },
  }
}

function queryOf(query: NonNullable<Request['query']>): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value))
  return parameters.size === 0 ? '' : `?${parameters}`
}

function refusal(status: number, text: string): SandboxError {
  const { code, field, message } = Object(parsed(text)) as Record<string, unknown>
  if (typeof code !== 'string' || typeof message !== 'string') return foreign(status)
  return new SandboxError(message, { code, field: typeof field === 'string' ? field : null, status })
}

const foreign = (status: number) =>
  new SandboxError(`The answer, of status ${status}, is none of a sandbox: is the URL right?`, {
    code: 'UNEXPECTED_ANSWER',
    status,
  })

/** Undefined: it is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
