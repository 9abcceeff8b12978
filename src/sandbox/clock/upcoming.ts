import type { Static } from '@sinclair/typebox'
import type { StatefulStore, Store } from '../../areas/index.js'
import { areaNames } from '../../areas/index.js'
import { createCursors } from '../../core/records/list.js'
import type { DuePosition } from '../../core/records/stateful-repository.js'
import { compareDue } from '../../core/records/stateful-repository.js'
import { formatInstant } from '../../core/time/time.js'
import type { Tenant } from '../../tenants/tenant.js'
import type { UpcomingQuery } from './schemas.js'

/** The number of transitions in an answer if the caller gives none. */
const DEFAULT_LIMIT = 20

/**
 * Returns a page of the transitions that are due next, in their order. A transition that has happened since is on no page.
 * @throws INVALID_CURSOR
 */
export function upcoming(tenant: Tenant, { cursor, limit = DEFAULT_LIMIT }: Static<typeof UpcomingQuery>) {
  const cursors = createCursors(tenant.ids, { path: '/_sandbox/upcoming' })
  const after = cursor === undefined ? undefined : toDue(cursors.decode(cursor))
  const stores = areaNames().map((name): Store | StatefulStore => tenant[name])
  const due = stores.flatMap(store => ('upcoming' in store ? store.upcoming(after, limit + 1) : [])).sort(compareDue)
  const page = due.slice(0, limit)
  const last = page.at(-1)
  return {
    data: page.map(({ dueAt, sequence, ...transition }) => ({ at: formatInstant(dueAt), ...transition })),
    nextCursor: due.length > limit && last !== undefined ? cursors.encode(toPosition(last)) : null,
  }
}

// A cursor is an instant and a place in the order of creation. In this list, it is the instant of the due work.
const toPosition = ({ dueAt, sequence }: DuePosition) => ({ createdAt: dueAt, sequence })
const toDue = ({ createdAt, sequence }: ReturnType<typeof toPosition>): DuePosition => ({ dueAt: createdAt, sequence })
