import { createHmac } from 'node:crypto'
import { digestOf } from './digests.js'

export type Ids = ReturnType<typeof createIds>

/**
 * Creates the identifiers of one tenant: a keyed pseudo-random sequence per purpose.
 * The same seed and the same calls give the same identifiers. Without the seed they cannot be guessed.
 * @param seed SANDBOX_SEED, any text
 * @param scope separates the identifiers of tenants, such as a client id
 * @param earlier the counters of a restored state
 */
export function createIds(seed: string, scope: string, earlier: Readonly<Record<string, number>> = {}) {
  const key = createHmac('sha256', seed).update(scope).digest('base64url')
  // At most 132 of the 256 bits are published, so that a digest cannot be extended.
  const digest = (text: string) => digestOf(`${key}\0${text}`)
  let counters: Record<string, number> = { ...earlier }

  function count(purpose: string) {
    const next = (counters[purpose] ?? 0) + 1
    counters[purpose] = next
    return next
  }

  return {
    /** Returns the next identifier of a purpose: 22 characters of base64url (128 bits). */
    next: (purpose: string): string => digest(`id\0${purpose}\0${count(purpose)}`).slice(0, 22),
    /** Returns the next number of a purpose, from 1. */
    count,
    /** Returns the next number of a purpose, uniformly distributed from 0 up to, not including, 1. */
    fraction(purpose: string): number {
      const bytes = Buffer.from(digest(`fraction\0${purpose}\0${count(purpose)}`), 'base64url')
      return bytes.readUIntBE(0, 6) / 2 ** 48
    },
    /** Returns the signature of a text: 16 characters of base64url (96 bits). */
    sign: (purpose: string, text: string): string => digestOf(`${key}\0sign\0${purpose}\0${text}`).slice(0, 16),
    /** Sets the counters back to earlier values. */
    rewind(to: Readonly<Record<string, number>>): void {
      counters = { ...to }
    },
    /** Returns the counter of each purpose. Together with the seed they are the whole state. */
    counters: (): Readonly<Record<string, number>> => counters,
  }
}
