import { readdirSync } from 'node:fs'
import module from 'node:module'
import { join } from 'node:path'
import t from 'tap'
import { reuseCompiled } from '../src/compiled.js'

const { getCompileCacheDir } = module as { getCompileCacheDir?(): string | undefined }

t.test('issue 4, start: what Node compiles is kept in a folder that is there, from Node 22 on', async t => {
  const folder = t.testdir({ compiled: {} })
  const before = getCompileCacheDir?.()
  reuseCompiled(join(folder, 'nowhere'))
  t.equal(getCompileCacheDir?.(), before)
  t.same(readdirSync(folder), ['compiled'], 'no folder is made')
  t.doesNotThrow(() => reuseCompiled(join(folder, 'compiled')))
  if (getCompileCacheDir !== undefined && before === undefined) t.match(getCompileCacheDir(), join(folder, 'compiled'))
})

t.test('issue 4, start: a Node that keeps none is started all the same', t => {
  const folder = t.testdir({})
  const folders: string[] = []
  reuseCompiled(folder, { enableCompileCache: asked => folders.push(asked) })
  reuseCompiled(folder, {})
  t.same(folders, [folder])
  t.end()
})
