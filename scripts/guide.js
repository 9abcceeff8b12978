// Writes the guide to dist/assets/guide.json: the pages of docs/, in the order of the README's section "The guide", the page of the
// reference, and the skill. The server reads this file with the first request for a page. https://marked.js.org
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { Marked, Renderer } from 'marked'
import { shellOf } from './console.js'

const read = path => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8').replaceAll('\r\n', '\n')

/** The address of the server in commands and texts. */
const SHOWN = 'http://127.0.0.1:8080'

/** The addresses of files that are no pages, and that the server has, too: relative to a page. */
const SERVED = {
  '../README.md': '../guide',
  '../openapi/payments-service.json': `${SHOWN}/openapi.json`,
  '../openapi/control-plane.json': `${SHOWN}/_sandbox/openapi.json`,
  '../skills/payments-sandbox/SKILL.md': '../skill',
}

/** Returns the address of a link on a page of the server; undefined: the server does not have its target. */
function addressOf(link) {
  const address = Object.hasOwn(SERVED, link) ? SERVED[link] : link
  // Relative, since the server may have another address or a path prefix.
  if (address.startsWith(SHOWN)) return `../..${address.slice(SHOWN.length) || '/'}`
  if (/^(https:|#)/.test(address) || address !== link) return address
  return /^(guide\/)?[\w-]+\.md(#|$)/.test(address) ? address.replace('.md', '') : undefined
}

/** Renders a page. Its headings have the anchors of GitHub, and the rows of a code or setting have its name. */
function render(markdown) {
  const taken = new Set()
  const idOf = text => {
    let id = text
    for (let count = 1; taken.has(id); count++) id = `${text}-${count}`
    taken.add(id)
    return id
  }
  const renderer = {
    heading({ tokens, depth, text }) {
      const id = idOf(
        text
          .toLowerCase()
          .replace(/[^\p{L}\p{N}_ -]/gu, '')
          .replaceAll(' ', '-'),
      )
      return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`
    },
    link({ href, tokens }) {
      const text = this.parser.parseInline(tokens)
      const address = addressOf(href)
      return address === undefined ? text : `<a href="${address.replaceAll('&', '&amp;')}">${text}</a>`
    },
    // The package and the image have no pictures.
    image: ({ text }) => `<em>${text}</em>`,
    code(token) {
      return Renderer.prototype.code.call(this, token).replace('<pre>', '<pre class="code" tabindex="0">')
    },
    table(token) {
      if (token.rows.flat().every(({ tokens }) => tokens.every(({ type }) => type === 'image'))) return ''
      return `<div class="scroll" tabindex="0">${Renderer.prototype.table.call(this, token)}</div>\n`
    },
    tablecell(token) {
      const cell = Renderer.prototype.tablecell.call(this, token)
      return cell === '<th></th>\n' ? '<td></td>\n' : cell
    },
    tablerow({ text }) {
      const [, name] = /^<td>(?:<code>)?([A-Z][A-Z_]+)(?:<\/code>)?<\/td>/.exec(text) ?? []
      return `<tr${name === undefined || taken.has(name) ? '' : ` id="${idOf(name)}"`}>${text}</tr>\n`
    },
  }
  return new Marked({ renderer }).parse(markdown)
}

const [, map] = read('README.md').split('\n## The guide\n')
const groups = [...map.matchAll(/^- \*\*(.+?):\*\*((?:.*\n)+?)(?=-|\n)/gm)].map(([, title, links]) => ({
  title,
  pages: [...links.matchAll(/\]\(docs\/([\w-]+)\.md\)/g)].map(([, name]) => {
    const markdown = read(`docs/${name}.md`)
    const [, title, question] = /^# (.+)\n\n\*(.+\?)\*\n/.exec(markdown)
    return { name, title, question, markdown, html: render(markdown) }
  }),
}))

const listOf = ({ title, pages }) =>
  `## ${title}\n\n${pages.map(({ name, title, question }) => `- [${title}](guide/${name}.md): ${question}\n`).join('')}`
const { description } = JSON.parse(read('package.json'))
const index = `# The guide\n\n${description} Where the service documents nothing, the behaviour is assumed, and labelled so.\n\n${groups.map(listOf).join('\n')}`

/** Writes a page of the guide, with the list of all. */
const pageOf = ({ name, title, markdown, html }) => {
  const link = page =>
    `<a href="{{root}}docs/guide/${page.name}{{query}}"${page.name === name ? ' aria-current="page"' : ''}>${page.title}</a>`
  const lists = groups.map(group => `<div><span>${group.title}</span>${group.pages.map(link).join('')}</div>`).join('')
  const reference = '<div><span>Reference</span><a href="{{root}}docs{{query}}">Interface</a></div>'
  const content = `<main id="main" class="guide"><article>${html}</article><nav aria-label="Guide">${reference}${lists}</nav></main>`
  return [name, { markdown, html: shellOf({ title, content }) }]
}
const all = [
  { name: '', title: 'The guide', markdown: index, html: render(index) },
  ...groups.flatMap(({ pages }) => pages),
]

/** The page of the reference. Its script follows the note. */
const reference = shellOf({
  title: 'Interface',
  aside:
    '<span id="note" role="status">Calls act as <a href="{{root}}_sandbox/console/sandbox{{query}}">{{client}}</a>.</span> ' +
    '<a href="{{root}}docs/guide{{query}}">Guide</a>',
  content:
    '<div id="main"><div id="reference"></div></div><noscript>The reference needs JavaScript. The documents are ' +
    '<a href="{{root}}openapi.json">/openapi.json</a> and <a href="{{root}}_sandbox/openapi.json">/_sandbox/openapi.json</a>.' +
    '</noscript><script src="{{root}}docs/scalar.js"></script><script type="module" src="{{root}}docs/page.js"></script>',
})

mkdirSync(new URL('../dist/assets/', import.meta.url), { recursive: true })
writeFileSync(
  new URL('../dist/assets/guide.json', import.meta.url),
  JSON.stringify({
    address: SHOWN,
    pages: Object.fromEntries(all.map(pageOf)),
    reference,
    skill: read('skills/payments-sandbox/SKILL.md'),
  }),
)
