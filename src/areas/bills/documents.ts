import type { DOCUMENT_TYPES } from './schemas.js'

type DocumentType = (typeof DOCUMENT_TYPES)[number]

/** The first bytes of each format: ISO 32000-1 §7.5.2, ITU-T T.81 Annex B, ISO/IEC 15948 §5.2. */
const SIGNATURES: readonly (readonly [DocumentType, Buffer])[] = [
  ['application/pdf', Buffer.from('%PDF-', 'latin1')],
  ['image/jpeg', Buffer.from([0xff, 0xd8, 0xff])],
  ['image/png', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])],
]

/** Returns the format of a document by its first bytes, or undefined if not an accepted format. */
export const documentTypeOf = (content: Buffer): DocumentType | undefined =>
  SIGNATURES.find(([, signature]) => content.subarray(0, signature.length).equals(signature))?.[0]

/** Returns a document of a format and a size. Its content repeats a text. */
export function documentOf(type: string, size: number, text: string): Buffer {
  const content = Buffer.alloc(size, text)
  SIGNATURES.find(([name]) => name === type)?.[1].copy(content)
  return content
}
