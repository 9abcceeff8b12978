#!/usr/bin/env node
import { run } from './commands.js'

const [name, ...args] = process.argv.slice(2)
// These two read no setting of a server, and `compare` sends nothing.
if (name === 'compare') process.exitCode = await (await import('./compare/command.js')).runCompare(args, process)
else if (name === 'import')
  process.exitCode = await (await import('./compare/import.js')).runImport(args, process.env, process)
else process.exitCode = await run(process.argv.slice(2), process.env)
