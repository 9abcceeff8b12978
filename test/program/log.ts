import { type Logger, pino } from 'pino'

/** A line of the log. */
export interface Line {
  level: number
  msg: string
  [member: string]: unknown
}

/** A logger without output. */
export const silentLogger: Logger = pino({ level: 'silent' })

/** Creates a logger that appends its lines to an array. */
export function createTestLogger(level: string): { logger: Logger; lines: Line[] } {
  const lines: Line[] = []
  const logger = pino({ level }, { write: (text: string) => void lines.push(JSON.parse(text)) })
  return { logger, lines }
}
