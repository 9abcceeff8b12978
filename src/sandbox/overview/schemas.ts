import { Type } from '@sinclair/typebox'
import { assumed, component, OneOf } from '../../core/schemas.js'
import { Counts, flag, integer, rows, string } from '../schemas.js'

export const Health = component('Health', {
  status: assumed(OneOf('ok'), 'Always `ok`. A failure is an error answer.'),
})

export const Overview = component('Overview', {
  name: string('The name of the program.'),
  version: string('The release of the program.'),
  uptime: integer('Whole seconds since the start.'),
  seed: string('The seed of ids, tokens and random numbers.'),
  isLocked: flag('Whether the control plane requires an admin token.'),
  tenants: integer('The number of tenants.'),
  records: assumed(Counts, 'The numbers of records of all tenants together.'),
  routes: rows('The calls of the control plane.', {
    method: string('The method of the call.'),
    path: string('The path of the call. A parameter begins with a colon.'),
    summary: string('The summary of the call.'),
  }),
})

export const OpenApiDocument = Type.Unsafe<object>({ type: 'object', additionalProperties: true })
