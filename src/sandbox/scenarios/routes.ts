import type { ErrorCode } from '../../core/errors.js'
import { errors } from '../../core/errors.js'
import { call } from '../route.js'
import type { Scenario } from './files.js'
import { run } from './run.js'
import * as schemas from './schemas.js'

/** The errors of the calls that the scenarios of the package make. */
const STEP_ERRORS: readonly ErrorCode[] = [
  'MISSING_FIELD',
  'INVALID_BILL_REFERENCE',
  'REGION_CURRENCY_MISMATCH',
  'MANDATE_NOT_FOUND',
  'COLLECTION_NOT_FOUND',
  'PAYOUT_LINK_NOT_FOUND',
  'BILL_NOT_FOUND',
  'DUPLICATE_REFERENCE',
  'MANDATE_NOT_ACTIVE',
  'MANDATE_ALREADY_USED',
  'BILL_CANCELLED',
  'ILLEGAL_TRANSITION',
]

export const listScenarios = call({
  isGlobal: true,
  summary: 'The scenarios with their parameters',
  response: schemas.ScenarioList,
  handle: async ({ scenarios }) => ({ data: [...(await scenarios.load()).values()].map(describe) }),
})

export const runScenario = call({
  command: 'scenario',
  errors: ['SCENARIO_NOT_FOUND', ...STEP_ERRORS],
  summary: 'Bring the client into the state of a scenario, all or nothing',
  description:
    'The body has the parameters. A scenario creates the records that are not given; one that is given must exist. Its calls are not in the ' +
    'request log, faults and armed outcomes do not apply to them, and they move the clock only where the list says ' +
    'so. The error of a call is the answer, with the number of the step in its message. A scenario of your own can ' +
    'answer with any error of its calls.',
  params: schemas.ScenarioParams,
  body: schemas.ScenarioParameters,
  response: schemas.ScenarioResult,
  prepare: async ({ scenarios }) => void (await scenarios.load()),
  handle(call) {
    const { name } = call.params
    const scenario = call.scenarios.find(name)
    if (scenario === undefined) throw errors.scenarioNotFound(name)
    return run(scenario, call)
  },
})

/** The call that moves a clock. */
const ADVANCE = 'advanceClock'

const describe = ({ name, summary, parameters, steps }: Scenario) => ({
  name,
  summary,
  movesClock: steps.some(({ call }) => call === ADVANCE),
  parameters: Object.entries(parameters).map(([name, parameter]) => ({
    name,
    description: parameter.description,
    default: parameter.default ?? null,
  })),
})
