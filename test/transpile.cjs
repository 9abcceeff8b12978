/**
 * How the tests' TypeScript becomes JavaScript: tap's loader asks for it, by `ts-node` in tsconfig.json. Each test file is a
 * process of its own that loads a hundred sources. The compiler, which does it otherwise, takes 0.7 s for them; esbuild
 * takes 0.3 s; and what has been done once is kept.
 */
const { createHash } = require('node:crypto')
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')

const CACHE = join(__dirname, '..', 'node_modules', '.cache', 'transpile')
const options = {
  loader: 'ts',
  format: 'esm',
  target: 'node20',
  sourcemap: true,
  tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
}
const { version } = require('esbuild/package.json')
const KEY = JSON.stringify([version, options])

function transpile(input, { fileName }) {
  const { transformSync } = require('esbuild')
  const { code, map } = transformSync(input, { ...options, sourcefile: fileName })
  return { outputText: code, sourceMapText: map }
}

exports.create = () => ({
  transpile(input, { fileName }) {
    const name = createHash('sha256').update(KEY).update(fileName).update('\0').update(input).digest('hex')
    const path = join(CACHE, name)
    try {
      return JSON.parse(readFileSync(path, 'utf8'))
    } catch {
      const output = transpile(input, { fileName })
      mkdirSync(CACHE, { recursive: true })
      // Others may be reading: it is there as a whole, or not at all.
      writeFileSync(`${path}.${process.pid}`, JSON.stringify(output))
      renameSync(`${path}.${process.pid}`, path)
      return output
    }
  },
})
