import { isValid } from '../../http/validation.js'
import type { Operation } from '../contract.js'
import { isList, recordSchemaOf } from '../contract.js'
import type { Fault } from '../members.js'
import { ANY, membersOfSchema } from '../members.js'
import type { Observation } from '../observations.js'
import { isInvalid } from '../observations.js'
import type { Context, Rule, Source, Verdict } from '../rule.js'
import { assumed, documented, hasFaults, isDisputed, rule, verdict } from '../rule.js'
import { isClosedDay } from './collections.js'
import { isSpelled } from './lists.js'
import { onlyMembersOf, REQUIRED_REGION, sourceOf } from './sources.js'

/** Makes the rules of an operation that its schemas state: one for the values of each member, one where it is required. */
export const memberRules = (operation: Operation): readonly Rule[] => [
  ...regionRules(operation),
  ...pathRules(operation),
  ...queryRules(operation),
  ...bodyRules(operation),
  ...answerRules(operation),
]

/** A request that the sandbox refuses is refused, and one that it takes is taken. */
function requestVerdict(
  observation: Observation,
  context: Context,
  { fault, isGiven, field }: { fault: Fault | undefined; isGiven: boolean; field: string },
): Verdict {
  if (context.isUnauthorized) return undefined
  // A capture without Authorization does not show HTTP Basic.
  if (observation.operation?.id === 'issueToken' && fault !== undefined && !context.hasAuthorization) return undefined
  if (fault !== undefined) {
    if (observation.isAccepted) return { why: `accepted, where ${fault.expected} is expected`, seen: fault.seen }
    return isInvalid(observation) ? 'holds' : undefined
  }
  if (observation.isAccepted) return isGiven && !hasFaults(observation) ? 'holds' : undefined
  if (observation.field !== field || !isDisputed(observation, context)) return undefined
  // Rules of their own say these.
  if ((field === 'collectionDate' && isClosedDay(observation)) || isSpelled(observation)) return undefined
  return { why: isGiven ? 'refused, where the sandbox accepts it' : 'required, where the sandbox does not require it' }
}

function regionRules(operation: Operation): Rule[] {
  const schema = operation.region
  if (schema === undefined) return []
  const label = schema['x-fidelity-constraints']?.enum === 'assumed' ? 'assumed' : 'documented'
  const expected = schema['x-expected'] as string
  return [
    rule('header x-region required', REQUIRED_REGION, [operation.id], (observation, context) => {
      // A capture can lack all headers.
      if (Object.keys(observation.headers).length === 0 || observation.region !== '') return undefined
      return requestVerdict(observation, context, {
        fault: { expected: 'a value', seen: undefined },
        isGiven: false,
        field: 'x-region',
      })
    }),
    rule(
      'header x-region',
      sourceOf(operation, 'header', 'x-region', label),
      [operation.id],
      (observation, context) => {
        const { region } = observation
        if (region === '') return undefined
        const fault = isValid(schema, region) ? undefined : { expected, seen: region }
        return requestVerdict(observation, context, { fault, isGiven: true, field: 'x-region' })
      },
    ),
  ]
}

const BILL_REFERENCE = assumed(9, '| `uniqueReferenceIdentifier`* | `^[A-Za-z0-9_-]{3,64}$` |')

/** A path value that breaks its pattern is 400, and so is one that breaks its length. */
function pathRules({ id, params }: Operation): Rule[] {
  return Object.entries(params?.properties ?? {}).flatMap(([name, schema]) => {
    const { pattern, minLength = 0, maxLength = Infinity } = schema
    const refused = (isBroken: (value: string) => boolean): Rule['check'] => {
      return (observation, context) => {
        const value = observation.params[name]
        if (value === undefined || context.isUnauthorized || !isBroken(value)) return undefined
        const { status } = observation
        if (status !== 404 && status >= 401 && (status < 410 || status === 429 || status >= 500)) return undefined
        return verdict(status === 400, 'another status than 400')
      }
    }
    const isOther = (value: string) => !new RegExp(pattern as string).test(value)
    if (maxLength === Infinity) return [rule(`path ${name}`, BILL_REFERENCE, [id], refused(isOther))]
    const isLength = ({ length }: string) => length < minLength || length > maxLength
    return [
      rule(
        `path ${name}`,
        documented('Errors', 'A path value that breaks its pattern returns 400 Bad Request.'),
        [id],
        refused(isOther),
      ),
      rule(
        `path ${name} length`,
        assumed(1, 'Returns 400 for one that breaks its length, too, at any length.'),
        [id],
        refused(value => !isOther(value) && isLength(value)),
      ),
    ]
  })
}

