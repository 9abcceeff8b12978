import type { FastifyRequest } from 'fastify'
import { maskText } from './masking.js'

/** The most hints of one answer: a header has no room for more. */
const MOST_HINTS = 8
const LONGEST_NAME = 40

/**
 * Adds a sentence to the response header `Sandbox-Hint` (decisions §1). A hint never changes an answer.
 * @param text printable ASCII without semicolons, or undefined if there is no hint
 */
export function hint({ sandbox }: FastifyRequest, text: string | undefined): void {
  if (text === undefined) return
  if (sandbox.hints.length < MOST_HINTS) sandbox.hints.push(text)
  else sandbox.omittedHints++
}

/** Returns the hints of a request as its answer has them. */
export const hintsOf = ({ sandbox: { hints, omittedHints } }: FastifyRequest): readonly string[] =>
  omittedHints > 0 ? [...hints, `and ${omittedHints} more`] : hints

/** Hints at a member or parameter that the interface does not name. */
export function hintIgnored(request: FastifyRequest, kind: 'member' | 'parameter', name: string): void {
  if (request.sandbox.hints.length === MOST_HINTS) {
    request.sandbox.omittedHints++
    return
  }
  const ascii = maskText(name)
    .slice(0, LONGEST_NAME)
    .replace(/[^\x21-\x3a\x3c-\x7e]/g, '?')
  hint(request, `unknown ${kind} ${ascii} ignored`)
}

/**
 * Hints at the registration of a client, since its id may be a typing error (decisions §3).
 * @param lookalike another client, whose id differs in case only
 */
export function hintRegistration(request: FastifyRequest, lookalike: string | undefined): void {
  hint(request, 'the client was not known: this request has registered it, and it starts from the fixture empty')
  // In Unicode, another letter can be the capital of an ASCII one.
  if (lookalike !== undefined && /^[\x21-\x3a\x3c-\x7e]+$/.test(lookalike)) {
    hint(request, `the client ${lookalike} is another one, whose id differs in case only`)
  }
}
