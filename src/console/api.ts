/** The client of the control plane and the API. The console has no other way to the server. */
import { useEffect, useState } from 'preact/hooks'
import { ROOT } from './address.js'
import type { Event, Refusal, SentCall } from './types.js'

/** A refusal, or an answer that did not come. */
export class CallError extends Error implements Refusal {
  constructor(
    /** 0: no answer came. */
    readonly status: number,
    readonly code: string,
    readonly field: string | null,
    message: string,
  ) {
    super(message)
  }
}

const AWAY = 'The server is away. This page catches up when it is back.'

const FOREIGN = 'The answer does not come from the sandbox.'

/** Fetches a path of the server. Rejects with a CallError. */
async function request<T>(path: string, options: RequestInit, read: (answer: Response) => Promise<T>): Promise<T> {
  let status: number
  let text: string
  try {
    const answer = await fetch(new URL(path.slice(1), ROOT), options)
    if (answer.ok) return await read(answer)
    status = answer.status
    text = await answer.text()
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw error
    throw new CallError(0, 'NO_ANSWER', null, AWAY)
  }
  const { code = 'NO_JSON', field = null, message = FOREIGN } = Object(parse(text, status)) as Partial<Refusal>
  throw new CallError(status, code, field, message)
}

const textOf = (answer: Response) => answer.text()

function parse(text: string, status = 200): unknown {
  try {
    return text === '' ? {} : JSON.parse(text)
  } catch {
    throw new CallError(status, 'NO_JSON', null, FOREIGN)
  }
}

/** Adds the client to a path of the control plane. */
export const withClient = (path: string, client: string): string =>
  `${path}${path.includes('?') ? '&' : '?'}${new URLSearchParams({ client })}`

const JSON_ONLY = { accept: 'application/json' }

/** Reads a path of the control plane. Rejects with a CallError. */
export const read = async <T>(path: string, signal?: AbortSignal): Promise<T> =>
  parse(await request(path, { headers: JSON_ONLY, ...(signal && { signal }) }, textOf)) as T

/** Reads a path of the control plane as bytes, which may be megabytes: nothing parses them. Rejects with a CallError. */
export const readBytes = (path: string): Promise<Blob> => request(path, { headers: JSON_ONLY }, answer => answer.blob())

/** Whether a request is one of the API: it needs a token of the client, and is in the request log. */
export const isOfApi = ({ path }: Pick<SentCall, 'path'>): boolean => path.startsWith('/api/')

/** Calls that take no `?client=`. */
const GLOBAL = /^\/_sandbox\/(clients\/|openapi)/

/** The path and query of a call, as it is sent. */
export const targetOf = (call: SentCall, client: string): string =>
  isOfApi(call) || GLOBAL.test(call.path) ? call.path : withClient(call.path, client)

/** Sends a call as a client, and says that the console has sent it. Returns its answer, or rejects with a CallError. */
export async function send(call: SentCall, client: string): Promise<unknown> {
  const { method, region, body } = call
  const headers: Record<string, string> = { ...JSON_ONLY, 'sandbox-sender': 'console' }
  if (isOfApi(call)) {
    // It needs no secret, meets no fault and is in no log.
    const token = await request(withClient('/_sandbox/tokens', client), { method: 'POST' }, textOf)
    headers.authorization = `Bearer ${(parse(token) as { access_token: string }).access_token}`
    if (region !== undefined) headers['x-region'] = region
  }
  if (body !== undefined) headers['content-type'] = 'application/json'
  const bytes = body instanceof Blob ? body : JSON.stringify(body)
  const options = { method, headers, ...(bytes !== undefined && { body: bytes }) }
  try {
    return parse(await request(targetOf(call, client), options, textOf))
  } catch (error) {
    if (!(error instanceof CallError) || error.status !== 0) throw error
    const message = isOfApi(call)
      ? 'No answer came. A fault may have taken it away: the page of the request shows whether it was applied.'
      : 'No answer came. Look for the effect before you send it again.'
    throw new CallError(0, 'NO_ANSWER', null, message)
  } finally {
    live.refresh()
  }
}

/** The seconds after which the page is read again if nothing has happened: the clock and settings make no event. */
const WAIT_S = 5
const RETRY_MS = 1000

