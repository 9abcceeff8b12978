import { MASK } from '../http/masking.js'
import type { Json } from './contract.js'

/** A member that differs. Undefined: it is absent. */
export interface Difference {
  readonly path: readonly string[]
  readonly service: unknown
  readonly sandbox: unknown
}

/** The members that a server makes: they are paired when they first appear. */
const MADE = /^(?:access_token|refresh_token|documentId|nextCursor|payoutLinkId|sha256|url)$/
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/
/** The clocks of the service and the sandbox can differ by this time, in milliseconds. */
export const HOUR = 3_600_000

export type Pairs = ReturnType<typeof createPairs>

/** Creates the pairs of values that the service and the sandbox have made for the same thing. */
export function createPairs() {
  const [ours, theirs] = [new Map<string, string>(), new Map<string, string>()]
  /** The instants that each record has shown, by their members. */
  const instants = new Map<string, Map<string, readonly [service: string, sandbox: string]>>()
  return {
    /** Returns the value of the sandbox for one of the service, which can be the same. */
    ours: (value: string): string => ours.get(value) ?? value,
    theirs: (value: string): string => theirs.get(value) ?? value,
    has: (value: string): boolean => ours.has(value),
    /** Pairs two values. Returns whether neither is paired with another one. */
    pair(service: string, sandbox: string): boolean {
      if (ours.get(service) === sandbox) return true
      if (ours.has(service) || theirs.has(sandbox)) return false
      ours.set(service, sandbox)
      theirs.set(sandbox, service)
      return true
    },
    /** Whether two instants can be the same moment. One that a record has shown stays. */
    isSameInstant(record: string, member: string, service: string, sandbox: string): boolean {
      const shown = instants.get(record) ?? new Map()
      const known = shown.get(member)
      if (known?.[1] === sandbox && service !== sandbox) return known[0] === service
      const isSame = Math.abs(Date.parse(service) - Date.parse(sandbox)) <= HOUR
      if (isSame) instants.set(record, shown.set(member, [service, sandbox]))
      return isSame
    },
    forgetInstants: (record: string): unknown => instants.delete(record),
  }
}

/**
 * Lists the members that differ.
 * @param record the key of the record
 */
export function differencesOf(
  service: unknown,
  sandbox: unknown,
  record: string,
  pairs: Pairs,
  path: readonly string[] = [],
): Difference[] {
  if (service !== null && sandbox !== null && typeof service === 'object' && typeof sandbox === 'object') {
    const names = new Set([...Object.keys(service), ...Object.keys(sandbox)])
    const [theirs, ours] = [service, sandbox] as Record<string, unknown>[]
    return [...names].flatMap(name => differencesOf(theirs?.[name], ours?.[name], record, pairs, [...path, name]))
  }
  if (typeof service === 'string' && typeof sandbox === 'string') {
    // The capture hides it.
    if (service === MASK) return []
    if (MADE.test(path.at(-1) ?? '') && pairs.pair(service, sandbox)) return []
    const isInstant = INSTANT.test(service) && INSTANT.test(sandbox)
    if (isInstant && pairs.isSameInstant(record, path.join('.'), service, sandbox)) return []
  }
  return service === sandbox ? [] : [{ path, service, sandbox }]
}

/** Returns the form of a value: differences of one form have one cause. */
export function formOf(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value) ?? ''
  if (/^[A-Z_]+$/.test(value)) return value
  return value
    .replace(/\p{Lu}+/gu, 'A')
    .replace(/\p{Ll}+/gu, 'a')
    .replace(/\d+/g, '9')
}

/** The headers that are compared. A service sends the optional ones when it wants to. */
const HEADERS = ['allow', 'cache-control', 'location', 'retry-after', 'www-authenticate', 'x-request-id']
const OPTIONAL_HEADERS = ['deprecation', 'sunset']
/** The part of a header that is the same for each server. */
const COMPARABLE: Readonly<Record<string, (value: string) => string | undefined>> = {
  allow: value =>
    value
      .split(/\s*,\s*/)
      .sort()
      .join(),
  'cache-control': value => value,
  'www-authenticate': value => /error="\w+"/.exec(value)?.[0],
}

