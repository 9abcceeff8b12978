import type { Area, AreaName } from '../areas/index.js'
import { areas } from '../areas/index.js'
import type { Lifecycle } from '../core/records/state-machine.js'
import { legalMoves } from '../core/records/state-machine.js'
import { CURRENCY_OF } from '../core/rules/regions.js'
import { isValid } from '../http/validation.js'
import { exampleOf } from '../tenants/examples.js'
import { memberNames, store } from './adopt.js'
import { codeOf, isSameOutcome, isSuccess, membersOf } from './answers.js'
import type { Ask } from './asking.js'
import type { Case, Named } from './case.js'
import { isDoubtful, know, regionIn, regionOfRecord, stored } from './case.js'
import { faultsOf } from './contract.js'
import { isTokenUncertain } from './credentials.js'
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
  const { contract, entry, operation, group, named, isAccepted } = one
  const [code, ownCode] = [codeOf(entry.status, one.content), codeOf(own.status, own.body)]
  if (entry.status === 401 || own.status === 401) return isTokenUncertain(one, code) ? 'unjudged' : undefined
  if (named.some(({ key }) => isDoubtful(one, group.known.get(key)))) return 'unjudged'
  if (own.status >= 400 && hasOtherFault(one)) return 'unjudged'
  const isListed = code !== undefined && operation?.codes.includes(code as never) === true
  // Only the settings of the service decide.
  if (code === 'ORIGIN_NOT_ALLOWED' && isListed) return 'unjudged'
  const isOfState = (status: number, text: string | undefined) =>
    status === 409 || (status === 404 && text !== 'ROUTE_NOT_FOUND') || text === 'INCONSISTENT_BILL_UPDATE'
  if (!isOfState(entry.status, code) && !isOfState(own.status, ownCode)) return undefined
  for (const record of named) {
    const tried = await tryStates(one, record, ownCode, ask)
    if (tried !== undefined) return tried
  }
  // Another record can have the reference, or have used the mandate.
  if (operation?.status === 201 && isSuccess(own.status) && entry.status === 409 && isListed) return 'unjudged'
  const missing = contract.areaOf(String(membersOf(own.body).field))
  const isPossible = isAccepted ? entry.answer.kind === 'unknown' : isOfState(entry.status, code)
  const isUnseen = isPossible && named.some(({ area, key }) => area === missing && !group.absent.has(key))
  return isUnseen && own.status === 404 ? 'unjudged' : undefined
}

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
  { area, reference, key }: Named,
  ownCode: string | undefined,
  ask: Ask,
): Promise<readonly [Answer, Answer] | undefined> {
  const { run, contract, entry, match, operation, group, ends, content, isAccepted } = one
  const lifecycle = (areas[area] as Area).lifecycle
  const region = regionIn(area, one.region)
  const identifier = contract.references.get(area) as string
  const present = stored(one, 0, area, reference)
  const isMissing = present === undefined
  const isNew = operation?.area === area && operation.status === 201 && match.params[identifier] === undefined
  const isAbsent = group.absent.has(key) || ends[0].tenant[area].find(String(ends[0].translate(reference))).length > 0
  if (isMissing && (isNew || isAbsent || !ownCode?.endsWith('_NOT_FOUND') || entry.status === 404)) return undefined
  const isShown = operation?.record !== undefined && !operation.isList && operation.area === area && isAccepted
  const base = isMissing
    ? isShown
      ? membersOf(content)
      : madeUp(one, area, reference)
    : { ...present, [identifier]: reference }
  if (base === undefined || (isMissing && isShown && !isValid((areas[area] as Area).record, base))) return undefined
  const names = memberNames(one, area)
  if (isMissing) know(one, area, reference, region).isMadeUp = !isShown
  for (const status of statesOf(lifecycle, base, isMissing)) {
    if (++run.trials > MOST_TRIALS) return undefined
    const record = lifecycle === undefined ? base : { ...base, status }
    store(one, area, regionOfRecord(record, region), record, { shown: names })
    const first = await ask(0)
    if (!isSameOutcome(entry, first)) continue
    know(one, area, reference, region).record = record
    return [first, await ask(1)]
  }
  if (!isMissing) store(one, area, region, base, { shown: names })
  return undefined
}

/** Lists the states that a record can have: all of one that is missing, else those that follow. */
function statesOf(lifecycle: Area['lifecycle'], base: Json, isMissing: boolean) {
  const present = String(base.status)
  if (lifecycle === undefined) return [present]
  if (isMissing) return [present, ...lifecycle.states]
  return reachable(lifecycle.transitions, present)
}

/** Lists the states that can follow a state, by any number of transitions. */
export function reachable(transitions: Lifecycle, from: string): string[] {
  const reached = new Set(legalMoves(transitions, from).map(({ to }) => to))
  // A set also yields what is added meanwhile.
  for (const state of reached) for (const { to } of legalMoves(transitions, state)) reached.add(to)
  return [...reached]
}

/** Makes up a record that the capture refers to, and has not shown. */
function madeUp({ contract, ends, region }: Case, area: AreaName, reference: string): Json | undefined {
  const schema = contract.recordOf(area)
  if (schema === undefined) return undefined
  const currency = area === 'mandates' || area === 'collections' ? {} : { currency: CURRENCY_OF[region] }
  const identifier = contract.references.get(area) as string
  return { ...exampleOf(ends[0].tenant, 0, schema), ...currency, [identifier]: reference }
}
