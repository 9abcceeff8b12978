import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The manifest of the package; it stands one folder above this file, in the source tree as in the built one. */
const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  name: string
  version: string
}

export const { name: NAME, version: VERSION } = manifest

/** The folder of the fixtures that come with the package. */
export const OWN_FIXTURES: string = fileURLToPath(new URL('../fixtures/', import.meta.url))
