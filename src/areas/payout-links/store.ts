import { parseAmount } from '../../core/domain/money.js'
import type { Region } from '../../core/domain/regions.js'
import { CURRENCY_OF } from '../../core/domain/regions.js'
import { errors } from '../../core/errors.js'
import { isAllowedOrigin } from '../../core/origins.js'
import type { OutcomeMatch } from '../../core/outcome-match.js'
import type { Step } from '../../core/records/lifecycle.js'
import type { StatefulEntry, StatefulSnapshot } from '../../core/records/stateful-repository.js'
import { StatefulRepository } from '../../core/records/stateful-repository.js'
import { parseDuration } from '../../core/time/duration.js'
import type { Instant } from '../../core/time/time.js'
import { formatInstant, LAST_INSTANT, readInstant } from '../../core/time/time.js'
import type { StoreOptions } from '../area.js'
import { assertPayable, masked } from './claim.js'
import type { PayoutMethod } from './claim-rules.js'
import { PAYOUT_METHODS } from './claim-rules.js'
import type { PayoutLinkStatus, PayoutLinkTransition } from './lifecycle.js'
import { payoutLinkLifecycle } from './lifecycle.js'
import { payoutMethods, processingAt } from './methods.js'
import type { PayoutLinkOutcome } from './outcomes.js'
import { payoutLinkOutcomes, STEERABLE_STATUSES } from './outcomes.js'
import type {
  CancelPayoutLink,
  Claim,
  Decline,
  NewPayoutLink,
  PayoutLinkRecord,
  SeedPayoutLink,
  StoredPayoutLink,
} from './schemas.js'

/** The operation of the store of accounts that payout links need. */
export interface Accounts {
  /** Returns the holder of an account that pays in a region, if there is an account. */
  holder(region: Region): string | undefined
}

/** Lifetimes in seconds: embedded documented (interface, Limits), hosted and the defaults assumed (decisions §8). */
const EXPIRY = {
  embedded: { least: 'PT10M', most: 'PT12H', byDefault: 'PT1H' },
  hosted: { least: 'PT10M', most: 'P30D', byDefault: 'P7D' },
} as const

const seconds = (duration: string) => parseDuration(duration) as number

/** The payout links of one tenant (decisions §8), in regions EU, US and UK. */
export class PayoutLinkStore extends StatefulRepository<StoredPayoutLink, PayoutLinkStatus, PayoutLinkTransition> {
  readonly #options: StoreOptions<{ accounts: Accounts }>

  constructor(options: StoreOptions<{ accounts: Accounts }>) {
    super(options.context, payoutLinkLifecycle)
    this.#options = options
  }

