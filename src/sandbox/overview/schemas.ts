import { Type } from '@sinclair/typebox'
import { assumed, component, OneOf } from '../../core/schemas.js'
import { Counts } from '../schemas.js'

export const Health = component('Health', {
  status: assumed(OneOf('ok'), 'Always `ok`. A failure is an error answer.'),
})

export const Overview = component('Overview', {
  name: assumed(Type.String(), 'The name of the program.'),
  version: assumed(Type.String(), 'The release of the program.'),
  uptime: assumed(Type.Integer(), 'Whole seconds since the start.'),
  seed: assumed(Type.String(), 'The seed of ids, tokens and random numbers.'),
  isLocked: assumed(Type.Boolean(), 'Whether the control plane requires an admin token.'),
  tenants: assumed(Type.Integer(), 'The number of tenants.'),
  records: assumed(Counts, 'The numbers of records of all tenants together.'),
  routes: assumed(
    Type.Array(
      Type.Object({
        method: assumed(Type.String(), 'The method of the call.'),
        path: assumed(Type.String(), 'The path of the call. A parameter begins with a colon.'),
        summary: assumed(Type.String(), 'The summary of the call.'),
      }),
    ),
    'The calls of the control plane.',
  ),
})

export const OpenApiDocument = Type.Unsafe<object>({ type: 'object', additionalProperties: true })
