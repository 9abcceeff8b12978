/** Writes a name such as `payoutLinks` as words: payout links. */
export const toWords = (name: string): string => name.replace(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`)
