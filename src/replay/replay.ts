import type { AreaName } from '../areas/index.js'
import { maskJson } from '../http/masking.js'
import type { Difference } from './compare.js'
import { createPairs, differencesOf, formOf, HOUR } from './compare.js'
import type { Json, Label, Operation, Subject } from './contract.js'
import * as contract from './contract.js'
import type { Entry } from './har.js'
import { isRead, parseJson } from './har.js'
import type { Known, Session } from './session.js'
import { createSessions } from './session.js'
import type { Answer, Client, Target } from './target.js'
import { adopt, seed } from './target.js'

export interface Finding {
  readonly entry: number
  readonly operation: string
  /** The members or headers that differ; `status`: one accepts what the other refuses, or in another way. */
  readonly path: string
  /** The values, without secrets. Null if absent. */
  readonly service: unknown
  readonly sandbox: unknown
  readonly fidelity: Label
  /** The section of docs/decisions.md on the operation. */
  readonly section: number
  /** The number of later entries with the same difference. */
  more: number
}

export interface Result {
  readonly findings: readonly Finding[]
  /** The records that could not be made, each with the reason. */
  readonly notMade: readonly string[]
}

/** The most states that the sandbox is given: each takes the time of all records. */
const MOST_ADOPTED = 200

/** The headers that are compared. The service documents none of them. */
const HEADERS = ['allow', 'cache-control', 'location', 'retry-after', 'www-authenticate']

/** An entry with the facts that follow from it. */
interface Exchange {
  readonly entry: Entry
  readonly session: Session
  readonly operation: Operation | undefined
  /** The answer of the service, or undefined if it is not JSON. */
  readonly theirs: Json
  readonly region: string
  /** The records that the request names, and those that the answer shows. */
  readonly named: readonly Subject[]
  readonly shown: readonly (readonly [Subject, Json])[]
}

/**
 * Sends the requests of a capture to a sandbox, in order, and compares its answers with the answers of the service.
 * @param only the client of the sandbox for the only one of the capture. If undefined, each stands for itself
 */
