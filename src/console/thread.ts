/** One axis of time: requests and events in one order. */
import type { Event, LoggedRequest } from './types.js'

export type Entry =
  | { readonly at: string; readonly request: LoggedRequest }
  | { readonly at: string; readonly event: Event }

/** The order of entries of one time that no request has made: after all requests. */
const LAST = 1e15

/**
 * Puts requests and events in the order of time. At one time, a request comes before the event that it made, and other
 * events after all requests.
 */
export function threadOf(requests: readonly LoggedRequest[], events: readonly Event[]): readonly Entry[] {
  const used = new Set<number>()
  const orderOf = ({ seq, at, cause }: Event) => {
    const maker = requests.find(
      one => one.at === at && one.method !== 'GET' && (one.status ?? 0) < 400 && !used.has(one.seq),
    )
    if (maker === undefined || !['api', 'console'].includes(cause)) return LAST + seq
    used.add(maker.seq)
    return maker.seq + 0.5
  }
  const entries = [
    ...requests.map(request => ({ at: request.at, request, order: request.seq })),
    ...events.map(event => ({ at: event.at, event, order: orderOf(event) })),
  ]
  return entries.sort((one, other) => Date.parse(one.at) - Date.parse(other.at) || one.order - other.order)
}
