// How esbuild makes JavaScript of TypeScript: one output per file. It checks no types: `npm run typecheck` does.
import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'

/** The options of esbuild. The settings of JSX are those of tsconfig.json. */
export const options = { format: 'esm', platform: 'node', target: 'node20' }

/** Returns the paths of all files in a folder and its subfolders. */
export const filesIn = folder =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => resolve(entry.parentPath ?? entry.path, entry.name))

/** Returns the sources in a folder and its subfolders. */
export const sourcesIn = folder => filesIn(folder).filter(path => /\.tsx?$/.test(path))
