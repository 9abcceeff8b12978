import { SandboxError } from './errors.js'

export interface ConnectionOptions {
  /** The URL of the server without a trailing slash. */
  readonly url: string
  readonly adminToken?: string | undefined
}

export interface Request {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  /** Parameters. Undefined values are omitted. */
  readonly query?: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Sent as JSON. URLSearchParams are sent as a form. */
  readonly body?: unknown
}

/** Sends a request. Resolves to the JSON body of the response. @throws SandboxError */
export type Call = <T>(method: Request['method'], path: string, options?: Pick<Request, 'body' | 'query'>) => Promise<T>

/** Sends HTTP requests to a server until it is closed. */
export interface Connection {
  /** Resolves to the JSON body of the response. @throws SandboxError */
  call<T>(request: Request): Promise<T>
  /** Resolves to the body of the response: its text, and its JSON value. @throws SandboxError */
  answer(request: Request): Promise<Answer>
  /** Aborts all open requests. Later requests reject. */
  close(): void
}

/** The body of a response. */
export interface Answer {
  readonly text: string
  readonly value: unknown
}

const CONTROL_PLANE = '/_sandbox'

export function createConnection({ url, adminToken }: ConnectionOptions): Connection {
  const open = new Set<AbortController>()
  let isClosed = false

  function headersOf({ path, body, headers }: Request): Record<string, string> {
    return {
      accept: 'application/json',
      ...(adminToken !== undefined && path.startsWith(CONTROL_PLANE) && { authorization: `Bearer ${adminToken}` }),
      ...(body !== undefined && !(body instanceof URLSearchParams) && { 'content-type': 'application/json' }),
      ...headers,
    }
  }

  async function answer(request: Request): Promise<Answer> {
    const { method, path, query = {}, body } = request
    const controller = new AbortController()
    open.add(controller)
    if (isClosed) controller.abort()
    try {
      const response = await fetch(`${url}${path}${queryOf(query)}`, {
        method,
        headers: headersOf(request),
        ...(body !== undefined && { body: body instanceof URLSearchParams ? body : JSON.stringify(body) }),
        signal: controller.signal,
      })
      const text = await response.text()
      if (!response.ok) throw errorOf(response.status, text)
      const value = parseJson(text)
      if (value === undefined) throw unexpectedResponse(response.status)
      return { text, value }
    } catch (error) {
      throw toSandboxError(error)
    } finally {
      open.delete(controller)
    }
  }

  /** Converts any failure of a request to a SandboxError. */
  function toSandboxError(error: unknown): SandboxError {
    if (error instanceof SandboxError) return error
    if (isClosed) return new SandboxError('The sandbox has been closed.', { code: 'CLOSED' })
    const { message, cause } = error as Error
    const reason = cause instanceof Error && cause.message !== '' ? cause.message : message
    return new SandboxError(`No complete response from ${url}: ${reason}`, { code: 'UNREACHABLE', cause: error })
  }

  return {
    call: async <T>(request: Request) => (await answer(request)).value as T,
    answer,
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

function errorOf(status: number, text: string): SandboxError {
  const { code, field, message }: Record<string, unknown> = Object(parseJson(text))
  if (typeof code !== 'string' || typeof message !== 'string') return unexpectedResponse(status)
  return new SandboxError(message, { code, field: typeof field === 'string' ? field : null, status })
}

const unexpectedResponse = (status: number) =>
  new SandboxError(`The response with status ${status} is not from a sandbox server: check the URL.`, {
    code: 'UNEXPECTED_ANSWER',
    status,
  })

/** Parses JSON. Returns undefined for invalid JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
