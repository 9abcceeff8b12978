import { isDecodable } from '../../http/url.js'
import { kinds } from '../kinds/names.js'

/** A record that a request named. */
export interface NamedRecord {
  /** As in events, such as `payoutLink`. */
  readonly kind: string
  readonly reference: string
}

/** The most records of one request. */
const MOST_NAMED = 20

/**
 * Lists the records that a request created, read or changed, and the records that these name. Of a refused one, these are the records
 * that it named. A list names none.
 */
export function recordsOf({
  path,
  status,
  body,
  responseBody,
}: {
  readonly path: string
  readonly status: number | null
  readonly body: unknown
  readonly responseBody: unknown
}): readonly NamedRecord[] {
  const named = new Map<string, NamedRecord>()
  const add = (kind: string, reference: unknown) => {
    if (typeof reference === 'string' && reference !== '') named.set(`${kind} ${reference}`, { kind, reference })
  }
  const [, area, reference] = /^\/api\/v1\/([^/]+)(?:\/([^/]+))?/.exec(path) ?? []
  const own = kinds.find(kind => kind.path === area)
  if (own && reference !== undefined) add(own.kind, isDecodable(reference) ? decodeURIComponent(reference) : reference)
  const answer = Object((status ?? 0) < 400 ? responseBody : undefined) as Record<string, unknown>
  const isList = Array.isArray(answer.data)
  for (const source of isList ? [] : [answer, Object(body) as Record<string, unknown>]) {
    for (const { kind, reference } of kinds) if (Object.hasOwn(source, reference)) add(kind, source[reference])
  }
  return [...named.values()].slice(0, MOST_NAMED)
}