/**
 * Follows the events and requests of a client by two waiting calls, and tells the parts of the page to read again. A tab
 * that is hidden asks nothing.
 */
export const live = {
  client: '',
  /** The number of the latest event. Undo is possible as long as only this page has raised it. */
  last: 0,
  listeners: new Set<() => Promise<void>>(),
  /** Ends when the parts of the page are read again. */
  refreshed: Promise.resolve<unknown>(undefined),
  /** Called when the server is away, and when it is back. */
  onAway: (_message: string) => {},
  stop: new AbortController(),
  refresh() {
    live.refreshed = Promise.all([...live.listeners].map(listener => listener()))
  },
  /** Begins to follow a client. */
  follow(client: string) {
    live.stop.abort()
    live.stop = new AbortController()
    live.client = client
    if (document.hidden || client === '') return
    const { signal } = live.stop
    void loop(signal, after => `/_sandbox/events?after=${after}`, true)
    void loop(signal, after => `/_sandbox/requests?limit=1&after=${after}`, false)
  },
}

/** The number behind any event: a list after it has only `last`. */
const NONE = 281_474_976_710_656

/** Reads the number of the latest event of a client. */
export const readLast = async (client: string): Promise<number> =>
  (await read<{ last: number }>(withClient(`/_sandbox/events?after=${NONE}`, client))).last

async function loop(signal: AbortSignal, pathOf: (after: number) => string, isOfEvents: boolean) {
  const { client } = live
  let wait = 0
  let after = NONE
  while (!signal.aborted) {
    try {
      const path = `${pathOf(after)}${wait > 0 ? `&wait=${wait}` : ''}`
      const { last, data } = await read<{ last: number; data: Event[] }>(withClient(path, client), signal)
      if (signal.aborted) return
      if (isOfEvents) live.last = last
      live.onAway('')
      // The first answer tells where the log ends. Requests that the page makes by itself are none of the log.
      if (wait > 0 && (isOfEvents || data.length > 0)) live.refresh()
      after = last
      wait = WAIT_S
    } catch (error) {
      if (signal.aborted) return
      const { status, message } = error as CallError
      if (status === 401) return location.reload()
      // The client is gone: the page says so.
      if (status === 404) return live.refresh()
      live.onAway(status === 0 ? AWAY : message)
      await new Promise(resolve => setTimeout(resolve, RETRY_MS))
    }
  }
}

/** An answer while it is read again. */
export interface Loaded<T> {
  readonly data?: T
  readonly error?: CallError
}

/**
 * Loads something, and again whenever the client has changed.
 * @param key names it, or undefined if nothing is loaded
 * @param isFixed whether it never changes
 */
export function useLoaded<T>(
  key: string | undefined,
  load: (signal: AbortSignal) => Promise<T>,
  isFixed = false,
): Loaded<T> {
  const [state, setState] = useState<Loaded<T> & { key?: string }>({})
  useEffect(() => {
    if (key === undefined) return
    const stop = new AbortController()
    let reading = Promise.resolve()
    let isReading = false
    let isStale = false
    const renew = () => {
      isStale = isReading
      if (!isReading) reading = readFresh()
      return reading
    }
    const readFresh = async () => {
      isReading = true
      do {
        isStale = false
        try {
          const data = await load(stop.signal)
          // An answer that says the same changes nothing on the page.
          setState(before => (before.key === key && isSame(before.data, data) ? before : { key, data }))
        } catch (error) {
          if (!(error instanceof CallError)) break
          // The server may be back soon: what was read stays.
          setState(before => (before.key === key && error.status === 0 ? before : { key, error }))
        }
      } while (isStale && !stop.signal.aborted)
      isReading = false
    }
    void renew()
    if (!isFixed) live.listeners.add(renew)
    return () => {
      stop.abort()
      live.listeners.delete(renew)
    }
  }, [key, isFixed])
  return key === undefined || state.key !== key ? {} : state
}

const isSame = (before: unknown, after: unknown) =>
  before !== undefined && JSON.stringify(before) === JSON.stringify(after)

/** Reads a path of the control plane, as `useLoaded`. */
export const useAnswer = <T>(path: string | undefined, isFixed = false): Loaded<T> =>
  useLoaded(path, signal => read<T>(path as string, signal), isFixed)
