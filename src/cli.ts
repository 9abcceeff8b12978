#!/usr/bin/env node
import { run } from './commands.js'

const [name, ...args] = process.argv.slice(2)
// It reads no setting, and loads no server.
if (name === 'compare') process.exitCode = await (await import('./compare/command.js')).runCompare(args, process)
else await run(process.argv.slice(2), process.env)
