import { call } from '../route.js'
import * as schemas from './schemas.js'

export const getSettings = call({
  summary: 'The settings of the tenant',
  response: schemas.Settings,
  handle: ({ tenant }) => tenant().settings,
})

export const updateSettings = call({
  summary: 'Change settings: activation of mandates, form of deprecations, origins and sender of links, HTTP Basic',
  description: 'Omitted settings stay as they are.',
  body: schemas.SettingsUpdate,
  response: schemas.Settings,
  handle: ({ tenant, body }) => Object.assign(tenant().settings, body),
})
