#!/usr/bin/env node
import { run } from './cli.js'

// Not awaited: what runs here is CommonJS (scripts/build.js).
void run(process.argv.slice(2), process.env)
