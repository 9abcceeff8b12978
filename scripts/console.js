// Bundles the program of the console to dist/assets/console/: its script and its styles, with a hash of the content in their names, and
// its page. The guide and the reference have the same header, which `shellOf` writes. The server hands these files out.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { build } from 'esbuild'

const OUTPUT = 'dist/assets/console'
const ENTRIES = { console: 'src/console/main.tsx', style: 'src/console/style.css' }

rmSync(OUTPUT, { recursive: true, force: true })
export const { metafile } = await build({
  entryPoints: ENTRIES,
  entryNames: '[name]-[hash]',
  outdir: OUTPUT,
  bundle: true,
  minify: true,
  metafile: true,
  format: 'esm',
  target: 'es2023',
  sourcemap: 'external',
})
const names = Object.fromEntries(
  Object.entries(metafile.outputs).flatMap(([path, { entryPoint }]) =>
    entryPoint ? [[entryPoint, basename(path)]] : [],
  ),
)
const [script, style] = Object.values(ENTRIES).map(entry => names[entry])

const ICON =
  "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'><rect width='32' height='32' rx='8' fill='#0e2a35'/>" +
  "<path d='M9 11h11l-3-3m6 13H12l3 3' fill='none' stroke='#ffd45e' stroke-width='3' stroke-linecap='round' " +
  "stroke-linejoin='round'/></svg>"

const ENTRIES_OF_NAVIGATION = [
  ['Overview', '_sandbox/console'],
  ['Records', '_sandbox/console/mandates'],
  ['Requests', '_sandbox/console/requests'],
  ['Failures', '_sandbox/console/failures'],
  ['Sandbox', '_sandbox/console/sandbox'],
  ['Docs', 'docs/guide'],
]

/**
 * Writes a page. The server replaces `{{root}}` by the way to itself, and `{{query}}` and `{{client}}` by the client of the
 * address.
 */
const pageOf = ({ title, head = '', body }) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title} · Payments Sandbox</title>` +
  '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">' +
  `<meta name="robots" content="noindex"><link rel="icon" href="data:image/svg+xml,${encodeURIComponent(ICON)}">` +
  `<link rel="stylesheet" href="{{root}}_sandbox/console/assets/${style}">${head}</head>${body}</html>`

/** Writes a page without the program, in the shell of the console. */
export const shellOf = ({ title, head, aside = '', content }) =>
  pageOf({
    title,
    head,
    body:
      '<body data-client="{{client}}"><a class="skip" href="#main">Skip to the content</a><header>' +
      '<a class="brand" href="{{root}}_sandbox/console{{query}}">Payments Sandbox</a><nav aria-label="Console">' +
      ENTRIES_OF_NAVIGATION.map(
        ([name, path]) =>
          `<a href="{{root}}${path}{{query}}"${name === 'Docs' ? ' aria-current="page"' : ''}>${name}</a>`,
      ).join('') +
      `</nav><p class="choice">${aside}</p></header>${content}</body>`,
  })

mkdirSync(OUTPUT, { recursive: true })
writeFileSync(
  `${OUTPUT}/index.html`,
  pageOf({
    title: 'Console',
    head: `<script type="module" src="{{root}}_sandbox/console/assets/${script}"></script>`,
    body: '<body><div id="console"></div><noscript><p class="offline">The console needs JavaScript.</p></noscript></body>',
  }),
)
