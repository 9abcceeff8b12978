import { isDeepStrictEqual } from 'node:util'
import type { FastifyBaseLogger } from 'fastify'
import { errors, quote } from '../core/errors.js'
import type { RecordedRequest } from '../recording/file-format.js'
import type { WriteAheadLog } from '../recording/plugin.js'
import type { BuildReplayServer } from '../recording/replay.js'
import { startReplay } from '../recording/replay.js'
import type { Fixtures } from '../tenants/fixtures.js'
import type { Identity, TenantListener, TenantRegistry } from '../tenants/registry.js'
import type { TenantSnapshot } from '../tenants/snapshot.js'
import type { Tenant } from '../tenants/tenant.js'
import type { DataFolder, KeptTenant, TenantFile } from './data-folder.js'
import { DataFolderError } from './data-folder.js'

/** The first document of a tenant's files. The requests since follow it. */
interface StoredSnapshot {
  readonly identity: Identity
  /** The real time of the state's clock, RFC 3339 with milliseconds. */
  readonly savedAt: string
  /** The address of payout links at that time. */
  readonly publicUrl: string
  readonly state: TenantSnapshot
}

/** Keeps every tenant in the data folder: a snapshot, and each request since, on the disk before it is applied. */
export interface Storage extends TenantListener, WriteAheadLog {
  /** Restores all tenants as they were when the process ended. Throws DataFolderError. */
  restore(registry: TenantRegistry): Promise<void>
  /** Releases the folder, in a state from which the next start is quick. */
  close(): void
}

export interface StorageOptions {
  readonly folder: DataFolder
  readonly logger: Pick<FastifyBaseLogger, 'error' | 'info'>
  readonly fixtures: Fixtures
  readonly buildServer: BuildReplayServer
  now(): number
  publicUrl(): string
}

/** The files of a tenant. */
interface StoredTenant {
  readonly identity: Identity
  readonly file: TenantFile
  /** The address of payout links in the files. */
  publicUrl: string
  /** Whether requests follow the snapshot. */
  isBehind: boolean
}

interface OpenTenant extends StoredTenant {
  readonly tenant: Tenant
  /** Whether a new snapshot must come before the next request. */
  isStale: boolean
}

/** The milliseconds that writing snapshots may take while the process ends. */
const CLOSING_MS = 300

