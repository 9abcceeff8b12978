import type { FastifyPluginCallback } from 'fastify'
import type { Documents } from './documents.js'

const YAML_TYPE = 'application/yaml'

/** Serves the document of the service as `GET /openapi.json` and `GET /openapi.yaml`. */
export const openapi: FastifyPluginCallback<{ documents: Documents }> = (app, { documents }, done) => {
  app.get('/openapi.json', { schema: { hide: true } }, () => documents.service())
  app.get('/openapi.yaml', { schema: { hide: true } }, async (_request, reply) => {
    const { stringify } = await import('yaml')
    return reply.type(YAML_TYPE).send(stringify(await documents.service(), { aliasDuplicateObjects: false }))
  })
  done()
}
