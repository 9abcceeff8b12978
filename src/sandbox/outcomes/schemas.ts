import { Type } from '@sinclair/typebox'
import type { Area, OutcomeName } from '../../areas/index.js'
import { areas } from '../../areas/index.js'
import { PAYOUT_METHODS } from '../../areas/payout-links/claim-rules.js'
import { Amount, DebtorReference, Reference } from '../../core/domain/schemas.js'
import { assumed, component, Moment, OneOf, Text } from '../../core/schemas.js'
import { Count, Fidelity, list, optional, rows, string, Times, withDefault } from '../schemas.js'

const outcomeMatch = Type.Object({
  mandateReference: optional(Reference, 'The mandate of a collection.'),
  debtorReference: optional(
    DebtorReference,
    'The debtor of a collection, as in its request, or by default from its mandate.',
  ),
  collectionReference: optional(Reference, 'The reference of a collection.'),
  payoutMethod: optional(OneOf(...PAYOUT_METHODS), 'The payout method of a payout link.'),
  counterpartyReference: optional(Reference, 'The counterparty of a payout link.'),
  amount: optional(Amount, 'The amount of a collection or payout link. Compared as a number: `10.5` is `10.50`.'),
})
const AnyOutcome = Type.Unsafe<OutcomeName>({
  type: 'string',
  enum: [...new Set(Object.values<Area>(areas).flatMap(({ outcomes }) => outcomes?.names ?? []))],
  'x-expected': 'an outcome of GET /_sandbox/outcomes, such as RETURNED-AM04',
})

/** An armed outcome in the state document. */
const snapshot = {
  id: assumed(Text(1, 64), 'The id of the armed outcome.'),
  match: assumed(outcomeMatch, 'The fields that a new record must have. All of them must be equal.'),
  outcome: assumed(AnyOutcome, 'An outcome of `GET /_sandbox/outcomes`, such as `RETURNED-AM04`.'),
  times: assumed(Times, 'The number of records to steer, or null for no limit.'),
  armedAt: assumed(Moment, 'The time of the tenant at which the outcome was armed.'),
  fired: assumed(Count, 'The number of steered records.'),
}
export const OutcomeRequest = component(
  'OutcomeRequest',
  {
    match: withDefault(snapshot.match, 'any record'),
    outcome: snapshot.outcome,
    times: withDefault(snapshot.times, '1'),
  },
  { match: { mandateReference: 'MND-ACME-0013' }, outcome: 'RETURNED-AM04' },
)
export const OutcomeSnapshot = Type.Object(snapshot)

/** An armed outcome as the control plane returns it. */
export const ArmedOutcome = component('ArmedOutcome', {
  ...snapshot,
  state: assumed(
    OneOf('armed', 'spent'),
    'armed: the outcome can steer a record. spent: it has steered `times` records.',
  ),
})

const outcome = {
  outcome: string('The name of the outcome, for `POST /_sandbox/outcomes` and `PUT …/outcome`.'),
  description: string('The effect on the record. D is the collection date.'),
  fidelity: Fidelity,
}
export const OutcomeTable = component('OutcomeTable', {
  data: rows('The outcomes of collections.', {
    debtorReference: string('The `debtorReference` that selects the outcome in `POST /api/v1/direct-debit`.'),
    ...outcome,
  }),
  payoutLinks: rows('The outcomes of payout links.', outcome),
  armed: list('The armed outcomes in the order of arming, including spent ones.', ArmedOutcome),
})
