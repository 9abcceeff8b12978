import type { Connection, Request } from './connection.js'
import { SandboxError } from './errors.js'
import type { Names } from './options.js'
import type { StreamOptions } from './types.js'

export const STREAM_OPTIONS: Names<StreamOptions> = { signal: true }

/**
 * Yields the data of a stream of the server, each with a number `seq`. Continues after an interruption, and from the start
 * after a reset of the client.
 * @param open returns the request of the stream after a number
 * @throws SandboxError
 */
export async function* readStream<T extends { readonly seq: number }>(
  connection: Connection,
  open: (after: number) => Request,
  start = 0,
): AsyncGenerator<T, void> {
  let after = start
  let failure: unknown
  const { signal } = open(after)
  const isOver = () => connection.isClosed || signal?.aborted === true
  // The server disconnects a slow reader. Reconnects only after progress, to avoid an endless loop.
  for (let hasProgress = true; hasProgress && !isOver(); ) {
    hasProgress = false
    failure = new SandboxError('The stream has ended.', { code: 'UNREACHABLE' })
    try {
      for await (const { event: name, data = '' } of messages(
        connection.read({ ...open(after), accept: 'text/event-stream' }),
      )) {
        hasProgress = true
        if (name === 'reset') {
          after = 0
          continue
        }
        const item = JSON.parse(data) as T
        after = item.seq
        yield item
      }
    } catch (error) {
      failure = error
    }
  }
  if (!isOver()) throw failure
}

/** Parses server-sent events (WHATWG HTML) in the format of the sandbox. */
async function* messages(body: AsyncIterable<Uint8Array>): AsyncGenerator<{ event?: string; data?: string }> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of body) {
    const blocks = (rest + decoder.decode(piece, { stream: true })).split('\n\n')
    rest = blocks.pop() as string
    // A line that starts with a colon is a comment. The server sends comments to keep the connection open.
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
