import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { get } from 'node:http'

export interface Sent {
  readonly id?: string
  readonly event?: string
  readonly data?: string
  readonly comment?: string
}

/** Reads a stream of events as a browser does. */
export interface Reader {
  readonly response: IncomingMessage
  /** All text so far. */
  text(): string
  /** The next events, comments left out. */
  next(count?: number): Promise<Sent[]>
  /** Resolves when the text holds something. */
  sees(text: string): Promise<void>
  /** Resolves when the stream is over. */
  readonly end: Promise<void>
  hangUp(): void
}

const parse = (block: string): Sent =>
  Object.fromEntries(
    block.split('\n').map(line => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon) || 'comment', line.slice(colon + 1).trim()]
    }),
  )

/** Opens the stream at a path of a server. */
export async function follow(port: number, path: string, headers: Record<string, string> = {}): Promise<Reader> {
  const request = get({
    port,
    host: '127.0.0.1',
    path,
    agent: false,
    headers: { accept: 'text/event-stream', ...headers },
  })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  let text = ''
  let isOver = false
  let wake = () => {}
  response.setEncoding('utf8')
  response.on('data', chunk => {
    text += chunk
    wake()
  })
  // A stream that is cut off ends with an error; 'close' follows.
  response.on('error', () => {})
  const end = new Promise<void>(resolve => {
    response.on('close', () => {
      isOver = true
      wake()
      resolve()
    })
  })
  let taken = 0
  const settled = async (holds: () => boolean) => {
    while (!holds() && !isOver) {
      await new Promise<void>(resolve => {
        wake = resolve
      })
    }
  }
  const blocks = () =>
    text
      .split('\n\n')
      .slice(0, -1)
      .map(parse)
      .filter(({ comment }) => comment === undefined)
  return {
    response,
    text: () => text,
    end,
    async next(count = 1) {
      await settled(() => blocks().length >= taken + count)
      const sent = blocks().slice(taken, taken + count)
      taken += sent.length
      return sent
    },
    sees: wanted => settled(() => text.includes(wanted)),
    hangUp: () => request.destroy(),
  }
}
