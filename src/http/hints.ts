import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

interface Hints {
  readonly texts: string[]
  /** How many there was no room for. */
  omitted: number
}

declare module 'fastify' {
  interface FastifyRequest {
    hints: Hints | null
  }
}

/** A header is no place for more; how many are left out is told. */
const MOST_HINTS = 8
const LONGEST_NAME = 40

/**
 * Adds a sentence to the response header `Sandbox-Hint` (decisions §1): what was ignored, or is legal but surely
 * unmeant. A hint never changes an answer.
 * @param text printable ASCII without semicolons
 */
export function hint(request: FastifyRequest, text: string): void {
  request.hints ??= { texts: [], omitted: 0 }
  if (request.hints.texts.length < MOST_HINTS) request.hints.texts.push(text)
  else request.hints.omitted++
}

/** Tells of a member or parameter that the interface does not name. */
export function hintIgnored(request: FastifyRequest, kind: 'member' | 'parameter', name: string): void {
  const ascii = name.slice(0, LONGEST_NAME).replace(/[^\x21-\x3a\x3c-\x7e]/g, '?')
  hint(request, `unknown ${kind} ${ascii} ignored`)
}

/** SEPA carries references of at most 35 characters (EPC130-08, AT-10): longer ones are legal here, and cut there. */
export function hintLongReference(request: FastifyRequest, field: string, reference: string): void {
  if (reference.length > 35) hint(request, `${field} is longer than the 35 characters that SEPA carries`)
}

export function installHints(app: FastifyInstance): void {
  app.decorateRequest('hints', null)
}

/** Adds the hints that a request was given to its answer. */
export function addHints({ hints }: FastifyRequest, reply: FastifyReply): void {
  if (hints === null) return
  const { texts, omitted } = hints
  reply.header('sandbox-hint', (omitted === 0 ? texts : [...texts, `and ${omitted} more`]).join('; '))
}
