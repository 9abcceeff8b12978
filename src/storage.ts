import type { Logger } from 'pino'
import { errors } from './core/errors.js'
import type { DataFolder, TenantFile } from './data-folder.js'
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
  /** Brings back all that is kept, as it was when the process ended. */
  restore(sandbox: Sandbox, fixtures: Fixtures): Promise<void>
  close(): void
}

export interface StorageOptions {
  readonly folder: DataFolder
  readonly logger: Pick<Logger, 'error' | 'info'>
  now(): number
  publicUrl(): string
}

export function createStorage({ folder, logger, now, publicUrl }: StorageOptions): Storage {
  const files = new Map<string, TenantFile>()
  const identities = new Map<string, Identity>()
  /** Those of an earlier process, which may have been served elsewhere: their first request gets a snapshot before it. */
  const restored = new Set<string>()

  const snapshotOf = (identity: Identity, state: State): Snapshot => ({
    identity,
    savedAt: new Date(now()).toISOString(),
    publicUrl: publicUrl(),
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
  function compact({ clientId, world }: Tenant, file: TenantFile) {
    try {
      file.compact(snapshotOf(identities.get(clientId) as Identity, world.keep()))
    } catch (error) {
      logger.error({ err: error, clientId }, 'a new snapshot cannot be written: the old one and the log go on')
    }
  }

  async function restoreOne(
    { identity, savedAt, publicUrl, state }: Snapshot,
    entries: readonly RequestLine[],
    sandbox: Sandbox,
    fixtures: Fixtures,
  ) {
    const { seed, tokenLifetime } = sandbox
    if (entries.length === 0) {
      sandbox.adopt(identity, state, Date.parse(savedAt))
      return
    }
    const replay = await startReplay({ seed, tokenLifetime, publicUrl, identity, start: state, fixtures })
    for (const entry of entries) await replay.apply(entry)
    sandbox.adopt(identity, replay.state(), Date.parse((entries.at(-1) as RequestLine).receivedAt))
    await replay.close()
  }

  return {
    began({ clientId }, { how, identity, state }) {
      identities.set(clientId, identity)
      if (how !== 'kept') {
        files.set(
          clientId,
          write(clientId, () => folder.begin(clientId, snapshotOf(identity, state()))),
        )
      }
    },
    ended(clientId) {
      try {
        files.get(clientId)?.remove()
      } catch (error) {
        logger.error({ err: error, clientId }, 'the files of a dropped tenant cannot be removed')
      }
      files.delete(clientId)
      identities.delete(clientId)
    },
    append(tenant, request) {
      const file = files.get(tenant.clientId) as TenantFile
      if (file.isLong || restored.delete(tenant.clientId)) compact(tenant, file)
      write(tenant.clientId, () => file.append(toLine(request)))
    },
    async restore(sandbox, fixtures) {
      for (const { clientId, snapshot, entries, file } of folder.load()) {
        files.set(clientId, file)
        restored.add(clientId)
        await restoreOne(snapshot as Snapshot, entries as readonly RequestLine[], sandbox, fixtures)
      }
      if (files.size > 0) logger.info({ tenants: files.size }, 'restored what the data folder keeps')
    },
    close: () => folder.close(),
  }
}
