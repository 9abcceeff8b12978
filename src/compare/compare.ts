import { isDeepStrictEqual } from 'node:util'
import type { Area, AreaName } from '../areas/index.js'
import { areas } from '../areas/index.js'
import { ApiError } from '../core/errors.js'
import type { Lifecycle } from '../core/records/state-machine.js'
import { legalMoves } from '../core/records/state-machine.js'
import type { StatefulEntry } from '../core/records/stateful-repository.js'
import type { Region } from '../core/rules/regions.js'
import { CURRENCY_OF, REGIONS, regionOf } from '../core/rules/regions.js'
import { parseInstant } from '../core/time/time.js'
import type { Fact } from '../features/coverage/coverage.js'
import { faultError } from '../features/faults/errors.js'
import { isValid } from '../http/validation.js'
import { exampleOf } from '../tenants/examples.js'
import type { Difference } from './answers.js'
import {
  codeOf,
  contentOf,
  headerDifferences,
  isSameOutcome,
  isSuccess,
  memberDifference,
  memberDifferences,
  membersOf,
  outcomeDifference,
  refusalDifferences,
  successDifference,
  TOLERANCE,
} from './answers.js'
import type { Contract, Match, Operation } from './contract.js'
import { faultsOf, memberAt, OTHER_PATHS, placeOfMember } from './contract.js'
import type { Group, Known } from './group.js'
import { keyOf } from './group.js'
import type { Capture, Entry } from './har.js'
import { isBefore, isOverlapping } from './har.js'
import type { Ledger } from './ledger.js'
import { createLedger } from './ledger.js'
import { isForeignCursor, listDifferences, withoutCursor } from './lists.js'
import { toOutgoing } from './requests.js'
import type { Answer, End, Json, Sandbox } from './sandbox.js'
import { createSandbox } from './sandbox.js'

export interface Comparison {
  readonly ledger: Ledger
  readonly sandbox: Pick<Sandbox, 'contract' | 'documented'>
  readonly groups: readonly Group[]
  /** The last moment of the traffic, in milliseconds. */
  readonly until: number
  readonly entries: {
    readonly compared: number
    /** Entries of other paths and hosts, without an answer, twice in the file, without a request, and with a cut body. */
    readonly unmatched: number
    readonly unanswered: number
    readonly duplicates: number
    readonly malformed: number
    readonly cut: number
  }
  readonly environments: number
}

/** The most clients that are kept at a time, and the most states that are tried. */
const MOST_GROUPS = 200
const MOST_TRIALS = 5_000
const LATEST_WRITES = 50

/**
 * Holds the traffic of a capture against a sandbox in memory, entry by entry in the order of time.
 * @param host the name of the host to compare, with its port if it has one; undefined: all
 * @param read reads the result while the sandbox is there
 */
export async function compare<T = Comparison>(
  capture: Capture,
  host?: string,
  read: (comparison: Comparison) => T = comparison => comparison as T,
): Promise<T> {
  const times = capture.entries.flatMap(({ at }) => at ?? [])
  const isTimed = times.length === capture.entries.length
  const sandbox = await createSandbox(times.reduce((first, at) => Math.min(first, at), times[0] ?? 0))
  try {
    const until = times.reduce((last, at) => Math.max(last, at), times[0] ?? 0)
    return read(await hold(capture, sandbox, isTimed, host, until))
  } finally {
    await sandbox.close()
  }
}

async function hold(
  capture: Capture,
  sandbox: Sandbox,
  isTimed: boolean,
  host: string | undefined,
  until: number,
): Promise<Comparison> {
  const { contract } = sandbox
  const ledger = createLedger(contract)
  const counts = { compared: 0, unmatched: 0, unanswered: 0, cut: 0 }
  const groups = new Map<string, Group>()
  const environments = new Set<string>()
  const clientOf = groupsOf(capture.entries)
  const judge = createJudge(contract, ledger, isTimed, clientOf.hasAuthorization)

  function groupOf(entry: Entry): Group {
    const key = clientOf(entry)
    const group = groups.get(key) ?? createGroup(sandbox)
    groups.delete(key)
    groups.set(key, group)
    const [[oldest, { ends }]] = groups as unknown as [[string, Group]]
    if (groups.size > MOST_GROUPS) {
      groups.delete(oldest)
      sandbox.forget(ends)
    }
    return group
  }

  for (const entry of capture.entries) {
    const isOfHost = host === undefined || new URL(entry.origin).host === host
    const match =
      isOfHost && entry.headers['access-control-request-method'] === undefined
        ? contract.match(entry.method, entry.path)
        : undefined
    if (match === undefined) counts.unmatched++
    // 304 has the content of a cache, and other 3xx are not of the service.
    else if (entry.status < 200 || (entry.status >= 300 && entry.status < 400)) counts.unanswered++
    else {
      counts.compared++
      if (entry.body.kind === 'unknown' || entry.answer.kind === 'unknown') counts.cut++
      environments.add(entry.origin)
      await judge(entry, match, groupOf(entry))
    }
  }
  const { duplicates, malformed } = capture
  return {
    ledger,
    sandbox,
    groups: [...groups.values()],
    until,
    entries: { ...counts, duplicates, malformed },
    environments: environments.size,
  }
}

