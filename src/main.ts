#!/usr/bin/env node
import { fileURLToPath } from 'node:url'
import { reuseCompiled } from './compiled.js'

reuseCompiled(fileURLToPath(new URL('compiled', import.meta.url)))
// Not awaited: what runs here is CommonJS (scripts/build.js).
void import('./cli.js').then(({ run }) => run(process.argv.slice(2), process.env))
