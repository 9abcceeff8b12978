import t from 'tap'
import { skip, stepsOf, walk } from './walk.js'

t.test('README, Ten minutes with curl: the walk in the README gives the answers that it shows', { skip }, t =>
  walk(t, 'README.md'),
)

t.test('README, Ten minutes with curl: the walk ends as it is promised', async t => {
  const steps = stepsOf('README.md')
  t.ok(steps.length >= 8, 'the walk has its steps')
  const answers = JSON.stringify(steps.map(step => step.answer))
  t.match(answers, '"to":"SETTLED"')
  t.match(answers, '"to":"RETURNED","reasonCode":"AM04"')
  t.match(answers, '"cancellationComment":"Paid in cash instead"')
})
