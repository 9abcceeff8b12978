import type { FastifyPluginCallback } from 'fastify'
import { JSON_TYPE } from '../http/error-handler.js'
import type { Documents } from './documents.js'

/** No part of the interface that it describes, and open to links from other pages. */
const page = { schema: { hide: true }, config: { isPublic: true } }

const YAML_TYPE = 'application/yaml'

/** Serves the document of the service as `GET /openapi.json` and `GET /openapi.yaml`. */
export const openapi: FastifyPluginCallback<{ documents: Documents }> = (app, { documents }, done) => {
  app.get('/openapi.json', page, (_request, reply) => {
    reply.type(JSON_TYPE)
    return documents.render('service', 'json')
  })
  app.get('/openapi.yaml', page, (_request, reply) => {
    reply.type(YAML_TYPE)
    return documents.render('service', 'yaml')
  })
  done()
}
