import { Type } from '@sinclair/typebox'
import { assumed, component } from '../../core/schemas.js'
import { KnownReason } from '../events/schemas.js'
import { Fidelity } from '../schemas.js'

export const ReasonCodeTable = component('ReasonCodeTable', {
  data: assumed(
    Type.Array(
      Type.Object({
        code: assumed(KnownReason, 'The ISO 20022 code.'),
        name: assumed(Type.String(), 'The name of the code in the ISO code set.'),
        phases: assumed(Type.Array(Type.String()), 'The phases of a collection in which the code is legal.'),
        windows: assumed(
          Type.Array(
            Type.Object({
              phase: assumed(Type.String(), 'The phase of the collection.'),
              from: assumed(Type.String(), 'The state of the collection in this phase.'),
              transition: assumed(Type.String(), 'The transition that has the code, such as `return`.'),
              raisedBy: assumed(Type.String(), 'The party that raises the code.'),
              until: assumed(
                Type.Unsafe<string | null>({ type: ['string', 'null'] }),
                'Counted from the collection date D; null: as long as the collection is in that state.',
              ),
            }),
          ),
          'The rules of each phase, in the order of `phases`.',
        ),
        fidelity: Fidelity,
      }),
    ),
    'All reason codes.',
  ),
})
export const ErrorTable = component('ErrorTable', {
  data: assumed(
    Type.Array(
      Type.Object({
        code: assumed(Type.String(), 'The member `code` of the error.'),
        status: assumed(Type.Integer(), 'The HTTP status of the error.'),
        when: assumed(Type.String(), 'The condition of the error.'),
        fidelity: Fidelity,
      }),
    ),
    'All errors.',
  ),
})
