import { parseAmount } from '../../core/domain/money.js'
import type { Region } from '../../core/domain/regions.js'
import { CURRENCY_OF } from '../../core/domain/regions.js'
import { errors } from '../../core/errors.js'
import { isAllowedOrigin } from '../../core/origins.js'
import type { OutcomeMatch } from '../../core/outcome-match.js'
import type { StatefulSnapshot, Step } from '../../core/records/stateful-repository.js'
import { createStatefulRepository } from '../../core/records/stateful-repository.js'
import { parseDuration } from '../../core/time/duration.js'
import type { Instant } from '../../core/time/time.js'
import { formatInstant, LAST_INSTANT, parseInstant } from '../../core/time/time.js'
import type { StoreOptions } from '../area.js'
import { accountRules, maskAccount } from './claim-rules.js'
import type { PayoutLinkStatus, PayoutLinkVerb } from './lifecycle.js'
import { payoutLinkLifecycle } from './lifecycle.js'
import type { PayoutMethod } from './methods.js'
import { PAYOUT_METHODS, payoutMethods, processingAt } from './methods.js'
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

export type PayoutLinkStore = ReturnType<typeof createPayoutLinkStore>

/** Lifetimes in seconds: embedded documented (interface, Limits), hosted and the defaults assumed (decisions §8). */
const EXPIRY = {
  embedded: { least: 'PT10M', most: 'PT12H', byDefault: 'PT1H' },
  hosted: { least: 'PT10M', most: 'P30D', byDefault: 'P7D' },
} as const

const seconds = (duration: string) => parseDuration(duration) as number

