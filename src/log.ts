import type { Writable } from 'node:stream'
import { type Logger, pino } from 'pino'
import type { Config } from './config.js'

/** The log of the process. */
export interface Log {
  readonly logger: Logger
  /** Resolves when all lines are written, at the latest after one second. Then reports lost lines with `warn`. */
  flush(warn: (message: string) => void): Promise<void>
}

/** The maximum size of lines that wait for the reader of the log, in bytes. */
const MOST_WAITING = 4 * 1024 * 1024
/** The time for the reader of the log to read the last lines. */
const FLUSH_MS = 1000

/** Creates the log of the process: JSON lines on standard output, formatted text on a terminal. */
export async function createLog({ logLevel: level }: Pick<Config, 'logLevel'>): Promise<Log> {
  if (process.stdout.isTTY) {
    const { default: pretty } = await import('pino-pretty')
    const logger = pino({ level }, pretty({ ignore: 'pid,hostname', translateTime: 'HH:MM:ss', sync: true }))
    return { logger, flush: async () => {} }
  }
  return createJsonLog(level, process.stdout)
}

/**
 * Creates a log of JSON lines that never waits for its reader.
 *
 * Node writes to a pipe asynchronously and without a bound. This log drops lines beyond a bound, and counts them.
 * pino.destination() is not used: its flushSync(), which pino calls at the exit, waits for the reader without an end.
 * @param mostWaiting the maximum size of waiting lines in bytes
 */
export function createJsonLog(level: string, output: Writable, mostWaiting: number = MOST_WAITING): Log {
  let dropped = 0
  const logger = pino(
    { level },
    {
      write(line: string) {
        if (output.writableLength + line.length > mostWaiting) dropped++
        else output.write(line)
      },
    },
  )
  // The server goes on without a log that cannot be written, for example on a full disk.
  output.on('error', () => {})
  output.on('drain', () => {
    if (dropped === 0) return
    const lines = dropped
    dropped = 0
    logger.warn({ dropped: lines }, 'log lines were dropped: their reader was too slow')
  })

  return {
    logger,
    async flush(warn) {
      let timer: NodeJS.Timeout | undefined
      const isWritten = await Promise.race([
        // The callback of an empty write follows all earlier writes.
        new Promise<boolean>(resolve => output.write('', () => resolve(true))),
        new Promise<boolean>(resolve => {
          timer = setTimeout(resolve, FLUSH_MS, false)
        }),
      ])
      clearTimeout(timer)
      if (!isWritten)
        warn(`the log is incomplete, because its reader stopped: ${dropped} lines and the last were dropped`)
    },
  }
}
