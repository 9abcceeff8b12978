import { Type } from '@sinclair/typebox'
import { assumed, component, Moment, Text } from '../../core/schemas.js'
import { list, optional, upTo, withDefault } from '../schemas.js'

const deprecation = {
  operation: assumed(
    Text(1, 200),
    'The method and the path of the operation, such as `GET /api/v1/mandates/{mandateReference}`.',
  ),
  deprecatedSince: assumed(Moment, 'The start of the deprecation on the clock of the tenant.'),
  sunset: optional(Moment, 'The end of the operation on the clock of the tenant, not before `deprecatedSince`.'),
  goneAfterSunset: assumed(
    Type.Boolean({ 'x-expected': 'true or false' }),
    'Whether the operation answers 410 OPERATION_SUNSET from `sunset` on. It requires `sunset`.',
  ),
}
export const Deprecation = component('Deprecation', deprecation)
export const DeprecationRequest = component('DeprecationRequest', {
  ...deprecation,
  deprecatedSince: withDefault(deprecation.deprecatedSince, 'now'),
  goneAfterSunset: withDefault(deprecation.goneAfterSunset, 'false'),
})

export const DeprecationList = component('DeprecationList', {
  data: list('The deprecated operations.', Deprecation),
})
export const DeprecationsUpdate = component(
  'DeprecationsUpdate',
  {
    data: assumed(
      upTo(100, 'deprecations', DeprecationRequest),
      'The deprecated operations. They replace all earlier ones.',
    ),
  },
  {
    data: [{ operation: 'GET /api/v1/mandates', sunset: '{{now+P180D}}', goneAfterSunset: true }],
  },
)
