import type { IncomingMessage } from 'node:http'

const OURS = /^[\x20-\x7e]{1,128}$/

/**
 * Makes the `x-request-id` of each answer (decisions §1): the caller's if it is at most 128 printable ASCII
 * characters, else the next of a sequence, so that the same requests get the same ids.
 */
export function createRequestIds() {
  let count = 0
  const next = () => `req-${String(++count).padStart(8, '0')}`
  return {
    next,
    of({ headers }: Pick<IncomingMessage, 'headers'>): string {
      const given = headers['x-request-id']
      return typeof given === 'string' && OURS.test(given) ? given : next()
    },
  }
}
