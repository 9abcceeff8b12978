// Makes the program in dist/: the bundle of the page /docs, the guide, and last the transpiled src/.
// Usage: npm run build. `node scripts/build.js --watch` transpiles once more after each change.
import { context } from 'esbuild'
import { options, sourcesIn } from './transpile.js'

const sources = await context({ ...options, entryPoints: sourcesIn('src'), outbase: 'src', outdir: 'dist' })
if (process.argv.includes('--watch')) await sources.watch()
else {
  await import('./api-reference.js')
  await import('./guide.js')
  await sources.rebuild()
  await sources.dispose()
}
