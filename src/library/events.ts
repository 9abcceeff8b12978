import type { Connection, Request } from './connection.js'
import { SandboxError } from './errors.js'
import type { ClockState, Event, EventFilter, Events, NextOptions, StreamOptions } from './types.js'

interface EventPage {
  readonly data: Event[]
  /** The highest number there is; of a page that is not the last, that of its last event. */
  readonly last: number
}

/** Below the 5 s that many test runners give a test, whose own time-out would tell less. */
const PATIENCE_SECONDS = 4
/** The longest that the server lets a call wait. */
const LONGEST_WAIT_SECONDS = 60

/** A client's events, and how to forget which of them have been given, for the client begins anew. */
export function createEvents(connection: Connection, clientId: string): { events: Events; forget(): void } {
  /** The event that `next` has given last, by filter. */
  const given = new Map<string, number>()

  const requestOf = ({ kind, reference }: EventFilter, query: Request['query']): Request => ({
    method: 'GET',
    path: '/_sandbox/events',
    query: { client: clientId, kind, reference, ...query },
  })

  async function list(filter: EventFilter = {}): Promise<Event[]> {
    const events: Event[] = []
    for (let after = filter.after ?? 0; ; ) {
      const { data, last } = await connection.call<EventPage>(requestOf(filter, { after }))
      events.push(...data.filter(event => isFor(filter, event)))
      // Where the page ends with the last event, there may be more pages.
      if (data.at(-1)?.seq !== last) return events
      after = last
    }
  }

  async function next(
    filter: EventFilter = {},
    { timeoutSeconds = PATIENCE_SECONDS }: NextOptions = {},
  ): Promise<Event> {
    const key = JSON.stringify([filter.kind, filter.reference, filter.to])
    const deadline = performance.now() + timeoutSeconds * 1000
    for (let after = filter.after ?? given.get(key) ?? 0; ; ) {
      const left = Math.max(0, Math.round((deadline - performance.now()) / 1000))
      const wait = Math.min(left, LONGEST_WAIT_SECONDS)
      const { data, last } = await connection.call<EventPage>(requestOf(filter, { after, wait }))
      const found = data.find(event => isFor(filter, event))
      if (found !== undefined) {
        given.set(key, found.seq)
        return found
      }
      if (left === 0) throw await timeout(filter, timeoutSeconds)
      // Where there are fewer events than have been seen, the client has begun anew.
      after = last < after ? 0 : last
    }
  }

  async function timeout({ kind, reference, to }: EventFilter, seconds: number): Promise<SandboxError> {
    const request: Request = { method: 'GET', path: '/_sandbox/clock', query: { client: clientId } }
    const { now, mode } = await connection.call<ClockState>(request)
    const wanted = Object.entries({ kind, reference, to }).filter(([, value]) => value !== undefined)
    const what = ['new event', ...wanted.map(([name, value]) => `${name} ${value}`)].join(', ')
    const hint = mode === 'frozen' ? ` The clock stands still at ${now}: advance it for more to happen.` : ''
    return new SandboxError(`There was no ${what} within ${seconds} s.${hint}`, { code: 'TIMEOUT' })
  }

  async function* stream(filter: EventFilter = {}, { signal }: StreamOptions = {}): AsyncGenerator<Event, void> {
    const isOver = () => connection.isClosed || signal?.aborted === true
    let after = filter.after ?? 0
    let failure: unknown
    // A reader that falls far behind is cut off and may come again; one that gets nowhere would come for ever.
    for (let hasMoved = true; hasMoved && !isOver(); ) {
      hasMoved = false
      failure = new SandboxError('The stream of events has ended.', { code: 'UNREACHABLE' })
      try {
        const request = { ...requestOf(filter, { after }), accept: 'text/event-stream', signal }
        for await (const { event: name, data = '' } of messages(connection.read(request))) {
          hasMoved = true
          if (name === 'reset') {
            after = 0
            continue
          }
          const event = JSON.parse(data) as Event
          after = event.seq
          if (isFor(filter, event)) yield event
        }
      } catch (error) {
        failure = error
      }
    }
    if (!isOver()) throw failure
  }

  return { events: { list, next, stream }, forget: () => given.clear() }
}

const isFor = ({ to }: EventFilter, event: Event) => (to ?? event.to) === event.to

/** The messages of a stream (WHATWG HTML, Server-sent events), in the form in which a sandbox sends them. */
async function* messages(body: AsyncIterable<Uint8Array>): AsyncGenerator<{ event?: string; data?: string }> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of body) {
    const blocks = (rest + decoder.decode(piece, { stream: true })).split('\n\n')
    rest = blocks.pop() as string
    // What begins with a colon is a comment: a sign of life.
    for (const block of blocks) if (!block.startsWith(':')) yield fieldsOf(block)
  }
}

const fieldsOf = (block: string) =>
  Object.fromEntries(
    block.split('\n').map(line => {
      const end = line.indexOf(':')
      return [line.slice(0, end), line.slice(end + 1).trimStart()]
    }),
  )
