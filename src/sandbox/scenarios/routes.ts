import type { ErrorCode } from '../../core/errors.js'
import { errors } from '../../core/errors.js'
import { call } from '../route.js'
import type { Scenario, Scenarios } from './files.js'
import { onlyCallOf, run } from './run.js'
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

export const describeScenario = call({
  command: 'scenarios describe',
  errors: ['SCENARIO_NOT_FOUND'],
  summary: 'One scenario, with its story: the steps that the console tells, and the request of each',
  params: schemas.ScenarioParams,
  response: schemas.ScenarioDescription,
  prepare: async ({ scenarios }) => void (await scenarios.load()),
  handle({ scenarios, tenant, params: { name }, documented }) {
    const client = tenant()
    const scenario = find(scenarios, name)
    const requestOf = (step: number) => {
      const { call, region, params = {}, body } = onlyCallOf(scenario, { step }, client) ?? {}
      const found = documented.find(({ schema }) => schema.operationId === call)
      if (found === undefined) return null
      const path = found.url.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] as string))
      return { method: found.method, path, ...(found.schema.headers ? { region } : {}), body }
    }
    const story = scenario.story?.map((step, at) => ({ ...step, request: requestOf(at + 1) }))
    return { ...describe(scenario), ...(story && { story }) }
  },
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
  handle: call => run(find(call.scenarios, call.params.name), call),
})

function find(scenarios: Scenarios, name: string): Scenario {
  const scenario = scenarios.find(name)
  if (scenario === undefined) throw errors.scenarioNotFound(name)
  return scenario
}

/** The call that moves a clock. */
const ADVANCE = 'advanceClock'

const describe = ({ name, summary, title, parameters, steps }: Scenario) => ({
  name,
  summary,
  ...(title !== undefined && { title }),
  movesClock: steps.some(({ call }) => call === ADVANCE),
  parameters: Object.entries(parameters).map(([name, parameter]) => ({
    name,
    description: parameter.description,
    default: parameter.default ?? null,
  })),
})
