import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Found by the package's own name, since the bundle, the library and the tests have this file in folders of other depths. */
const MANIFEST = fileURLToPath(import.meta.resolve('payments-sandbox/package.json'))

const manifest: { name: string; version: string } = JSON.parse(readFileSync(MANIFEST, 'utf8'))
export const { name: NAME, version: VERSION } = manifest

const fileOf = (path: string) => join(MANIFEST, '..', path)

/** The files of the build that the server reads: scripts for browsers, the API reference and the guide (scripts/build.js). */
export const assetOf = (name: string): string => fileOf(`dist/assets/${name}`)

/** The folder of the package's own fixtures. */
export const OWN_FIXTURES: string = fileOf('fixtures/')

/** The OpenAPI document of the service, which has the labels of replay. */
export const SERVICE: string = fileOf('openapi/payments-service.json')

/** The OpenAPI document of the control plane, which has the commands. */
export const CONTROL_PLANE: string = fileOf('openapi/control-plane.json')

/** The folder of the migrations of databases. */
export const MIGRATIONS: string = fileOf('migrations/')
