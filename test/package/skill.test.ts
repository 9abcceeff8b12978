import { readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { skip, stepsOf, walk } from '../docs/walk.js'
import { install } from './install.js'

const page = () => join(install().home, 'skills/payments-sandbox/SKILL.md')

t.test('agents, For coding agents: the skill has the form of the Agent Skills specification', async t => {
  const text = readFileSync(page(), 'utf8')
  t.ok(Buffer.byteLength(text) <= 6 * 1024, `at most 6 KB: ${Buffer.byteLength(text)}`)
  const [, head = ''] = /^---\n(.*?)\n---\n\n# /s.exec(text) ?? []
  const { name, description, license, compatibility, ...others } = parse(head)
  t.equal(name, basename(dirname(page())))
  t.match(name, /^[a-z\d]+(-[a-z\d]+)*$/)
  t.ok(name.length <= 64 && description.length <= 1024 && compatibility.length <= 500)
  t.match(description, /\bUse it to\b/, 'it says when to use it')
  t.same([license, others], ['MIT', {}])
})

t.test('agents, For coding agents: the commands of the skill give the answers that it shows', { skip }, async t => {
  const { sh, start } = install()
  const { url } = await start(t)
  t.ok(stepsOf(page()).filter(({ answer }) => answer !== undefined).length >= 5)
  await walk(t, page(), url, sh)
})

t.test('agents, For coding agents: the test of the skill passes', async t => {
  const { folder, run } = install()
  const [, example = ''] = /^```js\n(.*?)^```$/ms.exec(readFileSync(page(), 'utf8')) ?? []
  writeFileSync(join(folder, 'skill.test.mjs'), example)
  const { code, stdout } = await run('node', ['--test', 'skill.test.mjs'])
  t.equal(code, 0, stdout)
  t.match(stdout, /pass 1\n/)
})

t.test('agents, For coding agents: the index of the operations, and one entry, with curl', { skip }, async t => {
  const { sh, start } = install()
  const { url } = await start(t)
  const { stdout } = await sh(`
    curl -sSf -H 'Accept: text/markdown' ${url}/docs | grep -o 'docs/createMandate'
    curl -sSf ${url}/docs/createMandate | sed -n 1p
  `)
  t.same(stdout, 'docs/createMandate\n# createMandate\n')
})