function queryRules(operation: Operation): Rule[] {
  const parameters = operation.query === undefined ? [] : [...membersOfSchema(operation.query)]
  return parameters.map(({ path, schema, value }) =>
    rule(`query ${path}`, sourceOf(operation, 'query', path, value), [operation.id], (observation, context) => {
      const { query, queryError } = observation
      const given = query[path]
      // An empty value and a repeated one have rules of their own.
      if (given === '' || (Array.isArray(given) && schema.type !== 'array')) return undefined
      const isFault = queryError?.field === path
      const fault = isFault ? { expected: String(schema['x-expected'] ?? 'another value'), seen: given } : undefined
      return requestVerdict(observation, context, { fault, isGiven: given !== undefined, field: path })
    }),
  )
}

const DATE = assumed(6, 'Requires a real calendar date: 2026-02-30 is 400.')

function bodyRules(operation: Operation): Rule[] {
  const { id, body } = operation
  if (body === undefined) return []
  const rules: Rule[] = []
  const add = (name: string, source: Source, key: string, path: string) =>
    rules.push(
      rule(name, source, [id], (observation, context) => {
        if (Object.keys(observation.input).length === 0 && observation.body.kind !== 'json') return undefined
        const { faults, given } = observation.request
        const isGiven = given.has(path) && key === path
        // A member that is not there is no fault of its values.
        const fault = faults.get(key)
        if (fault === undefined && key !== path) return undefined
        return requestVerdict(observation, context, { fault, isGiven, field: path })
      }),
    )
  for (const { path, schema, isRequired, required, value } of membersOfSchema(body)) {
    add(`body ${path}`, sourceOf(operation, 'body', path, value), path, path)
    if (isRequired) add(`body ${path} required`, sourceOf(operation, 'body', path, required), `${path} required`, path)
    if (schema.format === 'date') add(`body ${path} date`, DATE, `${path} date`, path)
  }
  if (body.anyOf !== undefined) {
    const source =
      id === 'updateBill'
        ? assumed(9, 'PATCH accepts `status`, `openAmount` and `dueDate`, at least one of them. Returns 200.')
        : sourceOf(operation, 'body', '', 'assumed')
    add(`body with ${ANY}`, source, ANY, '')
  }
  return rules
}

function answerRules(operation: Operation): Rule[] {
  const { id, answer } = operation
  const rules: Rule[] = []
  const faultOf = ({ content, answer }: Observation, key: string): Verdict => {
    const fault = content.faults.get(key)
    if (answer.kind !== 'json' || fault === undefined) return undefined
    return { why: `where ${fault.expected} is expected`, seen: fault.seen }
  }
  for (const { path, isRequired, required, value } of membersOfSchema(answer)) {
    rules.push(
      rule(`answer ${path}`, sourceOf(operation, 'answer', path, value), [id], observation => {
        const date = faultOf(observation, `${path} date`)
        return faultOf(observation, path) ?? date ?? (observation.content.given.has(path) ? 'holds' : undefined)
      }),
    )
    if (!isRequired) continue
    rules.push(
      rule(`answer ${path} required`, sourceOf(operation, 'answer', path, required), [id], observation => {
        const missing = faultOf(observation, `${path} required`)
        return missing ?? (observation.content.given.has(path) ? 'holds' : undefined)
      }),
    )
  }
  if (recordSchemaOf(operation).properties === undefined) return rules
  const name = isList(operation) ? 'answer without other members, also of records' : 'answer without other members'
  rules.push(
    rule(name, onlyMembersOf(operation), [id], ({ isAccepted, answer, content, method }) => {
      if (!isAccepted || answer.kind !== 'json' || method === 'HEAD') return undefined
      const [other] = content.others
      return other === undefined ? 'holds' : { why: 'with another member', seen: other.split('.').at(-1) }
    }),
  )
  return rules
}
