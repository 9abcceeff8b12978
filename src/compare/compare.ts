import { isSuccess } from './answers.js'
import type { Group, Run } from './case.js'
import { createGroup } from './case.js'
import type { Capture, Entry } from './har.js'
import { judge } from './judge.js'
import type { Ledger } from './ledger.js'
import { createLedger } from './ledger.js'
import type { Sandbox } from './sandbox.js'
import { createSandbox } from './sandbox.js'

export interface Comparison {
  readonly ledger: Ledger
  readonly sandbox: Pick<Sandbox, 'contract' | 'documented' | 'open'>
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

/** The most clients that are kept at a time. */
const MOST_GROUPS = 200

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
  const { entries, duplicates, malformed } = capture
  const times = entries.flatMap(({ at }) => at ?? [])
  const sandbox = await createSandbox(times.reduce((first, at) => Math.min(first, at), times[0] ?? 0))
  const { contract } = sandbox
  const ledger = createLedger(contract)
  const counts = { compared: 0, unmatched: 0, unanswered: 0, cut: 0 }
  const groups = new Map<string, Group>()
  const environments = new Set<string>()
  const clientOf = groupsOf(entries)
  const isTimed = times.length === entries.length
  const { hasAuthorization, hasSeveral } = clientOf
  const run: Run = { contract, ledger, isTimed, hasAuthorization, hasSeveral, trials: 0 }

  function groupOf(entry: Entry): Group {
    const key = clientOf(entry)
    const group = groups.get(key) ?? createGroup(sandbox.open())
    groups.delete(key)
    groups.set(key, group)
    const [[oldest, { ends }]] = groups as unknown as [[string, Group]]
    if (groups.size > MOST_GROUPS) {
      groups.delete(oldest)
      sandbox.forget(ends)
    }
    return group
  }

  try {
    for (const entry of entries) {
      const isOfHost = host === undefined || new URL(entry.origin).host === host
      const isPreflight = entry.headers['access-control-request-method'] !== undefined
      const match = isOfHost && !isPreflight ? contract.match(entry.method, entry.path) : undefined
      if (match === undefined) counts.unmatched++
      // 304 has the content of a cache, and other 3xx are not of the service.
      else if (entry.status < 200 || (entry.status >= 300 && entry.status < 400)) counts.unanswered++
      else {
        counts.compared++
        if (entry.body.kind === 'unknown' || entry.answer.kind === 'unknown') counts.cut++
        environments.add(entry.origin)
        await judge(run, entry, match, groupOf(entry))
      }
    }
    return read({
      ...{ ledger, sandbox, groups: [...groups.values()], environments: environments.size },
      until: times.reduce((last, at) => Math.max(last, at), times[0] ?? 0),
      entries: { ...counts, duplicates, malformed },
    })
  } finally {
    await sandbox.close()
  }
}

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
  return Object.assign(clientOf, {
    hasAuthorization: (origin: string) => authorized.has(origin),
    hasSeveral: (origin: string) => (clients.get(origin)?.size ?? 0) > 1,
  })
}
