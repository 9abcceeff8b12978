import type { TSchema } from '@sinclair/typebox'
import type { Area, AreaName } from '../areas/index.js'
import { areas } from '../areas/index.js'
import type { Lifecycle } from '../core/records/state-machine.js'
import { legalMoves } from '../core/records/state-machine.js'
import { CURRENCY_OF } from '../core/rules/regions.js'
import { isValid } from '../http/validation.js'
import { exampleOf } from '../tenants/examples.js'
import type { Tenant } from '../tenants/tenant.js'
import { memberNames, store } from './adopt.js'
import { codeOf, isSameOutcome, isSuccess, membersOf } from './answers.js'
import type { Ask } from './asking.js'
import { isTokenUncertain } from './asking.js'
import type { Case, Known } from './case.js'
import { isDoubtful } from './case.js'
import type { Contract } from './contract.js'
import { faultsOf } from './contract.js'
import type { Answer, Json } from './sandbox.js'

/** The most states that are tried for a file. */
const MOST_TRIALS = 5_000

/** An explanation: the answers of the sandbox in another state, or none, so that the outcome is not judged. */
export type Explanation = readonly [Answer, Answer] | 'unjudged'

/**
 * Looks for a reason why the service answers in another way, other than a difference: a state into which others have
 * brought a record, or a record that the capture has not shown. Returns undefined if there is none.
 */
export async function explain(one: Case, own: Answer, ask: Ask): Promise<Explanation | undefined> {
  const { contract, entry, operation, named, isAccepted } = one
  const [code, ownCode] = [codeOf(entry.status, one.content), codeOf(own.status, own.body)]
  if (entry.status === 401 || own.status === 401) return isTokenUncertain(one, code) ? 'unjudged' : undefined
  if (named.some(known => isDoubtful(one, known))) return 'unjudged'
  if (own.status >= 400 && hasOtherFault(one)) return 'unjudged'
  const isListed = code !== undefined && operation?.codes.includes(code as never) === true
  // Only the settings of the service decide.
  if (code === 'ORIGIN_NOT_ALLOWED' && isListed) return 'unjudged'
  // A refusal can be about a record that the capture has not shown.
  const [about, ownAbout] = [one.content, own.body].map(body => contract.areaOf(String(membersOf(body).field)))
  const isUnseen = (area: AreaName | undefined) => named.some(known => known.area === area && isOpen(one, known))
  const isOfState = (status: number, text: string | undefined) =>
    status === 409 || (status === 404 && text !== 'ROUTE_NOT_FOUND') || text === 'INCONSISTENT_BILL_UPDATE'
  if (!isOfState(entry.status, code) && !isOfState(own.status, ownCode)) return undefined
  for (const known of named) {
    const tried = await tryStates(one, known, ownCode, ask)
    if (tried !== undefined) return tried
  }
  // Another record can have used the mandate.
  if (operation?.status === 201 && isSuccess(own.status) && entry.status === 409 && isListed) return 'unjudged'
  if (isAccepted) return entry.answer.kind === 'unknown' && isUnseen(ownAbout) ? 'unjudged' : undefined
  const isForm = entry.status === 400 && about === ownAbout
  const isPossible = isListed && !isForm && own.status !== 400
  return isPossible && (isUnseen(about) || isUnseen(ownAbout)) ? 'unjudged' : undefined
}

/** Whether a record can be in any state, since the capture has not shown it. An id of the service is shown elsewhere. */
const isOpen = ({ ends }: Case, { standing, reference }: Known): boolean =>
  standing === 'made up' || (standing === 'named' && ends[0].translate(reference) === reference)

/** Whether a refused value is one that the sandbox refuses, too: the order of checks is not promised. */
export function hasOtherFault({ entry, operation, content, isAccepted }: Case): boolean {
  const { field } = membersOf(content)
  if (isAccepted || typeof field !== 'string' || operation?.body === undefined) return false
  const body = entry.body.kind === 'json' ? entry.body.value : undefined
  return faultsOf(operation.body, body).some(path => path.join('.') === field)
}

/** Sends the request again with a record in each state that others could have brought it to. */
async function tryStates(
  one: Case,
  known: Known,
  ownCode: string | undefined,
  ask: Ask,
): Promise<readonly [Answer, Answer] | undefined> {
  const { run, contract, entry, match, operation, content, isAccepted } = one
  const { area, region, reference } = known
  const { lifecycle, record: schema, reference: identifier } = areas[area] as Area
  const present = one.ends[0].find(known)?.record
  const isMissing = present === undefined
  const isNew = operation?.area === area && operation.status === 201 && match.params[identifier] === undefined
  const isAny = isOpen(one, known)
  if (isMissing && (isNew || !isAny || !ownCode?.endsWith('_NOT_FOUND') || entry.status === 404)) return undefined
  const isInAnswer = operation?.record !== undefined && !operation.isList && operation.area === area && isAccepted
  const currency = areas[area].regions === 'EU' ? {} : { currency: CURRENCY_OF[region] }
  const made = () => ({ ...madeUp(contract, one.ends[0].tenant, area, reference), ...currency })
  const base: Json = isMissing ? (isInAnswer ? membersOf(content) : made()) : { ...present, [identifier]: reference }
  const isHere = (base.currency ?? CURRENCY_OF[region]) === CURRENCY_OF[region]
  if (isMissing && isInAnswer && !(isHere && isValid(schema, base))) return undefined
  const names = memberNames(one, known)
  if (isMissing) known.standing = isInAnswer ? 'shown' : 'made up'
  for (const status of statesOf(lifecycle, base, isAny, known.record?.status)) {
    if (++run.trials > MOST_TRIALS) return undefined
    store(one, known, lifecycle === undefined ? base : { ...base, status }, names, isMissing)
    const first = await ask(0)
    if (isSameOutcome(entry, first)) return [first, await ask(1)]
  }
  store(one, known, base, names)
  return undefined
}

/** Lists the states that a record can have: all of one that was not shown, else those that follow the present or the shown one. */
function statesOf(lifecycle: Area['lifecycle'], base: Json, isAny: boolean, shown: unknown) {
  const present = String(base.status)
  if (lifecycle === undefined) return [present]
  if (isAny) return [present, ...lifecycle.states]
  return new Set([present, String(shown)].flatMap(status => reachable(lifecycle.transitions, status)))
}

/** Lists the states that can follow a state, by any number of transitions. */
export function reachable(transitions: Lifecycle, from: string): string[] {
  const reached = new Set(legalMoves(transitions, from).map(({ to }) => to))
  // A set also yields what is added meanwhile.
  for (const state of reached) for (const { to } of legalMoves(transitions, state)) reached.add(to)
  return [...reached]
}

/** Makes up a record that the capture refers to, and has not shown. */
export const madeUp = (contract: Contract, tenant: Tenant, area: AreaName, reference: string): Json => ({
  ...exampleOf(tenant, 0, contract.recordOf(area) as TSchema),
  [areas[area].reference]: reference,
})
