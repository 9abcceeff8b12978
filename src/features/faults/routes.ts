import type { ControlRoute } from '../control-route.js'
import { route } from '../control-route.js'
import { Cleared, ClientQuery } from '../schemas.js'
import * as schemas from './schemas.js'
import type { Fault, FaultRequest, Faults } from './state.js'
import { EFFECT_KINDS } from './state.js'

/** The calls of faults. */
export const faultRoutes: readonly ControlRoute[] = [
  route({
    method: 'GET',
    url: '/faults',
    operationId: 'listFaults',
    summary: 'All faults, also those that are spent, and how often each has fired',
    description: 'A fault stays in the list until it is removed.',
    querystring: ClientQuery,
    response: schemas.FaultList,
    handle: ({ tenant, realNow }) => {
      const { faults } = tenant()
      return { data: faults.list().map(fault => show(fault, faults, realNow)) }
    },
  }),
  route({
    method: 'POST',
    url: '/faults',
    operationId: 'armFault',
    summary: `Arm a fault: ${EFFECT_KINDS.join(', ')}`,
    description:
      'Faults apply to valid requests of the API. A request with an invalid token or a schema error is refused as ' +
      'usual, and not counted. A request gets all matching delays, and the first matching fault of another kind ' +
      'in the order of arming. A fault that can never fire is 400 INVALID_FIELD.',
    querystring: ClientQuery,
    body: schemas.FaultRequest,
    status: 201,
    response: schemas.Fault,
    handle: ({ tenant, operations, realNow, body }) => {
      const { faults } = tenant()
      return show(faults.arm(body as FaultRequest, operations, realNow), faults, realNow)
    },
  }),
  route({
    method: 'DELETE',
    url: '/faults',
    operationId: 'clearFaults',
    summary: 'Remove all faults',
    // The client that the example of POST /credentials/verify registers: the next call removes one of the demo.
    example: { client: 'app-{{client}}' },
    querystring: ClientQuery,
    response: Cleared,
    handle: ({ tenant }) => {
      const { faults } = tenant()
      const removed = faults.list().length
      faults.clear()
      return { removed }
    },
  }),
  route({
    method: 'DELETE',
    url: '/faults/:id',
    operationId: 'removeFault',
    errors: ['FAULT_NOT_FOUND'],
    summary: 'Remove one fault',
    params: schemas.FaultParams,
    querystring: ClientQuery,
    response: Cleared,
    handle: ({ tenant, params }) => {
      tenant().faults.remove(params.id)
      return { removed: 1 }
    },
  }),
]

const show = (fault: Fault, faults: Faults, realNow: number) => ({ ...fault, state: faults.stateOf(fault, realNow) })