export function createStorage(options: StorageOptions): Storage {
  const { folder, logger, fixtures, buildServer, now, publicUrl } = options
  const open = new Map<string, OpenTenant>()
  /** The files of tenants that are being restored. */
  const found = new Map<string, StoredTenant>()

  const snapshotOf = (identity: Identity, state: TenantSnapshot, url: string, realNow: number): StoredSnapshot => ({
    identity,
    savedAt: new Date(realNow).toISOString(),
    publicUrl: url,
    state,
  })

  /** Throws SERVICE_UNAVAILABLE. */
  function write<T>(clientId: string, step: () => T): T {
    try {
      return step()
    } catch (error) {
      logger.error({ err: error, clientId }, 'the data folder cannot be written: the request is refused')
      throw errors.unavailable('The data folder cannot be written: nothing was applied.')
    }
  }

  /** Writes a new snapshot. After a failure the old one and all requests since are still there. */
  function compact(one: OpenTenant, realNow: number) {
    const { tenant, identity, file, publicUrl: url } = one
    try {
      file.compact(snapshotOf(identity, tenant.snapshot(), url, realNow))
      Object.assign(one, { isBehind: false, isStale: false })
    } catch (error) {
      const { clientId } = tenant
      logger.error({ err: error, clientId }, 'a new snapshot cannot be written: the old one and the log go on')
    }
  }

  function begin(clientId: string, identity: Identity, state: TenantSnapshot): StoredTenant {
    const url = publicUrl()
    const file = write(clientId, () => folder.begin(clientId, snapshotOf(identity, state, url, now())))
    return { identity, file, publicUrl: url, isBehind: false }
  }

  /** Returns the state after the requests since a snapshot. */
  async function replay(
    { identity, publicUrl, state }: StoredSnapshot,
    requests: readonly RecordedRequest[],
    { seed, tokenLifetime }: TenantRegistry,
  ): Promise<TenantSnapshot> {
    if (requests.length === 0) return state
    const start = { seed, tokenLifetime, publicUrl, identity, start: state, fixtures }
    const replay = await startReplay(buildServer, start)
    for (const request of requests) await replay.apply(request)
    await replay.close()
    return replay.snapshot()
  }

  async function restoreOne({ clientId, snapshot: given, entries, file }: KeptTenant, registry: TenantRegistry) {
    const snapshot = given as StoredSnapshot
    const requests = entries as readonly RecordedRequest[]
    const urls = requests.map(request => request.publicUrl).filter(url => url !== undefined)
    const { identity } = snapshot
    found.set(clientId, {
      identity,
      file,
      publicUrl: urls.at(-1) ?? snapshot.publicUrl,
      isBehind: requests.length > 0,
    })
    try {
      const state = await replay(snapshot, requests, registry)
      registry.adopt(identity, state, lastUseOf({ snapshot, entries }))
    } catch (error) {
      throw new DataFolderError(`its tenant ${quote(clientId)} cannot be restored: ${(error as Error).message}`)
    }
  }

  return {
    onCreated(tenant, { reason, identity, snapshot }) {
      const { clientId } = tenant
      const stored = (reason === 'restored' && found.get(clientId)) || begin(clientId, identity, snapshot())
      found.delete(clientId)
      // A listed client may have another secret now.
      const isStale = !isDeepStrictEqual(identity, stored.identity)
      const one = { ...stored, tenant, identity, isStale }
      open.set(clientId, one)
      if (isStale) compact(one, now())
    },
    onRemoved(clientId, reason) {
      const remove = () => open.get(clientId)?.file.remove()
      try {
        if (reason === 'deleted') write(clientId, remove)
        else remove()
      } catch (error) {
        // A deletion that is answered must outlive a restart.
        if (reason === 'deleted') throw error
        logger.error({ err: error, clientId }, 'the files of a dropped tenant cannot be removed')
      }
      open.delete(clientId)
    },
    append({ clientId }, request) {
      const one = open.get(clientId) as OpenTenant
      if (one.file.isLong || one.isStale) compact(one, Date.parse(request.receivedAt))
      const url = publicUrl()
      try {
        write(clientId, () => one.file.append({ ...request, ...(url !== one.publicUrl && { publicUrl: url }) }))
      } catch (error) {
        // The file may accept nothing more until it has a new snapshot.
        one.isStale = true
        throw error
      }
      Object.assign(one, { publicUrl: url, isBehind: true })
    },
    async restore(registry) {
      // In the order of their last use, in which they make room for others.
      const tenants = folder.load().sort((a, b) => lastUseOf(a) - lastUseOf(b))
      for (const tenant of tenants) await restoreOne(tenant, registry)
      if (tenants.length > 0) logger.info({ tenants: tenants.length }, 'restored the tenants of the data folder')
    },
    close() {
      const deadline = now() + CLOSING_MS
      for (const one of open.values()) {
        const realNow = now()
        if (realNow > deadline) break
        if (!one.isBehind && !one.isStale) continue
        one.tenant.clock.sync(realNow)
        compact(one, realNow)
      }
      folder.close()
    },
  }
}

/** Returns the real time of a tenant's last state, in milliseconds. */
function lastUseOf({ snapshot, entries }: Pick<KeptTenant, 'snapshot' | 'entries'>): number {
  const last = entries.at(-1) as RecordedRequest | undefined
  return Date.parse(last?.receivedAt ?? (snapshot as StoredSnapshot).savedAt)
}
