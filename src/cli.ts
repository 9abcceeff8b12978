#!/usr/bin/env node
import { run } from './commands.js'

await run(process.argv.slice(2), process.env)
