import fc from 'fast-check'
import t from 'tap'
import { canMeet, createGlob, type PathParameter } from '../../src/core/rules/glob.js'

const SEED = 20_261_102

/** The same pattern as a regular expression, which is another way to say it. */
const asRegExp = (pattern: string) =>
  new RegExp(`^${pattern.replace(/[.+?^${}()|[\]\\/]/g, '\\$&').replace(/\*/g, '.*')}$`, 's')

t.test('control plane: in a pattern, * stands for any run of characters, slashes and none included', async t => {
  const cases: [pattern: string, text: string, matches: boolean][] = [
    ['/api/v1/mandates', '/api/v1/mandates', true],
    ['/api/v1/mandates', '/api/v1/mandates/', false],
    ['/api/v1/mandates', '/api/v1/mandate', false],
    ['*', '', true],
    ['*', '/any/thing', true],
    ['**', '/any/thing', true],
    ['/api/*', '/api/', true],
    ['/api/*', '/api/v1/mandates/MND-0001', true],
    ['/api/*', '/api', false],
    ['*/mandates', '/api/v1/mandates', true],
    ['*/mandates', '/api/v1/mandates/MND-0001', false],
    ['*mandates*', '/api/v1/mandates/MND-0001', true],
    ['/api/*/MND-*', '/api/v1/mandates/MND-0001', true],
    ['/api/*/MND-*', '/api/v1/mandates/COL-0001', false],
    ['a*a', 'a', false],
    ['a*a', 'aa', true],
    ['ab*ba', 'aba', false],
    ['a*b*c', 'a-b-c', true],
    ['a*b*c', 'acb', false],
    ['a*bb*b', 'abb', false],
    ['*a*a*', 'a', false],
    ['*a*a*', 'xaxax', true],
  ]
  for (const [pattern, text, matches] of cases) t.equal(createGlob(pattern)(text), matches, `${pattern} ${text}`)
})

t.test('control plane: every other character of a pattern stands for itself, in its own case', async t => {
  for (const character of '.+?^$(){}[]|\\/-_~%&') {
    t.equal(createGlob(`/a${character}b*`)(`/a${character}b/c`), true, character)
    t.equal(createGlob(`/a${character}b*`)('/axb/c'), false, character)
  }
  t.equal(createGlob('/API/*')('/api/v1'), false)
  t.equal(createGlob('')(''), true)
  t.equal(createGlob('')('/'), false)
})

t.test('control plane: a pattern means the same as its regular expression, whatever the text', async () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '/', '.'), maxLength: 10 })
  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '/', '.', '*', '*'), maxLength: 8 })
  fc.assert(
    fc.property(pattern, text, (pattern, text) => createGlob(pattern)(text) === asRegExp(pattern).test(text)),
    { seed: SEED, numRuns: 3000 },
  )
})

t.test('control plane: a pattern full of stars costs no more than its text is long', async t => {
  const glob = createGlob('*a'.repeat(200))
  t.equal(glob(`${'a'.repeat(8000)}b`), false)
  t.equal(glob('a'.repeat(8000)), true)
})

/** 2 to 4 of a and b. */
const parameter: PathParameter = { least: 2, most: 4, allows: character => character === 'a' || character === 'b' }

/** All paths of a template with that parameter. */
function pathsOf(template: string): string[] {
  if (!template.includes('{')) return [template]
  let values = ['']
  const all: string[] = []
  for (let length = 1; length <= parameter.most; length++) {
    values = values.flatMap(value => [`${value}a`, `${value}b`])
    if (length >= parameter.least) all.push(...values)
  }
  return all.map(value => template.replace('{id}', value))
}

t.test('control plane: whether a pattern can meet a path of an operation', async t => {
  const cases: [pattern: string, template: string, meets: boolean][] = [
    ['/x', '/x', true],
    ['/x', '/y', false],
    ['/x', '/x/{id}', false],
    ['/x/', '/x/{id}', false],
    ['/x/*', '/x', false],
    ['/x/*', '/x/{id}', true],
    ['/x*', '/x', true],
    ['/x/ab', '/x/{id}', true],
    ['/x/a', '/x/{id}', false],
    ['/x/abab', '/x/{id}', true],
    ['/x/ababa', '/x/{id}', false],
    ['/x/ac', '/x/{id}', false],
    ['/x/a?q', '/x/{id}', false],
    ['/x/a/', '/x/{id}', false],
    ['/x/ab/cancel', '/x/{id}/cancel', true],
    ['/x/*/cancel', '/x/{id}/cancel', true],
    ['/x/a*b/cancel', '/x/{id}/cancel', true],
    ['/x/*cancel', '/x/{id}/cancel', true],
    ['/x/*/other', '/x/{id}/cancel', false],
    ['/x/a*/b*/cancel', '/x/{id}/cancel', false],
    ['*', '/x/{id}', true],
    ['', '/x', false],
    ['', '', true],
  ]
  for (const [pattern, template, meets] of cases) {
    t.equal(canMeet(pattern, template, parameter), meets, `${pattern} ${template}`)
  }
})

t.test('control plane: without a parameter, braces are characters like any other', async t => {
  t.equal(canMeet('/x/ab', '/x/{id}'), false)
  t.equal(canMeet('/x/{id}', '/x/{id}'), true)
})

t.test('control plane: a pattern can meet an operation if it matches one of its paths, and only then', async () => {
  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '/', '*'), maxLength: 9 })
  const template = fc.constantFrom('/a', '/a/{id}', '/{id}/a', '/{id}', 'b{id}b', '/a/{id}/b')
  fc.assert(
    fc.property(pattern, template, (pattern, template) => {
      return canMeet(pattern, template, parameter) === pathsOf(template).some(createGlob(pattern))
    }),
    { seed: SEED, numRuns: 5000 },
  )
})

t.test('control plane: the longest pattern of stars and letters is judged at once', async t => {
  const wide: PathParameter = { least: 1, most: 256, allows: () => true }
  t.equal(canMeet('*a'.repeat(250), '/api/v1/{id}', wide), true)
  t.equal(canMeet(`${'*a'.repeat(249)}/b`, '/api/v1/{id}', { ...wide, allows: character => character !== '/' }), false)
})