  /**
   * @param publicUrl the address of the server for the client of the request, without a trailing slash
   * @throws REGION_CURRENCY_MISMATCH, PAYOUT_METHOD_MISMATCH, AMOUNT_LIMIT_EXCEEDED, INVALID_FIELD (expiryPeriod),
   * ORIGIN_NOT_ALLOWED
   */
  create(input: NewPayoutLink, region: Region, publicUrl: string): PayoutLinkRecord {
    const link = build(region, input, this.context.clock.now())
    this.#assertOrigin(link)
    const outcome = this.#options.takeOutcome(link) as PayoutLinkOutcome | undefined
    const steered = outcome === undefined ? link : { ...link, outcome }
    const { record } = this.add(region, { payoutLinkId: this.#freshId(), ...steered }, 'api')
    return this.toAnswer(record, publicUrl)
  }

  /**
   * Cancels a link that has not been claimed, and stores the comment (interface, Payout link).
   * @throws PAYOUT_LINK_NOT_FOUND, PAYOUT_LINK_ALREADY_CLAIMED, PAYOUT_LINK_NOT_CANCELLABLE
   */
  cancel(region: Region, payoutLinkId: string, { cancellationComment }: CancelPayoutLink): void {
    const entry = this.entry(region, payoutLinkId)
    const { status } = entry.record
    if (status === 'CANCELLED') throw errors.payoutLinkNotCancellable(status)
    if (status !== 'ACTIVE' && status !== 'REJECTED' && status !== 'EXPIRED') {
      throw errors.payoutLinkAlreadyClaimed(status)
    }
    this.transition(entry, 'cancel', 'api', { cancellationComment })
  }

  /** @throws PAYOUT_LINK_NOT_FOUND */
  read(payoutLinkId: string): StoredPayoutLink {
    return this.#entryOf(payoutLinkId).record
  }

  /** Returns the name of the sender of a link, or undefined if the tenant has no name. */
  sender({ payoutMethod }: StoredPayoutLink): string | undefined {
    const { settings, stores } = this.#options
    return settings.senderName ?? stores.accounts.holder(payoutMethods[payoutMethod].region)
  }

  /**
   * Returns the origins that may embed a link now; `*` stands for any port. Only origins of the present list may, and
   * of these only the origin of the link, if the link has one. A hosted link has none (decisions §8).
   */
  embedders({ uiMode, origin }: StoredPayoutLink): readonly string[] {
    const { allowedOrigins } = this.#options.settings
    if (uiMode === 'hosted') return []
    if (origin === undefined) return allowedOrigins
    return isAllowedOrigin(origin, allowedOrigins) ? [origin] : []
  }

  /** Refuses to show a link in a page of an origin. @throws UI_MODE_MISMATCH, ORIGIN_NOT_ALLOWED */
  assertEmbedder(link: StoredPayoutLink, origin: string): void {
    if (link.uiMode === 'hosted') throw errors.uiModeMismatch()
    if (!isAllowedOrigin(origin, this.embedders(link))) throw errors.embedderNotAllowed(origin)
  }

  /** Returns the instant at which a claimed link is paid. */
  paidAt({ payoutMethod, claimedAt, updatedAt }: StoredPayoutLink): Instant {
    return payoutMethods[payoutMethod].paidAt(readInstant(claimedAt ?? updatedAt))
  }

  /**
   * Claims the link for the recipient, with a claim that `assertPayable` takes. Stores the account number masked.
   * @throws PAYOUT_LINK_NOT_FOUND, ILLEGAL_TRANSITION
   */
  claim(payoutLinkId: string, claim: Claim): StoredPayoutLink {
    return this.transition(this.#entryOf(payoutLinkId), 'claim', 'api', this.#claimed(claim))
  }

  /** @throws PAYOUT_LINK_NOT_FOUND, ILLEGAL_TRANSITION */
  decline(payoutLinkId: string, decline: Decline): StoredPayoutLink {
    return this.transition(this.#entryOf(payoutLinkId), 'decline', 'api', { decline })
  }

  /**
   * Refuses a claim that does not fit the link.
   * @throws PAYOUT_LINK_NOT_FOUND, MISSING_FIELD, INVALID_FIELD
   */
  assertPayable(payoutLinkId: string, claim: Claim): void {
    assertPayable(claim, this.read(payoutLinkId))
  }

  /**
   * Refuses to claim or to decline a link that is not ACTIVE.
   * @throws PAYOUT_LINK_NOT_FOUND, PAYOUT_LINK_ALREADY_CLAIMED, PAYOUT_LINK_CLOSED
   */
  assertOpen(payoutLinkId: string): void {
    const { status } = this.read(payoutLinkId)
    if (status === 'ACTIVE') return
    if (status === 'CANCELLED' || status === 'EXPIRED' || status === 'REJECTED') {
      throw errors.payoutLinkClosed(status)
    }
    throw errors.payoutLinkAlreadyClaimed(status)
  }

  /** @throws PAYOUT_LINK_NOT_FOUND */
  override possibleOutcomes(payoutLinkId: string) {
    return STEERABLE_STATUSES.includes(this.read(payoutLinkId).status) ? payoutLinkOutcomes : []
  }

  /**
   * Gives a link an outcome, for the control plane. It replaces an earlier one.
   * @throws PAYOUT_LINK_NOT_FOUND, ILLEGAL_TRANSITION
   */
  setOutcome(payoutLinkId: string, outcome: PayoutLinkOutcome | null): void {
    const entry = this.#entryOf(payoutLinkId)
    const { status } = entry.record
    if (!STEERABLE_STATUSES.includes(status)) {
      const states = STEERABLE_STATUSES.join(', ')
      throw errors.illegalTransition(
        'outcome',
        `The outcome ${outcome} is not possible for a payout link that is ${status}, only for ${states}.`,
      )
    }
    this.replace(entry, { outcome: outcome ?? undefined })
  }

  /** Refuses the match of an armed outcome that no new link can meet. @throws INVALID_FIELD */
  assertReachable({ payoutMethod, amount }: OutcomeMatch): void {
    if (payoutMethod === undefined || amount === undefined) return
    const { limit } = payoutMethods[payoutMethod as PayoutMethod]
    if (parseAmount(amount) > parseAmount(limit)) {
      throw errors.invalid('match.amount', `The outcome could never apply: ${payoutMethod} carries at most ${limit}.`)
    }
  }

  /**
   * Checks seeded links, of any state. The region follows from the payout method.
   * @throws the errors of `create` and DUPLICATE_REFERENCE, with the path of the record before the field
   */
  stage(seeds: readonly SeedPayoutLink[], path: string) {
    const given = new Set(seeds.flatMap(({ payoutLinkId }) => payoutLinkId ?? []))
    return this.stageAll(seeds, path, seed => {
      const { payoutLinkId = this.#freshId(given), claim } = seed
      const { region } = payoutMethods[seed.payoutMethod]
      const createdAt = seed.createdAt === undefined ? this.context.clock.now() : readInstant(seed.createdAt)
      const link = build(region, seed, createdAt)
      this.#assertOrigin(link)
      const { status = 'ACTIVE', updatedAt = link.createdAt } = seed
      if (claim !== undefined) assertPayable(claim, link, 'claim.')
      const claimedAt = seed.claimedAt ?? (claim && updatedAt)
      const claimed = { ...(claimedAt && { claimedAt }), ...(claim && { claim: masked(claim) }) }
      return { region, record: { ...link, payoutLinkId, status, updatedAt, ...claimed } }
    })
  }

  override restore(snapshots: readonly StatefulSnapshot<StoredPayoutLink & { url?: string }>[], path: string): void {
    // Documents of earlier releases have the address.
    const withoutUrl = snapshots.map(({ record: { url, ...record }, ...rest }) => ({ ...rest, record }))
    super.restore(withoutUrl, path)
  }

  protected override regionOf({ payoutMethod }: StoredPayoutLink): Region {
    return payoutMethods[payoutMethod].region
  }

  protected override stepAfter(link: StoredPayoutLink): Step<PayoutLinkTransition> | null {
    return nextStep(link)
  }

  protected override pastStepAfter(link: StoredPayoutLink) {
    if (link.status !== 'ACTIVE' || link.claimedAt === undefined) return nextStep(link)
    return { at: readInstant(link.claimedAt), transition: 'claim', cause: 'seed' } as const
  }

  protected override membersOf(
    link: StoredPayoutLink,
    transition: PayoutLinkTransition,
    body: object,
  ): Partial<StoredPayoutLink> {
    if (transition === 'decline') return { decline: body }
    if (transition !== 'claim') return {}
    assertPayable(body as Claim, link)
    return this.#claimed(body as Claim)
  }

  /** Returns a link with the address of its page, which names the client: a fork has a link of the same id. */
  protected override toAnswer(link: StoredPayoutLink, publicUrl: string): PayoutLinkRecord {
    const client = encodeURIComponent(this.#options.clientId)
    return { ...link, url: `${publicUrl}/pay/${link.payoutLinkId}?client=${client}` }
  }

  /** Refuses an embedded link whose origin is not on the list, or any if the list is empty (decisions §8). */
  #assertOrigin({ uiMode, origin }: Pick<StoredPayoutLink, 'uiMode' | 'origin'>): void {
    if (uiMode === 'hosted') return
    const { allowedOrigins } = this.#options.settings
    if (allowedOrigins.length === 0 || (origin !== undefined && !isAllowedOrigin(origin, allowedOrigins))) {
      throw errors.originNotAllowed(origin)
    }
  }

  /** Returns an unused id, which is not among the given ones. Seeded links can have ids of this sequence. */
  #freshId(given: ReadonlySet<string> = new Set()): string {
    for (;;) {
      const payoutLinkId = `pl_${this.context.ids.next('payoutLink')}`
      if (!given.has(payoutLinkId) && this.find(payoutLinkId).length === 0) return payoutLinkId
    }
  }

  /** Returns the entry of an id, which is unique across regions. @throws PAYOUT_LINK_NOT_FOUND */
  #entryOf(payoutLinkId: string): StatefulEntry<StoredPayoutLink, PayoutLinkTransition> {
    return this.entry(undefined, payoutLinkId)
  }

  #claimed(claim: Claim) {
    return { claim: masked(claim), claimedAt: formatInstant(this.context.clock.now()) }
  }
}

function build(region: Region, input: NewPayoutLink, createdAt: Instant): Omit<StoredPayoutLink, 'payoutLinkId'> {
  const { currency, payoutMethod, uiMode = 'hosted' } = input
  if (CURRENCY_OF[region] !== currency) throw errors.regionCurrencyMismatch(region, currency, CURRENCY_OF[region])

  const method = payoutMethods[payoutMethod]
  if (method.region !== region) {
    const legal = PAYOUT_METHODS.filter(name => payoutMethods[name].region === region)
    throw errors.payoutMethodMismatch(payoutMethod, region, legal)
  }
  if (parseAmount(input.amount) > parseAmount(method.limit)) {
    throw errors.amountLimitExceeded(payoutMethod, `${method.limit} ${currency}`)
  }

  const { least, most, byDefault } = EXPIRY[uiMode]
  const expiryPeriod = input.expiryPeriod ?? byDefault
  const lifetime = seconds(expiryPeriod)
  if (lifetime < seconds(least) || lifetime > seconds(most)) {
    throw errors.invalid('expiryPeriod', `expiryPeriod of a link in uiMode ${uiMode} must be from ${least} to ${most}.`)
  }

  return {
    ...input,
    uiMode,
    expiryPeriod,
    status: 'ACTIVE',
    expiresAt: formatInstant(Math.min(createdAt + lifetime * 1000, LAST_INSTANT)),
    createdAt: formatInstant(createdAt),
    updatedAt: formatInstant(createdAt),
  }
}

function nextStep(link: StoredPayoutLink): Step<PayoutLinkTransition> | null {
  const { status, expiresAt, claimedAt, updatedAt, outcome } = link
  const claimed = readInstant(claimedAt ?? updatedAt)
  switch (status) {
    case 'ACTIVE':
      return { at: readInstant(expiresAt), transition: 'expire', cause: 'time' }
    case 'CLAIMED':
      return { at: processingAt(claimed), transition: 'process', cause: 'time' }
    case 'PROCESSING':
      if (outcome === 'STUCK-PROCESSING') return null
      return {
        at: payoutMethods[link.payoutMethod].paidAt(claimed),
        ...(outcome === 'FAILED' ? { transition: 'fail', cause: 'outcome' } : { transition: 'pay', cause: 'time' }),
      }
    default:
      return null
  }
}
