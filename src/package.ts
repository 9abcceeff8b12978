import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Found by the package's own name, since compiled files are in dist/ and, for the tests, in build/src/. */
const MANIFEST = import.meta.resolve('payments-sandbox/package.json')
const manifest = JSON.parse(readFileSync(fileURLToPath(MANIFEST), 'utf8')) as {
  name: string
  version: string
}

export const { name: NAME, version: VERSION } = manifest

/** The bundle of the API reference, which the build writes (scripts/api-reference.js). */
export const API_REFERENCE: string = fileURLToPath(new URL('dist/openapi/scalar.js', MANIFEST))

/** The pages of the guide and the skill, which the build writes (scripts/guide.js). */
export const GUIDE: string = fileURLToPath(new URL('dist/guide.json', MANIFEST))

/** The folder of the package's own fixtures. */
export const OWN_FIXTURES: string = fileURLToPath(new URL('fixtures/', MANIFEST))

/** The OpenAPI document of the control plane, which has the commands. */
export const CONTROL_PLANE: string = fileURLToPath(new URL('openapi/control-plane.json', MANIFEST))

/** The folder of the migrations of databases. */
export const MIGRATIONS: string = fileURLToPath(new URL('migrations/', MANIFEST))