const createGroup = (sandbox: Sandbox): Group => ({
  ends: sandbox.open(),
  known: new Map(),
  tokens: new Map(),
  secrets: new Set(),
  writes: [],
  lowest: 0,
  absent: new Set(),
  surplus: new Map(),
})

/** Returns the function that names the client of an entry. Tokens of one client share its records. */
function groupsOf(entries: readonly Entry[]) {
  const issuers = new Map<number, number | undefined>()
  const clients = new Map<string, Set<number>>()
  const authorized = new Set<string>()
  for (const { issued, client, origin, headers, path, status } of entries) {
    if (issued !== undefined) issuers.set(issued, client)
    if (client !== undefined && isSuccess(status)) clients.set(origin, (clients.get(origin) ?? new Set()).add(client))
    if (headers.authorization !== undefined && !path.endsWith('/oauth/token')) authorized.add(origin)
  }
  const clientOf = ({ origin, bearer, client }: Entry) => {
    const [only, another] = clients.get(origin) ?? []
    // Of several clients, one of an unknown token is another.
    const unknown = another === undefined ? `client ${only}` : `token ${bearer}`
    const known = client ?? (bearer === undefined ? undefined : issuers.get(bearer))
    return `${origin} ${known === undefined ? unknown : `client ${known}`}`
  }
  return Object.assign(clientOf, { hasAuthorization: (origin: string) => authorized.has(origin) })
}

