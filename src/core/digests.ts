import { hash, timingSafeEqual } from 'node:crypto'

/** Returns the SHA-256 digest in hexadecimal. */
export const sha256 = (content: string | Uint8Array): string => hash('sha256', content, 'hex')

/** Returns the SHA-256 digest of a text in base64url, 43 characters. */
export const digestOf = (text: string): string => hash('sha256', text, 'base64url')

/** Compares two texts in constant time, so that the duration reveals nothing about a secret. */
export function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}
