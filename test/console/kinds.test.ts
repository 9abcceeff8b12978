import t from 'tap'
import { areas } from '../../src/areas/index.js'
import { kinds } from '../../src/console/kinds.js'

t.test('CONTRIBUTING, A new area: the console shows each kind of records', async t => {
  t.same(kinds.map(({ name }) => name).sort(), Object.keys(areas).sort())
})
