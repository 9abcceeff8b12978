import { readFileSync } from 'node:fs'
import t from 'tap'
import { operationsOf } from '../docs/contract.js'
import { build } from '../helper.js'
import type { Har } from './capture.js'
import { journey } from './journey.js'
import { find, MUTATIONS } from './mutations.js'

let har: Har
t.before(async () => {
  har = await journey(build(t))
})

t.test('decisions §1: the journey has a success of each operation of the API', async t => {
  const operations = operationsOf(JSON.parse(readFileSync('openapi/payments-service.json', 'utf8')))
  const missing = operations.filter(({ method, path }) => {
    const pattern = new RegExp(`${path.replace(/\{\w+\}/g, '[^/]+')}$`)
    return !har.log.entries.some(
      ({ request, response }) =>
        request.method === method && pattern.test(new URL(request.url).pathname) && response.status < 300,
    )
  })
  t.same(
    missing.map(({ id }) => id),
    ['getServerMetadata'],
    'and of none beside it',
  )
})

t.test('decisions §1: each mutation changes its entry of the journey', async t => {
  t.equal(MUTATIONS.length, 109)
  for (const [name, line, change] of MUTATIONS) {
    const entry = find(har, line)
    const changed = structuredClone(entry)
    change(changed, har)
    t.notSame(changed, entry, name)
  }
})
