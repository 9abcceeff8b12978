import { elapsed } from '../http/timers.js'
import type { Connection, Request } from './connection.js'
import { SandboxError } from './errors.js'
import type { Source } from './evidence.js'
import { evidenceOf } from './evidence.js'
import type { Names } from './options.js'
import { assertOptions } from './options.js'
import type { ClockState, Event, EventFilter, NextOptions } from './types.js'

interface EventPage {
  readonly data: Event[]
  /** The number of the last event of this page, or of all events on the last page. */
  readonly last: number
}

/** The default timeout: shorter than the 5 s of common test runners, for a better error message. */
const TIMEOUT_SECONDS = 4
/** The maximum of the parameter `wait`. */
const MAX_WAIT_SECONDS = 60

const FILTER: Names<EventFilter> = { kind: true, reference: true, to: true, after: true }
const NEXT_OPTIONS: Names<NextOptions> = { timeoutSeconds: true }

/** Creates the event methods of a client. `forget` resets the positions of `next`. */
export function createEvents(connection: Connection, source: Source) {
  const { clientId, control } = source
  /** The number of the last event that `next` returned, by filter. */
  const positions = new Map<string, number>()

  const requestOf = ({ kind, reference, to }: EventFilter, query: Request['query']): Request => ({
    method: 'GET',
    path: '/_sandbox/events',
    query: { client: clientId, kind, reference, to, ...query },
  })

  async function list(filter: EventFilter = {}): Promise<Event[]> {
    assertOptions('events.list', filter, FILTER)
    const events: Event[] = []
    for (let after = filter.after ?? 0; ; ) {
      const { data, last } = await connection.call<EventPage>(requestOf(filter, { after }))
      events.push(...data)
      // More pages can follow a page that ends with its `last` event.
      if (data.at(-1)?.seq !== last) return events
      after = last
    }
  }

  async function next(filter: EventFilter = {}, options: NextOptions = {}): Promise<Event> {
    assertOptions('events.next', filter, FILTER)
    assertOptions('events.next', options, NEXT_OPTIONS)
    const { timeoutSeconds = TIMEOUT_SECONDS } = options
    const key = JSON.stringify([filter.kind, filter.reference, filter.to])
    const deadline = elapsed() + timeoutSeconds * 1000
    for (let after = filter.after ?? positions.get(key) ?? 0; ; ) {
      const left = Math.max(0, Math.round((deadline - elapsed()) / 1000))
      const wait = Math.min(left, MAX_WAIT_SECONDS)
      const { data, last } = await connection.call<EventPage>(requestOf(filter, { after, wait }))
      const [found] = data
      if (found !== undefined) {
        positions.set(key, found.seq)
        return found
      }
      if (left === 0) throw await timeout(filter, timeoutSeconds)
      // After a reset of the client, event numbers start again at 1.
      after = last < after ? 0 : last
    }
  }

  async function timeout({ kind, reference, to }: EventFilter, seconds: number): Promise<SandboxError> {
    const { now, mode } = await control<ClockState>('GET', '/clock')
    const wanted = Object.entries({ kind, reference, to }).filter(([, value]) => value !== undefined)
    const what = ['new event', ...wanted.map(([name, value]) => `${name} ${value}`)].join(', ')
    const last = reference === undefined ? undefined : (await list({ kind, reference })).at(-1)
    const state =
      reference === undefined ? '' : ` ${reference} ${last === undefined ? 'has no event' : `is ${last.to}`}.`
    const hint = mode === 'frozen' ? ` The clock is frozen at ${now}: advance it to trigger scheduled events.` : ''
    const { message } = await evidenceOf(source, 'next', { message: `No ${what} within ${seconds} s.${state}${hint}` })
    return new SandboxError(message, { code: 'TIMEOUT' })
  }

  return {
    /** The changes of state of the client's records. */
    events: {
      /** Lists all events in order. */
      list,
      /**
       * Resolves to the next event of the filter, and waits for it if necessary.
       *
       * Each call with the same filter continues after the event of the last call.
       * Rejects with a `SandboxError` of code TIMEOUT after the timeout, and writes evidence as `requests.expect` does.
       */
      next,
    },
    forget: () => positions.clear(),
  }
}
