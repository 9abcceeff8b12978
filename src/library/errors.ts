import type { Verification } from './types.js'

/**
 * What a sandbox refuses, in the terms of its answer: `code`, `field` and message are those of the error envelope,
 * `status` is the HTTP status. Beside the codes of the sandbox there are
 *
 * - UNREACHABLE: there was no answer, or it broke off
 * - UNEXPECTED_ANSWER: whatever answers there is no sandbox
 * - TIMEOUT: the event that was waited for has not come
 * - CLOSED: the sandbox has been closed here
 */
export class SandboxError extends Error {
  readonly code: string
  /** What is to blame, by its name on the wire; null: nothing in particular. */
  readonly field: string | null
  /** Null: there was no answer to have one. */
  readonly status: number | null

  constructor(message: string, details: SandboxErrorDetails) {
    super(message, { cause: details.cause })
    this.name = 'SandboxError'
    this.code = details.code
    this.field = details.field ?? null
    this.status = details.status ?? null
  }
}

/** What a `SandboxError` tells beside its message. */
export interface SandboxErrorDetails {
  readonly code: string
  readonly field?: string | null
  readonly status?: number | null
  readonly cause?: unknown
}

/** The application has not sent what it should have; the message tells what differs. */
export class ExpectationError extends Error {
  readonly verification: Verification

  constructor(message: string, verification: Verification) {
    super(message)
    this.name = 'ExpectationError'
    this.verification = verification
  }
}
