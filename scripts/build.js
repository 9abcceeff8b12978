// Makes the program in dist/: transpiles src/, and adds the bundle of the page /docs and the guide.
// Usage: npm run build. `node scripts/build.js --watch` transpiles once more after each change.
import { context } from 'esbuild'
import { options, sourcesIn } from './transpile.js'

const sources = await context({ ...options, entryPoints: sourcesIn('src'), outbase: 'src', outdir: 'dist' })
if (process.argv.includes('--watch')) await sources.watch()
else {
  await sources.rebuild()
  await sources.dispose()
  await import('./api-reference.js')
  await import('./guide.js')
}
