import type { Storage, StorageOptions } from './storage.js'

/** Creates the storage of tenants that live in memory only. */
export function createMemoryStorage({
  registry,
  now,
  changed,
}: Pick<StorageOptions, 'registry' | 'now' | 'changed'>): Storage {
  /** Forgets the changes of a tenant, which are stored nowhere, and lets calls look that wait for it. */
  function forgetChanges(clientId: string, isRead: boolean): void {
    const changes = registry.peek(clientId)?.changes
    const hasChanged = changes !== undefined && changes.length() > 0
    if (hasChanged) changes.clear()
    // A read wakes no call, unless due work was done: a page that renews itself would never end.
    if (hasChanged || !isRead) changed(clientId)
  }

  return {
    transact(clientId, work) {
      const realNow = now()
      const isRead = work.isRead(realNow)
      if (work.skipsDueWork !== true) registry.peek(clientId)?.clock.sync(realNow)
      try {
        return work.run(realNow)
      } finally {
        forgetChanges(clientId, isRead)
      }
    },
    refresh(clientId, done) {
      if (clientId !== undefined) {
        registry.peek(clientId)?.clock.sync(now())
        forgetChanges(clientId, true)
      }
      done()
    },
    clients: () => registry.clients(),
    async all(describe, clientIds = registry.clients()) {
      const realNow = now()
      return clientIds.filter(registry.has).map(clientId => describe(registry.tenant(clientId, realNow), realNow))
    },
    lifeOf: registry.peek,
    check() {},
  }
}
