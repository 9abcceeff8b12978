import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import t from 'tap'
import ts from 'typescript'

const SRC = 'src'

interface Import {
  /** A package, or a file below src without its extension, as in `core/clock`. */
  readonly target: string
  readonly isPackage: boolean
}

interface Module {
  /** Below src, without its extension. */
  readonly path: string
  readonly source: ts.SourceFile
  readonly imports: readonly Import[]
}

function walk(node: ts.Node, visit: (node: ts.Node) => void) {
  visit(node)
  ts.forEachChild(node, child => walk(child, visit))
}

/** Every module that the file names: by import and export declarations, dynamic imports, and import types. */
function importsOf(path: string, source: ts.SourceFile): Import[] {
  const found: Import[] = []
  const add = (specifier: ts.Node | undefined) => {
    if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return
    const { text } = specifier
    found.push(
      text.startsWith('.')
        ? { target: normalize(join(dirname(path), text)).replace(/\.js$/, ''), isPackage: false }
        : { target: text, isPackage: true },
    )
  }
  walk(source, node => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) add(node.moduleSpecifier)
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) add(node.arguments[0])
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal)
  })
  return found
}

function parse(path: string, text: string): Module {
  const source = ts.createSourceFile(`${path}.ts`, text, ts.ScriptTarget.ESNext, true)
  return { path, source, imports: importsOf(path, source) }
}

const modules: Module[] = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter(file => /\.tsx?$/.test(file))
  .sort()
  .map(file => parse(relative('.', file).replace(/\.tsx?$/, ''), readFileSync(join(SRC, file), 'utf8')))

/** The state of a feature that a tenant has, and its schemas, are below the tenants. */
const layerOf = (path: string) =>
  /^features\/[^/]+\/(state|schemas)$/.test(path) ? 'state' : (path.split('/')[0] as string)
const areaOf = (path: string) => path.split('/')[1] as string

/** The sentences that are wrong, so that a failure names the files. */
const broken = (
  layer: string,
  isAllowed: (target: Import, from: Module) => boolean,
  among: readonly Module[] = modules,
) =>
  among
    .filter(({ path }) => layerOf(path) === layer && path.includes('/'))
    .flatMap(from =>
      from.imports.filter(target => !isAllowed(target, from)).map(({ target }) => `${from.path} → ${target}`),
    )

const within =
  (...layers: string[]) =>
  ({ target, isPackage }: Import) =>
    isPackage || (target.includes('/') && layers.includes(layerOf(target)))

/** The layers from bottom to top: each may import those before it, and itself (ARCHITECTURE.md). */
const LAYERS = ['core', 'http', 'openapi', 'areas', 'state', 'tenants', 'features', 'turns', 'control']
/** Files beside the layers that any layer may import: building blocks without imports from a layer but `core`. */
const SHARED = ['package', 'bounds']

t.test('architecture: the layers are there', async t => {
  const layers = new Set(modules.filter(({ path }) => path.includes('/')).map(({ path }) => layerOf(path)))
  t.same([...layers].sort(), [...LAYERS, 'client'].sort())
  t.ok(modules.length > 40, `${modules.length} modules`)
})

t.test('architecture, import rule: core imports only core, node:crypto and ibantools', async t => {
  const packages = ['node:crypto', 'ibantools']
  t.same(
    broken('core', target => (target.isPackage ? packages.includes(target.target) : within('core')(target))),
    [],
  )
})

/** Imports that the next steps of the move to folders by feature remove. */
const UPWARD = [
  'http/request-context → features/faults/state',
  'features/coverage/answer → control/route',
  'features/coverage/report → control/schemas',
  'features/events/read → control/route',
  'features/events/read → control/schemas',
  'features/request-log/verify → control/schemas',
]

