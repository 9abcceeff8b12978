// Makes dist/: the files that the server reads, the transpiled src/ for the library, and last the bundle of the program.
// Usage: npm run build. `node scripts/build.js --watch` makes the program and its scripts once more after each change.
import { rmSync } from 'node:fs'
import { build, context } from 'esbuild'
import { isOfServer, options, program, scripts, sourcesIn, writeLicenses } from './esbuild.js'

if (process.argv.includes('--watch')) {
  for (const each of [scripts, program]) await (await context(each)).watch()
} else {
  await import('./api-reference.js')
  const { metafile: ofConsole } = await import('./console.js')
  await import('./guide.js')
  await build({ ...options, entryPoints: sourcesIn('src').filter(isOfServer), outbase: 'src', outdir: 'dist' })
  const { metafile } = await build(scripts)
  // The names of its files change with their content.
  rmSync(program.outdir, { recursive: true, force: true })
  const { metafile: ofProgram } = await build({ ...program, logLevel: 'warning' })
  writeLicenses('dist/licenses.txt', [ofConsole, metafile, ofProgram])
}
