// Writes the OpenAPI documents to openapi/, so that a diff shows each change of the contract.
// Run by `npm run openapi`. test/docs/openapi.test.ts fails while a file differs from what the server serves.
import { writeFileSync } from 'node:fs'
import { createSandbox } from '../dist/client/index.js'

const FILES = { '/openapi.json': 'payments-service.json', '/_sandbox/openapi.json': 'control-plane.json' }

const sandbox = await createSandbox()
for (const [path, file] of Object.entries(FILES)) {
  const document = await (await fetch(`${sandbox.url}${path}`)).json()
  // The address of a server without settings.
  document.servers[0].url = 'http://127.0.0.1:8080'
  writeFileSync(new URL(`../openapi/${file}`, import.meta.url), `${JSON.stringify(document, null, 2)}\n`)
}
await sandbox.close()
