import { readFileSync } from 'node:fs'
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