/** Creates the function that holds one entry against the sandbox, and then brings the sandbox to what the entry shows. */
function createJudge(
  contract: Contract,
  ledger: Ledger,
  isTimed: boolean,
  hasAuthorization: (origin: string) => boolean,
) {
  let trials = 0

  return async (entry: Entry, match: Match, group: Group): Promise<void> => {
    const { operation, params } = match
    const { ends } = group
    for (const end of ends) if (entry.at !== undefined) end.moveTo(entry.at)
    const isToken = operation?.id === 'issueToken'
    const isAccepted = isSuccess(entry.status)
    const region = regionOfEntry(entry)
    const content = contentOf(entry)
    /** Whether nothing is known of the time or the headers of the request. */
    const isBare =
      Object.keys(entry.headers).length === 0 ||
      (entry.body.kind === 'form' &&
        !entry.body.fields.some(([name]) => name === 'client_id') &&
        entry.headers.authorization === undefined &&
        !hasAuthorization(entry.origin))
    const isVague = !isTimed || isBare
    const note = (differences: readonly Difference[]) => ledger.note(operation?.name ?? OTHER_PATHS, entry, differences)
    ledger.count(operation?.name ?? OTHER_PATHS)
    const named = namedRecords()
    /** Whether a read shows exactly what the sandbox has. */
    let isPlain = false

    if (entry.body.kind === 'unknown' || isLost(entry)) {
      adoptAll()
      return
    }
    prepare()
    const credentials = ends.map((_, at) => ({ token: tokenAt(at), hasSecret: hasSecret() }))
    const ask = (at: number) => {
      const end = ends[at] as End
      // A cursor of a page that the capture lacks.
      const request =
        isAccepted && operation?.isList === true && isForeignCursor(entry, end)
          ? { ...entry, search: withoutCursor(entry.search) }
          : entry
      return end.ask(toOutgoing(request, match.path, end, credentials[at] as never, isToken), !isAccepted)
    }
    let answers = await askBoth()
    if (answers === undefined) return
    if (!isSameOutcome(entry, answers[0]) && isSameOutcome(entry, answers[1])) answers = [answers[1], answers[1]]

    if (isDisturbance(entry) && !isSameOutcome(entry, answers[0])) {
      note([...refusalDifferences(entry, operation, undefined).slice(0, 1), ...headerDifferences(entry, disturbance())])
      return
    }
    if (!isSameOutcome(entry, answers[0])) {
      const explained = await explain(answers)
      if (explained === undefined) {
        dispute()
        const own = answers[0]
        note([outcomeDifference(entry, match, own)])
        ledger.contradict(
          operation?.name,
          factsOf(entry.status, content, operation, entry),
          factsOf(own.status, own.body, operation, entry),
        )
        adoptAll(true)
        return
      }
      if (explained === 'unjudged') {
        note(isAccepted ? schemaDifferences() : refusalDifferences(entry, operation, undefined))
        adoptAll()
        return
      }
      answers = explained
    }
    if (entry.status === 404)
      for (const { key } of named) if (group.known.get(key)?.record === undefined) group.absent.add(key)
    const found = isAccepted ? await compareSuccess(answers) : compareRefusal(answers)
    note(found)
    const facts = factsOf(entry.status, content, operation, entry)
    if (found.length === 0) ledger.confirm(operation?.name, facts)
    else ledger.contradict(operation?.name, found.some(({ what }) => what.startsWith('status')) ? facts : [], [])

    // ------------------------------------------------------------------------------------------------------ asking

    async function askBoth(): Promise<[Answer, Answer] | undefined> {
      try {
        const first = await ask(0)
        const isWrite = entry.method !== 'GET' && entry.method !== 'HEAD' && isAccepted
        isPlain = !isWrite && isSameOutcome(entry, first) && isDeepStrictEqual(first.body, content)
        return [first, isPlain ? first : await ask(1)]
      } catch {
        // A method or a target that cannot be sent.
        return undefined
      }
    }

    function tokenAt(at: number): string | undefined {
      const { authorization } = entry.headers
      if (isToken) return undefined
      if (authorization === undefined)
        return entry.status === 401 || hasAuthorization(entry.origin) ? undefined : freshToken(at)
      const known = entry.bearer === undefined ? undefined : group.tokens.get(entry.bearer)
      if (known !== undefined) return known.own[at]
      return entry.status === 401 ? 'unknown' : freshToken(at)
    }

    function freshToken(at: number): string {
      return (ends[at] as End).tenant.tokens.issue().access_token
    }

    function hasSecret(): boolean {
      if (entry.secret === undefined) return entry.status !== 401
      if (isAccepted && group.secrets.size === 0) group.secrets.add(entry.secret)
      return group.secrets.has(entry.secret)
    }

    /** Takes over what the control plane sets: the headers of a deprecation, and the origins of embedded links. */
    function prepare() {
      const { deprecation, sunset } = entry.answerHeaders
      if (operation !== undefined) {
        const moment = sunset === undefined ? Number.NaN : Date.parse(sunset)
        for (const { tenant } of ends) {
          const others = tenant.deprecations.list().filter(one => one.operation !== operation.name)
          if (deprecation === undefined && sunset === undefined && others.length === tenant.deprecations.list().length)
            continue
          const own = {
            operation: operation.name,
            deprecatedSince: deprecation === undefined ? '9999-12-31T00:00:00Z' : '1970-01-01T00:00:00Z',
            ...(!Number.isNaN(moment) && { sunset: `${new Date(moment).toISOString().slice(0, 19)}Z` }),
            goneAfterSunset: false,
          }
          tenant.deprecations.restore(deprecation === undefined && sunset === undefined ? others : [...others, own])
        }
      }
      const { origin } = membersOf(entry.body.kind === 'json' ? entry.body.value : undefined)
      if (isAccepted && typeof origin === 'string') {
        for (const { tenant } of ends) {
          const { allowedOrigins } = tenant.settings
          if (!allowedOrigins.includes(origin) && allowedOrigins.length < 100)
            tenant.settings.allowedOrigins = [...allowedOrigins, origin]
        }
      }
    }

    /** The answer of the sandbox to a fault of this status. */
    function disturbance(): Answer {
      const { status, headers, envelope } = faultError({ kind: 'error', status: entry.status }, !isToken)
      return { status, headers: { 'x-request-id': '-', ...headers }, body: envelope }
    }

    // ------------------------------------------------------------------------------------------------- explanations

    /** The records that the request names: in its path, in its body, and the new one in the answer. */
    function namedRecords() {
      const texts = [
        ...Object.entries(params),
        ...Object.entries(membersOf(entry.body.kind === 'json' ? entry.body.value : undefined)),
        ...(operation?.record !== undefined && !operation.isList ? Object.entries(membersOf(content)) : []),
      ]
      const found = new Map<string, { area: AreaName; reference: string; key: string }>()
      for (const [member, reference] of texts) {
        const area = contract.areaOf(member)
        if (area === undefined || typeof reference !== 'string') continue
        const key = keyOf(area, regionIn(area), reference)
        found.set(key, { area, reference, key })
      }
      return [...found.values()]
    }

    /** Records of some areas are in one region, whatever the header says. */
    function regionIn(area: AreaName): Region {
      return area === 'mandates' || area === 'collections' ? 'EU' : region
    }

    /**
     * Looks for a reason why the service answers in another way, other than a difference: a state into which others have
     * brought a record, or a record that the capture has not shown.
     */
    async function explain(own: [Answer, Answer]): Promise<[Answer, Answer] | 'unjudged' | undefined> {
      const code = codeOf(entry.status, content)
      const ownCode = codeOf(own[0].status, own[0].body)
      if (isVague) return 'unjudged'
      if (entry.status === 401 || own[0].status === 401)
        return isNearEnd() || isUnknownToken(code) ? 'unjudged' : undefined
      if (named.some(({ key }) => isDoubtful(key))) return 'unjudged'
      if (!isAccepted && own[0].status >= 400 && hasOtherFault()) return 'unjudged'
      if (code === 'ORIGIN_NOT_ALLOWED' && operation?.codes.includes(code)) return 'unjudged'
      if (code === 'OPERATION_SUNSET') return 'unjudged'
      const isOfState = (status: number, text: string | undefined) =>
        status === 409 || (status === 404 && text !== 'ROUTE_NOT_FOUND') || text === 'INCONSISTENT_BILL_UPDATE'
      if (!isOfState(entry.status, code) && !isOfState(own[0].status, ownCode)) return undefined
      for (const { area, reference } of named) {
        const tried = await tryStates(area, reference, ownCode)
        if (tried !== undefined) return tried
      }
      // Another record can have the reference, or have used the mandate.
      const isCreation = operation?.status === 201 && isSuccess(own[0].status)
      if (isCreation && entry.status === 409 && code !== undefined && operation?.codes.includes(code as never))
        return 'unjudged'
      const missing = contract.areaOf(String(membersOf(own[0].body).field))
      const isPossible = isAccepted ? entry.answer.kind === 'unknown' : isOfState(entry.status, code)
      const isUnseen = isPossible && named.some(({ area, key }) => area === missing && !group.absent.has(key))
      return isUnseen && own[0].status === 404 ? 'unjudged' : undefined
    }

    function isNearEnd(): boolean {
      const end = entry.bearer === undefined ? undefined : group.tokens.get(entry.bearer)?.end
      return end !== undefined && entry.at !== undefined && Math.abs(end - entry.at) < 60_000
    }

    /** Whether nothing is known of the token, and only the reason of its refusal differs. */
    function isUnknownToken(code: string | undefined): boolean {
      const isKnown = entry.bearer !== undefined && group.tokens.has(entry.bearer)
      return !isKnown && !isToken && (code === 'EXPIRED_TOKEN' || code === 'INVALID_TOKEN' || code === 'MISSING_TOKEN')
    }

    function isDoubtful(key: string): boolean {
      const known = group.known.get(key)
      return known !== undefined && (known.isDisputed || isOverlapping(known.last, entry))
    }

    /** Whether the value that the service refuses is one that the sandbox refuses, too: the order of checks is not promised. */
    function hasOtherFault(): boolean {
      const { field } = membersOf(content)
      const body = entry.body.kind === 'json' ? entry.body.value : undefined
      if (typeof field !== 'string' || operation?.body === undefined) return false
      return faultsOf(operation.body, body).some(path => path.join('.') === field)
    }

    /** Asks again with a record in each state that others could have brought it to. */
    async function tryStates(
      area: AreaName,
      reference: string,
      ownCode: string | undefined,
    ): Promise<[Answer, Answer] | undefined> {
      const lifecycle = (areas[area] as Area).lifecycle
      const isMissing = ends[0].find(area, regionIn(area), reference) === undefined
      const isNew =
        operation?.area === area &&
        operation.status === 201 &&
        params[contract.references.get(area) as string] === undefined
      const isAbsent =
        group.absent.has(keyOf(area, regionIn(area), reference)) ||
        ends[0].tenant[area].find(String(ends[0].translate(reference))).length > 0
      if (isMissing && (isNew || isAbsent || !ownCode?.endsWith('_NOT_FOUND') || entry.status === 404)) return undefined
      const shown =
        operation?.record !== undefined && !operation.isList && operation.area === area && isAccepted
          ? membersOf(content)
          : undefined
      const stored = ends[0].find(area, regionIn(area), reference)?.record
      const base =
        stored === undefined
          ? (shown ?? madeUp(area, reference))
          : { ...stored, [contract.references.get(area) as string]: reference }
      if (base === undefined || (isMissing && shown !== undefined && !canAdopt(area, shown))) return undefined
      const present = String(base.status)
      // Others can have acted before the time did.
      const seen = String(group.known.get(keyOf(area, regionIn(area), reference))?.record?.status ?? present)
      const states =
        lifecycle === undefined
          ? [present]
          : isMissing
            ? [present, ...lifecycle.states]
            : new Set([...reachable(lifecycle.transitions, present), ...reachable(lifecycle.transitions, seen)])
      if (isMissing) know(area, regionIn(area), reference, undefined).isMadeUp = shown === undefined
      for (const status of states) {
        if (++trials > MOST_TRIALS) return undefined
        const record = lifecycle === undefined ? base : { ...base, status }
        store(area, regionOfRecord(record, regionIn(area)), record, memberNames(area), undefined)
        const first = await ask(0)
        if (!isSameOutcome(entry, first)) continue
        know(area, regionIn(area), reference, undefined).record = record
        return [first, await ask(1)]
      }
      if (stored !== undefined) store(area, regionIn(area), base, memberNames(area), undefined)
      return undefined
    }

    /** Makes up a record that the capture refers to, and has not shown. */
    function madeUp(area: AreaName, reference: string): Json | undefined {
      const schema = contract.operations.find(
        one => one.area === area && one.record !== undefined && !one.isList,
      )?.record
      if (schema === undefined) return undefined
      const currency = area === 'mandates' || area === 'collections' ? {} : { currency: CURRENCY_OF[region] }
      return {
        ...exampleOf(ends[0].tenant, 0, schema),
        ...currency,
        [contract.references.get(area) as string]: reference,
      }
    }

    // -------------------------------------------------------------------------------------------------- comparisons

    function compareRefusal(own: readonly [Answer, Answer]): Difference[] {
      const found = refusalDifferences(entry, operation, isBare ? undefined : own[0])
      // Each fault of a request can be the one that is answered.
      const isOther = found.length === 1 && found[0]?.what === 'another field' && hasOtherFault()
      return [...(isOther ? [] : found), ...headerDifferences(entry, own[0])]
    }

    /** Lists all differences of an accepted request, and adopts the records of its answer. */
    async function compareSuccess(own: [Answer, Answer]): Promise<Difference[]> {
      const first = successDifference(entry, operation, own[0])
      const headers = headerDifferences(entry, own[0])
      // Most reads show what the sandbox has.
      if (isPlain && first === undefined && content !== undefined) {
        for (const { key } of named) touch(group.known.get(key))
        return headers
      }
      if (
        first !== undefined ||
        operation === undefined ||
        own[0].body === undefined ||
        content === undefined ||
        entry.method === 'HEAD'
      ) {
        adoptAll()
        return [...(first === undefined ? [] : [first]), ...headers]
      }
      const found = operation.isList
        ? []
        : recordDifferences(content, own[0].body, own[1].body, operation.answer, false)
      if (operation.isList) found.push(...listed().flatMap(recordDifferencesInList))
      if (isToken) noteToken(own)
      found.push(...adoptAll())
      if (operation.isList) {
        const inList = await listDifferences({
          entry,
          operation,
          group,
          ask: askAgain,
          isDoubtful: reference => isDoubtful(keyOf(operation.area as AreaName, region, reference)),
          reference: contract.references.get(operation.area as AreaName) as string,
          region,
        })
        // Records that differ explain a page that does.
        if (found.length === 0) found.push(...inList)
      }
      return [...found, ...headers]
    }

    async function askAgain(at: number, search: string): Promise<Answer> {
      const end = ends[at] as End
      return end.ask(toOutgoing({ ...entry, search }, match.path, end, credentials[at] as never, false), true)
    }

    /** Returns the records of a list that the sandbox has in another way, or not at all. */
    function listed(): Json[] {
      const { data } = membersOf(content)
      return Array.isArray(data) ? data.map(membersOf).filter(record => !isAsStored(record)) : []
    }

    function isAsStored(record: Json): boolean {
      const { area, record: schema } = operation as Operation & { area: AreaName }
      const reference = record[contract.references.get(area) as string]
      const known = typeof reference === 'string' && group.known.get(keyOf(area, regionIn(area), reference))
      if (!known || !ends[0].has(area, known.region, record, schema?.properties)) return false
      touch(known)
      return true
    }

    function recordDifferencesInList(record: Json): Difference[] {
      const { area, record: schema } = operation as Operation & { area: AreaName }
      const reference = record[contract.references.get(area) as string]
      if (typeof reference !== 'string' || schema === undefined) return []
      const stored = ends.map(end => end.find(area, region, reference)?.record)
      if (stored[0] === undefined) return faultsOf(schema, record).map(path => faultDifference(schema, path, record))
      const [early, late] = stored.map(one => one && pick(one, schema.properties))
      return recordDifferences(record, early, late ?? early, schema, true)
    }

    function faultDifference(
      schema: Operation['answer'],
      path: readonly (string | number)[],
      value: unknown,
    ): Difference {
      const given = path.reduce<unknown>(
        (part, name) => (Object.hasOwn(Object(part), name) ? Object(part)[name] : undefined),
        value,
      )
      return memberDifference(
        operation as Operation,
        schema,
        path,
        given === undefined ? 'is absent' : 'has another form',
        given,
      )
    }

    /** Compares an answer by its schema only. */
    function schemaDifferences(): Difference[] {
      if (operation === undefined || content === undefined || entry.method === 'HEAD') return []
      return faultsOf(operation.answer, content).map(path => faultDifference(operation.answer, path, content))
    }

    function recordDifferences(
      given: unknown,
      early: unknown,
      late: unknown,
      schema: Operation['answer'],
      isInList: boolean,
    ): Difference[] {
      const { area } = operation as Operation
      const [first, second] = [membersOf(early), membersOf(late)]
      const reference = area === undefined ? undefined : membersOf(given)[contract.references.get(area) as string]
      const key =
        area === undefined || typeof reference !== 'string' ? undefined : keyOf(area, regionIn(area), reference)
      const known = key === undefined ? undefined : group.known.get(key)
      if (known !== undefined && (known.isDisputed || known.isMadeUp || isOverlapping(known.last, entry))) {
        return faultsOf(schema, given)
          .map(path => faultDifference(schema, path, given))
          .filter(() => !known.isDisputed)
      }
      const { status } = membersOf(given)
      const isMoved = first.status !== second.status
      // Of two states, the one that the service shows.
      const [from, to] = isMoved ? (status === second.status ? [late, late] : [early, early]) : [early, late]
      const isRead = entry.method === 'GET'
      const isSame =
        known?.record !== undefined &&
        key !== undefined &&
        ends.every((end, at) => end.find(known.area, known.region, known.reference)?.record === known.marks[at])
      const sent = membersOf(entry.body.kind === 'json' ? entry.body.value : undefined)
      const isShared = area !== undefined && (areas[area] as Area).lifecycle === undefined
      const vague = named.some(({ key }) => group.known.get(key)?.isMadeUp === true)
      const differing = memberDifferences(given, from, to, {
        operation: operation as Operation,
        schema,
        ends,
        tolerance: isSame ? 0 : TOLERANCE,
        isTimeless: !isTimed,
        isUnknown: ([name]) =>
          (name !== undefined &&
            known?.isPartial === true &&
            !isInList &&
            !isInSummary(area as AreaName, String(name))) ||
          (vague && name !== undefined && name !== 'status' && !Object.hasOwn(sent, name)) ||
          (isShared &&
            name !== undefined &&
            name !== contract.references.get(area) &&
            !Object.hasOwn(sent, name) &&
            isValidMember(schema, String(name), membersOf(given)[String(name)])),
      })
      if (differing.length === 0) return []
      if (
        isRead &&
        known?.record !== undefined &&
        isChangedByOthers(
          known,
          membersOf(given),
          first,
          differing.map(({ path }) => String(path[0])),
        )
      )
        return []
      if (!isTimed && isRead && differing.every(({ path }) => contract.isChanging(area as AreaName, String(path[0]))))
        return []
      if (known !== undefined) known.isDisputed = true
      else if (key !== undefined && area !== undefined)
        know(area, regionIn(area), reference as string, entry).isDisputed = true
      // The other members follow from the state.
      const states = differing.filter(({ path }) => path[0] === 'status')
      return states.length > 0 ? states : differing
    }

    function isInSummary(area: AreaName, member: string): boolean {
      const list = contract.operations.find(one => one.area === area && one.isList)
      return list?.record?.properties[member] !== undefined
    }

    /** Whether others can have changed a record: a transition that is legal, and not one that only time makes. */
    function isChangedByOthers(
      { area, reference, record = {} }: Known,
      given: Json,
      own: Json,
      members: readonly string[],
    ): boolean {
      const { transitions } = (areas[area] as Area).lifecycle ?? {}
      const [before, after] = [record.updatedAt, given.updatedAt].map(text => parseInstant(String(text)))
      if (transitions === undefined || before === undefined || after === undefined || after <= before) return false
      if (entry.at !== undefined && after > entry.at + TOLERANCE) return false
      if (!members.every(member => contract.isChanging(area, member))) return false
      const [from, to] = [String(record.status), String(given.status)]
      if (from === to)
        return (
          !members.includes('status') &&
          own.status === to &&
          members.some(member => member !== 'updatedAt' && member !== 'reasonCode')
        )
      if (!reachable(transitions, from).includes(to)) return false
      // Its next transition fails, since it refers to a record that the capture has not shown.
      const isParked = ends.some(
        end => (end.find(area, regionIn(area), reference) as StatefulEntry<Json> | undefined)?.failure !== undefined,
      )
      return isParked || !ends[0].comingStates(area, record).includes(to)
    }

    function noteToken(own: readonly Answer[]) {
      if (entry.issued === undefined) return
      const lifetime = membersOf(content).expires_in
      const end = (entry.at ?? 0) + entry.milliseconds + (typeof lifetime === 'number' ? lifetime * 1000 : 0)
      group.tokens.set(entry.issued, { own: own.map(({ body }) => String(membersOf(body).access_token)), end })
    }

    // ----------------------------------------------------------------------------------------------------- adoption

    /** Marks the records of a request whose outcome differs. */
    function dispute() {
      for (const { area, reference } of named) {
        const isOther = operation?.area !== area
        if (!isOther) know(area, regionIn(area), reference, isAccepted ? entry : undefined).isDisputed = true
      }
    }

    function know(area: AreaName, where: Region, reference: string, creation: Entry | undefined): Known {
      const key = keyOf(area, where, reference)
      const known = group.known.get(key) ?? {
        area,
        region: where,
        reference,
        record: undefined,
        marks: [],
        last: entry,
        creation,
        isMadeUp: false,
        isDisputed: false,
        isPartial: false,
      }
      group.known.set(key, known)
      group.absent.delete(key)
      return known
    }

    /** Brings the sandbox to the records of an answer. Returns what no record of the sandbox could be. */
    function adoptAll(isDisputed = false): Difference[] {
      if (!isAccepted || operation === undefined) return []
      if (entry.method !== 'GET' && entry.method !== 'HEAD') {
        group.writes.push(entry)
        if (group.writes.length > LATEST_WRITES) group.writes.shift()
      }
      const touched = named
      if (operation.method !== 'GET') for (const { key } of touched) touch(group.known.get(key))
      const { area, record: schema } = operation
      if (entry.method === 'HEAD' || area === undefined) return []
      if (schema === undefined || content === undefined) {
        for (const one of touched) if (one.area === area && operation.method !== 'GET') refresh(one)
        return []
      }
      const records = operation.isList ? listed() : [membersOf(content)]
      return records.flatMap((record, at) => adopt(area, record, schema, at, isDisputed && !operation.isList))
    }

    function touch(known: Known | undefined) {
      if (known !== undefined && !isBefore(entry, known.last)) known.last = entry
    }

    /** Notes the state of a record that an answer without it has changed. */
    function refresh({ area, reference, key }: { area: AreaName; reference: string; key: string }) {
      const [known, own] = [group.known.get(key), ends[1].find(area, regionIn(area), reference)?.record]
      if (known === undefined || own === undefined) return
      known.record = pick(ends[1].original(own) as Json, memberNames(area))
    }

    function canAdopt(area: AreaName, record: Json): boolean {
      return isValid((areas[area] as Area).record, record)
    }

    function adopt(
      area: AreaName,
      given: Json,
      schema: Operation['answer'],
      place: number,
      isDisputed: boolean,
    ): Difference[] {
      const reference = given[contract.references.get(area) as string]
      if (typeof reference !== 'string') return []
      const where = regionOfRecord(given, regionIn(area))
      const own = ends[0].find(area, where, reference)?.record
      const names = schema.properties as Readonly<Record<string, unknown>>
      const record = repaired(area, given, own, schema)
      if (record === undefined) return []
      const found = own === undefined ? seedDifferences(area, where, record, schema) : []
      const creation = operation?.status === 201 && !operation.isList ? entry : undefined
      const known = know(area, where, reference, creation)
      if (found.length > 0 || isDisputed) known.isDisputed = true
      // A summary leaves members out, which the sandbox has if it is in the same state.
      const like = ends.map(end => end.find(area, where, reference)?.record).find(one => one?.status === record.status)
      const others = Object.entries(like ?? {}).filter(([name]) => !Object.hasOwn(names, name))
      const full = { ...pick(Object.fromEntries(others), memberNames(area)), ...record }
      const isSummary =
        operation?.isList === true && Object.keys(memberNames(area)).some(name => !Object.hasOwn(names, name))
      known.isMadeUp = false
      known.isPartial = isSummary && (like === undefined || known.isPartial)
      known.record = full
      const shown = like === undefined ? names : memberNames(area)
      known.marks = store(area, where, full, shown, own !== undefined || creation !== undefined ? undefined : place)
      touch(known)
      return found
    }

    /** Returns a record that the sandbox can hold: of a value that it refuses, it keeps its own. */
    function repaired(
      area: AreaName,
      given: Json,
      own: Json | undefined,
      schema: Operation['answer'],
    ): Json | undefined {
      const record = pick(given, schema.properties)
      if (isValid(schema, record)) return record
      if (own === undefined) return undefined
      const faulty = new Set(faultsOf(schema, record).map(([name]) => String(name)))
      const kept = { ...record, ...Object.fromEntries(Object.entries(own).filter(([name]) => faulty.has(name))) }
      return canAdopt(area, { ...own, ...kept }) ? kept : undefined
    }

    /** Stores a record at both ends. Returns the stored records. */
    function store(
      area: AreaName,
      where: Region,
      record: Json,
      shown: Readonly<Record<string, unknown>>,
      place: number | undefined,
    ): readonly unknown[] {
      const sequence = place === undefined ? undefined : --group.lowest
      const adopted = { area, region: where, record, shown, sequence, createdAt: ends[0].tenant.clock.now() }
      const first = ends[0].adopt(adopted)
      return [first.stored, ends[1].adopt(adopted, first.isIdle).stored]
    }

    /** Holds a record that was there before the capture against the rules of seeded records. */
    function seedDifferences(area: AreaName, where: Region, record: Json, schema: Operation['answer']): Difference[] {
      const found = (reference: string) => ends[0].find('mandates', 'EU', reference)?.record
      const mandates = {
        find: (mandateReference: string) =>
          found(mandateReference) ?? { mandateReference, type: 'RECURRING', status: 'ACTIVE', debtor: { name: '-' } },
      }
      try {
        ends[0].tenant[area].stage([{ region: where, ...record }] as never, 'x', { mandates } as never)
        return []
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 400 || error.field === null) return []
        const path = error.field.split('.').slice(2)
        const seen = path.reduce<unknown>((part, name) => Object(part)[name], record)
        return [
          {
            place: placeOfMember(operation as Operation, schema, path, record),
            what: `${path.join('.')} is one that the sandbox refuses`,
            seen,
          },
        ]
      }
    }

    function memberNames(area: AreaName): Readonly<Record<string, unknown>> {
      return (
        contract.operations.find(one => one.area === area && one.record !== undefined && !one.isList)?.record
          ?.properties ?? (areas[area] as Area).record.properties
      )
    }
  }
}

