import { Type } from '@sinclair/typebox'
import { areaNames } from '../../areas/index.js'
import { assumed, component, like, OneOf, titled } from '../../core/schemas.js'
import { any, flag, optional, rows, string, upTo } from '../schemas.js'

const NAME = '^[a-z][a-z0-9-]{0,63}$'
const EXPECTED_NAME = 'up to 64 of a-z, 0-9 and -, the first a letter'

export const ScenarioParams = Type.Object({
  name: assumed(
    like(Type.String({ pattern: NAME, 'x-expected': EXPECTED_NAME }), 'collection-returned'),
    'The name of the scenario, such as `collection-returned`.',
  ),
})

/** A value of a parameter. The calls of the scenario have their own rules for it. */
const Value = Type.Unsafe<string | number>({
  type: ['string', 'integer'],
  maxLength: 1000,
  'x-expected': 'a string of at most 1000 characters, or an integer',
})

/** The parameters of a scenario by name, as a request gives them. */
export const ScenarioParameters = titled(
  'ScenarioParameters',
  Type.Unsafe<Readonly<Record<string, string | number>>>({
    type: 'object',
    maxProperties: 20,
    propertyNames: { pattern: '^[a-zA-Z]{1,64}$' },
    additionalProperties: Value,
    'x-expected': 'an object of at most 20 parameters with names of letters',
    description: 'The parameters by name: `GET /_sandbox/scenarios` lists them.',
  }),
  { reasonCode: 'AM04' },
)

export const ScenarioResult = component('ScenarioResult', {
  name: string('The name of the scenario.'),
  values: any('The values by name: parameters, and values from answers, such as the references of new records.'),
  steps: rows('The calls that were made, in order.', {
    call: string('The operationId of the call.'),
    answer: any('The body of its answer.'),
  }),
})

const scenario = {
  name: string('The name of the scenario.'),
  summary: string('The state that the scenario leaves.'),
  title: optional(Type.String(), 'The label of a button that runs it. Absent if there is none.'),
  movesClock: flag('Whether the scenario moves the clock of the client.'),
  parameters: rows('The parameters of the scenario. None is required.', {
    name: string('The name of the parameter.'),
    description: string('The meaning of the parameter.'),
    default: assumed(
      Type.Unsafe<string | number | null>({ type: ['string', 'integer', 'null'] }),
      'The value without the parameter, or null if there is none.',
    ),
  }),
}
export const ScenarioList = component('ScenarioList', {
  data: rows('The scenarios by name.', scenario),
})

export const ScenarioDescription = component('Scenario', {
  ...scenario,
  story: optional(
    Type.Array(Type.Any()),
    'The steps in words, as the file has them, each with its `request`: `method`, `path`, `region` and `body`, or null for a ' +
      'step that the scenario makes, with its number as `step`. Absent if the scenario has no story.',
  ),
})

// ------------------------------------------------------------------------------------------------------------- files

/** An object of a file, without other members than those named. */
const Members = <P extends Parameters<typeof Type.Object>[0]>(properties: P) =>
  Type.Object(properties, {
    additionalProperties: false,
    'x-expected': `an object with only the members ${Object.keys(properties).join(', ')}`,
  })
const Line = Type.String({ minLength: 1, maxLength: 500, 'x-expected': 'a text of 1 to 500 characters' })
const Named = <T extends Parameters<typeof Type.Record>[1]>(value: T) => Type.Record(Type.String(), value)

/** A step of a scenario: a call of the API or of the control plane. */
const Step = Members({
  /** The operationId of the call. */
  call: Line,
  /** The region of a call of the API; EU by default. */
  region: Type.Optional(Line),
  params: Type.Optional(Named(Type.Any())),
  body: Type.Optional(Named(Type.Any())),
  /** Parameters: the step is left out if one of them is given. */
  unlessGiven: Type.Optional(Type.Array(Line)),
  /** Values by name: the step is left out unless each value is in its list. */
  when: Type.Optional(Named(Type.Array(Value))),
  /** Members of the answer that must have a value, by their paths; any other is ILLEGAL_TRANSITION. */
  expect: Type.Optional(Named(Value)),
  /** Members of the answer to keep as values: their paths by the names of the values. */
  keep: Type.Optional(Named(Line)),
})

/** A step of a story: the scenario with the number of the step as its parameter `step`, or a page to open. */
const StoryStep = Members({
  title: Line,
  button: Line,
  /** The sentence before the step, and the one after it. */
  before: Line,
  after: Line,
  /** The sentences after the step for records in other states, by the state. */
  ends: Type.Optional(Named(Line)),
  /** The record of the step: its kind, and members that it has. */
  kind: OneOf(...areaNames()),
  record: Named(Line),
  /** The states of the record before the end of the step. By default, the step ends when the record exists. */
  until: Type.Optional(Type.Array(Line)),
  /** The member of the record with the address of a page: the button opens it. */
  opens: Type.Optional(Line),
})

/** A file of a scenario. */
export const ScenarioFile = Members({
  summary: Line,
  /** The label of a button of the console that runs the scenario. */
  title: Type.Optional(Line),
  /** The steps as the console tells them. */
  story: Type.Optional(upTo(20, 'steps', StoryStep)),
  /** The scenario whose parameters and steps come first. */
  after: Type.Optional(Line),
  /** Parameters: if one of them is given, the steps of that scenario are left out. */
  unlessGiven: Type.Optional(Type.Array(Line)),
  parameters: Type.Optional(Named(Members({ description: Line, default: Type.Optional(Value) }))),
  steps: upTo(20, 'steps', Step),
})
