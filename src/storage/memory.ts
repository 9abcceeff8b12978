import type { Storage, StorageOptions } from './storage.js'
import { perform, resultOf } from './storage.js'

/** Creates the storage of tenants that live in memory only. */
export function createMemoryStorage({
  registry,
  now,
  changed,
}: Pick<StorageOptions, 'registry' | 'now' | 'changed'>): Storage {
  /** Forgets the changes of a tenant, which are stored nowhere. Returns whether there are any. */
  function forgetChanges(clientId: string): boolean {
    const changes = registry.peek(clientId)?.changes
    const hasChanged = changes !== undefined && changes.length() > 0
    changes?.clear()
    return hasChanged
  }

  return {
    transact(clientId, work) {
      const realNow = now()
      const isRead = work.isRead(realNow)
      const outcome = perform(registry, [clientId], work, realNow)
      // A read wakes no call, unless due work was done: a page that renews itself would never end.
      if (forgetChanges(clientId) || !isRead) changed(clientId)
      return resultOf(outcome)
    },
    refresh(clientId, done) {
      if (clientId !== undefined) {
        registry.peek(clientId)?.clock.sync(now())
        if (forgetChanges(clientId)) changed(clientId)
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
