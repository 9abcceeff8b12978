import { call } from '../route.js'
import { Cleared } from '../schemas.js'
import * as schemas from './schemas.js'

export const listDeprecations = call({
  summary: 'The deprecated operations',
  response: schemas.DeprecationList,
  handle: ({ tenant }) => ({ data: tenant().deprecations.list() }),
})

export const replaceDeprecations = call({
  summary: 'Replace the deprecated operations: start, sunset, and whether they are gone after it',
  description:
    'The operations send the headers `Deprecation` and `Sunset`. They answer as usual, but 410 OPERATION_SUNSET ' +
    'from the sunset on with `goneAfterSunset`. An empty list removes all deprecations.',
  body: schemas.DeprecationsUpdate,
  response: schemas.DeprecationList,
  handle: ({ tenant, operations, body }) => {
    const { deprecations } = tenant()
    deprecations.replace(body.data, operations)
    return { data: deprecations.list() }
  },
})

export const clearDeprecations = call({
  summary: 'Deprecate nothing',
  response: Cleared,
  handle: ({ tenant }) => {
    const { deprecations } = tenant()
    const removed = deprecations.list().length
    deprecations.replace([], [])
    return { removed }
  },
})
