import t from 'tap'
import { build } from '../helper.js'
import { listen } from '../http/raw.js'
import { run } from './shell.js'
import { skip, stepsOf, walk } from './walk.js'

t.test('README, First request; ten-minutes, Ten minutes with curl: the answers are those shown', { skip }, async t => {
  const port = await listen(build(t, { clock: 'real', now: Date.now }))
  for (const page of ['README.md', 'docs/ten-minutes.md']) {
    await walk(t, page, `http://127.0.0.1:${port}`, script => run(script, t.testdir()))
  }
})

t.test('ten-minutes, Ten minutes with curl: the walk ends as it is promised', async t => {
  const steps = stepsOf('docs/ten-minutes.md')
  t.ok(steps.length >= 8, 'the walk has its steps')
  const answers = JSON.stringify(steps.map(step => step.answer))
  t.match(answers, '"to":"SETTLED"')
  t.match(answers, '"to":"RETURNED","reasonCode":"AM04"')
  t.match(answers, '"cancellationComment":"Paid in cash instead"')
})
