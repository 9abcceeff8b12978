import { readFileSync } from 'node:fs'

/** The manifest of the package; it stands one folder above this file, in the source tree as in the built one. */
const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  name: string
  version: string
}

export const { name: NAME, version: VERSION } = manifest

/** The fixtures that come with the package. */
export const OWN_FIXTURES = new URL('../fixtures/', import.meta.url)
