/**
 * How the tests' TypeScript becomes JavaScript (`ts-node` in tsconfig.json, which tap uses). By the compiler, which does it
 * otherwise, every process that loads the sources would take three times as long; there is one for each test file.
 */
const { transformSync } = require('esbuild')

exports.create = () => ({
  transpile(input, { fileName }) {
    const { code, map } = transformSync(input, {
      loader: 'ts',
      format: 'esm',
      target: 'node20',
      sourcemap: true,
      sourcefile: fileName,
      tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
    })
    return { outputText: code, sourceMapText: map }
  },
})
