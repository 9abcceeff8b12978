/**
 * Changes that a test must find (`npm run mutants`). By file of src: the text, its replacement, the nearest tests; for one
 * that lives, the reason.
 */
export const mutants = {
  'http/large-answers.ts': [['        leave()\n        throw error', '        throw error', 'http/large-answers']],
  'http/json-body.ts': [['isHostile ||= mayBeHostile(text)', 'isHostile = mayBeHostile(text)', 'http/body']],
}
