import { isDeepStrictEqual } from 'node:util'
import type { Fact } from '../features/coverage/coverage.js'
import { factsOf } from '../features/coverage/coverage.js'
import { faultError } from '../features/faults/errors.js'
import { adoptAll, listed, noteShown } from './adopt.js'
import type { Difference } from './answers.js'
import {
  codeOf,
  headerDifferences,
  isSameOutcome,
  membersOf,
  outcomeDifference,
  refusalDifferences,
  successDifference,
} from './answers.js'
import type { Ask, Own } from './asking.js'
import { askFirst, createAsk, isTimely, noteToken, prepare } from './asking.js'
import type { Case, Group, Run } from './case.js'
import { createCase, knownOf } from './case.js'
import type { Match } from './contract.js'
import { OTHER_PATHS } from './contract.js'
import { explain, hasOtherFault } from './explain.js'
import type { Entry } from './har.js'
import { listDifferences } from './lists.js'
import { faultDifferences, listedDifferences, recordDifferences } from './records.js'
import type { Answer } from './sandbox.js'

/** Holds one entry against the sandbox, notes the differences, and then brings the sandbox to what the entry shows. */
export async function judge(run: Run, entry: Entry, match: Match, group: Group): Promise<void> {
  const name = match.operation?.name ?? OTHER_PATHS
  run.ledger.count(name)
  for (const end of group.ends) if (entry.at !== undefined) end.moveTo(entry.at)
  run.ledger.note(name, entry, await differencesOf(createCase(run, entry, match, group)))
}

async function differencesOf(one: Case): Promise<Difference[]> {
  const { contract, entry, operation } = one
  const { ledger } = one.run
  if (isVague(one)) return formDifferences(one)
  prepare(one)
  const ask = createAsk(one)
  let own = await askFirst(one, ask)
  if (own === undefined) return []
  if (!isSameOutcome(entry, own[0])) {
    if (entry.status === 429 || entry.status >= 500) {
      const refusal = refusalDifferences(entry, operation, undefined).slice(0, 1)
      return [...refusal, ...headerDifferences(entry, disturbanceOf(one))]
    }
    const explained = await explain(one, own[0], ask)
    if (explained === undefined) return [otherOutcome(one, own)]
    if (explained === 'unjudged') return formDifferences(one)
    own = explained
  }
  if (entry.status === 404) {
    const about = contract.areaOf(String(membersOf(one.content).field))
    for (const known of one.named) if (known.area === about && known.standing === 'named') known.standing = 'absent'
  }
  const found = one.isAccepted ? await successDifferences(one, own, ask) : refusalsOf(one, own)
  const facts = factsIn(one, entry.status, one.content)
  if (found.length === 0) ledger.confirm(operation?.name, facts)
  else if (found.some(({ what }) => what.startsWith('status'))) ledger.contradict(operation?.name, facts)
  return found
}

/** Whether an upload was refused whose file the capture can have left out. */
const isLost = ({ entry: { body, status }, content }: Case): boolean =>
  body.kind === 'upload' &&
  status >= 400 &&
  codeOf(status, content) !== 'MISSING_FIELD' &&
  /^$|\r\n\r\n\r\n--/.test(body.text)

/** Whether nothing is known of the time, the headers, the client or the content of a request. Then only its form is compared. */
function isVague(one: Case): boolean {
  const { run, operation, entry } = one
  const { headers, body, origin } = entry
  const isUnauthorized = headers.authorization === undefined && !run.hasAuthorization(origin)
  const isAnonymous =
    isUnauthorized &&
    (body.kind === 'form'
      ? !body.fields.some(([name]) => name === 'client_id')
      : run.hasSeveral(origin) && operation?.area !== undefined)
  const isCut = (body.kind === 'unknown' && operation !== undefined) || isLost(one)
  return !run.isTimed || Object.keys(headers).length === 0 || isAnonymous || isCut
}

