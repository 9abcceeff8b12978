import t from 'tap'
import { build, connect, mandate } from '../helper.js'

t.test('a created mandate is ACTIVE and can be read', async t => {
  const client = await connect(build(t))
  const created = await client.post('/api/v1/mandates', mandate())
  t.equal(created.status, 201)
  t.equal(created.body.status, 'ACTIVE')
  t.same((await client.get('/api/v1/mandates/MND-0001')).body, created.body)
})