t.test('architecture, import rule: a layer imports itself and the layers below', async t => {
  const upward = LAYERS.flatMap((layer, at) =>
    broken(layer, target => within(...LAYERS.slice(0, at + 1))(target) || SHARED.includes(target.target)),
  )
  t.same(upward, UPWARD)
})

t.test('architecture, import rule: an area never imports another area, nor their table', async t => {
  const inAreas = modules.filter(({ path }) => path !== 'areas/index')
  const isOwn = (target: Import, from: Module) =>
    layerOf(target.target) !== 'areas' || areaOf(target.target) === areaOf(from.path)
  t.same(broken('areas', isOwn, inAreas), [])
})

/** Whether a module runs in a browser only. */
const isForBrowsers = (path: string) => path.includes('/browser/')

t.test('architecture, import rule: the server imports no module that is for browsers', async t => {
  t.ok(modules.some(({ path }) => isForBrowsers(path)))
  t.same(
    modules
      .filter(({ path }) => !isForBrowsers(path))
      .flatMap(({ path, imports }) =>
        imports.filter(({ target }) => isForBrowsers(target)).map(({ target }) => `${path} → ${target}`),
      ),
    [],
  )
})

t.test('architecture, import rule: there are no circles', async t => {
  const imports = new Map(
    modules.map(({ path, imports }) => [
      path,
      imports.filter(({ isPackage }) => !isPackage).map(({ target }) => target),
    ]),
  )
  const done = new Set<string>()
  const circles: string[] = []
  const visit = (path: string, trail: readonly string[]) => {
    if (trail.includes(path)) circles.push([...trail.slice(trail.indexOf(path)), path].join(' → '))
    if (done.has(path) || trail.includes(path)) return
    for (const target of imports.get(path) ?? []) visit(target, [...trail, path])
    done.add(path)
  }
  for (const path of imports.keys()) visit(path, [])
  t.same(circles, [])
})

/** What would make the core depend on anything but its arguments, or its operations divisible. */
function impurities({ path, source, imports }: Module): string[] {
  const found: string[] = []
  const isNamed = (node: ts.Node, name: string) => ts.isIdentifier(node) && node.text === name
  const globals = [
    'setTimeout',
    'setInterval',
    'setImmediate',
    'queueMicrotask',
    'performance',
    'process',
    'Promise',
    'fetch',
    'require',
    'globalThis',
  ]
  walk(source, node => {
    const note = (what: string) => {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart(source))
      found.push(`${path}:${line + 1} ${what}`)
    }
    if (ts.isPropertyAccessExpression(node)) {
      if (isNamed(node.expression, 'Date') && node.name.text === 'now') note('Date.now')
      if (isNamed(node.expression, 'Math') && node.name.text === 'random') note('Math.random')
    } else if (ts.isNewExpression(node) && isNamed(node.expression, 'Date') && (node.arguments?.length ?? 0) === 0) {
      note('new Date()')
    } else if (ts.isCallExpression(node) && isNamed(node.expression, 'Date')) {
      note('Date()')
    } else if (ts.isAwaitExpression(node)) {
      note('await')
    } else if (node.kind === ts.SyntaxKind.AsyncKeyword) {
      note('async')
    } else if (ts.isForOfStatement(node) && node.awaitModifier !== undefined) {
      note('for await')
    } else if (ts.isIdentifier(node) && globals.includes(node.text)) {
      const { parent } = node
      const isMember = ts.isPropertyAccessExpression(parent) && parent.name === node
      const isKey = (ts.isPropertyAssignment(parent) || ts.isPropertySignature(parent)) && parent.name === node
      if (!isMember && !isKey) note(node.text)
    }
  })
  for (const { target, isPackage } of imports) {
    if (!isPackage) continue
    const module = target.replace(/^node:/, '').split('/')[0] as string
    if (
      ['fs', 'timers', 'perf_hooks', 'process', 'child_process', 'os', 'net', 'http', 'worker_threads'].includes(module)
    )
      found.push(`${path} → ${target}`)
    if (target.endsWith('crypto')) {
      const random = /\b(randomBytes|randomUUID|randomInt|randomFill\w*|getRandomValues|webcrypto)\b/.exec(source.text)
      if (random !== null) found.push(`${path} → ${random[0]}`)
    }
  }
  return found
}

