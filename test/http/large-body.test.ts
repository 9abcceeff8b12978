import t from 'tap'
import { holds, malformed } from '../answers.js'
import { bill, build, call, connect } from '../helper.js'

// A body above 1 MiB, which only a state document can have, is parsed in pieces.

const large = (json: string) => json.padEnd(1024 * 1024 + 1)

t.test('decisions §2: a large document is what a small one is, and no member of it poisons a prototype', async t => {
  const app = build(t)
  const client = await connect(app)
  for (const [n, description] of ['a\\', '"[{', '}],"\\"', '\u2028 [ ], { }'].entries())
    await client.post('/api/v1/bills', bill({ uniqueReferenceIdentifier: `INV-000${n}`, description }))
  const put = (body: string) => call(app, 'PUT', '/_sandbox/state?client=acme', { body })
  const read = async () => (await app.inject('/_sandbox/state?client=acme')).payload
  const document = await read()
  await client.control('POST', '/reset')
  const spaced = document.replaceAll('[]', '[ \t\r\n]')
  t.not(spaced, document)
  for (const body of [spaced, large(spaced), large(JSON.stringify(JSON.parse(document)))]) {
    t.equal((await put(body)).status, 200)
    t.equal(await read(), document)
  }

  const places: Record<string, (member: string) => string> = {
    first: member => document.replace('{', `{${member},`),
    'in an item': member => document.replace(/"bills": \[\s*\{/, text => `${text}${member},`),
    last: member => `${document.trimEnd().slice(0, -1)},${member}}`,
  }
  const hostile = ['"__proto__":{"x":1}', '"__proto__":[1]', '"\\u005f_proto__":1', '"constructor":{"prototype":1}']
  const cases = Object.keys(places).flatMap(place => hostile.map(member => [place, member] as const))
  await holds(
    t,
    cases.map(([place, member]) => [[place, member], malformed(/\w+/.exec(member.replace('\\u005f', '_'))?.[0] ?? '')]),
    ([place, member]) => put(large(places[place]?.(member) ?? '')),
  )
  t.equal(await read(), document)
})
