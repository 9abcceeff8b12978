// Writes the browser bundle of Scalar's API reference to dist/assets/, from the package that serves it. The page /docs loads it.
// So the package is needed for a build only: it and its dependencies are larger than the rest of the sandbox.
// https://github.com/scalar/scalar/tree/main/integrations/fastify
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import scalar from '@scalar/fastify-api-reference'
import fastify from 'fastify'

const app = fastify()
app.register(scalar, { configuration: { url: '/openapi.json' } })
const { statusCode, payload } = await app.inject('/reference/js/scalar.js')
if (statusCode !== 200)
  throw new Error(`The bundle of @scalar/fastify-api-reference is not where it was: ${statusCode}`)

const license = readFileSync(new URL('../LICENSE', import.meta.resolve('@scalar/fastify-api-reference')), 'utf8')
const folder = new URL('../dist/assets/', import.meta.url)
mkdirSync(folder, { recursive: true })
writeFileSync(
  new URL('scalar.js', folder),
  `/*! Scalar API Reference, https://scalar.com\n\n${license.trim()}\n*/\n${payload}`,
)
