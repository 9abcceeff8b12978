import { createHmac } from 'node:crypto'
import { digestOf } from './digests.js'

/**
 * Identifiers of one tenant: a keyed pseudo-random sequence per purpose. Whoever knows the seed can compute them,
 * nobody else can guess them; the same seed and the same calls give the same identifiers.
 */
export interface Ids {
  /** The next identifier for a purpose: 22 characters of base64url (128 bits). */
  next(purpose: string): string
  /** The next number for a purpose, from 1, where no identifier is needed. */
  count(purpose: string): number
  /** The next number for a purpose that is spread evenly from 0 up to, not including, 1. */
  fraction(purpose: string): number
  /** A tag that only this tenant of this seed makes for a text: 16 characters of base64url (96 bits). */
  sign(purpose: string, text: string): string
  /** Takes back what was given since, as if it had never been asked for. */
  rewind(counters: Readonly<Record<string, number>>): void
  /** How many identifiers or numbers each purpose has given: with the seed, the whole state. */
  counters(): Readonly<Record<string, number>>
}

/**
 * @param seed SANDBOX_SEED, any text
 * @param scope whose identifiers these are, such as a client id
 * @param earlier the counters of an earlier life
 */
export function createIds(seed: string, scope: string, earlier: Readonly<Record<string, number>> = {}): Ids {
  // No HMAC, which takes four times as long: at most 132 of the 256 bits are ever shown, so nobody can go on from there.
  const key = createHmac('sha256', seed).update(scope).digest('base64url')
  const digest = (text: string) => digestOf(`${key}\0${text}`)
  let counters: Record<string, number> = { ...earlier }

  function count(purpose: string) {
    const next = (counters[purpose] ?? 0) + 1
    counters[purpose] = next
    return next
  }

  return {
    counters: () => counters,
    rewind(to) {
      counters = { ...to }
    },
    next: purpose => digest(`id\0${purpose}\0${count(purpose)}`).slice(0, 22),
    count,
    fraction: purpose =>
      Buffer.from(digest(`fraction\0${purpose}\0${count(purpose)}`).slice(0, 8), 'base64url').readUIntBE(0, 6) /
      2 ** 48,
    sign: (purpose, text) => digest(`sign\0${purpose}\0${text}`).slice(0, 16),
  }
}
