import { Type } from '@sinclair/typebox'
import type { Area, OutcomeName } from '../../areas/index.js'
import { areas } from '../../areas/index.js'
import { PAYOUT_METHODS } from '../../areas/payout-links/methods.js'
import { Amount, DebtorReference, Reference } from '../../core/domain/schemas.js'
import { assumed, component, Moment, OneOf, Text } from '../../core/schemas.js'
import { Count, Fidelity, Times } from '../schemas.js'

const outcomeMatch = Type.Object({
  mandateReference: Type.Optional(assumed(Reference, 'The mandate of a collection.')),
  debtorReference: Type.Optional(
    assumed(DebtorReference, 'The debtor of a collection, as in its request, or by default from its mandate.'),
  ),
  collectionReference: Type.Optional(assumed(Reference, 'The reference of a collection.')),
  payoutMethod: Type.Optional(assumed(OneOf(...PAYOUT_METHODS), 'The payout method of a payout link.')),
  counterpartyReference: Type.Optional(assumed(Reference, 'The counterparty of a payout link.')),
  amount: Type.Optional(
    assumed(Amount, 'The amount of a collection or payout link. Compared as a number: `10.5` is `10.50`.'),
  ),
})
const AnyOutcome = Type.Unsafe<OutcomeName>({
  type: 'string',
  enum: [...new Set(Object.values<Area>(areas).flatMap(({ outcomes }) => outcomes?.names ?? []))],
  'x-expected': 'an outcome of GET /_sandbox/outcomes, such as RETURNED-AM04',
})

const OUTCOME_MATCH = 'The fields that a new record must have. All of them must be equal.'
const OUTCOME_TIMES = 'The number of records to steer, or null for no limit.'

export const OutcomeRequest = component(
  'OutcomeRequest',
  {
    match: Type.Optional(assumed(outcomeMatch, `${OUTCOME_MATCH} Default: any record.`)),
    outcome: assumed(AnyOutcome, 'An outcome of `GET /_sandbox/outcomes`, such as `RETURNED-AM04`.'),
    times: Type.Optional(assumed(Times, `${OUTCOME_TIMES} Default: 1.`)),
  },
  { match: { mandateReference: 'MND-ACME-0013' }, outcome: 'RETURNED-AM04' },
)

/** An armed outcome in the state document. */
const outcomeSnapshot = {
  id: assumed(Text(1, 64), 'The id of the armed outcome.'),
  match: assumed(outcomeMatch, OUTCOME_MATCH),
  outcome: assumed(AnyOutcome, 'The outcome of the steered records.'),
  times: assumed(Times, OUTCOME_TIMES),
  armedAt: assumed(Moment, 'The time of the tenant at which the outcome was armed.'),
  fired: assumed(Count, 'The number of steered records.'),
}
export const OutcomeSnapshot = Type.Object(outcomeSnapshot)

/** An armed outcome as the control plane returns it. */
export const ArmedOutcome = component('ArmedOutcome', {
  ...outcomeSnapshot,
  state: assumed(
    OneOf('armed', 'spent'),
    'armed: the outcome can steer a record. spent: it has steered `times` records.',
  ),
})

const outcome = {
  outcome: assumed(Type.String(), 'The name of the outcome, for `POST /_sandbox/outcomes` and `PUT …/outcome`.'),
  description: assumed(Type.String(), 'The effect on the record. D is the collection date.'),
  fidelity: Fidelity,
}
export const OutcomeTable = component('OutcomeTable', {
  data: assumed(
    Type.Array(
      Type.Object({
        debtorReference: assumed(
          Type.String(),
          'The `debtorReference` that selects the outcome in `POST /api/v1/direct-debit`.',
        ),
        ...outcome,
      }),
    ),
    'The outcomes of collections.',
  ),
  payoutLinks: assumed(Type.Array(Type.Object(outcome)), 'The outcomes of payout links.'),
  armed: assumed(Type.Array(ArmedOutcome), 'The armed outcomes in the order of arming, including spent ones.'),
})
