// Writes the OpenAPI documents to openapi/, so that a diff shows each change of the contract.
// Run by `npm run openapi`. test/docs/openapi.test.ts fails while a file differs from what the server serves.
import { writeFileSync } from 'node:fs'
import { OWN_FIXTURES } from '../dist/package.js'
import { buildServer } from '../dist/server.js'
import { loadFixtures } from '../dist/tenants/fixtures.js'

const FILES = { '/openapi.json': 'payments-service.json', '/_sandbox/openapi.json': 'control-plane.json' }

/** A server without settings. Its time stands still, so that the examples of the files stay as they are. */
const { app } = buildServer({
  seed: 'openapi',
  frozenAt: Date.parse('2026-11-02T09:00:00Z'),
  now: () => 0,
  fixtures: loadFixtures(OWN_FIXTURES),
  clients: [],
  openRegistration: true,
  maxTenants: 1,
  tokenLifetime: 3600,
  publicUrl: () => 'http://127.0.0.1:8080',
})
for (const [path, file] of Object.entries(FILES)) {
  const document = (await app.inject(path)).json()
  writeFileSync(new URL(`../openapi/${file}`, import.meta.url), `${JSON.stringify(document, null, 2)}\n`)
}
await app.close()
