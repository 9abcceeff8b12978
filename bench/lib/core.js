import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { ROOT } from './machine.js'
import { NOW, TEMPORARY } from './servers.js'

/** Bundles what a world of the product is made of, from its source. @returns {Promise<string>} the file */
export async function bundleCore() {
  const outfile = join(TEMPORARY, 'core.mjs')
  await build({
    absWorkingDir: ROOT,
    stdin: {
      contents: `export { createWorld } from './src/world.js'`,
      resolveDir: ROOT,
      loader: 'ts',
    },
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    minifySyntax: true,
    logLevel: 'warning',
    banner: {
      js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
    },
  })
  return outfile
}

/** An empty world as the server makes it, frozen at `NOW`. @param {string} file what `bundleCore` made */
export async function createWorldOf(file) {
  const { createWorld } = await import(pathToFileURL(file).href)
  return createWorld({
    seed: 'bench',
    clientId: 'bench',
    clock: { now: Date.parse(NOW), mode: 'frozen', rate: 1, realNow: 0 },
    settings: { mandateActivation: 'automatic', deprecationStyle: 'seed', allowedOrigins: [] },
    publicUrl: () => 'http://127.0.0.1:8080',
  })
}
