import { Type } from '@sinclair/typebox'
import { assumed, component, NullableText } from '../../core/schemas.js'
import { KnownReason } from '../events/schemas.js'
import { Fidelity, integer, list, rows, string } from '../schemas.js'

export const ReasonCodeTable = component('ReasonCodeTable', {
  data: rows('All reason codes.', {
    code: assumed(KnownReason, 'The ISO 20022 code.'),
    name: string('The name of the code in the ISO code set.'),
    phases: list('The phases of a collection in which the code is legal.', Type.String()),
    windows: rows('The rules of each phase, in the order of `phases`.', {
      phase: string('The phase of the collection.'),
      from: string('The state of the collection in this phase.'),
      transition: string('The transition that has the code, such as `return`.'),
      raisedBy: string('The party that raises the code.'),
      until: assumed(
        NullableText,
        'Counted from the collection date D, or null for as long as the collection is in that state.',
      ),
    }),
    fidelity: Fidelity,
  }),
})
export const ErrorTable = component('ErrorTable', {
  data: rows('All errors.', {
    code: string('The member `code` of the error.'),
    status: integer('The HTTP status of the error.'),
    when: string('The condition of the error.'),
    fidelity: Fidelity,
  }),
})
