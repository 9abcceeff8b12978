import { isDeepStrictEqual } from 'node:util'
import type { Logger } from 'pino'
import { errors, quote } from './core/errors.js'
import type { DataFolder, KeptTenant, TenantFile } from './data-folder.js'
import { DataFolderError } from './data-folder.js'
import type { Fixtures } from './fixtures.js'
import type { Ledger } from './gate.js'
import type { RequestLine } from './recording.js'
import { toLine } from './recording.js'
import { startReplay } from './replay.js'
import type { Identity, Sandbox, Tenant, Watcher } from './sandbox.js'
import type { State } from './state.js'

/** What the data folder keeps of a tenant, beside the requests since. */
interface Snapshot {
  readonly identity: Identity
  /** The real time, RFC 3339 with milliseconds, that the clock of the state stands for. */
  readonly savedAt: string
  /** Where payout links pointed. */
  readonly publicUrl: string
  readonly state: State
}

/** Keeps every tenant in the data folder: a snapshot, and each request since, on the disk before it is applied. */
export interface Storage extends Watcher, Ledger {
  /**
   * Brings back all that is kept, as it was when the process ended.
   * @throws DataFolderError if something cannot be read, or not be understood
   */
  restore(sandbox: Sandbox, fixtures: Fixtures): Promise<void>
  /** Releases the folder, in a state from which the next start is quick. */
  close(): void
}

export interface StorageOptions {
  readonly folder: DataFolder
  readonly logger: Pick<Logger, 'error' | 'info'>
  now(): number
  publicUrl(): string
}

/** How a tenant stands in the folder. */
interface Kept {
  readonly tenant: Tenant
  readonly identity: Identity
  readonly file: TenantFile
  /** Where payout links point, as the folder has it. */
  publicUrl: string
  /** Whether the snapshot is not the whole of it. */
  isBehind: boolean
  /** Whether a new snapshot must come before the next request. */
  isStale: boolean
}

/** What the folder has of a tenant. */
type Stored = Pick<Kept, 'identity' | 'file' | 'publicUrl' | 'isBehind'>

/** The process is to end within seconds: so long, in milliseconds, it may take to write snapshots. */
const CLOSING_MS = 300

export function createStorage({ folder, logger, now, publicUrl }: StorageOptions): Storage {
  const kept = new Map<string, Kept>()
  /** What of them is in the folder, until they are. */
  const found = new Map<string, Stored>()

  const snapshotOf = (identity: Identity, state: State, url: string, realNow: number): Snapshot => ({
    identity,
    savedAt: new Date(realNow).toISOString(),
    publicUrl: url,
    state,
  })

  /** @throws SERVICE_UNAVAILABLE */
  function write<T>(clientId: string, step: () => T): T {
    try {
      return step()
    } catch (error) {
      logger.error({ err: error, clientId }, 'the data folder cannot be written: the request is refused')
      throw errors.unavailable('The data folder cannot be written: nothing was applied.')
    }
  }

  /** A failure leaves the old snapshot and all requests since: nothing is lost by it but room. */
  function compact(one: Kept, realNow: number) {
    const { tenant, identity, file, publicUrl } = one
    try {
      file.compact(snapshotOf(identity, tenant.world.keep(), publicUrl, realNow))
      Object.assign(one, { isBehind: false, isStale: false })
    } catch (error) {
      const { clientId } = tenant
      logger.error({ err: error, clientId }, 'a new snapshot cannot be written: the old one and the log go on')
    }
  }

  function begin(clientId: string, identity: Identity, state: State): Stored {
    const url = publicUrl()
    const file = write(clientId, () => folder.begin(clientId, snapshotOf(identity, state, url, now())))
    return { identity, file, publicUrl: url, isBehind: false }
  }

  /** The state that the requests since a snapshot have led to. */
  async function replay(
    { identity, publicUrl, state }: Snapshot,
    requests: readonly RequestLine[],
    { seed, tokenLifetime }: Sandbox,
    fixtures: Fixtures,
  ): Promise<State> {
    if (requests.length === 0) return state
    const replay = await startReplay({ seed, tokenLifetime, publicUrl, identity, start: state, fixtures })
    for (const request of requests) await replay.apply(request)
    await replay.close()
    return replay.state()
  }

  async function restoreOne(
    { clientId, snapshot: given, entries, file }: KeptTenant,
    sandbox: Sandbox,
    fixtures: Fixtures,
  ) {
    const snapshot = given as Snapshot
    const requests = entries as readonly RequestLine[]
    const urls = requests.map(request => request.publicUrl).filter(url => url !== undefined)
    found.set(clientId, {
      identity: snapshot.identity,
      file,
      publicUrl: urls.at(-1) ?? snapshot.publicUrl,
      isBehind: requests.length > 0,
    })
    try {
      const state = await replay(snapshot, requests, sandbox, fixtures)
      sandbox.adopt(snapshot.identity, state, lastUseOf({ snapshot, entries }))
    } catch (error) {
      throw new DataFolderError(`its tenant ${quote(clientId)} cannot be restored: ${(error as Error).message}`)
    }
  }

  return {
    began(tenant, { how, identity, state }) {
      const { clientId } = tenant
      const stored = (how === 'kept' && found.get(clientId)) || begin(clientId, identity, state())
      found.delete(clientId)
      // A client that is listed may have another secret now.
      const isStale = !isDeepStrictEqual(identity, stored.identity)
      kept.set(clientId, { ...stored, tenant, identity, isStale })
    },
    ended(clientId) {
      try {
        kept.get(clientId)?.file.remove()
      } catch (error) {
        logger.error({ err: error, clientId }, 'the files of a dropped tenant cannot be removed')
      }
      kept.delete(clientId)
    },
    append({ clientId }, request) {
      const one = kept.get(clientId) as Kept
      if (one.file.isLong || one.isStale) compact(one, request.receivedAt)
      const url = publicUrl()
      const line = { ...toLine(request), ...(url !== one.publicUrl && { publicUrl: url }) }
      try {
        write(clientId, () => one.file.append(line))
      } catch (error) {
        // The file may be in a state in which it takes nothing more.
        one.isStale = true
        throw error
      }
      Object.assign(one, { publicUrl: url, isBehind: true })
    },
    async restore(sandbox, fixtures) {
      // In the order of their last use, which is that in which they make room for others.
      const tenants = folder.load().sort((a, b) => lastUseOf(a) - lastUseOf(b))
      for (const tenant of tenants) await restoreOne(tenant, sandbox, fixtures)
      if (tenants.length > 0) logger.info({ tenants: tenants.length }, 'restored what the data folder keeps')
    },
    close() {
      const deadline = now() + CLOSING_MS
      for (const one of kept.values()) {
        const realNow = now()
        if (realNow > deadline) break
        if (!one.isBehind && !one.isStale) continue
        one.tenant.world.clock.sync(realNow)
        compact(one, realNow)
      }
      folder.close()
    },
  }
}

/** The real time that the last state of a tenant stands for, in milliseconds. */
function lastUseOf({ snapshot, entries }: Pick<KeptTenant, 'snapshot' | 'entries'>): number {
  const last = entries.at(-1) as RequestLine | undefined
  return Date.parse(last?.receivedAt ?? (snapshot as Snapshot).savedAt)
}
