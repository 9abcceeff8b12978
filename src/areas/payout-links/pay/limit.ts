import type { FastifyReply } from 'fastify'
import { errors } from '../../../core/errors.js'
import type { Instant } from '../../../core/time/time.js'
import type { PageTenant } from './answers.js'

/** The most claims and declines of a link in a minute. */
const MOST_ACTIONS = 20
const MINUTE = 60_000

/** The claims and declines of a link since an instant. */
interface Actions {
  readonly since: Instant
  count: number
}

const actionsOf = new WeakMap<PageTenant, Map<string, Actions>>()

/**
 * Counts a claim or decline of a link, by the clock of its tenant. The headers of the answer say how many remain.
 * @throws RATE_LIMITED
 */
export function countAction(tenant: PageTenant, payoutLinkId: string, reply: FastifyReply): void {
  const links = actionsOf.get(tenant) ?? new Map<string, Actions>()
  actionsOf.set(tenant, links)
  const now = tenant.clock.now()
  const known = links.get(payoutLinkId)
  const actions = known !== undefined && now < known.since + MINUTE ? known : { since: now, count: 0 }
  links.set(payoutLinkId, actions)
  actions.count++
  const seconds = (actions.since + MINUTE - now) / 1000
  reply.headers({
    'x-ratelimit-limit': MOST_ACTIONS,
    'x-ratelimit-remaining': Math.max(0, MOST_ACTIONS - actions.count),
    'x-ratelimit-reset': seconds,
  })
  if (actions.count > MOST_ACTIONS) throw errors.rateLimited(seconds)
}