/** Compares an answer by its schema only, since nothing is known of its reason. */
function formDifferences(one: Case): Difference[] {
  const { entry, operation, content, isAccepted } = one
  if (!isAccepted) return refusalDifferences(entry, operation, undefined)
  const found = operation !== undefined && content !== undefined ? faultDifferences(one, operation.answer, content) : []
  adoptAll(one)
  return found
}

/** Describes another outcome than that of the sandbox. Nothing more is noted of the state of the records that it is about. */
function otherOutcome(one: Case, [own]: Own): Difference {
  const { run, entry, match, operation, named } = one
  for (const known of named) if (known.area === operation?.area) known.standing = 'disputed'
  run.ledger.contradict(operation?.name, [
    ...factsIn(one, entry.status, one.content),
    ...factsIn(one, own.status, own.body),
  ])
  adoptAll(one)
  return outcomeDifference(entry, match, own)
}

/** Returns the answer of the sandbox to a fault with the status of an entry. */
function disturbanceOf({ entry, isToken }: Case) {
  const { status, headers, envelope } = faultError({ kind: 'error', status: entry.status }, !isToken)
  return { status, headers: { 'x-request-id': '-', ...headers }, body: envelope }
}

/** Compares a refusal. Each fault of a request can be the one that is answered. */
function refusalsOf(one: Case, [own]: Own): Difference[] {
  const found = refusalDifferences(one.entry, one.operation, own)
  const isOther = found[0]?.what === 'another field' && hasOtherFault(one)
  return [...(isOther ? [] : found), ...headerDifferences(one.entry, own)]
}

/** Lists all differences of an accepted request, and adopts the records of its answer. */
async function successDifferences(one: Case, [own, late]: Own, ask: Ask): Promise<Difference[]> {
  const { entry, operation, content } = one
  const first = successDifference(entry, operation, own)
  const headers = headerDifferences(entry, own)
  const isRead = entry.method === 'GET' || entry.method === 'HEAD'
  const hasContent = own.body !== undefined && content !== undefined
  const isAlike = first === undefined && hasContent && late === undefined
  // Most reads show what the sandbox has.
  if (isAlike && isRead && (isDeepStrictEqual(one.ends[0].original(own.body), content) || isSamePage(one, own))) {
    noteShown(one)
    return headers
  }
  const isCreated = isAlike && isTimely(one, own)
  const isEnough = isCreated || (isRead && (operation?.isList === true || !hasContent))
  const second = late ?? (isEnough ? own : await ask(1))
  if (first !== undefined || operation === undefined || !hasContent) {
    adoptAll(one)
    return [...(first === undefined ? [] : [first]), ...headers]
  }
  if (one.isToken) noteToken(one, [own, second])
  const found = operation.isList
    ? listed(one).flatMap(record => listedDifferences(one, record))
    : isCreated
      ? []
      : recordDifferences(one, content, [own.body, second.body], operation.answer)
  found.push(...adoptAll(one))
  // Records that differ explain a page that does.
  const inList = operation.isList ? await listDifferences(one, ask) : []
  return [...found, ...(found.length === 0 ? inList : []), ...headers]
}

/** Whether the early end shows the same page, but for its cursor. Notes its cursor. */
function isSamePage(one: Case, { body }: Answer): boolean {
  const { operation, group, ends } = one
  const { nextCursor, ...page } = membersOf(one.content)
  const { nextCursor: ownCursor, ...own } = membersOf(body)
  if (operation?.isList !== true || typeof nextCursor !== 'string' || typeof ownCursor !== 'string') return false
  const known = knownOf(one, membersOf(Array.isArray(page.data) ? page.data.at(-1) : undefined))
  if (known !== undefined) group.cursors.set(nextCursor, known)
  return ends[0].pair(nextCursor, ownCursor) && isDeepStrictEqual(ends[0].original(own), page)
}

/** Returns the facts of an answer, as coverage counts them. A captured one can have any form. */
const factsIn = ({ entry }: Case, status: number, content: unknown): Fact[] => {
  const { data, ...record } = membersOf(content)
  return factsOf(status, Array.isArray(data) ? { data } : record, /[?&]cursor=/.test(entry.search))
}