t.test('control plane: nothing below src/http reads the real time, chance, files or settings, or waits', async t => {
  const below = modules.filter(
    ({ path }) => path.startsWith('core/') || (path.startsWith('areas/') && !isForBrowsers(path)),
  )
  t.ok(below.length > 30, `${below.length} modules`)
  t.same(below.flatMap(impurities), [])
})

t.test('architecture: config.ts is the only reader of the environment; cli.ts passes it on', async t => {
  const readers = modules.filter(({ source }) => {
    let reads = false
    walk(source, node => {
      const isAccess =
        (ts.isPropertyAccessExpression(node) && node.name.text === 'env') ||
        (ts.isElementAccessExpression(node) &&
          ts.isStringLiteralLike(node.argumentExpression) &&
          node.argumentExpression.text === 'env') ||
        (ts.isBindingElement(node) && (node.propertyName ?? node.name).getText() === 'env')
      const isImport = ts.isImportSpecifier(node) && (node.propertyName ?? node.name).text === 'env'
      if (isAccess || isImport) reads = true
    })
    return reads
  })
  t.same(
    readers.map(({ path }) => path),
    ['cli'],
  )
})

t.test('the checks of this test see what they look for', async t => {
  const imports = parse(
    'areas/bills/store',
    `import a from '../mandates/store.js'
     import type { B } from '../../core/clock.js'
     export * from 'fastify'
     const c = () => import('../../http/region.js')
     type D = typeof import('../../world.js')`,
  ).imports
  t.same(imports, [
    { target: 'areas/mandates/store', isPackage: false },
    { target: 'core/clock', isPackage: false },
    { target: 'fastify', isPackage: true },
    { target: 'http/region', isPackage: false },
    { target: 'world', isPackage: false },
  ])
  t.same(
    broken('areas', within('core', 'http', 'areas'), [
      parse('areas/bills/store', `import a from '../mandates/store.js'; import b from '../../world.js'`),
    ]),
    ['areas/bills/store → world'],
  )
  for (const [text, what] of [
    ['const f = Date.now', 'Date.now'],
    ['new Date()', 'new Date()'],
    ['new Date', 'new Date()'],
    ['Date()', 'Date()'],
    ['Math.random()', 'Math.random'],
    ['setTimeout(f, 1)', 'setTimeout'],
    ['setInterval(f, 1)', 'setInterval'],
    ['setImmediate(f)', 'setImmediate'],
    ['const f = async () => {}', 'async'],
    ['await f()', 'await'],
    ['process.env.HOME', 'process'],
  ] as const) {
    t.same(impurities(parse('core/x', text)), [`core/x:1 ${what}`], text)
  }
  t.same(impurities(parse('core/x', `import { readFileSync } from 'node:fs'`)), ['core/x → node:fs'])
  t.same(impurities(parse('core/x', `import { randomUUID } from 'node:crypto'`)), ['core/x → randomUUID'])
  t.same(impurities(parse('core/x', 'new Date(0); Date.parse(a); order.process(b); ({ process: c })')), [])
})

t.test('tests: the index of each folder imports every test of the folder', async t => {
  const folders = readdirSync('test', { withFileTypes: true }).filter(entry => entry.isDirectory())
  for (const { name: folder } of folders) {
    const files = readdirSync(`test/${folder}`).filter(file => file.endsWith('.test.ts') && file !== 'index.test.ts')
    const index = readFileSync(`test/${folder}/index.test.ts`, 'utf8')
    t.same([...index.matchAll(/'\.\/(.*)\.js'/g)].map(([, name]) => `${name}.ts`).sort(), files.sort(), folder)
  }
})
