import t from 'tap'
import { build, connect } from '../helper.js'
import { journey } from './journey.js'
import { compareHar, contradictionsIn } from './run.js'

t.test('decisions §1: a capture of the sandbox contradicts no rule', async t => {
  const { har } = await journey(build(t))
  const { code, stdout, stderr } = await compareHar(t, har, ['--json'])
  t.same(contradictionsIn(stdout), [])
  t.match({ code, stderr }, { code: 0, stderr: '' })
})

t.test('README, Fixtures: the records of the fixture demo contradict no rule', async t => {
  const client = await connect(build(t), 'sandbox-client', 'EU', 'sandbox-secret')
  for (const list of ['mandates', 'direct-debit', 'bills', 'accounts']) {
    for (const region of ['EU', 'US', 'UK', 'IN']) await client.get(`/api/v1/${list}`, { region })
  }
  const { body } = await client.control('GET', '/requests?format=har')
  const { stdout } = await compareHar(t, body, ['--json'])
  // Its collections have moments of their own.
  t.same(
    contradictionsIn(stdout).filter(({ rule }) => !/^time of (SUBMITTED|PROCESSING)$/.test(rule)),
    [],
  )
})

t.test('README, Documented and assumed: --all lists each rule with its count and its sentence', async t => {
  const { har } = await journey(build(t))
  const { stdout } = await compareHar(t, har, ['--all'])
  t.match(stdout, '\nGET /api/v1/mandates/{mandateReference}\n')
  t.match(stdout, '- confirmed 4 times: new mandate (decisions §7: Sets a new mandate to ACTIVE.)')
  t.match(stdout, /^- never seen: large body \(decisions §1: Returns 413 for a body above 1 MiB\.\)$/m)
  t.match(stdout, /^- held \d+ times: error envelope \(interface, Errors: /m)
})