/** The payout links of one tenant (decisions §8), in regions EU, US and UK. */
export function createPayoutLinkStore({
  context,
  clientId,
  settings,
  stores: { accounts },
  takeOutcome,
}: StoreOptions<{ accounts: Accounts }>) {
  const { clock, ids } = context

  /**
   * Returns a link with the address of its page, which names the client: a fork has a link of the same id.
   * @param publicUrl the address of the server for the client of the request, without a trailing slash
   */
  const answered = (link: StoredPayoutLink, publicUrl: string): PayoutLinkRecord => ({
    ...link,
    url: `${publicUrl}/pay/${link.payoutLinkId}?client=${encodeURIComponent(clientId)}`,
  })

  const repository = createStatefulRepository<StoredPayoutLink, PayoutLinkStatus, PayoutLinkVerb>(
    {
      lifecycle: payoutLinkLifecycle,
      region: link => payoutMethods[link.payoutMethod].region,
      createdAt: link => link.createdAt,
      plan: nextStep,
      past: link =>
        link.status === 'ACTIVE' && link.claimedAt !== undefined
          ? { at: parseInstant(link.claimedAt) as Instant, verb: 'claim', cause: 'control' }
          : nextStep(link),
      moved: (link, verb, body) => {
        if (verb === 'claim') assertPayable(body as Claim, link)
        return verb === 'claim' ? claimed(body as Claim) : verb === 'decline' ? { decline: body } : {}
      },
      shown: answered,
    },
    context,
  )

  function build(region: Region, input: NewPayoutLink, createdAt: Instant): Omit<StoredPayoutLink, 'payoutLinkId'> {
    const { currency, payoutMethod, uiMode = 'hosted', origin } = input
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
      throw errors.invalid(
        'expiryPeriod',
        `expiryPeriod of a link in uiMode ${uiMode} must be from ${least} to ${most}.`,
      )
    }

    const { amount, counterpartyReference, accountHolderName, remarks } = input
    return {
      amount,
      currency,
      payoutMethod,
      ...(counterpartyReference !== undefined && { counterpartyReference }),
      ...(accountHolderName !== undefined && { accountHolderName }),
      uiMode,
      expiryPeriod,
      ...(origin !== undefined && { origin }),
      ...(remarks !== undefined && { remarks }),
      status: 'ACTIVE',
      expiresAt: formatInstant(Math.min(createdAt + lifetime * 1000, LAST_INSTANT)),
      createdAt: formatInstant(createdAt),
      updatedAt: formatInstant(createdAt),
    }
  }

  /** Refuses an embedded link whose origin is not on the list, or any if the list is empty (decisions §8). */
  function assertOrigin({ uiMode, origin }: Pick<StoredPayoutLink, 'uiMode' | 'origin'>) {
    if (uiMode === 'hosted') return
    const patterns = settings.allowedOrigins
    if (patterns.length === 0 || (origin !== undefined && !isAllowedOrigin(origin, patterns))) {
      throw errors.originNotAllowed(origin)
    }
  }

  /** Returns an unused id. Seeded links can have ids of this sequence. */
  function freshId(staged: ReadonlySet<string> = new Set()): string {
    let payoutLinkId: string
    do payoutLinkId = `pl_${ids.next('payoutLink')}`
    while (isKnown(payoutLinkId, staged))
    return payoutLinkId
  }

  const isKnown = (payoutLinkId: string, staged: ReadonlySet<string>) =>
    staged.has(payoutLinkId) || repository.find(payoutLinkId).length > 0

  /** Returns the entry of an id, which is unique across regions. */
  const entryOf = (payoutLinkId: string) => repository.get(undefined, payoutLinkId)

  const claimed = (claim: Claim) => ({ claim: masked(claim), claimedAt: formatInstant(clock.now()) })

  function embedders({ uiMode, origin }: StoredPayoutLink): readonly string[] {
    if (uiMode === 'hosted') return []
    if (origin === undefined) return settings.allowedOrigins
    return isAllowedOrigin(origin, settings.allowedOrigins) ? [origin] : []
  }

  return {
    ...repository.ofStore,

    /**
     * @param publicUrl as in `answered`
     * @throws REGION_CURRENCY_MISMATCH, PAYOUT_METHOD_MISMATCH, AMOUNT_LIMIT_EXCEEDED, INVALID_FIELD (expiryPeriod),
     * ORIGIN_NOT_ALLOWED
     */
    create(input: NewPayoutLink, region: Region, publicUrl: string): PayoutLinkRecord {
      const link = build(region, input, clock.now())
      assertOrigin(link)
      const outcome = takeOutcome(link) as PayoutLinkOutcome | undefined
      const steered = outcome === undefined ? link : { ...link, outcome }
      return answered(repository.create(region, { payoutLinkId: freshId(), ...steered }, 'api').record, publicUrl)
    },

    /**
     * Cancels a link that has not been claimed, and stores the comment (interface, Payout link).
     * @throws PAYOUT_LINK_NOT_FOUND, PAYOUT_LINK_ALREADY_CLAIMED, PAYOUT_LINK_NOT_CANCELLABLE
     */
    cancel(region: Region, payoutLinkId: string, { cancellationComment }: CancelPayoutLink): void {
      const entry = repository.get(region, payoutLinkId)
      const { status } = entry.record
      if (status === 'CANCELLED') throw errors.payoutLinkNotCancellable(status)
      if (status !== 'ACTIVE' && status !== 'REJECTED' && status !== 'EXPIRED') {
        throw errors.payoutLinkAlreadyClaimed(status)
      }
      repository.move(entry, 'cancel', 'api', { cancellationComment })
    },

    /** @throws PAYOUT_LINK_NOT_FOUND */
    read: (payoutLinkId: string): StoredPayoutLink => entryOf(payoutLinkId).record,

    /** Returns the name of the sender of a link; undefined: the tenant has none. */
    sender: (link: StoredPayoutLink): string | undefined =>
      settings.senderName ?? accounts.holder(payoutMethods[link.payoutMethod].region),

    /**
     * Returns the origins that may embed a link now; `*` stands for any port. Only origins of the present list may, and
     * of these only that of the link, if it has one. A hosted link has none (decisions §8).
     */
    embedders,

    /** Refuses to show a link in a page of an origin. @throws UI_MODE_MISMATCH, ORIGIN_NOT_ALLOWED */
    assertEmbedder(link: StoredPayoutLink, origin: string): void {
      if (link.uiMode === 'hosted') throw errors.uiModeMismatch()
      if (!isAllowedOrigin(origin, embedders(link))) throw errors.embedderNotAllowed(origin)
    },

    /** Returns the instant at which a claimed link is paid. */
    paidAt: (link: StoredPayoutLink): Instant =>
      payoutMethods[link.payoutMethod].paidAt(parseInstant(link.claimedAt ?? link.updatedAt) as Instant),

    /**
     * Claims the link for the recipient, with a claim that `assertPayable` takes. Stores the account number masked.
     * @throws PAYOUT_LINK_NOT_FOUND, ILLEGAL_TRANSITION
     */
    claim: (payoutLinkId: string, claim: Claim): StoredPayoutLink =>
      repository.move(entryOf(payoutLinkId), 'claim', 'api', claimed(claim)),

    /** @throws PAYOUT_LINK_NOT_FOUND, ILLEGAL_TRANSITION */
    decline: (payoutLinkId: string, decline: Decline): StoredPayoutLink =>
      repository.move(entryOf(payoutLinkId), 'decline', 'api', { decline }),

    /**
     * Refuses a claim that does not fit the link.
     * @throws PAYOUT_LINK_NOT_FOUND, MISSING_FIELD, INVALID_FIELD
     */
    assertPayable: (payoutLinkId: string, claim: Claim): void => assertPayable(claim, entryOf(payoutLinkId).record),

    /**
     * Refuses to claim or to decline a link that is not ACTIVE.
     * @throws PAYOUT_LINK_NOT_FOUND, PAYOUT_LINK_ALREADY_CLAIMED, PAYOUT_LINK_CLOSED
     */
    assertOpen(payoutLinkId: string): void {
      const { status } = entryOf(payoutLinkId).record
      if (status === 'ACTIVE') return
      if (status === 'CANCELLED' || status === 'EXPIRED' || status === 'REJECTED') {
        throw errors.payoutLinkClosed(status)
      }
      throw errors.payoutLinkAlreadyClaimed(status)
    },

    /** @throws PAYOUT_LINK_NOT_FOUND */
    possibleOutcomes: (payoutLinkId: string) =>
      STEERABLE_STATUSES.includes(entryOf(payoutLinkId).record.status) ? payoutLinkOutcomes : [],

    /**
     * Gives a link an outcome, for the control plane. It replaces an earlier one.
     * @throws PAYOUT_LINK_NOT_FOUND, ILLEGAL_TRANSITION
     */
    setOutcome(payoutLinkId: string, outcome: PayoutLinkOutcome): void {
      const entry = entryOf(payoutLinkId)
      const { status } = entry.record
      if (!STEERABLE_STATUSES.includes(status)) {
        const states = STEERABLE_STATUSES.join(', ')
        throw errors.illegalTransition(
          'outcome',
          `The outcome ${outcome} is not possible for a payout link that is ${status}, only for ${states}.`,
        )
      }
      repository.update(entry, { outcome })
    },

    /** Refuses the match of an armed outcome that no new link can meet. @throws INVALID_FIELD */
    assertReachable({ payoutMethod, amount }: OutcomeMatch): void {
      if (payoutMethod === undefined || amount === undefined) return
      const { limit } = payoutMethods[payoutMethod as PayoutMethod]
      if (parseAmount(amount) > parseAmount(limit)) {
        throw errors.invalid('match.amount', `The outcome could never apply: ${payoutMethod} carries at most ${limit}.`)
      }
    },

    /**
     * Checks seeded links, of any state. The region follows from the payout method.
     * @throws the errors of `create` and DUPLICATE_REFERENCE, with the path of the record before the field
     */
    stage(seeds: readonly SeedPayoutLink[], path: string) {
      const known = new Set<string>()
      const given = new Set(seeds.flatMap(({ payoutLinkId }) => payoutLinkId ?? []))
      return repository.stage(seeds, path, seed => {
        // The control plane finds a link without its region.
        const { payoutLinkId = freshId(given) } = seed
        if (isKnown(payoutLinkId, known)) throw errors.duplicateReference('payoutLinkId', payoutLinkId)
        known.add(payoutLinkId)
        const region = payoutMethods[seed.payoutMethod].region
        const createdAt = seed.createdAt === undefined ? clock.now() : (parseInstant(seed.createdAt) as Instant)
        const link = build(region, seed, createdAt)
        assertOrigin(link)
        const { status = link.status, updatedAt = link.updatedAt, cancellationComment, claim, decline } = seed
        if (claim !== undefined) assertPayable(claim, link, 'claim.')
        const claimedAt = seed.claimedAt ?? (claim === undefined ? undefined : updatedAt)
        const record = {
          payoutLinkId,
          ...link,
          status,
          updatedAt,
          ...(cancellationComment !== undefined && { cancellationComment }),
          ...(claimedAt !== undefined && { claimedAt }),
          ...(claim !== undefined && { claim: masked(claim) }),
          ...(decline !== undefined && { decline }),
        }
        return { region, record }
      })
    },

    /** Restores a snapshot into an empty store. @throws as the repository, DUPLICATE_REFERENCE (also across regions) */
    restore(snapshots: readonly StatefulSnapshot<StoredPayoutLink & { readonly url?: string }>[], path: string): void {
      const known = new Set<string>()
      for (const [index, { record }] of snapshots.entries()) {
        const { payoutLinkId } = record
        if (known.has(payoutLinkId))
          throw errors.duplicateReference(`${path}.${index}.record.payoutLinkId`, payoutLinkId)
        known.add(payoutLinkId)
      }
      repository.ofStore.restore(
        // Documents of earlier releases have the address.
        snapshots.map(({ record: { url, ...record }, ...rest }) => ({ ...rest, record })),
        path,
      )
    },
  }
}

