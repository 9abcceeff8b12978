const utf8 = new TextDecoder()

/** Decodes UTF-8 without its byte order mark, which some editors and shells write first (RFC 8259 §8.1). */
export const textOf = (bytes: Uint8Array): string => utf8.decode(bytes)
