import fc from 'fast-check'

/** The first code point of the surrogates, and how many there are: none of them is a character of its own. */
const [SURROGATES, COUNT] = [0xd800, 0x800]

/**
 * Any character but lone surrogates. It draws the same as the unit `binary` of fast-check, which first makes a table of all
 * characters: that takes more than a second in each process.
 */
export const codePoint: fc.Arbitrary<string> = fc.nat({ max: 0x10ffff - COUNT }).map(
  index => String.fromCodePoint(index < SURROGATES ? index : index + COUNT),
  value => {
    if (!/^\P{Surrogate}$/u.test(value as string)) throw new Error('it is not one character')
    const code = (value as string).codePointAt(0) as number
    return code < SURROGATES ? code : code - COUNT
  },
)