function nextStep(link: StoredPayoutLink): Step<PayoutLinkVerb> | null {
  const { status, expiresAt, claimedAt, updatedAt, outcome } = link
  const claimed = parseInstant(claimedAt ?? updatedAt) as Instant
  switch (status) {
    case 'ACTIVE':
      return { at: parseInstant(expiresAt) as Instant, verb: 'expire', cause: 'time' }
    case 'CLAIMED':
      return { at: processingAt(claimed), verb: 'process', cause: 'time' }
    case 'PROCESSING':
      if (outcome === 'STUCK-PROCESSING') return null
      return {
        at: payoutMethods[link.payoutMethod].paidAt(claimed),
        ...(outcome === 'FAILED' ? { verb: 'fail', cause: 'outcome' } : { verb: 'pay', cause: 'time' }),
      }
    default:
      return null
  }
}

/** Masks the account number of a claim. Only a transfer needs it, and no money moves here (decisions §8). */
const masked = (claim: Claim): Claim => ({ ...claim, accountIdentifier: maskAccount(claim.accountIdentifier) })

/**
 * Refuses a claim that does not fit the link (decisions §8): a name other than that of the link, an account that its
 * method does not pay to, and members that its method does not take. `path` precedes the fields.
 */
function assertPayable(
  claim: Claim,
  link: Pick<StoredPayoutLink, 'payoutMethod' | 'accountHolderName'>,
  path = '',
): void {
  const { accountHolderName, accountIdentifier, branchIdentifier, accountType } = claim
  const { payoutMethod } = link
  const { isIdentifier, identifier, flaw, branch, hasType } = accountRules[payoutMethod]
  if (accountHolderName !== (link.accountHolderName ?? accountHolderName)) {
    throw errors.invalid(`${path}accountHolderName`, 'accountHolderName must be that of the payout link.')
  }
  if (!isIdentifier(accountIdentifier)) {
    const cause = flaw === undefined ? '' : `: it ${flaw(accountIdentifier)}`
    throw errors.invalid(
      `${path}accountIdentifier`,
      `accountIdentifier must be ${identifier} for ${payoutMethod}${cause}.`,
    )
  }
  if (branch === undefined) {
    if (branchIdentifier !== undefined) throw notTaken(`${path}branchIdentifier`, 'branchIdentifier', payoutMethod)
  } else {
    const { type, isValue, value } = branch
    if (branchIdentifier === undefined) {
      const message = `branchIdentifier of type ${type} is required for ${payoutMethod}.`
      throw errors.missing(`${path}branchIdentifier`, message)
    }
    if (branchIdentifier.type !== type) {
      throw errors.invalid(`${path}branchIdentifier.type`, `branchIdentifier.type must be ${type} for ${payoutMethod}.`)
    }
    if (!isValue(branchIdentifier.value)) {
      throw errors.invalid(`${path}branchIdentifier.value`, `branchIdentifier.value must be ${value}.`)
    }
  }
  if (!hasType && accountType !== undefined) throw notTaken(`${path}accountType`, 'accountType', payoutMethod)
  if (hasType && accountType === undefined) {
    throw errors.missing(`${path}accountType`, `accountType CHECKING or SAVINGS is required for ${payoutMethod}.`)
  }
}

const notTaken = (field: string, name: string, payoutMethod: string) =>
  errors.invalid(field, `${name} must be left out: ${payoutMethod} does not take it.`)
