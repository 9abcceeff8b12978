/** Writes a name such as `payoutLinks` in upper camel case: PayoutLinks. */
export const toTitle = (name: string): string => `${name.charAt(0).toUpperCase()}${name.slice(1)}`

/** Writes a name such as `payoutLinks` as words: payout links. */
export const toWords = (name: string): string => name.replace(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`)
