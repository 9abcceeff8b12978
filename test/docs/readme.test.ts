import t from 'tap'
import { skip, stepsOf, walk } from './walk.js'

t.test('the walk in the README gives the answers that it shows', { skip }, t => walk(t, 'README.md'))

t.test(
  'the walk ends as the README promises: one SETTLED, one RETURNED with AM04, a link cancelled with its comment',
  async t => {
    const steps = stepsOf('README.md')
    t.ok(steps.length >= 8, 'the walk has its steps')
    const answers = JSON.stringify(steps.map(step => step.answer))
    t.match(answers, '"to":"SETTLED"')
    t.match(answers, '"to":"RETURNED","reasonCode":"AM04"')
    t.match(answers, '"cancellationComment":"Paid in cash instead"')
  },
)
