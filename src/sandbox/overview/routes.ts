import { byArea } from '../../areas/index.js'
import { JSON_TYPE } from '../../http/error-handler.js'
import type { Counts } from '../../tenants/content.js'
import { call } from '../route.js'
import * as schemas from './schemas.js'

export const getOverview = call({
  isGlobal: true,
  summary: 'Name, version, uptime, seed, tenants and record counts, and these routes',
  response: schemas.Overview,
  async handle({ registry, storage, about, routes, realNow }) {
    const counts = await storage.all(tenant => tenant.counts())
    return {
      name: about.name,
      version: about.version,
      uptime: Math.floor((realNow - about.startedAt) / 1000),
      seed: registry.seed,
      isLocked: about.isLocked,
      tenants: counts.length,
      records: sum(counts),
      routes: routes.map(({ method, url, summary }) => ({ method, path: `/_sandbox${url}`, summary })),
    }
  },
})

export const checkLiveness = call({
  command: 'live',
  isGlobal: true,
  isOpen: true,
  summary: 'Whether the process is alive',
  response: schemas.Health,
  handle: () => ({ status: 'ok' }),
})

export const checkReadiness = call({
  command: 'ready',
  isGlobal: true,
  isOpen: true,
  summary: 'Whether it takes requests: 503 while closing, and while the database is away',
  response: schemas.Health,
  async handle({ storage }) {
    await storage.check()
    return { status: 'ok' }
  },
})

export const getOpenApiDocument = call({
  command: 'openapi',
  isGlobal: true,
  summary: 'The control plane as an OpenAPI document',
  response: schemas.OpenApiDocument,
  handle({ documents, request, reply }) {
    reply.type(JSON_TYPE)
    return documents.render('control', 'json', request.sandbox.publicUrl)
  },
})

const sum = (all: readonly Counts[]) => byArea(kind => all.reduce((total, counts) => total + counts[kind], 0))
