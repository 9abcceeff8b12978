// Leaves only the dependencies in package.json that the bundle of the program does not contain. The image installs these.
import { readFileSync, writeFileSync } from 'node:fs'
import { program } from './esbuild.js'

const { dependencies, devDependencies, ...manifest } = JSON.parse(readFileSync('package.json', 'utf8'))
const unbundled = Object.fromEntries(program.external.map(name => [name, dependencies[name]]))
writeFileSync('package.json', JSON.stringify({ ...manifest, dependencies: unbundled }))
