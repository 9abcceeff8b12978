import type { ChildProcessByStdio } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorEnvelope } from '../core/errors.js'
import { ApiError, errors } from '../core/errors.js'
import type { Watch } from '../http/places.js'
import { createPlaces, PATIENCE_MS, tooMany, watchOf } from '../http/places.js'
import type { Timers } from '../http/timers.js'

export interface HarReaderOptions {
  /** The module that reads a HAR file from its standard input: src/compare/har-to-state.ts. */
  readonly module: URL
  /** The memory of a process for its objects and texts, in MB. */
  readonly megabytes?: number
  /** The time of a process in milliseconds. */
  readonly milliseconds?: number
}

/** A HAR file to read. */
export interface HarTask {
  /** JSON without a byte order mark. */
  readonly file: Uint8Array
  readonly clientId: string
  /** The maximum size of a state document in bytes. */
  readonly stateBytes: number
}

/** The exit code of a process that refuses a file. */
export const REFUSED = 2

type Child = ChildProcessByStdio<Writable, Readable, null>

/** A request and its answer. */
export interface Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

export type HarReader = ReturnType<typeof createHarReader>

/**
 * Creates the reader of the HAR files of a server (docs/console.md, Actions). A process of its own reads a file, one at a
 * time: a file can need much more work and memory than its size, and V8 ends a process that finds none.
 */
export function createHarReader(options: HarReaderOptions, { later }: Timers, isClosing: () => boolean) {
  const { module, megabytes = 256, milliseconds = 60_000 } = options
  const places = createPlaces(1)

  /** Ends a wait after some time, when the client has closed its side of the connection, and when the server closes. */
  function watch({ request, reply }: Exchange, after: number, refusal: () => ApiError): Watch {
    const { socket } = request.raw
    const reason = () => (isClosing() ? errors.unavailable('The server is closing.') : refusal())
    const watchClose = watchOf(reply.raw, work => later(after, work), reason)
    return giveUp => {
      const stop = watchClose(giveUp)
      const refuse = () => giveUp(isBusy())
      socket.once('end', refuse)
      return () => {
        socket.off('end', refuse)
        stop()
      }
    }
  }

  async function readIn(child: Child, exchange: Exchange): Promise<Buffer> {
    const ended = once(child, 'close')
    let stop = () => {}
    try {
      const result = await new Promise<{ text: Buffer; code: number | null }>((resolve, reject) => {
        stop = watch(exchange, milliseconds, () => errors.tooMuchWork('file', `${milliseconds / 1000} s`))(reject)
        Promise.all([buffer(child.stdout), ended]).then(([text, [code]]) => resolve({ text, code }), reject)
      })
      const { text, code } = result
      if (code === 0) return text
      // The bound of memory ends a process by a signal.
      if (code === null) throw errors.tooMuchWork('file', `${megabytes} MB of memory`)
      if (code === REFUSED) throw refusalOf(text)
      throw failureOf(code, text.toString())
    } finally {
      stop()
      child.kill('SIGKILL')
      await ended
    }
  }

  return {
    /** The number of files that are read or wait, for tests. */
    inUse: places.inUse,
    /**
     * Reads a file as the text of a state document.
     * @param exchange its request. When the client closes its side of the connection, the work ends
     * @throws INVALID_FIELD, PAYLOAD_TOO_LARGE (also for too much memory or time), SERVICE_UNAVAILABLE after 30 s of waiting
     */
    async read(task: HarTask, exchange: Exchange): Promise<Buffer> {
      const { leave } = await places.enter(task.clientId, watch(exchange, PATIENCE_MS, isBusy))
      try {
        if (exchange.reply.raw.destroyed || exchange.request.raw.socket.readableEnded) throw isBusy()
        const { file, clientId, stateBytes } = task
        const args = [`--max-old-space-size=${megabytes}`, fileURLToPath(module), clientId, String(stateBytes)]
        const child = await begin(args)
        // It can end before it has read all.
        child.stdin.on('error', () => {}).end(file)
        return await readIn(child, exchange)
      } finally {
        leave()
      }
    },
  }
}

/** Begins a process of Node. It gets no secret of the settings, and no option of Node. Rejects with SERVICE_UNAVAILABLE. */
async function begin(args: readonly string[]): Promise<Child> {
  try {
    const child = spawn(process.execPath, args, { env: {}, stdio: ['pipe', 'pipe', 'ignore'] })
    // Without a free descriptor, it has no pipes.
    await once(child, 'spawn')
    return child
  } catch {
    throw errors.unavailable('No process can be started to read the file. Repeat the request.', { 'retry-after': '1' })
  }
}

const isBusy = tooMany('Another HAR file is read')

function refusalOf(text: Buffer): ApiError {
  const { code, field, message } = JSON.parse(text.toString()) as ErrorEnvelope
  return new ApiError(code, field, message)
}

/** Returns an error for the log. Its stack is that of the process. */
function failureOf(code: number, stack: string): Error {
  const error = new Error(`The reader of a HAR file has failed with the exit code ${code}.`)
  error.stack = `${error.message} ${stack}`
  return error
}
