import type { FastifyPluginCallback } from 'fastify'
import type { Documents } from './documents.js'

/** No part of the interface that it describes, and open to links from other pages. */
const page = { schema: { hide: true }, config: { isPublic: true } }

const YAML_TYPE = 'application/yaml'

/** Serves the document of the service as `GET /openapi.json` and `GET /openapi.yaml`. */
export const openapi: FastifyPluginCallback<{ documents: Documents }> = (app, { documents }, done) => {
  app.get('/openapi.json', page, () => documents.service())
  app.get('/openapi.yaml', page, async (_request, reply) => {
    const { stringify } = await import('yaml')
    return reply.type(YAML_TYPE).send(stringify(documents.service(), { aliasDuplicateObjects: false }))
  })
  done()
}
