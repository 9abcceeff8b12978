import { readFileSync } from 'node:fs'
import t from 'tap'

const PAGE = 'docs/commands.md'

t.test('commands, Names: the page names no command that does not exist', async t => {
  const { paths } = JSON.parse(readFileSync('openapi/control-plane.json', 'utf8'))
  const names = Object.values<Record<string, { 'x-command': string }>>(paths)
    .flatMap(operations => Object.values(operations))
    .map(operation => operation['x-command'].replace(/ \[?FILE\]?$/, ''))
  const known = new Set(names.flatMap(name => [name, name.split(' ')[0], name.split(' ')[1]]))
  const given = [...readFileSync(PAGE, 'utf8').matchAll(/payments-sandbox ([a-z]+)/g)].map(([, word]) => word)
  t.ok(given.length > 15)
  const wrong = given.filter(word => !known.has(word) && !['token', 'help', 'replay'].includes(word as string))
  t.same(wrong, [])
})
