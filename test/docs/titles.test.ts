import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'

/** The names that titles have for some documents. The others have that of their file. */
const NAMES: Record<string, string> = {
  'service-interface': 'interface',
  'control-plane': 'control plane',
  'control-plane-reference': 'control plane',
}

/** The documents by the names that titles have for them. Two documents can share a name. */
const texts = new Map<string, string>()
for (const folder of ['.', 'docs']) {
  for (const file of readdirSync(folder).filter(file => file.endsWith('.md'))) {
    const name = NAMES[file.slice(0, -3)] ?? file.slice(0, -3)
    texts.set(name, `${texts.get(name) ?? ''}${readFileSync(`${folder}/${file}`, 'utf8')}`)
  }
}

/**
 * Tells whether a citation is right: `decisions §1, §4` or `interface, Errors`. The place is a heading, without what it
 * has in parentheses. It may also be a call of the control plane, a command or a variable that the document has as code.
 */
function exists(citation: string): boolean {
  const [, name = '', place = ''] = /^([\w-]+(?: plane)?)(?:, | (?=§))(.+)$/.exec(citation) ?? []
  const text = texts.get(name)
  if (text === undefined) return false
  if (place.startsWith('§')) {
    return place.split(/, | to /).every(section => text.includes(`\n## ${section.slice(1)}. `))
  }
  const headings = [...text.matchAll(/^#+ (.*?)(?: \(.*\))?$/gm)].map(([, heading]) => heading)
  return (
    headings.includes(place) || [place, place.replace(' /', ' /_sandbox/')].some(code => text.includes(`\`${code}\``))
  )
}

/** A whole test, also on one line: its indentation, a quotation mark and its title. Biome keeps the indentation. */
const TEST = /^( *)(?:if \(.*\) )?(?:t\.test|onDatabase|onSqliteOnly)\(\s*(['"`])(.*)\2,(?:.*\)$|[\s\S]*?^\1}?\)$)/gm

/** Returns the titles of the tests of a file, without those inside of tests. */
const titlesOf = (file: string): string[] =>
  [...readFileSync(`test/${file}`, 'utf8').matchAll(TEST)].map(([, , , title = '']) => title)

t.test('CONTRIBUTING, Requirements of a change: each title cites a place that its document has', async t => {
  const files = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.test.ts'))
  const titles = files.flatMap(file => titlesOf(file).map(title => [file, title] as const))
  t.ok(titles.length > 1000, `${titles.length} titles are found`)
  const wrong = titles.filter(([, title]) => !/^.*?(?=: )/.exec(title)?.[0].split('; ').every(exists))
  t.same(wrong, [])
})
