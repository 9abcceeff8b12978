import type { FastifyInstance, FastifyPluginCallback } from 'fastify'
import { JSON_TYPE } from '../http/error-handler.js'
import type { Documents } from './documents.js'

/** No part of the interface that it describes, and open to links from other pages. */
export const PUBLIC_PAGE = { schema: { hide: true }, config: { isPublic: true } }

const YAML_TYPE = 'application/yaml'

export interface DocumentsOptions {
  readonly documents: Documents
}

/** Serves a document at an address, in one of its forms. */
export function serveDocument(
  app: FastifyInstance,
  { documents }: DocumentsOptions,
  url: string,
  name: 'service' | 'control',
  form: 'json' | 'yaml' | 'labelled',
): void {
  app.get(url, PUBLIC_PAGE, (request, reply) => {
    reply.type(form === 'yaml' ? YAML_TYPE : JSON_TYPE).header('x-content-type-options', 'nosniff')
    return documents.render(name, form, request.sandbox.publicUrl)
  })
}

/** Serves the document of the service as `GET /openapi.json` and `GET /openapi.yaml`. */
export const openapi: FastifyPluginCallback<DocumentsOptions> = (app, options, done) => {
  serveDocument(app, options, '/openapi.json', 'service', 'json')
  serveDocument(app, options, '/openapi.yaml', 'service', 'yaml')
  done()
}
