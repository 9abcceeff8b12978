import fc from 'fast-check'
import t from 'tap'
import { canMeet, createGlob } from '../../src/core/glob.js'

const SEED = 20_261_102

/** The same pattern as a regular expression, which is another way to say it. */
const asRegExp = (pattern: string) =>
  new RegExp(`^${pattern.replace(/[.+?^${}()|[\]\\/]/g, '\\$&').replace(/\*/g, '.*')}$`, 's')

t.test('decisions §12: every other character of a pattern stands for itself, in its own case', async t => {
  for (const character of '.+?^$(){}[]|\\/-_~%&') {
    t.equal(createGlob(`/a${character}b*`)(`/a${character}b/c`), true, character)
    t.equal(createGlob(`/a${character}b*`)('/axb/c'), false, character)
  }
  t.equal(createGlob('/API/*')('/api/v1'), false)
  t.equal(createGlob('')(''), true)
  t.equal(createGlob('')('/'), false)
})

t.test('decisions §12: a pattern means the same as its regular expression, whatever the text', async () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '/', '.'), maxLength: 10 })
  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '/', '.', '*', '*'), maxLength: 8 })
  fc.assert(
    fc.property(pattern, text, (pattern, text) => createGlob(pattern)(text) === asRegExp(pattern).test(text)),
    { seed: SEED, numRuns: 3000 },
  )
})

t.test('decisions §12: a pattern full of stars costs no more than its text is long', async t => {
  const glob = createGlob('*a'.repeat(200))
  t.equal(glob(`${'a'.repeat(8000)}b`), false)
  t.equal(glob('a'.repeat(8000)), true)
})

t.test('decisions §12: whether a pattern can meet a path of an operation', async t => {
  const cases: [pattern: string, template: string, meets: boolean][] = [
    ['/x', '/x', true],
    ['/x', '/y', false],
    ['/x', '/x/{id}', false],
    ['/x/', '/x/{id}', false],
    ['/x/*', '/x', false],
    ['/x/*', '/x/{id}', true],
    ['/x*', '/x', true],
    ['/x/a', '/x/{id}', true],
    ['/x/abab', '/x/{id}', true],
    ['/x/{id}', '/x/{id}', true],
    ['/x/a?q', '/x/{id}', false],
    ['/x/a/', '/x/{id}', false],
    ['/x/ab/cancel', '/x/{id}/cancel', true],
    ['/x//cancel', '/x/{id}/cancel', false],
    ['/x/*/cancel', '/x/{id}/cancel', true],
    ['/x/a*b/cancel', '/x/{id}/cancel', true],
    ['/x/*cancel', '/x/{id}/cancel', true],
    ['/x/*/other', '/x/{id}/cancel', false],
    ['/x/a*/b*/cancel', '/x/{id}/cancel', false],
    ['*', '/x/{id}', true],
    ['', '/x', false],
    ['', '', true],
  ]
  for (const [pattern, template, meets] of cases) t.equal(canMeet(pattern, template), meets, `${pattern} ${template}`)
})

/** The texts of a and b, of length 1 to 5: one of them is the parameter of each path that a pattern of length 5 can meet. */
const values = ['a', 'b']
for (const value of values) if (value.length < 5) values.push(`${value}a`, `${value}b`)

t.test('decisions §12: a pattern can meet an operation if it matches one of its paths', async () => {
  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '/', '*'), maxLength: 5 })
  const template = fc.constantFrom('/a', '/a/{id}', '/{id}/a', '/{id}', 'b{id}b', '/{id}/b')
  fc.assert(
    fc.property(pattern, template, (pattern, template) => {
      const paths = values.map(value => template.replace('{id}', value))
      return canMeet(pattern, template) === paths.some(createGlob(pattern))
    }),
    { seed: SEED, numRuns: 5000 },
  )
})

t.test('decisions §12: the longest pattern of stars and letters is judged at once', async t => {
  t.equal(canMeet('*a'.repeat(250), '/api/v1/{id}'), true)
  t.equal(canMeet(`${'*a'.repeat(249)}/b`, '/api/v1/{id}'), false)
})