/**
 * Lists the headers that differ.
 * @param ours undefined: the sandbox has not been asked
 * @param named the headers of the document for this answer
 */
export function headerDifferences(
  theirs: Readonly<Record<string, string>>,
  ours: Readonly<Record<string, unknown>> | undefined,
  named: ReadonlyMap<string, Json>,
): Difference[] {
  const required = (ours === undefined ? ['retry-after'] : HEADERS).flatMap(name => {
    const [service, sandbox] = [theirs[name], ours === undefined ? named.get(name)?.example : ours[name]]
    const part = COMPARABLE[name] ?? (() => '')
    const isSame =
      service === undefined || sandbox === undefined ? service === sandbox : part(service) === part(String(sandbox))
    return isSame ? [] : [{ path: [name], service, sandbox }]
  })
  const optional = OPTIONAL_HEADERS.flatMap(name => {
    const [service, sandbox] = [theirs[name], named.get(name)?.example]
    return service === undefined || formOf(service) === formOf(sandbox) ? [] : [{ path: [name], service, sandbox }]
  })
  return [...required, ...optional]
}

/** A record as the service has shown it. */
export interface Known {
  /** Whether it was there before the capture. */
  readonly isPrior: boolean
  readonly shown: Json
  /** Whether it differs: nothing is said of its state until the service shows it again. */
  isOff: boolean
}

interface Page {
  /** The records by the references of the service. */
  readonly listed: ReadonlyMap<string, Json>
  readonly own: ReadonlyMap<string, Json>
  known(reference: string): Known | undefined
  /** Whether some records of the kind are not known whole. */
  readonly isUnsure: boolean
  readonly search: string
}

/** Returns the difference of two pages of a list, but that of their records: which they are, their order, and the totals. */
export function pageDifference(
  theirs: Json,
  ours: Json,
  { listed, own, known, isUnsure, search }: Page,
): Difference | undefined {
  const isPartial = theirs.hasMore || ours.hasMore || search.includes('cursor=')
  // The bounds of pages move with records that are not known.
  if (isPartial && isUnsure) return undefined
  // Others can have changed a record meanwhile, so that a filter takes it or not.
  const isNewer = (one: string) => listed.get(one).updatedAt > known(one)?.shown.updatedAt
  const isFiltered = /[?&](?!limit=|cursor=)/.test(search)
  const extra = [...listed.keys()].filter(one => !own.has(one) && !known(one)?.isOff && !isNewer(one))
  if (extra.length > 0) return { path: ['data'], service: extra, sandbox: '(not listed)' }
  const absent = [...own.keys()].filter(one => !listed.has(one) && !known(one)?.isOff && !isFiltered)
  if (absent.length > 0) return { path: ['data'], service: '(not listed)', sandbox: absent }
  const isOrdered = (one: string) => listed.has(one) && own.has(one) && known(one)?.isPrior === false
  const [service = [], sandbox = []] = [listed, own].map(page => [...page.keys()].filter(isOrdered))
  const at = service.findIndex((one, index) => one !== sandbox[index])
  if (at >= 0) return { path: ['data'], service: service.slice(at, at + 3), sandbox: sandbox.slice(at, at + 3) }

  const envelope = ({ data: _, nextCursor, ...page }: Json) => ({
    ...page,
    next: nextCursor === null ? 'null' : typeof nextCursor,
  })
  const totalCount = ours.totalCount + listed.size - own.size
  // A total can count records that the capture does not show.
  const isLonger = isPartial && theirs.totalCount > totalCount
  const expected = isLonger
    ? { totalCount: theirs.totalCount, ...(theirs.hasMore && { hasMore: true, nextCursor: '' }) }
    : { totalCount }
  const [found] = differencesOf(envelope(theirs), envelope({ ...ours, ...expected }), '', createPairs())
  return found?.path[0] === 'next'
    ? { path: ['nextCursor'], service: theirs.nextCursor, sandbox: ours.nextCursor }
    : found
}
