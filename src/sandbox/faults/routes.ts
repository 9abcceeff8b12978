import { removals } from '../armed/removals.js'
import { call } from '../route.js'
import * as schemas from './schemas.js'
import type { Fault, Faults } from './state.js'

export const listFaults = call({
  summary: 'All faults, also those that are spent, and how often each has fired',
  description: 'A fault stays in the list until it is removed.',
  response: schemas.FaultList,
  handle: ({ tenant, realNow }) => {
    const { faults } = tenant()
    return { data: faults.list().map(fault => show(fault, faults, realNow)) }
  },
})

export const armFault = call({
  summary: `Arm a fault: ${schemas.EFFECT_KINDS.join(', ')}`,
  description:
    'Faults apply to valid requests of the API. A request with an invalid token or a schema error is refused as ' +
    'usual, and not counted. A request gets all matching delays, and the first matching fault of another kind ' +
    'in the order of arming. A fault that can never fire is 400 INVALID_FIELD.',
  body: schemas.FaultRequest,
  status: 201,
  response: schemas.Fault,
  handle: ({ tenant, operations, realNow, body }) => {
    const { faults } = tenant()
    return show(faults.arm(body, operations, realNow), faults, realNow)
  },
})

export const [clearFaults, removeFault] = removals('fault', 'fault', 'FAULT_NOT_FOUND')

const show = (fault: Fault, faults: Faults, realNow: number) => ({ ...fault, state: faults.stateOf(fault, realNow) })
