/** Writes a name such as `payoutLinks` in upper camel case: PayoutLinks. */
export const toTitle = (name: string): string => `${name.charAt(0).toUpperCase()}${name.slice(1)}`

/** Writes a name such as `payoutLinks` as words: payout links. */
export const toWords = (name: string): string => name.replace(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`)

/** Writes a name of several records as words for one: `payoutLinks` as payout link. */
export const toNoun = (name: string): string => toWords(name).replace(/ies$/, 'y').replace(/s$/, '')

/** Writes names as a list: `A, B or C`. */
export const toList = (names: readonly string[], conjunction: 'and' | 'or'): string =>
  names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} ${conjunction} ${names.at(-1)}`

/** Escapes control characters, also of text directions, so that a text from outside cannot control a terminal. */
export const escapeControls = (text: string, kept = '\n\t'): string =>
  text.replace(/[\p{Cc}\p{Bidi_Control}]/gu, character =>
    kept.includes(character) ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
