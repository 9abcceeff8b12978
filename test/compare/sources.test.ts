import { readFileSync } from 'node:fs'
import t from 'tap'
import { loadContract } from '../../src/compare/contract.js'
import { rulesOf } from '../../src/compare/rules/index.js'

const all = [...rulesOf(await loadContract()).values()].flatMap(({ rules }) => rules)

/** The sections of a document by their headings, each without line breaks. */
function sectionsOf(file: string, depth: RegExp): Map<string, string> {
  const [, ...sections] = readFileSync(file, 'utf8').split(depth)
  return new Map(
    sections.map(section => {
      const [heading = '', ...lines] = section.split('\n')
      return [heading, lines.join(' ').replace(/\s+/g, ' ')]
    }),
  )
}

const decisions = new Map(
  [...sectionsOf('docs/decisions.md', /^## (?=\d)/m)].map(([heading, text]) => [`§${heading.split('.')[0]}`, text]),
)
const interfaces = sectionsOf('docs/service-interface.md', /^#{2,3} /m)

for (const [label, document, sections] of [
  ['documented', 'service-interface.md', interfaces],
  ['assumed', 'decisions.md', decisions],
] as const) {
  t.test(`CONTRIBUTING, Requirements of a change: each ${label} rule cites a sentence of ${document}`, async t => {
    const cited = all.filter(rule => rule.label === label)
    t.ok(cited.length > 100, `${cited.length} rules`)
    const wrong = cited.filter(({ place, sentence }) => !sections.get(place)?.includes(sentence))
    t.same(
      wrong.map(({ id, place, sentence }) => `${id} (${place}): ${sentence}`),
      [],
    )
  })
}

t.test('README, Documented and assumed: docs/compare.md has the number of sentences that rules cite', async t => {
  const count = (label: string) => new Set(all.filter(rule => rule.label === label).map(rule => rule.sentence)).size
  const text = readFileSync('docs/compare.md', 'utf8').replace(/\s+/g, ' ')
  t.match(text, `${count('documented')} sentences of the interface and ${count('assumed')} of the decisions`)
})

t.test('README, Documented and assumed: no operation has two rules of the same id', async t => {
  for (const { name, rules } of rulesOf(await loadContract()).values()) {
    const ids = rules.map(({ id }) => id)
    t.same(
      ids.filter((id, at) => ids.indexOf(id) !== at),
      [],
      name,
    )
  }
})

t.test('interface, Errors: conditions that are documented have codes that are assumed', async t => {
  const rules = rulesOf(await loadContract())
  const labelsOf = (operation: string, ...ids: string[]) =>
    ids.map(id => rules.get(operation)?.rules.find(rule => rule.id === id)?.label)
  for (const [operation, id] of [
    ['listCollections', 'list or cancellation without a token'],
    ['cancelPayoutLink', 'list or cancellation without a token'],
    ['createCollection', 'mandate that is not active'],
    ['createCollection', 'duplicate reference'],
    ['createMandate', 'duplicate reference'],
    ['createBill', 'currency of another region'],
  ] as const) {
    t.same(labelsOf(operation, id, `code of: ${id}`), ['documented', 'assumed'], `${operation}, ${id}`)
  }
  t.same(labelsOf('createPayoutLink', 'currency of another region'), ['assumed'])
  t.same(labelsOf('listMandates', 'request without a token'), ['assumed'])
  t.same(labelsOf('listCollections', 'request without a token'), [undefined])
  t.same(labelsOf('other paths', 'slash in an identifier'), ['documented'], 'with its status')
})