export async function replay(entries: readonly Entry[], target: Target, only?: Client): Promise<Result> {
  const sessions = createSessions(entries, target, only)
  const findings = new Map<string, Finding>()
  const notMade = new Map<string, string>()
  let adopted = 0

  function exchangeOf(entry: Entry): Exchange {
    const { operation, params } = contract.match(entry.method, entry.path)
    const region = entry.headers['x-region'] ?? ''
    const theirs = parseJson(entry.answer)
    const records: Json[] = operation?.isList && Array.isArray(theirs?.data) ? theirs.data : [theirs]
    const kinds = operation?.kind === undefined ? [] : [operation.kind]
    const shown = records.flatMap(record =>
      contract.namedBy(record, region, kinds).map(subject => [subject, record] as const),
    )
    const sent = typeof entry.body === 'string' ? parseJson(entry.body) : undefined
    const named = [...contract.namedBy(params, region), ...contract.namedBy(sent, region)]
    return { entry, session: sessions.of(entry), operation, theirs, region, named, shown }
  }

  /** Reports differences of one cause. The same cause in a later entry is counted. */
  function report({ entry, operation }: Exchange, cause: string, all: readonly Difference[], fidelity: Label): void {
    const names = all.map(({ path }) => path.filter(name => !/^\d+$/.test(name)).join('.') || 'body')
    const key = [cause, ...names, ...all.flatMap(one => [formOf(one.service), formOf(one.sandbox)])].join('\n')
    const known = findings.get(key)
    if (known !== undefined) known.more++
    if (known !== undefined || all.length === 0) return
    const side = (of: 'service' | 'sandbox') => {
      const values = all.map(({ path, [of]: value }, at) => [names[at], masked(path.at(-1), value)])
      return all.length === 1 ? values[0]?.[1] : Object.fromEntries(values)
    }
    const name = operation?.name ?? `${entry.method} ${entry.path}`
    const facts = { entry: entry.n, operation: name, path: names.join(', '), section: contract.sectionOf(operation) }
    findings.set(key, { ...facts, service: side('service'), sandbox: side('sandbox'), fidelity, more: 0 })
  }

  function reportMembers(exchange: Exchange, cause: string, found: readonly Difference[]): void {
    const { operation, entry } = exchange
    const isDocumented = found.some(({ path }) => contract.memberLabel(operation, entry.status, path) === 'documented')
    report(exchange, `${cause} ${operation?.kind ?? operation?.name}`, found, isDocumented ? 'documented' : 'assumed')
  }

  /** Compares which headers two answers have. */
  function judgeHeaders(exchange: Exchange, ours: Answer['headers']): void {
    const theirs = exchange.entry.answerHeaders
    for (const name of HEADERS) {
      if ((theirs[name] === undefined) === (ours[name] === undefined)) continue
      report(exchange, 'header', [{ path: [name], service: theirs[name], sandbox: ours[name] }], 'assumed')
    }
  }

  // --------------------------------------------------------------------------------------------------------- records

  const isUnsure = (known: Known | undefined) => known?.isPrior === true || known?.isOff === true

  function note({ session: { records } }: Exchange, { key }: Subject, changes: Partial<Known>): void {
    const known = records.get(key)
    if (known === undefined) records.set(key, { isPrior: false, isOff: false, ...changes })
    else Object.assign(known, changes)
  }

  /** Adds a record that the service shows, after those that it names. */
  async function make(exchange: Exchange, subject: Subject, record: Json, isPrior: boolean): Promise<void> {
    const { session, region } = exchange
    note(exchange, subject, { isPrior, isOff: true })
    await makeShownLater(exchange, contract.namedBy(record, region))
    // An answer has members that a seed has not, such as a `url`.
    const { properties } = contract.rowOf(subject.kind).seeds.items
    const members = Object.entries({ region, ...record }).filter(([name]) => name in properties)
    const refusal = await seed(target, session.clientId, subject.kind, Object.fromEntries(members))
    note(exchange, subject, { isOff: refusal !== undefined })
    if (refusal === undefined) return
    const { path, code, message } = refusal
    notMade.set(subject.key.trim(), message)
    const service = path.reduce((value: Json, name) => value?.[name], record)
    // The sandbox can have no such record.
    if (isPrior && path.length > 0 && /^(?:INVALID|MISSING|MALFORMED)/.test(code))
      reportMembers(exchange, 'seed', [{ path, service, sandbox: message }])
  }

  let before: ReturnType<typeof recordsBefore> | undefined
  /** Makes records that are not known from later answers. Returns whether there are any. */
  async function makeShownLater(exchange: Exchange, subjects: readonly Subject[]): Promise<boolean> {
    const unknown = subjects.filter(subject => !exchange.session.records.has(subject.key))
    if (unknown.length > 0) before ??= recordsBefore()
    for (const subject of unknown) {
      const [later, record] = before?.get(`${exchange.session.clientId} ${subject.key}`) ?? []
      if (later === undefined) continue
      await make({ ...later, entry: exchange.entry }, subject, record, true)
    }
    return unknown.some(subject => exchange.session.records.has(subject.key))
  }

  /** Returns the records of the capture as it shows them first. Undefined if it has created one. */
  function recordsBefore() {
    const found = new Map<string, readonly [Exchange, Json] | undefined>()
    for (const entry of entries.filter(({ status }) => status < 300)) {
      const exchange = exchangeOf(entry)
      for (const [{ key }, record] of exchange.shown) {
        const name = `${exchange.session.clientId} ${key}`
        if (!found.has(name)) found.set(name, entry.method === 'POST' ? undefined : [exchange, record])
      }
    }
    return found
  }

  /** Whether a record that was read can differ by the clocks, or by others, whose requests are not in the capture. */
  function isByOthers({ entry }: Exchange, known: Known | undefined, theirs: Json, ours: Json, count: number): boolean {
    if (!isRead(entry)) return false
    if (theirs.updatedAt > ours.updatedAt) return count > 1
    const isLater = theirs.status !== ours.status && theirs.status === known?.theirs?.status
    return isLater && entry.at - Date.parse(ours.updatedAt) <= HOUR
  }

  /** Compares a record that both have, and gives the sandbox the members that differ. */
  async function judgeRecord(exchange: Exchange, subject: Subject, theirs: Json, ours: Json): Promise<void> {
    const { session, entry, named } = exchange
    const known = session.records.get(subject.key)
    const found = differencesOf(theirs, ours, session.pairs, known)
    const isByUnsure = !isRead(entry) && named.some(one => isUnsure(session.records.get(one.key)))
    const isSilent = isUnsure(known) || isByUnsure || entry.isOverlapping
    const isNew = found.length > 0 && !isSilent && !isByOthers(exchange, known, theirs, ours, found.length)
    if (isNew) reportMembers(exchange, 'member', found)
    note(exchange, subject, { theirs, ours, isOff: isNew })
    if (found.length === 0 || !target.isOwn || adopted++ >= MOST_ADOPTED) return
    const changes = Object.fromEntries(found.map(({ path: [name = ''] }) => [name, theirs[name]]))
    await adopt(target, session.clientId, subject, session.pairs.ours(subject.reference), changes)
  }

  // --------------------------------------------------------------------------------------------------------- answers

  /** Returns the difference of two pages of a list, but not of their records: which they are, their order, and the totals. */
  function pageDifference(exchange: Exchange, kind: AreaName, ours: Json, own: ReadonlyMap<string, Json>) {
    const { session, entry, theirs, region, shown } = exchange
    const isPartial = theirs.hasMore || ours.hasMore || entry.search.includes('cursor=')
    // The bounds of pages move with records that are not known. A total can count some that the capture does not show.
    const isUnsureOf = ([key, known]: [string, Known]) => key.startsWith(kind) && isUnsure(known)
    const isOpen = isPartial && (theirs.totalCount > ours.totalCount || [...session.records].some(isUnsureOf))
    if (isOpen || entry.isOverlapping) return undefined
    const listed = new Map(shown.map(([{ reference }, record]) => [reference, record]))
    const isFiltered = /[?&](?!limit=|cursor=)/.test(entry.search)
    // Others can have changed a record meanwhile, so that a filter takes it or not.
    const isComparable = (one: string) => {
      const known = session.records.get(contract.keyOf(kind, one, region))
      if (known === undefined || isUnsure(known)) return false
      if (listed.has(one) && own.has(one)) return true
      return listed.has(one) ? !(listed.get(one).updatedAt > known.theirs?.updatedAt) : !isFiltered
    }
    const [service = [], sandbox = []] = [listed, own].map(page => [...page.keys()].filter(isComparable))
    const from = [...service, ...sandbox].findIndex((_, at) => service[at] !== sandbox[at])
    const slice = (references: readonly string[]) => references.slice(from, from + 3)
    if (from >= 0) return { path: ['data'], service: slice(service), sandbox: slice(sandbox) }
    const envelope = ({ data: _, nextCursor, ...rest }: Json) => ({ ...rest, nextCursor: nextCursor && '(a cursor)' })
    const totalCount = ours.totalCount + listed.size - own.size
    return differencesOf(envelope(theirs), envelope({ ...ours, totalCount }), createPairs())[0]
  }

  /** Compares two lists. */
  async function judgeList(exchange: Exchange, kind: AreaName, ours: Json): Promise<void> {
    const { session, theirs, shown } = exchange
    const referenceOf = (record: Json) => session.pairs.theirs(record[contract.rowOf(kind).reference])
    const own = new Map<string, Json>(ours.data.map((record: Json) => [referenceOf(record), record]))
    const found = pageDifference(exchange, kind, ours, own)
    if (found !== undefined) reportMembers(exchange, 'page', [found])
    else if (theirs.nextCursor && ours.nextCursor) session.pairs.pair(theirs.nextCursor, ours.nextCursor)
    for (const [subject, record] of shown) {
      const mine = own.get(subject.reference)
      if (mine === undefined) note(exchange, subject, { theirs: record, isOff: true })
      else await judgeRecord(exchange, subject, record, mine)
    }
  }

  /** Compares the contents of two answers that accept the request. */
  async function judgeContent(exchange: Exchange, ours: Json): Promise<void> {
    const { entry, operation, theirs, session, named, shown } = exchange
    for (const subject of named) note(exchange, subject, {})
    if (operation?.kind && operation.isList && Array.isArray(theirs?.data))
      return judgeList(exchange, operation.kind, ours)
    const [[subject] = []] = shown
    if (subject !== undefined && ours !== undefined) return judgeRecord(exchange, subject, theirs, ours)
    const found = differencesOf(theirs ?? entry.answer?.slice(0, 100), ours ?? '', session.pairs)
    if (found.length === 0) return
    reportMembers(exchange, 'answer', found)
    for (const one of named) note(exchange, one, { isOff: true })
  }

  /** Reports different statuses, codes or fields, and adds a record that only the service has. */
  async function judgeOutcome(exchange: Exchange, ours: Answer, isSilent: boolean): Promise<void> {
    const { entry, operation, theirs, session, named, shown } = exchange
    const { status } = entry
    const [isRefused, isOwnRefused] = [status >= 400, ours.status >= 400]
    // A conflict can be with a state that the capture does not show. The sandbox does not know a token from before it.
    const isOfBefore = isOwnRefused ? isRefused && status === 401 && sessions.isOld(entry) : status === 409
    if (!isSilent && !isOfBefore) {
      const [service, sandbox] = [outcomeOf(status, theirs), outcomeOf(ours.status, ours.body)]
      const difference = { path: ['status'], service, sandbox }
      const fieldOf = contract.fieldLabel(operation, (isRefused ? theirs : ours.body)?.field)
      const labelOfBoth = isRefused ? 'assumed' : contract.statusLabel(operation, ours.status)
      report(exchange, operation?.name ?? '', [difference], isRefused === isOwnRefused ? labelOfBoth : fieldOf)
    }
    if (isRefused && isOwnRefused) return
    const [[subject, record] = []] = shown
    const isMissing = subject && isOwnRefused && (ours.status === 404 || !session.records.has(subject.key))
    for (const one of named) note(exchange, one, { isOff: true })
    // The effects of a change on other records are not known.
    for (const one of isSilent && !isRead(entry) ? session.records.values() : [])
      one.isOff ||= named.some(({ reference }) => Object.values(Object(one.theirs)).includes(reference))
    if (isMissing) await make(exchange, subject, record, false)
    if (subject && !isSilent) note(exchange, subject, { isOff: true })
  }

  /** Checks the envelope of an error. Returns whether it has all members. */
  function judgeEnvelope(exchange: Exchange): boolean {
    const { entry, theirs } = exchange
    if (entry.status < 400 || !entry.answer) return true
    const missing = ['code', 'field', 'message'].filter(name => theirs?.[name] === undefined)
    const service = theirs === undefined ? entry.answer.slice(0, 100) : undefined
    const found = missing.map(name => ({ path: [name], service, sandbox: '(required)' }))
    report(exchange, 'envelope', found, 'documented')
    return missing.length === 0
  }

  async function judge(exchange: Exchange): Promise<void> {
    const { entry, session, named, shown, operation } = exchange
    const { status, method, answer } = entry
    const isAnswered = status !== 429 && status < 500
    const isWhole = judgeEnvelope(exchange)
    if (status === 429) judgeHeaders(exchange, { 'retry-after': '1' })
    const request = isAnswered ? await sessions.request(entry, session) : undefined
    const isKnown = ({ key }: Subject) => session.records.has(key)
    const isPrior = (subject: Subject) => operation?.isList || named.some(({ key }) => key === subject.key)
    // The newest is the first of a list.
    for (const [subject, record] of request && method === 'POST' ? [] : shown.toReversed())
      if (!isKnown(subject) && isPrior(subject)) await make(exchange, subject, record, true)
    if (request === undefined) {
      for (const one of status === 429 || isRead(entry) ? [] : named) note(exchange, one, { isOff: true })
      return
    }
    let ours = await target.send(request)
    sessions.note(entry, session, ours)
    const isMissing = ours.status === 404 && status !== 404
    if (isMissing && (await makeShownLater(exchange, named))) ours = await target.send(request)
    const isHidden = isMissing && (method !== 'GET' || answer === undefined)
    const isOff = (one: Subject) => (isKnown(one) ? isUnsure(session.records.get(one.key)) : isHidden)
    const isSilent = !isWhole || entry.isOverlapping || named.some(isOff)
    const isSame = outcomeOf(status, exchange.theirs) === outcomeOf(ours.status, answer ? ours.body : undefined)
    if (!isSame) return judgeOutcome(exchange, ours, isSilent)
    if (status < 400 || !isSilent) judgeHeaders(exchange, ours.headers)
    if (status < 400 && answer !== undefined && method !== 'HEAD') await judgeContent(exchange, ours.body)
  }

  for (const entry of entries) {
    await target.moveTo(entry.at)
    await judge(exchangeOf(entry))
  }
  return { findings: [...findings.values()], notMade: [...notMade].map(([key, reason]) => `${key}: ${reason}`) }
}

/** Masks a value by the name of its member, and by its own. */
function masked(name = 'body', value: unknown): unknown {
  const shown: Json = maskJson({ [name]: value ?? null })
  return shown[name]
}

/** Returns the status, and the code and field of a refusal. */
const outcomeOf = (status: number, body: Json): string =>
  status < 400 ? String(status) : [status, body?.code, body?.field].filter(Boolean).join(' ')
