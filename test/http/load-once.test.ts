import t from 'tap'
import { loadOnce } from '../../src/http/load-once.js'

t.test('ARCHITECTURE, What holds everywhere: a file that cannot be loaded on first use is loaded again', async t => {
  let loads = 0
  const load = loadOnce(async () => {
    loads++
    if (loads === 1) throw new Error('no file descriptor is free')
    return loads
  })
  const failed = await Promise.allSettled([load(), load()])
  t.same(
    failed.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  t.same(await Promise.all([load(), load()]), [2, 2])
  t.equal(await load(), 2)
})
