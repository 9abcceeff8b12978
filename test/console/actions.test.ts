import t from 'tap'
import { kinds } from '../../src/console/kinds.js'
import { pressAll } from '../actions.js'
import { build, connect } from '../helper.js'

t.test('console, Actions: each transition of each kind is made by its form and by its command', async t => {
  const app = build(t)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const client = await connect(app)
  await client.control('POST', '/seed', { fixture: 'demo' })
  for (const kind of kinds) await t.test(kind.name, t => pressAll(t, client, kind))
})
