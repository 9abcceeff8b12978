import { outcomes } from '../../areas/direct-debit/outcomes.js'
import { payoutLinkOutcomes } from '../../areas/payout-links/outcomes.js'
import { removals } from '../armed/removals.js'
import { call } from '../route.js'
import * as schemas from './schemas.js'
import type { ArmedOutcome } from './state.js'
import { isSpent } from './state.js'

export const listOutcomes = call({
  summary: 'The outcomes on demand of collections and payout links, and those that are armed',
  description:
    'The app selects an outcome of a collection by its `debtorReference`. `POST /_sandbox/outcomes` arms one ' +
    'for any request, `PUT …/outcome` gives one to an existing record.',
  response: schemas.OutcomeTable,
  handle: ({ tenant }) => ({
    data: outcomes.map(outcome => ({ ...outcome, fidelity: 'assumed' })),
    payoutLinks: payoutLinkOutcomes.map(outcome => ({ ...outcome, fidelity: 'assumed' })),
    armed: tenant().outcomes.list().map(show),
  }),
})

export const armOutcome = call({
  summary: 'Arm an outcome for the next matching collection or payout link that is created',
  description:
    'The outcome steers records that the API creates later. Of several that match, the first one in the order ' +
    'of arming counts. A `debtorReference` that selects an outcome wins, and the armed outcome stays armed. An ' +
    'outcome that can never apply is 400 INVALID_FIELD.',
  body: schemas.OutcomeRequest,
  status: 201,
  response: schemas.ArmedOutcome,
  handle: ({ tenant, body }) => show(tenant().outcomes.arm(body)),
})

export const [clearOutcomes, removeOutcome] = removals('outcome', 'armed outcome', 'OUTCOME_NOT_FOUND')

const show = (outcome: ArmedOutcome) => ({ ...outcome, state: isSpent(outcome) ? 'spent' : 'armed' })
