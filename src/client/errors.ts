import type { Verification } from './types.js'

/**
 * An error response of a sandbox, or a failed request.
 *
 * `code`, `field` and `message` are the members of the error response. The library adds these codes:
 * - UNREACHABLE: no response, or an incomplete response
 * - UNEXPECTED_ANSWER: the server is not a sandbox server
 * - TIMEOUT: the expected event did not happen in time
 * - CLOSED: the sandbox is closed
 */
export class SandboxError extends Error {
  readonly code: string
  /** The invalid field, or null if no particular field. */
  readonly field: string | null
  /** The HTTP status, or null if no response. */
  readonly status: number | null

  constructor(message: string, details: SandboxErrorDetails) {
    super(message, { cause: details.cause })
    this.name = 'SandboxError'
    this.code = details.code
    this.field = details.field ?? null
    this.status = details.status ?? null
  }
}

/** The members of a `SandboxError` except its message. */
export interface SandboxErrorDetails {
  readonly code: string
  readonly field?: string | null
  readonly status?: number | null
  readonly cause?: unknown
}

/** An expectation about requests does not hold. The message lists the differences. */
export class ExpectationError extends Error {
  readonly verification: Verification
  /** The path of the file with the evidence, where `SANDBOX_EVIDENCE` names a folder. */
  readonly evidence?: string

  constructor(message: string, verification: Verification, evidence?: string) {
    super(message)
    this.name = 'ExpectationError'
    this.verification = verification
    if (evidence !== undefined) this.evidence = evidence
  }
}
