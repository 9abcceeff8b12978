import type { Difference, Known } from './compare.js'
import { differencesOf, formOf, HOUR, headerDifferences, pageDifference } from './compare.js'
import type { Contract, Json, Label, Operation, Subject } from './contract.js'
import { keyOf, namedBy, rowOf, subjectOf } from './contract.js'
import type { Entry } from './har.js'
import { isRead, parseJson } from './har.js'
import type { Session } from './session.js'
import { createSessions } from './session.js'
import type { Answer, Client, Target } from './target.js'
import { adopt, control, seed } from './target.js'

export interface Finding {
  readonly entry: number
  readonly operation: string
  /** The members or headers that differ; `status`: one accepts what the other refuses, or in another way. */
  readonly path: string
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

/** An entry with what follows from it. */
interface Exchange {
  readonly entry: Entry
  readonly session: Session
  readonly operation: Operation | undefined
  /** The answer of the service; undefined: it is not JSON. */
  readonly theirs: Json
  readonly region: string
  /** The records that the request names, and those that the answer shows. */
  readonly named: readonly Subject[]
  readonly shown: readonly (readonly [Subject, Json])[]
}

/**
 * Sends the requests of a capture to a sandbox, in order, and compares its answers with the answers of the service.
 * @param only the client of the sandbox that stands for that of the capture; undefined: each stands for itself
 */
export async function replay(
  entries: readonly Entry[],
  target: Target,
  contract: Contract,
  only?: Client,
): Promise<Result> {
  const sessions = createSessions(entries, target, only)
  const findings = new Map<string, Finding>()
  const notMade = new Map<string, string>()
  let adopted = 0

  function exchangeOf(entry: Entry): Exchange {
    const { operation, params } = contract.match(entry.method, entry.path)
    const region = entry.headers['x-region'] ?? ''
    const sent = typeof entry.body === 'string' && parseJson(entry.body)
    const theirs = parseJson(entry.answer)
    const records: Json[] = operation?.isList && Array.isArray(theirs?.data) ? theirs.data : [theirs]
    const shown = records.flatMap((record): [Subject, Json][] => {
      const subject = subjectOf(operation?.kind, region, record)
      return subject === undefined ? [] : [[subject, record]]
    })
    const named = [...namedBy(params, region), ...namedBy(sent, region)]
    return { entry, session: sessions.of(entry), operation, theirs, region, named, shown }
  }

  const knownOf = ({ records }: Session, subject: Subject): Known | undefined => records.get(keyOf(subject))
  const isOff = ({ session, named }: Exchange) => named.some(subject => knownOf(session, subject)?.isOff)

  /** Reports differences of one cause. The same cause in a later entry is counted. */
  function report({ entry, operation }: Exchange, cause: string, all: readonly Difference[], fidelity: Label): void {
    const names = all.map(({ path }) => path.filter(name => !/^\d+$/.test(name)).join('.') || 'body')
    const key = [cause, ...names, ...all.flatMap(one => [formOf(one.service), formOf(one.sandbox)])].join('\n')
    const known = findings.get(key)
    if (known !== undefined) known.more++
    if (known !== undefined || all[0] === undefined) return
    const side = (of: 'service' | 'sandbox') => Object.fromEntries(all.map((one, at) => [names[at], one[of]]))
    const [service, sandbox] = all.length === 1 ? [all[0].service, all[0].sandbox] : [side('service'), side('sandbox')]
    const name = operation?.name ?? `${entry.method} ${entry.path}`
    const facts = { entry: entry.n, operation: name, path: names.join(', '), section: contract.sectionOf(operation) }
    findings.set(key, { ...facts, service, sandbox, fidelity, more: 0 })
  }

  function reportMembers(exchange: Exchange, cause: string, found: readonly Difference[]): void {
    const schema = contract.recordOf(exchange.operation, exchange.entry.status)
    const isDocumented = found.some(({ path }) => contract.memberLabel(schema, path) === 'documented')
    report(exchange, cause, found, isDocumented ? 'documented' : 'assumed')
  }

  function judgeHeaders(exchange: Exchange, ours: Answer | undefined): void {
    const named = contract.headersOf(exchange.operation, exchange.entry.status)
    for (const one of headerDifferences(exchange.entry.answerHeaders, ours?.headers, named))
      report(exchange, 'header', [one], contract.labelOf(named.get(one.path[0] as string)))
  }

  // --------------------------------------------------------------------------------------------------------- records

  function note({ session }: Exchange, subject: Subject, shown: Json, isNowOff: boolean, isPrior = false): void {
    const known = knownOf(session, subject)
    const facts = { isPrior: known?.isPrior ?? isPrior, isOff: isNowOff }
    session.records.set(keyOf(subject), { ...facts, shown: { ...known?.shown, ...shown } })
  }

  /** Gives the sandbox the members of a record that differ from its own. Undefined: the service has no such record. */
  async function give({ session }: Exchange, subject: Subject, theirs: Json, ours: Json): Promise<void> {
    const found = theirs === undefined ? [] : differencesOf(theirs, ours, keyOf(subject), session.pairs)
    if (!target.isOwn || (theirs !== undefined && found.length === 0) || adopted++ >= MOST_ADOPTED) return
    session.pairs.forgetInstants(keyOf(subject))
    const changes = Object.fromEntries(found.map(({ path: [name = ''] }) => [name, theirs[name]]))
    await adopt(
      target,
      session.clientId,
      rowOf(subject.kind).reference,
      subject.kind,
      session.pairs.ours(subject.reference),
      theirs && changes,
    )
  }

  /** Adds a record that the service shows, after those that it names. Returns whether the sandbox has it. */
  async function make(exchange: Exchange, subject: Subject, record: Json, isPrior: boolean): Promise<boolean> {
    const { session, region, operation, entry } = exchange
    await makeShownLater(
      exchange,
      namedBy(record, region).filter(({ kind }) => kind !== subject.kind),
    )
    const schema = contract.recordOf(operation, entry.status)
    const members = contract.seedsOf(subject.kind)
    // An answer has members that a seed has not, such as a `url`. The sandbox refuses those that neither has.
    const given = Object.entries<unknown>({ ...('region' in members && { region }), ...record }).filter(
      ([name]) => name in members || !(name in (schema?.properties ?? {})),
    )
    const refusal = await seed(target, session.clientId, subject.kind, Object.fromEntries(given))
    note(exchange, subject, record, refusal !== undefined, isPrior)
    if (refusal === undefined) return true
    const { path, code, message } = refusal
    notMade.set(keyOf(subject), message)
    const service = path.reduce((value: Json, name) => value?.[name], record)
    // The sandbox can have no such record.
    if (isPrior && path.length > 0 && /^(?:INVALID|MISSING|MALFORMED)/.test(code))
      reportMembers(exchange, `seed ${subject.kind}`, [{ path, service, sandbox: message }])
    return false
  }

  let before: Map<string, readonly [Exchange, Json]> | undefined
  /** Makes records that were there before the capture from later answers. Returns whether it has made any. */
  async function makeShownLater(exchange: Exchange, subjects: readonly Subject[]): Promise<boolean> {
    before ??= recordsBefore()
    let hasMade = false
    for (const subject of subjects) {
      const [later, record] = before.get(keyOf(subject)) ?? []
      if (later?.session !== exchange.session || knownOf(exchange.session, subject)) continue
      hasMade = (await make({ ...later, entry: exchange.entry }, subject, record, true)) || hasMade
      // Until the service shows it, its state is not known.
      note(exchange, subject, {}, true)
    }
    return hasMade
  }

  /** Returns the records that the capture shows and has not created, as it shows them first. */
  function recordsBefore() {
    const found = new Map<string, readonly [Exchange, Json]>()
    const created = new Set<string>()
    for (const entry of entries.filter(({ status }) => status < 300)) {
      const exchange = exchangeOf(entry)
      for (const [subject, record] of exchange.shown) {
        if (entry.status === 201) created.add(keyOf(subject))
        if (!created.has(keyOf(subject)) && !found.has(keyOf(subject))) found.set(keyOf(subject), [exchange, record])
      }
    }
    return found
  }

  /** Whether a record that was read can differ by the time of day, or by others, whose requests are not in the capture. */
  async function isByOthers(
    { session, entry }: Exchange,
    known: Known | undefined,
    theirs: Json,
    ours: Json,
    count: number,
  ) {
    const [service, sandbox] = [Date.parse(theirs.updatedAt), Date.parse(ours.updatedAt)]
    if (!isRead(entry)) return false
    if (theirs.status === ours.status) return count > 1 && service > sandbox
    if (service <= sandbox) return entry.at - sandbox <= HOUR && known?.shown.status === theirs.status
    const { body } = await target.send(control('GET', '/upcoming', session.clientId))
    const isNext = ({ reference, to }: Json) => Object.values(ours).includes(reference) && to === theirs.status
    const due = body.data.find(isNext)
    return due === undefined || Date.parse(due.at) - entry.at <= HOUR
  }

  /** Compares a record that both have, and gives the sandbox what differs. */
  async function judgeRecord(exchange: Exchange, subject: Subject, theirs: Json, ours: Json): Promise<void> {
    const { session, entry } = exchange
    const known = knownOf(session, subject)
    const found = differencesOf(theirs, ours, keyOf(subject), session.pairs)
    const isUnsure = known?.isPrior || known?.isOff || (!isRead(entry) && isOff(exchange)) || entry.isOverlapping
    const isSilent = found.length === 0 || isUnsure || (await isByOthers(exchange, known, theirs, ours, found.length))
    if (!isSilent) reportMembers(exchange, `member ${subject.kind}`, found)
    note(exchange, subject, theirs, !isSilent)
    await give(exchange, subject, theirs, ours)
  }

  // --------------------------------------------------------------------------------------------------------- answers

  async function judgeList(exchange: Exchange, first: Answer, again: () => Promise<Answer>): Promise<void> {
    const { session, entry, theirs, operation, region, shown } = exchange
    const unknown = shown.filter(([subject]) => knownOf(session, subject) === undefined)
    // The newest is the first of a list.
    for (const [subject, record] of unknown.toReversed()) await make(exchange, subject, record, true)
    const { body: ours } = unknown.length > 0 ? await again() : first
    const by = (record: Json) => subjectOf(operation?.kind, region, record) as Subject
    const listed = new Map(shown.map(([{ reference }, record]) => [reference, record]))
    const own = new Map<string, Json>(ours.data.map((one: Json) => [session.pairs.theirs(by(one).reference), one]))
    const known = (reference: string) => knownOf(session, { ...(shown[0]?.[0] ?? by(ours.data[0])), reference })
    const records = [...session.records].filter(([key]) => key.startsWith(`${operation?.kind} `))
    const isUnsure = records.some(([, { isOff, isPrior }]) => isOff || isPrior)
    const found = entry.isOverlapping
      ? undefined
      : pageDifference(theirs, ours, { listed, own, known, isUnsure, search: entry.search })
    if (found !== undefined)
      report(exchange, `page ${operation?.name}`, [found], contract.envelopeLabel(operation, found.path[0] as string))
    else if (theirs.nextCursor && ours.nextCursor) session.pairs.pair(theirs.nextCursor, ours.nextCursor)
    for (const [subject, record] of shown) {
      const mine = own.get(subject.reference)
      if (mine === undefined) note(exchange, subject, record, true)
      else await judgeRecord(exchange, subject, record, mine)
    }
  }

  /** Compares two answers that accept the request. */
  async function judgeAccepted(exchange: Exchange, ours: Answer, again: () => Promise<Answer>): Promise<void> {
    const { entry, operation, theirs, session, named } = exchange
    const { status, answer } = entry
    if (status !== ours.status) {
      const difference = { path: ['status'], service: status, sandbox: ours.status }
      return report(exchange, `status ${operation?.name}`, [difference], contract.statusLabel(operation, ours.status))
    }
    judgeHeaders(exchange, ours)
    if (answer === undefined || entry.method === 'HEAD') return
    if (operation?.isList && Array.isArray(theirs?.data)) return judgeList(exchange, ours, again)
    const [[subject] = []] = exchange.shown
    if (subject !== undefined && ours.body !== undefined) return judgeRecord(exchange, subject, theirs, ours.body)
    const found = differencesOf(theirs ?? answer.slice(0, 100), ours.body ?? '', `entry ${entry.n}`, session.pairs)
    if (found.length === 0) return
    reportMembers(exchange, `member ${operation?.name}`, found)
    if (named[0] !== undefined) note(exchange, named[0], {}, true)
  }

  /** Compares two answers of which one refuses the request. */
  async function judgeRefusal(exchange: Exchange, ours: Answer, isSilent: boolean, isMissing: boolean): Promise<void> {
    const { entry, operation, theirs, session, named, region } = exchange
    const isRefused = entry.status >= 400
    // A conflict can be with a state that the capture does not show.
    if (!isSilent && entry.status !== 409) {
      const [service, sandbox] = [describe(entry.status, theirs), describe(ours.status, ours.body)]
      const label = contract.fieldLabel(operation, (isRefused ? theirs : ours.body)?.field)
      report(
        exchange,
        `refusal ${service} ${sandbox} ${operation?.name}`,
        [{ path: ['status'], service, sandbox }],
        label,
      )
    }
    if (isRead(entry) && !isMissing) return
    // The effects of the change on other records are not known.
    for (const one of isSilent && !isRead(entry) ? session.records.values() : [])
      one.isOff ||= named.some(({ reference }) => Object.values(one.shown).includes(reference))
    const [[shownSubject] = []] = exchange.shown
    const found = (isRefused ? subjectOf(operation?.kind, region, ours.body) : shownSubject) ?? named[0]
    if (found === undefined) return
    const subject = { ...found, reference: session.pairs.theirs(found.reference) }
    const known = knownOf(session, subject)
    const shown = isRefused ? (ours.status === 201 ? undefined : (known?.shown ?? {})) : theirs
    if (!isRefused && shownSubject !== undefined && (known === undefined || known.isOff)) {
      const isMade = await make(exchange, subject, theirs, isMissing)
      note(exchange, subject, {}, !isMade || !isSilent)
      return
    }
    if (isRefused ? ours.body !== undefined : shownSubject !== undefined)
      await give(exchange, subject, shown, isRefused ? ours.body : known?.shown)
    note(exchange, subject, {}, true)
  }

  /** Compares two refusals. */
  function judgeRefusals(exchange: Exchange, ours: Answer): void {
    const { entry, operation, theirs, session } = exchange
    if (entry.answer !== undefined && entry.method !== 'HEAD') {
      const part = (status: number, { message, ...body }: Json) => ({
        status,
        ...body,
        ...(message && { message: '' }),
      })
      const found =
        theirs === undefined
          ? [{ path: [], service: entry.answer.slice(0, 100), sandbox: '(JSON)' }]
          : differencesOf(part(entry.status, theirs), part(ours.status, ours.body), '', session.pairs)
      const isBroken = found.some(({ path, service }) => path.length === 0 || service === undefined)
      // A token that is older than the capture is unknown to the sandbox.
      const isOldToken = entry.status === 401 && sessions.isOld(entry)
      if (found.length > 0 && !isOldToken) {
        report(exchange, `code ${operation?.name}`, found, isBroken ? 'documented' : 'assumed')
        return
      }
    }
    judgeHeaders(exchange, ours)
  }

  async function judge(exchange: Exchange): Promise<void> {
    const { entry, session, named, shown, theirs } = exchange
    const { status } = entry
    const request = status === 429 || status >= 500 ? undefined : await sessions.request(entry, session)
    let ours = request && (await target.send(request))
    sessions.note(entry, session, ours)
    if (request === undefined || ours === undefined) {
      const missing = ['code', 'field', 'message'].filter(name => theirs?.[name] === undefined)
      const found = missing.map(name => ({ path: [name], service: undefined, sandbox: '(required)' }))
      if (status >= 400 && entry.answer !== undefined) report(exchange, 'form', found, 'documented')
      if (status === 429) judgeHeaders(exchange, undefined)
      for (const [subject, record] of status < 400 ? shown : [])
        if (knownOf(session, subject) === undefined) await make(exchange, subject, record, true)
      for (const subject of status === 429 || isRead(entry) ? [] : named) note(exchange, subject, {}, true)
      return
    }
    const again = async () => (ours = await target.send(request))
    const isMissed = (one: Subject) => ours?.body?.field === rowOf(one.kind).reference && !knownOf(session, one)
    const missing = () => (ours?.status === 404 ? named.filter(isMissed) : [])
    if (await makeShownLater(exchange, missing())) await again()
    // A read of a record that was there before shows it.
    const isMissing = missing().length > 0 && (!isRead(entry) || shown.length > 0)
    const isSilent = isMissing || entry.isOverlapping || isOff(exchange)
    const [isAccepted, isOwnAccepted] = [status < 400, ours.status < 400]
    if (isAccepted && isOwnAccepted) await judgeAccepted(exchange, ours, again)
    else if (isAccepted || isOwnAccepted) await judgeRefusal(exchange, ours, isSilent, isMissing)
    else if (!isSilent || (isMissing && status === 404)) judgeRefusals(exchange, ours)
  }

  for (const entry of entries) {
    await target.moveTo(entry.at)
    await judge(exchangeOf(entry))
  }
  return { findings: [...findings.values()], notMade: [...notMade].map(([key, reason]) => `${key}: ${reason}`) }
}

const describe = (status: number, body: Json): string =>
  status < 400 ? String(status) : [status, body?.code, body?.field].filter(Boolean).join(' ')