/** Whether a refusal comes from the circumstances: too many requests, or a failure of the service. */
const isDisturbance = ({ status }: Entry) => status === 429 || status >= 500

/** Whether the capture has not kept a file, and its content was refused. */
const isLost = ({ body, status }: Entry) =>
  body.kind === 'upload' && status >= 400 && body.files.some(({ content }) => content === undefined)

const isRegion = (text: string | undefined): text is Region => REGIONS.includes(text as Region)

/** Returns the region of a request. A capture can lack all headers. */
function regionOfEntry({ headers }: Entry): Region {
  return isRegion(headers['x-region']) ? headers['x-region'] : 'EU'
}

/** A currency has one region. */
function regionOfRecord({ currency }: Json, otherwise: Region): Region {
  return Object.values(CURRENCY_OF).includes(currency as never) ? regionOf(currency as never) : otherwise
}

const pick = (record: Json, names: object): Json =>
  Object.fromEntries(Object.entries(record).filter(([name]) => Object.hasOwn(names, name)))

const isValidMember = (schema: Operation['answer'], name: string, value: unknown) => {
  const member = memberAt(schema, [name])
  return member !== undefined && (value === undefined || isValid(member, value))
}

/** Lists the states that can follow a state, by any number of transitions. */
function reachable(transitions: Lifecycle, from: string): string[] {
  const reached = new Set(legalMoves(transitions, from).map(({ to }) => to))
  // A set also yields what is added meanwhile.
  for (const state of reached) for (const { to } of legalMoves(transitions, state)) reached.add(to)
  return [...reached]
}

/** Returns the facts of an answer, as coverage counts them. */
function factsOf(status: number, content: unknown, operation: Operation | undefined, { search }: Entry): Fact[] {
  const code = codeOf(status, content)
  if (status >= 400) return [`status ${status}`, ...(code === undefined ? [] : [`errorCode ${code}` as Fact])]
  const { data, ...record } = membersOf(content)
  const records = Array.isArray(data) ? data.map(membersOf) : operation?.record === undefined ? [] : [record]
  const possible = operation?.area === undefined ? [] : ((areas[operation.area] as Area).lifecycle?.states ?? [])
  const states = possible.filter(state => records.some(one => one.status === state))
  const page: Fact[] = Array.isArray(data)
    ? [
        /[?&]cursor=/.test(search) ? 'page following' : 'page first',
        ...(data.length === 0 ? (['page empty'] as const) : []),
      ]
    : []
  return [`status ${status}`, ...states.map((state): Fact => `state ${state}`), ...page]
}
