import t from 'tap'
import { kinds } from '../../src/console/kinds.js'
import { pressAll } from '../actions.js'
import type { Client } from '../helper.js'
import { build, connect } from '../helper.js'
import { open } from './pages.js'

const app = build(t)
let client: Client
t.before(async () => {
  await app.listen({ port: 0, host: '127.0.0.1' })
  client = await connect(app)
  await client.control('POST', '/seed', { fixture: 'demo' })
})

t.test('console, Actions: each transition of each kind is made by its form and by its command', async t => {
  for (const kind of kinds) await t.test(kind.name, t => pressAll(t, client, kind))
})

t.test('console, Pages: a record links the records that it names, and lists those that name it', async t => {
  const state = (await client.control('GET', '/state')).body
  const related = async (path: string, reference: string) => {
    const { payload } = await open(app, `${path}/${reference}`)
    return /<section[^>]* aria-labelledby="related".*?<\/section>/s.exec(payload)?.[0] ?? ''
  }
  let count = 0
  for (const kind of kinds) {
    for (const other of kinds.filter(one => one !== kind && one.reference in kind.record.properties)) {
      const { record } = state[kind.name].findLast((row: { record: object }) => other.reference in row.record)
      const [own, named] = [record[kind.reference], record[other.reference]]
      t.match(await related(kind.path, own), `${other.path}/${named}?`, `${own} links ${named}`)
      t.match(await related(other.path, named), `${kind.path}/${own}?`, `${named} lists ${own}`)
      count++
    }
  }
  t.ok(count >= 2, 'collections name mandates, and bills counterparties')
})
