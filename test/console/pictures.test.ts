import { readFileSync } from 'node:fs'
import t from 'tap'
import { build } from '../helper.js'
import { TEXTS, takePictures } from './pictures.js'

t.test('console, Pages: the pictures have the headings and the tabs of the pages', async t => {
  t.equal(await takePictures(build(t)), readFileSync(TEXTS, 'utf8'), 'if the pages are right, run npm run screenshots')
})
