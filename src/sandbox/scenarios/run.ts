import { Type } from '@sinclair/typebox'
import type { Region } from '../../core/domain/regions.js'
import { REGIONS } from '../../core/domain/regions.js'
import { ApiError, errors, quote, shorten } from '../../core/errors.js'
import { ownMember } from '../../core/own-member.js'
import { OneOf } from '../../core/schemas.js'
import { check } from '../../http/compilers.js'
import { assertNamed } from '../../http/validation.js'
import { resolveDates } from '../../tenants/fixtures.js'
import type { Tenant } from '../../tenants/tenant.js'
import type { AnyCall } from '../route.js'
import { operationOf } from './calls.js'
import type { Scenario, Step } from './files.js'
import { NUMBER, PLACEHOLDER } from './files.js'

type Values = Map<string, unknown>
type Given = Readonly<Record<string, unknown>>

/** The parts of a call that a step fills in. */
interface Input {
  readonly region: Region
  readonly params: Readonly<Record<string, string>>
  readonly body?: object
}

const RegionOnly = Type.Object({ region: OneOf(...REGIONS) })
const NO_MEMBERS = Type.Object({})

/**
 * Brings a client into the state of a scenario, in its transaction: all steps, or nothing.
 * @throws INVALID_FIELD (unknown parameter), the errors of the calls, whose messages then name the step
 */
export function run(scenario: Scenario, call: AnyCall): object {
  const { name, parameters } = scenario
  const tenant = call.tenant()
  const given = call.body as Given
  const unknown = Object.keys(given).find(name => !Object.hasOwn(parameters, name))
  if (unknown !== undefined) {
    const known = Object.keys(parameters).join(', ') || 'none'
    throw errors.invalid(unknown, `There is no parameter ${shorten(unknown)}. Known: ${known}.`)
  }
  const values = valuesOf(scenario, given, tenant)
  const steps: { call: string; answer: unknown }[] = []
  tenant.events.sender = 'scenario'
  for (const [at, step] of scenario.steps.entries()) {
    const { keep = {} } = step
    if (isLeftOut(step, given, values)) continue
    const answer = act(step, at + 1, values, call)
    for (const [name, path] of Object.entries(keep)) values.set(name, memberOf(answer, path))
    steps.push({ call: step.call, answer })
  }
  values.delete(NUMBER)
  return { name, values: Object.fromEntries(values), steps }
}

/**
 * Returns the only call of a scenario with some parameters, with its values filled in. There is none if the
 * call expects an answer or needs a value of another step.
 */
export function onlyCallOf(scenario: Scenario, given: Given, tenant: Tenant) {
  const values = valuesOf(scenario, given, tenant)
  const [only, ...others] = scenario.steps.filter(step => !isLeftOut(step, given, values))
  if (only === undefined || others.length > 0 || only.expect !== undefined) return undefined
  const { call, region = 'EU', params = {}, body } = only
  try {
    return { call, ...(fill({ region, params, body }, values, tenant) as Input) }
  } catch {
    return undefined
  }
}

/** Returns the values of a scenario before its first step: its parameters, and the number of new references. */
function valuesOf({ parameters }: Scenario, given: Given, tenant: Tenant): Values {
  const defaults = Object.entries(parameters).map(([name, parameter]) => [name, parameter.default] as const)
  const typed = Object.entries(given).map(
    ([name, value]) => [name, typeof parameters[name]?.default === 'number' ? toNumber(value) : value] as const,
  )
  // Each new record raises the sequence, so that no two runs that make records have the same number.
  const number = String(tenant.meta().sequence + 1).padStart(4, '0')
  return new Map<string, unknown>([...defaults, ...typed, [NUMBER, number]])
}

const isLeftOut = ({ unlessGiven = [], when = {} }: Step, given: Given, values: Values) =>
  unlessGiven.some(name => Object.hasOwn(given, name)) ||
  // A command gives a number as text.
  Object.entries(when).some(([name, allowed]) => !allowed.map(String).includes(String(values.get(name))))

/** Returns the number in a text, as a command gives it. Another value stays as it is: the step refuses it. */
const toNumber = (value: unknown) => (/^\d{1,15}$/.test(String(value)) ? Number(value) : value)

/** Makes the call of a step. */
function act(step: Step, at: number, values: Values, call: AnyCall): unknown {
  const { region = 'EU', params = {}, body = {}, expect = {} } = step
  try {
    const operation = operationOf(step.call, call.routes)
    const input = fill({ region, params, body }, values, call.tenant()) as Required<Input>
    check(RegionOnly, { region: input.region }, 'INVALID_FIELD')
    for (const part of ['params', 'body'] as const) {
      const schema = operation[part] ?? NO_MEMBERS
      assertNamed(schema, input[part])
      check(schema, input[part], 'INVALID_FIELD')
    }
    const answer = operation.act({ ...call, ...input, query: {} })
    for (const [path, wanted] of Object.entries(expect)) {
      const actual = memberOf(answer, path)
      if (actual !== wanted) throw errors.illegalTransition(null, `${path} must be ${wanted}, not ${quote(actual)}.`)
    }
    return answer
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw new ApiError(error.code, error.field, `Step ${at}, ${step.call}: ${error.message}`, error.headers)
  }
}

/** Returns a copy of a value with its placeholders replaced. A member whose value is left out is left out. */
function fill(value: unknown, values: Values, tenant: Tenant): unknown {
  const find = (name: string) => (values.has(name) ? values.get(name) : resolveDates(`{{${name}}}`, tenant.clock.now()))
  if (typeof value === 'string') {
    const [[whole, name = ''] = []] = value.matchAll(PLACEHOLDER)
    // A value of its own keeps its type.
    if (whole === value) return find(name)
    return value.replace(PLACEHOLDER, (_, name: string) => String(find(name) ?? ''))
  }
  if (Array.isArray(value)) return value.map(item => fill(item, values, tenant))
  if (value === null || typeof value !== 'object') return value
  const members = Object.entries(value).map(([name, member]) => [name, fill(member, values, tenant)] as const)
  return Object.fromEntries(members.filter(([, member]) => member !== undefined))
}

/** Returns the member of an answer at a path such as `record.status`, if any. */
const memberOf = (answer: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => ownMember(Object(value), name), answer)
